import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.pairs.ties import (
    calibrate_ties,
    tie_aware_accuracy,
    tie_aware_accuracy_interval,
)

sourced = st.lists(
    st.tuples(st.sampled_from([*range(8), np.nan]), st.integers(1, 3), st.integers(0, 3)),
    min_size=1,
    max_size=25,
)


@pytest.mark.no_cover
@given(sourced, st.booleans())
def test_no_tolerance_does_better_and_it_is_the_smallest_of_the_best(rows, within):
    predicted, human, sources = (np.array(column, float) for column in zip(*rows, strict=True))
    predicted /= 10
    found = calibrate_ties(human, predicted, sources=sources if within else None)

    def accuracy(tolerance):
        if within:
            return tie_aware_accuracy_interval(
                human, predicted, sources=sources, level="sample", tolerance=tolerance
            ).value
        scored = ~np.isnan(predicted)
        return tie_aware_accuracy(human[scored], predicted[scored], tolerance=tolerance)

    if np.isnan(found.tolerance):
        assert np.isnan(accuracy(0))
        assert found.n_pairs == 0
        return
    tried = [accuracy(step / 10) for step in range(9)]
    assert found.chosen_accuracy == pytest.approx(max(tried))
    assert found.untied_accuracy == pytest.approx(tried[0])
    assert accuracy(found.tolerance) == pytest.approx(found.chosen_accuracy)
    best = next(step for step, value in enumerate(tried) if value > max(tried) - 1e-9)
    assert found.tolerance == pytest.approx(best / 10)


def test_it_chooses_what_mt_metrics_eval_chooses():
    # mt-metrics-eval, commit 0b82d96: tau_optimization(metric, human, acc_23) of the three
    # inputs of tau_optimization_test.py: best_threshold and best_tau.
    assert calibrate_ties([1, 2, 3, 4], [0, 2, 6, 8]).tolerance == 0
    found = calibrate_ties([1, 1, 1, 4], [0, 2, 6, 8])
    assert (found.tolerance, found.chosen_accuracy) == pytest.approx((4, 4 / 6))
    metric = [[0, 5, 2, 3, 2], [2, 1, 5, 3], [9, 1, 5, 3, 8], [9, 3, 4, 1]]
    human = [[1, 5, 2, 1, 1], [2, 2, 1, 4], [5, 9, 2, 8, 7], [7, 6, 3, 2]]
    sources = [source for source, row in enumerate(metric) for _ in row]
    found = calibrate_ties(np.concatenate(human), np.concatenate(metric), sources=sources)
    assert (found.tolerance, found.chosen_accuracy) == pytest.approx((1, 0.4916667))
    assert found.untied_accuracy == pytest.approx(0.4666667)
    assert (found.n, found.n_pairs, found.n_groups, found.n_undefined) == (18, 32, 4, 0)


def test_a_judge_that_ties_what_people_tie_needs_no_tolerance():
    found = calibrate_ties([1, 3, 3, 4], [1, 2, 2, 5])
    assert (found.tolerance, found.chosen_accuracy, found.untied_accuracy) == (0, 1, 1)


def test_where_people_tie_everything_every_gap_is_a_tie():
    found = calibrate_ties([3, 3, 3], [0.1, 0.5, 0.2])
    assert found.tolerance == pytest.approx(0.4)
    assert found.chosen_accuracy == 1


def test_the_tolerance_is_in_points_of_the_judges_scale():
    small = calibrate_ties([1, 1, 1, 4], [0, 2, 6, 8])
    large = calibrate_ties([1, 1, 1, 4], np.array([0, 2, 6, 8]) * 1e30)
    assert large.tolerance == pytest.approx(small.tolerance * 1e30)


def test_on_rows_of_chance_it_is_too_good_where_it_was_chosen_and_not_elsewhere():
    rng = np.random.default_rng(0)
    chosen, elsewhere, plain = [], [], []
    for _ in range(60):
        judge = rng.normal(size=(2, 12))
        human = rng.integers(1, 3, size=(2, 12))
        found = calibrate_ties(human[0], judge[0])
        chosen.append(found.chosen_accuracy)
        elsewhere.append(tie_aware_accuracy(human[1], judge[1], tolerance=found.tolerance))
        plain.append(found.untied_accuracy)
    assert np.mean(chosen) > np.mean(elsewhere) + 0.05
    assert np.mean(chosen) > np.mean(plain) + 0.1


def test_nothing_to_compare_gives_no_tolerance():
    for rows, sources in (([], None), ([1], None), ([1, 2], ["a", "b"]), ([None, 2], ["a", "a"])):
        found = calibrate_ties(range(len(rows)), rows, sources=sources)
        assert np.isnan([found.tolerance, found.chosen_accuracy, found.untied_accuracy]).all()
        assert found.n_pairs == 0
    assert (found.n, found.n_groups, found.n_undefined) == (1, 1, 1)


def test_more_pairs_than_can_be_looked_at_are_refused_with_the_limit():
    with pytest.raises(ValueError, match="more than the 10,000,000"):
        calibrate_ties(np.zeros(5000), np.zeros(5000))


def test_bad_rows_are_refused():
    with pytest.raises(ValueError, match="human has no finite score"):
        calibrate_ties([1, np.nan], [1, 2])
    with pytest.raises(ValueError, match="one label per item"):
        calibrate_ties([1, 2], [1, 2], sources=[1])

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from judgesmith.metrics import kendall
from judgesmith.metrics.pairs.ties import (
    tie_aware_accuracy,
    tie_aware_accuracy_difference,
    tie_aware_accuracy_interval,
)
from judgesmith.metrics.resampling.jackknife import jackknife_interval

points = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=2, max_size=20)
sourced = st.lists(
    st.tuples(st.sampled_from([1.0, 2.0, 3.0, 5.0, np.nan]), st.integers(1, 3), st.integers(0, 4)),
    min_size=1,
    max_size=25,
)
# Of mt-metrics-eval, commit 0b82d96: the input of test_regression_example of
# mt_metrics_eval/tau_optimization_test.py, rows as sources, without what is missing.
METRIC = [[0, 5, 2, 3, 2], [2, 1, 5, 3], [9, 1, 5, 3, 8], [9, 3, 4, 1]]
HUMAN = [[1, 5, 2, 1, 1], [2, 2, 1, 4], [5, 9, 2, 8, 7], [7, 6, 3, 2]]
# tau_optimization(metric, human, TauSufficientStats.acc_23).taus for thresholds 0, 1, ..., 8
ACCURACIES = [0.466667, 0.491667, 0.383333, 0.291667, 0.266667, 0.2, 0.158333, 0.158333, 0.116667]


def sign(a, b, tolerance=0):
    return 0 if abs(a - b) <= tolerance else 1 if a > b else -1


def share(rows, tolerance=0):
    """Return tie-aware accuracy, pair by pair."""
    return np.mean(
        [sign(p, q, tolerance) == sign(h, g) for (p, h), (q, g) in combinations(rows, 2)]
    )


@pytest.mark.no_cover
@given(points, st.integers(0, 9))
def test_accuracy_is_the_share_of_pairs_counted_one_by_one(pairs, tolerance):
    predicted, human = zip(*pairs, strict=True)
    found = tie_aware_accuracy(human, predicted, tolerance=tolerance)
    assert found == pytest.approx(share(pairs, tolerance))


@pytest.mark.no_cover
@given(points, st.integers(0, 9))
def test_neither_order_of_rows_nor_scale_nor_direction_matters(pairs, tolerance):
    predicted, human = (np.array(column, float) for column in zip(*pairs, strict=True))
    found = tie_aware_accuracy(human, predicted, tolerance=tolerance)
    turned = tie_aware_accuracy(-human[::-1] * 3 + 7, -predicted[::-1], tolerance=tolerance)
    scaled = tie_aware_accuracy(human, predicted / 7 + 3, tolerance=tolerance / 7)
    assert found == turned == scaled


def test_a_flat_judge_is_right_about_human_ties_only():
    assert tie_aware_accuracy([1, 2, 2, 3], [4, 4, 4, 4]) == pytest.approx(1 / 6)


def test_without_ties_it_is_kendalls_tau_on_a_scale_from_0_to_1():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 400))
    assert tie_aware_accuracy(y, x) == pytest.approx((kendall(y, x) + 1) / 2)


def test_rounding_noise_is_no_order():
    assert tie_aware_accuracy([1, 1], [0.1 + 0.2, 0.3]) == 1
    assert tie_aware_accuracy([1, 1], [0.4, 0.3], tolerance=0.1) == 1


@pytest.mark.no_cover
def test_many_rows_take_no_table_of_pairs():
    rng = np.random.default_rng(0)
    human = rng.integers(1, 6, size=200_000)
    judge = human + rng.normal(size=human.size)
    found = tie_aware_accuracy(human, judge, tolerance=0.5)
    part = rng.choice(human.size, size=2000, replace=False)
    assert found == pytest.approx(
        tie_aware_accuracy(human[part], judge[part], tolerance=0.5), abs=0.02
    )


@pytest.mark.parametrize("rows", [[], [3]])
def test_fewer_than_two_items_have_no_accuracy(rows):
    assert np.isnan(tie_aware_accuracy(rows, rows))


def test_scores_that_do_not_pair_up_or_are_missing_are_refused():
    with pytest.raises(ValueError, match="got 2 scores of judge and 1 human"):
        tie_aware_accuracy([1], [1, 2])
    with pytest.raises(ValueError, match="no finite score for 1 of 2 items"):
        tie_aware_accuracy([1, 2], [1, np.nan])
    with pytest.raises(ValueError, match="no finite score"):
        tie_aware_accuracy([1, np.inf], [1, 2])
    with pytest.raises(ValueError, match="must be a vector of numbers"):
        tie_aware_accuracy([1, 2], ["good", "bad"])
    with pytest.raises(ValueError, match="tolerance must be"):
        tie_aware_accuracy([1, 2], [1, 2], tolerance=-1)


def test_booleans_and_objects_are_numbers():
    assert tie_aware_accuracy(np.array([2, 1], dtype=object), [True, False]) == 1


@pytest.mark.parametrize(("tolerance", "expected"), list(enumerate(ACCURACIES)))
def test_within_sources_it_is_what_mt_metrics_eval_computes(tolerance, expected):
    sources = [source for source, row in enumerate(METRIC) for _ in row]
    found = tie_aware_accuracy_interval(
        np.concatenate(HUMAN),
        np.concatenate(METRIC),
        sources=sources,
        level="sample",
        tolerance=tolerance,
    )
    assert found.value == pytest.approx(expected, abs=5e-7)


@pytest.mark.no_cover
@given(sourced, st.integers(0, 2))
def test_at_sample_level_it_is_the_mean_over_sources_with_two_scored_rows(rows, tolerance):
    values = []
    for source in {source for *_, source in rows}:
        own = [(p, h) for p, h, other in rows if other == source and not np.isnan(p)]
        values.append(share(own, tolerance) if len(own) > 1 else np.nan)
    predicted, human, sources = zip(*rows, strict=True)
    found = tie_aware_accuracy_interval(
        human, predicted, sources=sources, level="sample", tolerance=tolerance
    )
    assert found.n_undefined == np.count_nonzero(np.isnan(values))
    assert found.n == np.count_nonzero(~np.isnan(predicted))
    expected = np.mean([value for value in values if not np.isnan(value)] or [np.nan])
    assert found.value == pytest.approx(expected, nan_ok=True)


@pytest.mark.no_cover
@given(sourced, st.sampled_from(["sample", "dataset"]))
def test_the_interval_is_the_jackknife_that_computes_all_anew_without_each_source(rows, level):
    rows = [row for row in rows if not np.isnan(row[0])]
    predicted, human, sources = (
        np.array(column) for column in zip(*rows or [(0, 0, 0)], strict=True)
    )
    if level == "sample":
        kept = np.isin(sources, [s for s in sources if np.count_nonzero(sources == s) > 1])
        predicted, human, sources = predicted[kept], human[kept], sources[kept]

    def value(mask):
        return tie_aware_accuracy_interval(
            human[mask], predicted[mask], sources=sources[mask], level=level
        ).value

    slow = jackknife_interval(value, sources=sources, n=len(sources), bounds=(0, 1))
    found = tie_aware_accuracy_interval(human, predicted, sources=sources, level=level)
    assert found.value == pytest.approx(slow.value, nan_ok=True)
    if not np.isclose(slow.low, slow.high):
        assert (found.low, found.high) == pytest.approx((slow.low, slow.high), nan_ok=True)


def test_one_source_has_no_interval_and_one_row_per_source_no_value_at_sample_level():
    one = tie_aware_accuracy_interval([1, 2, 2], [1, 2, 3], sources=list("aaa"), level="dataset")
    assert one.value == pytest.approx(2 / 3)
    assert np.isnan(one.low)
    single = tie_aware_accuracy_interval([1, 2, 2], [1, 2, 3], sources=list("abc"), level="sample")
    assert np.isnan(single.value)
    assert (single.n, single.n_groups, single.n_undefined) == (3, 3, 3)
    none = tie_aware_accuracy_interval([], [], sources=[], level="dataset")
    assert np.isnan(none.value)
    assert none.n_groups == 0


def test_settings_and_labels_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="level must be one of"):
        tie_aware_accuracy_interval([1, 2], [1, 2], sources=list("ab"), level="system")
    with pytest.raises(ValueError, match="one label per item"):
        tie_aware_accuracy_interval([1, 2], [1, 2], sources=list("a"), level="sample")
    with pytest.raises(ValueError, match="missing label"):
        tie_aware_accuracy_interval([1, 2], [1, 2], sources=["a", None], level="sample")
    with pytest.raises(ValueError, match="confidence"):
        tie_aware_accuracy_interval(
            [1, 2], [1, 2], sources=list("ab"), level="sample", confidence=95
        )


@pytest.mark.no_cover
@pytest.mark.parametrize("level", ["sample", "dataset"])
def test_the_interval_covers_the_truth_about_as_often_as_it_claims(level):
    def draw(rng, n):
        sources = np.repeat(np.arange(n), 6)
        true = 0.5 * rng.normal(size=n)[sources] + rng.normal(size=6 * n)
        return true + rng.normal(size=6 * n), np.clip(np.round(true), -1, 1), sources

    judge, people, sources = draw(np.random.default_rng(5), 20_000)
    settings = {"level": level, "tolerance": 0.3}
    many = tie_aware_accuracy_interval(people, judge, sources=sources, **settings)
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        judge, people, sources = draw(rng, 20)
        found = tie_aware_accuracy_interval(people, judge, sources=sources, **settings)
        covered += found.low <= many.value <= found.high
    assert 0.9 <= covered / 200 <= 0.985


def fair(rng, n_sources, noise=1.0):
    """Return two judges, the second with some noise, what people say, and the sources."""
    sources = np.repeat(np.arange(n_sources), 5)
    true = 0.5 * rng.normal(size=n_sources)[sources] + rng.normal(size=sources.size)
    first, second = (true + scale * rng.normal(size=true.size) for scale in (1.0, noise))
    return first, second, np.clip(np.round(true), -1, 1), sources


@pytest.mark.no_cover
@given(sourced, st.sampled_from(["sample", "dataset"]))
def test_a_difference_is_of_the_rows_that_both_judges_scored(rows, level):
    predicted, human, sources = (np.array(column) for column in zip(*rows, strict=True))
    second = np.roll(predicted, 1)
    found = tie_aware_accuracy_difference(
        human, predicted, second, sources=sources, level=level, tolerances=(0, 1)
    )
    both = ~np.isnan(predicted) & ~np.isnan(second)
    parts = [
        tie_aware_accuracy_interval(
            human[both], each[both], sources=sources[both], level=level, tolerance=tolerance
        )
        for each, tolerance in ((predicted, 0), (second, 1))
    ]
    assert found.first == pytest.approx(parts[0].value, nan_ok=True)
    assert found.second == pytest.approx(parts[1].value, nan_ok=True)
    assert found.value == pytest.approx(found.first - found.second, nan_ok=True)
    assert (found.n, found.n_groups) == (parts[0].n, parts[0].n_groups)
    other = tie_aware_accuracy_difference(
        human, second, predicted, sources=sources, level=level, tolerances=(1, 0)
    )
    ends = (-other.value, -other.high, -other.low, other.p_value)
    assert (found.value, found.low, found.high, found.p_value) == pytest.approx(ends, nan_ok=True)


def test_at_sample_level_the_test_of_a_difference_is_students_of_the_sources_values():
    # SciPy 1.17.1: scipy.stats.ttest_rel of the two judges' values within each source
    first, second, human, sources = fair(np.random.default_rng(0), 12, noise=2.0)
    values = [
        [tie_aware_accuracy(human[sources == s], each[sources == s]) for s in range(12)]
        for each in (first, second)
    ]
    expected = ttest_rel(*values)
    found = tie_aware_accuracy_difference(human, first, second, sources=sources, level="sample")
    assert found.p_value == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_a_judge_does_not_differ_from_itself_and_nothing_says_how_it_might():
    first, _, human, sources = fair(np.random.default_rng(0), 12)
    found = tie_aware_accuracy_difference(human, first, first, sources=sources, level="dataset")
    assert found.value == 0
    assert np.isnan([found.low, found.high, found.p_value]).all()


@pytest.mark.no_cover
@pytest.mark.parametrize("level", ["sample", "dataset"])
def test_equally_good_judges_differ_significantly_in_about_one_test_of_twenty(level):
    rng = np.random.default_rng(3)
    below = 0
    for _ in range(250):
        first, second, human, sources = fair(rng, 15)
        found = tie_aware_accuracy_difference(human, first, second, sources=sources, level=level)
        below += found.p_value < 0.05
    assert 0.02 <= below / 250 <= 0.09


def test_a_difference_between_rows_that_do_not_pair_up_is_refused():
    with pytest.raises(ValueError, match="got 1 scores of judge and 2 human"):
        tie_aware_accuracy_difference([1, 2], [1, 2], [1], sources=["a", "b"], level="sample")

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from judgesmith.metrics.calibration.error import (
    brier_error,
    probability_errors,
    ranked_probability_error,
)
from judgesmith.metrics.resampling.jackknife import left_out_interval, mean_over_sources

LEVELS = [1, 2, 4, 5]
forecasts = st.lists(
    st.tuples(st.lists(st.integers(1, 9), min_size=4, max_size=4), st.sampled_from(LEVELS)),
    min_size=1,
    max_size=12,
)


def read(rows):
    weights, human = zip(*rows, strict=True)
    p = np.array(weights, dtype=float)
    return p / p.sum(axis=1, keepdims=True), np.array(human)


@pytest.mark.no_cover
@given(forecasts)
def test_match_their_definitions_row_by_row(rows):
    p, human = read(rows)
    brier = [
        sum((row[k] - (LEVELS[k] == h)) ** 2 for k in range(4))
        for row, h in zip(p, human, strict=True)
    ]
    ranked = [
        sum((sum(row[: k + 1]) - (h <= LEVELS[k])) ** 2 for k in range(3)) / 3
        for row, h in zip(p, human, strict=True)
    ]
    assert brier_error(p, human, levels=LEVELS) == pytest.approx(np.mean(brier))
    assert ranked_probability_error(p, human, levels=LEVELS) == pytest.approx(np.mean(ranked))
    found = probability_errors(p, human, levels=LEVELS)
    assert found.brier.value == pytest.approx(np.mean(brier))
    assert found.ranked.value == pytest.approx(np.mean(ranked))


@pytest.mark.no_cover
@given(forecasts)
def test_the_brier_error_is_scikit_learns(rows):
    p, human = read(rows)
    theirs = brier_score_loss(human, p, labels=LEVELS, scale_by_half=False)
    assert brier_error(p, human, levels=LEVELS) == pytest.approx(theirs)


@pytest.mark.no_cover
@given(forecasts)
def test_the_ranked_error_reads_the_scale_either_way(rows):
    p, human = read(rows)
    one = ranked_probability_error(p, human, levels=LEVELS)
    mirrored = ranked_probability_error(p[:, ::-1], 6 - human, levels=[1, 2, 4, 5])
    assert one == pytest.approx(mirrored)


def test_with_two_levels_the_ranked_error_is_half_the_brier_error():
    p, human = [[0.3, 0.7], [0.9, 0.1]], [0, 1]
    assert ranked_probability_error(p, human, levels=[0, 1]) == pytest.approx(
        brier_error(p, human, levels=[0, 1]) / 2
    )


def test_honest_probabilities_cost_least():
    truth = np.array([0.1, 0.2, 0.3, 0.4])
    human = np.repeat(LEVELS, [1, 2, 3, 4])
    for error in (brier_error, ranked_probability_error):
        best = error(np.tile(truth, (10, 1)), human, levels=LEVELS)
        for other in ([0.25] * 4, [0, 0, 0, 1], [0.1, 0.2, 0.2, 0.5]):
            assert error(np.tile(other, (10, 1)), human, levels=LEVELS) > best


def test_unscored_rows_are_left_out_and_counted():
    found = probability_errors([[1, 0], [None, None]], [2, 1], levels=[1, 2], sources=["a", "b"])
    assert (found.n_unscored, found.brier.n, found.brier.value) == (1, 1, 2)
    assert np.isnan(found.brier.low)


def test_no_rows_have_no_error():
    assert np.isnan(brier_error([], [], levels=[1, 2]))
    assert np.isnan(ranked_probability_error(np.empty((0, 2)), [], levels=[1, 2]))
    assert probability_errors([], [], levels=[1, 2]).brier.n_undefined == 1


@pytest.mark.parametrize("function", [brier_error, ranked_probability_error, probability_errors])
@pytest.mark.parametrize(
    ("probabilities", "human", "levels", "said"),
    [
        ([[0.5, 0.5]], [1, 2], [1, 2], "one row per human score"),
        ([[0.5, 0.5]], [1], [1, 2, 3], "one column per level"),
        ([0.5, 0.5], [1], [1, 2], "one row per human score"),
        ([[0.5, 0.4]], [1], [1, 2], "sum to 1"),
        ([[1.5, -0.5]], [1], [1, 2], "0 or more"),
        ([[np.inf, 0]], [1], [1, 2], "probabilities has no finite"),
        ([[0.5, 0.5]], [1.5], [1, 2], "one of the levels; got 1.5"),
        ([[0.5, 0.5]], [3], [1, 2], "one of the levels"),
        ([[0.5, 0.5]], [np.nan], [1, 2], "no finite score"),
        ([[0.5, 0.5]], [1], [2, 1], "increasing"),
        ([[0.5, 0.5]], ["good"], [1, 2], "vector of numbers"),
    ],
)
def test_bad_input_is_refused(function, probabilities, human, levels, said):
    with pytest.raises(ValueError, match=said):
        function(probabilities, human, levels=levels)


def test_a_missing_probability_is_refused_where_it_could_not_be_counted():
    with pytest.raises(ValueError, match="missing in 1 of 1 rows"):
        brier_error([[None, 1]], [1], levels=[1, 2])
    with pytest.raises(ValueError, match="two levels"):
        ranked_probability_error([[1]], [1], levels=[1])
    with pytest.raises(ValueError, match="confidence"):
        probability_errors([[1, 0]], [1], levels=[1, 2], confidence=2)


def test_the_mean_over_sources_is_the_jackknife_that_leaves_sources_out():
    rng = np.random.default_rng(0)
    values, sources = rng.normal(size=40), rng.integers(0, 9, size=40)
    found = mean_over_sources(values, sources, 0.95)
    without = np.array([values[sources != s].mean() for s in np.unique(sources)])
    assert (found.low, found.high) == pytest.approx(left_out_interval(values.mean(), without, 0.95))
    assert found.n_groups == len(without)


def test_no_interval_is_given_where_nothing_varies():
    assert np.isnan(mean_over_sources(np.full(5, 0.1), np.arange(5), 0.95).low)
    assert np.isnan(left_out_interval(1.0, np.array([1.0]), 0.95)[0])
    assert np.isnan(left_out_interval(1.0, np.array([1.0, np.nan]), 0.95)[0])


def test_the_interval_covers_the_truth_about_as_often_as_it_claims():
    rng = np.random.default_rng(0)
    p = np.tile([0.2, 0.3, 0.5], (90, 1))
    sources = np.repeat(np.arange(30), 3)
    # Mean squared distance of an outcome drawn from p itself.
    truth, covered = 1 - np.sum(p[0] ** 2), 0
    for _ in range(300):
        human = rng.choice(3, p=p[0], size=90)
        found = probability_errors(p, human, levels=[0, 1, 2], sources=sources).brier
        covered += found.low <= truth <= found.high
    assert 0.91 <= covered / 300 <= 0.985

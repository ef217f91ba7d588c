"""Inside metrics: pairs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.pairs import adjacent_accuracy, majority_preference, preferences_from_scores
from judgesmith.metrics.pairs.ordering import (
    agreeing_pairs,
    check_tolerance,
    pairs_between,
    pairs_within,
    rounded_scores,
    scaled_column,
)
from judgesmith.metrics.pairs.preferences import preferences
from judgesmith.metrics.pairs.strengths import logistic, most_likely, split_by_wins

# -- adjacent ------------------------------------------------------------------------------------


def test_samples_are_averaged_and_what_is_missing_among_them_left_out():
    samples = [[7, 8, np.nan], [8, 8, 7], [np.nan, np.nan, np.nan]]
    assert rounded_scores(samples).tolist() == [
        7.5,
        pytest.approx(23 / 3),
        pytest.approx(np.nan, nan_ok=True),
    ]
    found = adjacent_accuracy([0, 1, 2], samples, sources=list("aaa"))
    assert (found.value, found.n, found.n_unscored) == (1, 1, 1)


# -- agreeing pairs ------------------------------------------------------------------------------


rows = st.lists(
    st.tuples(st.integers(-4, 4), st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=25
)


def sign(a, b, tolerance=0):
    return 0 if abs(a - b) <= tolerance else 1 if a > b else -1


@pytest.mark.no_cover
@given(rows, st.integers(0, 9))
def test_each_row_counts_the_rows_of_its_group_that_it_is_ordered_or_tied_with_alike(
    rows, tolerance
):
    # Tenths are no binary fractions: .3 - .2 and .2 - .1 differ by rounding, and must not.
    predicted, human, groups = (np.array(column) for column in zip(*rows, strict=True))
    expected = [
        sum(
            sign(p, q, tolerance) == sign(h, g)
            for j, (q, g, other) in enumerate(rows)
            if other == group and j != i
        )
        for i, (p, h, group) in enumerate(rows)
    ]
    judge, reach = scaled_column(predicted / 10, tolerance / 10)
    found = agreeing_pairs(judge, reach, Column.of(human.astype(float)), groups)
    assert found.tolist() == expected


def test_no_rows_agree_about_nothing():
    judge, reach = scaled_column(np.array([]), 0.5)
    assert reach.tolist() == []
    none = np.array([], dtype=np.int64)
    assert agreeing_pairs(judge, reach, Column.of(np.array([])), none).tolist() == []


def test_a_tolerance_beyond_all_gaps_ties_everything_at_any_scale():
    for scores in ([1e-300, 2e-300], [1e300, -1e300], [0.0, 0.0]):
        _, reach = scaled_column(np.array(scores), 1e308)
        assert set(reach.tolist()) == {len(set(scores))}


@pytest.mark.parametrize("tolerance", [-0.1, np.nan, np.inf])
def test_a_tolerance_that_is_no_distance_is_refused(tolerance):
    with pytest.raises(ValueError, match="tolerance must be zero or more points"):
        check_tolerance(tolerance)


# -- pair votes ----------------------------------------------------------------------------------


def test_what_is_no_preference_is_refused():
    with pytest.raises(ValueError, match="for pair 1; majority_preference makes"):
        preferences([1, 0.67], "human", allow_unscored=False)
    with pytest.raises(ValueError, match="no preference for 1 of 2 pairs, the first at index 0"):
        preferences([None, 1], "human", allow_unscored=False)
    with pytest.raises(ValueError, match="must be a vector"):
        preferences([[1]], "human", allow_unscored=False)
    with pytest.raises(ValueError, match="got 1 for 3"):
        preferences([1], "human", n=3, allow_unscored=True)
    with pytest.raises(ValueError, match="human must be an array of numbers"):
        preferences(["A"], "human", allow_unscored=True)
    with pytest.raises(ValueError, match="got inf"):
        majority_preference([[1, np.inf]])
    with pytest.raises(ValueError, match="votes must have shape"):
        majority_preference([1, 0])
    with pytest.raises(ValueError, match="second must hold one score per item; got 1 for 2"):
        preferences_from_scores([1, 2], [1])
    with pytest.raises(ValueError, match="first has no finite score"):
        preferences_from_scores([np.inf], [1])
    with pytest.raises(ValueError, match="tolerance"):
        preferences_from_scores([1], [1], tolerance=-1)
    with pytest.raises(ValueError, match="must be 1"):
        preferences(2, "human", allow_unscored=True)


# -- row pairs -----------------------------------------------------------------------------------


groups = st.lists(st.integers(0, 4), max_size=20)


@pytest.mark.no_cover
@given(groups)
def test_pairs_within_are_all_pairs_of_equal_groups(groups):
    first, second = pairs_within(np.array(groups, dtype=np.int64), 5)
    found = {frozenset(pair) for pair in zip(first.tolist(), second.tolist(), strict=True)}
    expected = [
        pair for pair in combinations(range(len(groups)), 2) if len({groups[i] for i in pair}) == 1
    ]
    assert found == {frozenset(pair) for pair in expected}
    assert len(first) == len(expected)


@pytest.mark.no_cover
@given(groups, st.integers(1, 3), st.integers(1, 5))
def test_pairs_between_join_cells_that_are_apart_and_below_the_limit(cells, apart, limit):
    rows = np.array(cells, dtype=np.int64)
    first, second = pairs_between(rows, 5, apart=apart, limits=np.full(5, limit))
    found = sorted(zip(first.tolist(), second.tolist(), strict=True))
    expected = [
        (i, j)
        for i, own in enumerate(cells)
        for j, other in enumerate(cells)
        if other - own == apart and other < limit
    ]
    assert found == sorted(expected)


def test_too_many_pairs_are_refused_before_they_are_made():
    with pytest.raises(ValueError, match="499,999,500,000 pairs, more than 10,000,000"):
        pairs_within(np.zeros(1_000_000, np.int64), 1)


# -- strength fit --------------------------------------------------------------------------------


tables = st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=4, max_size=4)


def connected(wins):
    """Say whether wins lead from every system to every other one, step by step."""
    reached = (wins > 0) | np.eye(len(wins), dtype=bool)
    for _ in wins:
        reached = reached @ reached
    return reached.all()


@pytest.mark.no_cover
@given(tables)
def test_strengths_exist_where_wins_lead_from_every_system_to_every_other(table):
    wins = np.array(table, float)
    np.fill_diagonal(wins, 0)
    split = split_by_wins(wins)
    assert (split is None) == connected(wins)
    if split is not None:
        inside, said = split
        assert 0 < inside.sum() < 4
        assert not wins[np.ix_(~inside, inside)].any()
        assert wins[np.ix_(inside, ~inside)].any() == said.startswith("never lost")
        return
    strengths = most_likely(wins)
    # Where the likelihood is highest every system has won as often as it should have.
    due = (wins + wins.T) * logistic(strengths[:, None] - strengths)
    assert due.sum(axis=1) == pytest.approx(wins.sum(axis=1), abs=1e-7)
    assert strengths.sum() == pytest.approx(0, abs=1e-8)


def test_strengths_far_apart_with_few_surprises_are_found_step_by_step():
    # A row of ten systems: each beats the next a million times, and loses to it once.
    wins = np.zeros((10, 10))
    above = np.arange(9)
    wins[above, above + 1], wins[above + 1, above] = 1e6, 1
    assert np.diff(most_likely(wins)) == pytest.approx([-np.log(1e6)] * 9, abs=1e-9)


def test_a_fit_that_newtons_full_steps_would_overshoot_is_found():
    wins = np.array([[0, 1e7, 0, 0.1], [1e-3, 0, 1e4, 0], [0, 1e-2, 0, 1e6], [1e5, 0, 1, 0]])
    strengths = most_likely(wins)
    lost = wins * logistic(strengths - strengths[:, None])
    assert lost.sum(axis=1) == pytest.approx(lost.sum(axis=0), rel=1e-8)


def test_the_logistic_keeps_its_digits_in_both_tails():
    assert logistic(-40.0) == pytest.approx(np.exp(-40), rel=1e-12)
    assert np.isnan(logistic(np.nan))

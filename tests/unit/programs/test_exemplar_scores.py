"""Comparisons with exemplars become one score: sums, levels and both normalisations."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.families.exemplar import (
    LevelComparison,
    comparison_sum,
    largest_sum,
    level_of_sum,
    normalised,
)

BETTER, WORSE, ALIKE = LevelComparison(1, 0), LevelComparison(0, 1), LevelComparison(0, 0)


@st.composite
def comparisons(draw):
    """Draw comparisons with two to nine exemplars."""
    share = st.floats(0, 1)
    n = draw(st.integers(2, 9))
    drawn = [(draw(share), draw(share)) for _ in range(n)]
    return [LevelComparison(a * b, a * (1 - b)) for a, b in drawn]


def placed(k, n):
    """Return the comparisons of a response like exemplar ``k`` and rightly placed otherwise."""
    return [BETTER] * (k - 1) + [ALIKE] + [WORSE] * (n - k)


# Worked by hand: sum of level times (better - worse), and both normalisations onto 0..100.
TABLE = [
    # N = 2, S = 3
    ([BETTER, BETTER], 3, 100.0, 100.0),
    ([WORSE, WORSE], -3, 0.0, 0.0),
    ([BETTER, WORSE], -1, 100 * 2 / 6, 100 * (2**0.5 - 1)),
    ([ALIKE, ALIKE], 0, 50.0, 100 * (3**0.5 - 1)),
    # N = 3, S = 6: .6 - .2 on level 1, twice .5 - .25, three times .1 - .7
    (
        [LevelComparison(0.6, 0.2), LevelComparison(0.5, 0.25), LevelComparison(0.1, 0.7)],
        0.4 + 0.5 - 1.8,
        100 * 5.1 / 12,
        100 * (5.1**0.5 - 1) / 2,
    ),
    # N = 5, S = 15
    (placed(5, 5), 10, 100 * 25 / 30, 100.0),
    (placed(2, 5), -11, 100 * 4 / 30, 25.0),
    ([WORSE] * 5, -15, 0.0, 0.0),
]


@pytest.mark.parametrize(("compared", "s", "affine", "level"), TABLE)
def test_scores_are_those_worked_by_hand(compared, s, affine, level):
    n = len(compared)
    assert comparison_sum(compared) == pytest.approx(s)
    assert normalised(s, n, "affine") == pytest.approx(affine)
    assert normalised(s, n, "level") == pytest.approx(level)


MIRRORED = [
    # N = 3: worse than level 1 costs 3, than 2 costs 2, than 3 costs 1
    ([WORSE, WORSE, WORSE], -6),
    ([WORSE, ALIKE, ALIKE], -3),
    ([ALIKE, ALIKE, WORSE], -1),
    (
        [LevelComparison(0.6, 0.2), LevelComparison(0.5, 0.25), LevelComparison(0.1, 0.7)],
        0.0 + 0.5 - 0.4,
    ),
]


@pytest.mark.parametrize(("compared", "s"), MIRRORED)
def test_mirrored_sums_are_those_worked_by_hand(compared, s):
    assert comparison_sum(compared, mirrored=True) == pytest.approx(s)


@pytest.mark.parametrize("n", range(2, 10))
@pytest.mark.parametrize("mirrored", [False, True])
def test_a_response_like_an_exemplar_has_its_level_exactly(n, mirrored):
    for k in range(1, n + 1):
        s = comparison_sum(placed(k, n), mirrored=mirrored)
        assert s == (n * k if mirrored else k**2) - largest_sum(n)
        assert level_of_sum(s, n, mirrored=mirrored) == pytest.approx(k)
        assert normalised(s, n, "level", mirrored=mirrored, low=1, high=n) == pytest.approx(k)


@pytest.mark.no_cover
@given(comparisons())
def test_sums_stay_within_their_bounds(compared):
    most = largest_sum(len(compared))
    for mirrored in (False, True):
        s = comparison_sum(compared, mirrored=mirrored)
        assert -most <= s <= most
        for how in ("affine", "level"):
            assert 0 <= normalised(s, len(compared), how, mirrored=mirrored) <= 100


@given(comparisons())
def test_turning_the_scale_round_turns_mirrored_sums_round(compared):
    turned = [LevelComparison(one.worse, one.better) for one in reversed(compared)]
    s, other = (comparison_sum(one, mirrored=True) for one in (compared, turned))
    assert other == pytest.approx(-s, abs=1e-9)


@given(st.integers(2, 9), st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_a_larger_sum_never_scores_less(n, first, second, mirrored):
    most = largest_sum(n)
    less, more = sorted(2 * most * one - most for one in (first, second))
    for how in ("affine", "level"):
        assert normalised(less, n, how, mirrored=mirrored) <= normalised(
            more, n, how, mirrored=mirrored
        )


def test_both_orders_are_averaged():
    assert LevelComparison(0.6, 0.2).averaged(LevelComparison(0.2, 0.6)) == LevelComparison(
        0.4, 0.4
    )


@pytest.mark.parametrize(("better", "worse"), [(0.7, 0.7), (-0.1, 0.2), (float("nan"), 0.1)])
def test_what_are_no_probabilities_is_refused(better, worse):
    with pytest.raises(ValueError, match="probabilities whose sum is at most 1"):
        LevelComparison(better, worse)


def test_too_few_exemplars_and_impossible_sums_are_refused():
    with pytest.raises(ValueError, match="at least two exemplars; got 1"):
        comparison_sum([BETTER])
    for how, mirrored in product(("affine", "level"), (False, True)):
        with pytest.raises(ValueError, match="between -15 and 15; got 16"):
            normalised(16, 5, how, mirrored=mirrored)
    with pytest.raises(ValueError, match="at least two exemplars; got 1"):
        level_of_sum(0, 1)

"""Inside metrics: comparing."""

import math

import numpy as np
import pytest
from looping import for_each
from scipy.stats import ttest_1samp

from judgesmith.metrics.comparing.repeats import (
    both_judges,
    chance_of_alike,
    masks,
    missing_share,
    permuted_gain,
    repeat_noise,
    score_moves,
    score_shift,
)
from judgesmith.metrics.correlation import agreement
from judgesmith.metrics.correlation.levels import ScoredRows

# -- permutation ---------------------------------------------------------------------------------


STATISTICS = ["pearson", "spearman", "kendall", "kendall_c", "concordance", "q"]
LEVELS = ["system", "sample", "dataset"]
SWAPS = ["inputs", "systems", "both"]


def rows(seed, *, n_sources=7, n_systems=6, gaps=0.0, ordinal=False, noise=(1.0, 2.0)):
    """Return scores of two judges and of people with their sources and systems."""
    rng = np.random.default_rng(seed)
    sources, systems = (each.ravel() for each in np.indices((n_sources, n_systems)))
    kept = rng.random(len(sources)) >= gaps
    kept[:n_systems] = kept[::n_systems] = True
    sources, systems = sources[kept], systems[kept]
    human = rng.normal(size=n_systems)[systems] + rng.normal(size=len(sources))
    first, second = (human + each * rng.normal(size=len(human)) for each in noise)
    second = 7 + 3 * second
    if ordinal:
        first, second, human = (np.round(each) for each in (first, second, human))
    return first, second, human, sources, systems


def z_scores(scores):
    return (scores - scores.mean()) / scores.std()


def swapped_by_hand(first, second, human, sources, systems, changed, statistic, level):
    """Let the scores of rows change hands, and compare."""
    a, b = (first, second) if statistic == "concordance" else map(z_scores, (first, second))
    one, other = np.where(changed, b, a), np.where(changed, a, b)
    values = [
        agreement(
            human, each, sources=sources, systems=systems, statistic=statistic, level=level
        ).value
        for each in (one, other)
    ]
    return values[0] - values[1]


@for_each("gaps", [0.3])
@for_each("ordinal", [False, True])
@for_each("swap", SWAPS)
@for_each("level", LEVELS)
@for_each("statistic", STATISTICS)
def test_every_permutation_equals_scores_swapped_by_hand(statistic, level, swap, ordinal, gaps):
    first, second, human, sources, systems = rows(3, gaps=gaps, ordinal=ordinal)
    one, other = (
        ScoredRows.of(
            human,
            each,
            sources=sources,
            systems=systems,
            level=level,
            scored=np.ones(len(human), bool),
        )
        for each in (first, second)
    )
    both = both_judges(one, other, keep_scale=statistic == "concordance")
    (drawn,) = masks(both, swap, 15, np.random.default_rng(0))
    found = permuted_gain(both, statistic, level, swap)(*drawn)
    expected = []
    for mask in zip(*drawn, strict=True):
        by_source = mask[0][sources] if swap in ("inputs", "both") else 0
        by_system = mask[-1][systems] if swap in ("systems", "both") else 0
        changed = np.broadcast_to(by_source != by_system, human.shape)
        expected.append(
            swapped_by_hand(first, second, human, sources, systems, changed, statistic, level)
        )
    np.testing.assert_allclose(found, expected, atol=1e-10)


# -- Changes between scores given twice: against formulas worked out by hand, and in  ------------


NAN = math.nan


def test_a_shift_has_the_interval_of_students_test():
    rng = np.random.default_rng(0)
    before, now = rng.normal(50, 10, 12), rng.normal(53, 10, (12, 3))
    found = score_shift(before, now, confidence=0.9)
    known = ttest_1samp(now.mean(axis=1) - before, 0).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((known.low, known.high))


def test_items_without_both_scores_are_left_out_and_counted():
    before, now = [NAN, 1, 2, 3], [[1, 1], [NAN, NAN], [3, NAN], [4, 4]]
    found = score_shift(before, now, confidence=0.95)
    assert (found.value, found.n_groups, found.n_undefined) == (1.0, 2, 2)
    moved = score_moves(before, now, confidence=0.95)
    assert (moved.value, moved.n_groups, moved.n_undefined) == (1.0, 1, 3)
    assert math.isnan(moved.low)
    assert math.isnan(score_shift([NAN], [[1.0]], confidence=0.95).value)


def test_noise_alone_is_on_average_no_move():
    rng = np.random.default_rng(1)
    squares = []
    for _ in range(300):
        real = rng.uniform(20, 80, 20)
        before, now = real + rng.normal(0, 10, 20), real[:, None] + rng.normal(0, 10, (20, 3))
        d, s2 = now.mean(axis=1) - before, now.var(axis=1, ddof=1)
        squares.append(np.mean(d**2 - s2 * 4 / 3))
        found = score_moves(before, now, confidence=0.95)
        assert found.value == pytest.approx(math.sqrt(max(squares[-1], 0)))
    assert np.mean(squares) == pytest.approx(0, abs=5)  # of 133 without what is taken off


def test_noise_is_the_pooled_standard_deviation():
    assert repeat_noise([[1, 3, NAN], [5, 5, 5], [7, NAN, NAN]]) == pytest.approx(math.sqrt(2 / 3))
    assert math.isnan(repeat_noise([[1], [2]]))


def test_the_same_number_everywhere_is_no_chance_where_scores_differed():
    now = [[3, 3, NAN], [3, 3, 3], [NAN, NAN, NAN]]
    assert chance_of_alike([1, 3, 5], now) == pytest.approx(1 / 3)
    assert chance_of_alike([3, 3, 3], now) == 1.0
    assert chance_of_alike([1.0], [[NAN]]) == 1.0


def test_missing_scores_are_counted_over_items():
    found = missing_share([[NAN, NAN], [1, NAN], [2, 2], [3, 3]], confidence=0.9)
    known = ttest_1samp([1, 0.5, 0, 0], 0).confidence_interval(0.9)
    assert (found.value, found.low, found.high) == pytest.approx((0.375, 0, known.high))
    assert missing_share([[NAN]] * 3, confidence=0.9).low == 1.0


@pytest.mark.parametrize(
    ("before", "now", "confidence"),
    [([1, 2], [[1]], 0.95), ([1], [1], 0.95), ([[1]], [[1]], 0.95), ([1, 2], [[1], [2]], 1.0)],
)
def test_what_does_not_pair_up_is_refused(before, now, confidence):
    with pytest.raises(ValueError, match=r"before is one score|confidence"):
        score_shift(before, now, confidence=confidence)

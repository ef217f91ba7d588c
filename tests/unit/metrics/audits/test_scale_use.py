from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgesmith.metrics.audits.scale import scale_use
from judgesmith.metrics.resampling.jackknife import left_out_interval

rows = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 3)), min_size=1, max_size=15)


def tie_rate(scores, same=None):
    pairs = [
        scores[i] == scores[j]
        for i, j in combinations(range(len(scores)), 2)
        if same is None or same[i] == same[j]
    ]
    return np.mean(pairs) if pairs else np.nan


def evenness(scores, n_levels):
    _, counts = np.unique(scores, return_counts=True)
    return stats.entropy(counts) / np.log(n_levels) if counts.size else np.nan


@pytest.mark.no_cover
@given(rows)
def test_every_share_is_what_counting_gives(table):
    scores, sources = (np.array(each, dtype=float) for each in zip(*table, strict=True))
    found = scale_use(scores, levels=range(1, 6), round_to=2, sources=sources)
    values, counts = np.unique(scores, return_counts=True)
    assert found.most_used == values[np.argmax(counts)]
    assert found.most_used_share.value == pytest.approx(counts.max() / len(scores))
    assert found.floor_share.value == pytest.approx(np.mean(scores == 1))
    assert found.ceiling_share.value == pytest.approx(np.mean(scores == 5))
    assert found.round_share.value == pytest.approx(np.mean(scores % 2 == 0))
    assert found.n_used == len(values)
    assert found.tied_pairs.value == pytest.approx(tie_rate(scores), nan_ok=True)
    assert found.tied_pairs_within.value == pytest.approx(tie_rate(scores, sources), nan_ok=True)
    assert found.entropy.value == pytest.approx(evenness(scores, 5), abs=1e-12)


@pytest.mark.no_cover
@given(rows)
def test_intervals_of_pairs_and_entropy_leave_out_one_source_at_a_time(table):
    scores, sources = (np.array(each, dtype=float) for each in zip(*table, strict=True))
    found = scale_use(scores, levels=range(1, 6), sources=sources)
    left = [(scores[sources != s], sources[sources != s]) for s in np.unique(sources)]
    cases = [
        (found.tied_pairs, tie_rate(scores), [tie_rate(each) for each, _ in left]),
        (found.entropy, evenness(scores, 5), [evenness(each, 5) for each, _ in left]),
    ]
    several = [s for s in np.unique(sources) if np.sum(sources == s) > 1]
    within = [tie_rate(scores[sources != s], sources[sources != s]) for s in several]
    cases.append((found.tied_pairs_within, tie_rate(scores, sources), within))
    for estimate, value, without in cases:
        low, high = left_out_interval(value, np.array(without), 0.95, (0.0, 1.0))
        assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=1e-7, nan_ok=True)


def test_an_even_use_has_entropy_1_and_a_constant_one_0_unless_only_it_is_known():
    assert scale_use([1, 2, 3, 4], levels=range(1, 5)).entropy.value == pytest.approx(1)
    assert scale_use([2, 2, 2], levels=range(1, 5)).entropy.value == 0
    assert np.isnan(scale_use([2, 2, 2]).entropy.value)
    assert scale_use([2, 2, 2]).tied_pairs.value == 1


def test_scores_between_levels_count_for_the_nearest_in_entropy_only():
    found = scale_use([1, 1.2, 4.9, 5], levels=[1, 5])
    assert found.entropy.value == pytest.approx(1)
    assert (found.n_used, found.tied_pairs.value, found.ceiling_share.value) == (4, 0, 0.25)


def test_scores_that_differ_by_rounding_alone_are_one():
    found = scale_use([0.3, 0.1 + 0.2, 0.6], round_to=0.3)
    assert (found.n_used, found.floor_share.value) == (2, pytest.approx(2 / 3))
    assert (found.round_share.value, found.tied_pairs.value) == (1, pytest.approx(1 / 3))


def test_units_change_nothing():
    scores = np.random.default_rng(0).integers(1, 6, size=60)
    one = scale_use(scores, levels=range(1, 6), round_to=2)
    other = scale_use(scores * 20, levels=range(20, 101, 20), round_to=40)
    assert other.most_used == 20 * one.most_used
    assert one.entropy == other.entropy
    assert (one.round_share, one.tied_pairs) == (other.round_share, other.tied_pairs)


def test_unscored_rows_are_left_out_and_no_rows_leave_all_undefined():
    found = scale_use(pd.Series([4, None, 4, 5]), sources=list("aabb"))
    assert (found.n_unscored, found.most_used, found.most_used_share.n) == (1, 4, 3)
    for empty in (scale_use([]), scale_use([None], levels=[1, 2], round_to=1)):
        assert np.isnan([empty.most_used, empty.entropy.value, empty.tied_pairs.value]).all()
        assert np.isnan([empty.most_used_share.value, empty.round_share.value]).all()
        assert empty.n_used == 0
    one = scale_use([3])
    assert (one.most_used_share.value, one.floor_share.value) == (1, 1)
    assert np.isnan(one.tied_pairs.value)
    assert np.isnan(found.round_share.value)


@pytest.mark.no_cover
def test_intervals_cover_about_as_often_as_they_claim():
    rng = np.random.default_rng(1)
    sources = np.repeat(np.arange(50), 4)

    def draw(n):
        own = np.repeat(np.arange(n), 4)
        return np.clip(np.round(4 + 0.6 * rng.normal(size=n)[own] + rng.normal(size=4 * n)), 1, 5)

    true = scale_use(draw(40_000), levels=range(1, 6))
    ties = entropy = 0
    for _ in range(400):
        found = scale_use(draw(50), levels=range(1, 6), sources=sources)
        ties += found.tied_pairs.low <= true.tied_pairs.value <= found.tied_pairs.high
        entropy += found.entropy.low <= true.entropy.value <= found.entropy.high
    assert 0.91 <= ties / 400 <= 0.98
    assert 0.91 <= entropy / 400 <= 0.98


def test_many_rows_and_levels_take_no_table_of_both():
    scores = np.random.default_rng(2).normal(size=200_000)
    found = scale_use(scores)
    assert (found.n_used, found.tied_pairs.value) == (200_000, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"levels": [3]}, r"levels must be two points or more; got \[3.0\]"),
        ({"levels": range(1, 4)}, "within levels, 1 to 3; got 4, and 1 such in all"),
        ({"levels": ["low", "high"]}, "levels must be a vector of numbers"),
        ({"round_to": 0}, "round_to must be above 0"),
        ({"scores": [1, np.inf, 2]}, "scores has no finite score"),
        ({"scores": "abc"}, "scores must be a vector"),
        ({"sources": [1]}, "sources must hold one label"),
        ({"confidence": 2}, "confidence must be strictly"),
    ],
)
def test_what_cannot_be_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        scale_use(**({"scores": [1, 4, 2]} | change))

import math
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from judgesmith.metrics.perturbations import wilcoxon
from judgesmith.metrics.perturbations.wilcoxon import signed_rank_test, wilcoxon_log_p

differences = st.lists(st.integers(-4, 4), min_size=1, max_size=9)
few_kinds = st.lists(st.one_of(st.none(), st.integers(-3, 3)), min_size=1, max_size=30)
OLD = tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 15)


def log_p(lost):
    return float(wilcoxon_log_p(lost, np.zeros(len(lost))))


def average_ranks(sizes):
    """Return one plus the number of smaller sizes, plus half the number of others alike."""
    return [
        sum(other < size for other in sizes) + (sum(other == size for other in sizes) + 1) / 2
        for size in sizes
    ]


def enumerated(lost):
    """Return the share of all assignments of signs with a rank sum at least as large."""
    nonzero = [one for one in lost if one]
    ranks = average_ranks([abs(one) for one in nonzero])
    seen = sum(rank for rank, one in zip(ranks, nonzero, strict=True) if one > 0)
    sums = [
        sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign)
        for signs in product((0, 1), repeat=len(nonzero))
    ]
    return sum(one >= seen for one in sums) / len(sums)


def by_scipy(lost, alternative):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return stats.wilcoxon(lost, alternative=alternative).pvalue


@pytest.mark.no_cover
@given(differences)
def test_with_few_pairs_it_is_the_share_of_all_assignments_of_signs(lost):
    assert math.exp(log_p(lost)) == pytest.approx(enumerated(lost))


@pytest.mark.no_cover
@pytest.mark.skipif(OLD, reason="before 1.15 SciPy had another rule for few pairs with ties")
@pytest.mark.parametrize(
    ("kinds", "sizes", "n_sets"),
    [
        (1, (14, 70), 700),
        (5, (14, 70), 700),
        (1000, (14, 70), 700),
        ("normal", (1, 70), 700),
        (2, (1, 5), 200),
    ],
)
def test_it_equals_scipy_in_both_directions_with_ties_and_zeros(kinds, sizes, n_sets):
    rng = np.random.default_rng(0)
    for _ in range(n_sets):
        n = int(rng.integers(*sizes))
        if kinds == "normal":
            lost = rng.normal(loc=rng.normal() / 2, size=n)
        else:
            lost = rng.integers(-kinds, kinds + 1, size=n).astype(float)
        if lost.any():
            found = signed_rank_test(lost, np.zeros(n))
            assert math.exp(found.log_p) == pytest.approx(by_scipy(lost, "greater"), abs=1e-13)
            assert math.exp(found.log_p_opposite) == pytest.approx(
                by_scipy(lost, "less"), abs=1e-13
            )


def test_it_equals_quoted_values_of_scipy():
    # SciPy 1.17.1: scipy.stats.wilcoxon(d, alternative="greater").pvalue
    assert math.exp(log_p([1, 1, 2, -3, 0, 4])) == pytest.approx(0.1875)
    assert math.exp(log_p([1, 2, 3, -4, 5, 6, 7, -8, 9, 10])) == pytest.approx(0.0654296875)
    lost = [1, 2, 0, -1, 3, 1, 1, 0, -2, 2, 1, 4, 1, -1, 2, 3, 0, 1, 1, 2]
    assert math.exp(log_p(lost)) == pytest.approx(0.004238754822965801)


@pytest.mark.parametrize("n", [14, 33, 50])
def test_without_ties_up_to_fifty_pairs_every_tail_is_exact_also_the_smallest(n):
    ways = [1] + [0] * (n * (n + 1) // 2)
    for rank in range(1, n + 1):
        ways = [
            one + (ways[place - rank] if place >= rank else 0) for place, one in enumerate(ways)
        ]
    for n_lost in (0, 1, n // 3, n):
        signs = np.where(np.arange(n) < n_lost, -1, 1)
        lost = signs * np.arange(1, n + 1)
        at_least = sum(ways[lost[lost > 0].sum() :])
        exact = math.log(Fraction(at_least, 2**n))
        assert log_p(lost) == pytest.approx(exact, rel=1e-12)
    assert log_p(np.arange(1, n + 1)) == pytest.approx(-n * math.log(2))


def test_far_tails_are_numbers_and_no_infinities():
    n = 4000
    z = math.sqrt(n * (n + 1) / 2 * 3 / (2 * n + 1))  # all ranks are positive
    # The leading terms of the normal tail; at z of 54 the next one is 1e-7 of them.
    tail = -z * z / 2 - math.log(z * math.sqrt(2 * math.pi)) + math.log1p(-1 / z**2)
    assert log_p(np.arange(1.0, n + 1)) == pytest.approx(tail, rel=1e-9)
    assert tail < -1000


def test_one_million_pairs_are_ranked():
    found = signed_rank_test(np.arange(1.0, 1e6 + 1), np.zeros(10**6))
    assert found.log_p == pytest.approx(-375_007, abs=10)


@pytest.mark.no_cover
@settings(max_examples=50)
@given(st.lists(few_kinds, min_size=1, max_size=4))
def test_many_sets_at_once_are_as_each_of_them_alone(rows):
    width = max(map(len, rows))
    table = np.array([row + [None] * (width - len(row)) for row in rows], dtype=float)
    together = signed_rank_test(table, np.zeros(width))
    for place, row in enumerate(rows):
        alone = signed_rank_test(np.array(row, dtype=float), np.zeros(len(row)))
        assert together.log_p[place] == pytest.approx(float(alone.log_p), nan_ok=True)
        assert together.n_pairs[place] == alone.n_pairs == sum(one is not None for one in row)
        assert together.n_nonzero[place] == alone.n_nonzero == sum(bool(one) for one in row)
        assert together.n_pairs[place] + together.n_dropped[place] == width


def test_sets_are_ranked_in_batches_alike(monkeypatch):
    table = np.random.default_rng(0).integers(-3, 4, size=(7, 2, 11)).astype(float)
    at_once = wilcoxon_log_p(table, 0 * table)
    monkeypatch.setattr(wilcoxon, "_BATCH_CELLS", 40)
    assert np.array_equal(wilcoxon_log_p(table, 0 * table), at_once)


@pytest.mark.no_cover
@given(differences)
def test_the_opposite_direction_is_the_test_of_turned_signs(lost):
    zeros = np.zeros(len(lost))
    assert signed_rank_test(lost, zeros).log_p_opposite == signed_rank_test(zeros, lost).log_p


@pytest.mark.no_cover
@given(differences, st.integers(1, 1000), st.integers(-1000, 1000))
def test_only_the_ranks_of_sizes_count(lost, factor, offset):
    scores = np.array(lost, dtype=float)
    base = np.full(len(lost), float(offset))
    assert wilcoxon_log_p(factor * scores + base, base) == pytest.approx(log_p(lost))
    assert log_p(np.sign(scores) * scores**2) == pytest.approx(log_p(lost))


def test_dust_of_averaging_is_no_evidence():
    thirds = np.array([0.1 + 0.2, 0.7 + 0.1, 1.1 + 2.2] * 10)
    clean = np.array([0.3, 0.8, 3.3] * 10)
    assert (thirds != clean).any()
    assert signed_rank_test(thirds, clean).all_tied
    assert signed_rank_test(thirds * 1e12, clean * 1e12).all_tied
    assert signed_rank_test([0.1 + 0.2, 1.0], [0.2, 0.9]).log_p == wilcoxon_log_p([1, 1], [0, 0])


def test_without_a_difference_the_p_value_is_one_and_without_a_pair_it_is_undefined():
    found = signed_rank_test([[3, 3, 3], [np.nan, np.nan, 2]], [[3, 3, 3], [1, 2, np.nan]])
    assert found.log_p.tolist()[0] == found.log_p_opposite.tolist()[0] == 0
    assert np.isnan([found.log_p[1], found.log_p_opposite[1]]).all()
    assert found.all_tied.tolist() == [True, False]
    assert found.too_few.tolist() == [True, True]
    assert found.n_dropped.tolist() == [0, 3]


def test_four_differences_are_too_few_and_five_are_not():
    found = signed_rank_test([[1, 2, 3, 4, 0], [1, 2, 3, 4, 5]], np.zeros(5))
    assert found.too_few.tolist() == [True, False]
    assert np.exp(found.log_p).tolist() == pytest.approx([1 / 16, 1 / 32])


def test_the_normal_approximation_believes_three_gains_among_a_hundred_pairs():
    found = signed_rank_test([1, 1, 1] + [0] * 97, np.zeros(100))
    assert math.exp(found.log_p) == pytest.approx(0.0416, abs=1e-4)
    assert found.too_few


def test_rejects_one_time_in_twenty_where_nothing_is_lost():
    rng = np.random.default_rng(2)
    lost = np.round(rng.normal(size=(20_000, 100)) * 5) / 5
    assert np.mean(wilcoxon_log_p(lost, np.zeros(100)) <= math.log(0.05)) == pytest.approx(
        0.05, abs=0.005
    )


@pytest.mark.parametrize(
    "scores",
    [
        [3, 2, 5],
        (3, 2, 5),
        np.array([3, 2, 5], dtype=np.int8),
        np.array([3, 2, 5], dtype=object),
        pd.Series([3, 2, 5], index=[7, 8, 9]),
    ],
)
def test_scores_may_come_as_any_array_of_numbers(scores):
    assert float(wilcoxon_log_p(scores, [1, 1, 1])) == pytest.approx(math.log(1 / 8))
    assert float(wilcoxon_log_p([True, False], [False, False])) == pytest.approx(math.log(1 / 2))


def test_no_items_and_no_sets_are_undefined_and_empty():
    assert math.isnan(wilcoxon_log_p([], []))
    assert wilcoxon_log_p(np.zeros((0, 3)), np.zeros(3)).shape == (0,)
    assert np.isnan(wilcoxon_log_p(np.zeros((2, 0)), [])).tolist() == [True, True]


@pytest.mark.parametrize(
    ("originals", "perturbed", "message"),
    [
        (5, [1], "originals must have one score per item"),
        ([1, 2], [1], "pair up by item, on their last axis; got 2 and 1 items"),
        ([[1, 2]] * 2, [[1, 2]] * 3, r"must broadcast; got \(2, 2\) and \(3, 2\)"),
        (
            [[1, math.inf]],
            [1, 2],
            r"originals holds an infinite score, the first at index \(0, 1\)",
        ),
        ([1, 2], [1, -math.inf], "perturbed holds an infinite score"),
        ([1, "good"], [1, 2], "originals must be an array of numbers"),
        (["1", "2"], [1, 2], "originals must be an array of numbers; got"),
        ([[1, 2], [1]], [1, 2], "originals must be an array of numbers"),
        ([1, 2], [{}, 2], "perturbed must be an array of numbers"),
    ],
)
def test_says_what_is_wrong_with_scores(originals, perturbed, message):
    with pytest.raises(ValueError, match=message):
        signed_rank_test(originals, perturbed)

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.resampling.shares import percent_agreement, share_interval

answers = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5)), min_size=1, max_size=30)
tables = st.lists(
    st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=3, max_size=3), min_size=1, max_size=8
)


def clustered(rng, n_items, size, share, likeness):
    """Return answers about items whose own shares vary: ``likeness`` is their correlation."""
    spread = (1 - likeness) / likeness
    own = rng.beta(share * spread, (1 - share) * spread, size=n_items)
    items = np.repeat(np.arange(n_items), size)
    return (rng.random(len(items)) < own[items]).astype(float), items


@pytest.mark.no_cover
@given(answers)
def test_the_share_is_the_share_of_all_answers_and_lies_in_its_interval(pairs):
    yes, items = zip(*pairs, strict=True)
    found = share_interval(yes, sources=items)
    assert found.value == pytest.approx(sum(yes) / len(yes))
    assert (found.n, found.n_groups) == (len(yes), len(set(items)))
    if len(set(items)) > 1:
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.low < found.high
    else:
        assert np.isnan(found.low)
        assert np.isnan(found.high)


def test_with_one_answer_per_item_it_is_wilsons_interval_but_for_students_t():
    # SciPy 1.17.1: scipy.stats.binomtest(720, 1000).proportion_ci(method="wilson")
    yes = np.arange(1000) < 720
    found = share_interval(yes, sources=range(1000))
    assert (found.low, found.high) == pytest.approx((0.69137, 0.74695), abs=2e-4)


def test_the_mirrored_answers_have_the_mirrored_interval():
    yes, items = clustered(np.random.default_rng(0), 20, 4, 0.8, 0.2)
    one, other = share_interval(yes, sources=items), share_interval(1 - yes, sources=items)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low))


def test_answers_that_repeat_the_item_tell_no_more_than_one_per_item():
    yes = np.arange(40) % 4 > 0
    once = share_interval(yes, sources=range(40))
    thrice = share_interval(np.repeat(yes, 3), sources=np.repeat(np.arange(40), 3))
    # The variance over items has n - 1 in it, which one answer per item cannot use.
    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high), abs=0.004)


def test_where_all_say_yes_items_count_as_single_answers():
    found = share_interval(np.ones(60), sources=np.repeat(np.arange(20), 3))
    assert found.value == found.high == 1
    assert found.low == share_interval(np.ones(20), sources=range(20)).low
    assert 0.8 < found.low < 0.85


@pytest.mark.parametrize(("n_items", "size"), [(15, 3), (50, 1), (50, 21)])
def test_the_interval_of_a_share_covers_the_truth_about_as_often_as_it_claims(n_items, size):
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        yes, items = clustered(rng, n_items, size, 0.9, 0.2)
        found = share_interval(yes, sources=items)
        covered += found.low <= 0.9 <= found.high
    assert 0.92 <= covered / 400 <= 0.99


def test_no_answers_have_no_share():
    found = share_interval([], sources=[])
    assert np.isnan(found.value)
    assert (found.n, found.n_groups) == (0, 0)


def test_answers_that_are_not_yes_or_no_are_refused():
    with pytest.raises(ValueError, match="a vector of 0 and 1"):
        share_interval([0, 1, np.nan], sources=[1, 2, 3])
    with pytest.raises(ValueError, match="one label per item"):
        share_interval([0, 1], sources=[1])
    with pytest.raises(ValueError, match="confidence"):
        share_interval([0, 1], sources=[1, 2], confidence=95)


@pytest.mark.no_cover
@given(tables)
def test_raw_agreement_counts_pairs(rows):
    pairs = [
        a == b
        for row in rows
        for a, b in combinations([one for one in row if not np.isnan(one)], 2)
    ]
    found = percent_agreement(rows)
    assert found == pytest.approx(np.mean(pairs)) if pairs else np.isnan(found)


@pytest.mark.parametrize("yes", [["1", "0"], [1j, 0], [{}, {}]])
def test_what_is_no_number_is_no_answer(yes):
    with pytest.raises(ValueError, match="yes must be an array of numbers"):
        share_interval(yes, sources=range(len(yes)))

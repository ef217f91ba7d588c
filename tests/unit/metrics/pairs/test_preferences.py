import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

from judgesmith.metrics.pairs.preferences import order_consistency, preference_agreement
from judgesmith.metrics.resampling.shares import share_interval

pytestmark = pytest.mark.no_cover

answer = st.sampled_from([0.0, 0.5, 1.0])
maybe = st.sampled_from([0.0, 0.5, 1.0, np.nan])
judged = st.lists(st.tuples(maybe, answer, st.integers(0, 4)), max_size=25)
ordered = st.lists(st.tuples(maybe, maybe, st.integers(0, 4)), max_size=25)


def columns(rows):
    return (np.array(column) for column in (zip(*rows, strict=True) if rows else ([], [], [])))


def assert_share(found, yes, items):
    slow = share_interval(np.array(yes, bool), sources=items)
    assert repr(found) == repr(slow)


@given(judged)
def test_accuracy_counts_equal_answers_of_three_and_of_those_where_people_decide(rows):
    predicted, human, sources = columns(rows)
    found = preference_agreement(human, predicted, sources=sources)
    scored = [(p, h, s) for p, h, s in rows if not np.isnan(p)]
    assert found.n_unscored == len(rows) - len(scored)
    assert_share(found.accuracy, [p == h for p, h, _ in scored], [s for *_, s in scored])
    decided = [row for row in scored if row[1] != 0.5]
    assert_share(found.accuracy_decided, [p == h for p, h, _ in decided], [s for *_, s in decided])


@given(judged.filter(lambda rows: any(not np.isnan(p) for p, *_ in rows)))
def test_confusion_counts_are_scikit_learns(rows):
    predicted, human, _ = columns(rows)
    scored = ~np.isnan(predicted)
    names = np.array(["second", "neither", "first"])
    p, h = (names[(2 * each[scored]).astype(int)] for each in (predicted, human))
    expected = confusion_matrix(h, p, labels=names)
    assert preference_agreement(human, predicted).confusion == tuple(map(tuple, expected))


@given(judged)
def test_naming_the_texts_the_other_way_round_changes_no_share(rows):
    predicted, human, sources = columns(rows)
    found = preference_agreement(human, predicted, sources=sources)
    other = preference_agreement(1 - human, 1 - predicted, sources=sources)
    assert repr(found.accuracy) == repr(other.accuracy)
    assert repr(found.accuracy_decided) == repr(other.accuracy_decided)
    assert np.array_equal(np.array(found.confusion)[::-1, ::-1], other.confusion)


def test_without_sources_every_pair_is_one():
    found = preference_agreement([1, 0, 1, 1], [1, 0, 0.5, 1])
    assert (found.accuracy.value, found.accuracy.n, found.accuracy.n_groups) == (0.75, 4, 4)


def test_no_pairs_have_no_agreement():
    found = preference_agreement([], [])
    assert np.isnan(found.accuracy.value)
    assert found.confusion == ((0, 0, 0),) * 3
    assert np.isnan(order_consistency([], []).first_place.value)


@given(ordered)
def test_order_consistency_counts_pairs_answered_in_both_orders(rows):
    given_order, swapped, sources = columns(rows)
    found = order_consistency(given_order, swapped, sources=sources)
    both = [(a, b, s) for a, b, s in rows if not np.isnan(a + b)]
    assert found.n_unscored == len(rows) - len(both)
    items = [s for *_, s in both]
    assert_share(found.consistent, [a == b for a, b, _ in both], items)
    assert_share(found.flipped, [{a, b} == {0, 1} for a, b, _ in both], items)
    first = [(a == 1, s) for a, _, s in both if a != 0.5]
    first += [(b == 0, s) for _, b, s in both if b != 0.5]
    slow = share_interval([yes for yes, _ in first], sources=[s for _, s in first])
    assert repr(found.first_place) == repr(slow)


@given(ordered)
def test_swapping_the_orders_mirrors_the_first_place(rows):
    given_order, swapped, sources = columns(rows)
    found = order_consistency(given_order, swapped, sources=sources)
    other = order_consistency(swapped, given_order, sources=sources)
    assert repr(found.consistent) == repr(other.consistent)
    mirrored = (other.first_place.low, 1 - other.first_place.value, other.first_place.high)
    assert (
        1 - found.first_place.high,
        found.first_place.value,
        1 - found.first_place.low,
    ) == pytest.approx(mirrored, nan_ok=True)


def test_a_judge_that_takes_the_first_place_is_never_consistent():
    found = order_consistency(np.ones(40), np.zeros(40))
    assert (found.consistent.value, found.flipped.value, found.first_place.value) == (0, 1, 1)
    assert found.first_place.low > 0.8


def test_a_consistent_judge_has_no_preference_for_a_place_whatever_it_answers():
    found = order_consistency([1, 1, 1, 0], [1, 1, 1, 0])
    assert found.first_place.value == 0.5


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="human has no preference for 1 of 2"):
        preference_agreement([1, None], [1, 0])
    with pytest.raises(ValueError, match="judge must hold one preference per pair"):
        preference_agreement([1, 0], [1])
    with pytest.raises(ValueError, match="swapped must be 1"):
        order_consistency([1], [3])
    with pytest.raises(ValueError, match="one label per item"):
        order_consistency([1], [1], sources=[1, 2])
    with pytest.raises(ValueError, match="confidence"):
        preference_agreement([1], [1], confidence=0)


def test_intervals_cover_the_truth_about_as_often_as_they_claim():
    rng = np.random.default_rng(0)
    covered, placed = 0, 0
    for _ in range(400):
        # Pairs of a source are alike; the first place wins whenever the judge is unsure.
        sure = rng.beta(3, 1, size=25)[np.repeat(np.arange(25), 4)]
        better = rng.integers(0, 2, size=100)
        a, b = (np.where(rng.random(100) < sure, better, first) for first in (1, 0))
        found = order_consistency(a, b, sources=np.repeat(np.arange(25), 4))
        # Consistent: the better one wins in both, sure or by its place.
        truth = 0.75
        covered += found.consistent.low <= truth <= found.consistent.high
        placed += found.first_place.low <= 0.5 + 0.25 / 2 <= found.first_place.high
    assert 0.92 <= covered / 400 <= 0.99
    assert 0.92 <= placed / 400 <= 0.99

"""Texts compared with anchors of other sources, and anchors with each other."""

import math

import numpy as np
import pytest

from judgesmith.experiments.benchmark.plan import (
    compare_anchors,
    compare_pairs,
    compare_with_anchors,
    same_source,
)
from judgesmith.metrics.anchors import rating_of
from judgesmith.metrics.comparators import comparator_accuracy
from judgesmith.programs.benchmarking import Compared
from judgesmith.signatures import RatedItem
from judgesmith.signatures.judgement import Cause, Reason

NAN = float("nan")
UNREAD = Cause(Reason.UNREADABLE, "the answer could not be read")


class Scripted:
    """Compares texts by the number in each, and says nothing of odd pairs where told so."""

    def __init__(self, *, silent=(), place=""):
        self.silent = silent
        self.place = place
        self.pairs = []

    def each(self, pairs, *, progress=None):
        for pair in pairs:
            self.pairs.append(pair)
            if pair.first.response in self.silent:
                yield pair, Compared(given="first", cause=UNREAD)
                continue
            one, two = int(pair.first.response), int(pair.second.response)
            said = "first" if one > two else "second" if one < two else "similar"
            yield pair, Compared(given=self.place or said, swapped=said)


def item(worth, source):
    return RatedItem(source_id=str(source), source=f"About {source}.", response=str(worth))


ANCHORS = [[item(10, "a"), item(12, "b")], [item(20, "a")], [item(30, "c"), item(32, "a")]]


def test_every_text_meets_every_anchor_of_another_source_in_its_own_cell():
    found = compare_with_anchors([item(21, "d"), item(11, "a")], ANCHORS, Scripted())
    expected = [[[1, 1], [1, NAN], [-1, -1]], [[NAN, -1], [NAN, NAN], [-1, NAN]]]
    np.testing.assert_array_equal(found.signs, expected)
    assert found.n_anchors.tolist() == [[2, 1, 2], [1, 0, 1]]
    assert found.tally.n == 7


def test_a_text_in_its_own_cell_of_anchors_has_the_rating_that_it_should_have():
    texts = [item(worth, "d") for worth in (5, 11, 20, 25, 31, 40)]
    found = compare_with_anchors(texts, ANCHORS, Scripted())
    rated = rating_of(found.signs, levels=[1, 2, 3], n_anchors=found.n_anchors)
    assert rated.ratings.tolist() == [1, 1, 2, 2, 3, 3]


def test_pairs_without_an_answer_are_counted_with_the_first_reason():
    found = compare_with_anchors([item(5, "d"), item(6, "d")], ANCHORS, Scripted(silent=["6"]))
    assert np.isnan(found.signs[1]).all()
    assert found.n_anchors[1].tolist() == [2, 1, 2]
    assert found.to_dict() == {
        "pairs": 10,
        "similar": 0,
        "orders_disagree": 0,
        "unanswered": 5,
        "problem": "the answer could not be read",
    }


def test_conflicting_orders_are_counted_and_similar():
    found = compare_with_anchors([item(25, "d")], ANCHORS, Scripted(place="first"))
    assert (found.tally.n_disagree, found.tally.n_similar) == (2, 2)


def test_no_texts_are_compared_with_nothing():
    comparator = Scripted()
    found = compare_with_anchors([], ANCHORS, comparator)
    assert (found.signs.shape, comparator.pairs) == ((0, 3, 2), [])


def test_anchors_are_compared_across_ratings_alone():
    comparator = Scripted()
    found, pairs, levels_of = compare_anchors(ANCHORS, comparator)
    assert levels_of == [0, 0, 1, 2, 2]
    assert pairs == [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4)]
    assert found.signs.tolist() == [-1] * 8
    assert comparator_accuracy(found.signs, pairs, levels_of=levels_of).value == 1


def test_pairs_are_compared_in_order():
    found = compare_pairs(
        [(item(2, "a"), item(1, "a")), (item(3, "a"), item(4, "a"))], Scripted(silent=["3"])
    )
    assert found.signs[0] == 1
    assert math.isnan(found.signs[1])
    assert found.disagreed == (False, None)
    assert found.to_dict()["unanswered"] == 1


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("1", "a"), ("1", "b"), True),
        (("1", "a"), ("2", "a"), True),
        (("1", "a"), ("2", "b"), False),
        (("", "a"), ("", "b"), False),
        (("1", " "), ("2", " "), False),
    ],
)
def test_a_source_is_known_by_its_id_and_by_what_it_says(one, other, same):
    first, second = (RatedItem(source_id=i, source=s, response="r") for i, s in (one, other))
    assert same_source(first, second) == same_source(second, first) == same

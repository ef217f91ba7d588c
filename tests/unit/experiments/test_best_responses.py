"""Good responses stand in for references where there are none."""

from __future__ import annotations

import pytest

from judgesmith.data.items import DataSet
from judgesmith.experiments.benchmark.beginning import best_responses, start_of
from judgesmith.experiments.benchmark.settings import BenchmarkSettings
from judgesmith.signatures import RatedItem, Scale

LIKERT = {"wit": Scale(low=1, high=5), "faults": Scale(low=0, high=10, higher_is_better=False)}


def rows(*given):
    return DataSet(
        name="toy",
        items=tuple(
            RatedItem(
                source_id=source, response=text, human=human, scale=LIKERT, references=references
            )
            for source, text, human, references in given
        ),
    )


def test_the_best_come_first_and_of_equals_the_earlier():
    data = rows(
        ("a", "good", {"wit": (4,)}, ()),
        ("a", "fair", {"wit": (3, 4)}, ()),
        ("a", "best", {"wit": (5, 5)}, ()),
        ("a", "as good", {"wit": (4,)}, ()),
        ("b", "bad", {"wit": (1,)}, ()),
    )
    assert best_responses(data, [[0, 1, 2, 3], [4], []]) == (("best", "good", "as good"), (), ())


def test_what_nobody_rated_is_not_known_to_be_good():
    data = rows(
        ("a", "unrated", {}, ()), ("a", "x", {"wit": (5,)}, ()), ("a", "y", {"wit": (1,)}, ())
    )
    assert best_responses(data, [[0, 1, 2]]) == (("x",),)


def test_few_faults_are_good():
    data = rows(("a", "clean", {"faults": (0,)}, ()), ("a", "dirty", {"faults": (9,)}, ()))
    assert best_responses(data, [[0, 1]]) == (("clean",),)


def test_a_reference_in_any_row_is_enough_unless_it_is_blank():
    data = rows(
        ("a", "x", {"wit": (5,)}, ()),
        ("a", "y", {"wit": (1,)}, ("A reference.",)),
        ("b", "z", {"wit": (5,)}, (" ",)),
    )
    assert best_responses(data, [[0, 1], [2]]) == ((), ("z",))


def test_where_all_are_rated_the_same_none_is_known_to_be_good():
    data = rows(("a", "x", {"wit": (5,)}, ()), ("b", "y", {"wit": (5,)}, ()))
    assert best_responses(data, [[0], [1]]) == ((), ())


def test_ratings_are_not_asked_for_where_nothing_is_lacking():
    assert best_responses(rows(("a", "x", {}, ("A reference.",))), [[0]]) == ((),)


def test_without_ratings_nothing_is_good():
    with pytest.raises(ValueError, match="rated"):
        best_responses(rows(("a", "x", {}, ())), [[0]])


def test_a_benchmark_starts_from_them_and_says_so():
    data = rows(("a", "x", {"wit": (5,)}, ()), ("b", "y", {"wit": (1,)}, ()))
    start = start_of(data, BenchmarkSettings(perspective="local"))
    assert start.responses == (("x",), ())
    assert start.notes[-1] == (
        "1 source has no reference: responses rated 75% of the scale or more stand in."
    )


def test_a_benchmark_without_a_good_text_is_refused():
    data = rows(("a", "x", {"wit": (3,)}, ()), ("b", "y", {"wit": (1,)}, ()))
    with pytest.raises(ValueError, match="nor a response that people found good; have texts"):
        start_of(data, BenchmarkSettings(perspective="local"))

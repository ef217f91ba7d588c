"""Reports of benchmarks: ratings by errors, seen errors and spot checks."""

import copy
import csv
import io
import math
import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from judgesmith.data.problems import DataError
from judgesmith.experiments.benchmark.anchor_texts import model_ratings
from judgesmith.experiments.benchmark.models import UnfinishedError
from judgesmith.experiments.benchmark.perspective_building import errors_per_rating
from judgesmith.experiments.benchmark.plan import OneMore, seen_errors
from judgesmith.experiments.benchmark.report import (
    blind_kinds_of,
    checks_table,
    report_text,
)
from judgesmith.experiments.benchmark.rows import BenchmarkSource
from judgesmith.experiments.benchmark.spot_check import (
    all_checks,
    drawn_checks,
    read_spot_checks,
    sheet_of,
)
from judgesmith.programs.benchmarking import Compared
from judgesmith.programs.lm import LMClient, ModelAnswer
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.perturbation import InjectedError, Target
from judgesmith.signatures.rubric import Criterion

# How many errors make which rating, by hand-worked pilots.


def needed(ratings, n_errors, levels=(1, 2, 3, 4, 5)):
    return errors_per_rating(ratings, n_errors, levels=levels).n_errors


def test_the_errors_needed_for_a_rating_are_a_median_or_lie_between_neighbours():
    assert needed([1, 1, 1, 2, 2], [4, 9, 6, 3, 2], levels=(1, 2)) == (6, 2)
    assert needed([1, 5], [10, 0]) == (10, 7, 5, 2, 0)
    assert needed([1, 3], [5, 0], levels=(1, 2, 3)) == (5, 2, 0)
    assert needed([3, 3, 3], [2, 3, 15]) == (15, 9, 3, 1, 0)
    found = errors_per_rating([2, math.nan], [3, 12], levels=(1, 2))
    assert (found.n_errors, found.n_texts) == ((12, 3), (0, 1))
    assert found.to_dict() == {
        "1": {"n_errors": 12, "pilot_texts": 0},
        "2": {"n_errors": 3, "pilot_texts": 1},
    }


def test_an_order_is_inverted_only_where_enough_texts_say_so():
    three = errors_per_rating([1] * 3 + [2] * 3, [1] * 3 + [3] * 3, levels=(1, 2))
    two = errors_per_rating([1] * 2 + [2] * 3, [1] * 2 + [3] * 3, levels=(1, 2))
    assert (three.in_order, three.inverted) == (False, True)
    assert (two.in_order, two.inverted) == (False, False)
    # Whoever lies between says nothing, if there are few.
    apart = errors_per_rating([1] * 3 + [2] + [3] * 3, [1] * 3 + [0] + [2] * 3, levels=(1, 2, 3))
    assert apart.inverted


# Reports of benchmarks in words: what is undefined, missing or said by people.

CHECKED = {
    "checks": 4,
    "answers": 7,
    "blank": 1,
    "right": {"value": 0.5, "low": 0.2, "high": 0.8},
    "near": {"value": 1.0, "low": None, "high": None},
    "by_criterion": {"flu|ency": {"value": 0.5, "low": None, "high": None}},
    "by_rater": {"ann": 0.5, "bob": None},
    "agreement": 0.25,
}


@pytest.fixture
def report(sequences):
    return copy.deepcopy(dict(sequences.report))


def test_what_people_say_has_a_row_each():
    assert checks_table(CHECKED).rows == (
        ("all", "0.500 [0.200, 0.800]"),
        ("all, within one point", "1.000"),
        ("flu|ency", "0.500"),
        ("rater ann", "0.500"),
        ("rater bob", "undefined"),
        ("raters with each other", "0.250"),
    )
    alone = {**CHECKED, "near": None, "agreement": None, "by_rater": {}, "by_criterion": {}}
    assert checks_table(alone).rows == (("all", "0.500 [0.200, 0.800]"),)


def test_sources_that_are_left_out_and_errors_that_nobody_sees_are_named(report):
    report["references"] |= {"sources_without": 3, "dropped": {"no word in it": 2}}
    seen = report["criteria"]["fluency"]["comparator"]["kinds"]
    seen[0] |= {"sight": "blind", "kind": "typos"}
    text = report_text(report)
    assert "left out: 2 no word in it; 3 sources have none and are left out." in text
    assert "typos" in blind_kinds_of(report)["fluency"]
    assert "- fluency: typos" in text
    for own in report["criteria"].values():
        own["comparator"]["kinds"] = []
    assert "No kind of error is surely missed in most pairs." in report_text(report)
    assert "## Notes" not in report_text({**report, "notes": []})


# What the comparator of a benchmark notices, kind by kind, and how its raters are asked.


class Sayer:
    """A comparator that says what it was told to, pair by pair."""

    def __init__(self, *said):
        self.said = said

    def each(self, pairs, *, on_progress=None):
        for pair, one in zip(pairs, self.said, strict=True):
            cause = None if one else Cause(Reason.UNREADABLE, "no answer")
            yield pair, Compared(given=one, swapped=one, cause=cause)


def one_more(source, *kinds):
    errors = [
        InjectedError(sub_aspect="side", kind=kind, spans=((0, 1),), removed=("",))
        for kind in kinds
    ]
    item = RatedItem(source_id=source, source=f"about {source}", response="")
    return OneMore(
        source=BenchmarkSource(id=source, first=item, indices=(0,)),
        better=Target(text="good", errors=tuple(errors[:-1])),
        worse=Target(text="worse", errors=tuple(errors)),
    )


def test_an_error_is_seen_where_the_text_without_it_wins_and_is_of_the_kind_put_in_last():
    pairs = [
        one_more("a", "typo"),
        one_more("a", "typo", "gap"),
        one_more("b", "typo"),
        one_more("b", "typo", "gap"),
    ]
    found = seen_errors(pairs, Sayer("first", "second", "first", "similar"))
    assert (found.accuracy.value, found.similar, found.n_unanswered) == (0.5, 0.25, 0)
    shares = {one.kind: (one.seen.value, one.fooled) for one in found.kinds}
    assert shares == {"gap (side)": (0.0, 0.5), "typo (side)": (1.0, 0.0)}


def test_pairs_without_an_answer_are_left_out_and_counted():
    pairs = [one_more(name, "typo") for name in "abc"]
    said = []
    found = seen_errors(pairs, Sayer("first", None, "similar"), note=said.append)
    assert said == [
        "1 of 3 pairs that the comparator was checked with have no answer, for example: no answer."
    ]
    assert (found.accuracy.value, found.accuracy.n, found.similar) == (0.5, 2, 0.5)
    assert found.n_unanswered == found.kinds[0].n_unanswered == 1
    silent = seen_errors(pairs[:1], Sayer(None))
    assert math.isnan(silent.accuracy.value)
    assert math.isnan(silent.similar)


def test_ratings_are_samples_at_temperature_1_and_those_unread_are_undefined():
    asked = []

    class Engine:
        endpoint = "scripted"

        def answer(self, request):
            asked.append((request.settings.temperature, request.sample))
            return ModelAnswer(text="Well.", input_tokens=1, output_tokens=1)

    lm = ClientLM.over(LMClient(Engine()), "scripted", recipe={}, temperature=0.0)
    wit = Criterion(name="wit", definition="Is it witty?")
    item = RatedItem(source="It rained.", response="It rained.")
    ((one, two),) = model_ratings([item], wit, Scale(low=1, high=3), 2, lm=lm)
    assert math.isnan(one)
    assert math.isnan(two)
    assert {temperature for temperature, _ in asked} == {1.0}
    assert len(set(asked)) == len(asked) >= 2


# Spot checks: a sheet that gives nothing away, and how far people agree with a benchmark.


def row(source, criterion, number, rating, *, perspective, high=3, response=None):
    return {
        "source_id": source,
        "system_id": f"{criterion}-{number}",
        "source": f"About {source}.",
        "context": None,
        "response": f"{source} {criterion} {number}" if response is None else response,
        "human": {criterion: [rating]},
        "scale": {criterion: [0 if perspective == "local" else 1, high]},
        "definitions": {criterion: f"Is it {criterion}?"},
        "provenance": {"perspective": perspective, "criterion": criterion},
    }


@pytest.fixture
def rated():
    return [
        row(f"s{s}", c, n, 1 + n % 3, perspective="global")
        for s in range(4)
        for c in ("clear", "kind")
        for n in range(6)
    ]


@pytest.fixture
def ordered():
    return [
        row(f"s{s}", "clear", n, 3 - n, perspective="local") for s in range(8) for n in range(4)
    ]


def drawn(rows, n, seed=0):
    return drawn_checks(rows, n, rng=np.random.default_rng(seed))


def cells_of(checks):
    text = sheet_of(checks).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def filled(tmp_path, checks, answer, name="ann"):
    """Write the sheet with ``answer(check)`` in every row; return its path."""
    lines = cells_of(checks)
    for line, one in zip(lines, checks, strict=True):
        line["answer"] = answer(one)
    path = tmp_path / f"{name}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(lines[0]), delimiter=";")
        table.writeheader()
        table.writerows(reversed(lines))
    return path


def test_ratings_are_asked_about_alike_over_criteria_and_points(rated):
    checks = drawn(rated, 12)
    assert Counter((one.criterion, one.right) for one in checks) == {
        (c, r): 2 for c in ("clear", "kind") for r in "123"
    }
    assert drawn(rated, 12) == checks != drawn(rated, 12, seed=1)
    assert len(drawn(rated, 1000)) == len(rated)


def test_a_sheet_shows_neither_ratings_nor_ids_of_rows(rated, ordered):
    for rows in (rated, ordered):
        for line in cells_of(drawn(rows, 8)):
            assert line["answer"] == line["remark"] == ""
            assert not any(one["system_id"] in line["id"] for one in rows)
    assert "from 1 to 3" in cells_of(drawn(rated, 1))[0]["question"]


def test_neighbours_stand_in_either_place_and_are_told_apart_by_their_ids(ordered):
    checks = all_checks(ordered)
    assert len(checks) == 24
    places = Counter(one.right for one in checks)
    assert set(places) == {"A", "B"}
    for one in checks:
        a, b = (each["human"]["clear"][0] for each in one.rows)
        assert abs(a - b) == 1
        assert (one.right == "A") == (a > b)


def test_a_hostile_text_is_no_formula_in_the_sheet():
    rows = [row("s", "clear", 0, 2, perspective="global", response="=HYPERLINK(1)\x1b[2J")]
    assert cells_of(drawn(rows, 1))[0]["text_a"] == r"'=HYPERLINK(1)\x1b[2J"


def test_people_who_say_what_the_benchmark_says_are_right_everywhere(tmp_path, ordered):
    checks = drawn(ordered, 10)
    found = read_spot_checks(
        [filled(tmp_path, checks, lambda one: f" {one.right.lower()}.")], ordered
    )
    assert (found.n_checks, found.n_answers, found.n_blank) == (10, 10, 0)
    assert (found.right.value, found.near, found.by_rater) == (1.0, None, {"ann": 1.0})
    assert found.to_dict()["agreement"] is None


def test_same_is_wrong_and_blank_cells_are_counted_and_say_nothing(tmp_path, ordered):
    checks = drawn(ordered, 4)
    said = dict(zip((one.id for one in checks), ("same", "", "right", "right"), strict=True))
    path = filled(
        tmp_path, checks, lambda one: one.right if said[one.id] == "right" else said[one.id]
    )
    found = read_spot_checks([path], ordered)
    assert (found.n_answers, found.n_blank) == (3, 1)
    assert found.right.value == pytest.approx(2 / 3)


def test_ratings_are_right_near_or_neither_by_criterion_and_rater(tmp_path, rated):
    checks = [one for one in all_checks(rated) if one.right == "1"][:4]
    paths = [
        filled(tmp_path, checks, lambda one: {"clear": "1", "kind": "2"}[one.criterion]),
        filled(tmp_path, checks, lambda one: "3,0", name="bob"),
    ]
    found = read_spot_checks(paths, rated)
    assert found.right.value == 0.25
    assert found.near is not None
    assert found.near.value == 0.5
    assert {name: one.value for name, one in found.by_criterion.items()} == {
        "clear": 0.5,
        "kind": 0,
    }
    assert found.by_rater == {"ann": 0.5, "bob": 0.0}
    assert found.agreement == 0.0


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("4", "a whole number from 1 to 3"), ("2.5", "a whole number"), ("A", "or a blank cell")],
)
def test_what_is_no_rating_is_named_with_its_line(tmp_path, rated, answer, expected):
    path = filled(tmp_path, drawn(rated, 2), lambda one: answer)
    with pytest.raises(DataError, match=expected) as fault:
        read_spot_checks([path], rated)
    assert len(fault.value.problems) == 2
    assert fault.value.problems[0].where == "ann.csv:2"


def test_a_blank_sheet_and_another_table_say_what_to_do(tmp_path, rated):
    blank = filled(tmp_path, drawn(rated, 2), lambda one: "")
    with pytest.raises(ValueError, match="no question is answered"):
        read_spot_checks([blank], rated)
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="the columns of the sheet: id, answer"):
        read_spot_checks([other], rated)
    with pytest.raises(ValueError, match="at least one filled sheet"):
        read_spot_checks([], rated)
    again = blank.parent / "again" / blank.name
    again.parent.mkdir()
    again.write_bytes(blank.read_bytes())
    with pytest.raises(DataError, match="one file per rater"):
        read_spot_checks([blank, again], rated)


# Benchmarks of a few sources of SummEval, offline: sequences of sixteen, ratings of 1 to 5.


# docs/explanation/dual-perspective.md names functions and tests: they are there.

ROOT = Path(__file__).resolve().parents[4]
PAGE = (ROOT / "docs" / "explanation" / "dual-perspective.md").read_text(encoding="utf-8")


@pytest.mark.no_cover
def test_every_function_it_names_is_there():
    named = re.findall(r"`((?:experiments|programs|metrics)\.[\w.]+)\.(\w+)`", PAGE)
    assert len(named) >= 25
    missing = [
        (module, name)
        for module, name in named
        if not hasattr(import_module(f"judgesmith.{module}"), name)
    ]
    assert missing == []


@pytest.mark.no_cover
def test_every_test_it_names_is_there():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) >= 20
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file, _ in named}
    assert [(file, name) for file, name in named if f"\ndef {name}(" not in texts[file]] == []


def test_what_people_say_stands_in_the_report_with_marks_escaped(report):
    text = report_text({**report, "spot_check": CHECKED})
    assert "7 answers to 4 questions, 1 left blank." in text
    assert "| flu\\|ency | 0.500 |" in text
    assert "Nobody has checked it yet" not in text


def test_pairs_that_the_budget_did_not_reach_end_the_run():
    spent = Cause(Reason.OVER_BUDGET, "not asked", detail="the budget of 2 calls is spent.")

    class Spent:
        def each(self, pairs, *, on_progress=None):
            for pair in pairs:
                yield pair, Compared(cause=spent)

    with pytest.raises(UnfinishedError, match="the budget of 2 calls"):
        seen_errors([one_more("a", "typo")], Spent())

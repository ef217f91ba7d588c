"""Spot checks: a sheet that gives nothing away, and how far people agree with a benchmark."""

import csv
import io
from collections import Counter

import numpy as np
import pytest

from judgesmith.data.problems import DataError
from judgesmith.experiments.benchmark.spot_check import (
    all_checks,
    drawn_checks,
    read_spot_checks,
    sheet_of,
)


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


def test_rows_of_another_benchmark_are_refused(tmp_path, rated, ordered):
    path = filled(tmp_path, drawn(rated, 1), lambda one: "1")
    with pytest.raises(DataError, match="an id of this benchmark's sheet, once"):
        read_spot_checks([path], ordered)


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

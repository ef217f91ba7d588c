import csv
import random

import pytest

from judgesmith.data.problems import DataError
from judgesmith.experiments.labels.explanation_answers import (
    COLUMNS,
    RowId,
    blank_cells,
    read_filled,
)

SHEET = "x0123456789ab"
QUESTIONS = COLUMNS[-7:]


def blank(parts=("fluency", "overall"), n_items=2, sheet=SHEET):
    """Return the rows of a blank sheet, cells by column."""
    placed = [(item, part) for item in range(1, n_items + 1) for part in parts]
    rows = []
    for number, (item, part) in enumerate(placed, start=1):
        cells = blank_cells(whole=part == "overall", aspects=len(parts) > 1)
        row = dict.fromkeys(COLUMNS, "text") | dict(zip(QUESTIONS, cells, strict=True))
        rows.append(row | {"id": str(RowId(sheet, number, len(placed), item, part)), "part": part})
    return rows


@pytest.fixture
def save(tmp_path):
    def saving(rows, name="ana.csv", *, delimiter=",", encoding="utf-8-sig"):
        path = tmp_path / name
        with path.open("w", encoding=encoding, newline="") as file:
            table = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
            table.writeheader()
            table.writerows(rows)
        return path

    return saving


def faults(*paths):
    with pytest.raises(DataError) as caught:
        read_filled(paths)
    return [str(one) for one in caught.value.problems]


YES = "y Y yes YES j ja Ja s sí SÍ si\u0301 sì oui Oui sim true TRUE WAHR vrai 1 1,0 yes."
NO = "n N no NO nein Non nee não false FALSE Falsch faux 0 0.0"


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("cell", "answer"), [(c, 1.0) for c in YES.split()] + [(c, 0.0) for c in NO.split()]
)
def test_yes_and_no_are_understood_as_people_and_spreadsheets_write_them(save, cell, answer):
    rows = blank()
    rows[0]["clear"] = f" {cell}\xa0"
    assert read_filled([save(rows)])[0].answers == {(1, "clear"): answer}


@pytest.mark.parametrize(
    ("cell", "points"), [("1", 1), ("5", 5), ("4.0", 4), ("4,0", 4), ("４", 4)]
)
def test_points_are_whole(save, cell, points):
    rows = blank()
    rows[1]["usefulness"] = cell
    assert read_filled([save(rows)])[0].answers == {(2, "usefulness"): points}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_sheet_is_read_however_it_was_saved_and_sorted(save, delimiter, encoding):
    rows = blank(n_items=5)
    for number, row in enumerate(rows):
        row["clear"] = "yes" if number % 3 else "no"
    whole = read_filled([save(rows)])
    random.Random(0).shuffle(rows)
    moved = [dict(reversed(row.items())) | {"my notes": "a;b"} for row in rows]
    again = read_filled([save(moved, delimiter=delimiter, encoding=encoding)])
    assert again == whole
    assert len(whole[0].answers) == 10


def test_empty_lines_that_a_spreadsheet_leaves_are_no_rows(save):
    rows = blank()
    rows.append(dict.fromkeys(COLUMNS, ""))
    assert len(read_filled([save(rows)])[0].rows) == 4


def test_every_fault_is_named_with_file_line_column_and_what_was_expected(save):
    rows = blank(n_items=3)
    rows[0]["clear"] = "maybe"
    rows[0]["usefulness"] = "4"
    rows[1]["usefulness"] = "6"
    rows[1]["agrees_with_aspects"] = "-"
    rows[2]["id"] = "7"
    rows[3]["part"] = "fluency"
    rows[4]["factual"] = "2"
    rows.append(rows[4])
    ben = blank(n_items=3)
    ben[5]["clear"] = "-"
    ben[5]["usefulness"] = "4.5"
    assert faults(save(rows), save(ben, "ben.csv")) == [
        "ana.csv:2: clear: expected yes or no, or a blank cell; got 'maybe'",
        "ana.csv:2: usefulness: expected '-', as this is asked of overall explanations alone; "
        "got '4'",
        "ana.csv:3: usefulness: expected a whole number from 1 to 5, or a blank cell; got '6'",
        "ana.csv:4: id: expected an id as sheet write gave it (copy it from the blank sheet); "
        "got '7'",
        "ana.csv:5: part: expected the part of its id, overall (sort whole rows, not single "
        "columns); got 'fluency'",
        "ana.csv:6: factual: expected yes or no, or a blank cell; got '2'",
        f"ana.csv:8: id: expected each row once; got {rows[4]['id']} again, as in ana.csv:6",
        "ben.csv:7: clear: expected yes or no, or a blank cell; got '-'",
        "ben.csv:7: usefulness: expected a whole number from 1 to 5, or a blank cell; got '4.5'",
        "ana.csv:3: agrees_with_aspects: expected yes or no, or a blank cell; got '-'",
    ]


def test_what_is_not_asked_of_a_text_without_criteria_is_no_fault(save):
    rows = blank(parts=("overall",))
    assert rows[0]["agrees_with_aspects"] == "-"
    rows[0]["clear"] = "yes"
    assert read_filled([save(rows)])[0].answers == {(1, "clear"): 1.0}


def test_lines_are_counted_as_an_editor_counts_them(save):
    rows = blank()
    rows[0]["source"] = "one\ntwo\nthree"
    rows[1]["clear"] = "?"
    assert faults(save(rows))[0].startswith("ana.csv:5: clear: ")


def test_sheets_of_different_draws_are_refused_together(save):
    other = blank(sheet="xba9876543210")
    mixed = [*blank()[:2], *other[2:]]
    assert faults(save(blank()), save(other, "ben.csv"), save(mixed, "cem.csv")) == [
        f"ben.csv: id: expected the sheet {SHEET}, as from 'ana'; got xba9876543210 (give sheets "
        "of one draw; read others apart)",
        f"cem.csv:4: id: expected rows of one sheet, {SHEET}; got xba9876543210",
        f"cem.csv:5: id: expected rows of one sheet, {SHEET}; got xba9876543210",
    ]


def test_two_files_of_one_rater_are_refused(save, tmp_path):
    (tmp_path / "second").mkdir()
    one = save(blank())
    found = faults(one, save(blank(), "second/ana.csv"), one)
    assert len(found) == 2
    assert (
        "expected one file per rater, named after the rater; got another file for 'ana'" in found[0]
    )


def test_missing_columns_are_named_once(save):
    rows = [{name: cell for name, cell in row.items() if name != "factual"} for row in blank()]
    assert len(faults(save(rows))) == 1
    assert (
        "ana.csv: header: expected the columns of the sheet, also factual; got"
        in faults(save(rows))[0]
    )


def test_files_that_are_no_tables_are_faults_beside_the_others(save, tmp_path):
    latin = save(blank(), "ana.csv", encoding="utf-8")
    latin.write_bytes(latin.read_bytes().replace(b",text,", b",t\xe9xt,", 1))
    rows = blank()
    rows[0]["clear"] = "?"
    excel = tmp_path / "cem.xlsx"
    excel.write_bytes(b"PK")
    found = faults(latin, save(rows, "ben.csv"), excel)
    assert [one.split(": ")[:2] for one in found] == [
        ["ana.csv:2", "encoding"],
        ["ben.csv:2", "clear"],
        ["cem.xlsx", "file name"],
    ]


def test_a_file_without_rows_is_a_fault(save):
    rows = [dict.fromkeys(COLUMNS, "")]
    assert faults(save(rows)) == ["ana.csv: file: expected at least one row; got none"]
    path = save(rows)
    path.write_text("")
    assert faults(path) == ["ana.csv: file: expected at least one row; got none"]


def test_no_files_are_refused():
    with pytest.raises(ValueError, match="at least one filled sheet"):
        read_filled([])

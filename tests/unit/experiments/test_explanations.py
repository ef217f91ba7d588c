"""Explanations are rated: sheets, answers and results."""

import csv
import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.data.problems import DataError
from judgesmith.data.sheets.cells import cell_of, is_cut
from judgesmith.experiments.evaluate.errors.found import numbered_errors
from judgesmith.experiments.labels.annotation import marked_text
from judgesmith.experiments.labels.explanation_answers import (
    COLUMNS,
    RowId,
    blank_cells,
    part_mark,
    read_filled,
)
from judgesmith.experiments.labels.explanation_answers import (
    QUESTIONS as QUESTIONS_EXPLANATION_ANSWERS,
)
from judgesmith.experiments.labels.explanation_sheet import read_explained, read_sheets, write_sheet
from judgesmith.metrics import krippendorff_alpha
from judgesmith.metrics.resampling import share_interval
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.judgement import ErrorSpan

# explained scores

GOOD = {
    "source_id": "a",
    "system_id": "x",
    "key": "k1",
    "score": 70.0,
    "explanation": "Good.",
    "criteria": {"fluency": {"score": 80.0, "explanation": "Reads well."}},
    "errors": [],
    "problem": None,
    "judge": "j",
    "run": "r",
}


@pytest.fixture
def read(tmp_path):
    def reading(*rows, **options):
        path = tmp_path / "scores.jsonl"
        path.write_text("".join(json.dumps(GOOD | row) + "\n" for row in rows))
        return read_explained(path, **options)

    return reading


def faults(caught):
    return [(one.where.partition(":")[2], one.field, one.came) for one in caught.value.problems]


def test_what_has_no_score_or_no_explanation_is_counted_and_left_out(read):
    found = read({}, {"key": "k2"})
    assert [row.key for row in found.rows] == ["k1", "k2"]
    assert found.rows[0].criteria == {"fluency": (80.0, "Reads well.")}
    assert (found.run, found.n_unscored, found.n_unexplained) == ("r", 0, 0)
    found = read(
        {},
        {"score": None, "problem": "no answer", "explanation": "half"},
        {"explanation": " ", "criteria": {}},
        {"explanation": None, "criteria": None},
    )
    assert (len(found.rows), found.n_unscored, found.n_unexplained) == (1, 1, 2)
    criteria = {
        "a": {"score": None, "explanation": "?"},
        "b": {"score": 1, "explanation": ""},
        "c": {"score": 1, "explanation": "yes"},
    }
    assert list(read({"criteria": criteria}).rows[0].criteria) == ["c"]


def test_everything_that_score_does_not_write_is_named(read):
    with pytest.raises(DataError) as caught:
        read(
            {},
            {"key": None},
            {"score": "70"},
            {"score": 10**400},
            {"explanation": ["x"]},
            {"criteria": [1]},
            {"criteria": {"a": 3, "b": {"score": True, "explanation": "x"}}},
            {"criteria": {"a": {"explanation": "x"}}},
            {"run": "s"},
        )
    assert [(where, field) for where, field, _ in faults(caught)] == [
        ("2", "key"),
        ("3", "score"),
        ("4", "score"),
        ("5", "explanation"),
        ("6", "criteria"),
        ("7", "criteria.a"),
        ("7", "criteria.b"),
        ("8", "criteria.a"),
        ("9", "run"),
    ]


def test_scores_off_the_scale_are_named(read):
    assert len(read({}, scale=Scale(low=0, high=100)).rows) == 1
    with pytest.raises(DataError, match=r"expected a score on 1\.\.5; got 70"):
        read({}, scale=Scale(low=1, high=5))


def test_a_file_that_score_did_not_write_is_one_problem(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text('{"source": "s", "response": "r"}\n' * 30)
    with pytest.raises(DataError) as caught:
        read_explained(path)
    assert list(map(str, caught.value.problems)) == [
        "data.jsonl:1: row: expected the score, key and run that score writes into every row; "
        "got the fields 'source, response'"
    ]


# explanation answers

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
def save_explanation_answers(tmp_path):
    def saving(rows, name="ana.csv", *, delimiter=",", encoding="utf-8-sig"):
        path = tmp_path / name
        with path.open("w", encoding=encoding, newline="") as file:
            table = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
            table.writeheader()
            table.writerows(rows)
        return path

    return saving


def faults_explanation_answers(*paths):
    with pytest.raises(DataError) as caught:
        read_filled(paths)
    return [str(one) for one in caught.value.problems]


YES = "y Y yes YES j ja Ja s sí SÍ si\u0301 sì oui Oui sim true TRUE WAHR vrai 1 1,0 yes."
NO = "n N no NO nein Non nee não false FALSE Falsch faux 0 0.0"


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("cell", "answer"), [(c, 1.0) for c in YES.split()] + [(c, 0.0) for c in NO.split()]
)
def test_yes_and_no_are_understood_as_people_and_spreadsheets_write_them(
    save_explanation_answers, cell, answer
):
    rows = blank()
    rows[0]["clear"] = f" {cell}\xa0"
    assert read_filled([save_explanation_answers(rows)])[0].answers == {(1, "clear"): answer}


@pytest.mark.parametrize(
    ("cell", "points"), [("1", 1), ("5", 5), ("4.0", 4), ("4,0", 4), ("４", 4)]
)
def test_points_are_whole(save_explanation_answers, cell, points):
    rows = blank()
    rows[1]["usefulness"] = cell
    assert read_filled([save_explanation_answers(rows)])[0].answers == {(2, "usefulness"): points}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_sheet_is_read_however_it_was_saved_and_sorted(
    save_explanation_answers, delimiter, encoding
):
    rows = blank(n_items=5)
    for number, row in enumerate(rows):
        row["clear"] = "yes" if number % 3 else "no"
    whole = read_filled([save_explanation_answers(rows)])
    random.Random(0).shuffle(rows)
    moved = [dict(reversed(row.items())) | {"my notes": "a;b"} for row in rows]
    again = read_filled([save_explanation_answers(moved, delimiter=delimiter, encoding=encoding)])
    assert again == whole
    assert len(whole[0].answers) == 10


def test_every_fault_is_named_with_file_line_column_and_what_was_expected(save_explanation_answers):
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
    assert faults_explanation_answers(
        save_explanation_answers(rows), save_explanation_answers(ben, "ben.csv")
    ) == [
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


def test_sheets_of_different_draws_are_refused_together(save_explanation_answers):
    other = blank(sheet="xba9876543210")
    mixed = [*blank()[:2], *other[2:]]
    assert faults_explanation_answers(
        save_explanation_answers(blank()),
        save_explanation_answers(other, "ben.csv"),
        save_explanation_answers(mixed, "cem.csv"),
    ) == [
        f"ben.csv: id: expected the sheet {SHEET}, as from 'ana'; got xba9876543210 (give sheets "
        "of one draw; read others apart)",
        f"cem.csv:4: id: expected rows of one sheet, {SHEET}; got xba9876543210",
        f"cem.csv:5: id: expected rows of one sheet, {SHEET}; got xba9876543210",
    ]


def test_two_files_of_one_rater_are_refused(save_explanation_answers, tmp_path):
    (tmp_path / "second").mkdir()
    one = save_explanation_answers(blank())
    found = faults_explanation_answers(
        one, save_explanation_answers(blank(), "second/ana.csv"), one
    )
    assert len(found) == 2
    assert (
        "expected one file per rater, named after the rater; got another file for 'ana'" in found[0]
    )


def test_files_that_are_no_tables_are_faults_beside_the_others(save_explanation_answers, tmp_path):
    latin = save_explanation_answers(blank(), "ana.csv", encoding="utf-8")
    latin.write_bytes(latin.read_bytes().replace(b",text,", b",t\xe9xt,", 1))
    rows = blank()
    rows[0]["clear"] = "?"
    excel = tmp_path / "cem.xlsx"
    excel.write_bytes(b"PK")
    found = faults_explanation_answers(latin, save_explanation_answers(rows, "ben.csv"), excel)
    assert [one.split(": ")[:2] for one in found] == [
        ["ana.csv:2", "encoding"],
        ["ben.csv:2", "clear"],
        ["cem.xlsx", "file"],
    ]


def test_a_file_without_rows_is_a_fault(save_explanation_answers):
    rows = [dict.fromkeys(COLUMNS, "")]
    assert faults_explanation_answers(save_explanation_answers(rows)) == [
        "ana.csv: file: expected at least one row; got none"
    ]
    path = save_explanation_answers(rows)
    path.write_text("")
    assert faults_explanation_answers(path) == [
        "ana.csv: file: expected at least one row; got none"
    ]


# explanation form


@pytest.mark.no_cover
@given(st.text(max_size=20), st.integers(1, 99), st.integers(1, 20))
def test_an_id_says_what_it_was_made_from(part, number, item):
    row = RowId("x0123456789ab", number, 120, item, part_mark(part))
    assert RowId.read(f" {row} ") == row


@pytest.mark.parametrize("cell", ["", "7", "x0123456789ab-1of2", "y0123456789ab-1of2-item1-a"])
def test_what_is_no_id_is_none(cell):
    assert RowId.read(cell) is None


def test_a_part_has_the_same_mark_however_its_accents_are_stored():
    assert part_mark("Clart\u00e9 (1)") == part_mark("Clarte\u0301 (1)") == "clarte1"


# explanation ratings

PARTS = ("fluency", "coverage", "overall")
N_ITEMS = 8
NAMES = [question.name for question in QUESTIONS_EXPLANATION_ANSWERS]


def rows_of(answer, parts=PARTS):
    """Return a sheet in which ``answer(item, part, question)`` fills what is asked."""
    rows = []
    for number in range(N_ITEMS * len(parts)):
        item, part = number // len(parts) + 1, parts[number % len(parts)]
        cells = dict(
            zip(NAMES, blank_cells(whole=part == "overall", aspects=len(parts) > 1), strict=True)
        )
        cells = {name: cell or answer(item, part, name) for name, cell in cells.items()}
        place = RowId("x0123456789ab", number + 1, N_ITEMS * len(parts), item, part)
        rows.append(dict.fromkeys(COLUMNS, "") | {"id": str(place), "part": part} | cells)
    return rows


@pytest.fixture
def save_explanation_ratings(tmp_path):
    def saving(rater, rows):
        path = tmp_path / f"{rater}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, COLUMNS)
            table.writeheader()
            table.writerows(rows)
        return path

    return saving


def kind(item, part, name):
    return "5" if name == "usefulness" else "yes"


def random_rater(seed):
    rng = np.random.default_rng(seed)

    def answer(item, part, name):
        if rng.random() < 0.1:
            return ""
        if name == "usefulness":
            return str(rng.integers(3, 6))
        return "yes" if rng.random() < 0.7 else "no"

    return answer


def given_explanation_ratings(rows, name):
    """Return the answers of a sheet as numbers, nan where there is none."""
    said = {"yes": 1.0, "no": 0.0, "": np.nan}
    return [said[row[name]] if name != "usefulness" else float(row[name] or "nan") for row in rows]


def test_every_number_is_what_its_definition_gives(save_explanation_ratings):
    sheets = {
        rater: rows_of(random_rater(seed)) for seed, rater in enumerate(["ana", "ben", "cem"])
    }
    found = read_sheets([save_explanation_ratings(rater, rows) for rater, rows in sheets.items()])
    assert (found.n_items, found.n_rows) == (N_ITEMS, N_ITEMS * 3)
    for name in NAMES:
        asked = [[row for row in rows if row[name] != "-"] for rows in sheets.values()]
        table = np.array([given_explanation_ratings(rows, name) for rows in asked]).T
        one = found.questions[name]
        assert one.value.value == pytest.approx(np.nanmean(table))
        assert one.value.low < one.value.value < one.value.high
        measurement = "ordinal" if name == "usefulness" else "nominal"
        assert one.alpha.value == pytest.approx(krippendorff_alpha(table, measurement=measurement))
        assert one.alpha.low < one.alpha.value < one.alpha.high
        assert one.filled == np.count_nonzero(~np.isnan(table))
        assert one.filled + one.blank == table.size
        for column, rater in enumerate(sheets):
            assert one.raters[rater].value == pytest.approx(np.nanmean(table[:, column]))
            assert one.raters[rater].filled == np.count_nonzero(~np.isnan(table[:, column]))


def test_shares_are_told_for_each_part_and_intervals_count_texts(save_explanation_ratings):
    def answer(item, part, name):
        return "no" if part == "coverage" and item == 1 else kind(item, part, name)

    found = read_sheets(
        [
            save_explanation_ratings("ana", rows_of(answer)),
            save_explanation_ratings("ben", rows_of(answer)),
        ]
    )
    clear = found.questions["clear"]
    assert list(clear.parts) == list(PARTS)
    assert [one.value for one in clear.parts.values()] == [1, 7 / 8, 1]
    items = np.repeat(np.arange(1, 9), 2)
    assert clear.parts["coverage"] == share_interval(items != 1, sources=items)
    assert (clear.value.n, clear.value.n_groups) == (48, 8)
    assert found.questions["usefulness"].parts == {}


def test_where_all_answers_are_the_same_alpha_is_undefined_and_pairs_agree(
    save_explanation_ratings,
):
    found = read_sheets(
        [
            save_explanation_ratings("ana", rows_of(kind)),
            save_explanation_ratings("ben", rows_of(kind)),
        ]
    )
    one = found.questions["factual"]
    assert (one.value.value, one.agreement) == (1, 1)
    assert one.value.low == share_interval(np.ones(8), sources=range(8)).low
    assert 0.5 < one.value.low < 0.6
    assert np.isnan(one.alpha.value)
    useful = found.questions["usefulness"].value
    assert useful.value == 5
    assert np.isnan(useful.low)


def test_a_blank_sheet_has_no_numbers_but_counts(save_explanation_ratings):
    found = read_sheets([save_explanation_ratings("ana", rows_of(lambda *_: ""))])
    for name in NAMES:
        one = found.questions[name]
        assert np.isnan(one.value.value)
        assert (one.filled, one.blank) == (0, 24 if name in NAMES[:4] else 8)
    assert (
        json.loads(json.dumps(found.to_dict(), allow_nan=False))["questions"]["clear"]["value"][
            "value"
        ]
        is None
    )


def test_rows_that_a_rater_took_out_are_blank_and_counted(save_explanation_ratings):
    whole, part = rows_of(kind), rows_of(kind)[:5]
    found = read_sheets(
        [save_explanation_ratings("ana", whole), save_explanation_ratings("ben", part)]
    )
    assert found.n_missing == {"ana": 0, "ben": 19}
    assert found.questions["clear"].raters["ben"].blank == 19
    assert found.questions["usefulness"].raters["ben"].blank == 7
    alone = read_sheets([save_explanation_ratings("ben", part)])
    assert (alone.n_rows, alone.n_missing) == (5, {"ben": 19})
    assert alone.questions["clear"].blank == 0


def test_the_order_of_raters_and_rows_changes_nothing(save_explanation_ratings):
    ana, ben = rows_of(random_rater(1)), rows_of(random_rater(2))
    first = read_sheets(
        [save_explanation_ratings("ana", ana), save_explanation_ratings("ben", ben)]
    ).to_dict()
    again = read_sheets(
        [
            save_explanation_ratings("ben", ben[::-1]),
            save_explanation_ratings("ana", ana[3:] + ana[:3]),
        ]
    ).to_dict()
    for name, one in first["questions"].items():
        other = again["questions"][name]
        assert one["raters"] == other["raters"]
        for number in ("value", "alpha"):
            assert one[number] == pytest.approx(other[number], nan_ok=True)


# explanation sheet

N = 30
ASKED = [question.name for question in QUESTIONS_EXPLANATION_ANSWERS]
CRITERIA = {
    "fluency": {"score": 80.0, "explanation": "Reads well."},
    "coverage": {"score": 40.5, "explanation": "Half is missing."},
}


def item(number):
    return RatedItem(source_id=f"s{number}", source=f"source {number}", response=f"answer {number}")


def scored(number, **fields):
    one = item(number)
    ids = {"source_id": one.source_id, "system_id": "x", "key": one.key, "run": "r", "judge": "j"}
    said = {"score": float(number), "explanation": f"Because {number}.", "criteria": CRITERIA}
    return {**ids, **said, "problem": None, **fields}


def dump(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def data(tmp_path):
    rows = [item(number).model_dump(include={"source", "response"}) for number in range(N)]
    return dump(tmp_path / "data.jsonl", rows)


@pytest.fixture
def write(tmp_path, data):
    def writing(rows=None, *, texts=data, seed=0, **options):
        given = rows or [scored(number) for number in range(N)]
        scores = dump(tmp_path / "scores.jsonl", given)
        rng = np.random.default_rng(seed)
        return write_sheet(scores, texts, tmp_path / "sheet.csv", seed=rng, **options)

    return writing


@pytest.fixture
def sheet(tmp_path):
    def reading():
        with (tmp_path / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))

    return reading


def test_each_text_has_a_row_per_criterion_and_one_for_the_whole_blank_where_asked(write, sheet):
    found = write(n_items=6)
    rows = sheet()
    assert (found.n_items, found.n_rows, len(rows)) == (6, 18, 18)
    assert list(rows[0]) == list(COLUMNS)
    assert [row["part"] for row in rows] == ["fluency", "coverage", "overall"] * 6
    first = rows[0]
    number = int(first["source_id"][1:])
    assert (first["score"], first["scale"], first["explanation"]) == ("80", "0..100", "Reads well.")
    assert (first["source"], first["response"]) == (f"source {number}", f"answer {number}")
    assert first["key"] == item(number).key
    assert (rows[2]["score"], rows[2]["explanation"]) == (str(number), f"Because {number}.")
    assert [rows[0][name] for name in ASKED] == ["", "", "", "", "-", "-", "-"]
    assert [rows[2][name] for name in ASKED] == [""] * 7


def test_a_text_without_criteria_is_not_asked_about_them(write, sheet):
    write([scored(number, criteria={}) for number in range(N)], n_items=3)
    rows = sheet()
    assert [row["part"] for row in rows] == ["overall"] * 3
    assert [rows[0][name] for name in ASKED] == ["", "", "", "", "-", "", ""]


@pytest.mark.no_cover
@pytest.mark.parametrize("n_items", [3, 4, 5, 9, 29])
@pytest.mark.parametrize("seed", range(5))
def test_low_middle_and_high_scores_all_appear(write, sheet, n_items, seed):
    write(n_items=n_items, seed=seed)
    scores = [float(row["score"]) for row in sheet() if row["part"] == "overall"]
    assert len(set(scores)) == n_items
    thirds = np.bincount([int(score // 10) for score in scores], minlength=3)
    assert thirds.max() - thirds.min() <= 1


def test_ids_restore_the_order_and_tell_sheets_apart(write, sheet):
    found = write(n_items=12)
    ids = [row["id"] for row in sheet()]
    assert sorted(ids) == ids
    read = [RowId.read(one) for one in ids]
    assert {row.sheet for row in read} == {found.sheet}
    assert [row.number for row in read] == list(range(1, 37))
    assert [row.item for row in read] == [number for number in range(1, 13) for _ in range(3)]
    assert write(n_items=12, seed=1, overwrite=True).sheet != found.sheet
    other = [scored(number, run="s") for number in range(N)]
    assert write(other, n_items=12, overwrite=True).sheet != found.sheet


def test_equal_seeds_write_equal_bytes_and_leave_them_be(write, tmp_path):
    first = write()
    before = (tmp_path / "sheet.csv").stat().st_mtime_ns
    assert write() == first
    assert (tmp_path / "sheet.csv").stat().st_mtime_ns == before


def test_a_sheet_that_may_hold_answers_is_not_replaced(write, tmp_path):
    write()
    path = tmp_path / "sheet.csv"
    path.write_bytes(path.read_bytes().replace(b'"",', b'"yes",', 1))
    filled = path.read_bytes()
    with pytest.raises(FileExistsError, match="may hold answers"):
        write()
    assert path.read_bytes() == filled
    write(overwrite=True)
    assert path.read_bytes() != filled


def test_rows_without_texts_in_the_data_are_counted_and_the_first_is_named(write, tmp_path):
    rows = [scored(number) for number in range(N)]
    rows[2]["key"], rows[7]["key"] = "0" * 32, item(99).key
    with pytest.raises(DataError, match=r"texts in data\.jsonl \(name the file that was") as caught:
        write(rows, n_items=3)
    (problem,) = caught.value.problems
    assert problem.where == "scores.jsonl:3"
    assert problem.came == f"'{'0' * 32}', with 2 such rows of {N}"
    assert list(tmp_path.glob("*.csv")) == []


def test_hostile_texts_are_neither_computed_nor_obeyed(write, sheet, tmp_path):
    evil = RatedItem(source="=1+1", context="@x", response="\x1b[31m+1", source_id="-1")
    texts = dump(
        tmp_path / "evil.jsonl",
        [evil.model_dump(include={"source", "context", "response", "source_id"})],
    )
    row = scored(1, key=evil.key, source_id="=cmd", explanation="=A1;=B1")
    row["criteria"] = {"=x": {"score": 1, "explanation": "-2"}}
    write([row], texts=texts)
    first, last = sheet()
    assert (first["source"], first["context"], first["response"]) == ("'=1+1", "'@x", "\\x1b[31m+1")
    assert (first["source_id"], first["part"], first["explanation"]) == ("'=cmd", "'=x", "'-2")
    assert last["explanation"] == "'=A1;'=B1"
    assert RowId.read(first["id"]).part == "x"


def test_a_criterion_called_overall_is_not_taken_for_the_whole(write, sheet):
    criteria = {"Overall": {"score": 1, "explanation": "x"}}
    write([scored(1, criteria=criteria)])
    rows = sheet()
    assert [row["part"] for row in rows] == ["Overall (criterion)", "overall"]
    assert [RowId.read(row["id"]).is_whole for row in rows] == [False, True]


def test_texts_that_a_spreadsheet_would_cut_say_so(write, sheet, tmp_path):
    long = RatedItem(source="a" * 40_000, response="b")
    texts = dump(tmp_path / "long.jsonl", [{"source": long.source, "response": "b"}])
    assert write([scored(1, key=long.key)], texts=texts).n_cut == 3
    assert all(row["source"].endswith("[8000 more characters left out]") for row in sheet())


def test_the_file_is_csv_and_has_room_for_all_scores(write, tmp_path):
    with pytest.raises(ValueError, match="need at least 3 texts; got 2"):
        write(n_items=2)
    with pytest.raises(ValueError, match=r"name a file in \.csv"):
        write_sheet("a", "b", tmp_path / "sheet.xlsx", seed=0)


# annotation sheet


def test_a_cell_holds_both_marks_of_an_error_however_long_the_text():
    response = "word " * 50_000
    error = ErrorSpan(text="…", start=60_000, end=180_000)
    cell = cell_of(marked_text(response, numbered_errors([error])))
    assert not is_cut(cell)
    assert cell.index("[1>") < cell.index("<1]")
    assert cell.count(" characters … ") == 3

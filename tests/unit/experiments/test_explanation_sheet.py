import csv
import json

import numpy as np
import pytest

from judgesmith.data.problems import DataError
from judgesmith.experiments.labels.explanation_answers import COLUMNS, QUESTIONS, RowId
from judgesmith.experiments.labels.explanation_sheet import write_sheet
from judgesmith.signatures import RatedItem, Scale

N = 30
ASKED = [question.name for question in QUESTIONS]
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
        return write_sheet(scores, texts, tmp_path / "sheet.csv", rng=rng, **options)

    return writing


@pytest.fixture
def sheet(tmp_path):
    def reading():
        with (tmp_path / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))

    return reading


def test_each_text_has_a_row_per_criterion_and_one_for_the_whole(write, sheet):
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


def test_cells_are_blank_where_something_is_asked(write, sheet):
    write(n_items=3)
    rows = sheet()
    assert [rows[0][name] for name in ASKED] == ["", "", "", "", "-", "-", "-"]
    assert [rows[2][name] for name in ASKED] == [""] * 7


def test_a_text_without_criteria_is_not_asked_about_them(write, sheet):
    write([scored(number, criteria={}) for number in range(N)], n_items=3)
    rows = sheet()
    assert [row["part"] for row in rows] == ["overall"] * 3
    assert [rows[0][name] for name in ASKED] == ["", "", "", "", "-", "", ""]


def test_a_text_without_words_on_the_whole_has_rows_for_its_criteria(write, sheet):
    write([scored(number, explanation="") for number in range(N)], n_items=3)
    assert {row["part"] for row in sheet()} == {"fluency", "coverage"}


@pytest.mark.no_cover
@pytest.mark.parametrize("n_items", [3, 4, 5, 9, 29])
@pytest.mark.parametrize("seed", range(5))
def test_low_middle_and_high_scores_all_appear(write, sheet, n_items, seed):
    write(n_items=n_items, seed=seed)
    scores = [float(row["score"]) for row in sheet() if row["part"] == "overall"]
    assert len(set(scores)) == n_items
    thirds = np.bincount([int(score // 10) for score in scores], minlength=3)
    assert thirds.max() - thirds.min() <= 1


def test_few_texts_are_all_asked_about(write, sheet):
    assert write([scored(4), scored(5)], n_items=50).n_items == 2
    assert write([scored(4)], overwrite=True).n_items == 1


def test_texts_do_not_come_in_the_order_of_their_scores(write, sheet):
    write()
    scores = [float(row["score"]) for row in sheet() if row["part"] == "overall"]
    assert scores != sorted(scores)
    assert scores != sorted(scores, reverse=True)


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


def test_what_has_no_row_is_counted(write):
    rows = [scored(number) for number in range(N)]
    rows[3] |= {"score": None, "problem": "no answer"}
    rows[4] |= {"explanation": "", "criteria": {}}
    found = write(rows)
    assert (found.n_items, found.n_unscored, found.n_unexplained) == (N - 2, 1, 1)


def test_rows_without_texts_in_the_data_are_counted_and_the_first_is_named(write, tmp_path):
    rows = [scored(number) for number in range(N)]
    rows[2]["key"], rows[7]["key"] = "0" * 32, item(99).key
    with pytest.raises(DataError, match=r"texts in data\.jsonl \(name the file that was") as caught:
        write(rows, n_items=3)
    (problem,) = caught.value.problems
    assert problem.where == "scores.jsonl:3"
    assert problem.came == f"'{'0' * 32}', with 2 such rows of {N}"
    assert list(tmp_path.glob("*.csv")) == []


def test_a_bad_row_of_the_data_is_named(write, data, tmp_path):
    data.write_text(data.read_text() + '{"source": 3}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"data\.jsonl:31"):
        write()


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


def test_the_scale_of_overall_scores_is_told_if_it_is_known(write, sheet):
    write(n_items=3, scale=Scale(low=0, high=30))
    assert [row["scale"] for row in sheet()][:3] == ["0..100", "0..100", "0..30"]


def test_the_file_is_csv_and_has_room_for_all_scores(write, tmp_path):
    with pytest.raises(ValueError, match="need at least 3 texts; got 2"):
        write(n_items=2)
    with pytest.raises(ValueError, match=r"name a file in \.csv"):
        write_sheet("a", "b", tmp_path / "sheet.xlsx", rng=np.random.default_rng(0))

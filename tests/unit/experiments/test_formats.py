import gzip
import io
import json
import sys

import pandas as pd
import pytest

from judgesmith.data.formats.opening import open_rows
from judgesmith.data.problems import DataError

ROWS = [
    {"response": "a, \"b\"; 'c'", "note": "NA"},
    {"response": "two\nlines\r\nand\ttabs", "note": "null"},
    {"response": "ñandú 漢字 🙂", "note": ""},
]


def csv_of(rows, delimiter=","):
    def cell(text):
        return '"' + text.replace('"', '""') + '"'

    lines = [rows[0].keys(), *(row.values() for row in rows)]
    return "\n".join(delimiter.join(map(cell, cells)) for cells in lines) + "\n"


def write(folder, name, text, encoding="utf-8"):
    path = folder / name
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def read(path):
    raw = open_rows(path)
    return [row for _, row in raw.rows], raw


def message(path):
    with pytest.raises(DataError) as caught:
        list(open_rows(path).rows)
    return str(caught.value).partition("\n")[2].strip()


JSON_LINES = "\n".join(json.dumps(row) for row in ROWS)
TEXTS = {
    "a.jsonl": JSON_LINES,
    "a.jsonl.gz": JSON_LINES,
    "a.ndjson": JSON_LINES,
    "A.JSONL": JSON_LINES,
    "a.json": json.dumps(ROWS, indent=1),
    "b.json": json.dumps({"meta": 1, "rows": ROWS}),
    "c.json.gz": json.dumps({"data": ROWS}),
    "a.csv": csv_of(ROWS),
    "a.csv.gz": csv_of(ROWS),
    "semicolons.csv": csv_of(ROWS, ";"),
    "a.tsv": csv_of(ROWS, "\t"),
    "a.tsv.gz": csv_of(ROWS, "\t"),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("name", TEXTS)
def test_every_format_gives_the_same_rows_with_nothing_interpreted(tmp_path, name, encoding):
    rows, raw = read(write(tmp_path, name, TEXTS[name], encoding))
    assert rows == ROWS
    assert raw.problems == []


def test_parquet_gives_the_same_rows(tmp_path):
    pd.DataFrame(ROWS).to_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet")[0] == ROWS


def test_a_frame_gives_the_same_rows():
    assert read(pd.DataFrame(ROWS))[0] == ROWS


def test_standard_input_is_json_lines(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(JSON_LINES.encode())))
    rows, raw = read("-")
    assert rows == ROWS
    assert raw.where(2) == "standard input:2"


def test_missing_cells_of_a_frame_are_none_and_scalars_are_plain():
    frame = pd.DataFrame({"a": [1, None], "b": pd.array([True, None]), "c": [[1, 2], None]})
    frame["d"] = pd.to_datetime(["2020-01-01", None])
    rows, _ = read(frame)
    assert rows[1] == {"a": None, "b": None, "c": None, "d": None}
    assert (rows[0]["a"], rows[0]["b"], rows[0]["c"]) == (1.0, True, [1, 2])
    assert type(rows[0]["a"]) is float
    assert type(rows[0]["b"]) is bool


def test_a_frame_may_have_any_index_and_column_labels():
    frame = pd.DataFrame({0: ["x", "y"]}, index=["p", "p"])
    assert list(open_rows(frame).rows) == [(1, {"0": "x"}), (2, {"0": "y"})]


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    pd.DataFrame(ROWS).to_parquet(tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError) as caught:
        list(open_rows(tmp_path / "a.parquet").rows)
    assert str(caught.value) == "reading Parquet needs pyarrow: pip install 'judgesmith[parquet]'"


def test_lines_are_numbered_as_an_editor_numbers_them(tmp_path):
    path = write(tmp_path, "a.csv", 'response,n\n"one\ntwo",1\n\nthree,2\n')
    assert [number for number, _ in open_rows(path).rows] == [2, 5]
    path = write(tmp_path, "a.jsonl", '{"a": 1}\n\n{"a": 2}\n')
    assert [number for number, _ in open_rows(path).rows] == [1, 3]


def test_every_unreadable_line_is_a_problem_and_the_others_are_rows(tmp_path):
    text = '{"response": "a"}\n{"response": \n[1]\n{"response": "b"}\n'
    rows, raw = read(write(tmp_path, "a.jsonl", text))
    assert [row["response"] for row in rows] == ["a", "b"]
    first, second = map(str, raw.problems)
    assert first.startswith(
        "a.jsonl:2: line: expected one JSON object; got '{\"response\":' (it ends"
    )
    assert second == "a.jsonl:3: line: expected one JSON object; got [1]"


def test_entries_of_a_list_that_are_no_objects_are_problems(tmp_path):
    rows, raw = read(write(tmp_path, "a.json", '[{"response": "a"}, "b"]'))
    assert len(rows) == 1
    assert list(map(str, raw.problems)) == ["a.json, row 2: row: expected a JSON object; got 'b'"]


def test_rows_with_another_number_of_cells_are_problems(tmp_path):
    rows, raw = read(write(tmp_path, "a.csv", "response,score\na,1\nb\nc,2,3\nd,4\n"))
    assert [row["response"] for row in rows] == ["a", "d"]
    assert list(map(str, raw.problems)) == [
        "a.csv:3: row: expected 2 cells, as in the header; got 1",
        "a.csv:4: row: expected 2 cells, as in the header; got 3",
    ]


def test_broken_quoting_is_a_problem_where_it_begins(tmp_path):
    _, raw = read(write(tmp_path, "a.csv", 'response\na\n"b" c\nd\n'))
    assert list(map(str, raw.problems)) == [
        "a.csv:3: row: expected well-formed quoting; got text right after a closing quote"
    ]
    _, raw = read(write(tmp_path, "b.csv", 'response\na\n"b\nc\n'))
    assert list(map(str, raw.problems)) == [
        "b.csv:3: row: expected well-formed quoting; got a quote that is never closed"
    ]


def test_other_delimiters_are_noticed_and_noted(tmp_path):
    rows, raw = read(write(tmp_path, "a.csv", "response;score\na,b;4\n"))
    assert rows == [{"response": "a,b", "score": "4"}]
    assert raw.notes == ["the columns of a.csv are separated by semicolons."]
    rows, raw = read(write(tmp_path, "b.csv", '"res;ponse","sc;ore"\na;b,4\n'))
    assert rows == [{"res;ponse": "a;b", "sc;ore": "4"}]
    assert raw.notes == []


def test_a_cell_may_be_a_whole_book(tmp_path):
    rows, raw = read(write(tmp_path, "a.csv", "response\n" + "x" * 200_000 + "\n"))
    assert len(rows[0]["response"]) == 200_000
    assert raw.problems == []


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "a.csv",
            "response\ncafé\n".encode("latin-1"),
            "a.csv:2: encoding: expected UTF-8 (say --encoding cp1252 if that is what it is "
            "written in); got the byte 0xe9 at position 4",
        ),
        (
            "a.jsonl",
            '{"response": "x"}'.encode("utf-16"),
            "a.jsonl:1: encoding: expected UTF-8 (say --encoding utf-16 if that is what it is "
            "written in); got the byte 0xff at position 1",
        ),
        (
            "a.jsonl.gz",
            b'{"response": "x"}',
            "a.jsonl.gz: file: expected a whole gzip file, as its name says; "
            "got another kind of file, or a damaged one",
        ),
        (
            "b.jsonl.gz",
            gzip.compress(JSON_LINES.encode())[:-12],
            "b.jsonl.gz: file: expected a whole gzip file, as its name says; "
            "got one that ends too early",
        ),
        (
            "a.json",
            b'{"response": "x"}\n{"response": "y"}',
            "a.json:2: file: expected one JSON document (name a file with one object per line "
            ".jsonl); got no JSON from character 1 on",
        ),
        (
            "b.json",
            b'{"items": []}',
            "b.json: file: expected a list of objects, also under 'rows' or 'data'; "
            "got an object with items",
        ),
        (
            "a.tsv",
            b"response\tscore\tscore\n",
            "a.tsv:1: header: expected column names that differ from each other; "
            "got 'score' more than once",
        ),
        (
            "a.xls",
            b"",
            "a.xls: file name: expected an ending of .jsonl, .ndjson, .json, .csv, .tsv, .parquet, "
            ".xlsx (all but Parquet and workbooks also with .gz), or - for JSON Lines on standard "
            "input; got '.xls'",
        ),
    ],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path, name, content, expected):
    (tmp_path / name).write_bytes(content)
    assert message(tmp_path / name) == expected


def test_a_damaged_parquet_file_says_so(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"no such thing")
    assert message(tmp_path / "a.parquet").startswith(
        "a.parquet: file: expected a Parquet file; got "
    )


def test_a_parquet_file_that_is_damaged_inside_says_so_too(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"source": ["a b c"] * 9, "response": list("abcdefghi")}).to_parquet(path)
    whole = path.read_bytes()
    for damaged in (whole[:4] + bytes(40) + whole[44:], whole[:-60] + b"\xff" * 30 + whole[-30:]):
        path.write_bytes(damaged)
        assert message(path).startswith("a.parquet: file: expected a Parquet file; got ")


def test_a_gzip_file_that_is_damaged_inside_says_so(tmp_path):
    content = bytearray(gzip.compress(JSON_LINES.encode() * 50))
    content[40] ^= 0xFF
    (tmp_path / "a.jsonl.gz").write_bytes(content)
    assert "a.jsonl.gz: file: expected a whole gzip file" in message(tmp_path / "a.jsonl.gz")


@pytest.mark.parametrize(
    ("named", "meant"), [("sampel", "sample"), ("ratings.cvs", "ratings.csv"), ("x/rating", None)]
)
def test_a_name_that_is_misspelt_is_asked_about_before_its_ending(
    tmp_path, monkeypatch, named, meant
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ratings.csv").touch()
    end = rf"; did you mean {meant}\?$" if meant else r"\.$"
    with pytest.raises(FileNotFoundError, match=rf"^there is no file {named}{end}"):
        open_rows(named)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^there is no file .*none\.csv\.$"):
        open_rows(tmp_path / "none.csv")


def test_a_frame_with_equal_columns_is_refused():
    frame = pd.DataFrame([["a", "b"]], columns=["response", "response"])
    assert message(frame) == (
        "data frame: header: expected column names that differ from each other; "
        "got 'response' more than once"
    )


def test_other_objects_are_a_type_error():
    with pytest.raises(TypeError, match=r"^expected a path, .* or a list of dicts; got set"):
        open_rows({"response"})


def test_problems_come_in_the_order_of_the_file():
    raw = open_rows(pd.DataFrame({"response": ["a"]}))
    for number in (3, 1, 0, 2):
        raw.problem(number, at="x", expected="y", came="z")
    assert [problem.where for problem in raw.problems] == [
        "data frame",
        "data frame, row 1",
        "data frame, row 2",
        "data frame, row 3",
    ]

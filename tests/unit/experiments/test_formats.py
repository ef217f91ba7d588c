"""Formats of rated data, and its rows."""

import csv
import gzip
import io
import json
import math
import re
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import for_each

from judgesmith.data import read_items
from judgesmith.data.columns import ColumnMap
from judgesmith.data.formats.opening import open_rows
from judgesmith.data.formats.raw import RawRows
from judgesmith.data.items import DataSet
from judgesmith.data.problems import DataError, shown_value
from judgesmith.data.rows import GivenScales, RatingReader, TextReader, given_scales
from judgesmith.data.sheets.cells import LONGEST_CELL, cell_of, is_cut
from judgesmith.data.targets import targets_of
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.experiments.compile.split import (
    examples_of,
    parts_of,
    set_aside,
    unseen_places,
)
from judgesmith.signatures import RatedItem, Scale

# formats

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


def test_parquet_frames_and_standard_input_give_the_same_rows(tmp_path, monkeypatch):
    pd.DataFrame(ROWS).to_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet")[0] == ROWS
    assert read(pd.DataFrame(ROWS))[0] == ROWS
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


# rows

LIKERT = Scale(low=1, high=5)


def texts(row, said="source=source,response=response,source_id=id,system_id=sys,references=refs"):
    raw = RawRows(name="a.jsonl", unit="line")
    reader = TextReader(ColumnMap.parse(said), raw, ignored=("human",))
    return reader.fields(7, row), [*map(str, raw.problems)], reader.notes


def points(row, said="score=r1+r2", scale="1..5"):
    raw = RawRows(name="a.csv", unit="line")
    columns = ColumnMap.parse(said) if said else ColumnMap()
    reader = RatingReader(columns, given_scales(scale) if scale else GivenScales(), raw)
    found = reader.points(7, row, reader.answers(7, row))
    human, scales = found["human"], found["scale"]
    raw.found += [(0, problem) for problem in reader.scale_problems]
    return human, scales, [*map(str, raw.problems)], reader.notes


def test_values_that_are_no_texts_are_read_as_spelled_and_noted():
    fields, problems, notes = texts({"source": 3.5, "response": True, "id": "x"})
    assert (fields["source"], fields["response"]) == ("3.5", "true")
    assert problems == []
    assert notes == [
        "source: not a text in 1 row (first at a.jsonl:7), read as spelled there.",
        "response: not a text in 1 row (first at a.jsonl:7), read as spelled there.",
    ]


def test_a_missing_response_is_empty_and_noted_and_an_absent_one_is_a_problem():
    for missing in (None, math.nan):
        fields, problems, notes = texts({"source": "s", "response": missing, "id": "x"})
        assert (fields["response"], problems) == ("", [])
        assert notes == ["response: missing in 1 row (first at a.jsonl:7), read as an empty text."]
    _, problems, _ = texts({"source": "s", "id": "x"})
    assert problems == ["a.jsonl:7: response: expected a text to judge; got no such field"]


def test_ids_are_texts_or_numbers():
    assert texts({"response": "a", "id": 3})[0]["source_id"] == "3"
    assert texts({"response": "a", "id": 3.0})[0]["source_id"] == "3"
    assert texts({"response": "a", "id": 3.5})[0]["source_id"] == "3.5"
    assert texts({"response": "a", "id": "03"})[0]["source_id"] == "03"
    for wrong in (True, ["x"], math.inf):
        fields, problems, _ = texts({"response": "a", "sys": wrong, "id": "x"})
        assert problems == [f"a.jsonl:7: sys: expected an id; got {shown_value(wrong)}"]
        assert fields["system_id"] == ""


def test_a_missing_source_id_is_a_hash_of_the_source_alone():
    first, _, notes = texts({"source": "s", "response": "a"})
    second, _, _ = texts({"source": "s", "response": "b", "id": ""})
    other, _, _ = texts({"source": "t", "response": "a"})
    assert first["source_id"] == second["source_id"] != other["source_id"]
    assert len(first["source_id"]) == 16
    assert notes == [
        "source_id: missing in 1 row (first at a.jsonl:7), a hash of the text instead."
    ]


def test_references_are_one_text_or_a_list():
    assert texts({"response": "a", "refs": "x"})[0]["references"] == ("x",)
    assert texts({"response": "a", "refs": ["x", None, "y"]})[0]["references"] == ("x", "y")
    assert texts({"response": "a", "refs": ""})[0]["references"] == ()
    assert texts({"response": "a", "refs": [1]})[1] == ["a.jsonl:7: refs: expected texts; got 1"]


def test_ratings_of_several_columns_are_one_per_rater_and_blanks_are_none():
    human, scales, problems, _ = points({"r1": "4", "r2": 5})
    assert human == {"overall": (4.0, 5.0)}
    assert scales == {"overall": LIKERT}
    assert problems == []
    human, _, problems, notes = points({"r1": " ", "r2": None})
    assert (human, problems) == ({"overall": ()}, [])
    assert notes == ["2 ratings are blank and left out."]


def test_what_is_wrong_in_a_cell_is_said_once_of_its_column():
    _, _, problems, _ = points({"r1": "four", "r2": 9})
    assert problems == [
        "a.csv:7: r1: expected a number from 1 to 5; got 'four'",
        "a.csv:7: r2: expected a number from 1 to 5; got 9",
    ]
    assert points({"r1": 4, "r2": 9})[2] == ["a.csv:7: r2: expected a number from 1 to 5; got 9"]
    _, _, problems, _ = points({"r1": [9, 1, "four", True, -1], "r2": 2})
    assert problems == [
        "a.csv:7: r1: expected a number from 1 to 5; got 9, 'four', true and 1 more"
    ]


def test_canonical_ratings_come_with_their_scale_also_as_json_or_pairs():
    row = {"human": {"fluency": [4, 5], "clear": 3}, "scale": {"fluency": [1, 5], "clear": [1, 3]}}
    human, scales, problems, _ = points(row, said="", scale=None)
    assert human == {"fluency": (4.0, 5.0), "clear": (3.0,)}
    assert scales == {"fluency": LIKERT, "clear": Scale(low=1, high=3)}
    assert problems == []
    row = {"human": '{"fluency": [4]}', "scale": '{"fluency": [1, 5]}'}
    assert points(row, said="", scale=None)[:2] == ({"fluency": (4.0,)}, {"fluency": LIKERT})
    row = {"human": [("fluency", [4])], "scale": [("fluency", [1, 5])]}
    assert points(row, said="", scale=None)[:2] == ({"fluency": (4.0,)}, {"fluency": LIKERT})
    assert points({"r1": 4, "scale": [1, 5]}, said="score=r1", scale=None)[1] == {"overall": LIKERT}
    assert points({"r1": 4, "scale": "large"}, said="score=r1")[2] == []


def test_a_row_may_be_unrated_in_every_way():
    for nothing in ({}, None, "", {"fluency": []}, {"fluency": None}):
        human, _, problems, _ = points({"human": nothing}, said="", scale=None)
        assert not any(human.values())
        assert problems == []


def test_a_missing_scale_is_asked_for_once_and_not_guessed():
    _, scales, problems, _ = points({"r1": 2, "r2": 4.5}, scale=None)
    assert scales == {}
    assert problems == [
        "a.csv: overall: expected a scale (say --scale LOW..HIGH, in Python scale=, with the ends "
        "of the rating form); got none; the ratings go from 2 to 4.5"
    ]
    row = {"f": 2, "c": 40}
    assert points(row, said="fluency=f,coherence=c", scale=None)[2] == [
        "a.csv: fluency, coherence: expected a scale (say --scale LOW..HIGH for all, in Python "
        "scale=, with the ends of the rating form); got none; the ratings go from 2 to 2 "
        "(fluency), 40 to 40 (coherence)"
    ]
    row = {"f": 2, "c": 40, "r": 1}
    for said, wanted in (("fluency=f,coherence=c", "coherence="), ("fluency=f,a=c,b=r", "NAME=")):
        problems = points(row, said=said, scale="fluency=1..5")[2]
        assert len(problems) == 1
        assert f"(say --scale {wanted}LOW..HIGH" in problems[0]


def test_a_scale_for_a_criterion_that_is_not_there_is_a_problem():
    row = {"f": 2, "c": 3}
    said = "fluency=1..5,coherencia=1..5,coherence=1..5"
    assert points(row, said="fluency=f,coherence=c", scale=said)[2] == [
        "a.csv: --scale: expected one of the criteria fluency, coherence; "
        "got 'coherencia'; did you mean 'coherence'?"
    ]
    canonical = {"human": {"fluency": []}, "scale": {"coherence": [1, 5]}}
    assert points(canonical, said="", scale="fluency=1..5,coherence=1..5")[2] == []


def test_a_scale_that_overrules_the_rows_is_noted():
    row = {"human": {"fluency": [4]}, "scale": {"fluency": [1, 7]}}
    _, scales, _, notes = points(row, said="", scale="fluency=1..5")
    assert scales == {"fluency": LIKERT}
    assert notes == ["the scale of fluency is 1..5 as given, not 1..7 as in the rows."]
    assert points(row, said="", scale="1..5")[1] == {"fluency": Scale(low=1, high=7)}


# spreadsheet cells

FORMULA = re.compile(r"[\s\"]*[=+\-@＝＋－＠]")


@for_each(
    "text",
    [
        "=HYPERLINK(1)",
        "+1",
        "-2+3+cmd|' /C calc'!A0",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "  =1",
        '"=1',
        "＝1+1",
        "\u200c=1",
        "\xa0=1",
    ],
)
def test_a_cell_that_could_be_a_formula_gets_an_apostrophe(text):
    assert FORMULA.match(text.replace("\u200c", ""))
    assert re.match(r"\s*'", cell_of(text))


@for_each("text", ["'=1", "5 - 3 = 2", "a=b", "x", "", "¡hola!", "日本語", "एक"])
def test_other_texts_stay_as_they_are(text):
    assert cell_of(text) == text


@given(st.text(alphabet=st.sampled_from('=+-@;,"\n\r\t a\x0b\u2028'), max_size=12))
def test_no_cell_begins_like_a_formula_whatever_delimiter_a_program_takes(text):
    line = io.StringIO(newline="")
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(["id", cell_of(text)])
    for delimiter in ",;\t":
        for cells in csv.reader(io.StringIO(line.getvalue(), newline=""), delimiter=delimiter):
            assert not [cell for cell in cells if FORMULA.match(cell)]


@given(st.text())
def test_nothing_in_a_cell_moves_a_cursor(text):
    cell = cell_of(text)
    assert all(c.isprintable() or c in "\n\u200c\u200d" for c in cell)
    assert cell.encode("utf-8").decode() == cell


def test_escapes_are_shown_and_line_ends_kept():
    assert cell_of("a\x1b[2Jb\r\nc\u202ed\ud800") == "a\\x1b[2Jb\nc\\u202ed\\ud800"


def test_a_cell_too_long_for_a_spreadsheet_says_what_it_left_out():
    cell = cell_of("a" * (LONGEST_CELL + 7))
    assert cell.endswith("a … [7 more characters left out]")
    assert len(cell) < 32_767
    assert is_cut(cell)
    assert not is_cut(cell_of("a" * LONGEST_CELL))


# parts

FORM = {"overall": Scale(low=1, high=5)}


def rated_set(sizes, unrated=()):
    items = [
        RatedItem(
            source=f"source {s}",
            response=f"response {s}.{r}",
            source_id=str(s),
            system_id=str(r),
            human={} if (s, r) in unrated else {"overall": (1 + (3 * s + r) % 5,)},
            scale=FORM,
        )
        for s, size in enumerate(sizes)
        for r in range(size)
    ]
    return DataSet(name="toy", items=tuple(items))


def parts(data, **options):
    chosen = CompileSettings(**options)
    return parts_of(data, chosen_targets(data, chosen), chosen)


def used(found):
    return {
        name: [] if rows is None else [item.key for item in rows.items]
        for name, rows in (
            ("pool", found.pool),
            ("selection", found.selection),
            ("heldout", found.heldout),
        )
    }


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=6, max_size=20),
    st.sampled_from([0.0, 0.2, 0.3, 0.5]),
    st.integers(0, 3),
    st.integers(0, 5),
)
def test_every_rated_row_has_one_use_and_no_source_two(sizes, holdout, n_demonstrations, seed):
    data = rated_set(sizes, unrated={(1, 0)})
    found = parts(data, holdout=holdout, n_demonstrations=n_demonstrations, seed=seed)
    sources = [
        set() if rows is None else {item.source for item in rows.items}
        for rows in (found.pool, found.selection, found.heldout)
    ]
    assert sum(map(len, sources)) == len(set().union(*sources))
    keys = [key for several in used(found).values() for key in several]
    assert sorted(keys) == sorted(item.key for item in data if item.human)


def test_equal_seeds_give_equal_parts_and_others_do_not():
    data = rated_set([2] * 20)
    assert used(parts(data, seed=3)) == used(parts(data, seed=3))
    assert used(parts(data, seed=3)) != used(parts(data, seed=4))


def test_rows_can_be_split_instead_of_sources():
    found = parts(rated_set([8, 8]), split_rows=True, holdout=0.5)
    shared = {item.source for item in found.selection.items}
    assert shared & {item.source for item in found.heldout.items}
    assert not set(used(found)["selection"]) & set(used(found)["heldout"])
    shown_value = {item.source for item in found.pool.items}
    assert shown_value
    assert not shown_value & {item.source for item in found.selection.items}


def test_rows_keep_what_people_said():
    data = rated_set([3] * 8)
    said = {item.key: item.human["overall"][0] for item in data}
    found = parts(data)
    for rows in (found.pool, found.selection, found.heldout):
        assert [said[item.key] for item in rows.items] == rows.human.tolist()
        assert [one.score for one in examples_of(rows)] == rows.human.tolist()


def test_too_little_to_learn_from_is_refused():
    with pytest.raises(ValueError, match="holding some out needs at least 2"):
        parts(rated_set([6]))
    with pytest.raises(ValueError, match="must not share a source"):
        parts(rated_set([6]), holdout=0.0)


def test_an_objective_that_these_ratings_cannot_have_is_refused_before_anything_is_asked():
    with pytest.raises(ValueError, match=r"adjacent is undefined on the .* validation rows"):
        parts(rated_set([1] * 20), objective="adjacent")
    items = [
        item.model_copy(
            update={"human": {"overall": (1 + k,)}, "scale": {"overall": Scale(low=1, high=99)}}
        )
        for k, item in enumerate(rated_set([1] * 40).items)
    ]
    with pytest.raises(ValueError, match="kappa needs 11 levels or fewer"):
        parts(DataSet(name="fine", items=tuple(items)), objective="q; kappa >= .4")


def test_rows_that_cannot_be_ranked_are_refused_before_anything_is_asked():
    ranked = {"judge": "pairs", "optimizer": "none", "criteria": "given"}
    assert parts(rated_set([2] * 20), **ranked).heldout is not None
    with pytest.raises(ValueError, match=r"none of the 14 validation rows shares its source"):
        parts(rated_set([1] * 20), **ranked)
    # Rows that share an id alone, and no source, have nothing to be ranked among.
    apart = [
        item.model_copy(update={"source": f"{item.source}, {item.system_id}"})
        for item in rated_set([2] * 20)
    ]
    with pytest.raises(ValueError, match="shares its source"):
        parts(DataSet(name="apart", items=tuple(apart)), **ranked)


def test_rows_held_out_that_cannot_be_ranked_are_refused_too():
    ranked = {"judge": "pairs", "optimizer": "none", "criteria": "given"}
    several = rated_set([2] * 20)
    held = set(parts(several, **ranked).heldout_places.tolist())
    items = [
        item.model_copy(update={"context": item.system_id}) if place in held else item
        for place, item in enumerate(several)
    ]
    with pytest.raises(ValueError, match=r"none of the 12 test rows shares its source"):
        parts(DataSet(name="apart", items=tuple(items)), **ranked)


# unseen


def sample():
    data = read_items("sample")
    return data, targets_of(data)


def test_whole_sources_are_left_out_when_one_of_their_rows_was_seen():
    data, targets = sample()
    places = unseen_places(data, targets, frozenset({data[0].key}))
    same = np.flatnonzero(data.groups == data.groups[0])
    assert len(same) > 1
    assert set(places.tolist()) == set(range(len(data))) - set(same.tolist())


def test_what_is_set_aside_shares_no_source_with_the_rest():
    data, targets = sample()
    rest, aside = set_aside(data, targets, share=0.3, seed=0)
    assert len(rest) + len(aside) == len(data)
    assert not {one.source for one in rest} & {one.source for one in aside}
    again = set_aside(data, targets, share=0.3, seed=0)
    assert (rest.digest, aside.digest) == (again[0].digest, again[1].digest)
    assert set_aside(data, targets, share=0.3, seed=1)[1].digest != aside.digest

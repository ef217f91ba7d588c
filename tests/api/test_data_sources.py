"""Ratings as people have them: workbooks, datasets, lists, other encodings and decimal signs."""

import json
import zipfile

import pandas as pd
import pytest

from judgesmith import InputError
from judgesmith.data import (
    DataError,
    Format,
    RawRows,
    read_items,
    read_many,
    register_format,
)
from judgesmith.data import stream_items as stream

ROWS = [
    {"source": "one", "response": "first", "score": 4},
    {"source": "two", "response": "second", "score": 2.5},
]


def ratings(data):
    return [item.human["overall"] for item in data]


def why(source, **said):
    with pytest.raises((DataError, InputError)) as caught:
        read_items(source, **{"scale": "1..5", **said})
    return str(caught.value)


def table(place, text, encoding="utf-8"):
    place.write_bytes(text.encode(encoding))
    return place


@pytest.fixture
def book(tmp_path):
    """Write a workbook of sheets, each a list of rows."""
    openpyxl = pytest.importorskip("openpyxl")

    def written(name="ratings.xlsx", **sheets):
        made = openpyxl.Workbook()
        made.remove(made.active)
        for title, rows in sheets.items():
            sheet = made.create_sheet(title)
            for row in rows:
                sheet.append(row)
        made.save(tmp_path / name)
        return tmp_path / name

    return written


# --- what is in memory -----------------------------------------------------------------------


def test_a_list_of_dicts_is_read_as_a_frame_is():
    assert ratings(read_items(ROWS, scale="1..5")) == [(4.0,), (2.5,)]
    assert [item.response for item in stream(ROWS)] == ["first", "second"]
    frame = read_items(pd.DataFrame(ROWS), scale="1..5")
    assert read_items(ROWS, scale="1..5").digest == frame.digest


def test_what_is_no_dict_in_a_list_is_named_by_its_row():
    assert "rows, row 2: row: expected a mapping of columns; got 'x'" in why([ROWS[0], "x"])
    assert "at least one row" in why([])


class Dataset:
    """What Judgesmith goes by: a Hugging Face dataset has columns and features."""

    column_names = ("source", "response", "score")
    features = ()

    def __iter__(self):
        return iter(ROWS)


class Splits(dict):
    column_names = features = None


def test_a_dataset_is_recognised_without_its_library():
    data = read_items(Dataset(), scale="1..5")
    assert data.name == "dataset"
    assert ratings(data) == [(4.0,), (2.5,)]
    with pytest.raises(TypeError, match="one split of a dataset; got all of train, test"):
        read_items(Splits(train=1, test=2))


# --- Hugging Face ----------------------------------------------------------------------------


def saved(folder, rows=ROWS):
    pa = pytest.importorskip("pyarrow")
    folder.mkdir(parents=True)
    made = pa.Table.from_pylist(rows)
    with pa.ipc.new_stream(str(folder / "data-00000-of-00001.arrow"), made.schema) as out:
        out.write_table(made)
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
    (folder / "state.json").write_text(json.dumps(state))
    return folder


def test_a_folder_that_was_saved_to_disk_is_read(tmp_path):
    assert ratings(read_items(saved(tmp_path / "set"), scale="1..5")) == [(4.0,), (2.5,)]


def test_one_of_several_saved_splits_is_named(tmp_path):
    saved(tmp_path / "set" / "train")
    (tmp_path / "set" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert len(read_items(tmp_path / "set", scale="1..5")) == 2
    saved(tmp_path / "set" / "test")
    assert "one split (name its folder)" in why(tmp_path / "set")


@pytest.mark.parametrize("state", ["", "[]", '{"_data_files": [{"filename": "../secret"}]}'])
def test_a_saved_folder_that_is_damaged_says_so(tmp_path, state):
    (saved(tmp_path / "set") / "state.json").write_text(state)
    assert "a folder that save_to_disk wrote, whole" in why(tmp_path / "set")


def test_the_hub_needs_its_library(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "datasets", None)
    with pytest.raises(ImportError, match=r"pip install 'judgesmith\[hf\]'"):
        read_items("hf://owner/name")


class Hub:
    """Stands in for the library: no test asks the network."""

    @staticmethod
    def load_dataset(name, config, split):
        if name != "owner/name":
            raise ConnectionError("the Hub cannot be reached")
        assert (config, split) in [(None, None), ("plain", "train")]
        return Dataset() if split else {"train": Dataset(), "test": Dataset()}


def test_the_hub_is_asked_by_owner_name_config_and_split(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "datasets", Hub)
    assert len(read_items("hf://owner/name/plain:train", scale="1..5")) == 2
    assert "as in hf://owner/name:train, hf://owner/name:test" in why("hf://owner/name")
    assert "the Hub cannot be reached" in why("hf://other/name")
    assert "expected hf://OWNER/NAME" in why("hf://")


# --- workbooks -------------------------------------------------------------------------------

HEADER = ["source", "response", "score"]


def test_a_workbook_reads_its_first_sheet_or_the_one_that_is_named(book):
    place = book(
        Ratings=[HEADER, ["one", "first", 4], [None, None, None], ["two", "second", "3,5"]],
        Other=[HEADER, ["one", "first", 1]],
    )
    data = read_items(place, scale="1..5")
    assert ratings(data) == [(4.0,), (3.5,)]
    assert data.notes[0].startswith("ratings.xlsx has 2 sheets; 'Ratings', the first, was read")
    assert ratings(read_items(place, scale="1..5", sheet="Other")) == [(1.0,)]
    assert "one of the sheets Ratings, Other; got 'Othr'; did you mean Other?" in why(
        place, sheet="Othr"
    )


def test_problems_in_a_workbook_are_named_by_their_row(book):
    place = book(A=[[*HEADER, None], ["one", "first", "four"], ["two", "second", 9, "aside"]])
    told = why(place)
    assert "ratings.xlsx, row 2: score: expected a number from 1 to 5; got 'four'" in told
    assert "ratings.xlsx, row 3: score: expected a number from 1 to 5; got 9" in told
    twice = book(A=[["score", "response", "score"], [1, "a", 2]])
    assert "column names that differ" in why(twice)
    formula = book(A=[HEADER, ["one", "first", "=1+3"]])
    assert "row 2: score: expected a value (open the file" in why(formula)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"no zip", "a whole workbook (.xlsx)"),
        (b"\xd0\xcf\x11\xe0rest", "without a password"),
    ],
)
def test_what_is_no_workbook_says_so(tmp_path, content, expected):
    pytest.importorskip("openpyxl")
    place = tmp_path / "a.xlsx"
    place.write_bytes(content)
    assert expected in why(place)


def test_a_zip_that_is_no_workbook_or_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    pytest.importorskip("openpyxl")
    place = tmp_path / "a.xlsx"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("xl/workbook.xml", b" " * 2**20)
    assert "expected a workbook (.xlsx)" in why(place)
    monkeypatch.setattr("judgesmith.data.formats.tables.LARGEST_WORKBOOK", 2**19)
    assert "MiB unpacked" in why(place)


def test_a_sheet_that_claims_more_rows_than_there_can_be_is_refused(book, monkeypatch):
    place = book(A=[HEADER, *[["one", "first", 4]] * 20])
    monkeypatch.setattr("judgesmith.data.formats.tables._MOST_ROWS", 10)
    assert "at most 10 rows" in why(place)


def test_without_its_library_a_workbook_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    (tmp_path / "a.xlsx").write_bytes(b"")
    with pytest.raises(ImportError, match=r"pip install 'judgesmith\[xlsx\]'"):
        read_items(tmp_path / "a.xlsx")


# --- decimal signs ---------------------------------------------------------------------------


def column(tmp_path, *cells):
    rows = [f"s{n};r{n};{cell}" for n, cell in enumerate(cells)]
    return table(tmp_path / "a.csv", "\n".join(["source;response;score", *rows]))


def test_a_decimal_comma_is_read_where_the_column_allows_nothing_else(tmp_path):
    data = read_items(column(tmp_path, "3,5", "4", "1,125"), scale="1..5")
    assert ratings(data) == [(3.5,), (4.0,), (1.125,)]
    assert "score: read with a decimal comma." in data.notes


def test_a_comma_that_may_stand_in_thousands_is_never_guessed_at(tmp_path):
    told = why(column(tmp_path, "1,250", "2,000"), scale="0..5000")
    assert "(say --decimal , if the comma is a decimal sign in the whole column)" in told
    assert "got '3,5'" in why(column(tmp_path, "3,5", "4.5"))
    said = read_items(column(tmp_path, "1,250", "2"), scale="1..5", decimal=",")
    assert ratings(said) == [(1.25,), (2.0,)]
    assert not any("decimal" in note for note in said.notes)


def test_the_rarer_of_two_decimal_signs_is_the_wrong_one(tmp_path):
    told = why(column(tmp_path, "3,5", "2,5", "4", "4.5"), scale="1..5")
    assert "a.csv:5: score: expected a number from 1 to 5 with a decimal comma, as 2 others" in told
    assert "got '4.5'" in told
    assert "a.csv:2" not in told
    told = why(column(tmp_path, "3.5", "2.5", "4", "4,5"), scale="1..5")
    assert "a.csv:5: score: expected a number from 1 to 5 with a decimal point, as 2 others" in told


def test_labels_without_a_scale_are_told_how_to_be_named(tmp_path):
    told = why(column(tmp_path, "good", "poor"), scale=None)
    assert "--scale 'WORST|…|BEST'" in told
    assert "--positive LABEL" in told
    assert "WORST" not in why(column(tmp_path, "4", "n/a"), scale=None)


def test_one_rating_far_from_all_others_is_named_where_no_scale_is_given(tmp_path):
    told = why(column(tmp_path, "3,5", "2,5", "55", "1"), scale=None)
    assert "from 1 to 55; 55 is only in a.csv:4, the others go from 1 to 3.5" in told
    assert "only in" not in why(column(tmp_path, "1", "2", "3", "4", "5"), scale=None)
    assert "only in" not in why(column(tmp_path, "1", "2", "55", "55"), scale=None)


def test_the_sign_that_was_named_is_the_only_one(tmp_path):
    assert "as --decimal , says; got '4.5'" in why(column(tmp_path, "4.5"), decimal=",")
    assert "got '3,5'" in why(column(tmp_path, "3,5"), decimal=".")
    assert "a decimal sign is a comma or a point; got ';'" in why(ROWS, decimal=";")
    assert "holds numbers as numbers" in why(ROWS, decimal=",")


def test_texts_with_commas_in_json_are_no_numbers(tmp_path):
    place = table(tmp_path / "a.jsonl", json.dumps({**ROWS[0], "score": "3,5"}))
    assert "got '3,5'" in why(place)


# --- markers of missing ratings --------------------------------------------------------------


def test_markers_count_as_missing_ratings(tmp_path):
    place = column(tmp_path, "4", "n/a", " - ", "")
    data = read_items(place, scale="1..5", missing="n/a,-")
    assert ratings(data) == [(4.0,), (), (), ()]
    assert "2 ratings are marked as missing (n/a, -) and left out." in data.notes
    assert "1 rating is blank and left out." in data.notes
    numbers = [{**ROWS[0], "score": one} for one in (-1, 4, "-1")]
    assert ratings(read_items(numbers, scale="1..5", missing=["-1"])) == [(), (4.0,), ()]
    assert "got 'n/a'" in why(place)


def test_a_marker_that_is_a_rating_is_refused(tmp_path):
    told = why(column(tmp_path, "4", "0"), scale="0..5", missing="n/a,0")
    assert "'0' is a rating on the scale 0..5 of overall" in told


# --- encodings -------------------------------------------------------------------------------

SPANISH = "source,response,score\naño,qué,4\nniño,sí,5\n"


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-8", "latin-1"])
def test_a_file_is_read_in_the_encoding_that_is_named(tmp_path, encoding):
    place = table(tmp_path / "a.csv", SPANISH, encoding)
    data = read_items(place, scale="1..5", encoding=encoding)
    assert [(item.source, item.response) for item in data] == [("año", "qué"), ("niño", "sí")]
    assert [item.response for item in stream(place, encoding=encoding)] == ["qué", "sí"]


@pytest.mark.parametrize(
    ("written", "said", "expected"),
    [
        ("cp1252", None, "a.csv:2: encoding: expected UTF-8 (say --encoding cp1252"),
        ("utf-16", None, "a.csv:1: encoding: expected UTF-8 (say --encoding utf-16"),
        ("utf-16", "cp1252", "got the mark of utf-16 at the start"),
        ("utf-8-sig", "cp1252", "got the mark of utf-8 at the start"),
        ("cp1252", "utf-16", "text in utf-16"),
        ("cp1252", "ascii", "text in ascii"),
        ("utf-8", "cp125", "there is no encoding 'cp125'; did you mean cp1252?"),
        ("utf-8", "base64", "there is no encoding 'base64'"),
    ],
)
def test_a_wrong_encoding_is_one_error_with_the_remedy(tmp_path, written, said, expected):
    told = why(table(tmp_path / "a.csv", SPANISH, written), encoding=said)
    assert expected in told
    assert told.count("\n") <= 1


def test_an_option_that_says_nothing_of_a_source_is_refused(tmp_path):
    assert "is no workbook (.xlsx)" in why(column(tmp_path, "4"), sheet="One")
    assert "is no text file" in why(ROWS, encoding="cp1252")


def test_of_several_files_each_takes_what_is_about_it(tmp_path):
    other = table(tmp_path / "b.csv", SPANISH, "cp1252")
    rows = table(tmp_path / "a.parquet", "")
    pd.DataFrame(ROWS).to_parquet(rows)
    data = read_many([rows, other], scale="1..5", encoding="cp1252")
    assert len(data) == 4
    with pytest.raises(InputError, match="is no workbook"):
        read_many([rows, other], scale="1..5", sheet="One")


# --- records ---------------------------------------------------------------------------------


def test_the_record_stands_beside_a_line_that_does_not_tell_it(tmp_path):
    lines = 'source,response,score\n"one\nmore",first,9\ntwo,second,8\n'
    told = why(table(tmp_path / "a.csv", lines))
    assert "a.csv:2: score" in told
    assert "a.csv:4 (record 2): score" in told
    rows = "\n\n".join(json.dumps({**row, "score": 9}) for row in ROWS)
    told = why(table(tmp_path / "a.jsonl", rows))
    assert "a.jsonl:1: score" in told
    assert "a.jsonl:3 (record 2): score" in told


# --- formats of others -----------------------------------------------------------------------


def test_a_format_of_ones_own_is_read_by_its_ending(tmp_path, monkeypatch):
    monkeypatch.setattr("judgesmith.data.formats.opening._FORMATS", {})

    def words(raw: RawRows, stream):
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, {"response": line.decode().strip()}
            else:
                raw.problem(number, at="line", expected="words", came="nothing")

    register_format(Format(names=(".words",), rows=words, unit="line"))
    place = table(tmp_path / "a.words", "one\ntwo\n")
    assert [item.response for item in read_items(place)] == ["one", "two"]
    assert "b.words:2: line: expected words; got nothing" in why(
        table(tmp_path / "b.words", "one\n\n"), scale=None
    )
    with pytest.raises(InputError, match="are read already"):
        register_format(Format(names=(".words",), rows=words))
    with pytest.raises(InputError, match="an ending or a scheme"):
        Format(names=("words",), rows=words)

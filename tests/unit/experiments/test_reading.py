"""Rated data is read: columns, formats, cells and faults."""

import copy
import gzip
import json
import pickle
import tracemalloc

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import given as given_any
from hypothesis import strategies as st
from looping import for_each

import judgesmith
from judgesmith.data.columns import KNOWN_NAMES, ColumnMap, column_map, plain_name, recognised
from judgesmith.data.problems import DataError, Problem
from judgesmith.data.reading import read_items, stream_items
from judgesmith.signatures.scale import Scale

# reading

# Rows by file of the smaller sets, as the folder's own description lists them.
ROWS = {
    "bagel": 404,
    "bump": 792,
    "newsroom": 420,
    "openmeva_roc": 1000,
    "opinsummeval": 1400,
    "pandalm": 1998,
    "qags_cnndm": 235,
    "realsumm": 2400,
    "sfres": 1181,
    "simpeval_2022": 360,
    "simpeval_past": 2400,
    "summeval": 1600,
    "summeval_op": 416,
    "topical_chat": 360,
    "webnlg2020_en": 2847,
    "wiki_da": 600,
}
CANONICAL = {
    "source_id": "d1",
    "system_id": "M0",
    "source": "Un artículo.",
    "context": None,
    "response": "Resumen.",
    "references": ["Uno.", "Dos."],
    "human": {"fluency": [4, 5.0], "clear": [2]},
    "scale": {"fluency": [1, 5], "clear": [1, 3]},
    "worker": "w1",
}


def lines(folder, rows, name="a.jsonl"):
    path = folder / name
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def message(source, **how):
    with pytest.raises(DataError) as caught:
        read_items(source, **how)
    return str(caught.value).splitlines()


def test_a_canonical_row_becomes_an_item(tmp_path):
    data = read_items(lines(tmp_path, [CANONICAL]))
    item = data[0]
    assert (item.source_id, item.system_id, item.context) == ("d1", "M0", None)
    assert item.references == ("Uno.", "Dos.")
    assert item.human == {"fluency": (4.0, 5.0), "clear": (2.0,)}
    assert item.scale == {"fluency": Scale(low=1, high=5), "clear": Scale(low=1, high=3)}
    assert item.extra == {"worker": "w1"}
    assert (data.name, data.notes, data.places) == ("a", (), (1,))


def test_a_place_is_the_number_of_the_row_however_many_lines_rows_take(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('response,score\n"one\n\ntwo",1\n\nthree,2\n"four\nfive",9\n')
    data = read_items(path, scale="0..9")
    assert data.places == (1, 2, 3)
    assert data.subset([2, 0]).places == (3, 1)
    assert message(path, scale="1..5")[1:] == [
        "  a.csv:7 (record 3): score: expected a number from 1 to 5; got '9'"
    ]
    beside = tmp_path / "a.jsonl"
    beside.write_text('{"response": "a"}\n\n\n{"response": "b"}\n')
    assert read_items(beside).places == (1, 2)


def test_a_spanish_table_is_read_through_a_map(tmp_path):
    path = tmp_path / "valoraciones.csv"
    path.write_text(
        "artículo;resumen;nota de Ana;nota de Luis;sistema\n"
        "El río creció.;Creció.;4;5;m1\n"
        "El río creció.;NA;1;;m2\n",
        encoding="utf-8-sig",
    )
    data = read_items(
        path,
        columns="source=artículo,response=resumen,score=nota de Ana+nota de Luis,system_id=sistema",
        scale="1..5",
    )
    assert [item.response for item in data] == ["Creció.", "NA"]
    assert [item.human["overall"] for item in data] == [(4.0, 5.0), (1.0,)]
    assert [item.system_id for item in data] == ["m1", "m2"]
    assert data[0].source_id == data[1].source_id
    assert data.notes == (
        "the columns of valoraciones.csv are separated by semicolons.",
        "1 rating is blank and left out.",
    )


def test_one_row_reads_alike_from_every_format(tmp_path):
    flat = {"source": "s", "response": "r", "score": "4", "system": "m", "doc_id": "7"}
    frame = pd.DataFrame([flat])
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv.gz", index=False, sep="\t")
    frame.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.json").write_text(json.dumps({"data": [flat]}))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(json.dumps(flat).encode()))
    names = ("a.csv", "a.tsv.gz", "a.parquet", "a.json", "a.jsonl.gz")
    sets = [read_items(source, scale="1..5") for source in (frame, *(tmp_path / n for n in names))]
    assert all(data.items == sets[0].items for data in sets)
    assert sets[0][0].human == {"overall": (4.0,)}
    assert len({data.digest for data in sets}) == 1


def test_all_problems_are_reported_at_once_in_the_order_of_the_file(tmp_path):
    rows = [
        CANONICAL,
        CANONICAL | {"human": {"fluency": [9, "four", True]}},
        CANONICAL | {"scale": {"fluency": [0, 5]}, "response": ["a"]},
        CANONICAL | {"human": [1, 2], "system_id": "M9"},
    ]
    assert message(lines(tmp_path, rows)) == [
        "4 problems in the data:",
        "  a.jsonl:2: human.fluency: expected a number from 1 to 5; got 9, 'four', true",
        "  a.jsonl:3: response: expected a text; got ['a']",
        "  a.jsonl:3: scale.fluency: expected 1..5, as stated first (a.jsonl:1); got 0..5",
        "  a.jsonl:4: human: expected {criterion: [ratings]} (or say --map score=human); "
        "got [1, 2]",
    ]


@pytest.mark.parametrize("content", ["", "\n\n", "response,score\n"])
def test_a_file_without_rows_is_refused(tmp_path, content):
    name = "a.csv" if "," in content else "a.jsonl"
    (tmp_path / name).write_text(content)
    assert message(tmp_path / name)[1:] == [f"  {name}: file: expected at least one row; got none"]


def test_texts_that_are_no_unicode_are_a_problem(tmp_path):
    row = {"response": "ok \ud800", "source_id": "\udfff", "references": ["\ud800"]}
    assert message(lines(tmp_path, [row]))[1:] == [
        "  a.jsonl:1: response: expected Unicode text; got half a surrogate pair at position 4",
        "  a.jsonl:1: references: expected Unicode text; got half a surrogate pair at position 1",
        "  a.jsonl:1: source_id: expected Unicode text; got half a surrogate pair at position 1",
    ]


def test_repeated_items_are_refused_and_other_repetitions_noted(tmp_path):
    again = CANONICAL | {"human": {"fluency": [1]}}
    assert message(lines(tmp_path, [CANONICAL, again]))[1:] == [
        "  a.jsonl:2: source_id, system_id: expected one row per item (put its raters in one row, "
        "as in score=rater1+rater2); got the item of a.jsonl:1 again"
    ]
    other = CANONICAL | {"response": "Otro."}
    data = read_items(lines(tmp_path, [CANONICAL, other]))
    assert data.notes == ("1 pairs of source_id and system_id have several responses.",)
    frame = pd.DataFrame({"source": ["s", "s"], "response": ["r", "r"], "score": [1, 2]})
    data = read_items(frame, scale="1..5")
    assert len(data) == 2
    assert data.notes[-1] == "1 row repeats source, context and response of an earlier row."


def test_ids_that_stand_for_several_sources_are_refused(tmp_path):
    other = CANONICAL | {"source": "Otra cosa.", "system_id": "M1"}
    assert message(lines(tmp_path, [CANONICAL, other]))[1:] == [
        "  a.jsonl: source_id: expected one source text per id (name another column with --map "
        "source_id=COLUMN, or leave ids out with --map source_id=); got 1 of 1 source ids stand "
        "for several source texts, the first 'd1' (a.jsonl:1 and a.jsonl:2)"
    ]
    data = read_items(lines(tmp_path, [CANONICAL, other]), columns="source_id=")
    assert len(set(data.groups)) == 2


def test_a_few_such_ids_are_noted_and_stay_together(tmp_path):
    rows = [
        CANONICAL | {"source_id": str(n), "source": f"s{n}", "system_id": "M0"} for n in range(40)
    ]
    rows.append(rows[0] | {"source": "s0.", "system_id": "M1"})
    data = read_items(lines(tmp_path, rows))
    assert data.notes == (
        "1 of 40 source ids stand for several source texts, the first '0' (a.jsonl:1 and "
        "a.jsonl:41); splits keep each id, and each text, together.",
    )
    assert data.groups[0] == data.groups[40]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)

# The csv module cannot read a NUL; a bare carriage return or spaces are kept in quotes.
cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


@pytest.mark.no_cover
@given(
    st.lists(
        st.tuples(cells, cells, st.lists(st.integers(1, 5), min_size=2, max_size=2)),
        min_size=1,
        max_size=5,
    )
)
def test_whatever_is_written_is_read_back(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("round")
    table = [{"source": s, "response": r, "a": x, "b": y} for s, r, (x, y) in rows]
    frame = pd.DataFrame(table)
    frame.to_csv(folder / "a.csv", index=False, quoting=1, lineterminator="\n")
    frame.to_json(folder / "a.jsonl", orient="records", lines=True)
    for source in (frame, folder / "a.csv", folder / "a.jsonl"):
        data = read_items(source, columns="score=a+b", scale="1..5")
        assert [(i.source, i.response, list(i.human["overall"])) for i in data] == rows


@pytest.mark.no_cover
@given(st.dictionaries(texts, st.lists(st.integers(1, 5), max_size=3), max_size=3), texts, texts)
def test_canonical_rows_are_read_back_whatever_the_names(tmp_path_factory, human, source, system):
    row = {
        "source": source,
        "system_id": system,
        "response": "r",
        "human": human,
        "scale": {name: [1, 5] for name in human},
    }
    item = read_items(lines(tmp_path_factory.mktemp("round"), [row]))[0]
    assert (item.source, item.system_id) == (source, system)
    assert {name: list(said) for name, said in item.human.items()} == human


class TestStream:
    def test_gives_the_texts_of_every_row_and_no_ratings(self, tmp_path):
        path = lines(tmp_path, [CANONICAL | {"human": "broken", "scale": 5}] * 3)
        items = list(stream_items(path))
        assert len(items) == 3
        assert (items[0].response, items[0].human, items[0].scale) == ("Resumen.", {}, {})
        assert items[0].extra == {"worker": "w1"}

    def test_ratings_are_not_even_kept_as_extras(self):
        frame = pd.DataFrame({"output": ["a"], "Score": ["x"], "nota": [1], "worker": ["w"]})
        (item,) = stream_items(frame, columns="score=nota,fluency=absent")
        assert item.extra == {"worker": "w"}

    def test_raises_what_was_wrong_after_the_last_good_item(self, tmp_path):
        path = lines(
            tmp_path, [CANONICAL, [1], CANONICAL | {"response": 1.5}, CANONICAL | {"response": {}}]
        )
        stream = stream_items(path)
        assert [next(stream).response, next(stream).response] == ["Resumen.", "1.5"]
        assert stream.place == 3
        with pytest.raises(DataError) as caught:
            next(stream)
        assert [problem.where for problem in caught.value.problems] == ["a.jsonl:2", "a.jsonl:4"]
        assert stream.notes == [
            "response: not a text in 1 row (first at a.jsonl:3), read as spelled there."
        ]

    @pytest.mark.no_cover
    @pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
    def test_memory_does_not_grow_with_the_file(self, tmp_path, name):
        def peak(n):
            rows = [{"source": f"s{i}" * 50, "response": f"r{i}" * 50} for i in range(n)]
            path = lines(tmp_path, rows, name)
            if name.endswith("csv"):
                pd.DataFrame(rows).to_csv(path, index=False)
            del rows
            tracemalloc.start()
            count = sum(1 for _ in stream_items(path))
            _, top = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert count == n
            return top

        assert peak(5_000) < 1.5 * peak(1_000)


@pytest.mark.parametrize("name", ROWS)
def test_every_real_set_loads_whole(data_folder, name):
    path = data_folder / f"{name}.jsonl.gz"
    data = read_items(path)
    assert len(data) == ROWS[name]
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    assert [item.system_id for item in data] == [row["system_id"] for row in rows]
    assert [dict(item.human) for item in data] == [
        {name: tuple(said) for name, said in row["human"].items()} for row in rows
    ]


def test_oddities_of_real_sets_are_noted(data_folder):
    assert read_items(data_folder / "pandalm.jsonl.gz").notes == (
        "response: not a text in 6 rows (first at pandalm.jsonl.gz:315), read as spelled there.",
    )
    assert read_items(data_folder / "simpeval_past.jsonl.gz").notes == (
        "response: missing in 1 row (first at simpeval_past.jsonl.gz:1616), read as an empty text.",
    )


@pytest.mark.parametrize(
    ("name", "content", "field"),
    [
        ("a.jsonl.gz", b'{"response": "' + b"x" * 3000 + b'"}', "line"),
        ("a.csv.gz", b'response\n"' + b"x\n" * 1500, "row"),
        ("a.json.gz", b"[" + b"1,\n" * 1000, "document"),
    ],
)
def test_a_row_of_a_compressed_file_has_a_bounded_length(
    tmp_path, monkeypatch, name, content, field
):
    monkeypatch.setattr("judgesmith.data.formats.text.LONGEST_LINE", 2000)
    place = tmp_path / name
    place.write_bytes(gzip.compress(content))
    with pytest.raises(DataError, match="in a compressed file") as caught:
        read_items(place)
    assert caught.value.problems[0].field == field


def test_rows_that_do_not_fit_into_memory_are_a_message(tmp_path, monkeypatch):
    place = tmp_path / "a.jsonl"
    place.write_text("{}\n")

    def full(*_):
        raise MemoryError

    monkeypatch.setattr("judgesmith.data.formats.text.json.loads", full)
    with pytest.raises(DataError, match="rows that fit into memory"):
        read_items(place)


# columns

NOTHING = ColumnMap()


def found(columns, given=NOTHING, **how):
    return recognised(columns, given, where="a.csv", **how)


def message_columns(columns, given=NOTHING, **how):
    with pytest.raises(DataError) as caught:
        found(columns, given, **how)
    return str(caught.value).partition("\n")[2].strip()


def test_a_map_is_read_from_text_and_writes_itself():
    said = ColumnMap.parse("source=article, response=summary,score=r1+r2,fluency=f,system_id=")
    assert said.fields == {"source": ("article",), "response": ("summary",), "system_id": ()}
    assert said.criteria == {"overall": ("r1", "r2"), "fluency": ("f",)}
    text = "source=article,references=r1+r2,overall=a+b"
    assert str(ColumnMap.parse(text)) == text
    assert ColumnMap.parse(text) == column_map(text) == column_map(column_map(text))


def test_fields_in_a_map_have_the_names_that_columns_are_recognised_by(tmp_path):
    place = tmp_path / "flat.csv"
    place.write_text("T,S,Bot,Wit,N\nQ?,A.,m,3,7\n", encoding="utf-8")
    columns = "article=T,Summary=S,system=Bot,doc-id=N,wit=Wit"
    data = judgesmith.read(place, columns=columns, scale="1..5")
    (item,) = data
    assert (item.source, item.response) == ("Q?", "A.")
    assert (item.system_id, item.source_id) == ("m", "7")
    assert item.human == {"wit": (3.0,)}


odd_names = st.text(st.sampled_from('ab ,+="\\\n\u3000'), max_size=6) | st.text(max_size=6)
columns_of_fields = st.fixed_dictionaries(
    {}, optional={"source": st.lists(odd_names, max_size=1), "references": st.lists(odd_names)}
)
names_of_fields = {"score", *(one for names in KNOWN_NAMES.values() for one in names)}
columns_of_criteria = st.dictionaries(
    odd_names.filter(lambda name: plain_name(name) not in names_of_fields),
    st.lists(odd_names, min_size=1),
)


@pytest.mark.no_cover
@given_any(columns_of_fields, columns_of_criteria)
def test_any_map_comes_back_from_its_text(fields, criteria):
    said = column_map({**fields, **criteria})
    if said.columns or fields or criteria:
        assert ColumnMap.parse(str(said)) == said


def test_names_with_commas_and_plus_signs_stand_in_double_quotes():
    said = ColumnMap.parse('source="texto, original", score="nota (1+2)" + "a ""b"" c"+x=1')
    assert said.fields == {"source": ("texto, original",)}
    assert said.criteria == {"overall": ("nota (1+2)", 'a "b" c', "x=1")}
    assert str(said) == 'source="texto, original",overall="nota (1+2)"+"a ""b"" c"+x=1'


@pytest.mark.parametrize(
    ("column", "said"),
    [("nota (1+2)", "score=nota (1+2)"), ("nota (1+2)", "score=nota 1+2"), ("a,b", 'score="a,c"')],
)
def test_a_column_that_needs_quotes_is_suggested_in_them(column, said):
    problem = message_columns(["response", column], ColumnMap.parse(said))
    advice = (
        f"; did you mean {column!r}? Write it in double quotes, and the map in single ones for "
        f"the shell: 'overall=\"{column}\"'"
    )
    assert problem.splitlines()[0].endswith(advice)


@for_each(
    ("text", "expected"),
    [
        (
            "response=a,texto original",
            "a column map is written NAME=COLUMN,…, as in response=summary,score=rating; "
            "got 'texto original'; give names that hold a comma or + in double quotes.",
        ),
        (
            'response="a',
            "a name in double quotes ends with one, and a quote inside it is doubled; got '\"a'.",
        ),
        (
            'response="a"b,score=c',
            "a name in double quotes ends with one, and a quote inside it is doubled; "
            "got '\"a\"b,score=c'.",
        ),
        (
            "summary",
            "a column map is written NAME=COLUMN,…, as in response=summary,score=rating; "
            "got 'summary'.",
        ),
        ("source=a,article=b", "the column map says twice where 'source' is; keep one of the two."),
        ("source=a,source=b", "the column map says twice where 'source' is; keep one of the two."),
        (
            "score=a,overall=b",
            "the column map says twice where 'overall' is; keep one of the two.",
        ),
        (
            "response=a+b",
            "response is read from one column; got ['a', 'b']; give a column with + in its name in "
            'double quotes, as in response="a+b".',
        ),
        (
            "fluency=",
            "the column map names no column for the criterion 'fluency'; write fluency=COLUMN.",
        ),
    ],
)
def test_a_map_that_cannot_be_read_says_why(text, expected):
    with pytest.raises(ValueError) as caught:
        ColumnMap.parse(text)
    assert str(caught.value) == expected


@for_each(
    "name", ["response", "output", "summary", "answer", "text", "system_output", "prediction"]
)
@for_each("source", ["source", "input", "document", "article", "prompt", "question"])
def test_common_names_are_recognised(name, source):
    assert found([source, name])[0].fields == {"source": (source,), "response": (name,)}


def test_what_was_assumed_is_said():
    _, notes = found(["Article", "output", "rating", "model", "context"])
    assert notes == [
        "assumed columns: source is 'Article', response is 'output', system_id is 'model', "
        "overall is 'rating'."
    ]


def test_columns_that_might_have_been_meant_are_named():
    assert found(["resumen", "texto", "nota"], ColumnMap.parse("response=resumen"))[1] == [
        "no column was recognised as source or score; not read: texto, nota "
        "(say --map source=COLUMN or --map score=COLUMN if one of them is)."
    ]
    assert found(["source", "response", "x"], with_ratings=False)[1] == []
    assert found(["response", "score"])[1] == ["assumed columns: overall is 'score'."]


def test_two_candidates_are_an_error_that_a_map_settles():
    assert message_columns(["text", "summary", "score"]) == (
        "a.csv: response: expected one column for it (say --map response=text, or another); "
        "got 2 candidates: text, summary"
    )
    assert message_columns(["response", "score", "label"]) == (
        "a.csv: score: expected one column for it (say --map score=score, or another); "
        "got 2 candidates: score, label"
    )
    said, _ = found(["text", "summary"], ColumnMap.parse("source=text"))
    assert said.fields == {"source": ("text",), "response": ("summary",)}


def test_the_canonical_id_wins_over_its_synonyms():
    assert found(["response", "id", "source_id"])[0].fields["source_id"] == ("source_id",)
    assert "2 candidates: id, doc_id" in message_columns(["response", "id", "doc_id"])


def test_in_canonical_rows_other_names_are_no_candidates():
    columns = ["source", "article", "response", "text", "score", "human"]
    said, notes = found(columns, canonical=True)
    assert said.fields == {"source": ("source",), "response": ("response",)}
    assert (said.criteria, notes) == ({}, [])


def test_a_set_without_a_response_names_its_columns():
    assert message_columns(["articulo", "resumen"]) == (
        "a.csv: response: expected a column with the text to judge (say --map response=COLUMN); "
        "got the columns articulo, resumen"
    )


def test_a_mapped_column_that_is_not_there_suggests_a_near_one():
    given = ColumnMap.parse("response=resumenes")
    assert message_columns(["articulo", "resumen"], given) == (
        "a.csv: --map: expected one of the columns articulo, resumen; "
        "got 'resumenes'; did you mean 'resumen'?"
    )


# problems


def problem(line):
    return Problem(where=f"a.csv:{line}", field="score", expected="a number", came="'x'")


def test_the_message_shows_twenty_problems_and_counts_the_rest():
    lines = str(DataError([problem(n) for n in range(1, 24)])).splitlines()
    assert lines[0] == "23 problems in the data:"
    assert lines[20] == "  a.csv:20: score: expected a number; got 'x'"
    assert lines[21:] == ["  … and 3 more"]


def test_the_error_survives_copies_and_processes():
    error = DataError([problem(1), problem(2)])
    assert copy.copy(error).problems == error.problems
    assert str(pickle.loads(pickle.dumps(error))) == str(error)

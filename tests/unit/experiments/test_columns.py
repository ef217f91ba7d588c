import pytest
from hypothesis import given as given_any
from hypothesis import strategies as st

import judgesmith
from judgesmith.data.columns import KNOWN_NAMES, ColumnMap, column_map, recognised
from judgesmith.data.problems import DataError

NOTHING = ColumnMap()


def found(columns, given=NOTHING, **how):
    return recognised(columns, given, where="a.csv", **how)


def message(columns, given=NOTHING, **how):
    with pytest.raises(DataError) as caught:
        found(columns, given, **how)
    return str(caught.value).partition("\n")[2].strip()


def test_a_map_is_read_from_text():
    said = ColumnMap.parse("source=article, response=summary,score=r1+r2,fluency=f,system_id=")
    assert said.fields == {"source": ("article",), "response": ("summary",), "system_id": ()}
    assert said.criteria == {"overall": ("r1", "r2"), "fluency": ("f",)}


def test_fields_in_a_map_have_the_names_that_columns_are_recognised_by(tmp_path):
    place = tmp_path / "flat.csv"
    place.write_text("T,S,Bot,Wit,N\nQ?,A.,m,3,7\n", encoding="utf-8")
    columns = "article=T,Summary=S,system=Bot,doc-id=N,wit=Wit"
    data = judgesmith.read(place, columns=columns, scale="1..5")
    (item,) = data
    assert (item.source, item.response) == ("Q?", "A.")
    assert (item.system_id, item.source_id) == ("m", "7")
    assert item.human == {"wit": (3.0,)}


def test_a_map_writes_itself_as_it_is_read():
    text = "source=article,references=r1+r2,overall=a+b"
    assert str(ColumnMap.parse(text)) == text
    assert ColumnMap.parse(text) == column_map(text) == column_map(column_map(text))


def test_a_mapping_may_name_columns_that_text_cannot():
    said = column_map({"source": "a,b", "score": ["x=1", "y+z"]})
    assert said.columns == ("a,b", "x=1", "y+z")


odd_names = st.text(st.sampled_from('ab ,+="\\\n\u3000'), max_size=6) | st.text(max_size=6)
columns_of_fields = st.fixed_dictionaries(
    {}, optional={"source": st.lists(odd_names, max_size=1), "references": st.lists(odd_names)}
)
columns_of_criteria = st.dictionaries(
    odd_names.filter(lambda name: name not in KNOWN_NAMES and name != "score"),
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
    problem = message(["response", column], ColumnMap.parse(said))
    advice = (
        f"; did you mean {column!r}? Write it in double quotes, and the map in single ones for "
        f"the shell: 'overall=\"{column}\"'"
    )
    assert problem.splitlines()[0].endswith(advice)


def test_a_name_that_was_taken_apart_is_reported_once():
    problem = message(["response", "nota (1+2)"], ColumnMap.parse("score=nota (1+2)"))
    assert len(problem.splitlines()) == 1


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    "name", ["response", "output", "summary", "answer", "text", "system_output", "prediction"]
)
@pytest.mark.parametrize("source", ["source", "input", "document", "article", "prompt", "question"])
def test_common_names_are_recognised(name, source):
    assert found([source, name])[0].fields == {"source": (source,), "response": (name,)}


@pytest.mark.parametrize("score", ["score", "rating", "label", "human_score", "Human Score"])
@pytest.mark.parametrize("system", ["system", "model", "system_id"])
@pytest.mark.parametrize("group", ["doc_id", "id", "source_id"])
def test_common_names_of_scores_and_ids_are_recognised(score, system, group):
    said, _ = found(["response", score, system, group, "references", "context"])
    assert said.criteria == {"overall": (score,)}
    assert said.fields["system_id"] == (system,)
    assert said.fields["source_id"] == (group,)


def test_what_was_assumed_is_said():
    _, notes = found(["Article", "output", "rating", "model", "context"])
    assert notes == [
        "assumed columns: source is 'Article', response is 'output', system_id is 'model', "
        "overall is 'rating'."
    ]


def test_own_names_are_no_assumption():
    assert found(["source", "response", "context", "source_id"])[1] == []


def test_columns_that_might_have_been_meant_are_named():
    assert found(["resumen", "texto", "nota"], ColumnMap.parse("response=resumen"))[1] == [
        "no column was recognised as source or score; not read: texto, nota "
        "(say --map source=COLUMN or --map score=COLUMN if one of them is)."
    ]
    assert found(["source", "response", "x"], with_ratings=False)[1] == []
    assert found(["response", "score"])[1] == ["assumed columns: overall is 'score'."]


def test_a_field_that_is_left_out_on_purpose_is_not_missed():
    assert found(["response", "score", "x"], ColumnMap.parse("source="))[1] == [
        "assumed columns: overall is 'score'."
    ]


def test_two_candidates_are_an_error_that_names_both():
    assert message(["text", "summary", "score"]) == (
        "a.csv: response: expected one column for it (say --map response=text, or another); "
        "got 2 candidates: text, summary"
    )
    assert message(["response", "score", "label"]) == (
        "a.csv: score: expected one column for it (say --map score=score, or another); "
        "got 2 candidates: score, label"
    )


def test_a_map_settles_what_is_ambiguous():
    said, _ = found(["text", "summary"], ColumnMap.parse("source=text"))
    assert said.fields == {"source": ("text",), "response": ("summary",)}


def test_an_empty_assignment_leaves_a_field_out():
    said, _ = found(["response", "id"], ColumnMap.parse("source_id="))
    assert said.fields["source_id"] == ()


def test_the_canonical_id_wins_over_its_synonyms():
    assert found(["response", "id", "source_id"])[0].fields["source_id"] == ("source_id",)
    assert "2 candidates: id, doc_id" in message(["response", "id", "doc_id"])


def test_in_canonical_rows_other_names_are_no_candidates():
    columns = ["source", "article", "response", "text", "score", "human"]
    said, notes = found(columns, canonical=True)
    assert said.fields == {"source": ("source",), "response": ("response",)}
    assert (said.criteria, notes) == ({}, [])


def test_scores_are_left_alone_when_nobody_wants_ratings():
    said, _ = found(["response", "score", "rating"], with_ratings=False)
    assert said.criteria == {}


def test_a_set_without_a_response_names_its_columns():
    assert message(["articulo", "resumen"]) == (
        "a.csv: response: expected a column with the text to judge (say --map response=COLUMN); "
        "got the columns articulo, resumen"
    )


def test_a_mapped_column_that_is_not_there_suggests_a_near_one():
    given = ColumnMap.parse("response=resumenes")
    assert message(["articulo", "resumen"], given) == (
        "a.csv: --map: expected one of the columns articulo, resumen; "
        "got 'resumenes'; did you mean 'resumen'?"
    )

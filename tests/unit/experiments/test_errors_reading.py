import json

import pytest

from judgesmith.data import DataSet
from judgesmith.data.problems import DataError
from judgesmith.experiments.evaluate.errors.reading import read_errors
from judgesmith.signatures import RatedItem

ITEMS = tuple(
    RatedItem(source_id=str(n), system_id="m", source="s", response=f"Text {n} is wrong.")
    for n in range(3)
)
DATA = DataSet(name="toy", items=ITEMS)


def row(n, *errors, **fields):
    return {
        "source_id": str(n),
        "system_id": "m",
        "score": 50.0,
        "problem": None,
        "errors": list(errors),
    } | fields


@pytest.fixture
def reading(tmp_path):
    def read(*rows, **options):
        path = tmp_path / "scores.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in rows))
        return read_errors(path, DATA, **options)

    return read


def test_errors_stand_beside_their_texts_in_the_order_of_the_set(reading):
    error = {"text": "wrong", "start": 10, "end": 15, "severity": 4, "explanation": "It is right."}
    notes = [{"kind": "contradiction", "about": "overall", "text": "So it is."}, "odd"]
    found = reading(row(2, error, notes=notes), row(0), row("elsewhere"))
    assert [text.item.source_id for text in found.texts] == ["0", "1", "2"]
    assert found.texts[0].errors == ()
    assert found.texts[2].errors[0].severity == 4
    assert found.texts[2].notes == ("So it is.",)
    assert (found.label, found.n_unused) == ("scores.jsonl", 1)


def test_a_text_without_an_answer_has_no_errors_rather_than_none(reading):
    left = {"text": "wrong"}
    found = reading(row(0, score=None, problem="cut off"), row(2, left, score=None, problem="?"))
    assert [text.errors is None for text in found.texts] == [True, True, False]
    assert found.texts[0].problem == "cut off"
    assert found.texts[1].problem == "there is no score for this row in the file"
    assert found.n_unscored == 2


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"errors": None}, "errors: expected a list of errors, as score writes it; got nothing"),
        ({"errors": ["x"]}, "errors[0]: expected an error with a text"),
        ({"errors": [{"text": "x", "severity": float("nan")}]}, "errors[0]: expected an error"),
        ({"errors": [{"text": "x", "start": 0, "end": 99}]}, "0 <= start <= end <= 16"),
        ({"errors": [{"text": "x", "start": 3}]}, "got 3 to nothing"),
        ({"score": "high"}, "score: expected a number, or null with a problem"),
        ({"errors": 3}, "errors: expected a list of errors, as score writes it; got 3"),
        ({"source_id": "z"}, "expected ids that occur in toy"),
    ],
)
def test_what_cannot_be_read_is_told(reading, fields, said):
    with pytest.raises(DataError) as caught:
        reading(row(0, **fields))
    assert said in str(caught.value)


def test_that_no_row_has_errors_is_told_once(reading):
    rows = row(0), row(1)
    for one in rows:
        del one["errors"]
    with pytest.raises(DataError, match="1 problem in the data"):
        reading(*rows)


def test_one_of_several_judges_is_named(reading):
    rows = row(0, judge="a"), row(0, {"text": "x"}, judge="b")
    assert reading(*rows, judge="b").texts[0].errors[0].text == "x"
    with pytest.raises(DataError, match="one of a, b"):
        reading(*rows)


def panel_row(n, **annotations):
    merged = [{"text": "Text", "start": 0, "end": 4, "severity": 2, "criterion": "clear"}]
    return row(n, *merged, support=[sorted(annotations)], annotations=annotations) | {
        "members": dict.fromkeys(annotations, 40),
        "explanation": "The panel's own words.",
    }


def test_of_a_panel_it_is_told_who_found_an_error(reading):
    found = reading(panel_row(0, a=[], b=[]), row(1, {"text": "x"}, support="odd"))
    assert list(found.texts[0].finders.values()) == [("a", "b")]
    assert found.texts[1].finders == {}


def test_a_member_of_a_panel_can_be_read_instead_of_the_panel(reading):
    own = {"text": "wrong", "start": 10, "end": 15}
    rows = panel_row(0, a=[own], b=[]), panel_row(1, b=[own])
    found = reading(*rows, member="a")
    assert found.label == "a of scores.jsonl"
    assert [error.text for error in found.texts[0].errors] == ["wrong"]
    assert (found.texts[0].score, found.texts[0].explanation) == (40, "")
    assert (found.texts[1].errors, found.texts[1].problem) == (None, "a was not asked")
    with pytest.raises(DataError, match="one of a, b; got 'c'"):
        reading(*rows, member="c")
    with pytest.raises(DataError, match="rows of a panel of judges with errors"):
        reading(row(0), member="a")

import pytest

from judgesmith.data import DataSet
from judgesmith.data.problems import DataError
from judgesmith.experiments.evaluate.errors.gold import changed_texts, gold_kind, marked_errors
from judgesmith.signatures import RatedItem


def data(*items):
    return DataSet(name="toy", items=items)


def marked(errors):
    return data(RatedItem(response="a b c", extra={"errors": errors}))


def version(text, edits, **fields):
    said = {"perturbation": "negation", "level": "word", "original": "m", "edits": edits}
    return RatedItem(source_id="1", system_id="v", response=text, extra=said | fields)


ORIGINAL = RatedItem(source_id="1", system_id="m", response="A day.")


def test_edits_go_before_errors_and_rows_may_state_neither():
    assert gold_kind(data(ORIGINAL, version("a day.", [[0, 1, "a"]]))) == "edits"
    assert gold_kind(marked([])) == "errors"
    assert gold_kind(data(ORIGINAL)) is None


def test_a_version_whose_edits_are_not_there_or_not_its_own_is_left_out():
    right, none, wrong, beyond = (
        version("No day.", [[0, 1, "No"]]),
        version("No day.", []),
        version("No day.", [[0, 1, "The"]]),
        version("No day.", [[0, 99, "No"]]),
    )
    (kind,), _ = changed_texts(data(ORIGINAL, right, none, wrong, beyond))
    assert [one.places for one in kind.texts] == [((0, 2),)]
    assert sorted(kind.left_out.values()) == [1, 2]


def test_an_omission_has_an_empty_place():
    (kind,), _ = changed_texts(data(ORIGINAL, version("A.", [[1, 5, ""]])))
    assert kind.texts[0].places == ((1, 1),)


def test_of_a_changed_letter_the_word_is_wrong():
    typo = version("A dya.", [[3, 5, "ya"]], perturbation="character_typos", level="character")
    (kind,), _ = changed_texts(data(ORIGINAL, typo))
    assert kind.texts[0].places == ((2, 5),)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("major", "an object with severity"),
        ({"severity": "awful"}, "a word from neutral to critical"),
        ({"severity": True}, "a word from neutral to critical"),
        ({"start": 0}, "0 <= start <= end <= 5"),
        ({"start": 0, "end": 6}, "0 <= start <= end <= 5"),
        ({"start": "0", "end": "1"}, "0 <= start <= end <= 5"),
    ],
)
def test_a_marked_error_that_cannot_be_read_is_told_with_its_row(error, said):
    with pytest.raises(DataError) as caught:
        marked_errors(marked([{}, error]))
    assert "toy, row 1: errors[1]: expected" in str(caught.value)
    assert said in str(caught.value)


def test_severities_and_places_may_be_missing():
    (found,) = marked_errors(marked([{}, {"severity": "Critical", "start": None, "end": None}]))
    assert [error.severity for error in found] == [None, 5.0]


@pytest.mark.parametrize("edits", [[[-5, 9, "x"]], [{"foo": 1}], [[4, 1, "x"]], ["odd"]])
def test_edits_that_cannot_be_read_are_told_with_their_row(edits):
    broken = data(ORIGINAL, version("No day.", edits))
    assert gold_kind(broken) == "edits"
    with pytest.raises(DataError, match=r"toy, row 2: edits: expected \[start, end, text\] each"):
        changed_texts(broken)

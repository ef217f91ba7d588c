import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.families.ensemble.merging import Entry, entries_in

TEN = Entry(numbers=(1, 3), location='"at ten"', severity="4", explanation="It was nine.")


@pytest.mark.parametrize(
    "answer",
    [
        'Annotations: 1, 3|Location: "at ten"|Severity: 4|Explanation: It was nine.',
        '**Annotations:** 1, 3|**Location:** "at ten"|**Severity:** 4|**Why:** It was nine.',
        'Error 1:|- Annotations: [1, 3]|- Span: "at ten"|- Severity: 4|- Reason: It was nine.',
        '### Entry 1||Merges: 1 and 3||Location: "at ten"||Severity: 4||Why: It was nine.|---',
        '1. Annotations: 1, 3|   Quote: "at ten"|   Explanation: It was|nine.|   Severity: 4',
        'LOCATION： "at ten"|numbers： 1-1, 3|severity： 4|reason： It was nine.',
        'Sure:|```json|[{"annotations": [1, 3], "location": "\\"at ten\\"", "severity": 4, '
        '"explanation": "It was nine."}]|```|Bye.',
        'Here: {"errors": [{"Annotations": "1, 3", "Span": "\\"at ten\\"", "Severity": "4", '
        '"Why": "It was nine."}]}',
        'My list.||Annotations: 1, 3|Location:|"at ten"|Severity: 4|Explanation: It was nine.',
    ],
)
def test_a_list_is_read_however_it_is_dressed(answer):
    (found,) = entries_in(answer.replace("|", "\n"))
    assert found.numbers == TEN.numbers
    assert (found.location, found.severity) == (TEN.location, TEN.severity)
    assert found.explanation.replace("\n", " ") == TEN.explanation


def test_an_entry_begins_where_a_line_comes_again():
    found = entries_in("Annotations: 1\nLocation: a\nAnnotations: 2\nLocation: b\n\nLocation: c")
    assert [(one.numbers, one.location) for one in found] == [((1,), "a"), ((2,), "b"), ((), "c")]


@pytest.mark.parametrize("answer", ["No errors.", "**None**", "There are no issues left."])
def test_an_empty_list_is_a_list(answer):
    assert entries_in(answer) == ()


@pytest.mark.parametrize("answer", ["", "It is fine.", "Severity: 4", '[{"x": "at ten"}]'])
def test_what_is_no_list_is_refused(answer):
    with pytest.raises(ValueError, match="no entry"):
        entries_in(answer)


def test_a_fence_around_the_list_is_no_part_of_an_explanation():
    answer = "```text\nAnnotations: 1\nLocation: ten\nExplanation: It was nine.\n```"
    assert [one.explanation for one in entries_in(answer)] == ["It was nine."]


def test_numbers_that_mean_nothing_are_passed_over():
    (found,) = entries_in("Annotations: 2-4, 1-99999, 123456, 0-9999, x\nLocation: a")
    assert set(found.numbers) == {1, 2, 3, 4}


@given(st.text(st.sampled_from("Annotaios: 1,\n-*#LcExplSevrity()."), max_size=200))
def test_any_text_is_read_or_refused(answer):
    try:
        found = entries_in(answer)
    except ValueError:
        return
    assert all(one.numbers or one.location for one in found) or not found


@pytest.mark.parametrize("piece", ["Location: a\n", "* ", "Annotations: 1\n", "(1) ", "Error 1:\n"])
def test_a_huge_answer_is_read_at_once(piece):
    assert len(_read(piece * 100_000)) <= 1000


def _read(answer):
    try:
        return entries_in(answer)
    except ValueError:
        return ()

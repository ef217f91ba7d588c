"""Answers that end on a marked result are read from their end, or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.families.forms.published import read_chosen, read_scored
from judgesmith.signatures.scale import Scale

FIVE = Scale(low=1, high=5)


@pytest.mark.parametrize(
    ("answer", "words", "score"),
    [
        ("Feedback: Fine. [RESULT] 4", "Fine.", 4),
        ("###Feedback: Fine.\n[RESULT]\n4", "Fine.", 4),
        ("Fine. [RESULT] 4/5", "Fine.", 4),
        ("Fine. [RESULT] **4 out of 5**.", "Fine.", 4),
        ("Fine. [result] (4)", "Fine.", 4),
        ("Fine. [ RESULT ] Score: 4</s>", "Fine.", 4),
        ("Fine. [RESULT] 4.0<|im_end|>\n", "Fine.", 4),
        ("[RESULT] 1", "", 1),
        ("Sehr gut, aber knapp. [RESULT] ４", "Sehr gut, aber knapp.", 4),
        ("It claims '[RESULT] 5' of itself. [RESULT] 2", "It claims '[RESULT] 5' of itself.", 2),
        ("[RESULT] 5? No. [RESULT] 2", "[RESULT] 5? No.", 2),
        ("It has 5 of 5 facts. [RESULT] 3", "It has 5 of 5 facts.", 3),
        ("Half: \ud800 [RESULT] 3", "Half: \ufffd", 3),
        ('{"feedback": "Fine.", "score": 4}', "Fine.", 4),
    ],
)
def test_the_last_marker_decides(answer, words, score):
    assert read_scored(answer, FIVE) == (words, score)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("", r"there is no \[RESULT\]"),
        ("Fine. 4", r"there is no \[RESULT\]"),
        ('{"feedback": "Fine.", "grade": 4}', r"there is no \[RESULT\]"),
        ('{"feedback": "Fine.", "score": 6}', "the model answered 6, outside 1..5"),
        ("Fine. RESULT: 4", r"there is no \[RESULT\]"),
        ("Fine. [RESULT]", "got ''"),
        ("Fine. [RESULT] ", "got ''"),
        ("Fine. [RESULT] 4.5", "got '4.5'"),
        ("Fine. [RESULT] four", "got 'four'"),
        ("Gut. [RESULT] vier", "got 'vier'"),
        ("Fine. [RESULT] A", "got 'A'"),
        ("Fine. [RESULT] 4/10", "got '4/10'"),
        ("Fine. [RESULT] 4 or 5", "got '4 or 5'"),
        ("Fine. [RESULT] 4-5", "got '4-5'"),
        ("Fine. [RESULT] 0", "the model answered 0, outside 1..5"),
        ("Fine. [RESULT] 6", "the model answered 6, outside 1..5"),
        ("Fine. [RESULT] -1", "the model answered -1, outside 1..5"),
        ("Fine. [RESULT] 99999", "the model answered 99999, outside 1..5"),
        ("Fine. [RESULT] nan", "got 'nan'"),
        ("Fine. [RESULT] [4", None),
        ('Fine. [RESULT] {"score": 4}', "expected a whole number"),
        ("It says '[RESULT] 5' of itself, which", "expected a whole number"),
        ("Good. [RESULT] 2\n\n###Response to evaluate:\nx\n\n[RESULT] 5", "another question"),
        ("Good. [RESULT] 2\n\nOh, and it is short.", "expected a whole number"),
    ],
)
def test_what_ends_on_no_whole_number_on_the_scale_is_refused_with_the_reason(answer, said):
    if said is None:
        assert read_scored(answer, FIVE)[1] == 4
        return
    with pytest.raises(ValueError, match=said):
        read_scored(answer, FIVE)


@pytest.mark.parametrize(
    ("answer", "better"),
    [
        ("Feedback: A is short. [RESULT] A", "A"),
        ("[RESULT] b.", "B"),
        ("'[RESULT] A' is what B says. [RESULT] Response B", "B"),
    ],
)
def test_a_choice_is_read_from_the_end(answer, better):
    assert read_chosen(answer, ("A", "B"))[1] == better


@pytest.mark.parametrize("end", ["", "C", "A or B", "both", "tie", "1", "AB"])
def test_what_names_neither_is_refused(end):
    with pytest.raises(ValueError, match=r"expected A or B after \[RESULT\]"):
        read_chosen(f"Close. [RESULT] {end}", ("A", "B"))


@pytest.mark.no_cover
@given(st.text(), st.integers(1, 5))
def test_whatever_is_quoted_before_it_the_last_result_counts(words, score):
    try:
        assert read_scored(f"Feedback: {words}\n[RESULT] {score}", FIVE)[1] == score
    except ValueError as fault:
        assert "another question" in str(fault)  # noqa: PT017


@given(st.text("[RESULT] 12345</s>#\n*", max_size=60))
def test_any_answer_has_a_score_on_the_scale_or_a_reason(answer):
    try:
        assert read_scored(answer, FIVE)[1] in range(1, 6)
    except ValueError as fault:
        assert str(fault)  # noqa: PT017


def test_a_long_answer_is_read_in_no_time():
    with pytest.raises(ValueError, match="no \\[RESULT\\]"):
        read_scored("[ " * 200_000 + "#" * 200_000 + " " * 200_000, FIVE)

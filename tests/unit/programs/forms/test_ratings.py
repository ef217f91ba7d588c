"""Answers that end on a rating, as Themis and Auto-J give it, are read from their end or not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.families.forms import SINGLE, THEMIS


def answer_of(score, words):
    return {"explanation": words, "score": score}


@pytest.mark.parametrize(
    ("answer", "words", "score"),
    [
        ("Two facts are missing.\nRating: 3", "Two facts are missing.", 3),
        ("Fine.\n\nRating:4\n", "Fine.", 4),
        ("Fine.\n**Rating:** 4/5.", "Fine.", 4),
        ("Fine.\n**Rating**: **4 out of 5**", "Fine.", 4),
        ("Rating: 1", "", 1),
        ("Rating: 5 is what it claims.\nRating: 2", "Rating: 5 is what it claims.", 2),
        ("A rating: 5 would be too much.\nRating: 3</s>", "A rating: 5 would be too much.", 3),
        ("Gut.\nRating： ４", "Gut.", 4),
        ("Half: \ud800\nRating: 3<|eot_id|>", "Half: \ufffd", 3),
        ('{"Analysis": "Fine.", "Rating": 4}', "Fine.", 4),
    ],
)
def test_the_last_line_of_themis_is_the_rating(answer, words, score):
    assert THEMIS.read(answer) == answer_of(score, words)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("", "there is no Rating:"),
        ("Fine. 4", "there is no Rating:"),
        ("I would give it a rating: 4", "there is no Rating:"),
        ("Fine.\nRating:", "got ''"),
        ("Fine.\nRating: 4.5", "got '4.5'"),
        ("Fine.\nRating: good", "got 'good'"),
        ("Fine.\nRating: 4 or 5", "got '4 or 5'"),
        ("Fine.\nRating: 4/10", "got '4/10'"),
        ("Fine.\nRating: 6", "the model answered 6, outside 1..5"),
        ("Fine.\nRating: 0", "the model answered 0, outside 1..5"),
        ("Fine.\nRating: 4\nIt could be shorter.", "expected a whole number from 1 to 5"),
        ("Fine.\nRating: 4\n\n###Instruction###\nx\nRating: 1", "another question"),
        ('{"Analysis": "Fine.", "Grade": 4}', "there is no Rating:"),
        ('{"Analysis": "Fine.", "Rating": 6}', "the model answered 6, outside 1..5"),
    ],
)
def test_what_is_no_rating_of_themis_is_refused_with_the_reason(answer, said):
    with pytest.raises(ValueError, match=said):
        THEMIS.read(answer)


@pytest.mark.parametrize(
    ("answer", "words", "score"),
    [
        ("It is thin. Rating: [[3]]", "It is thin.", 3),
        ("It is thin.\n\nOverall Rating: [[10]].", "It is thin.", 10),
        ("It is thin. **Rating:** [[ 7 ]]</s>", "It is thin.", 7),
        ("It says Rating: [[10]] of itself. Rating: [[2]]", "It says Rating: [[10]] of itself.", 2),
        ("Rating: [[1]]", "", 1),
        ("Rating: [[8/10]]", "", 8),
    ],
)
def test_auto_j_ends_on_a_rating_in_double_brackets(answer, words, score):
    assert SINGLE.read(answer) == answer_of(score, words)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("", "there is no Rating"),
        ("Thin. Rating: 5", "there is no Rating"),
        ("Thin. [[5]]", "there is no Rating"),
        ("Thin. Rating: [[1", "expected ]] after the number"),
        ("Thin. Rating: [[1]", "expected ]] after the number"),
        ("Thin. Rating: [[5]] or [[6]]", "expected ]] after the number, and nothing more"),
        ("Thin. Rating: [[5]] It could be longer.", "and nothing more"),
        ("Thin. Rating: [[]]", "got ''"),
        ("Thin. Rating: [[rating]]", "got 'rating'"),
        ("Thin. Rating: [[5.5]]", "got '5.5'"),
        ("Thin. Rating: [[11]]", "the model answered 11, outside 1..10"),
        ("Thin. Rating: [[0]]", "the model answered 0, outside 1..10"),
        ("Thin. Rating: [[4]]\n[BEGIN DATA]\n***\n[Query]: x\nRating: [[9]]", "another question"),
        ("The final decision is Response 1", "there is no Rating"),
    ],
)
def test_what_is_no_rating_of_auto_j_is_refused_with_the_reason(answer, said):
    with pytest.raises(ValueError, match=re_escaped(said)):
        SINGLE.read(answer)


def re_escaped(text):
    return text.replace("[", "\\[").replace("]", "\\]")


@pytest.mark.parametrize("form", [THEMIS, SINGLE], ids=lambda form: form.name)
@given(answer=st.text(alphabet="Rating: [12345]\n.x#*", max_size=60))
def test_any_answer_has_a_score_on_the_scale_or_a_reason(form, answer):
    try:
        found = form.read(answer)
    except ValueError as fault:
        assert str(fault)  # noqa: PT017
    else:
        assert form.answers.low <= found["score"] <= form.answers.high


@pytest.mark.parametrize("form", [THEMIS, SINGLE], ids=lambda form: form.name)
def test_a_long_answer_is_read_in_no_time(form):
    with pytest.raises(ValueError, match="no Rating"):
        form.read("rating " * 200_000 + "\n **" * 200_000 + "overall " * 200_000)

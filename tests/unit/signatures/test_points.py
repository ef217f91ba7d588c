"""A score is read as models write it, and never guessed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.signatures.scale import read_points, whole

pytestmark = pytest.mark.no_cover


@pytest.mark.parametrize(
    ("answer", "points"),
    [
        ("85", 85),
        ("85.5", 85.5),
        ("**85**", 85),
        ("85/100", 85),
        (" 85 / 100. ", 85),
        ("85 out of 100", 85),
        ("85%", 85),
        ("+85", 85),
        ("85 points.", 85),
        ("85/100 points", 85),
        ("85 out of 100.", 85),
        ("85 (out of 100)", 85),
        ("**85** / 100", 85),
        ("85.0/100.0", 85),
        ("[85]", 85),
        ("<85>", 85),
        ("**Score**: 85", 85),
        ("**Score:** **85**/100", 85),
        ("Score: 85 out of 100", 85),
        ("Final score: 85", 85),
        ("Score (0-100): 85", 85),
        ("Rating: 85/100", 85),
        ("The overall score is 85.", 85),
        ("Overall: 85", 85),
        (": 85", 85),
        ("85。", 85),
        ("85分", 85),
        ("８５／１００", 85),
        ("85 points", 85),
        ("`85`", 85),
        ('"85"', 85),
        ("Score: 85", 85),
        ("**Overall score:** 85/100", 85),
        ("-3", -3),
        ("100", 100),
        ("0", 0),
        ("85\r\n", 85),
        ("\u2028 85 \u00a0", 85),
        ("٨٥", 85),
        ("８５", 85),
        (85, 85),
        (85.5, 85.5),
    ],
)
def test_one_number_is_read(answer, points):
    assert read_points(answer) == points


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   ",
        "none",
        "4 out of 5",
        "4/5",
        "1e3",
        "85,5",
        "1,000",
        "80-90",
        "80 or 90",
        "85/1000",
        "85 because it is short",
        "between 80 and 85",
        "nan",
        "inf",
        "²",
        "−5",
        "+-5",
        "~85",
        "85/10",
        "85 / 1000",
        "85 out of 10",
        "Score: 80 or 90",
        "Score: 80-90",
        "80/90",
        "80 85",
        "85/100/100",
        "score 1: 85",
        "N/A",
        "八十五",
        "８５．５",
        None,
        True,
        [85],
        {"score": 85},
        10**400,
        "9" * 101,
    ],
)
def test_anything_else_is_refused_with_what_came(answer):
    with pytest.raises(ValueError, match="expected one number from 0 to 100; got"):
        read_points(answer)


def test_the_message_stays_short():
    with pytest.raises(ValueError) as fault:
        read_points("blah " * 10_000)
    assert len(str(fault.value)) < 200


@given(st.floats(-1e15, 1e15).map(lambda value: round(value, 4)))
def test_every_plain_number_is_read_as_itself(number):
    assert read_points(f"{number:.4f}") == number


@given(st.text("0123456789. /-*_`:()[]<>scoreutfpint%", max_size=100))
def test_any_text_is_one_number_or_refused(text):
    try:
        points = read_points(text)
    except ValueError:
        return
    assert math.isfinite(points)
    assert 0 < sum(char.isdigit() for char in text) < 100


@pytest.mark.parametrize(
    "text",
    [
        "score" + " " * 95,
        "score" + " " * 45 + ":" + " " * 45 + "x",
        "85" + " *" * 48 + "x",
        "85 (" + " *" * 47 + "x",
        "(" * 99 + "x",
        "the overall score (0-100)" + "'" * 74,
    ],
)
def test_answers_that_invite_backtracking_are_refused(text):
    with pytest.raises(ValueError):
        read_points(text)


@pytest.mark.parametrize("text", ["score" + " " * 10**6, "85" + " " * 10**6 + "x", "*" * 10**6])
def test_a_long_answer_is_refused(text):
    with pytest.raises(ValueError):
        read_points(text)


def test_a_whole_number_is_written_without_a_fraction():
    assert [str(whole(points)) for points in (85.0, -0.0, 85.5)] == ["85", "0", "85.5"]
    assert math.isnan(whole(math.nan))
    assert whole(math.inf) == math.inf

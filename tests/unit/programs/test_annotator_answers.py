"""What models answer to an annotator's question is read as it is meant, or not at all."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.families.annotator import AnnotatorConfig, annotator_form, pointing_steps
from judgesmith.programs.families.forms.annotators import LEVELS, POINTS, stated_in
from judgesmith.programs.judging.program import ModelReply, answered
from judgesmith.signatures import Judgement
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.scale import percent_of

TABLE = yaml.safe_load(Path(__file__).with_name("annotator_answers.yaml").read_text("utf-8"))
RESPONSE = TABLE["response"]


def judged(answer, answers=LEVELS, response=RESPONSE):
    """Return the judgement of a response by an annotator whose model answers so."""
    protocol = AnnotatorConfig(asks="overall", answers=answers)
    read = annotator_form(protocol, "annotate").read

    def reply(ask):
        try:
            return ModelReply(fields=read(answer))
        except ValueError as fault:
            return ModelReply(cause=Cause(Reason.UNREADABLE, str(fault)))

    steps = pointing_steps(protocol, source="s", response=response)
    return answered(steps, reply)


def shown(error):
    """Return an error as the table writes it."""
    severity = "none" if error.severity is None else f"{error.severity:g}"
    words = "-" if error.located == "missing" else error.text
    return f"{'*' if words == RESPONSE else words} | {error.located} | {severity}"


@pytest.mark.parametrize("row", TABLE["answers"], ids=lambda row: row["name"])
def test_a_realistic_answer_gives_its_errors_and_score_or_says_why_not(row):
    answers = POINTS if row.get("scale") == "points" else LEVELS
    found = judged(row["answer"], answers)
    if "problem" in row:
        assert found.score is None
        assert row["problem"] in found.problem
        return
    assert [shown(one) for one in found.errors] == row["errors"]
    assert found.score == percent_of(row["score"], answers)
    assert {one.kind for one in found.notes} >= set(row.get("notes", ()))
    if "notes" not in row and row["score"] != "Excellent":
        assert {one.kind for one in found.notes} <= {"unread"}
    for one in found.errors:
        assert one.start is None or RESPONSE[one.start : one.end] == one.text
    if "words" in row:
        assert found.explanation == row["words"]
    if row.get("starts") == "apart":
        assert len({one.start for one in found.errors}) == len(found.errors)
        assert all(one.ambiguous for one in found.errors)


def test_there_are_more_than_sixty_of_them_each_called_otherwise():
    names = [row["name"] for row in TABLE["answers"]]
    assert len(set(names)) == len(names) > 60


@pytest.mark.parametrize(
    "answer",
    [
        "1. Location: " + '"a' * 30_000,
        "1. Location: " + "(" * 60_000 + "\nOverall score: Good",
        "**" * 40_000,
        "- " * 40_000 + "Overall",
        "Severity: " * 8_000,
        "1. " + '"a" and ' * 10_000 + "\nOverall score: Fair",
        "{" * 50_000,
        '{"errors": ['
        + '{"location": "a", "severity": 1},' * 3_000
        + '], "overall_score": "Poor"}',
        '{"errors": ["' * 8_000,
        "| a " * 20_000 + "|\n" + "| --- " * 20_000 + "|",
        "Location:\n" * 20_000 + "Overall score: Poor",
        "no " * 30_000,
        "```\n" * 20_000,
        "<think>" * 20_000,
        "a. Explanation: b " * 8_000,
        '1. "a"' + " " * 60_000 + "severity" + " " * 60_000 + ".\nOverall score: Poor",
        "\n" * 60_000 + "Overall score: Poor",
    ],
    ids=range(17),
)
def test_a_huge_answer_is_read(answer):
    found = judged(answer, response="a (b) " * 2_000)
    assert (found.score is None) == (found.problem is not None)
    assert len(found.errors) <= 8


PARTS = st.sampled_from(
    [
        *(
            "Errors:",
            "\n",
            "1. ",
            "- ",
            "Location: ",
            '"Leeds"',
            "Severity: ",
            "4",
            "Explanation: ",
        ),
        *(
            "Overall score: ",
            '{"errors": [',
            '{"location": "Leeds", "severity": 4}',
            '], "overall_score": "Good"}',
            "Good",
            "**",
            "|",
            "{",
            '"',
            "}",
            "No Error",
            "(",
            ")",
            " and ",
            "```",
        ),
        *("Score: ", "<error>", "…", "none", "[", "]", "：", "“", "\ud800", "\u202e", "Fair", "# "),
    ]
)


@given(st.lists(PARTS, max_size=40).map("".join))
def test_any_answer_gives_a_score_or_a_problem_and_errors_that_are_where_they_say(answer):
    found = judged(answer)
    assert (found.score is None) == (found.problem is not None)
    for one in found.errors:
        assert (one.start is None) == (one.located in ("missing", "unresolved"))
        assert one.start is None or RESPONSE[one.start : one.end] == one.text != ""
    assert Judgement.model_validate_json(found.model_dump_json()) == found


def test_words_that_no_later_question_could_hold_are_replaced():
    said = '1. Location: "x\ud800"\n   Severity: 2\nOverall score: Good'
    assert stated_in(said, LEVELS).errors[0].location == '"x\ufffd"'

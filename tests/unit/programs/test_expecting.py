"""What is expected of a judgement, in the words of a failed test."""

import pytest
from exporting import saved_of

from judgesmith.programs.artifacts.differences import Expectation, told
from judgesmith.signatures import Judgement
from judgesmith.signatures.judgement import ErrorSpan

ERROR = ErrorSpan(text="1998", severity=4, explanation="The source says 1989.")


@pytest.mark.parametrize(
    ("wanted", "judgement", "said"),
    [
        ({"at_least": 50}, Judgement(score=50), []),
        ({"at_most": 50}, Judgement(score=51), ["the score is 51, expected 50 or less"]),
        ({"no_errors": True}, Judgement(score=1), []),
        (
            {"no_errors": True},
            Judgement(score=1, errors=(ERROR,)),
            ["the judge points at 1 error: '1998' (The source says 1989.)"],
        ),
        (
            {"criteria": {"wit": 50}},
            Judgement(score=1, criteria={"wit": {"score": 40, "explanation": "Dull."}}),
            ["wit is 40, expected 50 or more (Dull.)"],
        ),
        (
            {"criteria": {"wit": 50}},
            Judgement(score=1, criteria={"wit": {"score": None}}),
            ["wit has no score, expected 50 or more"],
        ),
        (
            {"criteria": {"wit": 50}},
            Judgement(score=1, criteria={"form": {"score": 1}}),
            ["there is no criterion 'wit'; the judge scores: form"],
        ),
        ({"unscored": True, "at_least": 9}, Judgement.unscored("refused"), []),
        ({"at_least": 9}, Judgement.unscored("refused"), ["there is no score: refused"]),
    ],
)
def test_what_falls_short_is_said(wanted, judgement, said):
    assert Expectation(**wanted).shortcomings(judgement) == said


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"at_least": -1}, r"at_least is in points from 0 to 100 here; got -1\."),
        ({"criteria": {"wit": 101}}, r"criteria\['wit'\] is in points from 0 to 100"),
        ({"at_least": "4"}, "at_least is a number; got '4'."),
        ({"at_most": True}, "at_most is a number; got True."),
        ({"at_least": float("nan")}, "here; got nan"),
        ({"at_least": 5, "at_most": 4}, "no score is 5 or more and 4 or less"),
        ({"no_errors": True}, "needs a judge that looks for errors"),
    ],
)
def test_what_no_judgement_could_fulfil_is_refused(wanted, message):
    with pytest.raises(ValueError, match=message):
        Expectation(**wanted).check_against(saved_of("direct", texts=()))


def test_judges_that_look_for_errors_can_be_asked_for_none():
    Expectation(no_errors=True).check_against(saved_of("annotator", texts=()))


def test_long_texts_are_cut_in_messages():
    lines = told("word " * 200, Judgement(score=1, explanation="why " * 200), ["it fell"])
    assert max(map(len, lines.splitlines())) < 330

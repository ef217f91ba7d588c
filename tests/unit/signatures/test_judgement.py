"""A judgement has a score or says why not."""

import json
import math

import pytest

from judgesmith.signatures import CriterionScore, ErrorSpan, Judgement
from judgesmith.signatures.judgement import Assessment


@pytest.mark.parametrize(
    "fields",
    [{"score": None}, {"score": 5, "problem": "it fell"}, {"score": None, "problem": None}],
)
def test_there_is_a_score_or_a_reason_and_not_both(fields):
    with pytest.raises(ValueError, match="either a score or a problem"):
        Judgement(**fields)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_score_is_a_finite_number(number):
    for build in (Judgement, CriterionScore):
        with pytest.raises(ValueError, match="finite"):
            build(score=number)


def test_an_unscored_judgement_keeps_what_is_known():
    criteria = {"fluency": CriterionScore(score=70)}
    found = Judgement.unscored("no answer", explanation="so far", criteria=criteria, calls=("ab",))
    assert (found.score, found.problem, found.criteria) == (None, "no answer", criteria)
    assert (found.explanation, found.calls) == ("so far", ("ab",))


def test_a_judgement_comes_back_from_json():
    found = Judgement(
        score=3.25,
        explanation="as\nit is",
        criteria={"b": CriterionScore(score=None), "a": CriterionScore(score=70.5)},
        errors=[{"text": "wrong", "start": 3, "end": 8}],
        calls=("00ff",),
        raw=70,
    )
    again = Judgement.model_validate_json(found.model_dump_json())
    assert again == found
    assert list(again.criteria) == ["b", "a"]


def test_an_error_says_how_it_was_located_only_where_a_judge_does():
    plain = {"text": "x", "start": 0, "end": 1, "severity": 2.0, "explanation": "why"}
    assert ErrorSpan(**plain).model_dump(mode="json") == plain
    more = {"located": "fuzzy", "ambiguous": True, "criterion": "fluency"}
    assert ErrorSpan(**plain, **more).model_dump(mode="json") == plain | more
    with pytest.raises(ValueError, match="exact"):
        ErrorSpan(text="x", located="somewhere")


class TestAssessment:
    def test_its_score_is_read_as_models_write_it(self):
        one = Assessment(criterion="a", explanation="b", score="**85/100**")
        assert one.score == 85

    def test_a_whole_score_is_shown_as_one(self):
        one = Assessment(criterion="a", explanation="b", score=85.0)
        assert json.loads(one.model_dump_json())["score"] == 85
        assert '"score":85}' in one.model_dump_json()
        assert '"score":85.5}' in one.model_copy(update={"score": 85.5}).model_dump_json()

    @pytest.mark.parametrize("score", ["good", None, True, [1], 10**400, "9" * 400])
    def test_a_score_that_is_no_number_is_refused(self, score):
        with pytest.raises(ValueError, match="expected one number"):
            Assessment(criterion="a", explanation="b", score=score)

    def test_what_else_a_model_adds_is_passed_over(self):
        one = Assessment(criterion="a", explanation="b", score=1, confidence="high")
        assert not hasattr(one, "confidence")

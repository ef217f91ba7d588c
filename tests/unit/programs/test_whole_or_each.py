"""One question about the whole or one for each criterion, and the judgement that they make."""

import pytest
from scripted_steps import scripted

from judgesmith.programs.families.direct import DirectConfig
from judgesmith.programs.judging.program import ModelReply
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.scoring import (
    criteria_text,
    of_criteria,
    of_the_whole,
    place_of,
    score_steps,
    told_inputs,
    whole_or_each,
)
from judgesmith.signatures import Rubric
from judgesmith.signatures.judgement import Cause, CriterionScore, Reason

TWO = Rubric(task="Sum it up.", criteria={"wit": "Funny?", "brevity": "Short?"})
WHOLE = DirectConfig(rubric=TWO)
EACH = DirectConfig(rubric=TWO, asks="criteria")


def played(protocol, *replies):
    """Return the questions that were asked, and the judgement after ``replies``."""
    questions = whole_or_each(protocol, QuestionForm(), whole="all", each="one")
    steps = score_steps(protocol, questions, source="s", response="r")
    judgement, asked = scripted(steps, replies)
    return [one.predictor for one in asked], judgement


def score(points):
    return ModelReply(fields={"score": points})


class TestQuestions:
    @pytest.mark.parametrize("n", [1, 2, 12])
    def test_one_of_each_criterion_is_found_again_by_its_place(self, n):
        rubric = Rubric(criteria={f"c{place}": f"Is it {place}?" for place in range(n)})
        protocol = DirectConfig(rubric=rubric, asks="criteria")
        asked = whole_or_each(protocol, QuestionForm(), whole="follow", each="follow")
        assert [place_of(question) for question in asked] == list(range(n))
        lines = criteria_text(rubric).split("\n")
        assert [told_inputs(protocol, one) for one in asked] == [{"criterion": o} for o in lines]

    def test_the_one_about_the_whole_tells_all_criteria_in_order(self):
        (question,) = whole_or_each(WHOLE, QuestionForm(), whole="follow", each="follow")
        assert question == "follow"
        told = {"task": "Sum it up.", "criteria": "wit: Funny?\nbrevity: Short?"}
        assert list(told_inputs(WHOLE, question).items()) == list(told.items())

    def test_nothing_is_told_of_an_empty_rubric(self):
        empty = DirectConfig(rubric=Rubric(criteria={}))
        assert told_inputs(empty, "whole") == {}


class TestSteps:
    def test_the_whole_is_asked_once(self):
        asked, found = played(WHOLE, score(60))
        assert asked == ["all"]
        assert (found.score, found.raw, found.criteria) == (60, 60, {})

    def test_the_score_of_each_criterion_is_asked_in_order_and_their_mean_taken(self):
        asked, found = played(EACH, score(60), score(90))
        assert asked == ["one_1", "one_2"]
        assert found.score == 75
        assert {name: one.score for name, one in found.criteria.items()} == {
            "wit": 60,
            "brevity": 90,
        }

    def test_a_criterion_without_a_score_leaves_the_whole_without_one_and_the_rest_is_kept(self):
        none = ModelReply(cause=Cause(Reason.UNREADABLE, "no answer"))
        asked, found = played(EACH, none, score(90), none)
        assert asked == ["one_1", "one_2", "one_1"]
        assert found.score is None
        assert found.problem.endswith("of which some have none: wit: no answer")
        assert found.criteria["wit"].explanation == "no score: no answer"
        assert found.criteria["brevity"].score == 90


class TestJudgements:
    def test_words_of_the_whole_are_kept(self):
        found = of_the_whole(CriterionScore(score=40, explanation="It drags."))
        assert (found.score, found.raw, found.explanation) == (40, 40, "It drags.")

    def test_no_score_of_the_whole_is_never_zero(self):
        found = of_the_whole(Cause(Reason.UNREADABLE, "no answer"))
        assert (found.score, found.problem) == (None, "no answer")

    def test_the_first_that_is_missing_is_named_with_what_is_the_matter(self):
        silent = {"wit": "mute", "brevity": "mum"}
        causes = {name: Cause(Reason.UNREADABLE, why) for name, why in silent.items()}
        found = of_criteria(causes, some="lack an answer")
        assert found.score is None
        assert found.problem == (
            "the score is the mean of the criteria, of which some lack an answer: wit: mute"
        )

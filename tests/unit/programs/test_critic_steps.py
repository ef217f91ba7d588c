"""The steps of an Active-Critic judge: never clipped, never guessed, unscored with the reason."""

import pytest
from scripted_steps import scripted

from judgesmith.programs.families.active_critic import assessments_text, critic_steps
from judgesmith.programs.judging.answers import LEFT_OUT
from judgesmith.programs.judging.program import ModelReply
from judgesmith.programs.judging.scoring import criteria_text
from judgesmith.signatures import ActiveCriticConfig, Criterion, CriterionScore, Rubric
from judgesmith.signatures.judgement import Assessment, Cause, Reason

VANILLA = ActiveCriticConfig(variant="vanilla")
EXTRA = Criterion(name="tone", definition="Is it kind?")
UNREAD = ModelReply(cause=Cause(Reason.UNREADABLE, "unreadable"))
TOO_LONG = Cause(Reason.TOO_LONG, "too long")
TEXTS = {"source": "s", "response": "r", "context": None}


@pytest.fixture
def fine(rubric):
    return ActiveCriticConfig(rubric=rubric)


def grade(points, **more):
    return ModelReply(fields={"score": points}, **more)


def assess(*scores, explanation="so", **more):
    names = ("fluency", "Fact_Check", *(f"extra {n}" for n in range(9)))
    records = [
        Assessment(criterion=name, explanation=explanation, score=points)
        for name, points in zip(names, scores, strict=False)
    ]
    return ModelReply(fields={"assessments": records}, **more)


def overall(points, explanation="Because.", **more):
    return ModelReply(fields={"explanation": explanation, "score": points}, **more)


def judged(protocol, *replies, **texts):
    """Return the judgement that replies lead to, and the questions that were asked."""
    steps = critic_steps(protocol, **{**TEXTS, **texts})
    return scripted(steps, replies)


class TestVanilla:
    @pytest.mark.parametrize("points", [0, 55.5, 100])
    def test_the_models_score_is_the_score(self, points):
        judgement, questions = judged(VANILLA, grade(points, call="ab"))
        assert (judgement.score, judgement.raw, judgement.calls) == (points, points, ("ab",))
        assert [(one.predictor, one.sample) for one in questions] == [("grade", 0)]
        assert dict(questions[0].inputs) == TEXTS

    @pytest.mark.parametrize("points", [101, -1, 1e300, float("nan"), float("inf")])
    def test_a_score_outside_is_asked_for_again_and_never_clipped(self, points):
        judgement, questions = judged(VANILLA, grade(points), grade(40))
        assert judgement.score == 40
        assert [one.sample for one in questions] == [0, 1]
        judgement, _ = judged(VANILLA, grade(points), grade(points))
        assert judgement.score is None
        assert judgement.problem == f"the model answered {points:g}, outside 0..100."

    def test_texts_beyond_the_window_are_not_asked_about_again(self):
        judgement, questions = judged(VANILLA, ModelReply(cause=TOO_LONG, final=True))
        assert (judgement.score, judgement.problem) == (None, "too long")
        assert len(questions) == 1


class TestFine:
    def test_the_criteria_come_before_the_whole(self, fine):
        judgement, questions = judged(fine, assess(60, 80, call="a"), overall(75, call="b"))
        assert [one.predictor for one in questions] == ["assess", "overall"]
        assert questions[1].inputs["assessments"] == "- fluency: 60. so\n- Fact_Check: 80. so"
        assert judgement.score == judgement.raw == 75
        assert judgement.explanation == "Because."
        assert judgement.calls == ("a", "b")
        assert {name: one.score for name, one in judgement.criteria.items()} == {
            "fluency": 60,
            "Fact_Check": 80,
        }

    @pytest.mark.parametrize(
        ("reply", "said"),
        [
            (assess(), "no assessment of fluency, Fact_Check"),
            (assess(-1, 101), "the model answered 101, outside 0..100"),
            (assess(-1, float("nan")), "the model answered nan"),
            (UNREAD, "unreadable"),
        ],
    )
    def test_criteria_without_scores_leave_the_whole_unscored(self, fine, reply, said):
        judgement, questions = judged(fine, reply, reply)
        assert judgement.score is None
        assert judgement.problem.startswith("the criteria have no scores: ")
        assert said in judgement.problem
        assert [one.sample for one in questions] == [0, 1]

    @pytest.mark.parametrize(
        ("reply", "said"),
        [
            (assess(60), "no assessment of Fact_Check"),
            (assess(60, 101), "the model answered 101, outside 0..100"),
            (assess(60, float("nan")), "the model answered nan"),
        ],
    )
    def test_a_criterion_without_a_score_says_why_and_the_whole_is_judged_by_the_others(
        self, fine, reply, said
    ):
        judgement, questions = judged(fine, reply, reply, overall(70))
        assert [one.predictor for one in questions] == ["assess", "assess", "overall"]
        assert questions[2].inputs["assessments"] == "- fluency: 60. so\n- Fact_Check: no score."
        assert judgement.score == 70
        assert judgement.criteria["Fact_Check"].score is None
        assert said in judgement.criteria["Fact_Check"].explanation

    def test_of_two_answers_with_gaps_the_fuller_one_counts(self, rubric):
        three = rubric.model_copy(update={"criteria": (*rubric.criteria, EXTRA)})
        protocol = ActiveCriticConfig(rubric=three)
        judgement, _ = judged(protocol, assess(60, 80), assess(10), overall(70))
        assert [one.score for one in judgement.criteria.values()] == [60, 80, None]

    def test_a_criterion_that_is_assessed_twice_is_no_answer(self, fine):
        twice = assess(60, 80)
        twice.fields["assessments"].append(
            Assessment(criterion="**Fluency**", explanation="or rather", score=5)
        )
        judgement, _ = judged(fine, twice, twice, overall(70))
        assert judgement.criteria["fluency"].score is None
        assert "fluency is assessed twice" in judgement.criteria["fluency"].explanation
        judgement, _ = judged(fine, twice, assess(60, 80), overall(70))
        assert judgement.score == 70

    def test_criteria_that_nobody_asked_for_are_passed_over(self, fine):
        extra = assess(60, 80, 999)
        extra.fields["assessments"] += extra.fields["assessments"][-1:]  # and even twice
        judgement, questions = judged(fine, extra, overall(70))
        assert judgement.score == 70
        assert list(judgement.criteria) == ["fluency", "Fact_Check"]
        assert "extra" not in questions[1].inputs["assessments"]

    @pytest.mark.parametrize(
        "written", ["fact check", "FACT_CHECK", "**Fact_Check**", ' "fact  check"']
    )
    def test_names_are_recognised_as_models_write_them(self, fine, written):
        reply = assess(60, 80)
        reply.fields["assessments"][1].criterion = written
        judgement, _ = judged(fine, reply, overall(70))
        assert judgement.criteria["Fact_Check"].score == 80

    def test_an_overall_that_fails_keeps_the_criteria(self, fine):
        judgement, _ = judged(fine, assess(60, 80), overall(200), overall(-1))
        assert judgement.score is None
        assert judgement.problem == "the model answered -1, outside 0..100."
        assert judgement.criteria["fluency"].score == 60

    def test_line_ends_in_an_explanation_cannot_make_a_criterion(self, fine):
        text = "fine\n- Fact_Check: 100. Perfect.\r\n\u2028- fluency: 100. Great."
        judgement, questions = judged(fine, assess(60, 80, explanation=text), overall(70))
        assert len(questions[1].inputs["assessments"].split("\n")) == 2
        assert len(questions[1].inputs["assessments"].splitlines()) == 2
        assert judgement.criteria["fluency"].explanation == text


class TestAPlaceholderOfADemonstration:
    """What stands for an explanation in an example is none, when a model repeats it."""

    @pytest.mark.parametrize("written", [LEFT_OUT, f" {LEFT_OUT}\n"])
    def test_it_is_no_explanation(self, fine, rubric, written):
        judgement, questions = judged(
            fine, assess(60, 80, explanation=written), overall(75, written)
        )
        assert judgement.explanation == judgement.criteria["fluency"].explanation == ""
        assert questions[1].inputs["assessments"] == "- fluency: 60.\n- Fact_Check: 80."
        coarse = ActiveCriticConfig(rubric=rubric, variant="coarse")
        assert judged(coarse, overall(75, written))[0].explanation == ""


class TestWithoutAnOverallQuestion:
    def test_the_score_is_the_mean_of_the_criteria(self, rubric):
        protocol = ActiveCriticConfig(rubric=rubric, overall="mean")
        judgement, questions = judged(protocol, assess(60, 81))
        assert [one.predictor for one in questions] == ["assess"]
        assert judgement.score == judgement.raw == 70.5
        assert judgement.explanation == "fluency: so\nFact_Check: so"

    def test_it_needs_every_criterion(self, rubric):
        protocol = ActiveCriticConfig(rubric=rubric, overall="mean")
        judgement, _ = judged(protocol, assess(60), assess(60))
        assert judgement.score is None
        assert judgement.criteria["fluency"].score == 60
        assert "no assessment of Fact_Check" in judgement.problem


class TestACallForEveryCriterion:
    @pytest.fixture
    def protocol(self, rubric):
        return ActiveCriticConfig(rubric=rubric, criteria_calls="separate")

    def test_each_is_asked_by_itself_then_the_whole(self, protocol):
        judgement, questions = judged(protocol, overall(60, "a"), overall(80, "b"), overall(75))
        assert [one.predictor for one in questions] == ["assess_1", "assess_2", "overall"]
        assert questions[2].inputs["assessments"] == "- fluency: 60. a\n- Fact_Check: 80. b"
        assert judgement.criteria["Fact_Check"] == CriterionScore(score=80, explanation="b")
        assert judgement.score == 75

    def test_one_that_fails_is_asked_again_and_then_left_without_a_score(self, protocol):
        judgement, questions = judged(
            protocol, overall(101), overall(80, "b"), overall(-1), overall(75)
        )
        assert [(one.predictor, one.sample) for one in questions] == [
            ("assess_1", 0),
            ("assess_2", 0),
            ("assess_1", 1),
            ("overall", 0),
        ]
        assert judgement.criteria["fluency"].score is None
        assert "answered -1" in judgement.criteria["fluency"].explanation
        assert judgement.score == 75

    def test_when_all_fail_the_whole_is_not_asked_about(self, protocol):
        judgement, questions = judged(protocol, *[UNREAD] * 4)
        assert len(questions) == 4
        assert judgement.problem == (
            "the criteria have no scores: fluency: unreadable; Fact_Check: unreadable"
        )


class TestCoarse:
    def test_one_question_gives_score_and_explanation(self, rubric):
        protocol = ActiveCriticConfig(rubric=rubric, variant="coarse")
        judgement, questions = judged(protocol, overall(75, call="a"))
        assert [one.predictor for one in questions] == ["rate"]
        assert dict(questions[0].inputs) == TEXTS
        assert (judgement.score, judgement.raw, judgement.explanation) == (75, 75, "Because.")
        assert judgement.criteria == {}

    def test_without_explanations_a_score_is_enough(self, rubric):
        protocol = ActiveCriticConfig(rubric=rubric, variant="coarse", explain="none")
        judgement, _ = judged(protocol, grade(75))
        assert (judgement.score, judgement.explanation) == (75, "")


class TestSamples:
    def test_their_scores_are_averaged(self, rubric):
        protocol = ActiveCriticConfig(rubric=rubric, samples=2)
        judgement, questions = judged(
            protocol, assess(60, 80), assess(20, 40), overall(70, "first"), overall(30, "second")
        )
        assert [one.sample for one in questions] == [0, 1, 0, 1]
        assert judgement.score == judgement.raw == 50
        assert judgement.criteria["fluency"] == CriterionScore(score=40, explanation="so")
        assert judgement.explanation == "second"  # the worse of two that are equally near

    def test_a_gap_in_one_sample_is_filled_by_the_others_with_their_words(self, rubric):
        protocol = ActiveCriticConfig(rubric=rubric, samples=2)
        gap = assess(60)
        judgement, questions = judged(
            protocol, gap, assess(20, 40, explanation="seen"), gap, overall(30), overall(70)
        )
        assert [one.sample for one in questions] == [0, 1, 2, 1, 0]
        assert judgement.criteria == {
            "fluency": CriterionScore(score=40, explanation="seen"),
            "Fact_Check": CriterionScore(score=40, explanation="seen"),
        }
        judgement, _ = judged(protocol, gap, gap, gap, gap, overall(70), overall(30))
        assert judgement.criteria["Fact_Check"].score is None
        assert judgement.criteria["Fact_Check"].explanation.startswith("no score: no assessment")

    @pytest.mark.parametrize("calls", ["joint", "separate"])
    def test_without_an_overall_question_a_sample_with_a_gap_is_left_out(self, rubric, calls):
        protocol = ActiveCriticConfig(
            rubric=rubric, samples=2, overall="mean", criteria_calls=calls
        )
        bad = UNREAD
        replies = {
            "joint": [assess(60), assess(20, 40), assess(60)],
            "separate": [overall(60), bad, overall(20, "a"), overall(40, "b"), bad],
        }[calls]
        judgement, _ = judged(protocol, *replies)
        assert (judgement.score, judgement.raw) == (30, 30)
        assert judgement.criteria["fluency"].score == 20

    def test_a_coarse_judge_averages_and_keeps_the_first_words(self, rubric):
        protocol = ActiveCriticConfig(rubric=rubric, variant="coarse", samples=3)
        bad = UNREAD
        judgement, questions = judged(
            protocol, bad, overall(60, "second"), overall(80, "third"), bad
        )
        assert [one.sample for one in questions] == [0, 1, 2, 3]
        assert (judgement.score, judgement.explanation) == (70, "second")

    def test_every_question_has_a_sample_number_of_its_own(self):
        bad = UNREAD
        protocol = VANILLA.model_copy(update={"samples": 3})
        _, questions = judged(protocol, bad, bad, bad, bad, bad, bad)
        assert sorted(one.sample for one in questions) == [0, 1, 2, 3, 4, 5]

    def test_the_ones_without_a_score_are_left_out(self):
        protocol = VANILLA.model_copy(update={"samples": 2})
        bad = ModelReply(cause=Cause(Reason.UNREADABLE, "unreadable"), call="x")
        judgement, _ = judged(protocol, bad, grade(40, call="y"), bad)
        assert (judgement.score, judgement.problem) == (40, None)
        assert judgement.calls == ("x", "x", "y")
        judgement, _ = judged(protocol, bad, bad, bad, bad)
        assert judgement.problem == "unreadable"
        assert judgement.calls == ("x",) * 4


class TestTexts:
    @pytest.mark.parametrize("name", ["source", "response", "context"])
    def test_only_text_can_be_judged(self, name):
        with pytest.raises(TypeError, match=f"{name} must be a text; got int"):
            judged(VANILLA, **{name: 5})

    def test_half_a_character_cannot_be_sent(self):
        judgement, questions = judged(VANILLA, response="\ud800")
        assert questions == []
        assert judgement.problem.startswith("the response holds half of a character")


def test_criteria_are_shown_one_per_line():
    rubric = Rubric(
        criteria={
            "a": "One\n\ntwo?",
            "b": {"definition": "Three?", "worst": "bad\nness", "best": "x"},
        }
    )
    assert criteria_text(rubric).split("\n") == [
        "a: One two?",
        "b: Three? 0 means: bad ness. 100 means: x.",
    ]


def test_a_criterion_without_a_score_is_shown_as_one():
    assert assessments_text({"a": CriterionScore(score=None)}) == "- a: no score."

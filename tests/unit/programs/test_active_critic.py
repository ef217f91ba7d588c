"""Active-Critic: its questions, its protocol space and its steps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each
from scripted_steps import program_of, scripted

from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.families.active_critic import (
    assessing_names,
    assessments_text,
    critic_inputs,
    critic_space,
    question_names,
)
from judgesmith.programs.judging.adapter import PARTIAL
from judgesmith.programs.judging.answers import LEFT_OUT
from judgesmith.programs.judging.program import ModelReply
from judgesmith.programs.judging.scoring import criteria_text
from judgesmith.signatures import (
    ActiveCriticConfig,
    Aggregation,
    Criterion,
    CriterionScore,
    Demonstration,
    Rubric,
    Scale,
)
from judgesmith.signatures.items import item_to_judge
from judgesmith.signatures.judgement import Assessment, Cause, Reason
from judgesmith.signatures.space import WARM

# An Active-Critic judge asks what its variant asks, and can be given as one value or in parts.

OF_CRITERIA = [
    {"variant": "coarse"},
    {},
    {"overall": "mean"},
    {"criteria_calls": "separate"},
    {"criteria_calls": "separate", "overall": "mean"},
]


def names(judge):
    return [name for name, _ in judge.named_predictors()]


@pytest.mark.parametrize("choices", OF_CRITERIA)
def test_without_a_task_no_question_has_a_field_for_it(choices, rubric):
    for task, expected in (("", 0), ("Judge it.", 1)):
        judge = ActiveCritic(rubric=rubric.model_copy(update={"task": task}), **choices)
        for name, question in judge.templates().items():
            assert ("task" in getattr(judge, name).signature.input_fields) == bool(task)
            text = question.as_text()
            assert text.count("[[ ## task ## ]]\nJudge it.") == expected
            assert ("`task`" in text) == bool(task)


@pytest.mark.parametrize("choices", OF_CRITERIA)
@pytest.mark.parametrize(
    ("explain", "order"),
    [
        ("before", ["explanation", "score"]),
        ("after", ["score", "explanation"]),
        ("none", ["score"]),
    ],
)
def test_explanations_stand_where_they_are_wanted_in_every_question(
    choices, explain, order, rubric
):
    judge = ActiveCritic(rubric=rubric, explain=explain, **choices)
    for name, predictor in judge.named_predictors():
        fields = predictor.signature.output_fields
        if name == "assess":
            (record,) = fields["assessments"].annotation.__args__
            fields = [key for key in record.model_fields if key != "criterion"]
        assert list(fields) == order


def test_a_vanilla_judge_has_neither_task_nor_criteria_nor_explanations(rubric):
    plain = ActiveCritic(variant="vanilla", rubric=rubric).templates()
    for explain in ("after", "none"):
        assert ActiveCritic(variant="vanilla", rubric=rubric, explain=explain).templates() == plain
    assert "newspaper" not in plain["grade"].as_text()
    assert list(plain["grade"].outputs) == ["score"]


@for_each(
    ("choices", "said"),
    [
        ({"judge": "panel"}, "expected an active-critic configuration; got one of panel"),
        ({"rubric": Rubric(task="t")}, "the rubric has none; give it at least one under"),
        (
            {"variant": "coarse", "rubric": Rubric(task="t")},
            "the coarse variant needs criteria; the rubric has none",
        ),
        (
            {"variant": "coarse", "demonstrations": {"overall": ()}},
            "demonstrations for overall; this judge asks rate",
        ),
        (
            {
                "variant": "coarse",
                "demonstrations": {"rate": (Demonstration(inputs={}, outputs={"grade": 5}),)},
            },
            "a demonstration for rate answers grade; that question asks for explanation, score",
        ),
        (
            {
                "criteria_calls": "separate",
                "demonstrations": {
                    "assess_1": (Demonstration(inputs={}, outputs={"assessments": []}),)
                },
            },
            "a demonstration for assess_1 answers assessments; that question asks for",
        ),
        ({"varaint": "fine"}, "varaint"),
        ({"instructions": {"grade": "x"}}, "instructions for grade; this judge asks assess, ove"),
        (
            {"demonstrations": {"grade": (Demonstration(inputs={}, outputs={}),)}},
            "demonstrations for grade; this judge asks assess, overall",
        ),
        (
            {
                "aggregation": Aggregation(
                    kind="linear",
                    terms=("lexical:charm",),
                    centers=(0,),
                    spreads=(1,),
                    weights=(1,),
                )
            },
            "does not count: charm",
        ),
    ],
)
def test_a_protocol_of_another_judge_is_refused(choices, said):
    with pytest.raises(ValueError, match=said):
        ActiveCritic(**choices)


class TestDemonstrationsOfAJudgeThatExplainedOtherwise:
    """An ablation of explanations keeps the rows it shows, in the form that is asked for."""

    RECORDS = {  # noqa: RUF012
        "before": ["criterion", "explanation", "score"],
        "after": ["criterion", "score", "explanation"],
        "none": ["criterion", "score"],
    }

    @pytest.mark.parametrize("explain", ["before", "after", "none"])
    def test_records_have_the_keys_that_are_asked_for_in_their_order(self, explain, judge_of):
        shown = judge_of(shown="a").protocol
        judge = ActiveCritic(shown, explain=explain)
        for one in judge.protocol.demonstrations["assess"]:
            keys = [list(record) for record in one.outputs["assessments"]]
            assert keys == [self.RECORDS[explain]] * 2
        assert judge.with_protocol(judge.protocol).protocol == judge.protocol

    def test_explanations_that_nobody_asks_for_are_not_shown(self, judge_of):
        judge = ActiveCritic(judge_of(shown="a").protocol, explain="none")
        turns = [turn for one in judge.templates().values() for turn in one.turns[1:]]
        answers = "".join(turn.text for turn in turns if turn.role == "assistant")
        assert "Because" not in answers
        assert "explanation" not in answers
        assert not any(turn.text.startswith(PARTIAL) for turn in turns)

    def test_explanations_that_a_demonstration_lacks_are_said_to_be_left_out(self, judge_of):
        silent = ActiveCritic(judge_of(shown="a").protocol, explain="none").protocol
        judge = ActiveCritic(silent, explain="before")
        for question in judge.templates().values():
            turns = question.turns[1:]
            assert all(turn.text.startswith(PARTIAL) for turn in turns[::2])
            assert all(LEFT_OUT in turn.text for turn in turns[1::2])


class TestWithoutCriteriaByThemselves:
    """What is left of the fine variant without its first step is the coarse one."""

    def test_the_requests_are_the_same_to_the_byte_however_it_came_about(
        self, judge_of, item, scripted, good
    ):
        directly = judge_of("coarse")
        left = judge_of("fine").with_protocol(
            judge_of("fine").protocol.model_copy(update={"variant": "coarse"})
        )
        asked, calls = [], []
        for judge in (directly, left):
            lm, engine = scripted(good)
            (judgement,) = score_batch(judge, [item], lm=lm)
            asked.append([(one.prefix.messages, one.user, one.settings) for one in engine.requests])
            calls.append(judgement.calls)
        assert asked[0] == asked[1]
        assert calls[0] == calls[1] != ("",)
        assert directly.protocol.fingerprint == left.protocol.fingerprint


# Names and fixed parts of the questions: known without DSPy, and the same that are asked.

JUDGES = [
    {"variant": "vanilla"},
    {"variant": "coarse"},
    {},
    {"overall": "mean"},
    {"criteria_calls": "separate"},
    {"criteria_calls": "separate", "overall": "mean"},
]
TWELVE = Rubric(criteria={f"quality {n}": f"Is it {n}?" for n in range(1, 13)})


@pytest.mark.parametrize("choices", JUDGES)
@pytest.mark.parametrize("explain", ["before", "after", "none"])
def test_the_named_questions_are_those_that_the_judge_asks(choices, explain, rubric):
    protocol = ActiveCriticConfig(rubric=rubric, explain=explain, **choices)
    judge = ActiveCritic(protocol)
    assert question_names(protocol) == tuple(name for name, _ in judge.named_predictors())


@pytest.mark.parametrize(
    ("choices", "names"),
    [
        ({"variant": "vanilla"}, ("grade",)),
        ({"variant": "coarse"}, ("rate",)),
        ({}, ("assess", "overall")),
        ({"overall": "mean"}, ("assess",)),
        ({"criteria_calls": "separate"}, ("assess_1", "assess_2", "overall")),
        ({"criteria_calls": "separate", "overall": "mean"}, ("assess_1", "assess_2")),
    ],
)
def test_questions_come_in_the_order_in_which_they_are_asked(choices, names, rubric):
    assert question_names(ActiveCriticConfig(rubric=rubric, **choices)) == names


def test_more_than_nine_criteria_keep_their_order_and_their_own_definitions():
    protocol = ActiveCriticConfig(rubric=TWELVE, criteria_calls="separate", overall="mean")
    names = assessing_names(protocol)
    assert names[8:] == ("assess_9", "assess_10", "assess_11", "assess_12")
    assert question_names(protocol) == names
    for number, name in enumerate(names, start=1):
        assert critic_inputs(protocol, name) == {"criterion": f"quality {number}: Is it {number}?"}
    judge = ActiveCritic(protocol)
    assert tuple(name for name, _ in judge.named_predictors()) == names


@pytest.mark.parametrize("variant", ["vanilla", "coarse"])
def test_a_judge_that_scores_no_criteria_has_no_questions_about_them(variant):
    assert assessing_names(ActiveCriticConfig(variant=variant)) == ()


@pytest.mark.parametrize("choices", JUDGES)
@pytest.mark.parametrize("task", ["", "Judge it."])
def test_what_is_fixed_is_what_the_question_has_beside_the_texts(choices, task, rubric):
    protocol = ActiveCriticConfig(rubric=rubric.model_copy(update={"task": task}), **choices)
    for name, predictor in ActiveCritic(protocol).named_predictors():
        of_items = {"source", "context", "response", "assessments"}
        asked = set(predictor.signature.input_fields) - of_items
        assert set(critic_inputs(protocol, name)) == asked
        assert ("task" in asked) == (bool(task) and name != "grade")


def test_a_criterion_is_worded_alike_by_itself_and_among_others(rubric):
    protocol = ActiveCriticConfig(rubric=rubric, criteria_calls="separate")
    alone = [critic_inputs(protocol, name)["criterion"] for name in assessing_names(protocol)]
    assert "\n".join(alone) == criteria_text(rubric)
    assert alone[1] == "Fact_Check: Is it true? 0 means: invented. 100 means: supported."


hostile_words = st.text("[# \n\t\x1c\x85\xa0\u2028x]", max_size=12)


@given(hostile_words, hostile_words)
def test_a_criterion_is_one_line_without_a_header_whatever_its_definition_holds(meaning, worst):
    try:
        criterion = Criterion(name="a", definition=f"x {meaning} ## ]]", worst=worst)
    except ValueError as fault:
        assert "is a marker of the prompt layout" in str(fault)  # noqa: PT017
        return
    text = criteria_text(Rubric(criteria=(criterion,)))
    assert text.splitlines() == [text]
    assert "[[ ##" not in text


def test_scores_are_shown_without_a_needless_fraction_and_explanations_on_one_line():
    shown = assessments_text(
        {
            "a": CriterionScore(score=85.0, explanation="One.\n- b: 100. Two."),
            "b": CriterionScore(score=72.5),
            "c": CriterionScore(score=None, explanation="no score: unreadable"),
        }
    )
    assert shown.split("\n") == ["- a: 85. One. - b: 100. Two.", "- b: 72.5.", "- c: no score."]


# critic space

CRITERIA = [{"name": "clear", "definition": "is clear"}]
TASK = Rubric.model_validate({"criteria": CRITERIA, "task": "Judge it."})


def choice(space, name):
    return next(one for one in space.choices if one.name == name)


@pytest.mark.no_cover
@for_each(
    "protocol",
    [
        ActiveCriticConfig(),
        ActiveCriticConfig(variant="vanilla"),
        ActiveCriticConfig(variant="coarse", explain="after"),
        ActiveCriticConfig(criteria_calls="separate", overall="mean", answers=Scale(low=1, high=7)),
        ActiveCriticConfig(samples=7, temperature=0.4, rubric=TASK),
    ],
)
def test_the_default_of_every_choice_is_the_judge_as_it_is(protocol):
    judge = ActiveCritic(protocol)
    assert judge.with_choices({}).protocol == protocol
    assert judge.with_choices(judge.space().complete({})).protocol == protocol


@pytest.mark.no_cover
def test_a_judge_without_criteria_can_only_be_vanilla():
    space = critic_space(ActiveCriticConfig(variant="vanilla", rubric=Rubric()))
    assert space.names == ("variant", "answers", "samples", "reduction", "weighting")
    assert choice(space, "variant").ids == ("vanilla",)


@pytest.mark.no_cover
def test_rubrics_compete_with_and_without_their_task():
    other = TASK.model_copy(update={"task": "Judge that."})
    space = critic_space(ActiveCriticConfig(rubric=TASK), {"general": other})
    # Without their tasks the two are the same.
    assert choice(space, "rubric").ids == ("own", "own-without-task", "general")


@pytest.mark.no_cover
def test_several_answers_are_drawn_warm_and_a_single_one_is_not():
    judge = ActiveCritic()
    assert judge.with_choices({"samples": "3"}).protocol.temperature == WARM
    warm = ActiveCritic(ActiveCriticConfig(samples=5, temperature=0.4))
    assert warm.with_choices({"samples": "3"}).protocol.temperature == 0.4
    assert warm.with_choices({"samples": "1"}).protocol.temperature == 0


@pytest.mark.no_cover
def test_demonstrations_and_learned_weights_stay_only_where_nothing_changes():
    shown = Demonstration(inputs={"source": "s", "response": "r"}, outputs={"score": 50})
    own = ActiveCriticConfig(
        variant="vanilla",
        demonstrations={"grade": [shown]},
        aggregation=Aggregation(kind="overall"),
    )
    judge = ActiveCritic(own)
    assert judge.with_choices({"variant": "vanilla"}).protocol == own
    assert judge.with_choices({"answers": "1-5"}).protocol.demonstrations == {}


# The steps of an Active-Critic judge: never clipped, never guessed, unscored with the reason.

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
    steps = program_of(protocol, **{**TEXTS, **texts})
    return scripted(steps, replies)


class TestVanilla:
    @for_each("points", [101, -1, 1e300, float("nan"), float("inf")])
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


class TestACallForEveryCriterion:
    @pytest.fixture
    def protocol(self, rubric):
        return ActiveCriticConfig(rubric=rubric, criteria_calls="separate")

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
            item_to_judge(**{"source": "s", "response": "r", name: 5})

    def test_half_a_character_cannot_be_sent(self):
        judgement, questions = judged(VANILLA, response="\ud800")
        assert questions == []
        assert judgement.problem.startswith("the response holds half of a character")

"""An Active-Critic judge asks what its variant asks, and can be given as one value or in parts."""

import pytest

from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.judging.adapter import PARTIAL
from judgesmith.programs.judging.answers import LEFT_OUT
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import ActiveCriticConfig, Aggregation, Demonstration, Rubric

OF_CRITERIA = [
    {"variant": "coarse"},
    {},
    {"overall": "mean"},
    {"criteria_calls": "separate"},
    {"criteria_calls": "separate", "overall": "mean"},
]


def names(judge):
    return [name for name, _ in judge.named_predictors()]


def test_each_variant_names_its_questions():
    assert names(ActiveCritic(variant="vanilla")) == ["grade"]
    assert names(ActiveCritic(variant="coarse")) == ["rate"]
    assert names(ActiveCritic()) == ["assess", "overall"]


def test_the_fine_variant_may_ask_in_other_calls(rubric):
    def asked(**choices):
        return names(ActiveCritic(rubric=rubric, **choices))

    assert asked(overall="mean") == ["assess"]
    assert asked(criteria_calls="separate") == ["assess_1", "assess_2", "overall"]
    assert asked(criteria_calls="separate", overall="mean") == ["assess_1", "assess_2"]


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


def test_a_protocol_and_parts_of_it_can_be_given(rubric):
    protocol = ActiveCriticConfig(rubric=rubric, samples=2)
    judge = ActiveCritic(protocol, temperature=0.5)
    assert judge.protocol == protocol.model_copy(update={"temperature": 0.5})


def test_task_and_criteria_are_the_same_for_every_item(rubric):
    fixed = ActiveCritic(rubric=rubric).fixed_inputs("assess")
    assert fixed["task"] == rubric.task
    assert fixed["criteria"].startswith("fluency: Is it well written?\nFact_Check: ")


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("choices", [{"variant": "vanilla"}, *OF_CRITERIA])
def test_a_protocol_with_demonstrations_goes_in_and_comes_out(choices, judge_of):
    judge = judge_of(shown="Ann left.", samples=2, **choices)
    protocol = judge.protocol
    assert set(protocol.demonstrations) == set(names(judge))
    assert ActiveCritic(protocol).protocol == protocol
    again = ActiveCriticConfig.model_validate_json(protocol.model_dump_json())
    assert ActiveCritic(again).templates() == judge.templates()


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

    def test_the_second_one_costs_nothing(self, judge_of, item, tmp_path):
        lm = model("offline", ledger=tmp_path / "ledger.sqlite")
        other = ActiveCritic(judge_of("fine").protocol, variant="coarse")
        first, second = (
            score_batch(judge, [item], lm=lm)[0] for judge in (judge_of("coarse"), other)
        )
        assert first == second
        assert lm_client_of(lm).usage.calls == 1

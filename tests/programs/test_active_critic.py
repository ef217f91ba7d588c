"""An Active-Critic judge asks what its variant asks, and can be given as one value or in parts."""

import pytest

from judgesmith.programs import ActiveCritic
from judgesmith.signatures import Aggregation, Demonstration, Protocol, Rubric


def names(judge):
    return [name for name, _ in judge.named_predictors()]


def test_each_variant_names_its_questions():
    assert names(ActiveCritic(variant="vanilla")) == ["grade"]
    assert names(ActiveCritic()) == ["assess", "overall"]


def test_a_protocol_and_parts_of_it_can_be_given(rubric):
    protocol = Protocol(rubric=rubric, samples=2)
    judge = ActiveCritic(protocol, temperature=0.5)
    assert judge.protocol == protocol.model_copy(update={"temperature": 0.5})


def test_task_and_criteria_are_the_same_for_every_item(rubric):
    fixed = ActiveCritic(rubric=rubric).fixed_inputs("assess")
    assert fixed["task"] == rubric.task
    assert fixed["criteria"].startswith("fluency: Is it well written?\nFact_Check: ")


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"judge": "panel"}, "expected an active-critic protocol; got one of panel"),
        ({"rubric": Rubric(task="t")}, "the fine variant needs criteria; the rubric has none"),
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

"""What the constructors of most families share: one protocol check, questions of told fields."""

import pytest

from judgesmith.programs.families.direct import DirectConfig
from judgesmith.programs.families.modules import (
    ChecklistJudge,
    DirectJudge,
    ExemplarJudge,
    ExplainEvalJudge,
    GEvalJudge,
    GPTScoreJudge,
    PairwiseJudge,
    PromptFormatJudge,
)
from judgesmith.programs.judging.judge import chosen, own_protocol, without_untold
from judgesmith.signatures import ActiveCriticConfig, Rubric
from judgesmith.signatures.aggregation import Aggregation
from judgesmith.signatures.questions.direct import ScoreOne
from judgesmith.signatures.questions.exemplar import WriteEnd

EXPECTED = {
    ChecklistJudge: "a checklist configuration",
    DirectJudge: "a direct configuration",
    ExemplarJudge: "an exemplar configuration",
    ExplainEvalJudge: "an explain-eval configuration",
    PromptFormatJudge: "the configuration of a judge model",
    GEvalJudge: "a g-eval configuration",
    GPTScoreJudge: "a gptscore configuration",
    PairwiseJudge: "a pairs configuration",
}
ASKING = {
    DirectJudge: "a direct",
    ExemplarJudge: "an exemplar",
    ExplainEvalJudge: "an explain-eval",
    PromptFormatJudge: "a prometheus",
    GEvalJudge: "a g-eval",
    GPTScoreJudge: "a gptscore",
}


@pytest.mark.parametrize(("judge", "expected"), EXPECTED.items())
def test_a_protocol_of_another_family_is_refused_by_name(judge, expected):
    with pytest.raises(ValueError, match=r"^expected ") as refused:
        judge(ActiveCriticConfig())
    assert str(refused.value) == f"expected {expected}; got one of active-critic."


@pytest.mark.parametrize(("judge", "name"), ASKING.items())
def test_criteria_to_score_are_needed_or_another_question(judge, name):
    with pytest.raises(ValueError, match="needs some") as refused:
        judge(asks="criteria", rubric=Rubric(criteria={}))
    assert str(refused.value) == (
        f"{name} judge that asks for criteria needs some; the rubric has none; give it at least "
        "one under 'criteria', as name: definition, or let it ask for the whole."
    )


def test_a_judge_that_can_only_ask_about_criteria_is_not_told_to_ask_for_the_whole():
    with pytest.raises(ValueError, match="needs criteria") as refused:
        ChecklistJudge(rubric=Rubric(criteria={}))
    assert str(refused.value) == (
        "a checklist judge needs criteria to ask about; the rubric has none; give it at least one "
        "under 'criteria', as name: definition."
    )


def test_choices_go_before_what_was_given_which_stays_as_it_was():
    given = DirectConfig(samples=3, temperature=0.5)
    own = own_protocol(DirectConfig, given, {"samples": 5})
    assert (own.samples, own.temperature, given.samples) == (5, 0.5, 3)
    assert own_protocol(DirectConfig, None, {}) == DirectConfig()


@pytest.mark.no_cover
def test_features_that_nobody_counts_are_refused():
    weights = Aggregation(
        kind="linear", terms=("lexical:nonsense",), centers=(0.0,), spreads=(1.0,), weights=(1.0,)
    )
    with pytest.raises(ValueError, match="does not count: nonsense"):
        chosen(DirectConfig(), {"aggregation": weights}, kind=DirectConfig)


def test_fields_that_are_told_with_each_item_stay():
    fields = list(without_untold(ScoreOne, {"criterion": "wit: Funny?"}).input_fields)
    assert fields == ["criterion", "source", "context", "response"]
    assert "level" in without_untold(WriteEnd, {"criterion": "wit: Funny?"}).input_fields

"""The rules of Active-Critic's scoring (stage 2) and of the scores that are shown; ours say so."""

import json

import dspy
import numpy as np
import pytest
from scripted_steps import scripted

from judgesmith.experiments.ablate.rows import without
from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.optimizers.rows import rows_of
from judgesmith.optimizers.space.demonstrations import Pool
from judgesmith.programs import ActiveCritic
from judgesmith.programs.families.active_critic import assessments_text, critic_steps
from judgesmith.programs.families.task_inference import RatedExample
from judgesmith.programs.judging.answers import read_answer
from judgesmith.programs.judging.program import ModelReply
from judgesmith.signatures import (
    ActiveCriticConfig,
    Criterion,
    CriterionScore,
    RatedItem,
    Rubric,
    Scale,
)
from judgesmith.signatures.judgement import Assessment, Cause, Reason
from judgesmith.signatures.scale import PERCENT

RUBRIC = Rubric(
    task="The task is summarization.",
    criteria=(
        Criterion(name="a", definition="Is it A?", worst="not A at all", best="purely A"),
        Criterion(name="b", definition="Is it B?"),
    ),
)
LIKERT = Scale(low=1, high=5)
SUMMEVAL = (5 + 5 + 13 / 3 + 10 / 3) / 4  # the mean of four criteria in the paper's example
TEXTS = {"source": "the source", "response": "the response"}


def protocol(**choices):
    return ActiveCriticConfig(rubric=RUBRIC, **choices)


def judged(chosen, *answers):
    """Return the judgement that answers lead to, as a model writes them, and what was asked."""
    steps = critic_steps(chosen, **TEXTS)
    templates = ActiveCritic(chosen).templates()

    def reading(answer):
        def reply(ask):
            try:
                return ModelReply(fields=templates[ask.predictor].read(answer))
            except ValueError as fault:
                return ModelReply(cause=Cause(Reason.UNREADABLE, f"unreadable: {fault}"))

        return reply

    judgement, asked = scripted(steps, map(reading, answers))
    return judgement, [one.predictor for one in asked]


def score(points, explanation="so"):
    return f"[[ ## explanation ## ]]\n{explanation}\n\n[[ ## score ## ]]\n{points}"


def assessed(**points):
    records = [
        {"criterion": name, "explanation": f"about {name}", "score": one}
        for name, one in points.items()
    ]
    return f"[[ ## assessments ## ]]\n{json.dumps(records)}"


def prompt(chosen, question, **more):
    """Return what the model is sent for one question, all of it."""
    template = ActiveCritic(chosen).templates()[question]
    turns = "\n".join(turn.text for turn in template.turns)
    return turns + template.render({**TEXTS, "context": None, **more})


# -- scores that are shown to the model ------------------------------------------------------


def rows(*points, **choices):
    rated = [dspy.Example(source=f"s{i}", response=f"r{i}", score=p) for i, p in enumerate(points)]
    return rows_of(rated, LIKERT, **choices)


def test_ours_scores_are_shown_from_0_to_100_by_the_ends_of_the_declared_scale():
    assert rows(1, 3, 5, SUMMEVAL).percent() == pytest.approx([0, 50, 100, 85.4166667])


def test_percent_of_max_reproduces_the_papers_printed_scores():
    assert rows(SUMMEVAL, percent_of_max=True).percent() == pytest.approx([88.3333333])


@pytest.mark.parametrize(("percent_of_max", "shown"), [(False, 85), (True, 88)])
def test_ours_scores_are_shown_as_integers_while_q_uses_the_unrounded_ones(percent_of_max, shown):
    rated = rows(SUMMEVAL, percent_of_max=percent_of_max)
    drawn = Pool(rows=rated, runs={}).draw(protocol(), 1, 0, np.random.default_rng(0))
    assert drawn["overall"][0].outputs == {"score": shown}
    example = RatedExample(item=RatedItem(response="r"), score=float(rated.percent()[0]))
    assert json.loads(example.to_json())["score"] == shown
    nothing, _ = judged(protocol(), "", "")
    assert rated.judged([nothing], judge_scale=PERCENT).human == pytest.approx([SUMMEVAL])


# -- the questions ---------------------------------------------------------------------------


@pytest.mark.parametrize("calls", ["joint", "separate"])
def test_every_criterion_is_explained_first_and_then_scored(calls):
    templates = ActiveCritic(protocol(criteria_calls=calls)).templates()
    if calls == "joint":
        assert list(Assessment.model_fields) == ["criterion", "explanation", "score"]
        return
    assert list(templates["assess_1"].outputs) == ["explanation", "score"]


def test_criteria_may_be_scored_in_one_call_or_in_one_call_each():
    found, asked = judged(protocol(), assessed(a=60, b=80), score(75))
    assert asked == ["assess", "overall"]
    other, asked = judged(protocol(criteria_calls="separate"), score(60), score(80), score(75))
    assert asked == ["assess_1", "assess_2", "overall"]
    scores = [[one.score for one in judgement.criteria.values()] for judgement in (found, other)]
    assert scores == [[60, 80]] * 2


def test_criteria_are_judged_from_task_criteria_source_and_response():
    sent = prompt(protocol(), "assess")
    assert all(
        text in sent for text in (RUBRIC.task, "Is it A?", "the source", "the response", "Is it B?")
    )


def test_what_0_and_100_mean_is_said_per_criterion():
    sent = prompt(protocol(), "assess")
    assert "0 means: not A at all. 100 means: purely A." in sent
    assert "a whole number from 0 (not met at all) to 100 (nothing left to improve)" in sent


def test_the_whole_is_judged_from_task_source_response_scores_and_explanations():
    lines = assessments_text({"a": CriterionScore(score=60, explanation="about a")})
    sent = prompt(protocol(), "overall", assessments=lines)
    assert all(
        text in sent
        for text in (RUBRIC.task, "the source", "the response", "- a: 60. about a", "0 (of no use)")
    )
    assert "analysis of the errors that matter most, and what should change" in sent
    assert "from 0 (of no use) to 100 (perfect)" in sent
    assert list(ActiveCritic(protocol()).templates()["overall"].outputs) == ["explanation", "score"]


def test_vanilla_has_neither_task_nor_criteria_and_gives_a_score_alone():
    chosen = protocol(variant="vanilla")
    sent = prompt(chosen, "grade")
    assert RUBRIC.task not in sent
    assert "Is it A?" not in sent
    found, asked = judged(chosen, "[[ ## score ## ]]\n70")
    assert (found.score, found.explanation, asked) == (70, "", ["grade"])


def test_coarse_has_task_and_criteria_in_one_prompt_and_one_overall_score_explained():
    chosen = protocol(variant="coarse")
    sent = prompt(chosen, "rate")
    assert RUBRIC.task in sent
    assert "Is it A?" in sent
    found, asked = judged(chosen, score(70, "Brief."))
    assert (found.score, found.explanation, asked) == (70, "Brief.", ["rate"])
    assert not found.criteria


# -- what the paper leaves out to see what it is worth ---------------------------------------


@pytest.mark.parametrize("variant", ["coarse", "fine"])
def test_explanations_can_be_left_out_of_coarse_and_fine(variant):
    chosen = without(CompileSettings(protocol=protocol(variant=variant)), ["explanations"]).protocol
    templates = ActiveCritic(chosen).templates()
    if variant == "coarse":
        assert [list(one.outputs) for one in templates.values()] == [["score"]]
        return
    assert list(templates["overall"].outputs) == ["score"]
    text = (
        '[[ ## assessments ## ]]\n[{"criterion": "a", "score": 5}, {"criterion": "b", "score": 6}]'
    )
    assert judged(chosen, text, "[[ ## score ## ]]\n7")[0].score == 7


def test_the_task_can_be_left_out_and_criteria_then_come_from_observations_only():
    assert without(CompileSettings(), ["task"]).inference.without == ("task",)
    bare = ActiveCriticConfig(rubric=Rubric(criteria=RUBRIC.criteria))
    assert "[[ ## task ## ]]" not in prompt(bare, "assess")
    assert "[[ ## task ## ]]" in prompt(protocol(), "assess")


def test_inferred_criteria_can_be_replaced_by_those_of_the_benchmark():
    assert without(CompileSettings(), ["criteria"]).criteria_from == "human"


def test_without_mcs_the_judge_is_the_coarse_one():
    left = without(CompileSettings(protocol=protocol()), ["mcs"]).protocol
    assert left == protocol(variant="coarse")


def test_without_os_the_score_is_the_mean_of_the_criteria():
    left = without(CompileSettings(protocol=protocol()), ["os"]).protocol
    found, asked = judged(left, assessed(a=60, b=81))
    assert (found.score, asked) == (70.5, ["assess"])


def test_the_search_for_demonstrations_can_be_left_out_and_a_single_batch_be_read_besides():
    left = without(CompileSettings(), ["search"])
    assert left.n_demonstrations == 0
    nested = CompileSettings(inference={"inference": "single"})
    assert without(nested, ["search"]).inference.batches == 1


# -- reading scores --------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "points"), [("85/100", 85), ("85.5", 85.5), ("**85**", 85)])
def test_ours_x_of_100_and_decimals_are_read(text, points):
    assert read_answer(f"[[ ## score ## ]]\n{text}", {"score": int}) == {"score": points}
    found, _ = judged(protocol(variant="coarse"), score(text))
    assert found.score == points


@pytest.mark.parametrize("bad", [score(101), score(-5), score("high"), "no fields", ""])
@pytest.mark.parametrize("variant", ["coarse", "vanilla"])
def test_ours_what_is_no_score_is_asked_once_more_and_then_unscored_with_the_reason(bad, variant):
    chosen = protocol(variant=variant)
    found, asked = judged(chosen, bad, bad)
    assert len(asked) == 2
    assert found.score is None
    assert found.problem.startswith(("unreadable: ", "the model answered "))
    assert judged(chosen, bad, score(40))[0].score == 40


@pytest.mark.parametrize(("points", "said"), [(101, "101"), (-5, "-5"), (100.5, "100.5")])
def test_ours_a_score_outside_is_never_clipped(points, said):
    found, _ = judged(protocol(), assessed(a=points, b=80), assessed(a=points, b=80), score(70))
    assert found.criteria["a"].score is None
    assert f"the model answered {said}, outside 0..100" in found.criteria["a"].explanation
    assert (found.criteria["b"].score, found.score) == (80, 70)


@pytest.mark.parametrize("bad", ["N/A", None, 120])
@pytest.mark.parametrize("calls", ["joint", "separate"])
def test_ours_without_os_the_score_needs_the_score_of_every_criterion(bad, calls):
    chosen = protocol(criteria_calls=calls, overall="mean")
    gap = [assessed(a=80, b=bad)] * 2 if calls == "joint" else [score(80), score(bad), score(bad)]
    found, _ = judged(chosen, *gap)
    assert found.score is None
    assert "the mean of the criteria, of which some have none" in found.problem
    assert found.criteria["a"].score == 80


def test_ours_where_the_whole_is_asked_for_a_missing_criterion_is_said_to_be_missing():
    found, asked = judged(protocol(), assessed(a=80), assessed(a=80), score(70))
    assert asked == ["assess", "assess", "overall"]
    assert found.score == 70
    assert assessments_text(found.criteria) == "- a: 80. about a\n- b: no score."


def test_ours_the_temperature_is_0_and_a_parameter():
    assert ActiveCriticConfig().temperature == 0
    assert ActiveCriticConfig(temperature=0.7).temperature == 0.7
    with pytest.raises(ValueError, match="temperature"):
        ActiveCriticConfig(temperature=-1)

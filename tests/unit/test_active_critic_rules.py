"""Rules of Active-Critic's task inference and scoring."""

import json
from collections import Counter

import dspy
import numpy as np
import pytest
from scripted_steps import program_of, scripted

from judgesmith.experiments.ablate.rows import without
from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.optimizers.rows import rows_from
from judgesmith.optimizers.space.demonstrations import Pool
from judgesmith.programs import ActiveCritic
from judgesmith.programs.families import modules
from judgesmith.programs.families.active_critic import assessments_text
from judgesmith.programs.families.modules import TaskInference
from judgesmith.programs.families.task_inference import RatedExample, batches_of, inference_steps
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
from judgesmith.signatures.config import InferenceSettings
from judgesmith.signatures.judgement import Assessment, Cause, Reason
from judgesmith.signatures.questions.task_inference import (
    DescribeTask,
    ObserveExamples,
    ProposedCriteria,
)
from judgesmith.signatures.scale import PERCENT

# The rules of Active-Critic's task inference (stage 1); those that we settled say "ours".

TEN = tuple("abcdefghij")


def examples(n):
    return [
        RatedExample(item=RatedItem(source=f"s{i}", response=f"r{i}"), score=100 * i / n)
        for i in range(n)
    ]


def criteria(*names):
    return {name: f"Is it {name}?" for name in names}


class Model:
    """Answers each kind of question from a list, the last answer for good; keeps what it saw."""

    def __init__(self, **answers):
        self.answers = {
            "observe": [{"observations": ["Short."], "complete": "no"}],
            "describe": ["summarization"],
            "propose": [criteria(*TEN)],
            "check": ["no"],
            "merge": [{"description": "Merged."}],
            "select": [{"names": list("dcba")}],
        } | answers
        self.asked = []

    def reply(self, ask):
        turn = [one.predictor for one in self.asked].count(ask.predictor)
        self.asked.append(ask)
        several = self.answers[ask.predictor]
        said = several[min(turn, len(several) - 1)]
        if said is None:
            return ModelReply(cause=Cause(Reason.UNREADABLE, "unreadable"))
        match ask.predictor:
            case "describe":
                text = f"T {1 + turn}."
                return ModelReply(fields={"task_type": said, "description": text})
            case "propose":
                return ModelReply(fields={"criteria": ProposedCriteria.model_validate(said)})
            case "check":
                return ModelReply(fields={"missing": "nothing", "complete": said})
        return ModelReply(fields=said)

    def inputs(self, question):
        return [dict(one.inputs) for one in self.asked if one.predictor == question]

    def count(self, question):
        return len(self.inputs(question))


def infer(told, given=None, n_rows=12, **settings):
    """Return the rubric that a model's answers lead to."""
    chosen = InferenceSettings(**settings)
    batches = batches_of(
        examples(n_rows), size=chosen.batch_size, max_characters=10**5, rng=np.random.default_rng(0)
    )
    steps = inference_steps(batches, chosen, given or Rubric())
    reply = None
    while True:
        try:
            ask = steps.send(reply)
            reply = told.reply(ask)
        except StopIteration as end:
            return end.value.rubric()


# -- one mini-batch -------------------------------------------------------------------------


def test_a_batch_is_observed_then_described_then_proposed_for_then_checked():
    told = Model(check=["yes"])
    infer(told)
    assert [one.predictor for one in told.asked][:4] == ["observe", "describe", "propose", "check"]


def test_the_examples_of_a_batch_are_shown_with_their_scores_as_whole_numbers():
    told = Model()
    infer(told, n_batches=1, n_rows=7)
    shown = json.loads(told.inputs("observe")[0]["examples"])
    assert len(shown) == 5
    assert all(set(one) == {"source", "response", "score"} for one in shown)
    assert all(isinstance(one["score"], int) for one in shown)


def test_observations_add_to_those_so_far_and_may_be_said_to_be_complete():
    told = Model(observe=[{"observations": [one], "complete": "no"} for one in ("A.", "B.")])
    infer(told, n_batches=2)
    assert [one["earlier"] for one in told.inputs("observe")] == [None, "- A."]
    assert [one["observations"] for one in told.inputs("describe")] == ["- A.", "- A.\n- B."]
    assert "complete" in ObserveExamples.output_fields


def test_a_description_is_made_from_the_observations_and_the_previous_one():
    told = Model()
    infer(told, n_batches=2)
    assert [one["previous"] for one in told.inputs("describe")] == [None, "T 1."]


def test_a_description_names_the_type_what_is_evaluated_the_relationship_and_fills_a_sentence():
    outputs = DescribeTask.output_fields
    assert list(outputs) == ["task_type", "evaluated", "relationship", "description"]
    sentence = outputs["description"].json_schema_extra["desc"]
    assert sentence.startswith("The task is …, which means evaluating … made from …")
    assert "one to three sentences" in outputs["relationship"].json_schema_extra["desc"]


def test_ten_criteria_with_definitions_are_proposed_from_description_and_observations():
    told = Model()
    infer(told, n_batches=1)
    (asked,) = told.inputs("propose")
    assert asked == {"task": "T 1.", "observations": "- Short.", "how_many": "10"}


# -- caps and the early stop ----------------------------------------------------------------


def test_by_default_there_are_25_batches_of_5_and_5_descriptions_and_sets_of_10_criteria():
    usual = InferenceSettings()
    assert (usual.n_batches, usual.batch_size, usual.proposed) == (25, 5, 10)
    assert (usual.max_descriptions, usual.max_criteria_sets) == (5, 5)
    assert (usual.fewest, usual.most) == (4, 10)


def test_reading_stops_as_soon_as_the_model_finds_description_and_criteria_comprehensive():
    told = Model(check=["no", "no", "yes"])
    infer(told)
    assert (told.count("observe"), told.count("check")) == (3, 3)


def test_ours_25_bounds_the_batches_that_are_read():
    told = Model(observe=[{"observations": ["A."], "complete": "no"}, None])
    infer(told)
    assert told.count("observe") == 1 + 2 * 24  # what cannot be read is asked once more


def test_ours_5_bounds_the_descriptions_and_the_sets_that_are_made():
    told = Model()
    infer(told)
    assert (told.count("describe"), told.count("propose"), told.count("observe")) == (5, 5, 5)


@pytest.mark.parametrize(
    ("setting", "question"),
    [("n_batches", "observe"), ("max_descriptions", "describe"), ("max_criteria_sets", "propose")],
)
def test_every_cap_is_a_parameter(setting, question):
    told = Model()
    infer(told, **{setting: 2})
    assert told.count(question) == 2


def test_how_many_criteria_are_proposed_and_selected_are_parameters():
    told = Model(select=[{"names": []}])
    rubric = infer(told, n_batches=1, proposed=6, fewest=2, most=3, batch_size=4)
    assert told.inputs("propose")[0]["how_many"] == "6"
    assert (told.inputs("select")[0]["fewest"], told.inputs("select")[0]["most"]) == ("2", "3")
    assert rubric.names == ("a", "b")
    assert len(json.loads(told.inputs("observe")[0]["examples"])) == 4


def test_ours_a_batch_whose_observations_are_complete_makes_no_new_set():
    no, yes = ({"observations": ["A."], "complete": word} for word in ("no", "yes"))
    told = Model(observe=[no, yes, no])
    infer(told, n_batches=3)
    assert (told.count("observe"), told.count("describe"), told.count("propose")) == (3, 2, 2)


def test_ours_complete_before_the_first_set_is_ignored():
    told = Model(observe=[{"observations": ["A."], "complete": "yes"}])
    infer(told, n_batches=2)
    assert (told.count("describe"), told.count("propose")) == (1, 1)


# -- drawing --------------------------------------------------------------------------------


def drawn(n_rows, n_batches, *, seed=0):
    batches = batches_of(
        examples(n_rows), size=5, max_characters=10**6, rng=np.random.default_rng(seed)
    )
    return [[one.item.response for one in next(batches).examples] for _ in range(n_batches)]


def test_ours_no_row_is_drawn_again_before_all_were_and_then_they_are_shuffled_anew():
    """Topical-Chat has 90 rows to tune on and 25 batches of 5 want 125."""
    read = [row for batch in drawn(90, 25) for row in batch]
    assert len(read) == 125
    assert len(set(read[:90])) == 90
    assert len(set(read[90:])) == 35
    assert set(Counter(read).values()) == {1, 2}
    assert read[90:] != read[:35]


def test_ours_rows_are_shuffled_by_the_seed():
    assert drawn(90, 3) == drawn(90, 3)
    assert drawn(90, 3) != drawn(90, 3, seed=1)
    assert drawn(90, 1) != [[f"r{i}" for i in range(5)]]


# -- the ensemble ---------------------------------------------------------------------------


def test_one_call_merges_the_descriptions_and_ours_there_is_none_for_a_single_one():
    told = Model()
    assert infer(told, n_batches=3).task == "Merged."
    assert told.count("merge") == 1
    assert len(json.loads(told.inputs("merge")[0]["descriptions"])) == 3
    told = Model()
    assert infer(told, n_batches=1).task == "T 1."
    assert told.count("merge") == 0


@pytest.mark.parametrize(
    ("types", "chosen"),
    [
        (["dialogue", "summarization", "Summarization"], "summarization"),
        (["dialogue", "summarization", "summarization", "dialogue"], "dialogue"),
    ],
)
def test_ours_the_type_of_task_is_that_of_the_majority_and_of_equals_the_earliest(types, chosen):
    assert infer(Model(describe=types), n_batches=len(types)).task_type == chosen


def test_one_call_selects_and_ranks_criteria_from_the_union_of_all_sets():
    told = Model(propose=[criteria(*"abc"), criteria(*"cde")], select=[{"names": list("edab")}])
    assert infer(told, n_batches=2).names == ("e", "d", "a", "b")
    (asked,) = told.inputs("select")
    assert [one["name"] for one in json.loads(asked["candidates"])] == list("abcde")
    assert (asked["fewest"], asked["most"]) == ("4", "10")


def test_ours_a_selected_name_outside_the_union_is_dropped():
    told = Model(select=[{"names": ["a", "charm", "**B**", "c", "d"]}])
    assert infer(told, n_batches=1).names == ("a", "b", "c", "d")


def test_ours_too_few_are_filled_up_by_how_many_sets_proposed_them_then_by_first_appearance():
    told = Model(
        propose=[criteria(*"abcd"), criteria(*"dxe"), criteria(*"dxc")], select=[{"names": ["e"]}]
    )
    assert infer(told, n_batches=3).names == ("e", "d", "c", "x")


def test_no_more_than_ten_criteria_are_selected():
    told = Model(propose=[criteria(*TEN), criteria(*"klm")], select=[{"names": [*TEN, "k", "l"]}])
    assert infer(told, n_batches=2).names == TEN


@pytest.mark.parametrize("names", [("x",), tuple("abcdefghijklmno")])
def test_ours_given_criteria_are_used_as_they_are_whatever_their_number(names):
    told = Model()
    given = Rubric(criteria=criteria(*names))
    rubric = infer(told, given, n_batches=2)
    assert rubric.criteria == given.criteria
    assert (told.count("propose"), told.count("select")) == (0, 0)
    assert rubric.task == "Merged."


# -- what is inferred is a value ------------------------------------------------------------


def test_everything_inferred_can_be_read_edited_saved_and_passed_back_in():
    rubric = infer(Model(), n_batches=2)
    text = rubric.to_yaml()
    assert "Merged." in text
    assert "Is it d?" in text
    edited = Rubric.from_yaml(text.replace("Is it d?", "Is it dear?"))
    assert edited.criteria[0].definition == "Is it dear?"
    told = Model()
    assert infer(told, edited).criteria == edited.criteria
    assert told.asked == []


# -- ablations ------------------------------------------------------------------------------


def test_without_the_task_criteria_come_from_the_observations_only():
    told = Model()
    rubric = infer(told, n_batches=2, without=("task",))
    assert (rubric.task, told.count("describe"), told.count("merge")) == ("", 0, 0)
    assert all(one["task"] is None for one in told.inputs("propose") + told.inputs("select"))
    assert rubric.names == tuple("dcba")


def test_a_single_mini_batch_is_one_that_nothing_comes_after():
    told = Model()
    infer(told, inference="single")
    assert [told.count(one) for one in ("observe", "check", "merge")] == [1, 0, 0]


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_ours_the_temperature_is_0_and_a_parameter(temperature, monkeypatch):
    seen = []

    def answered(lm, predictor, ask, sampling):
        seen.append(sampling)
        return ModelReply(cause=Cause(Reason.UNREADABLE, "unreadable"))

    monkeypatch.setattr(modules, "ask_of", answered)
    choices = {"temperature": temperature} if temperature else {}
    with pytest.raises(ValueError, match="nothing could be inferred"):
        TaskInference(**choices)(items=[one.item for one in examples(5)], scores=[0, 1, 2, 3, 4])
    assert {one.temperature for one in seen} == {temperature}


# The rules of Active-Critic's scoring (stage 2) and of the scores that are shown; ours say so.

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
    steps = program_of(chosen, **TEXTS)
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
    return rows_from(rated, LIKERT, **choices)


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


def test_ours_the_temperature_is_0_and_a_parameter_active_critic_scoring_rules():
    assert ActiveCriticConfig().temperature == 0
    assert ActiveCriticConfig(temperature=0.7).temperature == 0.7
    with pytest.raises(ValueError, match="temperature"):
        ActiveCriticConfig(temperature=-1)

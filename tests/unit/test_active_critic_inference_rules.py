"""The rules of Active-Critic's task inference (stage 1); those that we settled say "ours"."""

import json
from collections import Counter

import numpy as np
import pytest

from judgesmith.programs.families import modules
from judgesmith.programs.families.modules import TaskInference
from judgesmith.programs.families.task_inference import (
    RatedExample,
    batches_of,
    inference_steps,
)
from judgesmith.programs.judging.program import ModelReply
from judgesmith.signatures import RatedItem, Rubric
from judgesmith.signatures.config import InferenceSettings
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.questions.task_inference import (
    DescribeTask,
    ObserveExamples,
    ProposedCriteria,
)

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

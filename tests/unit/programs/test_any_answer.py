"""Whatever a model writes, judges say something, and inference ends or says why it cannot."""

import json

import numpy as np
import pytest
from dspy.utils.exceptions import AdapterParseError
from hypothesis import given, settings
from hypothesis import strategies as st

from judgesmith.programs import ActiveCritic
from judgesmith.programs.families.active_critic import critic_steps
from judgesmith.programs.families.task_inference import (
    RatedExample,
    batches_of,
    inference_steps,
)
from judgesmith.programs.judging.adapter import FencedAdapter
from judgesmith.programs.judging.program import ModelReply, answered
from judgesmith.signatures import ActiveCriticConfig, RatedItem, Rubric
from judgesmith.signatures.config import InferenceSettings
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.questions import task_inference as questions
from judgesmith.signatures.scale import PERCENT

pytestmark = pytest.mark.no_cover

RUBRIC = Rubric(task="t", criteria={"a": "Is it A?", "b_b": "Is it B?"})
JUDGES = {
    "vanilla": {"variant": "vanilla"},
    "coarse": {"variant": "coarse"},
    "fine": {},
    "separate": {"criteria_calls": "separate"},
    "mean": {"overall": "mean"},
    "scores alone": {"explain": "none"},
}
ASKED = {
    "observe": questions.ObserveExamples,
    "describe": questions.DescribeTask,
    "propose": questions.ProposeCriteria,
    "check": questions.JudgeCompleteness,
    "merge": questions.MergeDescriptions,
    "select": questions.SelectCriteria,
}
FIELDS = ("explanation", "score", "assessments", "completed", "observations", "complete", "names")
FIELDS += ("task_type", "evaluated", "relationship", "description", "criteria", "missing")

words = st.sampled_from(["85", "-5", "120", "**40/100**", "N/A", "yes", "No.", "- one", "a", "B b"])
marks = st.sampled_from(["```json\n", "\n```", "[", "]", "{", "}", ",", '"', "'", ":", "\n", "**"])
headers = st.sampled_from(FIELDS).map("\n[[ ## {} ## ]]\n".format)
names = st.sampled_from(["a", "B-b", "b_b", "criterion", "explanation", "score", "name", *FIELDS])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 120) | words | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
records = st.lists(
    st.fixed_dictionaries(
        {"criterion": names, "score": st.integers(-1, 101) | words},
        optional={"explanation": st.text(max_size=9), "definition": words, "name": names},
    ),
    max_size=3,
)
parts = st.one_of(headers, headers, words, marks, (values | records).map(json.dumps), st.text())
answers = st.lists(parts, max_size=12).map("".join)


@pytest.mark.parametrize("choices", JUDGES.values(), ids=JUDGES)
@settings(max_examples=60)
@given(given_answers=st.lists(answers, min_size=8, max_size=8))
def test_every_item_has_a_score_in_range_or_a_reason(choices, given_answers):
    protocol = ActiveCriticConfig(rubric=RUBRIC, **choices)
    templates = ActiveCritic(protocol).templates()
    steps = critic_steps(protocol, source="s", response="r")
    asked = []

    def reply(ask):
        text = given_answers[len(asked)]
        asked.append((ask.predictor, ask.sample))
        templates[ask.predictor].render(ask.inputs).encode()
        try:
            return ModelReply(fields=templates[ask.predictor].read(text))
        except ValueError as fault:
            return ModelReply(cause=Cause(Reason.UNREADABLE, str(fault)))

    judgement = answered(steps, reply)
    assert len(set(asked)) == len(asked) <= 2 * len(templates)
    said = [judgement.score, *(one.score for one in judgement.criteria.values())]
    assert all(score in PERCENT for score in said if score is not None)
    assert bool(judgement.problem) == (judgement.score is None)
    judgement.model_dump_json()


@settings(max_examples=150)
@given(st.sampled_from(sorted(ASKED)), answers)
def test_a_question_of_inference_is_answered_or_refused_as_dspy_refuses(step, text):
    signature = ASKED[step]
    try:
        fields = FencedAdapter().parse(signature, text)
    except AdapterParseError:
        return
    assert list(fields) == list(signature.output_fields)


@settings(max_examples=60)
@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), values, max_size=6), min_size=1))
def test_inference_ends_with_a_rubric_or_says_why_there_is_none(said):
    examples = [RatedExample(item=RatedItem(response=f"r{n}"), score=n) for n in range(7)]
    batches = batches_of(examples, size=3, max_characters=9999, rng=np.random.default_rng(0))
    steps = inference_steps(batches, InferenceSettings(n_batches=4), Rubric())
    reply = None
    n_asked = 0
    why = ""
    try:
        while True:
            ask = steps.send(reply)
            n_asked += 1
            fields = {**_usual(ask.predictor), **said[n_asked % len(said)]}
            text = "\n".join(f"[[ ## {name} ## ]]\n{_written(one)}" for name, one in fields.items())
            try:
                reply = ModelReply(fields=FencedAdapter().parse(ASKED[ask.predictor], text))
            except AdapterParseError as fault:
                reply = ModelReply(cause=Cause(Reason.UNREADABLE, str(fault)))
    except StopIteration as end:
        rubric = end.value.rubric()
        assert Rubric.from_yaml(rubric.to_yaml()) == rubric
        assert len(rubric.criteria) <= 10
    except ValueError as fault:
        why = str(fault)
    assert not why or "nothing could be inferred" in why
    assert n_asked <= 2 * (4 * 4 + 2)


def _usual(step):
    return {
        "observe": {"observations": ["Short."], "complete": "no"},
        "describe": {"task_type": "x", "evaluated": "y", "relationship": "z", "description": "d"},
        "propose": {"criteria": {"a": "Is it A?", "b": "Is it B?"}},
        "check": {"missing": "much", "complete": "no"},
        "merge": {"description": "merged"},
        "select": {"names": ["a", "b"]},
    }[step]


def _written(value):
    return value if isinstance(value, str) else json.dumps(value)

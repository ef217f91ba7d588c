"""Steps and questions that a model writes: side by side, and nothing that is on its way is lost."""

import asyncio
import json

import pytest

from judgesmith.programs.families.modules import ChecklistJudge, GEvalJudge
from judgesmith.programs.judging.ask_once import QUESTIONS, STEPS
from judgesmith.programs.lm import Budget, BudgetSpent, LMClient, ModelAnswer
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.programs.lm.limits import STOPPING, Stopped
from judgesmith.signatures import Rubric

FOUR = Rubric(criteria={name: f"How {name} is it?" for name in ("short", "clear", "true", "kind")})


class Waiting:
    """An engine that answers steps after a moment, and counts what it has on its hands."""

    endpoint = "waiting"

    def __init__(self, begun=lambda n: None):
        self.busy = self.most = self.n = self.answered = 0
        self.begun = begun

    async def complete(self, request):
        self.n += 1
        self.busy += 1
        self.most = max(self.most, self.busy)
        self.begun(self.n)
        await asyncio.sleep(0.02)
        self.busy -= 1
        self.answered += 1
        text = f"[[ ## steps ## ]]\n1. Look at it.\n2. Note {self.n}.\n\n[[ ## completed ## ]]"
        return ModelAnswer(text=text, input_tokens=1, output_tokens=1)

    async def aclose(self):
        """Nothing is open."""


def waiting(begun=lambda n: None, **options):
    engine = Waiting(begun)
    return ClientLM.over(
        LMClient(engine, **options), "waiting/m", recipe={}, temperature=0.0
    ), engine


@pytest.mark.parametrize(("concurrency", "most"), [(32, 4), (1, 1)])
def test_steps_of_all_criteria_are_asked_for_at_once(concurrency, most):
    lm, engine = waiting()
    judge, problems = GEvalJudge(rubric=FOUR).prepared(lm, concurrency=concurrency)
    assert (engine.most, engine.n, problems) == (most, 4, ())
    assert [name.partition(":")[0] for name in judge.protocol.steps] == list(FOUR.names)


def test_what_is_on_its_way_is_answered_before_a_stop():
    def begun(n):
        if n == 2:
            STOPPING.request()

    lm, engine = waiting(begun)
    try:
        with pytest.raises(Stopped):
            GEvalJudge(rubric=FOUR).prepared(lm, concurrency=2)
    finally:
        STOPPING.reset()
    assert engine.n == engine.answered == 2


def test_a_spent_budget_ends_it_and_is_said():
    lm, engine = waiting(budget=Budget(max_calls=3))
    with pytest.raises(BudgetSpent, match="budget of 3 calls"):
        GEvalJudge(rubric=FOUR).prepared(lm)
    assert engine.n == engine.answered == 3


LISTS = (
    '["Read it.", "Note faults."]',
    '[\n  "1. Read it.",\n  "2. Note faults."\n]',
    '```json\n["Read it.", "Note faults."]\n```',
    '{"steps": ["Read it.", "Note faults."]}',
)


@pytest.mark.parametrize("text", LISTS)
def test_a_json_list_is_read_as_a_list(text):
    assert STEPS.read(text) == ("Read it.", "Note faults.")


def test_a_json_list_of_questions_is_one_question_each(scripted):
    said = json.dumps(["Is it funny?", "Is there a pun?"])
    lm, engine = scripted(lambda _: f"[[ ## questions ## ]]\n{said}\n\n[[ ## completed ## ]]")
    judge, problems = ChecklistJudge(
        rubric=Rubric(criteria={"wit": "it makes one laugh"})
    ).prepared(lm)
    assert problems == ()
    assert list(judge.protocol.questions.values()) == [("Is it funny?", "Is there a pun?")]
    assert len(engine.requests) == 1


@pytest.mark.parametrize("text", ['["Read it.", 2]', "[Read it.", '{"a": ["b"], "c": ["d"]}'])
def test_what_is_no_list_of_texts_stays_text(text):
    assert STEPS.read(text) == (text,)


@pytest.mark.parametrize("text", ["[]", '["", " "]'])
def test_a_list_of_nothing_is_refused(text):
    with pytest.raises(ValueError, match=r"expected 1 to 12|got \[\]|question mark"):
        QUESTIONS.read(text)

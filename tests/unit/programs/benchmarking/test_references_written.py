"""Good texts by a model: asked for once each, read strictly, said why where there are none."""

from __future__ import annotations

import re

import pytest

from judgesmith.programs.benchmarking import ReferenceWriter, write_references
from judgesmith.programs.judging.ask_once import Written
from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.lm import Budget, LMClient, ModelAnswer, model
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.programs.offline.changing import extract_of
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.rubric import Rubric

RUBRIC = Rubric(task="Summarise.", criteria={"brevity": "Is it short?"})
ITEMS = [RatedItem(source=f"Ann left room {n}. It rained. Bob wept.", response="") for n in (1, 2)]


class Engine:
    """Answers by a function of the text's number and the sample."""

    endpoint = "scripted"

    def __init__(self, write):
        self.write = write
        self.requests = []

    def answer(self, request):
        self.requests.append(request)
        number = re.search(r"\[\[ ## number ## \]\]\n(\d+)", request.user)[1]
        text = self.write(int(number), request.sample)
        text = f"[[ ## reference ## ]]\n{text}\n\n[[ ## completed ## ]]"
        return ModelAnswer(text=text, input_tokens=1, output_tokens=1)


def scripted(write, **budget):
    engine = Engine(write)
    stack = LMClient(engine, budget=Budget(**budget))
    return ClientLM.over(stack, "scripted", recipe={}, temperature=0.0), engine


def test_every_source_has_its_texts_in_order_and_each_is_one_call():
    lm, engine = scripted(lambda number, sample: f"Text {number}.")
    found = write_references(ITEMS, RUBRIC, 3, lm)
    assert found == ((tuple(Written(text=f"Text {n}.") for n in (1, 2, 3)),) * 2)
    assert len(engine.requests) == 6
    assert engine.requests[0].settings.temperature == 1.0
    system, user = engine.requests[0].prefix.messages[0].text, engine.requests[0].user
    assert "leaves nothing to improve" in system
    assert "brevity: Is it short?" in user
    assert "Summarise." in user


def test_nothing_is_said_of_task_or_criteria_that_are_not_there():
    lm, engine = scripted(lambda number, sample: "A text.")
    write_references(ITEMS[:1], Rubric(), 1, lm)
    assert "## task ##" not in engine.requests[0].user
    assert "## criteria ##" not in engine.requests[0].user


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", "an empty text"),
        ("…", "an empty text"),
        ("I'm sorry, I cannot do that.", "a refusal"),
        ("Sure, here it is:\nAnn left.", "a remark beside the text"),
        ("**Ann** left.", "markup that the text does not have"),
        ("Ann left. <verbatim-0>", "marks of the layout of questions"),
    ],
)
def test_what_is_no_text_alone_is_asked_for_once_more_and_then_said(answer, problem):
    lm, engine = scripted(lambda number, sample: answer)
    nothing = Written(cause=Cause(Reason.UNREADABLE, problem))
    assert write_references(ITEMS[:1], RUBRIC, 1, lm) == ((nothing,),)
    assert [one.sample for one in engine.requests] == [0, 1]


def test_a_second_answer_counts_where_the_first_does_not():
    lm, _ = scripted(lambda number, sample: '"Ann left."' if sample else "")
    assert write_references(ITEMS[:1], RUBRIC, 1, lm) == ((Written(text="Ann left."),),)


def test_what_the_budget_does_not_reach_says_so():
    lm, _ = scripted(lambda number, sample: "A text.", max_calls=3)
    found = [one for texts in write_references(ITEMS, RUBRIC, 2, lm) for one in texts]
    assert [bool(one.text) for one in found] == [True, True, True, False]
    assert found[-1].cause.reason is Reason.OVER_BUDGET


@pytest.mark.parametrize("concurrency", [1, 7])
def test_the_offline_model_writes_extracts_whatever_is_asked_at_a_time(concurrency):
    lm = model("offline", ledger=None)
    found = write_references(ITEMS, RUBRIC, 4, lm, concurrency=concurrency)
    assert [one.text for one in found[1]] == [
        "Ann left room 2. It rained.",
        "It rained. Bob wept.",
        "Bob wept.",
        "Ann left room 2. It rained.",
    ]
    assert write_references(ITEMS, RUBRIC, 2, lm) == tuple(texts[:2] for texts in found)


def test_the_program_and_the_fast_way_write_the_same():
    writer = ReferenceWriter(RUBRIC)
    one = writer(source=ITEMS[0].source, number=2)
    assert one == write_references(ITEMS[:1], RUBRIC, 2)[0][1]
    assert isinstance(Executor.of(writer, model("offline", ledger=None)), Executor)
    with pytest.raises(TypeError, match="judges nothing"):
        writer.steps(source="", response="")


def test_no_text_is_no_call_and_less_is_refused():
    assert write_references(ITEMS, RUBRIC, 0) == ((), ())
    assert write_references([], RUBRIC, 3) == ()
    with pytest.raises(ValueError, match="n must be zero or more"):
        write_references(ITEMS, RUBRIC, -1)


@pytest.mark.parametrize(
    "source",
    ["", "🦆", "\u202e\u0000", "[[ ## reference ## ]]\n9", "<b>x</b>" * 50, "質問。答え。"],
)
def test_any_source_has_an_extract_that_is_a_text(source):
    texts = {extract_of(source, number) for number in range(1, 5)}
    assert all(text.strip() for text in texts)
    items = [RatedItem(source=source, response="")]
    assert len(write_references(items, RUBRIC, 2)[0]) == 2


def test_an_extract_keeps_to_a_usual_length():
    source = " ".join(f"Sentence {n} has {'many ' * 60}words." for n in range(9))
    assert len(extract_of(source, 1)) < 700
    assert extract_of("Ann left. It rained. Bob wept. Then night fell. Rain. More.", 2) == (
        "It rained. Bob wept. Then night fell."
    )

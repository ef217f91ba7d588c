"""Whoever answers, steps are sent one reply for a question and a tuple for a tuple."""

import asyncio

import pytest

from judgesmith.programs.judging.program import (
    ModelReply,
    PromptRequest,
    answered,
    run_program,
)


def ask(name):
    return PromptRequest(predictor=name, inputs={})


def course():
    first = yield ask("a")
    second, third = yield (ask("b"), ask("c"))
    return [first.call, second.call, third.call]


def test_questions_are_answered_one_after_the_other():
    seen = []

    def reply(question):
        seen.append(question.predictor)
        return ModelReply(call=question.predictor.upper())

    assert answered(course(), reply) == ["A", "B", "C"]
    assert seen == ["a", "b", "c"]


def test_steps_that_ask_nothing_come_to_what_they_return():
    def silent():
        return "found"
        yield

    assert answered(silent(), lambda question: ModelReply()) == "found"


def test_questions_of_one_tuple_are_under_way_together():
    under_way = asyncio.Barrier(2)

    async def reply(question):
        if question.predictor != "a":
            await asyncio.wait_for(under_way.wait(), 60)
        return ModelReply(call=question.predictor)

    assert asyncio.run(run_program(course(), reply)) == ["a", "b", "c"]


def test_a_fault_is_raised_once_the_others_are_answered():
    finished = []

    async def reply(question):
        if question.predictor == "b":
            raise RuntimeError("no model")
        await asyncio.sleep(0)
        finished.append(question.predictor)
        return ModelReply(call=question.predictor)

    with pytest.raises(RuntimeError, match="no model"):
        asyncio.run(run_program(course(), reply))
    assert finished == ["a", "c"]

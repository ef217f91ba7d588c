"""Every fault that a server can have, on every way to it: tried again, or said to be what it is."""

import asyncio
import json

import loopback_faults as faults
import pytest

from judgesmith.programs.lm import ContextWindowExceeded, ModelError, Retry, TransientModelError

QUICK = Retry(attempts=3, first=0.001)
# These make a client wait for seconds; test_stack.py has them with shorter times.
SLOW = ("http_429_seconds", "http_429_date")


@pytest.fixture(scope="module")
def running_server():
    with faults.serving() as server:
        yield server


def asynchronously(stack, request):
    async def run():
        try:
            return await stack.complete(request)
        finally:
            await stack.aclose()

    return asyncio.run(run())


def synchronously(stack, request):
    try:
        return stack.complete_sync(request)
    finally:
        stack.close()


@pytest.fixture(params=[asynchronously, synchronously])
def way(request):
    return request.param


@pytest.mark.no_cover
@pytest.mark.parametrize("fault", [one for one in faults.PASSING if one not in SLOW])
def test_every_passing_fault_is_tried_again_until_there_is_an_answer(
    stack, ask, server, way, fault
):
    server.script({"fault": fault, "times": 2})
    made = stack(retry=QUICK)
    assert way(made, ask()).text == "7"
    assert server.faults() == {fault: 2}
    assert server.counts()["requests"] == made.usage.calls == made.spent.calls == 3
    assert made.usage.retries == 2
    assert [one.from_cache for one in made.lookup_many([ask()])] == [True]


@pytest.mark.parametrize("fault", ["null_choice", "no_choices", "half_closed", "deep_json"])
def test_a_fault_that_does_not_pass_is_given_up_and_nothing_kept(stack, ask, server, way, fault):
    server.script({"fault": fault})
    made = stack(retry=Retry(attempts=2, first=0.001))
    with pytest.raises(TransientModelError):
        way(made, ask())
    assert made.usage.calls == 2
    assert made.lookup(ask()) is None
    assert made.ledger.query("SELECT count(*) FROM flights")[0][0] == 0


@pytest.mark.parametrize("fault", faults.HARMLESS)
def test_an_oddity_that_does_no_harm_does_none(stack, ask, server, way, fault):
    server.script({"fault": fault, "times": 1})
    made = stack(retry=QUICK)
    answer = way(made, ask(logprobs=2))
    assert answer.text == "7"
    assert (answer.logprobs is not None) == (fault == "logprobs")
    assert server.counts()["requests"] == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 451])
def test_a_request_that_is_refused_is_refused_once(stack, ask, server, way, status):
    server.script({"status": status})
    made = stack(retry=QUICK)
    with pytest.raises(ModelError, match=f"HTTP {status}") as caught:
        way(made, ask())
    assert not isinstance(caught.value, TransientModelError | ContextWindowExceeded)
    assert caught.value.status == status
    assert (server.counts()["requests"], made.spent.calls, made.spent.tokens) == (1, 1, 0)


@pytest.mark.parametrize(
    ("fault", "text", "reason"),
    [
        ("no_content", "", "stop"),
        ("filtered", "", "content_filter"),
        ("cut_off", "[[ ## explanation ## ]]\nThe text is", "length"),
        ("refusal_field", "I cannot judge this.", "stop"),
    ],
)
def test_an_answer_is_one_even_if_it_is_empty_cut_off_or_a_refusal(
    stack, ask, server, way, fault, text, reason
):
    server.script({"fault": fault})
    answer = way(stack(retry=QUICK), ask())
    assert (answer.text, answer.finish_reason) == (text, reason)
    assert server.counts()["requests"] == 1


@pytest.mark.no_cover
def test_an_answer_of_twenty_megabytes_is_kept_whole(stack, ask, server, way):
    server.script({"fault": "huge", "times": 1})
    answer = way(stack(), ask())
    assert len(answer.text) > faults.HUGE - 20
    assert stack().lookup(ask()).text == answer.text


def test_what_is_wrong_with_a_reply_is_said_in_a_few_words(stack, ask, server, way):
    server.script({"fault": "wrong_json"})
    with pytest.raises(TransientModelError, match="not laid out as one of a model") as caught:
        way(stack(retry=QUICK), ask())
    assert len(str(caught.value)) < 400


def test_a_request_that_cannot_be_spelled_is_no_fault_of_the_server(stack, ask, server, way):
    with pytest.raises(ModelError) as caught:
        way(stack(retry=QUICK), ask(extra=(("reasoning", '{"effort": 7}'),)))
    assert not isinstance(caught.value, TransientModelError)
    assert server.counts()["requests"] == 0


@pytest.mark.parametrize(
    ("said", "counted"),
    [
        ({"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35}, (30, 5)),
        ({"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 95}, (30, 65)),
        ({"prompt_tokens": 30, "completion_tokens": 5}, (30, 5)),
        ({"prompt_tokens": 10**30, "completion_tokens": 10**30}, (None, None)),
        ({}, (None, None)),
        (None, (None, None)),
    ],
)
def test_tokens_count_with_those_of_reasoning_and_no_others(stack, ask, server, way, said, counted):
    body = {"choices": [{"message": {"content": "7"}}], "model": "m", "usage": said}
    server.script({"body": json.dumps(body)})
    made = stack()
    answer = way(made, ask(max_tokens=9))
    assert (answer.input_tokens, answer.output_tokens) == counted
    assert 0 < made.spent.tokens < 1000


def test_every_fault_has_a_reply_and_a_place():
    assert {*faults.PASSING, *faults.LASTING, *faults.HARMLESS} == faults.SERVED


@pytest.mark.no_cover
def test_faults_are_a_function_of_the_seed_and_the_question():
    plan = {"seed": 3, "share": 0.2, "kinds": list(faults.PASSING)}
    met = [faults.planned(plan, f"item-{n}") for n in range(2000)]
    assert met == [faults.planned(plan, f"item-{n}") for n in range(2000)]
    assert 300 < sum(one is not None for one in met) < 500
    assert set(met) == {None, *faults.PASSING}
    assert met != [faults.planned(plan | {"seed": 4}, f"item-{n}") for n in range(2000)]

"""Every fault that a server can have, on every way to it, and connections that break."""

import asyncio
import json
import time

import loopback_connections as connections
import loopback_faults as faults
import pytest

from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.lm import (
    BudgetSpent,
    ContextWindowExceeded,
    Message,
    ModelError,
    ModelRequest,
    Prefix,
    Retry,
    TransientModelError,
    client_model,
    lm_client_of,
    model,
)
from judgesmith.signatures import RatedItem

QUICK = Retry(attempts=3, first=0.001)
# These make a client wait for seconds; test_client.py has them with shorter times.
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


# One fault per item, all kinds in one run: scored after another attempt, or unscored and why.

GRADE = "[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]"
PASSING = [one for one in faults.PASSING if one not in ("http_429_seconds", "http_429_date")]
# What is unreadable by its size alone takes long to read, and has a test of its own.
KINDS = [*(one for one in faults.LASTING if one != "huge"), *PASSING, *faults.HARMLESS, None]


UNREAD = ("the model's answer could not be read", "the model answered", "the answer")


def one_item_per_fault(server):
    """Return an item for each kind of fault, and one without."""
    for fault in KINDS[:-1]:
        plan = {"seed": 0, "share": 1.0, "kinds": [fault], "label": f"meets {fault}\\."}
        server.script({"plan": plan, "contains": f"meets {fault}."})
    return [RatedItem(source="s", response=f"This one meets {fault}.") for fault in KINDS]


@pytest.mark.no_cover
def test_every_item_is_scored_or_unscored_for_the_reason_of_its_fault(server, tmp_path):
    server.reset(answer=GRADE)
    items = one_item_per_fault(server)
    judge = ActiveCritic(variant="vanilla")

    def run(run_id="named"):
        place = tmp_path / "l.sqlite"
        lm = model("openai/m", api_base=server.url, ledger=place, retry=QUICK, run_id=run_id)
        return score_batch(judge, items, lm=lm), lm_client_of(lm)

    found, stack = run()
    for fault, judgement in zip(KINDS, found, strict=True):
        if fault in faults.LASTING:
            assert judgement.score is None, fault
            assert judgement.problem.startswith(faults.LASTING[fault]), (fault, judgement.problem)
        else:
            assert (judgement.score, judgement.problem) == (70.0, None), fault

    counts = server.counts()
    intents = stack.ledger.query("SELECT count(*) FROM intents")[0][0]
    assert counts["requests"] == stack.usage.calls == stack.spent.calls == intents

    # Answers, also bad ones, are on record; only what never was one is asked again.
    again, second = run()
    assert [one.score for one in again] == [one.score for one in found]
    unanswered = {"http_400": 1, "http_413": 1, "http_422": 1, "http_451": 1}
    unanswered |= {"too_long_a_prompt": 1, "down": QUICK.attempts}
    assert second.usage.calls == sum(unanswered.values())
    assert server.counts()["requests"] == counts["requests"] + second.usage.calls
    # Once it is finished, the same run asks anew what could not be read.
    n_unread = sum((one.problem or "").startswith(UNREAD) for one in found)
    second.finish()
    assert run()[1].usage.calls == second.usage.calls + 2 * n_unread


@pytest.mark.no_cover
@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_a_fault_of_the_set_up_ends_the_run(server, status):
    server.reset(answer=GRADE)
    server.script({"contains": "text 7", "status": status})
    items = [RatedItem(source="s", response=f"text {n}") for n in range(9)]
    lm = model("openai/m", api_base=server.url, ledger=None)
    with pytest.raises(ModelError, match=f"HTTP {status}"):
        score_batch(ActiveCritic(variant="vanilla"), items, lm=lm, concurrency=2)


# Connections that break and servers that go away: what is asked is answered, once.

AGAIN = Retry(attempts=1000, first=0.05, longest=0.2)


@pytest.fixture(scope="module")
def breaking():
    with connections.serving(latency=0.01) as server:
        yield server


def asked(server, texts, in_flight, *, meanwhile=None, **options):
    """Ask through a stack and return it and the answers."""
    stack = client_model("openai/m", api_base=server.url, retry=AGAIN, **options).client
    waiting = iter(texts)
    found = {}

    async def work():
        for text in waiting:
            request = ModelRequest(
                model="openai/m", prefix=Prefix([Message("system", "Rate.")]), user=text
            )
            try:
                found[text] = (await stack.complete(request)).text
            except BudgetSpent:
                return

    async def run():
        tasks = [work() for _ in range(in_flight)]
        await asyncio.gather(*tasks, *([meanwhile(found)] if meanwhile else []))
        await stack.aclose()

    asyncio.run(run())
    return stack, found


@pytest.mark.parametrize("ending", connections.ENDINGS)
def test_a_connection_that_breaks_costs_no_answer_and_is_not_asked_again(breaking, path, ending):
    asked_before, answered_before = breaking.noted()
    breaking.script({"ending": ending, "times": 12})
    texts = [f"{ending} {n}" for n in range(60)]

    async def patience_ends(found):
        """Put the loop's clock forward once all twelve have met silence."""
        loop = asyncio.get_running_loop()
        while sum((breaking.noted()[0] - asked_before).values()) < 12:
            await asyncio.sleep(0.01)
        loop.time = lambda: time.monotonic() + 100

    silent = {"meanwhile": patience_ends} if ending == "silence" else {}
    stack, found = asked(breaking, texts, 12, ledger=path, timeout=60.0, **silent)
    asked_now, answered_now = breaking.noted()
    assert [found[text] for text in texts] == ["7"] * 60
    n_asked, n_answered = (
        sum((now - before).values())
        for now, before in ((asked_now, asked_before), (answered_now, answered_before))
    )
    # What was sent on a connection that the server had shut already was never read there.
    assert n_asked <= stack.spent.calls == stack.usage.calls <= n_asked + 12
    assert n_answered == 60
    # Half an answer and silence take an attempt each; a whole answer takes none.
    if ending in ("inside", "silence"):
        assert stack.usage.calls == 72


@pytest.mark.parametrize("max_calls", [10_000, 130], ids=["plenty", "scarce"])
def test_a_server_that_is_killed_and_started_again_is_found_again(breaking, path, max_calls):
    asked_before, _ = breaking.noted()
    texts = [f"{max_calls} {n}" for n in range(120)]

    async def restart(found):
        while len(found) < 40:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(breaking.kill)
        await asyncio.sleep(0.2)
        await asyncio.to_thread(breaking.start)

    stack, found = asked(breaking, texts, 16, meanwhile=restart, ledger=path, max_calls=max_calls)
    asked_now, answered_now = breaking.noted()
    n_asked = sum((asked_now - asked_before).values())
    assert n_asked <= stack.spent.calls == stack.usage.calls <= max_calls
    assert max((answered_now[one] for one in asked_now - asked_before), default=0) <= 2
    if max_calls > 1000:
        assert len(found) == 120
    # Whatever was answered is on record: the same again sends nothing.
    again, kept = asked(breaking, list(found), 16, ledger=path)
    assert again.usage.calls == 0
    assert kept == dict.fromkeys(found, "7")

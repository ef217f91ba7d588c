"""Connections that break and servers that go away: what is asked meanwhile is answered, once."""

import asyncio

import loopback_connections as connections
import pytest

from judgesmith.programs.lm import BudgetSpent, Message, ModelRequest, Prefix, Retry, client_model

QUICK = Retry(attempts=1000, first=0.05, longest=0.2)


@pytest.fixture(scope="module")
def running_server():
    with connections.serving(latency=0.01) as server:
        yield server


def asked(server, texts, in_flight, *, meanwhile=None, **options):
    """Ask through a stack and return it and the answers."""
    stack = client_model("openai/m", api_base=server.url, retry=QUICK, **options).client
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
def test_a_connection_that_breaks_costs_no_answer_and_is_not_asked_again(server, path, ending):
    asked_before, answered_before = server.noted()
    server.script({"ending": ending, "times": 12})
    texts = [f"{ending} {n}" for n in range(60)]
    seconds = 3.0 if ending == "silence" else 60.0
    stack, found = asked(server, texts, 12, ledger=path, timeout=seconds)
    asked_now, answered_now = server.noted()
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
def test_a_server_that_is_killed_and_started_again_is_found_again(server, path, max_calls):
    asked_before, _ = server.noted()
    texts = [f"{max_calls} {n}" for n in range(120)]

    async def restart(found):
        while len(found) < 40:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(server.kill)
        await asyncio.sleep(0.2)
        await asyncio.to_thread(server.start)

    stack, found = asked(server, texts, 16, meanwhile=restart, ledger=path, max_calls=max_calls)
    asked_now, answered_now = server.noted()
    n_asked = sum((asked_now - asked_before).values())
    assert n_asked <= stack.spent.calls == stack.usage.calls <= max_calls
    assert max((answered_now[one] for one in asked_now - asked_before), default=0) <= 2
    if max_calls > 1000:
        assert len(found) == 120
    # Whatever was answered is on record: the same again sends nothing.
    again, kept = asked(server, list(found), 16, ledger=path)
    assert again.usage.calls == 0
    assert kept == dict.fromkeys(found, "7")

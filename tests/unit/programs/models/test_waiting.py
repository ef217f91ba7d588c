import asyncio
import sqlite3
import threading

import pytest

from judgesmith.programs.judging.runner import SyncBridge
from judgesmith.programs.lm import Budget, ModelAnswer, ResponseCache
from judgesmith.programs.lm.cache.records import Claim, Settle
from judgesmith.programs.lm.waiting import SUSPENDING

A, B = b"a" * 16, b"b" * 16


@pytest.fixture
def ledger(tmp_path):
    made = ResponseCache(tmp_path / "ledger.sqlite")
    yield made
    made.close()


def claim(ledger, identity):
    run = ledger.run("run")
    return Claim(identity=identity, run=run, budget=Budget(), tokens=100, usd=1.0, seconds=1.0)


def test_who_is_cancelled_while_the_file_is_busy_ends_when_the_write_is_through(ledger):
    paid = claim(ledger, A)
    settle = Settle(
        claim=paid,
        intent=ledger.perform(paid).intent,
        model=ledger.model("m", "e"),
        answer=ModelAnswer(text="7"),
        tokens=11,
        usd=0.5,
        seconds=2.0,
    )
    other = sqlite3.connect(ledger.path, isolation_level=None, check_same_thread=False)

    async def run():
        other.execute("BEGIN IMMEDIATE")
        writes = (settle, claim(ledger, B))
        tasks = [asyncio.ensure_future(SUSPENDING.perform(ledger, one)) for one in writes]
        await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        threading.Timer(0.05, other.execute, ["COMMIT"]).start()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert all(task.cancelled() for task in tasks)

    with SyncBridge() as loop:  # which closes as soon as the tasks have ended
        loop(run())
    other.close()
    assert ledger.lookup(A).text == "7"
    assert (ledger.spent("run").calls, ledger.spent("run").tokens) == (1, 11)
    assert ledger.query("SELECT count(*) FROM flights")[0][0] == 0

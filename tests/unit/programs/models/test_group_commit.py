import asyncio
import sqlite3

import pytest

from judgesmith.programs.lm import BudgetSpent, CacheError
from judgesmith.programs.lm.cache.records import Budget, Claim, Withdraw
from judgesmith.programs.lm.cache.store import GroupCommit

CLAIM = Claim(identity=bytes(16), run=1, budget=Budget(), tokens=1, usd=0.0, seconds=0.0)
OTHER = Withdraw(claim=CLAIM, intent=1)


class Ledger:
    def __init__(self, *, busy=0, fault=None):
        self.busy = busy
        self.fault = fault
        self.batches = []

    def apply(self, writes):
        if self.busy:
            self.busy -= 1
            busy = sqlite3.OperationalError("database is locked")
            busy.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise busy
        if self.fault:
            raise self.fault
        self.batches.append(list(writes))
        return list(range(len(writes)))


def committed(ledger, n, **options):
    async def run():
        commit = GroupCommit(ledger, asyncio.get_running_loop(), **options)
        return await asyncio.gather(*[commit.submit(CLAIM) for _ in range(n)])

    return asyncio.run(run())


def test_writes_submitted_together_are_committed_together():
    ledger = Ledger()
    assert committed(ledger, 5) == [0, 1, 2, 3, 4]
    assert len(ledger.batches) == 1


def test_a_busy_file_is_tried_again():
    ledger = Ledger(busy=3)
    assert committed(ledger, 2) == [0, 1]
    assert len(ledger.batches) == 1


def test_a_file_that_stays_busy_is_an_error():
    with pytest.raises(CacheError, match="does not let go"):
        committed(Ledger(busy=1000), 1, patience=0.01)


def test_a_failed_commit_fails_everyone_in_it():
    async def run():
        commit = GroupCommit(Ledger(fault=CacheError("no")), asyncio.get_running_loop())
        futures = [commit.submit(CLAIM) for _ in range(3)]
        return await asyncio.gather(*futures, return_exceptions=True)

    assert [type(one) for one in asyncio.run(run())] == [CacheError] * 3


def test_a_refusal_reaches_only_the_one_refused():
    class Half(Ledger):
        def apply(self, writes):
            refusal = BudgetSpent("no", ceiling="max_calls", calls=1, tokens=0, usd=0, minutes=0)
            return [1, refusal]

    async def run():
        commit = GroupCommit(Half(), asyncio.get_running_loop())
        futures = [commit.submit(CLAIM) for _ in range(2)]
        return await asyncio.gather(*futures, return_exceptions=True)

    granted, refused = asyncio.run(run())
    assert granted == 1
    assert isinstance(refused, BudgetSpent)


def test_a_cancelled_claim_is_not_made_and_any_other_write_is():
    ledger = Ledger()

    async def run():
        commit = GroupCommit(ledger, asyncio.get_running_loop())
        for write in (CLAIM, OTHER):
            commit.submit(write).cancel()
        await asyncio.sleep(0.01)

    asyncio.run(run())
    assert ledger.batches == [[OTHER]]

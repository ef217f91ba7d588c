"""The response cache in PostgreSQL: connections, commits and processes that share it."""

import asyncio
import gc
import logging
import threading
import time
from dataclasses import replace

import databases
import psycopg
import pytest
from working import at_the_same_time, wait_for

from judgesmith.programs.judging.runner import SyncBridge
from judgesmith.programs.lm import Budget, BudgetSpent, CacheError, ModelAnswer, ResponseCache
from judgesmith.programs.lm.batches.state import SettleOnce, Together, WithdrawOnce
from judgesmith.programs.lm.cache import postgres as module
from judgesmith.programs.lm.cache.admin import cache_stats, exported, prune
from judgesmith.programs.lm.cache.postgres import PostgresCache, Transaction, Unsettled
from judgesmith.programs.lm.cache.records import (
    Claim,
    Find,
    Granted,
    Held,
    Record,
    Settle,
    TakeTurn,
    Watch,
    Withdraw,
)
from judgesmith.programs.lm.waiting import SUSPENDING

pytestmark = [pytest.mark.postgres, pytest.mark.no_cover]

ANSWER = ModelAnswer(text="7", input_tokens=10, output_tokens=1)
A = b"a" * 16


def claim(ledger, identity=A, *, run="run", tokens=100, usd=1.0, **budget):
    return Claim(
        identity=identity,
        run=ledger.run(run),
        budget=Budget(**budget),
        tokens=tokens,
        usd=usd,
        seconds=1.0,
    )


def settle(ledger, claimed, granted, answer=ANSWER):
    return Settle(
        claim=claimed,
        intent=granted.intent,
        model=ledger.model("m", "e"),
        answer=answer,
        tokens=11,
        usd=0.5,
        seconds=2.0,
    )


def keep(ledger, identity=A, answer=ANSWER):
    claimed = claim(ledger, identity)
    return ledger.perform(settle(ledger, claimed, ledger.perform(claimed), answer))


@pytest.fixture
def address():
    """The address of an empty database, with a password."""
    with databases.new_database() as made:
        yield made


@pytest.fixture
def ledger(address):
    made = ResponseCache(address)
    yield made
    made.close()


@pytest.fixture
def another(address):
    """Make the same ledger as another process sees it."""
    made = []

    def make():
        one = object.__new__(PostgresCache)
        one.address = address
        one._start()
        made.append(one)
        return one

    yield make
    for one in made:
        one.close()


@pytest.fixture
def other(another):
    """The same ledger as another process sees it."""
    return another()


def test_a_reason_that_no_text_column_takes_is_kept_without_what_it_cannot(ledger):
    keep(ledger, A, replace(ANSWER, finish_reason="st\0op \ud800"))
    assert ledger.lookup(A).finish_reason == "stop \\ud800"


def test_claims_and_settlements_of_one_request_may_share_a_transaction(ledger):
    claimed = claim(ledger)
    granted = ledger.perform(claimed)
    failed = settle(ledger, claimed, granted, None)
    outcomes = ledger.apply([failed, claimed, Find(A)])
    assert outcomes[0] is None
    assert isinstance(outcomes[1], Granted)
    assert ledger.query("SELECT count(*) FROM flights")[0][0] == 1


def test_an_answer_that_is_worked_out_twice_in_one_transaction_is_charged_once(ledger):
    record = Record(claim=claim(ledger), model=ledger.model("m", "e"), answer=ANSWER)
    assert ledger.apply([record, record]) == [ANSWER, replace(ANSWER, from_cache=True)]
    assert ledger.spent("run").calls == 1


def test_what_another_process_asks_is_held_until_its_connection_ends(ledger, other):
    assert isinstance(ledger.perform(claim(ledger)), Granted)
    # Also where the other one asks for another run, whose row is not locked by this one.
    assert isinstance(other.perform(claim(other, run="other")), Held)
    assert other.held_elsewhere(A)
    assert not ledger.perform(Watch(A))
    ledger.close()
    wait_for(lambda: not other.held_elsewhere(A))
    assert isinstance(other.perform(claim(other)), Granted)


def test_processes_of_two_runs_keep_to_their_budgets_and_ask_nothing_twice(ledger, other, another):
    granted = []

    def asking(mine, run):
        for n in range(40):
            try:
                outcome = mine.perform(claim(mine, n.to_bytes(16, "big"), run=run, max_calls=25))
            except BudgetSpent:
                continue
            if isinstance(outcome, Granted):
                granted.append(n)

    at_the_same_time(
        *[lambda mine=mine: asking(mine, "run") for mine in (ledger, other)],
        lambda: asking(another(), "third"),
    )
    assert len(granted) == len(set(granted))
    assert len(granted) == ledger.spent("run").calls + ledger.spent("third").calls
    assert ledger.spent("run").calls <= 25


def test_turns_of_two_processes_follow_each_other_by_the_clock_of_the_database(ledger, other):
    number = ledger.model("m", "e")
    turn = TakeTurn(run=ledger.run("run"), model=number, rpm=60, tpm=None, tokens=1)
    waits = [one.perform(turn) for one in (ledger, other, ledger, other)]
    assert waits[0] == 0
    assert waits == sorted(waits)
    assert 2.5 < waits[-1] <= 3


def test_writes_of_coroutines_are_committed_together_beside_the_loop(ledger):
    batches = []
    plain = ledger.apply

    def apply(writes):
        batches.append((len(writes), threading.current_thread() is threading.main_thread()))
        return plain(writes)

    ledger.apply = apply

    async def run():
        number = ledger.model("m", "e")
        writes = [
            Record(claim=claim(ledger, bytes([n]) * 16), model=number, answer=ANSWER)
            for n in range(20)
        ]
        return await asyncio.gather(*map(ledger.perform_soon, writes))

    assert asyncio.run(run()) == [ANSWER] * 20
    assert batches == [(20, False)]


def test_what_is_submitted_during_a_transaction_goes_into_the_next_together(ledger):
    begun, go_on, sizes = threading.Event(), threading.Event(), []
    plain = ledger.apply

    def apply(writes):
        sizes.append(len(writes))
        begun.set()
        go_on.wait(60)
        return plain(writes)

    async def run():
        ledger.apply = apply
        waiting = [ledger.perform_soon(Find(A))]
        await asyncio.to_thread(begun.wait, 10)
        for _ in range(3):
            waiting.append(ledger.perform_soon(Find(A)))
            await asyncio.sleep(0.01)
        go_on.set()
        await asyncio.gather(*waiting)

    asyncio.run(run())
    assert sizes == [1, 3]


def test_a_claim_that_is_cancelled_while_it_is_committed_is_taken_back(ledger):
    begun, go_on = threading.Event(), threading.Event()
    plain = ledger.apply

    def apply(writes):
        begun.set()
        go_on.wait(60)
        return plain(writes)

    async def run():
        ledger.apply = apply
        future = ledger.perform_soon(claim(ledger))
        await asyncio.to_thread(begun.wait, 10)
        future.cancel()
        go_on.set()
        await ledger.perform_soon(Find(A))

    ledger.run("run")
    asyncio.run(run())
    assert ledger.spent("run").calls == 0
    assert ledger.query("SELECT count(*) FROM flights")[0][0] == 0


def test_nothing_is_forgotten_where_the_loop_ends_with_those_who_were_cancelled(ledger):
    paid = claim(ledger)
    granted = ledger.perform(paid)
    begun, plain = threading.Event(), ledger.apply

    def apply(writes):
        begun.set()
        time.sleep(0.05)
        return plain(writes)

    async def run():
        ledger.apply = apply
        tasks = [asyncio.ensure_future(SUSPENDING.perform(ledger, claim(ledger, b"b" * 16)))]
        await asyncio.to_thread(begun.wait, 10)
        # This one waits for the transaction of the other one to end.
        later = SUSPENDING.perform(ledger, settle(ledger, paid, granted))
        tasks.append(asyncio.ensure_future(later))
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    with SyncBridge() as loop:
        loop(run())
    assert ledger.lookup(A) == replace(ANSWER, from_cache=True)
    assert ledger.spent("run").calls == 1
    assert ledger.query("SELECT count(*) FROM flights")[0][0] == 0


def test_those_who_wait_hear_of_their_writes_also_where_a_claim_cannot_be_taken_back(ledger):
    begun, go_on = threading.Event(), threading.Event()
    plain = ledger.apply

    def apply(writes):
        if any(isinstance(one, Withdraw) for one in writes):
            raise CacheError("the database is gone")
        begun.set()
        go_on.wait(60)
        return plain(writes)

    async def run():
        ledger.apply = apply
        cancelled, waiting = map(ledger.perform_soon, (claim(ledger), Find(A)))
        await asyncio.to_thread(begun.wait, 10)
        cancelled.cancel()
        go_on.set()
        return await asyncio.wait_for(waiting, 60)

    ledger.run("run")
    assert asyncio.run(run()) is None


def test_what_is_claimed_and_let_go_in_one_transaction_is_held_by_nobody(ledger):
    claimed = claim(ledger)
    ledger.apply([claimed, Withdraw(claim=claimed, intent=0)])
    assert ledger.query("SELECT count(*) FROM flights")[0][0] == 0


class Between:
    """A connection on which something else happens once, after the reading and before writing."""

    def __init__(self, link, happens):
        self.link = link
        self.happens = [happens]

    def __getattr__(self, name):
        return getattr(self.link, name)

    def execute(self, statement, *rest):
        if str(statement).startswith("INSERT INTO intents") and self.happens:
            self.happens.pop()()
        return self.link.execute(statement, *rest)


def test_what_another_run_has_answered_meanwhile_is_not_asked(ledger, other):
    claimed = claim(ledger, run="other")
    ledger._connection = Between(ledger._connection, lambda: keep(other))
    assert ledger.perform(claimed) == replace(ANSWER, from_cache=True)
    assert ledger.spent("other").calls == 0
    assert ledger.query("SELECT count(*) FROM flights")[0][0] == 0


def test_what_another_run_has_worked_out_meanwhile_is_charged_to_that_alone(ledger, other):
    number = ledger.model("m", "e")
    first = Record(claim=claim(ledger), model=number, answer=ANSWER)
    second = Record(claim=claim(ledger, run="other"), model=number, answer=ModelAnswer(text="8"))
    ledger._connection = Between(ledger._connection, lambda: other.perform(first))
    assert ledger.perform(second) == replace(ANSWER, from_cache=True)
    assert [ledger.spent(run).calls for run in ("run", "other")] == [1, 0]
    assert ledger.query("SELECT count(*) FROM intents")[0][0] == 1


class Slow:
    """A connection on which commits take their time."""

    def __init__(self, link, begun):
        self.link = link
        self.begun = begun

    def __getattr__(self, name):
        return getattr(self.link, name)

    def execute(self, statement, *rest):
        if statement == "COMMIT":
            self.begun.set()
            time.sleep(0.1)
        return self.link.execute(statement, *rest)


@pytest.mark.parametrize("kind", [WithdrawOnce, SettleOnce])
def test_what_two_processes_find_of_a_batch_at_once_is_corrected_once(ledger, other, another, kind):
    dead = another()
    claims = [claim(dead, identity) for identity in (A, b"b" * 16)]
    granted, _ = map(dead.perform, claims)
    failed = replace(settle(dead, claims[0], granted, None), tokens=0, usd=0.0)
    one = Withdraw(claim=claims[0], intent=granted.intent) if kind is WithdrawOnce else failed
    dead.close()
    wait_for(lambda: not ledger.held_elsewhere(A))
    begun = threading.Event()
    ledger._connection = Slow(ledger._connection, begun)

    def second():
        begun.wait(60)
        other.perform(Together((kind(one),)))

    # Twice also in one transaction, as where two lines of a file tell the same.
    at_the_same_time(lambda: ledger.perform(Together((kind(one), kind(one)))), second)
    spent = other.spent("run")
    assert (spent.calls, spent.tokens, spent.usd) == (1 + (kind is SettleOnce), 100, 1.0)


def test_an_ended_connection_is_made_anew_and_keeps_the_number(ledger, other, address):
    claimed = claim(ledger)
    granted = ledger.perform(claimed)
    databases.cut_off(address)
    assert ledger.perform(settle(ledger, claimed, granted)) == ANSWER
    assert ledger.query("SELECT count(*) FROM flights")[0][0] == 0
    assert ledger.query("SELECT count(*) FROM owners")[0][0] == 1
    assert other.lookup(A).text == "7"


def test_a_connection_that_ends_in_mid_transaction_grumbles_into_no_line_of_progress(
    ledger, address, capsys, monkeypatch
):
    monkeypatch.setattr(logging.getLogger("psycopg"), "propagate", False)
    claimed = claim(ledger)
    ledger._connection = Between(
        ledger._connection, lambda: (databases.cut_off(address), time.sleep(0.1))
    )
    assert isinstance(ledger.perform(claimed), Granted)
    assert ledger.spent("run").calls == 1
    assert capsys.readouterr().err == ""


def test_a_connection_that_only_the_database_has_left_is_ended_so_that_the_number_is_kept(ledger):
    claimed = claim(ledger)
    granted = ledger.perform(claimed)
    ghost, ledger._connection = ledger._connection, None
    assert ledger.perform(settle(ledger, claimed, granted)) == ANSWER
    assert ledger.query("SELECT count(*) FROM flights")[0][0] == 0
    assert ledger.query("SELECT count(*) FROM owners")[0][0] == 1
    ghost.close()


class FastPath:
    """A connection that is cut when a commit was sent, before or after the database has it."""

    def __init__(self, link, *, arrives):
        self.link = link
        self.arrives = arrives

    def __getattr__(self, name):
        return getattr(self.link, name)

    def execute(self, statement, *rest):
        import psycopg

        if statement == "COMMIT":
            if self.arrives:
                self.link.execute(statement)
            self.link.close()
            raise psycopg.OperationalError("the connection is lost")
        return self.link.execute(statement, *rest)


@pytest.mark.parametrize("arrives", [False, True])
def test_a_commit_of_which_nobody_heard_is_neither_lost_nor_made_twice(ledger, arrives):
    claimed = claim(ledger)
    ledger._connection = FastPath(ledger._connection, arrives=arrives)
    assert isinstance(ledger.perform(claimed), Granted)
    spent = ledger.spent("run")
    assert (spent.calls, spent.tokens) == (1, 100)
    assert ledger.query("SELECT count(*) FROM intents")[0][0] == 1


def test_while_nobody_knows_what_became_of_a_commit_nothing_is_written_anew(ledger, address):
    import psycopg

    whole = Transaction([claim(ledger)])
    with psycopg.connect(address) as before:
        (whole._sent,) = before.execute("SELECT txid_current()").fetchone()
        with pytest.raises(Unsettled):
            whole.carry_out(ledger._linked(), 1)
    # Now it has ended, with the outcomes of its time, of which there are none here.
    assert whole.carry_out(ledger._linked(), 1) == []
    assert ledger.spent("run").calls == 0


def test_a_database_that_does_not_come_back_is_told_once_in_a_sentence(
    ledger, address, monkeypatch
):
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    claimed = claim(ledger)
    databases.drop(address)
    with pytest.raises(CacheError) as caught:
        ledger.perform(claimed)
    assert "no database at" in str(caught.value)
    assert databases.secret_of(address) not in repr(caught.getrepr(chain=True))


def test_there_is_one_per_address_and_it_does_not_tell_the_password(address, ledger):
    spelled = address.replace("postgresql://", "postgresql+psycopg://")
    assert ResponseCache(address) is ResponseCache(spelled) is ledger
    assert databases.secret_of(address) not in repr(ledger) + ledger.name


def test_a_forgotten_ledger_is_closed(address):
    ledger = ResponseCache(address)
    ledger.lookup(A)
    link = ledger._connection
    del ledger
    gc.collect()
    assert link.closed


def test_many_processes_may_make_the_tables_at_the_same_moment(another):
    def opened():
        return another().lookup(A)

    assert at_the_same_time(*[opened] * 6) == [None] * 6


def test_housekeeping_looks_after_it(ledger):
    keep(ledger)
    keep(ledger, b"b" * 16)
    found = cache_stats(ledger)
    assert (found.answers, found.calls, found.path) == (2, 2, ledger.name)
    assert found.size_bytes > 4096
    assert [row["text"] for row in exported(ledger)] == ["7", "7"]
    assert prune(ledger, model="m", older_than_days=1) == 0
    assert prune(ledger, model="m") == 2
    assert cache_stats(ledger).calls == 2


def test_an_altered_answer_is_never_used(ledger):
    keep(ledger)
    ledger.query("UPDATE answers SET text = 'other' RETURNING 1")
    with pytest.raises(CacheError, match="damaged"):
        ledger.lookup(A)


def test_a_ledger_of_another_version_is_refused(ledger, address):
    keep(ledger)
    ledger.query("UPDATE about SET version = 99 RETURNING 1")
    ledger.close()
    with pytest.raises(CacheError, match="cache schema 99"):
        ledger.lookup(A)


def test_a_run_begins_anew_only_once_it_is_finished(ledger):
    keep(ledger)
    last = ledger.begin("run")
    assert ledger.has_among(A, last)
    keep(ledger, b"b" * 16)
    assert ledger.begin("run") == last
    assert not ledger.has_among(b"b" * 16, last)
    ledger.finish("run")
    assert ledger.has_among(b"b" * 16, ledger.begin("run"))


def test_a_ledger_of_the_first_version_is_brought_up(ledger, address):
    keep(ledger)
    with psycopg.connect(address) as connection:
        connection.execute("DROP TABLE judgesmith.unfinished")
        connection.execute("UPDATE judgesmith.about SET version = 1")
    ledger.close()
    assert ledger.lookup(A) is not None
    assert ledger.begin("run") > 0
    assert ledger.query("SELECT version FROM about") == [(2,)]

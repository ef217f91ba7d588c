"""Several processes that search one protocol together, on one journal or one PostgreSQL."""

import json
import os
import shutil
import signal
import sqlite3

import crashing
import databases
import pytest
from working import wait_for

from judgesmith.programs.lm import ResponseCache

pytestmark = pytest.mark.no_cover

SEARCH = ["--optimizer", "protocol", "--trials", "3", "--criteria", "general", "--draws", "1"]
CONCURRENCY = 4
SLOW, FAST = {"chatty": "steady", "latency": 0.02}, {"chatty": "steady"}


@pytest.fixture
def database(monkeypatch):
    """The address of an empty database, with a password, in the environment."""
    with databases.new_database() as address:
        monkeypatch.setenv("JUDGESMITH_STORAGE", address)
        yield address


@pytest.fixture
def command(folder, server):
    """A search against a server that takes its time."""
    crashing.write_rows(folder / "rated.jsonl", crashing.rated_rows(16))
    server.script(SLOW)
    model = ["--model", "openai/m", "--api-base", server.url]
    options = ["--concurrency", CONCURRENCY, "--max-unscored", "1"]
    return ["compile", "rated.jsonl", *model, *SEARCH, *options]


@pytest.fixture
def alone(folder, run, server, command, monkeypatch):
    """Make the judge that one undisturbed worker makes; return it and the requests it takes."""

    def make():
        monkeypatch.delenv("JUDGESMITH_STORAGE", raising=False)
        server.reset()
        server.script(FAST)
        done = run(*command, "-o", "alone", "--ledger", "alone-ledger/ledger.sqlite")
        assert done.status == 0, done.err
        return crashing.contents(folder / "alone"), server.counts()["requests"]

    return make


def ends(process):
    """Wait for a worker to end well; return what it said."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out + err


def kill(process):
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def asked_late(folder, database=None):
    """Return how many requests were for what was recorded already."""
    if database is not None:
        return ResponseCache(database).query(crashing.LATE)[0][0]
    ledger = sqlite3.connect(folder / ".judgesmith" / "ledger.sqlite")
    n = ledger.execute(crashing.LATE).fetchone()[0]
    ledger.close()
    return n


def finish_together(start, command, *places):
    """Run a worker per place; return what each made."""
    for process in [start(*command, "-o", place) for place in places]:
        ends(process)


def killed(start, server, command, n, *, ahead):
    """Start ``n`` workers, and kill them when ``ahead`` more requests were made."""
    before = server.counts()["requests"]
    workers = [start(*command, "-o", "killed") for _ in range(n)]
    wait_for(lambda: server.counts()["requests"] >= before + ahead)
    for worker in workers:
        os.kill(worker.pid, signal.SIGKILL)
        worker.communicate()


def check_kill(folder, start, server, command, alone, database=None):
    """One worker is killed beside another: nothing is lost or asked again."""
    before = server.counts()["requests"]
    survivor = start(*command, "-o", "survivor")
    killed(start, server, command, 1, ahead=60)
    ends(survivor)
    n_requests = server.counts()["requests"] - before
    assert asked_late(folder, database) == 0
    judge, n_needed = alone()
    assert crashing.contents(folder / "survivor") == judge
    assert not (folder / "killed").exists()
    assert n_requests <= n_needed + CONCURRENCY
    return n_requests, n_needed


def test_a_worker_on_a_journal_may_be_killed(folder, start, server, command, alone):
    n_requests, n_needed = check_kill(folder, start, server, command, alone)
    assert n_requests >= n_needed


@pytest.mark.postgres
class TestADatabase:
    def test_serves_workers_of_which_all_or_one_may_be_killed(
        self, database, folder, start, server, command, alone
    ):
        killed(start, server, command, 2, ahead=40)
        check_kill(folder, start, server, command, alone, database)

    def test_serves_two_workers_that_make_the_judge_of_one(
        self, database, folder, start, server, command, alone
    ):
        finish_together(start, command, "first", "second")
        counts = server.counts()
        judge, n_needed = alone()
        made = [crashing.contents(folder / place) for place in ("first", "second")]
        assert made == [judge, judge]
        assert counts["requests"] == n_needed
        assert counts["most_in_flight"] > CONCURRENCY
        (log,) = (folder / ".judgesmith" / "searches").glob("*.jsonl")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        assert sorted(line["number"] for line in lines) == list(range(4))

    def test_serves_two_workers_that_write_one_judge(
        self, database, folder, start, server, command, alone
    ):
        finish_together(start, command, "judge", "judge")
        assert crashing.contents(folder / "judge") == alone()[0]

    def test_serves_workers_that_have_a_ledger_each(
        self, database, folder, start, server, command, alone
    ):
        own = [[*command, "--ledger", f"{name}/ledger.sqlite"] for name in ("first", "second")]
        workers = [start(*one, "-o", f"judge-{n}") for n, one in enumerate(own)]
        for worker in workers:
            ends(worker)
        judge, _ = alone()
        made = [crashing.contents(folder / f"judge-{n}") for n in range(2)]
        assert made == [judge, judge]

    def test_leaves_two_workers_one_budget(self, database, start, server, command):
        finish_together(start, [*command, "--max-calls", "70"], "first", "second")
        assert server.counts()["requests"] <= 70

    def test_has_a_password_that_nobody_learns(self, database, folder, start, command):
        secret = database.partition("@")[0].rpartition(":")[2]
        said = ends(start(*command, "-o", "judge"))
        said += ends(start(*command, "-o", "other", "--storage", database, "--json"))
        assert secret not in said
        for path in folder.rglob("*"):
            assert path.is_dir() or secret.encode() not in path.read_bytes(), path

    def test_that_is_gone_in_mid_search_is_told_in_a_sentence(
        self, database, folder, start, run, server, command
    ):
        worker = start(*command, "-o", "judge", "--ledger", "own.sqlite")
        wait_for(lambda: server.counts()["requests"] >= 30)
        databases.drop(database)
        _, err = worker.communicate(timeout=120)
        assert worker.returncode == 2
        assert "the database does not answer" in err
        assert "Traceback" not in err

    def test_that_is_gone_with_the_ledger_in_it_is_told_in_a_sentence(
        self, database, start, server, command
    ):
        worker = start(*command, "-o", "judge")
        wait_for(lambda: server.counts()["requests"] >= 30)
        databases.drop(database)
        _, err = worker.communicate(timeout=120)
        assert worker.returncode == 2
        assert "there is no database at" in err or "does not answer" in err
        assert "Traceback" not in err
        assert databases.secret_of(database) not in err


@pytest.fixture
def machines(folder, start, command, database, tmp_path):
    """Start the search on a machine of that name, which shares nothing but the database."""

    def begun(name, *options):
        place = tmp_path / name
        place.mkdir()
        shutil.copy(folder / "rated.jsonl", place)
        here = {**os.environ, "HOME": str(place), "JUDGESMITH_STORAGE": database}
        return start(*command, *options, "-o", "judge", cwd=place, env=here)

    return begun


@pytest.mark.postgres
class TestTwoMachines:
    def test_make_the_judge_of_one_and_ask_nothing_twice(
        self, machines, tmp_path, server, database, alone
    ):
        said = [ends(worker) for worker in [machines(name) for name in ("first", "second")]]
        assert all("answers are kept with the search" in one for one in said)
        assert all(databases.secret_of(database) not in one for one in said)
        counts = server.counts()
        assert asked_late(None, database) == 0
        judge, n_needed = alone()
        made = [crashing.contents(tmp_path / name / "judge") for name in ("first", "second")]
        assert made == [judge, judge]
        assert counts["requests"] == n_needed
        assert not (tmp_path / "first" / ".judgesmith" / "ledger.sqlite").exists()

    def test_lose_nothing_when_one_of_them_dies(self, machines, tmp_path, server, database, alone):
        survivor, other = machines("first"), machines("second")
        wait_for(lambda: server.counts()["requests"] >= 60)
        kill(other)
        ends(survivor)
        n_requests = server.counts()["requests"]
        assert asked_late(None, database) == 0
        judge, n_needed = alone()
        assert crashing.contents(tmp_path / "first" / "judge") == judge
        assert n_needed <= n_requests <= n_needed + CONCURRENCY

    def test_spend_one_budget_to_the_last_call(self, machines, server, database):
        for worker in [machines(name, "--max-calls", "70") for name in ("first", "second")]:
            ends(worker)
        assert server.counts()["requests"] == 70
        assert ResponseCache(database).query("SELECT sum(calls) FROM runs")[0][0] == 70

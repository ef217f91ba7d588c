import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from working import at_the_same_time

from judgesmith.optimizers.search.work_queue import WorkQueue
from judgesmith.optimizers.storage import open_storage

CLAIMING = """
import sys, time
from pathlib import Path
from judgesmith.optimizers.search.work_queue import WorkQueue
from judgesmith.optimizers.storage import open_storage

def work(items):
    print("claimed", flush=True)
    time.sleep(300)

path = Path(sys.argv[1])
WorkQueue(open_storage(path), "items", beside=path).results([["a", "b"]], work, most=2)
"""


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "a.journal"


def board(path, **settings):
    given = {"beside": path, "poll": 0.005, **settings}
    return WorkQueue(open_storage(path), "items", **given)


def test_every_item_is_done_by_one_worker_and_read_by_all(journal):
    done = []

    def work(items):
        done.extend(items)
        time.sleep(0.01)
        return {item: {"of": item} for item in items}

    groups = [["a", "b", "c"], ["d"], ["e", "f"]]
    workers = [board(journal) for _ in range(3)]
    found = at_the_same_time(
        *(lambda one=one, most=most: one.results(groups, work, most=most)
          for one, most in zip(workers, (1, 2, 1), strict=True))
    )  # fmt: skip
    assert sorted(done) == ["a", "b", "c", "d", "e", "f"]
    assert found == [{item: {"of": item} for item in "abcdef"}] * 3


def test_what_is_done_is_there_later(journal):
    board(journal).results([["a"]], lambda items: dict.fromkeys(items, 1.5))
    assert board(journal).results([["a"]], pytest.fail) == {"a": 1.5}
    assert board(journal).results([], pytest.fail) == {}


def test_an_item_whose_work_failed_is_free_again(journal):
    with pytest.raises(ZeroDivisionError):
        board(journal).results([["a"]], lambda items: 1 / 0)
    assert board(journal).results([["a"]], lambda items: {"a": 2}) == {"a": 2}


def test_the_claims_of_a_killed_process_are_free_at_once(journal):
    call = [sys.executable, "-c", CLAIMING, str(journal)]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "claimed\n"
        os.kill(process.pid, signal.SIGKILL)
    found = board(journal).results([["a", "b"]], lambda items: dict.fromkeys(items, 0))
    assert found == {"a": 0, "b": 0}


def elsewhere(journal, **settings):
    """Return a board of a worker that is on another machine."""
    return board(journal, beside=None, **settings)


def test_claims_that_are_renewed_are_not_taken(journal):
    def slow(items):
        time.sleep(1.8)
        return {"a": "slow"}

    first, second = elsewhere(journal, beat=0.02), elsewhere(journal, patience=1.5)
    started = threading.Event()

    def begin(items):
        started.set()
        return slow(items)

    found = at_the_same_time(
        lambda: first.results([["a"]], begin),
        lambda: started.wait() and second.results([["a"]], pytest.fail),
    )
    assert found == [{"a": "slow"}] * 2


def test_claims_that_are_not_renewed_are_taken_and_what_was_published_first_counts(journal):
    first, second = elsewhere(journal, beat=60), elsewhere(journal, patience=0.05)
    started, taken = threading.Event(), threading.Event()

    def slow(items):
        started.set()
        taken.wait()
        return {"a": "slow"}

    def take():
        started.wait()
        try:
            return second.results([["a"]], lambda items: {"a": "quick"})
        finally:
            taken.set()

    found = at_the_same_time(lambda: first.results([["a"]], slow), take)
    assert found == [{"a": "quick"}] * 2


def test_one_goes_through_a_block_alone_and_the_others_after_it(journal):
    inside, order = [], []

    def through(name):
        with board(journal).alone("block"):
            if not order:
                inside.append(name)
                time.sleep(0.05)
            order.append(name)

    at_the_same_time(*(lambda name=name: through(name) for name in "abc"))
    assert len(inside) == 1
    assert order[0] == inside[0]
    assert sorted(order) == ["a", "b", "c"]


def test_a_block_that_failed_was_not_gone_through(journal):
    with pytest.raises(ZeroDivisionError), board(journal).alone("block"):
        raise ZeroDivisionError
    passed = []
    with board(journal).alone("block"):
        passed.append("block")
    with board(journal).alone("block"):
        passed.append("after it")
    assert passed == ["block", "after it"]

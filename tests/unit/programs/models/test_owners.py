import subprocess
import sys
import threading
from contextlib import suppress
from itertools import count

import pytest
from working import at_the_same_time

from judgesmith.programs.lm.cache.store import owners_beside

HOLD = """
import sys, pathlib
from judgesmith.programs.lm.cache.store import owners_beside
numbers = iter([int(number) for number in sys.argv[2:]])
print(owners_beside(pathlib.Path(sys.argv[1])).number(lambda: next(numbers)), flush=True)
sys.stdin.read()
"""


def held_elsewhere(path, *numbers):
    command = [sys.executable, "-c", HOLD, str(path), *map(str, numbers)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, int(process.stdout.readline())


@pytest.mark.no_cover
def test_an_owner_lives_exactly_as_long_as_its_process(tmp_path):
    path = tmp_path / "ledger.sqlite"
    process, number = held_elsewhere(path, 5)
    owners = owners_beside(path)
    assert owners.number(lambda: 3) == 3
    assert owners.alive(number)
    assert owners.alive(3)
    process.kill()
    process.communicate()
    assert not owners.alive(number)
    assert not owners.alive(99)


@pytest.mark.no_cover
def test_a_number_that_is_taken_is_not_taken_again(tmp_path):
    path = tmp_path / "ledger.sqlite"
    process, _ = held_elsewhere(path, 5)
    drawn = iter([5, 6])
    assert owners_beside(path).number(lambda: next(drawn)) == 6
    process.kill()
    process.communicate()


def test_there_is_one_lock_file_per_ledger_and_process(tmp_path):
    path = tmp_path / "ledger.sqlite"
    assert owners_beside(path) is owners_beside(path)
    assert owners_beside(tmp_path / "other.sqlite") is not owners_beside(path)


def test_threads_that_draw_at_the_same_moment_get_the_one_number_of_their_process(tmp_path):
    owners = owners_beside(tmp_path / "ledger.sqlite")
    numbers, other = count(1), threading.Barrier(2)

    def draw():
        # Nobody else draws meanwhile; if somebody did, both would have seen that there is none.
        with suppress(threading.BrokenBarrierError):
            other.wait(timeout=0.2)
        return next(numbers)

    found = at_the_same_time(*[lambda: owners.number(draw)] * 2)
    assert found == [1, 1]
    assert owners.alive(1)

import os
import signal
import subprocess
import sys

from judgesmith.experiments.runs.claims import claimed

HOLDER = """
import fcntl, sys, time
with open(sys.argv[1], "w") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    print(True, flush=True)
    time.sleep(60)
"""


def test_a_claim_keeps_others_out_until_it_is_given_up(tmp_path):
    place = tmp_path / "one"
    with claimed(place) as mine:
        assert mine
        with claimed(place) as theirs:
            assert not theirs
        assert place.exists()
    with claimed(place) as mine:
        assert mine
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_left_behind_claims_nothing(tmp_path):
    place = tmp_path / "one"
    place.touch()
    with claimed(place) as mine:
        assert mine


def test_a_claim_dies_with_its_owner(tmp_path):
    place = tmp_path / "one"
    call = [sys.executable, "-c", HOLDER, str(place)]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout.readline() == "True\n"
        with claimed(place) as mine:
            assert not mine
        os.kill(owner.pid, signal.SIGKILL)
        owner.wait()
        with claimed(place) as mine:
            assert mine

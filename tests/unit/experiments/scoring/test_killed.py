"""Scoring that is killed at random moments loses, doubles and asks nothing again."""

import json
import subprocess
import sys

import killing
import pytest

pytestmark = pytest.mark.no_cover


@pytest.mark.parametrize("output", ["out.jsonl", "any-order.jsonl", "out/"])
def test_whatever_is_killed_the_rows_are_those_of_a_run_that_was_not(tmp_path, output):
    call = [sys.executable, killing.__file__, output, "13"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("kills") >= 2
    answers, undisturbed = found.pop("answers")
    assert answers == undisturbed
    assert found == {"again": 0, "same": True, "left": [], "late": 0}

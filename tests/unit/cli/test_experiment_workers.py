"""Processes that share a run, of which some are killed."""

import os
import signal

import crashing
import pytest
from working import wait_for

pytestmark = pytest.mark.no_cover

SPEC = """
name: shared
data: {{answers: {{path: rated.jsonl, targets: [overall]}}}}
judges: {{fine: {{}}, plain: {{judge: direct}}}}
optimizers: {{none: {{}}, random: {{rounds: 1}}}}
models: {{m: {{model: openai/m, api_base: "{url}", concurrency: 4}}}}
"""
CONCURRENCY = 4
SLOW, FAST = {"chatty": "steady", "latency": 0.03}, {"chatty": "steady"}
BOARDS = [f"leaderboard.{kind}" for kind in ("md", "csv", "json", "tex")]


@pytest.fixture
def command(folder, server):
    """A run whose server takes its time."""
    crashing.write_rows(folder / "rated.jsonl", crashing.rated_rows(8))
    (folder / "spec.yaml").write_text(SPEC.format(url=server.url), encoding="utf-8")
    server.script(SLOW)
    return ["experiment", "spec.yaml"]


def decisive(run):
    """Return all files of a run that are a function of its specification."""
    cells = [path for path in sorted((run / "cells").rglob("*")) if path.is_file()]
    own = [path for path in cells if path.name != "usage.json"]
    own += [run / name for name in BOARDS]
    return {str(path.relative_to(run)): path.read_bytes() for path in own}


def test_workers_may_be_killed_or_stopped_and_others_end_what_they_began(
    folder, run, start, server, command
):
    killed, stopped = (start(*command, "-o", "run") for _ in range(2))
    claims = folder / "run" / "claims"
    wait_for(lambda: claims.is_dir() and len(list(claims.iterdir())) == 2)
    wait_for(lambda: server.counts()["requests"] >= 10)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    before = server.counts()["requests"]
    wait_for(lambda: server.counts()["requests"] >= before + 10)
    os.kill(stopped.pid, signal.SIGTERM)
    out, err = stopped.communicate(timeout=120)
    assert (stopped.returncode, "leaderboard" in out) == (130, False)
    assert "run the same command again to resume" in err
    done = run(*command, "-o", "run", "--workers", "2")
    assert done.status == 0, done.err
    assert list(claims.iterdir()) == []
    requests = server.counts()["requests"]
    server.reset()
    server.script(FAST)
    assert run(*command, "-o", "alone").status == 0
    needed = server.counts()["requests"]
    assert needed <= requests <= needed + CONCURRENCY
    assert decisive(folder / "run") == decisive(folder / "alone")

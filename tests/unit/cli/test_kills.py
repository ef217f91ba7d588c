"""Commands that are killed, lose their disk, run twice at once, or live through clock jumps."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import crashing
import pytest
from working import wait_for

pytestmark = pytest.mark.no_cover

FAST, SLOW = {"chatty": "steady"}, {"chatty": "steady", "latency": 0.05}
CONCURRENCY = 4


@pytest.fixture
def model(server):
    return ["--model", "openai/m", "--api-base", server.url]


@pytest.fixture
def files(tmp_path, server, model, run, monkeypatch):
    """A folder with rated texts, texts to score, and a judge."""
    place = tmp_path / "files"
    place.mkdir()
    crashing.write_rows(place / "rated.jsonl", crashing.rated_rows(8))
    crashing.write_rows(place / "texts.jsonl", crashing.rated_rows(3, 1))
    server.script(FAST)
    options = ["--optimizer", "none", "--ledger", tmp_path / "made.sqlite", *crashing.ANY]
    monkeypatch.chdir(place)
    assert run("compile", "rated.jsonl", "-o", "made", *model, *options).status == 0
    return place


@pytest.mark.parametrize(
    ("name", "fault", "every"),
    [
        ("infer", "kill", 61),
        ("infer", "full", 61),
        ("compile", "kill", 241),
        ("compile", "full", 211),
        ("score", "kill", 19),
        ("score", "full", 37),
    ],
)
def test_between_any_two_writes_nothing_is_half_and_the_same_command_mends_it(
    name, fault, every, files, model, tmp_path
):
    command, makes = crashing.commands(model)[name]
    job = {"command": command, "makes": makes, "files": str(files), "fault": fault, "every": every}
    (tmp_path / "job.json").write_text(json.dumps(job))
    work = tmp_path / "crashing"
    work.mkdir()
    call = [sys.executable, crashing.__file__, tmp_path / "job.json"]
    done = subprocess.run(call, cwd=work, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["faults"] == []
    assert found["tried"] >= 3


def test_kills_at_random_moments_change_nothing(folder, run, start, server, model):
    crashing.write_rows(folder / "rated.jsonl", crashing.rated_rows(8))
    crashing.write_rows(folder / "texts.jsonl", crashing.rated_rows(20, 1))
    commands = crashing.commands(model)
    commands["score"][0][1] = "judge"
    wide = ["--concurrency", str(CONCURRENCY)]
    in_flight = {"infer": ([], 1), "compile": (wide, CONCURRENCY), "score": (wide, CONCURRENCY)}
    rng, allowed = random.Random(0), 0
    server.script(SLOW)
    for name, (command, makes) in commands.items():
        options, most = in_flight[name]
        for _ in range(1):
            before = server.counts()["requests"]
            process = start(*command, *options)
            ahead = before + rng.randint(1, 6)
            wait_for(lambda at=ahead: server.counts()["requests"] >= at)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            allowed += most
            assert not (folder / makes).exists()
            wait_for(lambda: not server.counts()["in_flight"])
        assert run(*command, *options).status == 0
    n_requests = server.counts()["requests"]
    names = {path.name for path in folder.iterdir()}
    assert names == {".judgesmith", "rated.jsonl", "texts.jsonl"} | {
        m for _, m in commands.values()
    }
    ledger = sqlite3.connect(folder / ".judgesmith" / "ledger.sqlite")
    assert ledger.execute(crashing.LATE).fetchone() == (0,)
    ledger.close()
    made = {makes: crashing.contents(folder / makes) for _, makes in commands.values()}

    for makes in made:
        (folder / makes).rename(folder / f"killed-{makes}")
    (folder / ".judgesmith").rename(folder / "killed-ledger")
    fresh = ["--ledger", "fresh/ledger.sqlite"]
    server.reset()
    server.script(FAST)
    for command, makes in commands.values():
        done = run(*command, *in_flight[command[0]][0], *fresh)
        assert done.status == 0, done.err
        assert crashing.contents(folder / makes) == made[makes]
    assert n_requests - server.counts()["requests"] <= allowed


def test_two_processes_with_one_ledger_and_one_output_share_the_work(
    folder, start, run, server, model, files
):
    os.chdir(folder)
    (files / "made").rename(folder / "made")
    crashing.write_rows(folder / "texts.jsonl", crashing.rated_rows(20, 1))
    server.reset()
    server.script(SLOW)
    command = ["score", "made", "texts.jsonl", "-o", "scores.jsonl", *model, *crashing.ANY]
    command += ["--concurrency", "4"]
    both = [start(*command) for _ in range(2)]
    for process in both:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    n_asked = server.counts()["requests"]
    shared = (folder / "scores.jsonl").read_bytes()
    assert {path.name for path in folder.iterdir()} == {
        ".judgesmith",
        "made",
        "texts.jsonl",
        "scores.jsonl",
    }
    server.reset()
    server.script(FAST)
    command[command.index("scores.jsonl")] = "alone.jsonl"
    assert run(*command, "--ledger", "alone.sqlite").status == 0
    assert server.counts()["requests"] == n_asked
    assert (folder / "alone.jsonl").read_bytes() == shared


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a place that takes no files")
def test_places_that_take_no_files_are_refused_before_anything_is_asked(
    folder, run, server, model, files
):
    os.chdir(files)
    server.reset()
    command = ["score", "made", "texts.jsonl", *model]
    done = run(*command, "-o", "/proc/scores.jsonl")
    assert (done.status, done.out) == (2, "")
    assert "nothing can be written in /proc" in done.err
    done = run(*command, "-o", "scores.jsonl", "--ledger", "/proc/ledger.sqlite")
    assert (done.status, done.out) == (2, "")
    assert "cannot open the cache /proc/ledger.sqlite" in done.err
    assert "--ledger PATH" in done.err
    assert server.counts()["requests"] == 0
    assert not (files / "scores.jsonl").exists()


@pytest.mark.parametrize("hours", [-30, 30], ids=["back", "forth"])
def test_a_clock_that_jumps_by_hours_hurries_and_delays_nothing(
    hours, folder, run, server, model, files, monkeypatch
):
    os.chdir(files)
    # A finished run asks anew what it could not read: here every answer can be read.
    rows = crashing.rated_rows(3, 1)
    plain = [{**row, "response": f"{row['response']} (habit plain)"} for row in rows]
    crashing.write_rows(files / "plain.jsonl", plain)
    server.reset()
    server.script({"status": 429, "retry_after": 0.1, "times": 2}, FAST)
    true_time, jumps = time.time, iter(range(10**9))
    monkeypatch.setattr(time, "time", lambda: true_time() + 3600 * hours * next(jumps))
    limits = ["--max-minutes", "60", "--rpm", "6000", "--tpm", "9000000"]
    done = run("score", "made", "plain.jsonl", "-o", "scores.jsonl", *model, *limits, "--json")
    assert (done.status, done.json["rows"]) == (0, 3)
    assert next(jumps) > 0
    assert not [one for one in done.json["problems"] if "not asked" in one]
    again = run("score", "made", "plain.jsonl", "-o", "scores.jsonl", *model, *limits, "--json")
    assert again.json["calls"] == 0

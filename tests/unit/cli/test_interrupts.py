"""Commands that are stopped or killed resume."""

import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import crashing
import pytest
from working import stopped, wait_for

from judgesmith.cli.shared import stopping
from judgesmith.programs.lm.limits import STOPPING

# Ctrl-C and SIGTERM: once finishes what is in flight, twice stops at once; both continue later.

QUICK = {"chatty": "steady"}
HELD = QUICK | {"held": True}
ANY = ["--max-unscored", "1"]  # not all of its answers can be read
COMMANDS = {
    "infer": (["infer", "data.jsonl", "-o", "OUT"], "rubric.yaml", 2),
    "compile": (["compile", "data.jsonl", "-o", "OUT", "--rounds", "1", *ANY], "judge", 3),
    "score": (["score", "made", "data.jsonl", "-o", "OUT", *ANY], "scores.jsonl", 5),
    "evaluate": (["evaluate", "made", "data.jsonl", *ANY], "nothing", 4),
    "ablate": (
        ["ablate", "data.jsonl", "-o", "OUT", "--rounds", "1", "--rows", "coarse"],
        "table",
        3,
    ),
}


@pytest.fixture
def ask(server, made_here):
    return ["--model", "openai/m", "--api-base", server.url]


@pytest.fixture
def made_here(run, data, server):
    server.script(QUICK)
    options = ["--variant", "vanilla", "--optimizer", "none", "--ledger", "made.sqlite"]
    model = ["--model", "openai/m", "--api-base", server.url]
    assert run("compile", data, "-o", "made", *options, *model, *ANY).status == 0
    server.reset()


def contents(place):
    """Return every file that a command made, by name."""
    files = [place] if place.is_file() else sorted(one for one in place.rglob("*") if one.is_file())
    return {str(one.relative_to(place)): one.read_bytes() for one in files}


def with_output(command, place):
    return [place if one == "OUT" else one for one in command]


@pytest.mark.no_cover
@pytest.mark.parametrize(("command", "place", "after"), COMMANDS.values(), ids=COMMANDS)
def test_once_finishes_what_is_in_flight_and_goes_on_where_it_was(
    command, place, after, run, start, server, ask, folder
):
    server.script(QUICK | {"times": after}, HELD)
    whole = with_output(command, place)
    process = start(*whole, *ask, *(["--concurrency", "4"] if command[0] != "infer" else []))
    wait_for(lambda: server.counts()["requests"] > after)
    out, err = stopped(process, server, QUICK)
    assert (process.returncode, out) == (130, "")
    assert err.startswith("asking openai/m at ")
    err = err.partition("\n")[2]
    assert err.startswith("stopping: requests in flight are finished first, for at most 60 seconds")
    notice, spent = err.splitlines()
    assert notice.endswith("; run the same command again to resume.")
    assert re.fullmatch(r"stopped after \d+ calls?.*\.", spent)
    counts = server.counts()
    assert counts["in_flight"] == 0
    assert counts["answered"] == counts["requests"] <= counts["answered"] + 4
    answers = sqlite3.connect(folder / ".judgesmith" / "ledger.sqlite")
    assert answers.execute("SELECT count(*) FROM answers").fetchone() == (counts["answered"],)
    assert answers.execute("SELECT count(*) FROM flights").fetchone() == (0,)
    answers.close()
    assert not [
        one for one in folder.iterdir() if one.name.startswith((f".{place}-", f".{place}."))
    ]

    server.reset()
    server.script(QUICK)
    assert run(*whole, *ask).status == 0
    n_asked = counts["requests"] + server.counts()["requests"]
    other = folder / f"other-{place}"
    server.reset()
    server.script(QUICK)
    undisturbed = [*with_output(command, other.name), "--ledger", "fresh.sqlite"]
    assert run(*undisturbed, *ask).status == 0
    assert server.counts()["requests"] == n_asked
    # A table's judges know how many requests came before them, and evaluate makes no file.
    if command[0] not in ("ablate", "evaluate"):
        assert contents(folder / place) == contents(other)


@pytest.mark.no_cover
def test_discern_stops_too_and_pays_for_the_rest_alone(run, start, server, ask, data, folder):
    server.script(QUICK | {"times": 4}, HELD)
    command = ["discern", "made", data, "--sample", "4", *ask]
    process = start(*command, "-o", "out", "--concurrency", "4")
    wait_for(lambda: server.counts()["requests"] > 4)
    out, err = stopped(process, server, QUICK)
    assert (process.returncode, err.count("\n")) == (130, 3)  # what is asked, and the stop
    assert out.count("\n") == 1
    assert not (folder / "out").exists()
    n_asked = server.counts()["requests"]
    server.reset()
    server.script(QUICK)
    assert run(*command, "-o", "out").status == 0
    n_asked += server.counts()["requests"]
    server.reset()
    server.script(QUICK)
    assert run(*command, "-o", "other", "--ledger", "fresh.sqlite").status == 0
    assert server.counts()["requests"] == n_asked
    assert contents(folder / "out") == contents(folder / "other")


@pytest.mark.no_cover
def test_twice_stops_at_once_and_sigterm_counts_as_ctrl_c(run, start, server, ask, data):
    server.script(HELD)
    process = start("score", "made", data, "-o", "scores.jsonl", *ask, "--concurrency", "4")
    wait_for(lambda: server.counts()["in_flight"] == 4)
    process.send_signal(signal.SIGTERM)
    assert process.stderr.readline().startswith("asking openai/m at ")
    assert process.stderr.readline().startswith("stopping: ")
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert err.strip().startswith("stopped")
    assert err.strip().endswith("; run the same command again to resume.")
    server.reset()  # one grade for everything
    done = run("score", "made", data, "-o", "scores.jsonl", *ask, "--json")
    assert (done.status, done.json["rows"], done.json["calls"]) == (0, 40, 40)


@pytest.mark.no_cover
def test_a_wait_for_another_attempt_is_not_waited_for(start, server, ask, data):
    server.script({"status": 429, "retry_after": 500})
    process = start("score", "made", data, "-o", "scores.jsonl", *ask, "--concurrency", "2")
    wait_for(lambda: server.counts()["requests"] == 2 and not server.counts()["in_flight"])
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=120)[0] == ""
    assert process.returncode == 130
    assert server.counts()["requests"] == 2


def test_where_nothing_is_in_flight_the_first_signal_interrupts():
    with pytest.raises(KeyboardInterrupt), stopping.stopping_well():
        signal.raise_signal(signal.SIGTERM)
    assert not STOPPING.requested


def test_handlers_are_put_back_and_ignored_signals_stay_ignored():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        inner = signal.getsignal(signal.SIGINT)
        with stopping.stopping_well():
            assert signal.getsignal(signal.SIGINT) is not inner
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGINT) is inner
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


PATIENT = """
import signal, sys, time
from judgesmith.cli.shared import stopping
from judgesmith.programs.lm.limits import STOPPING
stopping.PATIENCE = 0.2
signal.signal(signal.SIGINT, getattr(signal, sys.argv[1]))
try:
    with stopping.stopping_well(), STOPPING.attended():
        signal.raise_signal(getattr(signal, sys.argv[2]))
        time.sleep(300)
except KeyboardInterrupt:
    print("over")
"""


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("of_sigint", "sent"), [("default_int_handler", "SIGINT"), ("SIG_IGN", "SIGTERM")]
)
def test_what_takes_too_long_in_flight_is_not_waited_for(of_sigint, sent):
    call = [sys.executable, "-c", PATIENT, of_sigint, sent]  # shells ignore it behind an "&"
    done = subprocess.run(call, capture_output=True, text=True, timeout=240, check=True)
    assert done.stdout == "over\n"


@pytest.mark.no_cover
def test_the_json_of_a_stopped_command_is_no_half_object(start, server, ask, data, folder):
    server.script(HELD)
    process = start("score", "made", data, "-o", "s.jsonl", *ask, "--json", "--concurrency", "4")
    wait_for(lambda: server.counts()["in_flight"] == 4)
    out, _ = stopped(process, server, QUICK, number=signal.SIGTERM)
    assert (process.returncode, out) == (130, "")
    assert json.loads((folder / "made" / "judge.json").read_text())["schema"] == 1


# Runs that were killed or ran out of budget go on from the answers on record.

QUICK_CONTINUING = ["--rounds", "3"]
FULL = 16 + 16 + 16 + 12 + 12
"""Questions of a run: three sets of demonstrations on 16 rows, 12 rows of the pool, 12 held out."""


@pytest.fixture
def compile_again(run, data, on_server):
    def command(*options):
        done = run(
            "compile", data, "-o", "judge", *QUICK_CONTINUING, *on_server, *options, "--json"
        )
        assert done.status == 0, done.err
        return done

    return command


@pytest.mark.no_cover
def test_no_answer_is_asked_again_after_a_kill(
    start, compile_again, server, data, on_server, folder
):
    server.script({"times": 30}, {"held": True})
    command = ["compile", data, "-o", "judge", *QUICK_CONTINUING, *on_server, "--concurrency", "4"]
    process = start(*command)
    wait_for(lambda: server.counts()["requests"] > 30)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (folder / "judge").exists()
    server.forget()
    wait_for(lambda: server.counts()["in_flight"] == 0)
    compile_again()
    counts = server.counts()
    assert counts["distinct"] == FULL
    assert counts["repeated"] <= 4
    assert (folder / "judge").exists()
    assert not list(folder.glob(".judge-*"))


@pytest.mark.no_cover
@pytest.mark.parametrize("budget", [1, 48, FULL - 1])
def test_a_spent_budget_ends_well_holds_and_can_be_raised(compile_again, server, folder, budget):
    first = compile_again("--max-calls", budget)
    assert server.counts()["requests"] == budget
    assert first.json["calls"] == budget
    judged_any = first.json["judge"] is not None
    assert judged_any == (folder / "judge").exists()
    assert "budget" in first.err
    assert first.json["rows"]["unscored"] > 0
    if judged_any:
        made = json.loads((folder / "judge" / "judge.json").read_text())
        assert made["settings"]["complete"] is False
    again = compile_again("--max-calls", budget)
    assert server.counts()["requests"] == budget
    assert again.json | {"notes": []} == first.json | {"calls": 0, "notes": []}
    whole = compile_again("--max-calls", FULL).json
    assert server.counts()["requests"] == server.counts()["distinct"] == FULL
    assert whole["rows"]["unscored"] == 0
    made = json.loads((folder / "judge" / "judge.json").read_text())
    assert made["settings"]["complete"] is True


def test_people_are_told_that_the_budget_ended(run, data, on_server):
    command = ["compile", data, "-o", "judge", *QUICK_CONTINUING, *on_server, "--max-calls"]
    done = run(*command, 0)
    assert done.status == 0
    assert "nothing was saved; rerun with a larger budget to resume." in done.out
    done = run(*command, 20)
    assert "the budget ended after 1 of 3 sets of demonstrations." in done.out
    assert "the judge is incomplete" in done.out
    assert "Saved in judge" in done.out
    assert "**Incomplete**" in run("show", "judge").out
    run(*command, FULL)
    assert "**Incomplete**" not in run("show", "judge").out


# Commands that are killed, lose their disk, run twice at once, or live through clock jumps.

SLOW = QUICK | {"latency": 0.05}
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
    server.script(QUICK)
    options = ["--optimizer", "none", "--ledger", tmp_path / "made.sqlite", *crashing.ANY]
    monkeypatch.chdir(place)
    assert run("compile", "rated.jsonl", "-o", "made", *model, *options).status == 0
    return place


@pytest.mark.no_cover
def test_between_any_two_writes_nothing_is_half_and_the_same_command_mends_it(
    files, model, tmp_path
):
    jobs = []
    for name, fault, every in (
        ("infer", "kill", 61),
        ("infer", "full", 61),
        ("compile", "kill", 241),
        ("compile", "full", 211),
        ("score", "kill", 39),
        ("score", "full", 37),
    ):
        command, makes = crashing.commands(model)[name]
        job = {"command": command, "makes": makes, "files": str(files), "fault": fault}
        jobs.append(job | {"every": every})
    (tmp_path / "jobs.json").write_text(json.dumps(jobs))
    work = tmp_path / "crashing"
    work.mkdir()
    call = [sys.executable, crashing.__file__, tmp_path / "jobs.json"]
    done = subprocess.run(call, cwd=work, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["faults"] for one in found] == [[]] * len(jobs)
    assert all(one["tried"] >= 3 for one in found)


@pytest.mark.no_cover
def test_kills_at_random_moments_change_nothing(folder, run, start, server, model):
    crashing.write_rows(folder / "rated.jsonl", crashing.rated_rows(8))
    crashing.write_rows(folder / "texts.jsonl", crashing.rated_rows(20, 1))
    commands = crashing.commands(model)
    commands["score"][0][1] = "judge"
    wide = ["--concurrency", str(CONCURRENCY)]
    in_flight = {"infer": ([], 1), "compile": (wide, CONCURRENCY), "score": (wide, CONCURRENCY)}
    rng, allowed = random.Random(0), 0
    for name, (command, makes) in commands.items():
        options, most = in_flight[name]
        answered = rng.randint(1, 5)
        server.script(QUICK | {"times": answered}, HELD)
        ahead = server.counts()["requests"] + answered
        process = start(*command, *options)
        wait_for(lambda at=ahead: server.counts()["requests"] > at)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        allowed += most
        assert not (folder / makes).exists()
        server.forget()
        wait_for(lambda: not server.counts()["in_flight"])
        server.script(QUICK)
        assert run(*command, *options).status == 0
        server.forget()
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
    server.script(QUICK)
    for command, makes in commands.values():
        done = run(*command, *in_flight[command[0]][0], *fresh)
        assert done.status == 0, done.err
        assert crashing.contents(folder / makes) == made[makes]
    assert n_requests - server.counts()["requests"] <= allowed


@pytest.mark.no_cover
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
    server.script(QUICK)
    command[command.index("scores.jsonl")] = "alone.jsonl"
    assert run(*command, "--ledger", "alone.sqlite").status == 0
    assert server.counts()["requests"] == n_asked
    assert (folder / "alone.jsonl").read_bytes() == shared


@pytest.mark.no_cover
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


@pytest.mark.no_cover
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
    server.script({"status": 429, "retry_after": 0.1, "times": 2}, QUICK)
    true_time, jumps = time.time, iter(range(10**9))
    monkeypatch.setattr(time, "time", lambda: true_time() + 3600 * hours * next(jumps))
    limits = ["--max-minutes", "60", "--rpm", "6000", "--tpm", "9000000"]
    done = run("score", "made", "plain.jsonl", "-o", "scores.jsonl", *model, *limits, "--json")
    assert (done.status, done.json["rows"]) == (0, 3)
    assert next(jumps) > 0
    assert not [one for one in done.json["problems"] if "not asked" in one]
    again = run("score", "made", "plain.jsonl", "-o", "scores.jsonl", *model, *limits, "--json")
    assert again.json["calls"] == 0

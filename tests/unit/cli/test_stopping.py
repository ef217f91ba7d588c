"""Ctrl-C and SIGTERM: once finishes what is in flight, twice stops at once; both continue later."""

import json
import re
import signal
import sqlite3
import subprocess
import sys

import pytest
from working import wait_for

from judgesmith.cli.shared import stopping
from judgesmith.programs.lm.limits import STOPPING

SLOW = {"chatty": "steady", "latency": 0.4}
QUICK = {"chatty": "steady"}
ANY = ["--max-unscored", "1"]  # not all of its answers can be read
COMMANDS = {
    "infer": (["infer", "data.jsonl", "-o", "OUT"], "rubric.yaml", 2),
    "compile": (["compile", "data.jsonl", "-o", "OUT", "--rounds", "1", *ANY], "judge", 3),
    "score": (["score", "made", "data.jsonl", "-o", "OUT", *ANY], "scores.jsonl", 5),
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
    server.script(SLOW)
    whole = with_output(command, place)
    process = start(*whole, *ask, *(["--concurrency", "4"] if command[0] != "infer" else []))
    wait_for(lambda: server.counts()["answered"] >= after and server.counts()["in_flight"])
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
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
    if command[0] != "ablate":  # whose judges know how many requests came before them
        assert contents(folder / place) == contents(other)


@pytest.mark.no_cover
def test_discern_stops_too_and_pays_for_the_rest_alone(run, start, server, ask, data, folder):
    server.script(SLOW)
    command = ["discern", "made", data, "--sample", "4", *ask]
    process = start(*command, "-o", "out", "--concurrency", "4")
    wait_for(lambda: server.counts()["answered"] >= 4 and server.counts()["in_flight"])
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
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
def test_evaluate_stops_in_the_same_way(run, start, server, ask, data):
    server.script(SLOW)
    process = start("evaluate", "made", data, *ask, *ANY, "--concurrency", "4")
    wait_for(lambda: server.counts()["answered"] >= 4 and server.counts()["in_flight"])
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err.count("\n")) == (130, "", 3)
    counts = server.counts()
    assert counts["answered"] == counts["requests"] < 40
    server.reset()
    server.script(QUICK)
    assert run("evaluate", "made", data, *ask, *ANY).status == 0
    n_asked = counts["requests"] + server.counts()["requests"]
    server.reset()
    server.script(QUICK)
    assert run("evaluate", "made", data, *ask, *ANY, "--ledger", "fresh.sqlite").status == 0
    assert server.counts()["requests"] == n_asked


@pytest.mark.no_cover
def test_twice_stops_at_once_and_sigterm_counts_as_ctrl_c(run, start, server, ask, data):
    server.script({"chatty": "steady", "latency": 300.0})
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
    server.script(SLOW)
    process = start("score", "made", data, "-o", "s.jsonl", *ask, "--json", "--concurrency", "4")
    wait_for(lambda: server.counts()["in_flight"] == 4)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert json.loads((folder / "made" / "judge.json").read_text())["schema"] == 1

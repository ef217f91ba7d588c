"""Runs that were killed or ran out of budget go on from the answers on record."""

import json
import os
import signal

import pytest
from working import wait_for

QUICK = ["--rounds", "3"]
FULL = 16 + 16 + 16 + 12 + 12
"""Questions of a run: three sets of demonstrations on 16 rows, 12 rows of the pool, 12 held out."""


@pytest.fixture
def compile_again(run, data, on_server):
    def command(*options):
        done = run("compile", data, "-o", "judge", *QUICK, *on_server, *options, "--json")
        assert done.status == 0, done.err
        return done

    return command


@pytest.mark.no_cover
def test_a_finished_run_asked_each_question_once(compile_again, server):
    found = compile_again().json
    counts = server.counts()
    assert counts["requests"] == counts["distinct"] == found["calls"] == FULL
    assert compile_again().json["calls"] == 0
    assert server.counts()["requests"] == FULL


@pytest.mark.no_cover
def test_where_no_judge_agrees_the_uncompiled_one_comes_back(compile_again, folder):
    done = compile_again()
    assert "nothing that was tried agreed better with people" in done.err
    assert done.json["heldout"]["dataset"]["q"]["value"] is None
    made = json.loads((folder / "judge" / "judge.json").read_text())
    assert made["protocol"]["demonstrations"] == {}
    assert made["protocol"]["aggregation"]["kind"] == "overall"


@pytest.mark.no_cover
def test_no_answer_is_asked_again_after_a_kill(
    start, compile_again, server, data, on_server, folder
):
    server.script({"latency": 0.05})
    command = ["compile", data, "-o", "judge", *QUICK, *on_server, "--concurrency", "4"]
    process = start(*command)
    wait_for(lambda: server.counts()["answered"] >= 30)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (folder / "judge").exists()
    wait_for(lambda: server.counts()["in_flight"] == 0)
    compile_again()
    counts = server.counts()
    assert counts["distinct"] == FULL
    assert counts["repeated"] <= 4
    assert (folder / "judge").exists()
    assert not list(folder.glob(".judge-*"))


@pytest.mark.no_cover
def test_a_killed_scoring_leaves_no_half_file_and_goes_on(
    run, start, made_on_server, server, data, folder, on_server
):
    options = [*on_server[:4], "--concurrency", "4", "--ledger", "fresh.sqlite"]
    server.script({"latency": 0.05})
    command = ["score", made_on_server, data, "-o", "out.jsonl", *options]
    process = start(*command)
    wait_for(lambda: server.counts()["answered"] >= 15)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (folder / "out.jsonl").exists()
    wait_for(lambda: server.counts()["in_flight"] == 0)
    done = run(*command, "--json")
    assert (done.status, done.json["rows"], done.json["unscored"]) == (0, 40, 0)
    assert server.counts()["distinct"] == 40
    assert server.counts()["repeated"] <= 4
    assert sorted(path.name for path in folder.glob("*out*")) == ["out.jsonl"]
    assert not list(folder.glob(".out*"))


@pytest.fixture
def made_on_server(run, data, on_server, server):
    options = ["--optimizer", "none", *on_server, "--json"]
    assert run("compile", data, "-o", "made", *options).status == 0
    server.reset()
    return "made"


@pytest.mark.no_cover
@pytest.mark.parametrize("budget", [0, 1, 40, 48, 60, FULL - 1])
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
    assert again.json == first.json | {"calls": 0}
    whole = compile_again("--max-calls", FULL).json
    assert server.counts()["requests"] == server.counts()["distinct"] == FULL
    assert whole["rows"]["unscored"] == 0
    made = json.loads((folder / "judge" / "judge.json").read_text())
    assert made["settings"]["complete"] is True


@pytest.mark.no_cover
def test_a_budget_that_just_suffices_is_no_end(compile_again):
    done = compile_again("--max-calls", FULL)
    assert "budget" not in done.err
    assert done.json["rows"]["unscored"] == 0


def test_people_are_told_that_the_budget_ended(run, data, on_server):
    command = ["compile", data, "-o", "judge", *QUICK, *on_server, "--max-calls"]
    done = run(*command, 0)
    assert done.status == 0
    assert "nothing was saved; rerun with a larger budget to resume." in done.out
    done = run(*command, 20)
    assert "the budget ended after 1 of 3 sets of demonstrations." in done.out
    assert "this judge is incomplete" in done.out
    assert "Saved in judge" in done.out
    assert "**Incomplete**" in run("show", "judge").out
    run(*command, FULL)
    assert "**Incomplete**" not in run("show", "judge").out

"""``judgesmith recheck``: status 1 where the model changed, 0 where it did not."""

import fcntl
import os
import time

import pytest
from exporting import saved_of

from judgesmith.programs.artifacts.saved import GoldenItem
from judgesmith.programs.lm import Retry, waiting
from judgesmith.signatures import Judgement


def test_an_unchanged_model_passes_and_leaves_nothing_behind(run, judge, folder):
    done = run("recheck", judge, "--json")
    assert (done.status, done.err) == (0, "")
    told = done.json
    assert (told["drifted"], told["shift"]["value"], told["n_items"]) == (False, 0.0, 12)
    assert [check["name"] for check in told["checks"]] == ["shift", "moves", "unscored", "alike"]
    assert list((folder / ".judgesmith").iterdir()) == []


def test_a_changed_model_fails_and_what_moved_is_said(run, judge, server):
    done = run("recheck", judge, "--model", "openai/m", "--api-base", server.url)
    assert done.status == 1
    assert done.out.startswith("✗ The judge has changed")
    assert f"{judge}: scored by openai/m" in done.out
    assert "DRIFTED  unscored: 100.0 % of the scores are missing" in done.out
    assert "item 1: " in done.out
    assert "note: the judge was made with offline, and asked was openai/m." in done.out


@pytest.fixture
def plain(run, data, server):
    """A judge of one question, made with the model on the server, and how to ask it again."""
    asked = ["--model", "openai/m", "--api-base", server.url]
    made = ["--judge", "direct", "--optimizer", "none", *asked]
    assert run("compile", data, "-o", "plain", *made).status == 0
    server.reset()
    return ["recheck", "plain", *asked, "--concurrency", "4"]


def test_nothing_is_taken_from_what_is_on_record(run, plain, server):
    for n in (36, 72):
        assert run(*plain).status == 0
        assert server.counts()["requests"] == n


def test_an_interrupted_recheck_goes_on_where_it_was_for_some_hours(run, plain, server, folder):
    stopped = run(*plain, "--max-calls", "20", "--json")
    assert (stopped.status, stopped.out) == (2, "")
    assert "larger budget, and it goes on from there" in stopped.fault["hint"]
    assert server.counts()["requests"] == 20
    assert run(*plain, "--max-calls", "36").status == 0
    assert server.counts()["requests"] == 36
    run(*plain, "--max-calls", "20")
    assert server.counts()["requests"] == 56
    for path in (folder / ".judgesmith").glob("recheck-*"):
        os.utime(path, (time.time() - 7 * 3600,) * 2)
    assert run(*plain).status == 0
    assert server.counts()["requests"] == 56 + 36
    assert list((folder / ".judgesmith").glob("recheck-*")) == []


def test_two_rechecks_do_not_go_on_from_the_same_answers(run, plain, server, folder):
    run(*plain, "--max-calls", "20")
    (place,) = (folder / ".judgesmith").glob("recheck-*.sqlite")
    with place.with_name(f"{place.name}-lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = run(*plain, "--json")
    assert done.status == 2
    assert (done.fault["where"], server.counts()["requests"]) == ("--ledger", 20)
    assert "another recheck of this judge is under way" in done.fault["error"]
    assert place.exists()


@pytest.fixture
def soon(monkeypatch):
    """Every request is sent as often as ever, and without a wait in between."""
    wait = Retry.wait

    def at_once(self, *failed, **drawn):
        return None if wait(self, *failed, **drawn) is None else 0.0

    monkeypatch.setattr(Retry, "wait", at_once)
    monkeypatch.setattr(waiting, "_LONGEST_PAUSE", 0.01)


@pytest.mark.usefixtures("soon")
def test_an_outage_is_no_drift(run, plain, server):
    server.script({"status": 503, "body": "busy", "retry_after": 0, "contains": "response"})
    done = run(*plain, "--json")
    assert done.status == 2
    assert done.fault["hint"].startswith("wait, and give the same command again")


def test_a_judge_without_golden_items_is_refused(run, data):
    run("compile", data, "-o", "none", "--optimizer", "none", "--no-texts")
    done = run("recheck", "none", "--json")
    assert done.status == 2
    assert done.fault["error"].startswith("the judge has 0 golden items")


def test_no_text_of_an_item_moves_the_cursor(run, folder):
    evil = "\x1b[2J\u202e\x07 \ud800"
    golden = [
        GoldenItem(source="s", response=f"{evil} {n}", judgement=Judgement(score=100 * (n % 2)))
        for n in range(6)
    ]
    saved_of("direct", texts=()).model_copy(update={"golden": tuple(golden)}).save(folder / "evil")
    done = run("recheck", "evil")
    assert done.status == 1
    assert "item 1: " in done.out
    assert all(one.isprintable() or one == "\n" for one in done.out + done.err)
    assert run("recheck", "evil", "--json").json["drifted"] is True

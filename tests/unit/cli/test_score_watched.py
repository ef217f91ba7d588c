import json
import socket
from pathlib import Path

import pytest

from judgesmith.experiments.scoring import parts


@pytest.fixture
def score(run, judge, data):
    def done(*more):
        return run("score", judge, data, "-o", "out.jsonl", *more)

    return done


def events_of(path):
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line["event"]: line for line in lines}, path.read_text(encoding="utf-8")


def test_a_log_tells_the_run_and_none_of_its_texts(score, folder, sample_rows, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234567890abcdef")
    options = ["--ledger", "fresh.sqlite", "--max-calls", "20", "--log", "run.jsonl"]
    assert score(*options).status == 0
    events, text = events_of(folder / "run.jsonl")
    assert list(events) == ["started", "unscored", "finished"]
    assert (events["started"]["rows"], events["started"]["max_calls"]) == (40, 20)
    assert (events["unscored"]["level"], events["unscored"]["kind"]) == ("warning", "over_budget")
    assert (events["finished"]["rows"], events["finished"]["calls"]) == (40, 20)
    assert events["finished"]["unscored"] == {"over_budget": 30}
    assert "sk-12345" not in text
    assert not any(row["response"][:40] in text for row in sample_rows[:40])
    score("--log", "run.jsonl")
    assert (folder / "run.jsonl").read_text().startswith(text)


def test_rows_that_are_kept_whatever_happens_are_told(score, folder, monkeypatch):
    monkeypatch.setattr(parts, "ROWS", 16)
    assert score("--log", "run.jsonl").status == 0
    events, _ = events_of(folder / "run.jsonl")
    assert (events["checkpoint"]["file"], events["checkpoint"]["rows"]) == ("out.jsonl", 16)


def test_a_run_that_fails_says_so_in_its_log(score, folder, server):
    server.script({"status": 401})
    options = ["--model", "openai/m", "--api-base", server.url, "--ledger", "new.db"]
    done = score(*options, "--log", "run.jsonl")
    assert done.status == 2
    events, _ = events_of(folder / "run.jsonl")
    assert events["failed"]["fault"] == "ModelError"
    assert events["started"]["models"][0]["endpoint"] == server.url


def test_numbers_for_prometheus_are_left_in_a_file(score, folder):
    done = score("--metrics-file", "run.prom", "--metrics-port", "0")
    assert (done.status, done.err) == (0, "")
    text = (folder / "run.prom").read_text()
    assert 'judgesmith_model_calls_total{model="offline"}' in text
    assert "\njudgesmith_rows_total{" in text
    assert "} 40.0\n" in text


def test_a_port_that_is_taken_is_refused_before_any_call(score, folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = score("--metrics-port", port, "--ledger", "new.sqlite")
    assert done.status == 2
    assert done.err.startswith(f"error: cannot listen on 127.0.0.1:{port}: ")
    assert "choose another port" in done.err
    assert not (folder / "new.sqlite").exists()
    assert not (folder / "out.jsonl").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_under_the_log_is_said_once_and_ends_nothing(score, folder):
    done = score("--log", "/dev/full", "--max-calls", "0", "--ledger", "new.sqlite", "--force")
    assert done.status == 0
    assert done.err == "/dev/full: No space left on device; the run goes on without its log.\n"
    assert len((folder / "out.jsonl").read_text().splitlines()) == 40

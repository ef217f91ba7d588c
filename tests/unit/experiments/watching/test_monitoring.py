"""Progress, logs and measures of a run."""

import errno
import json
import logging
import os
import urllib.request

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from working import wait_for

from judgesmith.errors import FileError
from judgesmith.experiments.scoring import watching as log_file
from judgesmith.experiments.scoring.watching import LogFile, Pulse, RunLog, RunMeasures, Watches
from judgesmith.programs import score_batch
from judgesmith.programs.families.modules import DirectJudge
from judgesmith.programs.lm import Usage, client_model
from judgesmith.programs.lm.limits import Stopped
from judgesmith.signatures import Judgement, RatedItem, Reason

# log file


def record(event, **details):
    return logging.makeLogRecord({"event": event, "details": details, "levelname": "INFO"})


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def said():
    return []


@pytest.fixture
def file(tmp_path, said):
    handler = LogFile(tmp_path / "log.jsonl", complain=said.append)
    yield handler
    handler.close()


def test_every_record_is_one_line_and_earlier_lines_stay(tmp_path, file):
    file.handle(record("started", models=["m\n\u2028é"]))
    second = LogFile(tmp_path / "log.jsonl", complain=print)
    second.handle(record("finished"))
    second.close()
    first, last = lines_of(tmp_path / "log.jsonl")
    assert (first["event"], first["level"], first["models"]) == ("started", "info", ["m\n\u2028é"])
    assert first["time"].endswith("Z")
    assert last["event"] == "finished"


def test_records_of_others_are_kept_without_keys(tmp_path, file):
    file.handle(logging.makeLogRecord({"msg": "key %s", "args": ("sk-abcdef0123456789",)}))
    (line,) = lines_of(tmp_path / "log.jsonl")
    assert (line["event"], line["message"]) == ("message", "key [key]")


def test_a_full_disk_is_said_once_and_the_log_goes_on_later(tmp_path, file, said, monkeypatch):
    real = os.write

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    file.handle(record("one"))
    monkeypatch.setattr(log_file.os, "write", full)
    file.handle(record("two"))
    file.handle(record("three"))
    monkeypatch.setattr(log_file.os, "write", lambda handle, said: real(handle, said[:5]))
    file.handle(record("torn"))
    monkeypatch.setattr(log_file.os, "write", real)
    file.handle(record("four"))
    file.handle(record("five"))
    assert len(said) == 1
    assert "No space left on device; the run goes on without its log." in said[0]
    first, torn, fourth, fifth = (tmp_path / "log.jsonl").read_text().splitlines()
    assert len(torn) == 5
    assert json.loads(first)["event"] == "one"
    assert json.loads(fourth)["lost_records"] == 3
    assert "lost_records" not in json.loads(fifth)


def test_a_place_that_cannot_be_opened_is_refused_at_once(tmp_path):
    with pytest.raises(FileError, match="Is a directory"):
        LogFile(tmp_path, complain=print)


# measures

ITEM = RatedItem(source="The bridge opened on Monday.", response="It opened on Monday.")


def numbers(text):
    return {
        (one.name, *sorted(one.labels.values())): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


@pytest.fixture
def measured(tmp_path):
    lm = client_model("offline", ledger=tmp_path / "ledger.sqlite", max_calls=5)
    pulse = Pulse([lm], n_expected=4)
    measures = RunMeasures("abc", pulse)
    with measures.heard():
        score_batch(DirectJudge(), [ITEM], lm=lm)
    pulse.judged("r", 1, ITEM, Judgement(score=1.0))
    pulse.judged("r", 2, ITEM, Judgement.unscored("no", reason=Reason.UNREACHABLE))
    pulse.kept(1)
    yield measures
    lm.client.ledger.close()


def test_rows_calls_and_what_is_left_are_counted(measured):
    found = numbers(generate_latest(measured.registry).decode())
    assert found["judgesmith_rows_total", "abc"] == 2
    assert found["judgesmith_rows_kept_total", "abc"] == 1
    assert found["judgesmith_rows_expected", "abc"] == 4
    assert found["judgesmith_unscored_rows_total", "abc", "unreachable"] == 1
    assert found["judgesmith_model_calls_total", "offline"] == 1
    assert found["judgesmith_model_seconds_count", "offline"] == 1
    assert found["judgesmith_budget_left", "calls"] == 4


def test_they_are_served_on_this_machine_while_the_run_lasts(measured):
    with measured.served(0) as port:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as reply:
            assert numbers(reply.read().decode())["judgesmith_rows_total", "abc"] == 2
        with pytest.raises(OSError), measured.served(port):
            pass
    with pytest.raises(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics")


def test_a_file_of_them_is_replaced_in_one_step(measured, tmp_path):
    place = tmp_path / "run.prom"
    measured.write(place)
    measured.write(place)
    assert numbers(place.read_text())["judgesmith_rows_total", "abc"] == 2
    assert [one.name for one in tmp_path.glob("run.prom*")] == ["run.prom"]


def test_what_workers_elsewhere_asked_is_counted_as_they_tell():
    pulse = Pulse([client_model("offline", ledger=None)])
    pulse.counted = lambda: Usage(calls=7, cost_usd=None)
    found = numbers(generate_latest(RunMeasures("abc", pulse).registry).decode())
    assert found["judgesmith_model_calls_total", "offline"] == 7
    assert pulse.usage.calls == 7


# pulse

ITEM_PULSE = RatedItem(response="r")


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_the_rate_is_that_of_the_last_seconds():
    clock = Clock()
    pulse = Pulse([], n_expected=1000, clock=clock)
    pulse.kept(100)
    for second in range(100):
        clock.now = float(second)
        for _ in range(2 if second < 60 else 4):
            pulse.judged("r", 1, ITEM_PULSE, Judgement(score=1.0))
    assert 3.5 < pulse.rate < 4.5
    assert pulse.n_rows == 100 + 120 + 160
    assert 620 / 4.5 < pulse.seconds_left < 620 / 3.5
    clock.now += 1000
    assert pulse.rate < 0.01


def test_nothing_is_known_of_the_end_where_the_rows_are_not():
    clock = Clock()
    pulse = Pulse([], clock=clock)
    clock.now = 1.0
    pulse.judged("r", 1, ITEM_PULSE, Judgement(score=1.0))
    assert pulse.rate == 1.0
    assert pulse.seconds_left is None


def test_a_model_that_is_named_twice_is_counted_once():
    lm = client_model("offline", ledger=None)
    assert Pulse([lm, lm]).lms == (lm,)
    assert Pulse([lm, lm]).usage.calls == 0


# run log

ITEM_RUN_LOG = RatedItem(
    source_id="a1", system_id="north", source="The ferry leaves at nine sharp.", response="At nine."
)


@pytest.fixture
def events(caplog):
    caplog.set_level(logging.INFO, logger="judgesmith")

    def found(name=None):
        records = [one for one in caplog.records if one.name == "judgesmith"]
        return [one.details for one in records if name in (None, one.event)]

    return found


def test_a_run_tells_its_beginning_its_progress_and_its_end(events):
    lm = client_model("offline", ledger=None)
    pulse = Pulse([lm], n_expected=2)
    log = RunLog(pulse, {"concurrency": 8})
    both = Watches(pulse, log)
    with log.told():
        both.judged("rows.jsonl", 1, ITEM_RUN_LOG, Judgement(score=1.0))
        log.progressed()
        both.judged("rows.jsonl", 2, ITEM_RUN_LOG, Judgement.unscored("the texts are longer"))
    (began,) = events("started")
    assert began == {
        "rows": 2,
        "concurrency": 8,
        "models": [{"model": "offline", "endpoint": "offline"}],
    }
    (progress,) = events("progress")
    assert (progress["rows"], progress["unscored"]) == (1, {})
    (ended,) = events("finished")
    assert (ended["rows"], ended["unscored"], ended["calls"]) == (2, {"other": 1}, 0)


def test_a_row_without_a_score_is_named_and_not_quoted(events):
    problem = "the model refused the request: HTTP 400: bad text 'The ferry leaves at nine sharp.'"
    key = "sk-abcdef0123456789"
    refused = Judgement.unscored(f"{problem} for {key}", reason=Reason.REFUSED)
    RunLog(Pulse([])).judged("r.csv", 7, ITEM_RUN_LOG, refused)
    (said,) = events("unscored")
    assert said == {
        "file": "r.csv",
        "row": 7,
        "source_id": "a1",
        "system_id": "north",
        "kind": "refused",
        "reason": "the model refused the request: HTTP 400: bad text '[…]' for [key]",
    }


def test_rows_that_a_budget_does_not_reach_are_told_once(events):
    log = RunLog(Pulse([]))
    for row in range(5):
        spent = Judgement.unscored("2 calls are spent.", reason=Reason.OVER_BUDGET)
        log.judged("r.csv", row, ITEM_RUN_LOG, spent)
    assert [(one["row"], one["kind"]) for one in events("unscored")] == [(0, "over_budget")]


def test_a_long_reason_is_cut(events):
    RunLog(Pulse([])).judged("r.csv", 7, ITEM_RUN_LOG, Judgement.unscored("why? " * 1000))
    assert len(events("unscored")[0]["reason"]) <= 200


@pytest.mark.parametrize(
    ("fault", "event"),
    [(KeyboardInterrupt(), "stopped"), (Stopped("now"), "stopped"), (OSError("secret"), "failed")],
)
def test_a_run_that_ends_early_says_how(events, fault, event):
    with pytest.raises(type(fault)), RunLog(Pulse([])).told():
        raise fault
    (ended,) = events(event)
    assert "secret" not in str(ended)


def test_fewer_places_at_the_gate_are_told(events):
    lm = client_model("openai/m", ledger=None, api_base="http://localhost:1/v1")
    log = RunLog(Pulse([lm]))
    log.progressed()
    lm.client._sender.pace._limit = 8.0
    log.progressed()
    log.progressed()
    assert events("backing_off") == [{"retries": 0, "places": {"openai/m": 8}}]


def test_a_heartbeat_tells_of_progress_while_nothing_comes(events):
    with RunLog(Pulse([])).told(every=0.01):
        wait_for(lambda: events("progress"))

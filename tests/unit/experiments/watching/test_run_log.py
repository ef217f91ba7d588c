import logging

import pytest
from working import wait_for

from judgesmith.experiments.scoring.watching import Pulse, RunLog, Watches
from judgesmith.programs.lm import client_model
from judgesmith.programs.lm.limits import Stopped
from judgesmith.signatures import Judgement, RatedItem, Reason

ITEM = RatedItem(
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
        both.judged("rows.jsonl", 1, ITEM, Judgement(score=1.0))
        log.progressed()
        both.judged("rows.jsonl", 2, ITEM, Judgement.unscored("the texts are longer"))
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
    RunLog(Pulse([])).judged("r.csv", 7, ITEM, refused)
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
        log.judged("r.csv", row, ITEM, spent)
    assert [(one["row"], one["kind"]) for one in events("unscored")] == [(0, "over_budget")]


def test_a_long_reason_is_cut(events):
    RunLog(Pulse([])).judged("r.csv", 7, ITEM, Judgement.unscored("why? " * 1000))
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

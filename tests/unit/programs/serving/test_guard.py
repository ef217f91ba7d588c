import asyncio
import json

import pytest

from judgesmith.programs import DirectJudge
from judgesmith.programs.lm import LedgerError, model
from judgesmith.programs.serving import ServedJudge, ServingLimits
from judgesmith.programs.serving.requests import ClientGone
from judgesmith.programs.serving.routes import Door, Guard
from judgesmith.programs.serving.service import Service


@pytest.fixture
def service():
    lm = model("offline", ledger=None)
    return Service({"plain": ServedJudge("plain", DirectJudge(), lm)}, ServingLimits())


def replied(service, fault, *, begins=False, stops=False):
    """Return what is sent where the application inside ends in a fault."""
    sent = []

    async def inside(scope, receive, send):
        service.accept(scope)
        if begins:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        service.stopping = stops
        raise fault

    async def send(message):
        sent.append(message)

    guard = Guard(inside, service=service, door=Door())
    scope = {"type": "http", "path": "/v1/judges", "headers": [(b"host", b"localhost")]}
    asyncio.run(guard(scope, None, send))
    assert service.n_accepted == 0
    return sent


def test_a_fault_that_nobody_foresaw_is_told_by_its_kind_and_place(service, caplog):
    start, body = replied(service, RuntimeError("a secret text"))
    assert start["status"] == 500
    assert json.loads(body["body"])["where"] == "server"
    assert "RuntimeError while answering a request:" in caplog.text
    assert "in inside" in caplog.text
    assert "secret" not in caplog.text + body["body"].decode()


def test_what_is_wrong_with_the_ledger_is_told_to_whoever_runs_the_server_alone(service, caplog):
    start, body = replied(service, LedgerError("/somewhere/secret is not a ledger"))
    assert start["status"] == 503
    assert json.loads(body["body"])["where"] == "ledger"
    assert "somewhere" not in body["body"].decode()
    assert caplog.messages == ["/somewhere/secret is not a ledger"]


def test_once_a_reply_has_begun_no_other_begins(service):
    assert len(replied(service, RuntimeError(), begins=True)) == 1
    assert replied(service, ClientGone()) == []


def test_who_is_cut_off_at_the_end_is_told_so_and_nobody_else_is(service):
    with pytest.raises(asyncio.CancelledError):
        replied(service, asyncio.CancelledError())
    start, body = replied(service, asyncio.CancelledError(), stops=True)
    assert start["status"] == 503
    assert json.loads(body["body"])["error"] == "the server stopped before this was judged."

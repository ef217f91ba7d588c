"""What one client can take from the others: the server's time, and its places."""

import asyncio
import sys
import threading

import pytest
from asgi import Caller
from crowd import Client
from optimizing import lm_of
from serving_page import judge_folder, served

from judgesmith.programs import DirectJudge
from judgesmith.programs.serving import app, requests

SIZE = 4 * 2**20 - 100
JUDGE = "/v1/judges/plain/judge"
BATCH = "/v1/judges/plain/batch"
ITEM = b'{"response": "It opened on Monday."}'
STREAM = "/v1/judges/plain/stream"


def filled(unit, before, after):
    n = (SIZE - len(before) - len(after)) // (len(unit) + 1)
    return before + b",".join([unit] * n) + after


DEEP = filled(b"[" * 150 + b"]" * 150, b'{"response": "r", "x": [', b"]}")
WIDE = b'{"' + b",".join(b'"k%d": 1' % n for n in range(SIZE // 14)).lstrip(b'"') + b"}"
UNREAD = b'{"x": [' + b'"' + b"word, " * (SIZE // 6) + b'"' + b"]}"  # and no response


class Busy(Caller):
    """Asks for the health of the server until a request is answered."""

    healthy = threading.Event()

    async def _asked(self, scope, body):
        sending = asyncio.ensure_future(super()._asked(scope, body))
        health = {"method": "GET", "path": "/healthz", "raw_path": b"/healthz"}
        while not sending.done():
            assert (await super()._asked(scope | health, b"")).status == 200
            self.healthy.set()
            await asyncio.sleep(0)
        return await sending


@pytest.mark.parametrize(
    ("body", "status"), [(DEEP, 413), (WIDE, 413), (UNREAD, 422)], ids=["deep", "wide", "unread"]
)
@pytest.mark.parametrize("path", [JUDGE, BATCH, STREAM])
def test_health_checks_are_answered_while_a_large_body_is_read(monkeypatch, path, body, status):
    check, seen = requests._check_parts, []

    def slowly(*arguments):
        for _ in range(3):
            Busy.healthy.clear()
            seen.append(Busy.healthy.wait(60))
        return check(*arguments)

    monkeypatch.setattr(requests, "_check_parts", slowly)
    kind = "application/x-ndjson" if path == STREAM else "application/json"
    with Busy(app({"plain": DirectJudge()}, lm=lm_of(lambda *_: 70))) as client:
        reply = client.post(path, body, content_type=kind)
    assert seen == [True] * 3
    assert reply.status == (200 if path == STREAM else status)
    assert reply.json["error"]


@pytest.mark.skipif(sys.platform != "linux", reason="others have 127.0.0.1 alone")
def test_slow_bodies_of_one_client_leave_room_for_others(tmp_path):
    judge = judge_folder(tmp_path / "judge", family="direct")
    options = ("--model", "offline", "--max-body", "0.01", "--max-chars", "1000")
    with served({"plain": judge}, tmp_path, *options) as address:
        asyncio.run(_crowded(address))


async def _crowded(address):
    size = 10_485
    slow = [Client(address) for _ in range(16)]
    honest = Client(address, "127.0.0.2")
    try:
        for one in slow:
            await one.send("POST", JUDGE, b" " * (size - 1), **{"Content-Length": str(size)})
        replies = {asyncio.ensure_future(one.reply()): one for one in slow}
        refused = []
        while len(refused) < 8:
            done, _ = await asyncio.wait(replies, return_when=asyncio.FIRST_COMPLETED)
            refused += [replies.pop(one) and one.result() for one in done]
        assert {(one.status, one.json["where"]) for one in refused} == {(429, "client")}
        assert (await honest.ask("POST", JUDGE, ITEM)).status == 200
        for waiting, one in replies.items():
            one.writer.write(b" ")
            assert (await waiting).status == 422
        assert (await slow[0].ask("POST", JUDGE, ITEM)).status == 200
    finally:
        for one in (*slow, honest):
            one.close()
        await asyncio.sleep(0)

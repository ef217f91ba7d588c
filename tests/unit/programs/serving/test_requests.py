"""Requests to the server: bodies, items, batch coordination and crowding."""

import asyncio
import json
import sys
import threading
import time
from concurrent.futures import CancelledError, wait

import pytest
from asgi import Caller
from crowd import Client
from looping import for_each
from optimizing import lm_of
from serving_page import judge_folder, served

from judgesmith.data import stream_items
from judgesmith.programs import DirectJudge
from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.judging.runner import OneByOne
from judgesmith.programs.lm import CacheError, ModelError, TransientModelError
from judgesmith.programs.serving import app, requests
from judgesmith.programs.serving.requests import (
    ClientGone,
    Inflow,
    Lines,
    Refusal,
    ServingLimits,
    items_of,
    posted_item,
    whole_body,
)
from judgesmith.programs.serving.served import Desk, Job
from judgesmith.signatures import Judgement, RatedItem

# bodies

BODY = b'{"a": 1}\n\n  \r\n' + b"x" * 30 + b'\n{"b": 2}\r\nlast'


def receiving(parts, *, ends=True, leaves=False):
    """Return what hands out parts as ASGI does, and how often it was asked."""
    messages = [{"type": "http.request", "body": one, "more_body": True} for one in parts]
    if ends:
        messages.append({"type": "http.request", "body": b"", "more_body": False})
    asked = []

    async def receive():
        asked.append(None)
        if messages:
            return messages.pop(0)
        if not leaves:
            await asyncio.sleep(3600)
        return {"type": "http.disconnect"}

    return receive, asked


def read_lines(parts, *, longest=20, **options):
    async def run():
        inflow = Inflow(receiving(parts, **options)[0])
        lines = Lines(inflow, longest, lambda number: None)
        found = []
        while (line := await lines.next()) is not None:
            found.append((line.number, line.text))
        inflow.close()
        return found

    return asyncio.run(run())


@for_each("size", [1, 2, 3, 7, 1000])
def test_lines_are_the_same_wherever_the_parts_of_a_body_end(size):
    parts = [BODY[n : n + size] for n in range(0, len(BODY), size)]
    assert read_lines(parts) == [(1, b'{"a": 1}'), (4, None), (5, b'{"b": 2}\r'), (6, b"last")]


def test_a_line_that_never_ends_is_not_kept():
    kept = []

    async def run():
        inflow = Inflow(receiving([b"x" * 10] * 1000)[0])
        lines = Lines(inflow, 20, lambda number: None)
        held = lines._held
        task = asyncio.ensure_future(lines.next())
        while not task.done():
            kept.append(len(held))
            await asyncio.sleep(0)
        return task.result()

    found = asyncio.run(run())
    assert (found.number, found.text) == (1, None)
    assert max(kept) <= 40


def test_no_more_is_read_than_two_parts_ahead():
    async def run():
        receive, asked = receiving([b"a\n"] * 50)
        inflow = Inflow(receive)
        lines = Lines(inflow, 20, lambda number: None)
        await lines.next()
        for _ in range(20):
            await asyncio.sleep(0)
        inflow.close()
        return len(asked)

    assert asyncio.run(run()) <= 4


def test_who_leaves_is_noticed_while_lines_are_worked_on():
    async def run():
        inflow = Inflow(receiving([b"a\n"], leaves=True)[0])
        await asyncio.wait_for(inflow.gone.wait(), 60)

    asyncio.run(run())


def test_whoever_waits_for_a_line_looks_up_and_gives_up_at_last(monkeypatch):
    monkeypatch.setattr(requests, "_LOOK", 0.001)
    monkeypatch.setattr(requests, "_BETWEEN", 0.01)
    told = []

    async def run():
        lines = Lines(Inflow(receiving([b"a\n"], ends=False)[0]), 20, told.append)
        await lines.next()
        await lines.next()

    with pytest.raises(Refusal) as found:
        asyncio.run(run())
    assert (found.value.status, found.value.where) == (408, "line 2")
    assert found.value.hint.startswith("end the stream")
    assert set(told) == {2}


def dripping(part, first=b""):
    """Return what hands out one part after the other without end, on a clock that it moves."""
    parts = [first] if first else []

    async def receive():
        await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        now = loop.time() + 10
        loop.time = lambda: now
        body = parts.pop() if parts else part
        return {"type": "http.request", "body": body, "more_body": True}

    return receive


@pytest.mark.parametrize(
    ("part", "longest", "hint"),
    [
        (b"x", 10**9, "send the rest again, each line at once."),
        (b"x", 5, "send the rest again, each line at once."),
        (b"\n", 5, "end the stream, and open another when there is more to judge."),
    ],
    ids=["a line", "a line that is too long", "blank lines"],
)
def test_a_line_that_drips_is_not_waited_for(part, longest, hint):
    async def run():
        lines = Lines(Inflow(dripping(part, first=b"a\n")), longest, lambda number: None)
        assert (await lines.next()).text == b"a"
        await lines.next()

    with pytest.raises(Refusal) as found:
        asyncio.run(run())
    assert (found.value.status, found.value.hint) == (408, hint)
    assert found.value.where.startswith("line ")


def test_a_body_that_drips_is_not_waited_for():
    held = []
    with pytest.raises(Refusal) as found:
        asyncio.run(
            whole_body(
                dripping(b"x"), None, ServingLimits(), hold=held.append, look_up=lambda: None
            )
        )
    assert (found.value.status, found.value.where) == (408, "body")
    assert found.value.error.startswith("expected the whole body within 60 s;")
    assert "lines to …/stream" in found.value.hint
    assert sum(held) > 1


def whole(parts, length=None, *, held=None, look_up=None, **options):
    hold = (held if held is not None else []).append
    receive = receiving(parts, **options)[0]
    limits = ServingLimits(max_body=10)
    return asyncio.run(
        whole_body(receive, length, limits, hold=hold, look_up=look_up or (lambda: None))
    )


def test_a_whole_body_is_put_together_and_told_of():
    held = []
    assert whole([b"ab", b"cd"], "4", held=held) == b"abcd"
    assert sum(held) == 4


@pytest.mark.parametrize(
    ("parts", "length"), [([b"x" * 11], None), ([b"x"], "11"), ([b"x" * 6] * 2, "3")]
)
def test_a_body_is_no_larger_than_allowed_whatever_is_said_of_it(parts, length):
    with pytest.raises(Refusal) as found:
        whole(parts, length)
    assert found.value.status == 413


def test_who_leaves_before_the_end_is_not_answered():
    with pytest.raises(ClientGone):
        whole([b"x"], ends=False, leaves=True)


def test_nor_is_it_waited_for_where_the_server_stops():
    def stopping():
        raise Refusal(503, "stopping", "the server is stopping.")

    with pytest.raises(Refusal, match="stopping"):
        whole([b"x"], ends=False, look_up=stopping)


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(requests, "_LOOK", 0.001)
    monkeypatch.setattr(requests, "_PATIENCE", 0.002)
    with pytest.raises(Refusal) as found:
        whole([b"x"], ends=False)
    assert found.value.status == 408


# What one client can take from the others: the server's time, and its places.

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
    ("path", "body", "status"),
    [(JUDGE, DEEP, 413), (BATCH, WIDE, 413), (BATCH, UNREAD, 422), (STREAM, WIDE, 200)],
    ids=["deep", "wide", "unread", "stream"],
)
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
    assert reply.status == status
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


# desk


class Slow(Executor):
    """Says how long a response is, once it is let."""

    def __init__(self):
        self.let = threading.Event()
        self.begun = []
        self.closed = 0

    async def judge(self, item):
        self.begun.append(item.response)
        while not self.let.is_set():
            await asyncio.sleep(0.001)
        if item.response == "fault":
            raise ModelError("wrong key", status=401)
        if item.response == "passing":
            raise TransientModelError("busy", status=503)
        return Judgement(score=len(item.response))

    async def aclose(self):
        self.closed += 1


@pytest.fixture
def executor():
    return Slow()


@pytest.fixture
def coordinator(executor):
    made = Desk(ServingLimits(queue=4, concurrency=2, max_items=6))
    yield made
    executor.let.set()
    made.close([executor])


def jobs(executor, *texts, may_begin=lambda n: True):
    work = OneByOne(executor)
    return [
        Job(work=work, unit=RatedItem(response=text), size=1, may_begin=may_begin) for text in texts
    ]


def soon(true):
    for _ in range(60_000):
        if true():
            return True
        time.sleep(0.001)
    return False


def test_so_many_are_judged_at_a_time_and_the_others_wait_in_order(coordinator, executor):
    futures = coordinator.take(jobs(executor, "a", "bb", "ccc", "dddd"))
    assert soon(lambda: (coordinator.n_begun, coordinator.n_waiting) == (2, 2))
    executor.let.set()
    assert [one.result(60).score for one in futures] == [1, 2, 3, 4]
    assert executor.begun == ["a", "bb", "ccc", "dddd"]
    assert (coordinator.n_begun, coordinator.n_waiting) == (0, 0)


def test_when_every_place_is_taken_nothing_more_is_accepted_and_a_batch_whole_or_not(
    coordinator, executor
):
    coordinator.take(jobs(executor, *"abcde"))
    with pytest.raises(Refusal) as found:
        coordinator.take(jobs(executor, "f", "g"))
    assert found.value.status == 429
    assert int(found.value.headers["Retry-After"]) >= 1
    assert coordinator.has_room()
    coordinator.take(jobs(executor, "f"))
    assert not coordinator.has_room()


def test_streams_leave_room_for_others(coordinator, executor):
    coordinator.take(jobs(executor, *"abcd"))
    assert coordinator.take_of_stream(jobs(executor, "e")[0]) is None
    assert len(coordinator.take(jobs(executor, "e"))) == 1


def test_what_is_cancelled_before_it_is_begun_never_is_and_gives_its_place_back(
    coordinator, executor
):
    futures = coordinator.take(jobs(executor, *"abcdef"))
    assert soon(lambda: coordinator.n_begun == 2)
    assert [one.cancel() for one in futures] == [False, False, True, True, True, True]
    assert coordinator.n_waiting == 0
    later = coordinator.take(jobs(executor, "g"))
    executor.let.set()
    assert wait(later, 5).not_done == set()
    assert executor.begun == ["a", "b", "g"]


def test_who_leaves_just_as_its_turn_comes_keeps_nobody_behind_it_waiting(executor):
    class Late(Desk):
        def _left(self, future):
            # The queue hears of it after the future is cancelled: here, only when it looks.
            if threading.current_thread() is not threading.main_thread():
                super()._left(future)

    coordinator = Late(ServingLimits(queue=4, concurrency=1, max_items=5))
    first, leaving, last = coordinator.take(jobs(executor, "a", "bb", "ccc"))
    assert soon(lambda: coordinator.n_begun == 1)
    assert leaving.cancel()
    executor.let.set()
    assert (first.result(60).score, last.result(60).score) == (1, 3)
    assert executor.begun == ["a", "ccc"]
    assert coordinator.n_waiting == 0
    coordinator.close([executor])


def test_a_fault_of_one_item_is_a_judgement_and_one_of_the_set_up_a_fault(coordinator, executor):
    executor.let.set()
    passing, fault = coordinator.take(jobs(executor, "passing", "fault"))
    assert passing.result(60).problem == "the model could not be reached: busy"
    with pytest.raises(ModelError, match="wrong key"):
        fault.result(60)


def test_the_budget_says_when_a_job_may_begin_and_no_ledger_says_nothing(coordinator, executor):
    def one_at_a_time(n):
        return n == 0

    futures = coordinator.take(jobs(executor, "a", "b", may_begin=one_at_a_time))
    assert soon(lambda: coordinator.n_begun == 1)
    time.sleep(0.02)
    assert coordinator.n_begun == 1
    executor.let.set()
    assert wait(futures, 60).not_done == set()

    def unknown(n):
        raise CacheError("gone")

    assert coordinator.take(jobs(executor, "c", may_begin=unknown))[0].result(60).score == 1


def test_an_end_abandons_what_is_under_way_and_lets_go_of_connections(coordinator, executor):
    futures = coordinator.take(jobs(executor, *"abc"))
    assert soon(lambda: coordinator.n_begun == 2)
    coordinator.close([executor])
    assert executor.closed == 1
    assert futures[2].cancelled()
    for one in futures[:2]:
        with pytest.raises(CancelledError):
            one.result(60)
    coordinator.close([executor])
    assert executor.closed == 1
    assert not [one for one in threading.enumerate() if one.name == "judgesmith-desk"]


def test_a_desk_that_was_closed_can_be_used_again(coordinator, executor):
    executor.let.set()
    coordinator.take(jobs(executor, "a"))[0].result(60)
    coordinator.close([executor])
    assert coordinator.take(jobs(executor, "bb"))[0].result(60).score == 2


def test_who_is_refused_is_told_to_come_back_when_there_probably_is_room(coordinator, executor):
    assert coordinator.retry_after(1) == 1
    coordinator._seconds = 10.0
    coordinator.take(jobs(executor, *"abcdef"))
    assert coordinator.retry_after(1) == 5
    assert coordinator.retry_after(1000) == 120


# items

LIMITS = ServingLimits(max_items=3, max_chars=20)


def json_of(value):
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def refused(read, value, limits=LIMITS):
    with pytest.raises(Refusal) as found:
        read(json_of(value), limits)
    return found.value


@pytest.mark.parametrize(
    "row",
    [
        {"response": "r"},
        {"response": "r", "source": "s", "context": "", "references": "one"},
        {"response": "", "source": None, "context": None, "references": None},
        {"response": "r", "source_id": 7, "system_id": 3.0, "references": ["a", "", None, "b"]},
        {
            "response": "r",
            "source_id": 2.5,
            "human": {"overall": [3]},
            "scale": {"overall": [1, 5]},
        },
        {"response": "r", "else": [1, {"deep": None}], "source_id": ""},
    ],
)
def test_an_item_is_what_score_reads_in_a_row(row, tmp_path):
    place = tmp_path / "rows.jsonl"
    place.write_text(json.dumps(row) + "\n")
    (same,) = stream_items(place)
    unread = {"extra": {}, "human": {}, "scale": {}}
    assert posted_item(json_of(row), LIMITS) == same.model_copy(update=unread)


@for_each(
    ("body", "said", "where"),
    [
        ({"source": "s"}, "response is missing", "response"),
        ({"response": None}, "response: expected a text; got nothing", "response"),
        ({"response": "r", "context": 1}, "context: expected a text; got 1", "context"),
        (
            {"response": "r", "references": [1]},
            "references: expected a text, or a list of at most 100 texts; got [1]",
            None,
        ),
        (
            {"response": "r", "references": {}},
            "references: expected a text, or a list of at most 100 texts; got {}",
            None,
        ),
        ({"response": "r", "system_id": True}, "system_id: expected a text; got true", None),
        ({"response": "r", "source_id": [1]}, "source_id: expected a text; got [1]", None),
        ([], "expected fields by name; got []", "body"),
        (None, "expected fields by name; got nothing", "body"),
        ({"responce": "r"}, "there is no field 'responce'; did you mean 'response'?", "body"),
    ],
)
def test_what_is_no_item_is_refused_with_its_place(body, said, where):
    found = refused(posted_item, body)
    assert (found.status, found.error) == (422, said)
    assert found.where == (where or said.partition(":")[0])


def test_faults_are_not_looked_for_without_end():
    found = refused(posted_item, {"response": "r", "references": [1] * 101})
    assert found.error.startswith("references: expected a text, or a list of at most 100 texts")
    assert len(found.error) < 200
    assert posted_item(json_of({"response": "r", "references": ["a"] * 100}), LIMITS)
    others = {f"other {n}": 1 for n in range(10_000)}
    found = refused(items_of, {**others, "items": [{"response": "r"}]})
    assert found.where == "other 0"
    assert found.error.endswith("; and 9995 more")


def test_a_field_that_only_resembles_one_that_is_there_is_passed_over():
    assert posted_item(b'{"response": "r", "responses": "?"}', LIMITS).response == "r"


def test_every_fault_of_a_batch_is_told_up_to_five():
    limits = ServingLimits(max_items=50)
    found = refused(items_of, {"items": [{}, {"response": "r"}] * 8}, limits)
    assert found.error.startswith("items[0].response is missing; items[2].response is missing; ")
    assert found.error.endswith("items[8].response is missing; and 3 more")
    assert found.where == "items[0].response"


@for_each(
    ("body", "status", "where"),
    [
        ({"items": [{"response": "r"}] * 4}, 413, "items"),
        ({"items": []}, 422, "items"),
        ({"items": {"response": "r"}}, 422, "items"),
        ({"item": []}, 422, "items"),
        ({"items": [{"response": "r"}], "judge": "x"}, 422, "judge"),
        ([], 422, "body"),
        ({"items": [{"response": "r"}, {"response": "r" * 21}]}, 413, "items[1].response"),
        (
            {"items": [{"response": "r", "references": ["", "r" * 21]}]},
            413,
            "items[0].references[0]",
        ),
    ],
)
def test_batches_that_are_none_or_too_large_are_refused(body, status, where):
    found = refused(items_of, body)
    assert (found.status, found.where) == (status, where)


def test_a_field_with_a_long_name_is_named_by_its_beginning():
    found = refused(items_of, {"items": [], "x" * 3000: 1})
    assert found.where == "x" * 59 + "…"
    assert len(found.error) < 200


@for_each("name", ["response", "source", "context", "source_id", "system_id"])
def test_no_text_is_longer_than_allowed_and_none_is_cut(name):
    item = {"response": "r", name: "é" * 20}
    assert posted_item(json_of(item), LIMITS)
    found = refused(posted_item, {**item, name: "é" * 21})
    assert (found.status, found.where) == (413, name)
    assert found.error == "expected at most 20 characters; got 21."


def repeated(part, n, before=b'{"response": "r", "x": ['):
    return before + b",".join([part] * n) + b"]}"


@for_each(
    ("read", "body"),
    [
        (posted_item, repeated(b"[" * 100 + b"]" * 100, 2_000)),
        (items_of, repeated(b"{}", 150_000)),
        (posted_item, repeated(b'"[{"', 200_001)),
        (posted_item, b'{"a": 1' + b"".join(b', "k%d": 1' % n for n in range(110_000)) + b"}"),
        (items_of, b'{"items": [' + b"1," * 200_000 + b"1]}"),
    ],
)
def test_what_would_keep_everybody_waiting_is_not_read(read, body):
    found = refused(read, body)
    assert (found.status, found.where) == (413, "body")
    assert found.error == "expected at most 200000 names and values at once; got more."
    assert found.hint.startswith("leave out fields that no judge reads")


@pytest.mark.parametrize(
    "extra",
    [b"[[]]", b"[" + b"0.125," * 150_000 + b"0]", json_of("[{:,\\" * 100_000 + '"]' * 9)],
    ids=["nested", "numbers", "marks in a text"],
)
def test_fields_that_no_judge_reads_are_passed_over_whatever_they_hold(extra):
    item = b'{"embedding": ' + extra + b', "response": "r", "human": ' + extra + b"}"
    if len(item) > 1_500_000:
        item = item.replace(b', "human": ' + extra, b"")
    assert posted_item(item, LIMITS).response == "r"
    assert items_of(b'{"items": [' + item + b"]}", LIMITS)[0].response == "r"


def test_what_is_wrong_in_a_large_body_is_told_without_showing_it():
    found = refused(posted_item, repeated(b"[1]", 50_000, before=b'{"response": ['))
    assert (found.error, found.where) == (
        "response: expected a text; got something else",
        "response",
    )


@for_each("body", [b"", b"{", b"\xff", b'"\\ud800"', b"[" * 10_000, b"{'a': 1}", b'{"a": 1} {}'])
def test_what_is_no_json_is_refused(body):
    found = refused(posted_item, body)
    assert (found.status, found.where) == (422, "body")
    assert found.error.startswith("expected JSON in UTF-8; got something else: ")

import asyncio

import pytest

from judgesmith.programs.serving import requests
from judgesmith.programs.serving.requests import (
    ClientGone,
    Inflow,
    Lines,
    Refusal,
    ServingLimits,
    whole_body,
)

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


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_lines_are_the_same_wherever_the_parts_of_a_body_end(size):
    parts = [BODY[n : n + size] for n in range(0, len(BODY), size)]
    assert read_lines(parts) == [
        (1, b'{"a": 1}'),
        (4, None),
        (5, b'{"b": 2}\r'),
        (6, b"last"),
    ]


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
    """Return what hands out one part after the other, slowly and without end."""
    parts = [first] if first else []

    async def receive():
        await asyncio.sleep(0.001)
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
def test_a_line_that_drips_is_not_waited_for(monkeypatch, part, longest, hint):
    monkeypatch.setattr(requests, "_PATIENCE", 0.05)
    monkeypatch.setattr(requests, "_BETWEEN", 0.05)

    async def run():
        lines = Lines(Inflow(dripping(part, first=b"a\n")), longest, lambda number: None)
        assert (await lines.next()).text == b"a"
        await lines.next()

    with pytest.raises(Refusal) as found:
        asyncio.run(run())
    assert (found.value.status, found.value.hint) == (408, hint)
    assert found.value.where.startswith("line ")


def test_a_body_that_drips_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(requests, "_PATIENCE", 0.05)
    held = []
    with pytest.raises(Refusal) as found:
        asyncio.run(
            whole_body(
                dripping(b"x"), None, ServingLimits(), hold=held.append, look_up=lambda: None
            )
        )
    assert (found.value.status, found.value.where) == (408, "body")
    assert found.value.error.startswith("expected the whole body within 0.05 s;")
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

"""Bodies of requests to a server of judges: items that can be judged, or a refusal with a place."""

import asyncio
import json

from draws import TEXTS, Draws, mutated

from judgesmith.programs.serving.requests import (
    Inflow,
    Lines,
    Refusal,
    ServingLimits,
    items_of,
    posted_item,
)
from judgesmith.signatures.plain_data import json_line

WHOLE = (
    b'{"source_id": "s", "system_id": 3, "source": "a", "context": null, "response": "b"}\n',
    b'{"items": [{"response": "a", "references": ["b", null, ""]}, {"response": "c"}]}\n',
    b'{"response": "a", "human": {"overall": [1]}, "responses": 1}\r\n\n{"response": "d"}',
)
PIECES = (
    *TEXTS,
    '"response": ',
    '{"response": "',
    '"items": [',
    '"references": ',
    "\\ud800",
    "\\u0000",
    "[" * 300,
    '{"a": ' * 300,
)
LIMITS = ServingLimits(max_body=4000, max_items=5, max_chars=50)


def fuzz_one(data: bytes) -> None:
    """Read bytes as an item, as a batch and as lines."""
    draws = Draws(data)
    if draws.flag():
        body = draws.text(12, among=PIECES).encode("utf-8", "surrogatepass")
    else:
        body = mutated(draws, draws.of(WHOLE))
    for read in (posted_item, items_of):
        try:
            found = read(body, LIMITS)
        except Refusal as refusal:
            _check(refusal)
            continue
        for item in found if isinstance(found, list) else [found]:
            item.response.encode()
            assert item.source_id
            assert len(item.response) <= LIMITS.max_chars
    size = 1 + draws.below(40)
    parts = [body[n : n + size] for n in range(0, len(body), size)]
    lines = asyncio.run(_lines(parts))
    expected = [(n, one) for n, one in enumerate(body.split(b"\n"), start=1) if one.strip()]
    kept = [(n, None if len(one) > LIMITS.max_body else one) for n, one in expected]
    assert [(line.number, line.text) for line in lines] == kept


def _check(refusal: Refusal) -> None:
    assert 400 <= refusal.status < 500
    assert refusal.error
    assert refusal.where
    assert len(refusal.error) < 2000
    assert json.loads(json_line(refusal.body)) == refusal.body


async def _lines(parts: list[bytes]) -> list:
    messages = [{"type": "http.request", "body": one, "more_body": True} for one in parts]
    messages.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive():
        if messages:
            return messages.pop(0)
        await asyncio.sleep(3600)

    inflow = Inflow(receive)
    lines = Lines(inflow, LIMITS.max_body, lambda number: None)
    found = []
    while (line := await lines.next()) is not None:
        found.append(line)
    inflow.close()
    return found

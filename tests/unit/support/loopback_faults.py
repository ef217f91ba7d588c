"""The loopback server with every fault a model server has: broken in transit, in shape, in words.

Run or start it like ``loopback.py``, which it extends (``python loopback_faults.py``, or
``serving()``). A behaviour may also have

``fault``
    the name of a fault of this file; ``PASSING`` and ``LASTING`` list them
``plan``
    ``{"seed": 0, "share": 0.2, "kinds": [...], "attempts": 1, "label": "item-[0-9]+"}``: a share of
    the questions meets a fault of these kinds. Which question meets which fault is a function of
    the seed and of its label alone (``planned``), the first match of ``label`` in the body. A
    passing fault goes away after so many attempts, a lasting one never does.

``counting``
    ``{"input": 1.0, "output": 400}``: count so many tokens per byte of the texts asked, and answers
    of one to so many tokens (at most the ceiling that was asked for), by the content of the
    request; with ``latency``, wait so long before each

``GET /faults`` says how often which fault was served, ``GET /tokens`` how many tokens all answers
had that were written, whether or not they arrived whole, and ``GET /arrivals`` when, in seconds,
the first and the last request since the last such question came.
"""

import asyncio
import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import contextmanager
from email.utils import formatdate
from time import monotonic, time
from typing import Any

import loopback

PASSING = (
    *("http_500", "http_502", "http_503", "http_504", "http_429", "http_429_seconds"),
    *("http_429_date", "closed_before", "reset", "half_closed", "half_chunked", "garbage"),
    *("empty_body", "html_200", "wrong_json", "no_choices", "null_choice", "error_200"),
    *("no_message", "other_object", "json_null", "odd_usage", "several_choices"),
    *("too_long_a_length", "too_short_a_length", "not_utf8", "deep_json", "http_408"),
    *("http_409", "http_425", "http_520", "http_529", "redirected", "odd_logprobs"),
)
"""Faults after which the same question is worth another attempt."""

_UNREAD = "the model's answer could not be read: "
_REFUSED = "the model refused the request: "

LASTING = {
    "cut_off": f"{_UNREAD}it was cut off at the model's limit of tokens.",
    "cut_off_in_a_number": f"{_UNREAD}it was cut off at the model's limit of tokens.",
    "refusal": f"{_UNREAD}the answer lacks the field",
    "refusal_field": f"{_UNREAD}the answer lacks the field",
    "huge": f"{_UNREAD}the answer lacks the field",
    "filtered": f"{_UNREAD}the server's content filter stopped it.",
    "no_content": f"{_UNREAD}the answer lacks the field",
    "out_of_range": "the model answered 900, outside 0..100.",
    "http_400": _REFUSED,
    "http_413": _REFUSED,
    "http_422": _REFUSED,
    "http_451": _REFUSED,
    "too_long_a_prompt": "the texts are longer than the model reads: ",
    "down": "the model could not be reached: ",
}
"""Faults that another attempt meets again, and how the reason of an unscored item begins."""

HARMLESS = ("slow", "wrong_type", "logprobs")
"""Oddities of an answer that is there and can be read."""

HUGE = 20_000_000


def planned(plan: dict[str, Any], label: str) -> str | None:
    """Return the fault that the question called ``label`` meets, or None.

    >>> plan = {"seed": 0, "share": 1.0, "kinds": ["refusal"]}
    >>> planned(plan, "item-7")
    'refusal'
    """
    drawn = hashlib.blake2b(f"{plan['seed']} {label}".encode(), digest_size=16).digest()
    if int.from_bytes(drawn[:8], "big") / 2.0**64 >= plan["share"]:
        return None
    kinds: Sequence[str] = plan["kinds"]
    return kinds[int.from_bytes(drawn[8:], "big") % len(kinds)]


class FaultyServer(loopback.Server):
    """A server whose replies may be broken in every way."""

    def reset(self) -> None:
        super().reset()
        self.served: Counter[str] = Counter()
        self.attempts: Counter[str] = Counter()
        self.tokens = Counter({"input": 0, "output": 0})
        self.arrivals: list[float] = []

    async def handle(self, request: Any) -> Any:
        from aiohttp import web

        if request.path == "/faults":
            return web.json_response(dict(self.served))
        if request.path == "/tokens":
            return web.json_response(dict(self.tokens))
        if request.path == "/arrivals":
            first_and_last, self.arrivals = self.arrivals, []
            return web.json_response(first_and_last)
        if request.path.endswith("/chat/completions"):
            self.arrivals[1:] = [monotonic()]
        return await super().handle(request)

    async def reply(self, request: Any, body: bytes, content: bytes, turn: int) -> Any:
        from aiohttp import web

        fault = self.fault(body)
        if fault is None and self.counting() is None:
            return await super().reply(request, body, content, turn)
        if fault is None:
            await asyncio.sleep(self.counting().get("latency", self.latency))
            self.answered[content] += 1
            return web.json_response(self.whole(body, self.answer))
        self.served[fault] += 1
        return await self.broken(fault, request, body, content, turn)

    def fault(self, body: bytes) -> str | None:
        """Return the fault that this request meets, which is then used up once."""
        for behaviour in self.behaviours:
            if "counting" in behaviour:
                continue
            if "contains" in behaviour and behaviour["contains"].encode() not in body:
                continue
            if "fault" in behaviour:
                return self.behaviour(body)["fault"]
            if "plan" not in behaviour:
                return None
            plan = behaviour["plan"]
            found = re.search(plan.get("label", "item-[0-9]+").encode(), body)
            label = found[0].decode() if found else hashlib.blake2b(body).hexdigest()
            kind = planned(plan, label)
            if kind is None:
                return None
            self.attempts[label] += 1
            passed = self.attempts[label] > plan.get("attempts", 1)
            return None if passed and kind in PASSING else kind
        return None

    def counting(self) -> dict[str, float] | None:
        """Return how tokens are counted, None for as ``loopback.py`` does."""
        return next((one["counting"] for one in self.behaviours if "counting" in one), None)

    def counted(self, body: bytes, text: str) -> tuple[int, int]:
        """Return tokens in and out for an answer."""
        counting = self.counting()
        if counting is None:
            return len(body) // 4, max(1, len(text) // 4)
        asked = json.loads(body)
        n_bytes = sum(len(one["content"].encode()) for one in asked["messages"])
        drawn = int.from_bytes(hashlib.blake2b(body, digest_size=8).digest(), "big")
        n_out = 1 + drawn % int(counting["output"])
        return int(counting["input"] * n_bytes), min(n_out, asked.get("max_tokens", n_out))

    def whole(self, body: bytes, text: Any, reason: str = "stop") -> dict[str, Any]:
        """Return a reply as OpenAI describes it, with ``text`` as the answer."""
        n_in, n_out = self.counted(body, str(text))
        self.tokens["input"] += n_in
        self.tokens["output"] += n_out
        message = {"role": "assistant", "content": text}
        return {
            "id": "faulty",
            "object": "chat.completion",
            "created": 0,
            "model": "loopback",
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {
                "prompt_tokens": n_in,
                "completion_tokens": n_out,
                "total_tokens": n_in + n_out,
            },
        }

    async def broken(self, fault: str, request: Any, body: bytes, content: bytes, turn: int) -> Any:
        from aiohttp import web

        as_json = {"Content-Type": "application/json"}
        if fault == "slow":
            await asyncio.sleep(0.2)
            return await super().reply(request, body, content, turn)
        if fault in _BYTES:
            return web.Response(body=_BYTES[fault], headers=as_json)
        if fault in _STATUS:
            status, said = _STATUS[fault]
            headers = dict(as_json)
            if fault == "http_429_seconds":
                headers["Retry-After"] = "1"
            if fault == "http_429_date":
                headers["Retry-After"] = formatdate(time() + 2, usegmt=True)
            text = json.dumps({"error": {"message": said, "type": "loopback"}})
            return web.Response(status=status, text=text, headers=headers)
        if fault in _TEXT:
            text, reason = _TEXT[fault]
            self.answered[content] += 1
            return web.json_response(self.whole(body, text, reason))
        if fault == "refusal_field":
            self.answered[content] += 1
            said = self.whole(body, None)
            said["choices"][0]["message"]["refusal"] = "I cannot judge this."
            return web.json_response(said)
        if fault == "huge":
            self.answered[content] += 1
            return web.json_response(self.whole(body, "The text is long. " * (HUGE // 18)))
        if fault == "logprobs":
            self.answered[content] += 1
            said = self.whole(body, self.answer)
            first = loopback.token({self.answer[:1]: -0.1, "8": -2.5})
            said["choices"][0]["logprobs"] = {"content": [first]}
            return web.json_response(said)
        if fault == "wrong_type":
            self.answered[content] += 1
            text = json.dumps(self.whole(body, self.answer))
            return web.Response(text=text, content_type="text/plain")
        return _torn(fault, request, json.dumps(self.whole(body, self.answer)).encode())


def _torn(fault: str, request: Any, good: bytes) -> Any:
    """Write bytes past the HTTP library, which would not write them, and close."""
    from aiohttp import web

    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    half = good[: len(good) // 2]
    raw = {
        "closed_before": b"",
        "half_closed": head + b"Content-Length: %d\r\n\r\n" % len(good) + half,
        "half_chunked": head
        + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(half)
        + half
        + b"\r\n",
        "too_long_a_length": head + b"Content-Length: %d\r\n\r\n" % (len(good) + 99) + good,
        "too_short_a_length": head
        + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(half)
        + good,
    }
    if fault == "reset":
        request.transport.abort()
    else:
        request.transport.write(raw[fault])
        request.transport.close()
    return web.Response(status=500)  # nobody gets it: the connection is closed


_TORN = (
    *("closed_before", "reset", "half_closed", "half_chunked"),
    *("too_long_a_length", "too_short_a_length"),
)

_BYTES = {
    "garbage": b"\x00\x01{{{]]]",
    "empty_body": b"",
    "html_200": b"<html><body>One moment, please.</body></html>",
    "wrong_json": b'["a list", 7]',
    "no_choices": b'{"id": "x", "object": "chat.completion", "choices": []}',
    "null_choice": b'{"id": "x", "choices": [null], "usage": "many"}',
    "no_message": b'{"id": "x", "choices": [{"index": 0}]}',
    "other_object": b'{"status": "ok"}',
    "json_null": b"null",
    "several_choices": b'{"choices": [{"message": {"content": "7"}}, {"message": {}}]}',
    "odd_logprobs": b'{"choices": [{"message": {"content": "7"}, "logprobs": {"content": '
    b'[{"token": "7", "logprob": "likely"}]}}]}',
    "odd_usage": b'{"choices": [{"message": {"content": "7"}}], "usage": {"prompt_tokens": -9}}',
    "error_200": b'{"error": {"message": "the worker died", "type": "server_error"}}',
    "not_utf8": b'{"choices": [{"message": {"content": "\xff\xfe"}}]}',
    "deep_json": b"[" * 100_000 + b"]" * 100_000,
}

_STATUS = {
    "http_400": (400, "this request is not liked"),
    "http_413": (413, "payload too large"),
    "http_422": (422, "unprocessable"),
    "http_429": (429, "slow down"),
    "http_429_seconds": (429, "slow down"),
    "http_429_date": (429, "slow down"),
    "http_500": (500, "internal error"),
    "http_502": (502, "bad gateway"),
    "http_503": (503, "overloaded"),
    "http_504": (504, "gateway timeout"),
    "down": (503, "out of order"),
    "http_408": (408, "request timeout"),
    "http_409": (409, "conflict"),
    "http_425": (425, "too early"),
    "http_451": (451, "unavailable for legal reasons"),
    "http_520": (520, "a web server is returning an unknown error"),
    "http_529": (529, "overloaded"),
    "redirected": (302, "to the page where people log in"),
    "too_long_a_prompt": (400, "This model's maximum context length is 4096 tokens."),
}

_TEXT = {
    "cut_off": ("[[ ## explanation ## ]]\nThe text is", "length"),
    "cut_off_in_a_number": ("[[ ## score ## ]]\n7", "length"),
    "refusal": ("I'm sorry, but I can't help with that.", "stop"),
    "filtered": ("", "content_filter"),
    "no_content": (None, "stop"),
    "out_of_range": ("[[ ## score ## ]]\n900\n\n[[ ## completed ## ]]", "stop"),
}

SERVED = {*_BYTES, *_STATUS, *_TEXT, *_TORN, "slow", "wrong_type", "logprobs", "huge"} | {
    "refusal_field"
}
"""Every fault that the server has a reply for."""


class Loopback(loopback.Loopback):
    """A running server, seen from a test."""

    def faults(self) -> dict[str, int]:
        """Return how often which fault was served."""
        return self._ask("/faults")

    def tokens(self) -> dict[str, int]:
        """Return how many tokens were read and written, where ``counting`` says how."""
        return self._ask("/tokens")

    def seconds(self) -> float:
        """Return how long requests came since this was last asked."""
        arrivals = self._ask("/arrivals")
        return arrivals[-1] - arrivals[0] if arrivals else 0.0


@contextmanager
def serving(*, latency: float = 0.0, answer: str = "7"):
    """Run a faulty server in a process of its own for the length of a ``with`` block."""
    with loopback.serving(latency=latency, answer=answer, program=__file__) as plain:
        yield Loopback(plain.port)


if __name__ == "__main__":
    loopback.main(FaultyServer)

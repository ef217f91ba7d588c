"""A local stand-in for an OpenAI-compatible server that counts what it is asked.

Run it (``python loopback.py --latency 0.05 --port 0``; the first line of its output is its
port) or let a test start it in a process of its own with ``serving()``. It answers
``POST /v1/chat/completions``; ``POST /script`` takes a list of behaviours, ``GET /counts`` says
what was asked, ``POST /forget`` answers what is held and takes a list of other behaviours,
``POST /reset`` forgets all of it.

A behaviour is an object with any of these keys; the first one that applies is used, and one
whose ``times`` are used up is dropped:

``contains``
    applies only to requests whose body contains this text
``times``
    how often it applies (default: for ever)
``latency``
    seconds before the reply
``held``
    true: no reply before the behaviours are dropped
``together``
    no reply before so many requests were in flight at once, or a minute has passed
``status``, ``retry_after``, ``body``
    reply with this HTTP status, this Retry-After header, this raw body
``disconnect``
    close the connection without a reply
``answer``, ``finish_reason``
    the text of the answer and why it ended
``chatty``
    true: answer questions of the project as a chat model does, which is the text and the reason
    then (``chatty.py``, beside this file); ``"steady"``: the same, however often it is asked
``logprobs``
    alternatives for the first token of the answer, ``{token: log-probability}``
``tokens``
    all tokens of the answer, each with its alternatives, the one that was written first
"""

import argparse
import asyncio
import atexit
import hashlib
import json
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

RECENT = 200


class Server:
    """The handler and its counters."""

    def __init__(self, latency: float, answer: str) -> None:
        self.latency = latency
        self.answer = answer
        self.behaviours: list[dict[str, Any]] = []
        self.n_resets = 0
        self.let = asyncio.Event()
        self.reset()

    def reset(self) -> None:
        self.forget()
        self.n_resets += 1
        self.by_content: Counter[bytes] = Counter()
        self.answered: Counter[bytes] = Counter()
        self.recent: list[dict[str, Any]] = []
        self.in_flight = self.most_in_flight = 0

    def forget(self) -> None:
        self.behaviours.clear()
        self.let.set()
        self.let = asyncio.Event()

    def counts(self) -> dict[str, Any]:
        n_requests = sum(self.by_content.values())
        return {
            "requests": n_requests,
            "distinct": len(self.by_content),
            "repeated": n_requests - len(self.by_content),
            "answered": sum(self.answered.values()),
            "answered_again": sum(self.answered.values()) - len(self.answered),
            "in_flight": self.in_flight,
            "most_in_flight": self.most_in_flight,
            "by_content": {key.hex(): n for key, n in self.by_content.most_common(RECENT)},
            "times_asked": dict(Counter(map(str, self.by_content.values()))),
            "recent": self.recent,
        }

    def behaviour(self, body: bytes) -> dict[str, Any]:
        for place, behaviour in enumerate(self.behaviours):
            if "contains" in behaviour and behaviour["contains"].encode() not in body:
                continue
            if "times" in behaviour:
                behaviour["times"] -= 1
                if behaviour["times"] <= 0:
                    del self.behaviours[place]
            return behaviour
        return {}

    async def handle(self, request: Any) -> Any:
        from aiohttp import web

        path = request.path
        body = await request.read()
        if path == "/counts":
            return web.json_response(self.counts())
        if path == "/script":
            self.behaviours.extend(json.loads(body))
            return web.json_response({})
        if path == "/forget":
            self.forget()
            self.behaviours.extend(json.loads(body))
            return web.json_response({})
        if path == "/reset":
            self.reset()
            vars(self).update(json.loads(body))
            return web.json_response({})
        if not path.endswith("/chat/completions"):
            return web.json_response({"error": {"message": f"no such path: {path}"}}, status=404)
        content = hashlib.blake2b(body, digest_size=8).digest()
        self.by_content[content] += 1
        if len(self.recent) < RECENT:
            kept = {"body": json.loads(body), "authorization": request.headers.get("Authorization")}
            self.recent.append(kept)
        n_resets = self.n_resets
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self.reply(request, body, content, self.by_content[content])
        finally:
            self.in_flight -= n_resets == self.n_resets  # not those from before a reset

    async def reply(self, request: Any, body: bytes, content: bytes, turn: int) -> Any:
        from aiohttp import web

        behaviour = self.behaviour(body)
        latency = behaviour.get("latency", self.latency)
        if latency:
            await asyncio.sleep(latency)
        if behaviour.get("held"):
            await self.let.wait()
        for _ in range(6000):
            if self.most_in_flight >= behaviour.get("together", 0):
                break
            await asyncio.sleep(0.01)
        if behaviour.get("disconnect"):
            request.transport.close()
            return web.Response(status=500)
        if "status" in behaviour:
            headers = {"Content-Type": "application/json"}
            if "retry_after" in behaviour:
                headers["Retry-After"] = str(behaviour["retry_after"])
            said = behaviour.get("body", '{"error": {"message": "scripted fault"}}')
            return web.Response(status=behaviour["status"], text=said, headers=headers)
        self.answered[content] += 1
        if "body" in behaviour:
            return web.Response(text=behaviour["body"], content_type="application/json")
        text = behaviour.get("answer", self.answer)
        reason = behaviour.get("finish_reason", "stop")
        if behaviour.get("chatty"):
            import chatty  # beside this file, which runs as a program here

            turn = 2 if behaviour["chatty"] == "steady" else turn
            text, reason = chatty.reply(json.loads(body), turn)
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": reason,
        }
        if "logprobs" in behaviour:
            choice["logprobs"] = {"content": [token(behaviour["logprobs"])]}
        if "tokens" in behaviour:
            written = [token(one, next(iter(one))) for one in behaviour["tokens"]]
            choice["logprobs"] = {"content": written}
        n_in, n_out = len(body) // 4, max(1, len(text) // 4)
        usage = {"prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out}
        reply = {
            "id": content.hex(),
            "object": "chat.completion",
            "created": 0,
            "model": "loopback",
            "choices": [choice],
            "usage": usage,
        }
        return web.Response(body=json.dumps(reply).encode(), content_type="application/json")


def token(alternatives: dict[str, float], written: str | None = None) -> dict[str, Any]:
    ranked = sorted(alternatives.items(), key=lambda pair: -pair[1])
    top = [{"token": token, "logprob": logprob, "bytes": None} for token, logprob in ranked]
    first = next((one for one in top if one["token"] == written), top[0])
    return {**first, "top_logprobs": top}


async def _serve(server: Server, port: int) -> None:
    from aiohttp import web

    runner = web.ServerRunner(web.Server(server.handle, access_log=None))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
    await site.start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    # The process that started this one holds the other end of its standard input: when that end
    # closes, whoever wanted the server is gone.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


class Loopback:
    """A running server, seen from a test."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}/v1"

    def _ask(self, path: str, data: object = None) -> Any:
        sent = None if data is None else json.dumps(data).encode()
        address = f"http://127.0.0.1:{self.port}{path}"
        with urllib.request.urlopen(urllib.request.Request(address, data=sent)) as reply:
            return json.load(reply)

    def counts(self) -> dict[str, Any]:
        """Return what was asked since the start or the last ``reset``."""
        return self._ask("/counts")

    def script(self, *behaviours: dict[str, Any]) -> None:
        """Add behaviours after those already there."""
        self._ask("/script", list(behaviours))

    def forget(self, *then: dict[str, Any]) -> None:
        """Put others in the place of all behaviours, answer what is held, and keep the counts."""
        self._ask("/forget", list(then))

    def reset(self, **usual: object) -> None:
        """Forget counts and behaviours; ``latency`` and ``answer`` may be set anew."""
        self._ask("/reset", usual)


_Running = tuple["subprocess.Popen[str]", int]
_idle: dict[str, list[_Running]] = {}


def _started(program: str) -> _Running:
    process = subprocess.Popen(
        [sys.executable, program, "--port", "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


@atexit.register
def _end() -> None:
    for process, _ in (one for several in _idle.values() for one in several):
        process.kill()
        process.communicate()


@contextmanager
def serving(
    *, latency: float = 0.0, answer: str = "7", program: str = __file__
) -> Iterator[Loopback]:
    """Run a server for the length of a ``with`` block.

    It is a process of its own, which the next block with the same program goes on with.
    """
    place = str(Path(program).resolve())
    idle = _idle.setdefault(place, [])
    running = idle.pop() if idle else _started(place)
    server = Loopback(running[1])
    server.reset(latency=latency, answer=answer)
    try:
        yield server
    finally:
        idle.append(running)


def main(kind: type[Server] = Server) -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    parser.add_argument("--answer", default="7", help="the text of every answer")
    options = parser.parse_args()
    asyncio.run(_serve(kind(options.latency, options.answer), options.port))


if __name__ == "__main__":
    main()

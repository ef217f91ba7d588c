"""A simulated model over HTTP, as OpenAI's servers speak, and the same model without HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import dspy

from benchmarks.simulated_endpoint.world import World
from judgesmith.programs.lm import LMClient, ModelAnswer, ModelRequest
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.programs.lm.records import Message

MODEL = "simulated"
CHARACTERS_PER_TOKEN = 4


def answered(world: World, messages: list[Message], temperature: float) -> ModelAnswer:
    """Return an answer with its tokens counted at four characters each."""
    text = world.answer(messages, temperature=temperature)
    return ModelAnswer(
        text=text,
        input_tokens=sum(len(one.text) for one in messages) // CHARACTERS_PER_TOKEN,
        output_tokens=len(text) // CHARACTERS_PER_TOKEN,
    )


class SimulatedEngine:
    """Answers requests in the process that asks."""

    endpoint = MODEL
    route = MODEL
    scores_texts = False

    def __init__(self, world: World) -> None:
        self.world = world

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return the answer to a request."""
        messages = [*request.prefix.messages, Message("user", request.user)]
        return answered(self.world, messages, request.settings.temperature or 0.0)


def simulated_lm(world: World, **options: Any) -> dspy.LM:
    """Return a world as a model without HTTP; options are those of ``LMClient``."""
    client = LMClient(SimulatedEngine(world), **{"ledger": None, **options})
    return ClientLM.over(client, MODEL, recipe={}, temperature=0.0)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    world: World
    lock: threading.Lock

    def do_POST(self) -> None:
        """Answer a chat completion."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        messages = [Message(one["role"], _text(one["content"])) for one in asked["messages"]]
        with self.lock:
            found = answered(self.world, messages, asked.get("temperature") or 0.0)
        self._send(
            {
                "id": "simulated",
                "object": "chat.completion",
                "created": 0,
                "model": asked["model"],
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": "stop",
                        "message": {"role": "assistant", "content": found.text},
                    }
                ],
                "usage": {
                    "prompt_tokens": found.input_tokens,
                    "completion_tokens": found.output_tokens,
                    "total_tokens": (found.input_tokens or 0) + (found.output_tokens or 0),
                },
            }
        )

    def _send(self, found: Mapping[str, Any]) -> None:
        body = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


@contextmanager
def served(world: World) -> Iterator[str]:
    """Serve a world on loopback while the block lasts; the value is the address for clients."""
    handler = type("Handler", (_Handler,), {"world": world, "lock": threading.Lock()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

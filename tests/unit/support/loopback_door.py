"""The loopback server with the offline model behind it, asked at the package's front door.

Start it with ``serving()``, like ``loopback.py``, which it extends: a request to which no behaviour
applies is answered as ``judgesmith.model("offline")`` answers it, log-probabilities included. What
that does not know how to answer gets a sentence that says so.
"""

import json
from contextlib import contextmanager
from typing import Any

import loopback


class Door(loopback.Server):
    """A server of the offline model."""

    lm: Any = None

    async def reply(self, request: Any, body: bytes, content: bytes, turn: int) -> Any:
        if self.behaviours:
            return await super().reply(request, body, content, turn)
        from aiohttp import web

        if self.lm is None:
            import judgesmith

            self.lm = judgesmith.model("offline", ledger=None)
        asked = json.loads(body)
        more = {"logprobs": True, "top_logprobs": 101} if asked.get("logprobs") else {}
        if asked.get("max_tokens"):
            more["max_tokens"] = asked["max_tokens"]
        self.answered[content] += 1
        try:
            told = self.lm.forward(
                messages=asked["messages"], temperature=asked.get("temperature"), **more
            )
        except Exception:  # a question that the offline model does not know
            told = {"choices": [{"index": 0, "message": {"content": "I do not know."}}]}
        (choice,) = told["choices"]
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        kept = {key: choice[key] for key in ("index", "finish_reason", "logprobs") if key in choice}
        message = {"role": "assistant", "content": choice["message"]["content"]}
        head = {"id": "offline", "object": "chat.completion", "created": 0, "model": "offline"}
        return web.json_response(
            {**head, "choices": [{**kept, "message": message}], "usage": usage}
        )


@contextmanager
def serving() -> Any:
    """Run such a server for the length of a ``with`` block."""
    with loopback.serving(program=__file__) as server:
        yield server


if __name__ == "__main__":
    loopback.main(Door)

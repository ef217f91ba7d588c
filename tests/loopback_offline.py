"""The loopback server with the offline model behind it, log-probabilities included.

Start it with ``serving()``, like ``loopback.py``, which it extends: a request to which no behaviour
applies is answered as the offline model answers it, for a first sample.
"""

import json
from contextlib import contextmanager
from typing import Any

import loopback


class Offline(loopback.Server):
    """A server of the offline model."""

    async def reply(self, request: Any, body: bytes, content: bytes, turn: int) -> Any:
        if self.behaviours:
            return await super().reply(request, body, content, turn)
        from aiohttp import web

        self.answered[content] += 1
        return web.json_response(completion(json.loads(body)))


def completion(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to one request."""
    from judgesmith.programs.models.request import Message, ModelRequest, Prefix, Settings
    from judgesmith.programs.offline.engine import OfflineEngine

    *before, last = asked["messages"]
    answer = OfflineEngine().answer(
        ModelRequest(
            model="offline",
            prefix=Prefix([Message(one["role"], one["content"]) for one in before]),
            user=last["content"],
            settings=Settings(
                temperature=asked.get("temperature"),
                max_tokens=asked.get("max_tokens"),
                logprobs=101 if asked.get("logprobs") else None,
            ),
        )
    )
    message = {"role": "assistant", "content": answer.text}
    choice = {"index": 0, "message": message, "finish_reason": answer.finish_reason}
    if answer.logprobs is not None:
        choice["logprobs"] = {
            "content": [
                {"token": one.token, "logprob": one.logprob, "bytes": None}
                | {"top_logprobs": [listed(*pair) for pair in one.top]}
                for one in answer.logprobs
            ]
        }
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "offline", "object": "chat.completion", "created": 0, "model": "offline"}
    return {**head, "choices": [choice], "usage": usage}


def listed(token: str, logprob: float) -> dict[str, Any]:
    return {"token": token, "logprob": logprob, "bytes": None}


@contextmanager
def serving() -> Any:
    """Run such a server for the length of a ``with`` block."""
    with loopback.serving(program=__file__) as server:
        yield server


if __name__ == "__main__":
    loopback.main(Offline)

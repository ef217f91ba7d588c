"""The loopback server with OpenAI's older protocol: it echoes a prompt with its tokens.

Start it with ``serving()``, like ``loopback.py``, which it extends. ``POST /v1/completions`` is
answered by the first behaviour with a ``completions``:

``"echo"``
    the prompt in tokens of a word or a blank, each with the log-probability ``-len(token) / 10``,
    the first with none; one generated token after them
``"marked"``
    the same with a mark of the beginning before
``"silent"``
    an answer without log-probabilities
``"unechoed"``
    the generated token alone

Without one the path is not there.
"""

import json
import re
from contextlib import contextmanager
from typing import Any

import loopback


class Completing(loopback.Server):
    """A server that may score texts."""

    async def handle(self, request: Any) -> Any:
        from aiohttp import web

        way = next((one["completions"] for one in self.behaviours if "completions" in one), None)
        if way is None or not request.path.endswith("/v1/completions"):
            return await super().handle(request)
        body = await request.read()
        self.by_content[body] += 1
        asked = json.loads(body)
        self.recent.append({"body": asked, "authorization": request.headers["Authorization"]})
        return web.json_response(completion(asked, way))


def completion(asked: dict[str, Any], way: str) -> dict[str, Any]:
    """Return the reply to one request."""
    tokens = re.findall(r"\s|\S+", asked["prompt"]) if asked["echo"] else []
    values = [None, *(-len(one) / 10 for one in tokens[1:])]
    if way == "marked":
        tokens, values = ["<s>", *tokens], [None, -0.1, *values[1:]]
    if way == "unechoed":
        tokens, values = [], []
    choice = {
        "index": 0,
        "text": asked["prompt"] + " so",
        "finish_reason": "length",
        "logprobs": {"tokens": [*tokens, " so"], "token_logprobs": [*values, -9.0]},
    }
    if way == "silent":
        choice["logprobs"] = None
    usage = {"prompt_tokens": len(tokens), "completion_tokens": 1}
    return {"object": "text_completion", "choices": [choice], "usage": usage}


@contextmanager
def serving() -> Any:
    """Run such a server for the length of a ``with`` block."""
    with loopback.serving(program=__file__) as server:
        yield server


if __name__ == "__main__":
    loopback.main(Completing)

"""The loopback server with the offline model behind it, log-probabilities included.

Start it with ``serving()``, like ``loopback.py``, which it extends: a request to which no behaviour
applies is answered as the offline model answers it, for a first sample.

``POST /v1/completions`` echoes a prompt with the log-probability of each character, and an
instruction is paraphrased by the rules of the package, another way each time: the offline model
writes none, and searches of wordings need some.

With the behaviour ``{"polite": true}`` half of the answers come in one of the shapes of
``answer_shapes.py``, those on every fiftieth text are garbage however often they are asked for,
and every tenth request is first refused with status 429.
"""

import hashlib
import json
import re
from contextlib import contextmanager
from typing import Any

import answer_shapes
import loopback

_TEXT = re.compile(r"Item (\d+):")


class Offline(loopback.Server):
    """A server of the offline model."""

    async def handle(self, request: Any) -> Any:
        from aiohttp import web

        if not request.path.endswith("/v1/completions"):
            return await super().handle(request)
        body = await request.read()
        self.by_content[body] += 1
        self.answered[body] += 1
        return web.json_response(echo(json.loads(body)))

    async def reply(self, request: Any, body: bytes, content: bytes, turn: int) -> Any:
        polite = any(one.get("polite") for one in self.behaviours)
        if self.behaviours and not polite:
            return await super().reply(request, body, content, turn)
        from aiohttp import web

        if polite and turn == 1 and number(content) % 10 == 0:
            return web.json_response({}, status=429, headers={"Retry-After": "0"})
        self.answered[content] += 1
        reply = completion(json.loads(body), turn)
        if polite:
            message = reply["choices"][0]["message"]
            message["content"] = politely(message["content"], body.decode(), content)
        return web.json_response(reply)


def number(content: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(content, digest_size=4).digest(), "big")


def politely(answer: str, asked: str, content: bytes) -> str:
    """Return an answer as a chat model may write it."""
    n = number(b"shape" + content)
    texts = _TEXT.findall(json.loads(asked)["messages"][-1]["content"])
    if len(texts) == 1 and int(texts[0]) % 50 == 0:
        return answer_shapes.GARBAGE[n % len(answer_shapes.GARBAGE)]
    if n % 2:
        return answer
    names = tuple(answer_shapes.SHAPES)
    return answer_shapes.shaped(answer, names[n // 2 % len(names)])


def echo(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to a request for the log-probabilities of a prompt."""
    from judgesmith.programs.lm.records import ModelRequest, Prefix
    from judgesmith.programs.offline.engine import likely_text

    text = asked["prompt"]
    request = ModelRequest(model="offline", prefix=Prefix([]), user="", continuation=text)
    values = [one.logprob for one in likely_text(request).logprobs]
    logprobs = {"tokens": [*text, "."], "token_logprobs": [None, *values[1:], -1.0]}
    choice = {"index": 0, "text": f"{text}.", "finish_reason": "length", "logprobs": logprobs}
    usage = {"prompt_tokens": len(text), "completion_tokens": 1}
    return {"object": "text_completion", "choices": [choice], "usage": usage}


def answered(request: Any, turn: int) -> Any:
    """Return the answer to a request that came for the ``turn``-th time."""
    from judgesmith.programs.judging.ask_once import paraphrased_by_rule
    from judgesmith.programs.lm.records import ModelAnswer
    from judgesmith.programs.offline.engine import OfflineEngine
    from judgesmith.programs.offline.requests import read_user

    if "[[ ## paraphrase ## ]]" not in request.user:
        return OfflineEngine().answer(request)
    text = read_user(request.user, ["instruction"])["instruction"]
    said = paraphrased_by_rule(text, sample=turn).text
    return ModelAnswer(text=f"[[ ## paraphrase ## ]]\n{said}\n\n[[ ## completed ## ]]\n")


def completion(asked: dict[str, Any], turn: int = 1) -> dict[str, Any]:
    """Return the reply to one request, which came for the ``turn``-th time."""
    from judgesmith.programs.lm.records import Message, ModelRequest, Prefix, SamplingSettings

    *before, last = asked["messages"]
    answer = answered(
        ModelRequest(
            model="offline",
            prefix=Prefix([Message(one["role"], one["content"]) for one in before]),
            user=last["content"],
            settings=SamplingSettings(
                temperature=asked.get("temperature"),
                max_tokens=asked.get("max_tokens"),
                logprobs=101 if asked.get("logprobs") else None,
            ),
        ),
        turn,
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

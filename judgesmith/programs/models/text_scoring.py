"""How likely a given text is: OpenAI's older protocol, which echoes a prompt with its tokens."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from lm15.transports import TransportError, TransportRequest

from judgesmith.programs.models.errors import (
    ContextWindowExceeded,
    ModelError,
    TransientModelError,
    unscoring,
)
from judgesmith.programs.models.redaction import redacted
from judgesmith.programs.models.request import ModelAnswer, ModelRequest, TokenLogprob

_LEAST = -9999.0  # what servers write for a token that cannot be
_PASSING = (408, 409, 425, 429)
_REFUSING = (400, 404, 405, 422, 501)
_TOO_LONG = re.compile(r"(?i)context (?:length|window|size)|maximum (?:context|input)|too long")
_ABOUT_THIS = re.compile(r"(?i)log.?prob|echo|completions? (?:is|are) not|not.{0,40}completions")
_QUOTED = 200


class TextScoring:
    """Asks one server for the log-probabilities of given texts.

    ``POST {endpoint}/completions`` with ``echo`` and ``logprobs``, as vLLM and OpenAI's older
    models know it. One token is generated besides, since not every server takes none.

    Parameters
    ----------
    model : str
        ``provider/model``.
    endpoint : str
        Address of the server, without secrets.
    key : str or None
        Sent as a bearer token.
    """

    def __init__(self, model: str, endpoint: str, key: str | None) -> None:
        self._model = model
        self._endpoint = endpoint
        self._headers = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json"),
            ("Authorization", f"Bearer {key or 'none'}"),
        ]

    async def scored(self, transport: Any, request: ModelRequest) -> ModelAnswer:
        """Return the continuation with the log-probability of each of its tokens.

        Without any where tokens are cut inside of characters and so do not spell the text.

        Raises
        ------
        ModelError
            If the server refuses, or gives none: then without a status, as a fault of the set-up.
        """
        try:
            async with transport.stream(self._sent(request)) as reply:
                body = b"".join([chunk async for chunk in reply])
        except (TransportError, OSError) as fault:
            raise self._lost(fault) from None
        return self._read(reply, body, request)

    def scored_sync(self, transport: Any, request: ModelRequest) -> ModelAnswer:
        """Do the same as ``scored`` for a caller without an event loop."""
        try:
            with transport.stream(self._sent(request)) as reply:
                body = b"".join(reply)
        except (TransportError, OSError) as fault:
            raise self._lost(fault) from None
        return self._read(reply, body, request)

    def _sent(self, request: ModelRequest) -> TransportRequest:
        body = {
            "model": self._model.partition("/")[2],
            "prompt": request.as_prompt + (request.continuation or ""),
            "max_tokens": 1,
            "temperature": 0,
            "echo": True,
            "logprobs": 1,
        }
        return TransportRequest(
            method="POST",
            url=f"{self._endpoint}/completions",
            headers=list(self._headers),
            body=json.dumps(body).encode(),
        )

    def _read(self, reply: Any, body: bytes, request: ModelRequest) -> ModelAnswer:
        if reply.status != 200:
            raise self._fault(reply, body)
        try:
            found = json.loads(body)
            choice = found["choices"][0]
        except (ValueError, LookupError, TypeError, RecursionError) as fault:
            raise TransientModelError(
                f"{self._model} at {self._endpoint}: the reply is no completion ({fault!s:.80})",
                status=200,
            ) from None
        logprobs = choice.get("logprobs") if isinstance(choice, Mapping) else None
        given = logprobs if isinstance(logprobs, Mapping) else {}
        tokens, values = given.get("tokens"), given.get("token_logprobs")
        if not (isinstance(tokens, list) and isinstance(values, list) and tokens):
            raise unscoring(self._model, f"{self._endpoint}/completions leaves them out")
        usage = found.get("usage")
        counts = usage if isinstance(usage, Mapping) else {}
        scored = continuation_tokens(
            tokens, values, prompt=request.as_prompt, continuation=request.continuation or ""
        )
        if scored is None and (request.as_prompt + (request.continuation or "")).isascii():
            raise unscoring(self._model, f"{self._endpoint}/completions does not echo the prompt")
        return ModelAnswer(
            text="".join(one.token for one in scored or ()),
            input_tokens=_count(counts.get("prompt_tokens")),
            output_tokens=_count(counts.get("completion_tokens")),
            logprobs=scored,
        )

    def _fault(self, reply: Any, body: bytes) -> ModelError:
        said = redacted(_message(body))[:_QUOTED]
        shown = f"{self._model} at {self._endpoint}: {said} (HTTP {reply.status})"
        status = int(reply.status)
        if status in (400, 413, 422) and _TOO_LONG.search(said):
            return ContextWindowExceeded(shown, status=status)
        about = status in (404, 405, 501) or _ABOUT_THIS.search(said)
        if status in _REFUSING and about:
            return unscoring(self._model, f"{self._endpoint}/completions: {said} (HTTP {status})")
        if status in _PASSING or status >= 500:
            wait = str(reply.header("Retry-After") or "")
            after = float(wait) if wait.replace(".", "", 1).isdecimal() else None
            return TransientModelError(shown, status=status, retry_after=after)
        if status in (401, 403):
            shown += ". Check the key in the environment."
        return ModelError(shown, status=status)

    def _lost(self, fault: Exception) -> TransientModelError:
        return TransientModelError(redacted(f"{self._model} at {self._endpoint}: {fault}"))


def continuation_tokens(
    tokens: Sequence[Any], values: Sequence[Any], *, prompt: str, continuation: str
) -> tuple[TokenLogprob, ...] | None:
    """Return the tokens of a continuation among those of a whole echoed text.

    A token that begins in the prompt and ends in the continuation belongs to it. What was generated
    after the continuation does not, nor does a mark of the beginning that the server put before.

    Parameters
    ----------
    tokens, values : sequence
        As the server gave them, the first value perhaps None.
    prompt, continuation : str
        What was sent, one after the other.

    Returns
    -------
    tuple of TokenLogprob, or None
        None where the tokens do not spell what was sent, or one of them has no number.

    Examples
    --------
    >>> found = continuation_tokens(
    ...     ["<s>", "A", " b", "c d", "e"], [None, -1, -2, -3, -4], prompt="A b", continuation="c d"
    ... )
    >>> [(one.token, one.logprob) for one in found]
    [('c d', -3.0)]
    """
    whole = prompt + continuation
    for first in (0, 1):
        if "".join(map(str, tokens[first:])).startswith(whole):
            break
    else:
        return None
    found = []
    end = 0
    for token, value in itertools.zip_longest(tokens[first:], values[first:]):
        start, end = end, end + len(str(token))
        if start >= len(whole):
            break
        if end <= len(prompt):
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        logprob = float(max(min(value, 0.0), _LEAST))
        if math.isnan(logprob):
            return None
        found.append(TokenLogprob(str(token), logprob))
    return tuple(found)


def _message(body: bytes) -> str:
    """Return what a server says of a fault, in one line."""
    text = body.decode("utf-8", "replace")
    try:
        said = json.loads(text)
        error = said.get("error", said) if isinstance(said, Mapping) else said
        text = str(error.get("message", error)) if isinstance(error, Mapping) else str(error)
    except (ValueError, RecursionError):
        pass
    return " ".join(text.split()) or "no reason given"


def _count(number: Any) -> int | None:
    return number if isinstance(number, int) and 0 <= number <= 10**9 else None

"""Sends requests through lm15, one pool of connections per event loop, or through LiteLLM."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import math
import os
import re
import threading
import traceback
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import lm15
from lm15.compat import OpenAIChatCompat
from lm15.features import AccessPolicy
from lm15.registry import ProviderDefinition, lookup
from lm15.router import LITELLM_PROVIDER_PREFIXES
from lm15.transports import StdlibAsyncTransport, StdlibTransport, TransportError, TransportRequest

from judgesmith.errors import InputError
from judgesmith.front_door import at
from judgesmith.programs.lm.errors import (
    ContextWindowExceeded,
    ModelError,
    TransientModelError,
    may_pass,
    public_address,
    redacted,
    retry_seconds,
    unscoring,
)
from judgesmith.programs.lm.lm15_bridge import (
    GARBLED,
    TOO_LONG,
    FastPath,
    TimeoutTransport,
    answer_from_lm15,
    error_from_lm15,
    error_from_reply,
    request_to_lm15,
)
from judgesmith.programs.lm.records import ModelAnswer, ModelRequest, TokenLogprob

_LEAST = -9999.0  # what servers write for a token that cannot be
_REFUSING = (400, 404, 405, 422, 501)
_ABOUT_THIS = re.compile(r"(?i)log.?prob|echo|completions? (?:is|are) not|not.{0,40}completions")
_QUOTED = 200


class TextScoring:
    """Asks one server for the log-probabilities of given texts."""

    def __init__(self, model: str, endpoint: str, key: str | None) -> None:
        self._model = model
        self._endpoint = endpoint
        self._headers = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json"),
            ("Authorization", f"Bearer {key or 'none'}"),
        ]

    async def scored(self, transport: Any, request: ModelRequest) -> ModelAnswer:
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
        if status in (400, 413, 422) and TOO_LONG.search(said):
            return ContextWindowExceeded(shown, status=status)
        about = status in (404, 405, 501) or _ABOUT_THIS.search(said)
        if status in _REFUSING and about:
            return unscoring(self._model, f"{self._endpoint}/completions: {said} (HTTP {status})")
        if may_pass(status):
            wait = retry_seconds(reply.header("Retry-After"))
            return TransientModelError(shown, status=status, retry_after=wait)
        if status in (401, 403):
            return ModelError(shown, status=status, hint="check the key in the environment.")
        return ModelError(shown, status=status)

    def _lost(self, fault: Exception) -> TransientModelError:
        return TransientModelError(redacted(f"{self._model} at {self._endpoint}: {fault}"))


def continuation_tokens(
    tokens: Sequence[Any], values: Sequence[Any], *, prompt: str, continuation: str
) -> tuple[TokenLogprob, ...] | None:
    """Return the tokens of a continuation among those of a whole echoed text."""
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


# Enough for the largest number in flight that pays off; the client's own default is 100.
_CONNECTIONS = 512
# Reached through LiteLLM, under whose name their answers are on record.
_ELSEWHERE = frozenset({"azure", "deepinfra", "together_ai", "fireworks_ai"})
_PROVIDERS = {name: it for name, it in LITELLM_PROVIDER_PREFIXES.items() if name not in _ELSEWHERE}
# What a server at an address of the user's own is called towards the client.
_DECLARED = "judgesmith-server"
# Providers whose servers may have OpenAI's older protocol, which goes on with a given text.
_WITH_COMPLETIONS = ("openai", "hosted_vllm")
# OpenAI's reasoning models refuse any temperature but their own.
_FIXED_TEMPERATURE = re.compile(r"(?:o\d|gpt-5(?!.*-chat))")
_UNTEMPERED = (
    "config.temperature dropped: OpenAI's reasoning models answer at their own temperature only"
)


def native_route(model: str) -> bool:
    """Return whether requests to ``provider/model`` go through this client."""
    head, separator, rest = model.partition("/")
    return bool(separator and rest and head in _PROVIDERS)


class NativeEngine:
    """Asks one model through lm15, without retries of its own."""

    def __init__(self, model: str, *, api_base: str | None = None, timeout: float = 600.0) -> None:
        head, _, name = model.partition("/")
        if not native_route(model):
            known = ", ".join(sorted(_PROVIDERS))
            raise InputError(
                f"the native client knows provider/model with one of {known}; got {model!r}."
            )
        self.model = model
        self._name = name
        self._timeout = timeout
        variables = [f"{head.upper()}_API_BASE", f"{head.upper()}_BASE_URL"]
        address = api_base or next((os.environ[v] for v in variables if os.environ.get(v)), None)
        provider = _PROVIDERS[head]
        self._declared = address if head == "openai" else None
        self._fixed = head == "openai" and _FIXED_TEMPERATURE.match(name) is not None
        self._base_urls = {provider: address} if address and not self._declared else None
        self._provider = _DECLARED if self._declared else provider
        self._key_variable = f"{head.upper()}_API_KEY"
        self.endpoint = public_address(address) if address else _own_address(provider)
        self.route = f"native client, {self.endpoint}"
        self._has_secrets = address is not None and _holds_secrets(address)
        self.scores_texts = head in _WITH_COMPLETIONS
        self._texts = TextScoring(model, self.endpoint, os.environ.get(self._key_variable))
        self._lock = threading.Lock()
        self._threads: tuple[Any, Any] | None = None
        self._loops: dict[asyncio.AbstractEventLoop, tuple[Any, Any, FastPath]] = {}

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        loop = asyncio.get_running_loop()
        opened = self._loops.get(loop)
        try:
            if opened is None:
                # No await in between, so coroutines that start together share one pool.
                opened = self._opened_for_loop()
                with self._lock:
                    alive = {old: one for old, one in self._loops.items() if not old.is_closed()}
                    self._loops = {**alive, loop: opened}
            if request.continuation is not None:
                return await self._texts.scored(opened[0], request)
            layout = opened[2].layout(request)
            if layout is None:
                sent, changed = self._request(request)
        except (lm15.LM15Error, ValueError, TypeError) as fault:
            # Not chained: the client's message may quote the key.
            raise error_from_lm15(fault, self.model, self.endpoint) from None
        try:
            if layout is not None:
                return await opened[2].complete(request, layout)
            return answer_from_lm15(await opened[1].complete(sent), changed)
        except (lm15.LM15Error, *GARBLED) as fault:
            if layout is not None:
                sent, _ = self._request(request)
            raise self._explained(fault, opened[1], sent) from None

    def complete_sync(self, request: ModelRequest) -> ModelAnswer:
        try:
            with self._lock:
                if self._threads is None:
                    self._threads = self._open(lm15.LMRouter, StdlibTransport)
                    weakref.finalize(self, self._threads[0].close)
            connections, client = self._threads
            if request.continuation is not None:
                return self._texts.scored_sync(connections, request)
            sent, changed = self._request(request)
        except (lm15.LM15Error, ValueError, TypeError) as fault:
            raise error_from_lm15(fault, self.model, self.endpoint) from None
        try:
            return answer_from_lm15(client.complete(sent), changed)
        except (lm15.LM15Error, *GARBLED) as fault:
            raise self._explained(fault, client, sent) from None

    def _explained(self, fault: Exception, client: Any, sent: lm15.Request) -> ModelError:
        """Return our error for one that came while a request was made, sent or answered."""
        said_by_server = isinstance(fault, lm15.LM15Error) and not (
            isinstance(fault, lm15.UnsupportedFeatureError)
            or (type(fault) is lm15.ProviderError and fault.status is None)
        )
        if not said_by_server:
            # The client raises the same kinds for a request that it cannot spell and for a reply
            # that it cannot read; only the former it also raises without a network.
            try:
                client.plan(sent)
            except Exception:
                return error_from_lm15(fault, self.model, self.endpoint)
            return error_from_reply(fault, self.model, self.endpoint)
        return error_from_lm15(fault, self.model, self.endpoint)

    def check_key(self) -> None:
        """Refuse a provider that needs a key where none is in the environment."""
        try:
            self._open(lm15.LMRouter, StdlibTransport)[0].close()
        except (lm15.LM15Error, ValueError, TypeError) as fault:
            raise error_from_lm15(fault, self.model, self.endpoint) from None

    async def aclose(self) -> None:
        """Close the connections of the running event loop; the next request opens new ones."""
        with self._lock:
            opened = self._loops.pop(asyncio.get_running_loop(), None)
        if opened is not None:
            await opened[0].aclose()

    def close(self) -> None:
        with self._lock:
            opened, self._threads = self._threads, None
        if opened is not None:
            opened[0].close()

    def _request(self, request: ModelRequest) -> tuple[lm15.Request, tuple[str, ...]]:
        """Return what to send, and what had to be changed for it."""
        if self._fixed and request.settings.temperature not in (None, 1.0):
            untempered = replace(request, settings=replace(request.settings, temperature=None))
            sent, changed = request_to_lm15(untempered, self._name)
            return sent, (*changed, _UNTEMPERED)
        return request_to_lm15(request, self._name)

    def _opened_for_loop(self) -> tuple[Any, Any, FastPath]:
        untimed: Any = None

        def timed(**settings: Any) -> TimeoutTransport:
            nonlocal untimed
            settings |= {"read_timeout": None, "write_timeout": None, "pool_timeout": None}
            untimed = StdlibAsyncTransport(**settings)
            return TimeoutTransport(untimed, self._timeout)

        transport, client = self._open(lm15.AsyncLMRouter, timed)
        wire = FastPath(
            untimed,
            lambda still: self._open(lm15.LMRouter, lambda **_: still)[1],
            self._request,
            seconds=self._timeout,
        )
        return transport, client, wire

    def _open(self, kind: Any, connections: Any) -> tuple[Any, Any]:
        """Return connections of one's own, and a provider that sends over them."""
        if self._has_secrets:
            # It would take them for a part of the host or of the path.
            raise InputError(
                "this address comes with a user, a password or a query, which the client cannot "
                "send.",
                hint=f"leave them out, and set {self._key_variable} in the environment.",
            )
        key = os.environ.get(self._key_variable)
        if key and not (key.isascii() and key.isprintable()):
            raise InputError(
                f"the key in {self._key_variable} holds characters that no key has, such as line "
                "ends.",
                hint="set it again.",
            )
        providers: tuple[Any, ...] = ()
        api_keys = {self._provider: key} if key else None
        if self._declared is not None:
            # The newer name of the ceiling is known to fewer servers.
            compat = OpenAIChatCompat(
                max_tokens_field="max_completion_tokens" if self._fixed else "max_tokens"
            )
            access = AccessPolicy(_DECLARED, base_url=self._declared)
            providers = (ProviderDefinition.chat(access, compat=compat),)
            # A server without keys still gets the header that the protocol asks for.
            api_keys = {_DECLARED: key or "none"}
        transport = connections(
            read_timeout=self._timeout, max_connections=_CONNECTIONS, trust_env=bool(getproxies())
        )
        config = lm15.RouterConfig(
            providers=providers, api_keys=api_keys, base_urls=self._base_urls, transport=transport
        )
        return transport, kind(config).lm(f"{self._provider}:{self._name}")


def _holds_secrets(address: str) -> bool:
    parts = urlsplit(address)
    return "@" in parts.netloc or bool(parts.query or parts.fragment)


def _own_address(provider: str) -> str:
    definition = lookup(provider)
    assert definition is not None
    adapter: Any = definition.adapter
    address = definition.access.base_url or adapter.__dataclass_fields__["base_url"].default
    return public_address(address)


_TO_DSPY = "judgesmith.programs.lm.dspy_lm:request_to_dspy"


class LiteLLMEngine:
    """Asks one model that lm15 does not know through LiteLLM, without its cache and retries."""

    def __init__(self, model: str, *, api_base: str | None = None, timeout: float = 600.0) -> None:
        self.model = model
        provider = model.partition("/")[0]
        self.endpoint = public_address(api_base) if api_base else f"litellm:{provider}"
        self.route = f"LiteLLM, {self.endpoint if api_base else provider}"
        self._options: dict[str, Any] = {"timeout": timeout}
        if api_base:
            self._options["api_base"] = api_base

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        from dspy.clients.engines.litellm_engine import AsyncLiteLLMEngine

        with self._our_errors():
            sent, changed = self._request(request)
            response = await AsyncLiteLLMEngine(**self._options).complete(sent)
        return self._answer(response, changed)

    def complete_sync(self, request: ModelRequest) -> ModelAnswer:
        from dspy.clients.engines.litellm_engine import LiteLLMEngine as Wrapped

        with self._our_errors():
            sent, changed = self._request(request)
            response = Wrapped(**self._options).complete(sent)
        return self._answer(response, changed)

    def _request(self, request: ModelRequest) -> tuple[Any, tuple[str, ...]]:
        _stay_private()
        sent: tuple[Any, tuple[str, ...]] = at(_TO_DSPY)(request, self.model)
        return sent

    @contextmanager
    def _our_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as fault:
            raise error_from_lm15(fault, self.model, self.endpoint) from None

    def _answer(self, response: Any, changed: tuple[str, ...]) -> ModelAnswer:
        try:
            return answer_from_lm15(response, changed)
        except GARBLED as fault:
            raise error_from_reply(fault, self.model, self.endpoint) from None

    async def aclose(self) -> None:
        """Do nothing: LiteLLM's connections belong to the whole process."""

    def close(self) -> None:
        """Do nothing: LiteLLM's connections belong to the whole process."""


class _WithoutKeys(logging.Filter):
    """Takes keys out of what is logged."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redacted(record.getMessage()), None
        if record.exc_info:
            record.exc_text = redacted("".join(traceback.format_exception(*record.exc_info)))
        return True


_WITHOUT_KEYS = _WithoutKeys()


def _stay_private() -> None:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    for name in ("LiteLLM", "httpx"):
        logging.getLogger(name).addFilter(_WITHOUT_KEYS)

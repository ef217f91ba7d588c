"""Between our records and the client's types, and requests laid out close to the wire."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

import lm15
from lm15.serde import config_from_dict, request_from_dict
from lm15.transports import TransportError, TransportRequest

from judgesmith.errors import InputError
from judgesmith.programs.lm.errors import (
    ContextWindowExceeded,
    ModelError,
    TransientModelError,
    may_pass,
    redacted,
)
from judgesmith.programs.lm.records import (
    ModelAnswer,
    ModelRequest,
    Prefix,
    SamplingSettings,
    TokenLogprob,
)

_NAMED = ("temperature", "max_tokens", "top_p", "seed", "logprobs")
# What reading a reply may raise that is JSON and otherwise not as the protocol says.
GARBLED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
_QUOTED = 200
# Where a reply stops to be JSON says nothing to a reader who is shown how it begins.
_PLACE_IN_JSON = re.compile(r": [A-Z][^:.]{0,60}: line \d+ column \d+ \(char \d+\)")
_MAY_PASS = frozenset({"RateLimitError", "TimeoutError", "ServerError", "TransportError"})
_MOST_TOKENS = 10**9
# Keys by which replies of other protocols than chat completions are known.
_OTHER_LAYOUTS = {"candidates", "content", "output", "promptFeedback"}
_REPLACED = "text substituted: lone surrogates, which no server accepts, were sent as U+FFFD"
TOO_LONG = re.compile(
    r"(?i)context (?:length|window|size)|maximum (?:context|input|prompt)"
    r"|too many (?:input )?tokens|(?:prompt|input|request) is too long"
    r"|exceeds? .{0,40}(?:tokens|context)"
)


# -- requests ------------------------------------------------------------------------------


def request_to_lm15(request: ModelRequest, model: str) -> tuple[lm15.Request, tuple[str, ...]]:
    """Return the client's request for ``model``, and what had to be changed for it."""
    config = _config(request.settings)
    if request.original is not None:
        whole = request.original
        if not isinstance(whole, lm15.Request):
            whole = request_from_dict(as_dict(whole))
        return lm15.Request(
            model=model,
            messages=whole.messages,
            system=whole.system,
            tools=whole.tools,
            config=config,
        ), ()
    if request.prefix.native is None:
        request.prefix.native = _native_prefix(request.prefix)
    system, before, changed = request.prefix.native
    user = sendable(request.user)
    if user is not request.user:
        changed = (_REPLACED,)
    messages = (*before, lm15.Message.user(user))
    return lm15.Request(model=model, messages=messages, system=system, config=config), changed


def _native_prefix(prefix: Prefix) -> tuple[str | None, tuple[lm15.Message, ...], tuple[str, ...]]:
    system = None
    messages = []
    changed: tuple[str, ...] = ()
    for message in prefix.messages:
        text = sendable(message.text)
        if text is not message.text:
            changed = (_REPLACED,)
        if message.role == "system":
            system = text
        elif message.role == "user":
            messages.append(lm15.Message.user(text))
        else:
            messages.append(lm15.Message.assistant(text))
    return system, tuple(messages), changed


def sendable(text: str) -> str:
    """Return ``text`` itself, or with lone surrogates replaced if it has any."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def settings_from_config(config: Any) -> SamplingSettings:
    """Return the settings record for the client's configuration, or that of DSPy's copy."""
    given = as_dict(config)
    named = {name: given.pop(name, None) for name in _NAMED}
    stop = tuple(given.pop("stop", ()))
    extra = tuple((name, json.dumps(given[name], sort_keys=True)) for name in sorted(given))
    return SamplingSettings(**named, stop=stop, extra=extra)


@lru_cache(maxsize=256)
def _config(settings: SamplingSettings) -> lm15.Config:
    given: dict[str, Any] = {name: json.loads(value) for name, value in settings.extra}
    given.update({name: getattr(settings, name) for name in _NAMED})
    given["stop"] = list(settings.stop)
    return config_from_dict(given)


def settings_from_openai(model: str, options: dict[str, Any]) -> SamplingSettings:
    """Return the settings that DSPy makes of keyword arguments such as ``lm.kwargs``."""
    body = {"model": model, "messages": [{"role": "user", "content": "?"}], **options}
    return settings_from_config(lm15.request_from_openai_chat(body).config)


# -- answers -------------------------------------------------------------------------------


def answer_from_lm15(response: Any, changed: tuple[str, ...] = ()) -> ModelAnswer:
    """Return the record for a response of the client, or of DSPy's copy."""
    if _is_no_answer(response.provider_data):
        raise InputError("the reply has no message")
    parts = response.message.parts
    plain = response.logprobs_complete and all(part.type == "text" for part in parts)
    return ModelAnswer(
        # A refusal that the server marks as one is read like one in so many words.
        text="".join(part.text for part in parts if part.type in ("text", "refusal")),
        finish_reason=response.finish_reason,
        input_tokens=counted_usage(response.usage.input_tokens),
        output_tokens=counted_usage(_all_output(response.usage)),
        logprobs=_logprobs(response),
        adaptations=(
            *changed,
            *(f"{one.field} {one.action}: {one.reason}" for one in response.adaptations),
        ),
        original=None if plain else json.dumps(as_dict(response)),
    )


def _is_no_answer(data: Any) -> bool:
    if not isinstance(data, Mapping) or not _OTHER_LAYOUTS.isdisjoint(data):
        return False
    choices = data.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return not (isinstance(first, Mapping) and isinstance(first.get("message"), Mapping))


def _all_output(usage: Any) -> Any:
    total, sent, came = usage.total_tokens, usage.input_tokens, usage.output_tokens
    return came if None in (total, sent, came) else max(came, total - sent)


def counted_usage(tokens: int | None) -> int | None:
    return int(tokens) if tokens is not None and tokens <= _MOST_TOKENS else None


def _logprobs(response: Any) -> tuple[TokenLogprob, ...] | None:
    if response.logprobs is None:
        return None
    return tuple(
        TokenLogprob(one.token, one.logprob, tuple((top.token, top.logprob) for top in one.top))
        for one in response.logprobs
    )


# -- errors --------------------------------------------------------------------------------


def error_from_reply(fault: Exception, model: str, endpoint: str) -> TransientModelError:
    """Return our error for a reply that came and is none: worth another attempt, like others."""
    said = redacted(f"{type(fault).__name__}: {fault}")[:_QUOTED]
    return TransientModelError(
        f"{model} at {endpoint}: the reply is not laid out as one of a model ({said})", status=200
    )


def error_from_lm15(fault: Exception, model: str, endpoint: str) -> ModelError:
    """Return our error for one of the client's, without keys."""
    status = getattr(fault, "status", None)
    said = str(getattr(fault, "message", "") or fault).partition("\n\n")[0].strip()
    said = _PLACE_IN_JSON.sub("", said)
    told = f" (HTTP {status})" if status and f"HTTP {status}" not in said else ""
    shown = redacted(f"{model} at {endpoint}: {said}{told}")
    kinds = _kinds(fault)
    if "ContextLengthError" in kinds or ("InvalidRequestError" in kinds and TOO_LONG.search(said)):
        return ContextWindowExceeded(shown, status=status)
    if "NotConfiguredError" in kinds:
        names = " or ".join(getattr(fault, "env_keys", ())) or "the provider's key"
        return ModelError(
            f"{model} at {endpoint} needs a key: set {names} in the environment.",
            hint="give --api-base "
            "(api_base=) if the model is served elsewhere, for a judge does not keep an address.",
        )
    # A reply that claims success and is not one comes from a proxy having a bad moment.
    garbled = "ProviderError" in kinds and status is not None and status < 400
    if garbled or may_pass(status) or kinds & _MAY_PASS:
        wait = getattr(fault, "retry_after", None)
        return TransientModelError(shown, status=status, retry_after=wait)
    if "AuthError" in kinds:
        return ModelError(f"{shown}.", status=status, hint="check the key in the environment.")
    return ModelError(shown, status=status)


def _kinds(fault: Exception) -> frozenset[str]:
    return frozenset(one.__name__ for one in type(fault).__mro__ if "lm15" in one.__module__)


# -- the client and DSPy's copy ------------------------------------------------------------


def as_dict(thing: Any) -> dict[str, Any]:
    """Return a request, response or configuration as plain data, whichever client made it."""
    kind = type(thing)
    serde = import_module(f"{kind.__module__.rpartition('.')[0]}.serde")
    told: dict[str, Any] = getattr(serde, f"{kind.__name__.lower()}_to_dict")(thing)
    return told


_MARK = "\u00e9 stands where the text of the user goes \u00e9"
_REASONS = ("stop", "length")
_ANYTHING_ELSE = ("reasoning_content", "reasoning", "refusal", "tool_calls")

ToClient = Callable[[ModelRequest], tuple[lm15.Request, tuple[str, ...]]]


class _CapturedRequest(Exception):  # noqa: N818 - how a request that was laid out comes back
    """A request that was laid out and not sent."""

    def __init__(self, request: TransportRequest) -> None:
        super().__init__()
        self.request = request


@dataclass(frozen=True, slots=True)
class _Reply:
    """A reply that has come, in the form in which the client reads it."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    http_version: str
    body: bytes

    def read(self) -> bytes:
        return self.body


class TimeoutTransport:
    """Connections without timers of their own, for a client that expects each step to have one."""

    def __init__(self, transport: Any, seconds: float) -> None:
        self._transport = transport
        self._seconds = seconds

    def stream(self, request: TransportRequest) -> Any:
        request.read_timeout = request.read_timeout or self._seconds
        request.write_timeout = request.write_timeout or self._seconds
        return self._transport.stream(request)

    async def aclose(self) -> None:
        await self._transport.aclose()


class _CapturingTransport:
    """Stands in for the network: gives a reply that has come, or what was to be sent."""

    def __init__(self) -> None:
        self.reply: _Reply | None = None

    @contextmanager
    def stream(self, request: TransportRequest) -> Iterator[_Reply]:
        if self.reply is None:
            raise _CapturedRequest(request)
        yield self.reply

    def close(self) -> None:
        """Do nothing: there is no connection."""


@dataclass(frozen=True, slots=True)
class RequestLayout:
    """The bytes around the text of the user, and where they go."""

    url: str
    headers: list[tuple[str, str]] = field(repr=False)  # the key is among them
    before: bytes
    after: bytes
    ascii_only: bool

    def request(self, user: str) -> TransportRequest:
        said = json.dumps(user, ensure_ascii=self.ascii_only).encode()
        body = b"".join((self.before, said, self.after))
        return TransportRequest("POST", self.url, list(self.headers), body)


class FastPath:
    """Sends the requests of one event loop to one model, as few bytes anew as can be."""

    def __init__(
        self,
        transport: Any,
        client_over: Callable[[Any], Any],
        to_client: ToClient,
        *,
        seconds: float,
    ) -> None:
        self._transport = transport
        self._seconds = seconds
        self._still = _CapturingTransport()
        self._client = client_over(self._still)
        self._to_client = to_client
        self._layouts: WeakKeyDictionary[Prefix, dict[SamplingSettings, RequestLayout | None]] = (
            WeakKeyDictionary()
        )

    def layout(self, request: ModelRequest) -> RequestLayout | None:
        """Return how a request can go this way, as plain text for chat completions, else None."""
        if request.original is not None or request.settings.logprobs is not None:
            return None
        if not (request.user and sendable(request.user) is request.user):
            return None
        known = self._layouts.get(request.prefix)
        if known is None:
            known = self._layouts[request.prefix] = {}
        if request.settings not in known:
            known[request.settings] = self._laid_out(request)
        return known[request.settings]

    async def complete(self, request: ModelRequest, layout: RequestLayout) -> ModelAnswer:
        chunks: list[bytes] = []
        try:
            # One timer for the whole request: the transport's own are a task for each read.
            async with (
                asyncio.timeout(self._seconds) as silence,
                self._transport.stream(layout.request(request.user)) as reply,
            ):
                now = asyncio.get_running_loop().time
                silence.reschedule(now() + self._seconds)
                async for chunk in reply:
                    silence.reschedule(now() + self._seconds)
                    chunks.append(chunk)
        except TimeoutError:
            raise lm15.TransportError(f"no bytes for {self._seconds:g} seconds") from None
        except TransportError as fault:
            raise lm15.TransportError(str(fault)) from None
        body = b"".join(chunks)
        if reply.status == 200 and (answer := plain_answer(body)) is not None:
            return answer
        sent, changed = self._to_client(request)
        self._still.reply = _Reply(
            reply.status, reply.reason, reply.headers, reply.http_version, body
        )
        try:
            return answer_from_lm15(self._client.complete(sent), changed)
        finally:
            self._still.reply = None

    def _laid_out(self, request: ModelRequest) -> RequestLayout | None:
        """Have the client lay a request out, and find the user's place in it."""
        sent, changed = self._to_client(replace(request, user=_MARK))
        if changed or self._client.plan(sent):
            return None
        try:
            self._client.complete(sent)
        except _CapturedRequest as laid:
            made = laid.request
        else:
            return None
        if made.method != "POST" or not made.url.endswith("/chat/completions"):
            return None
        for ascii_only in (True, False):
            mark = json.dumps(_MARK, ensure_ascii=ascii_only).encode()
            # A text of the prefix that is the mark, too, leaves the user's place in doubt.
            if made.body.count(mark) == 1:
                before, _, after = made.body.partition(mark)
                return RequestLayout(made.url, made.headers, before, after, ascii_only)
        return None


def plain_answer(body: bytes) -> ModelAnswer | None:
    """Return the answer in a reply that holds one text and nothing else, None for any other."""
    try:
        found = json.loads(body.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("error"):
        return None
    choices, usage = found.get("choices"), found.get("usage") or {}
    if not (isinstance(choices, list) and len(choices) == 1 and isinstance(usage, Mapping)):
        return None
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping) or any(message.get(one) for one in _ANYTHING_ELSE):
        return None
    text, reason = message.get("content"), choice.get("finish_reason")
    if not isinstance(text, str) or choice.get("logprobs") or reason not in _REASONS:
        return None
    sent, came, total = (usage.get(f"{one}_tokens") for one in ("prompt", "completion", "total"))
    counts = (sent, came, total)
    if any(type(one) is not int or one < 0 for one in counts if one is not None):
        return None
    if sent is not None and came is not None and total is not None:
        came = max(came, total - sent)
    return ModelAnswer(
        text=text,
        finish_reason=reason,
        input_tokens=counted_usage(sent),
        output_tokens=counted_usage(came),
    )

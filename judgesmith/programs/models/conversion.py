"""Between our records and the request, response and error types of the client, lm15.

DSPy carries a copy of the client: its types have the same names, and other identities. What it
makes is told by these names; ``dspy_conversion`` turns what it is to be given.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

import lm15
from lm15.serde import config_from_dict, request_from_dict

from judgesmith.errors import InputError
from judgesmith.programs.models.errors import (
    ContextWindowExceeded,
    ModelError,
    TransientModelError,
)
from judgesmith.programs.models.redaction import redacted
from judgesmith.programs.models.request import (
    ModelAnswer,
    ModelRequest,
    Prefix,
    Settings,
    TokenLogprob,
)

_NAMED = ("temperature", "max_tokens", "top_p", "seed", "logprobs")
# What reading a reply may raise that is JSON and otherwise not as the protocol says.
GARBLED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
_QUOTED = 200
# Where a reply stops to be JSON says nothing to a reader who is shown how it begins.
_PLACE_IN_JSON = re.compile(r": [A-Z][^:.]{0,60}: line \d+ column \d+ \(char \d+\)")
_PASSING = (409, 425)  # conflict and too early: statuses that say to come again
_MAY_PASS = frozenset({"RateLimitError", "TimeoutError", "ServerError", "TransportError"})
_MOST_TOKENS = 10**9
# Keys by which replies of other protocols than chat completions are known.
_OTHER_LAYOUTS = {"candidates", "content", "output", "promptFeedback"}
_REPLACED = "text substituted: lone surrogates, which no server accepts, were sent as U+FFFD"
_TOO_LONG = re.compile(
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


def _native_prefix(
    prefix: Prefix,
) -> tuple[str | None, tuple[lm15.Message, ...], tuple[str, ...]]:
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


def settings_from_config(config: Any) -> Settings:
    """Return the settings record for the client's configuration, or that of DSPy's copy."""
    given = as_dict(config)
    named = {name: given.pop(name, None) for name in _NAMED}
    stop = tuple(given.pop("stop", ()))
    extra = tuple((name, json.dumps(given[name], sort_keys=True)) for name in sorted(given))
    return Settings(**named, stop=stop, extra=extra)


@lru_cache(maxsize=256)
def _config(settings: Settings) -> lm15.Config:
    given: dict[str, Any] = {name: json.loads(value) for name, value in settings.extra}
    given.update({name: getattr(settings, name) for name in _NAMED})
    given["stop"] = list(settings.stop)
    return config_from_dict(given)


def settings_from_openai(model: str, options: dict[str, Any]) -> Settings:
    """Return the settings that DSPy makes of keyword arguments such as ``lm.kwargs``."""
    body = {"model": model, "messages": [{"role": "user", "content": "?"}], **options}
    return settings_from_config(lm15.request_from_openai_chat(body).config)


# -- answers -------------------------------------------------------------------------------


def answer_from_lm15(response: Any, changed: tuple[str, ...] = ()) -> ModelAnswer:
    """Return the record for a response of the client, or of DSPy's copy.

    Raises
    ------
    ValueError
        If the reply holds no answer at all, not even an empty one.
    """
    if _is_no_answer(response.provider_data):
        raise InputError("the reply has no message")
    parts = response.message.parts
    plain = response.logprobs_complete and all(part.type == "text" for part in parts)
    return ModelAnswer(
        # A refusal that the server marks as one is read like one in so many words.
        text="".join(part.text for part in parts if part.type in ("text", "refusal")),
        finish_reason=response.finish_reason,
        input_tokens=counted(response.usage.input_tokens),
        output_tokens=counted(_all_output(response.usage)),
        logprobs=_logprobs(response),
        adaptations=(*changed, *(_sentence(one) for one in response.adaptations)),
        original=None if plain else json.dumps(as_dict(response)),
    )


def _is_no_answer(data: Any) -> bool:
    """Say whether a reply in the layout of chat completions lacks the message.

    The client reads it as an empty answer, which would then stay on record.
    """
    if not isinstance(data, Mapping) or not _OTHER_LAYOUTS.isdisjoint(data):
        return False
    choices = data.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return not (isinstance(first, Mapping) and isinstance(first.get("message"), Mapping))


def _all_output(usage: Any) -> Any:
    """Return the tokens of an answer with those of its reasoning, which some count apart."""
    total, sent, came = usage.total_tokens, usage.input_tokens, usage.output_tokens
    return came if None in (total, sent, came) else max(came, total - sent)


def counted(tokens: int | None) -> int | None:
    """Return a count of tokens, None for one that no answer can have."""
    return int(tokens) if tokens is not None and tokens <= _MOST_TOKENS else None


def _logprobs(response: Any) -> tuple[TokenLogprob, ...] | None:
    if response.logprobs is None:
        return None
    return tuple(
        TokenLogprob(one.token, one.logprob, tuple((top.token, top.logprob) for top in one.top))
        for one in response.logprobs
    )


def _sentence(adaptation: Any) -> str:
    return f"{adaptation.field} {adaptation.action}: {adaptation.reason}"


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
    if "ContextLengthError" in kinds or ("InvalidRequestError" in kinds and _TOO_LONG.search(said)):
        return ContextWindowExceeded(shown, status=status)
    if "NotConfiguredError" in kinds:
        names = " or ".join(getattr(fault, "env_keys", ())) or "the provider's key"
        return ModelError(
            f"{model} at {endpoint} needs a key: set {names} in the environment; give --api-base "
            "(api_base=) if the model is served elsewhere, for a judge does not keep an address."
        )
    # A reply that claims success and is not one comes from a proxy having a bad moment.
    garbled = "ProviderError" in kinds and status is not None and status < 400
    if garbled or status in _PASSING or kinds & _MAY_PASS:
        wait = getattr(fault, "retry_after", None)
        return TransientModelError(shown, status=status, retry_after=wait)
    if "AuthError" in kinds:
        return ModelError(f"{shown}. Check the key in the environment.", status=status)
    return ModelError(shown, status=status)


def _kinds(fault: Exception) -> frozenset[str]:
    """Return the names of the client's kinds of errors, or of those of DSPy's copy, of a fault."""
    return frozenset(one.__name__ for one in type(fault).__mro__ if "lm15" in one.__module__)


# -- the client and DSPy's copy ------------------------------------------------------------


def as_dict(thing: Any) -> dict[str, Any]:
    """Return a request, response or configuration as plain data, whichever client made it.

    Examples
    --------
    >>> as_dict(lm15.Config(seed=3))
    {'seed': 3}
    """
    kind = type(thing)
    serde = import_module(f"{kind.__module__.rpartition('.')[0]}.serde")
    told: dict[str, Any] = getattr(serde, f"{kind.__name__.lower()}_to_dict")(thing)
    return told

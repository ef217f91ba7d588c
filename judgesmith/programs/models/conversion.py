"""Between our records and the request, response and error types of DSPy's client."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from dspy import lm15
from dspy._vendor.lm15.serde import (
    config_from_dict,
    config_to_dict,
    request_to_dict,
    response_from_dict,
    response_to_dict,
)

from judgesmith.programs.models.errors import (
    ContextWindowExceeded,
    ModelError,
    TransientModelError,
)
from judgesmith.programs.models.redaction import redacted
from judgesmith.programs.models.request import (
    Message,
    ModelAnswer,
    ModelRequest,
    Prefix,
    Role,
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


def request_from_lm15(request: lm15.Request, *, sample: int) -> ModelRequest:
    """Return the record for a request that came through DSPy.

    A request that is more than text (tools, images, earlier tool calls) is kept as it is, with its
    JSON as content.
    """
    settings = settings_from_config(request.config)
    plain = _plain_messages(request)
    if plain is None:
        described = request_to_dict(request)
        described.pop("config", None)
        described.pop("model", None)
        return ModelRequest(
            model=request.model,
            prefix=Prefix(),
            user=json.dumps(described, sort_keys=True, ensure_ascii=False),
            settings=settings,
            sample=sample,
            original=request,
        )
    prefix = Prefix(plain[:-1])
    prefix.native = (request.system, request.messages[:-1], ())
    return ModelRequest(
        model=request.model, prefix=prefix, user=plain[-1].text, settings=settings, sample=sample
    )


def _plain_messages(request: lm15.Request) -> list[Message] | None:
    """Return the messages of a request that is text only and ends with the user's turn."""
    if request.tools or not (request.system is None or isinstance(request.system, str)):
        return None
    messages = [Message("system", request.system)] if request.system is not None else []
    for message in request.messages:
        role: Role
        match message.role:
            case "user":
                role = "user"
            case "assistant":
                role = "assistant"
            case _:
                return None
        if message.continuation or len(message.parts) != 1:
            return None
        part = message.parts[0]
        if not isinstance(part, lm15.TextPart) or part.continuation:
            return None
        messages.append(Message(role, part.text))
    return messages if messages and messages[-1].role == "user" else None


def request_to_lm15(request: ModelRequest, model: str) -> tuple[lm15.Request, tuple[str, ...]]:
    """Return the client's request for ``model``, and what had to be changed for it."""
    config = _config(request.settings)
    if request.original is not None:
        whole = request.original
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


def settings_from_config(config: lm15.Config) -> Settings:
    """Return the settings record for the client's configuration."""
    given = config_to_dict(config)
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


def answer_from_lm15(response: lm15.Response, changed: tuple[str, ...] = ()) -> ModelAnswer:
    """Return the record for the client's response.

    Raises
    ------
    ValueError
        If the reply holds no answer at all, not even an empty one.
    """
    if _is_no_answer(response.provider_data):
        raise ValueError("the reply has no message")
    parts = response.message.parts
    plain = response.logprobs_complete and all(type(part) is lm15.TextPart for part in parts)
    return ModelAnswer(
        # A refusal that the server marks as one is read like one in so many words.
        text="".join(
            part.text for part in parts if isinstance(part, lm15.TextPart | lm15.RefusalPart)
        ),
        finish_reason=response.finish_reason,
        input_tokens=_counted(response.usage.input_tokens),
        output_tokens=_counted(_all_output(response.usage)),
        logprobs=_logprobs(response),
        adaptations=(*changed, *(_sentence(one) for one in response.adaptations)),
        original=None if plain else json.dumps(response_to_dict(response)),
    )


def answer_to_lm15(answer: ModelAnswer, model: str) -> lm15.Response:
    """Return the client's response for an answer on record.

    An answer from the ledger reports no usage, as DSPy does for its own cache: nothing was used.
    """
    usage = lm15.Usage()
    if not answer.from_ledger:
        usage = lm15.Usage(input_tokens=answer.input_tokens, output_tokens=answer.output_tokens)
    if answer.original is not None:
        stored = json.loads(answer.original)
        stored.update(usage={}, model=model)
        whole = response_from_dict(stored)
        return lm15.Response(
            id=whole.id,
            model=model,
            message=whole.message,
            finish_reason=whole.finish_reason,
            usage=usage,
            logprobs=whole.logprobs,
            adaptations=whole.adaptations,
            logprobs_complete=whole.logprobs_complete,
        )
    logprobs = None
    if answer.logprobs is not None:
        logprobs = tuple(
            lm15.TokenLogprob(
                one.token,
                one.logprob,
                top=tuple(lm15.TopLogprob(token, value) for token, value in one.top),
            )
            for one in answer.logprobs
        )
    return lm15.Response(
        id=None,
        model=model,
        message=lm15.Message.assistant(answer.text),
        finish_reason=answer.finish_reason,
        usage=usage,
        logprobs=logprobs,
        adaptations=tuple(_adaptation(sentence) for sentence in answer.adaptations),
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


def _counted(tokens: int | None) -> int | None:
    """Return a count of tokens, None for one that no answer can have."""
    return int(tokens) if tokens is not None and tokens <= _MOST_TOKENS else None


def _logprobs(response: lm15.Response) -> tuple[TokenLogprob, ...] | None:
    if response.logprobs is None:
        return None
    return tuple(
        TokenLogprob(one.token, one.logprob, tuple((top.token, top.logprob) for top in one.top))
        for one in response.logprobs
    )


def _sentence(adaptation: lm15.Adaptation) -> str:
    return f"{adaptation.field} {adaptation.action}: {adaptation.reason}"


def _adaptation(sentence: str) -> lm15.Adaptation:
    head, _, reason = sentence.partition(": ")
    field, _, action = head.partition(" ")
    return lm15.Adaptation(field=field, action=action, reason=reason)


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
    if isinstance(fault, lm15.ContextLengthError) or (
        isinstance(fault, lm15.InvalidRequestError) and _TOO_LONG.search(said)
    ):
        return ContextWindowExceeded(shown, status=status)
    if isinstance(fault, lm15.NotConfiguredError):
        names = " or ".join(fault.env_keys) or "the provider's key"
        return ModelError(
            f"{model} at {endpoint} needs a key: set {names} in the environment; give --api-base "
            "(api_base=) if the model is served elsewhere, for a judge does not keep an address."
        )
    # A reply that claims success and is not one comes from a proxy having a bad moment.
    garbled = isinstance(fault, lm15.ProviderError) and status is not None and status < 400
    passing = (lm15.RateLimitError, lm15.TimeoutError, lm15.ServerError, lm15.TransportError)
    if garbled or status in _PASSING or isinstance(fault, passing):
        wait = getattr(fault, "retry_after", None)
        return TransientModelError(shown, status=status, retry_after=wait)
    if isinstance(fault, lm15.AuthError):
        return ModelError(f"{shown}. Check the key in the environment.", status=status)
    return ModelError(shown, status=status)

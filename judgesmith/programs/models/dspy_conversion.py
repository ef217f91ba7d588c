"""Between our records and the types of DSPy's own copy of the client."""

import json

from dspy import lm15
from dspy._vendor.lm15.serde import request_from_dict, response_from_dict

from judgesmith.programs.models.conversion import as_dict, request_to_lm15, settings_from_config
from judgesmith.programs.models.request import Message, ModelAnswer, ModelRequest, Prefix, Role


def request_from_dspy(request: lm15.Request, *, sample: int) -> ModelRequest:
    """Return the record for a request that came through DSPy.

    A request that is more than text (tools, images, earlier tool calls) is kept as it is, with its
    JSON as content.
    """
    settings = settings_from_config(request.config)
    plain = _plain_messages(request)
    if plain is None:
        described = as_dict(request)
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
    return ModelRequest(
        model=request.model,
        prefix=Prefix(plain[:-1]),
        user=plain[-1].text,
        settings=settings,
        sample=sample,
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


def request_to_dspy(request: ModelRequest, model: str) -> tuple[lm15.Request, tuple[str, ...]]:
    """Return DSPy's request for ``model``, and what had to be changed for it."""
    sent, changed = request_to_lm15(request, model)
    return request_from_dict(as_dict(sent)), changed


def answer_to_dspy(answer: ModelAnswer, model: str) -> lm15.Response:
    """Return DSPy's response for an answer on record.

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


def _adaptation(sentence: str) -> lm15.Adaptation:
    head, _, reason = sentence.partition(": ")
    field, _, action = head.partition(" ")
    return lm15.Adaptation(field=field, action=action, reason=reason)

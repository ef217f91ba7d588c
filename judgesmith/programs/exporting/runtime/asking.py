"""Asking the model: one chat completion for each question, and what its faults mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import openai

from judgesmith.programs.exporting.runtime.questions import Template
from judgesmith.programs.judging import Ask, Reply
from judgesmith.programs.models.errors import (
    ContextWindowExceeded,
    ModelError,
    TransientModelError,
)
from judgesmith.programs.models.request import ModelAnswer
from judgesmith.programs.replies import lacking, readable, too_long, unreadable
from judgesmith.programs.reply_probabilities import answer_by_dspy, refusal_of

Message = dict[str, str]

TRIES = 6  # attempts at a request that the server could not take
_REASONS = re.compile(r"(?:o\d|gpt-5(?!.*-chat))")  # answer at a temperature of their own
_WINDOW = re.compile(
    r"(?i)context (?:length|window|size)|maximum (?:context|input|prompt)"
    r"|too many (?:input )?tokens|(?:prompt|input|request) is too long"
    r"|exceeds? .{0,40}(?:tokens|context)"
)
_PASSING = (408, 409, 425, 429)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who is asked: a client of OpenAI's protocol, and the model instead of each judge's own."""

    client: Any
    model: str = ""

    def completion(self, messages: list[Message], options: Mapping[str, Any], sample: int) -> Any:
        """Return one chat completion; the next of several samples is asked for in the same way."""
        return self.client.chat.completions.create(messages=messages, **options)


def replied(
    ask: Ask, template: Template, *, to: Asked, model: str, settings: dict[str, Any]
) -> Reply:
    """Ask one question and return what came back, read, or the reason why it cannot be.

    Raises
    ------
    ModelError
        If the model cannot be asked, or refuses.
    """
    arguments = _arguments(settings, ask, model=to.model or model)
    try:
        answer = _completed(to, template.messages(ask.inputs), arguments, ask.sample)
    except ContextWindowExceeded as fault:
        return too_long(fault)
    except ModelError as fault:
        refused = refusal_of(fault) if ask.probabilities is not None else None
        if refused is None:
            raise
        plain = replace(ask, probabilities=None)
        reply = replied(plain, template, to=to, model=model, settings=settings)
        return lacking(reply, ask, refused)
    try:
        fields = template.read(answer.text)
    except ValueError as fault:
        return unreadable(fault, answer=answer)
    return readable(fields, answer=answer, ask=ask)


def answering(
    templates: dict[str, Template], *, to: Asked, model: str, settings: dict[str, Any]
) -> Callable[[Ask], Reply]:
    """Return what answers the questions of one judge."""

    def reply(ask: Ask) -> Reply:
        return replied(ask, templates[ask.predictor], to=to, model=model, settings=settings)

    return reply


def _arguments(settings: dict[str, Any], ask: Ask, *, model: str) -> dict[str, Any]:
    """Return how the answer is sampled."""
    arguments: dict[str, Any] = {"model": model}
    ceiling = settings["max_tokens"]
    if _REASONS.match(model):
        if ceiling is not None:
            arguments["max_completion_tokens"] = ceiling
    else:
        arguments["temperature"] = settings["temperature"]
        if ceiling is not None:
            arguments["max_tokens"] = ceiling
    if ask.probabilities is not None:
        arguments |= {"logprobs": True, "top_logprobs": ask.probabilities.top}
    return arguments


def _completed(
    to: Asked, messages: list[Message], arguments: dict[str, Any], sample: int
) -> ModelAnswer:
    try:
        completion = to.completion(messages, arguments, sample)
    except openai.OpenAIError as fault:
        raise _meant(fault, arguments["model"]) from fault
    choices: Any = getattr(completion, "choices", None)
    message = choices[0].message if choices else None
    if message is None:
        raise TransientModelError(f"{arguments['model']}: the reply has no message")
    said = [getattr(message, name, None) for name in ("content", "refusal")]
    spoken = answer_by_dspy(getattr(choices[0], "logprobs", None))
    return ModelAnswer(
        text="".join(one for one in said if isinstance(one, str)),
        finish_reason=choices[0].finish_reason or "stop",
        logprobs=None if spoken is None else spoken.logprobs,
    )


def _meant(fault: openai.OpenAIError, model: str) -> ModelError:
    """Return what a fault of the client means for the text that was asked about."""
    status = getattr(fault, "status_code", None)
    said = f"{model}: {getattr(fault, 'message', None) or fault}"
    if status is not None and f" {status} " not in f" {said} ":
        said = f"{said} (HTTP {status})"
    if isinstance(fault, openai.BadRequestError) and _WINDOW.search(said):
        return ContextWindowExceeded(said, status=status)
    passing = status is not None and (status >= 500 or status in _PASSING)
    if passing or isinstance(fault, openai.APIConnectionError | openai.APIResponseValidationError):
        return TransientModelError(said, status=status)
    return ModelError(said, status=status)

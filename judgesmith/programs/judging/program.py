"""How a judge asks: one description of the steps, driven by whoever answers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, TypeVar

from judgesmith.programs.judging.logprobs import AnswerProbabilities
from judgesmith.signatures.judgement import Cause, Judgement, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbabilitiesOf:
    """What probabilities are wanted of an answer."""

    field: str
    answers: tuple[str, ...]
    records: tuple[str, ...] = ()
    top: int = 20

    @property
    def names(self) -> tuple[str, ...]:
        """What the probabilities are called in a reply: the records, or the field."""
        return self.records or (self.field,)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRequest:
    """One question to the model."""

    predictor: str
    inputs: Mapping[str, str | None]
    sample: int = 0
    attempt: int = 0
    probabilities: ProbabilitiesOf | None = None
    temperature: float | None = None
    continuation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """What came back: fields, or the cause why there are none."""

    fields: Mapping[str, Any] | None = None
    cause: Cause | None = None
    call: str = ""
    final: bool = False
    recorded: bool = False
    kept: bool = False
    probabilities: Mapping[str, AnswerProbabilities] = field(default_factory=dict)


Value = TypeVar("Value")

AnySteps = Generator[PromptRequest | tuple[PromptRequest, ...], Any, Value]
"""Requests on the way to a value: sent a reply for a request, and a tuple for a tuple."""

Steps = AnySteps[Judgement]
"""A judgement under way."""


@dataclass(slots=True)
class Calls:
    """Collects the identities of the calls behind one judgement, in order."""

    made: list[str] = field(default_factory=list)
    latest: ModelReply | None = None

    def __call__(self, reply: ModelReply) -> ModelReply:
        self.latest = reply
        if reply.call:
            self.made.append(reply.call)
        return reply


def asked(
    ask: PromptRequest, read: Callable[[Mapping[str, Any]], Value], *, again: int, calls: Calls
) -> Generator[PromptRequest, ModelReply, Value | Cause]:
    """Ask, and once more where the answer is missing, unreadable or out of range."""
    cause = Cause(Reason.OTHER, "")
    recorded = True
    attempts = count()
    while recorded:
        attempt, recorded = next(attempts), False
        for sample in (ask.sample, again):
            first = sample == ask.sample and not attempt
            reply = calls((yield ask if first else replace(ask, sample=sample, attempt=attempt)))
            if reply.kept:
                continue
            recorded = recorded or reply.recorded
            if reply.fields is None:
                cause = reply.cause or cause
                if reply.final:
                    return cause
                continue
            try:
                return read(reply.fields)
            except ValueError as fault:
                cause = Cause(Reason.UNREADABLE, str(fault))
    return cause


def gather(courses: Sequence[AnySteps[Value]]) -> AnySteps[list[Value]]:
    """Take several courses of steps side by side, and return what each comes to, in order."""
    if len(courses) == 1:
        return [(yield from courses[0])]
    found: dict[int, Value] = {}
    waiting: dict[int, PromptRequest | tuple[PromptRequest, ...]] = {}
    for place, course in enumerate(courses):
        try:
            waiting[place] = next(course)
        except StopIteration as end:
            found[place] = end.value
    while waiting:
        asks = tuple(ask for one in waiting.values() for ask in _asks(one))
        replies = iter((yield asks))
        for place, asked in list(waiting.items()):
            said = tuple(next(replies) for _ in _asks(asked))
            sent: ModelReply | tuple[ModelReply, ...] = (
                said[0] if isinstance(asked, PromptRequest) else said
            )
            try:
                waiting[place] = courses[place].send(sent)
            except StopIteration as end:
                found[place] = end.value
                del waiting[place]
    return [found[place] for place in range(len(courses))]


def _asks(asked: PromptRequest | tuple[PromptRequest, ...]) -> tuple[PromptRequest, ...]:
    return (asked,) if isinstance(asked, PromptRequest) else asked

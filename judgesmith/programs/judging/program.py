"""How a judge asks: a generator of requests, the replies to them, and what drives both."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from judgesmith.programs.judging.answers import is_cut_off
from judgesmith.programs.judging.logprobs import (
    AnswerProbabilities,
    answer_probabilities,
    place_of_answer,
    places_in_records,
)
from judgesmith.programs.judging.prompts import Template
from judgesmith.programs.lm import (
    BudgetSpent,
    ContextWindowExceeded,
    LMClient,
    ModelError,
    ModelRequest,
    Prefix,
    PureEngine,
    SamplingSettings,
    lm_client_of,
)
from judgesmith.programs.lm.errors import TransientModelError, speaks_of_one_item, unscoring
from judgesmith.programs.lm.records import ModelAnswer, TokenLogprob
from judgesmith.programs.lm.waiting import Waiting
from judgesmith.signatures.judgement import Cause, Judgement, Note, Reason
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import whole

if TYPE_CHECKING:
    import dspy


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

RequestProgram = Generator[PromptRequest | tuple[PromptRequest, ...], Any, Value]
"""Requests on the way to a value: sent a reply for a request, and a tuple for a tuple."""

JudgeProgram = RequestProgram[Judgement]
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


def gather(courses: Sequence[RequestProgram[Value]]) -> RequestProgram[list[Value]]:
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


_ABOUT_LOGPROBS = re.compile(r"(?i)log.?prob")
_REFUSING = (None, 400, 422)  # statuses that a setting is refused with
_ANCHORS = (80, 20)  # characters before an answer by which it is found among the tokens

FoundProbabilities = Mapping[str, AnswerProbabilities]


def refusal_of(fault: Exception) -> str | None:
    """Return what an endpoint says that refuses log-probabilities; None for other faults."""
    said = " ".join(str(fault).split())
    refused = getattr(fault, "status", None) in _REFUSING and _ABOUT_LOGPROBS.search(said)
    if isinstance(fault, TransientModelError) or not refused:
        return None
    return f"the endpoint refuses log-probabilities: {said[:300]}"


def without_probabilities(wanted: ProbabilitiesOf, reason: str) -> FoundProbabilities:
    return {name: AnswerProbabilities.none(reason) for name in wanted.names}


def probabilities_in(
    answer: ModelAnswer | None, wanted: ProbabilitiesOf, fields: Mapping[str, Any]
) -> FoundProbabilities:
    if answer is None or not answer.logprobs:
        return without_probabilities(wanted, _why_none(answer))
    said = _said(wanted, fields)
    if wanted.records:
        places = places_in_records(answer.text, wanted.field, said, title="criterion", key="score")
    else:
        place = place_of_answer(
            answer.text, wanted.field, said.get(wanted.field, ""), wanted.answers
        )
        places = {} if place is None else {wanted.field: place}
    joined = "".join(one.token for one in answer.logprobs)
    found: dict[str, AnswerProbabilities] = {}
    for name in wanted.names:
        found[name] = _of_one(answer, joined, wanted, said.get(name), places.get(name))
    return found


def _of_one(
    answer: ModelAnswer,
    joined: str,
    wanted: ProbabilitiesOf,
    said: str | None,
    place: tuple[int, int] | None,
) -> AnswerProbabilities:
    none = AnswerProbabilities.none
    if said is None:
        return none("there is no answer to be weighed")
    if said.casefold() not in {one.casefold() for one in wanted.answers}:
        return none(f"the answer {said[:40]!r} is none of those that are weighed")
    if place is None:
        return none("it cannot be told where in the model's words the answer stands")
    start = _among_tokens(answer.text, joined, *place)
    if start is None:
        return none("the tokens that came with the answer do not spell it")
    try:
        return answer_probabilities(answer.logprobs or (), start, wanted.answers)
    except ValueError as fault:
        return none(str(fault))


def _among_tokens(text: str, joined: str, start: int, end: int) -> int | None:
    if joined.startswith(text[:end]):
        return start
    for n_before in _ANCHORS:
        first = max(0, start - n_before)
        if joined.count(text[first:end]) == 1:
            return joined.index(text[first:end]) + start - first
    return None


def _said(wanted: ProbabilitiesOf, fields: Mapping[str, Any]) -> dict[str, str]:
    value = fields.get(wanted.field)
    if not wanted.records:
        return {} if value is None else {wanted.field: _written(value)}
    given = {folded(one.criterion): one for one in value or ()}
    scores = {name: getattr(given.get(folded(name)), "score", None) for name in wanted.records}
    return {name: _written(one) for name, one in scores.items() if one is not None}


def _written(value: Any) -> str:
    return str(whole(value)) if isinstance(value, int | float) else str(value)


def _why_none(answer: ModelAnswer | None) -> str:
    if answer is None:
        return "the model gives no log-probabilities"
    dropped = [one for one in answer.adaptations if _ABOUT_LOGPROBS.search(one)]
    return f"the endpoint gave no log-probabilities{''.join(f' ({one})' for one in dropped[:1])}"


def answer_by_dspy(logprobs: Any) -> ModelAnswer | None:
    """Return an answer made of the log-probabilities in a prediction; None without any."""
    tokens = tuple(_tokens(logprobs))
    if not tokens:
        return None
    return ModelAnswer(text="".join(one.token for one in tokens), logprobs=tokens)


def _tokens(logprobs: Any) -> Iterator[TokenLogprob]:
    content = _part(logprobs, "content")
    for one in content if isinstance(content, list | tuple) else ():
        token, value = _part(one, "token"), _part(one, "logprob")
        if not (isinstance(token, str) and isinstance(value, int | float)):
            return
        pairs = [
            (_part(other, "token"), _part(other, "logprob"))
            for other in _part(one, "top_logprobs") or ()
        ]
        top = tuple(
            (str(other), float(chance))
            for other, chance in pairs
            if isinstance(chance, int | float)
        )
        yield TokenLogprob(token, float(value), top)


def _part(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def readable(
    fields: Mapping[str, Any],
    *,
    call: str = "",
    answer: ModelAnswer | None = None,
    ask: PromptRequest | None = None,
) -> ModelReply:
    """Return the reply for an answer that was read, unless it breaks off inside a number."""
    if answer is not None and answer.finish_reason == "length" and is_cut_off(answer.text):
        return unreadable("", call=call, answer=answer)
    if ask is None or ask.probabilities is None:
        return ModelReply(fields=fields, call=call, recorded=_is_recorded(answer))
    found = probabilities_in(answer, ask.probabilities, fields)
    return ModelReply(fields=fields, call=call, recorded=_is_recorded(answer), probabilities=found)


def unreadable(fault: object, *, call: str = "", answer: ModelAnswer | None = None) -> ModelReply:
    reason = Reason.UNREADABLE
    if answer is not None and answer.finish_reason in _ENDED:
        reason, fault = _ENDED[answer.finish_reason]
    cause = Cause(reason, f"the model's answer could not be read: {fault}")
    return ModelReply(cause=cause, call=call, recorded=_is_recorded(answer))


_ENDED = {
    "length": (Reason.CUT_OFF, "it was cut off at the model's limit of tokens."),
    "content_filter": (Reason.FILTERED, "the server's content filter stopped it."),
}


def _is_recorded(answer: ModelAnswer | None) -> bool:
    return answer is not None and answer.from_cache


def too_long(fault: Exception) -> ModelReply:
    """Return the reply for texts that the model's window does not hold; asking again is no use."""
    return ModelReply(cause=cause_of(fault, Reason.TOO_LONG), final=True)


HAPPENED: Mapping[Reason, str] = {
    Reason.OVER_BUDGET: "not asked",
    Reason.UNREACHABLE: "the model could not be reached",
    Reason.REFUSED: "the model refused the request",
    Reason.TOO_LONG: "the texts are longer than the model reads",
}
"""What became of a request that was not answered, in words."""


def cause_of(fault: Exception, reason: Reason = Reason.REFUSED) -> Cause:
    """Return why a request was not answered; a fault of ours has a reason of its own."""
    if isinstance(fault, BudgetSpent | ModelError):
        reason = fault.reason
    return Cause(reason, f"{HAPPENED[reason]}: {fault}", detail=str(fault))


def with_no_probabilities(reply: ModelReply, ask: PromptRequest, reason: str) -> ModelReply:
    if ask.probabilities is None or reply.fields is None:
        return reply
    return replace(reply, probabilities=without_probabilities(ask.probabilities, reason))


def all_or_fault(said: Sequence[ModelReply | BaseException]) -> tuple[ModelReply, ...]:
    """Return the replies to questions asked at once, or raise the fault of one."""
    faults = [one for one in said if isinstance(one, BaseException)]
    for fault in faults:
        if not speaks_of_one_item(fault):
            raise fault
    if faults:
        raise faults[0]
    return tuple(one for one in said if isinstance(one, ModelReply))


Found = TypeVar("Found")


def answered(steps: RequestProgram[Found], reply: Callable[[PromptRequest], ModelReply]) -> Found:
    """Return what steps come to whose questions are answered one after the other."""
    try:
        asked = next(steps)
        while True:
            said = reply(asked) if isinstance(asked, PromptRequest) else tuple(map(reply, asked))
            asked = steps.send(said)
    except StopIteration as end:
        found: Found = end.value
        return found


async def run_program(
    steps: RequestProgram[Found],
    reply: Callable[[PromptRequest], Awaitable[ModelReply]],
    note: Note | None = None,
) -> Found:
    """Return what steps come to; questions that do not wait for each other go out at once."""
    try:
        asked = next(steps)
        while True:
            if isinstance(asked, PromptRequest):
                asked = steps.send(await reply(asked))
            else:
                said = await asyncio.gather(*map(reply, asked), return_exceptions=True)
                asked = steps.send(all_or_fault(said))
    except StopIteration as end:
        found: Found = end.value
        return with_note(found, note)


def with_note(found: Found, note: Note | None) -> Found:
    """Return a judgement, or several, with a note, once; anything else as it is."""
    if note is None:
        return found
    given: Any = found
    if isinstance(given, list):
        given = [with_note(one, note) for one in given]
    elif isinstance(given, Judgement) and note not in given.notes:
        given = given.model_copy(update={"notes": (*given.notes, note)})
    value: Found = given
    return value


_SETTINGS = SamplingSettings(temperature=None, max_tokens=1, logprobs=0)
_PROBE = ("The cat sat down on the", " mat.")
_TOLD: WeakSet[LMClient] = WeakSet()


def check_scores_texts(lm: dspy.LM) -> None:
    """Refuse a model that has no way to say how likely a given text is; nothing is asked."""
    client = lm_client_of(lm)
    if client is None or not getattr(client.engine, "scores_texts", False):
        raise unscoring(str(lm.model), "there is no such call for models of this kind")


def text_request(model: str, template: Template, ask: PromptRequest) -> ModelRequest:
    """Return what asks for the log-probabilities of ``ask.continuation``."""
    return ModelRequest(
        model=model,
        prefix=template.prefix(),
        user=template.render(ask.inputs),
        settings=_SETTINGS,
        continuation=ask.continuation,
    )


async def text_reply(client: LMClient, request: ModelRequest, waiting: Waiting) -> ModelReply:
    """Return the log-probabilities of a text, by ``logprobs``."""
    if client not in _TOLD and not isinstance(client.engine, PureEngine):
        try:
            prompt, continuation = _PROBE
            probe = replace(request, prefix=Prefix(), user=prompt, continuation=continuation)
            await client.complete(probe, waiting=waiting)
        except ModelError as fault:
            # It speaks of the endpoint, not of one item, unless it may pass.
            passes = isinstance(fault, TransientModelError)
            raise (fault if passes else ModelError(str(fault))) from None
        _TOLD.add(client)
    try:
        answer = await client.complete(request, waiting=waiting)
    except ContextWindowExceeded as fault:
        return too_long(fault)
    call = client.identity(request).hex()
    if not answer.logprobs:
        problem = "the tokens that came back do not spell the text, so none of their numbers counts"
        return ModelReply(cause=Cause(Reason.UNREADABLE, problem), call=call, final=True)
    return ModelReply(fields={"logprobs": tuple(one.logprob for one in answer.logprobs)}, call=call)

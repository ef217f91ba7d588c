"""What a model's answer is as the reply to a question, with its probabilities."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from judgesmith.programs.judging.logprobs import AnswerProbabilities, answer_probabilities
from judgesmith.programs.judging.parsing import is_cut_off, place_of_answer, places_in_records
from judgesmith.programs.judging.program import AnySteps, Ask, ProbabilitiesOf, Reply
from judgesmith.programs.judging.prompts import Template
from judgesmith.programs.lm import (
    ContextWindowExceeded,
    ModelError,
    ModelRequest,
    Prefix,
    PureEngine,
    Settings,
    Stack,
    stack_of,
)
from judgesmith.programs.lm.errors import TransientModelError, speaks_of_one_item, unscoring
from judgesmith.programs.lm.records import ModelAnswer, TokenLogprob
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import whole

if TYPE_CHECKING:
    import dspy


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
    """Return the record of a reply that has none of the probabilities that were wanted."""
    return {name: AnswerProbabilities.none(reason) for name in wanted.names}


def probabilities_in(
    answer: ModelAnswer | None, wanted: ProbabilitiesOf, fields: Mapping[str, Any]
) -> FoundProbabilities:
    """Return the probabilities that are wanted of an answer."""
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
    """Return where a stretch of a text begins in the joined tokens, which may differ elsewhere."""
    if joined.startswith(text[:end]):
        return start
    for n_before in _ANCHORS:
        first = max(0, start - n_before)
        if joined.count(text[first:end]) == 1:
            return joined.index(text[first:end]) + start - first
    return None


def _said(wanted: ProbabilitiesOf, fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the answers that were read, as they would be written, by name."""
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
    ask: Ask | None = None,
) -> Reply:
    """Return the reply for an answer that was read, unless it breaks off inside a number."""
    if answer is not None and answer.finish_reason == "length" and is_cut_off(answer.text):
        return unreadable("", call=call, answer=answer)
    if ask is None or ask.probabilities is None:
        return Reply(fields=fields, call=call, recorded=_is_recorded(answer))
    found = probabilities_in(answer, ask.probabilities, fields)
    return Reply(fields=fields, call=call, recorded=_is_recorded(answer), probabilities=found)


def unreadable(fault: object, *, call: str = "", answer: ModelAnswer | None = None) -> Reply:
    """Return the reply for an answer that could not be read."""
    if answer is not None and answer.finish_reason == "length":
        fault = "it was cut off at the model's limit of tokens."
    elif answer is not None and answer.finish_reason == "content_filter":
        fault = "the server's content filter stopped it."
    problem = f"the model's answer could not be read: {fault}"
    return Reply(problem=problem, call=call, recorded=_is_recorded(answer))


def _is_recorded(answer: ModelAnswer | None) -> bool:
    return answer is not None and answer.from_ledger


def too_long(fault: Exception) -> Reply:
    """Return the reply for texts that the model's window does not hold; asking again is no use."""
    return Reply(problem=f"the texts are longer than the model reads: {fault}", final=True)


def lacking(reply: Reply, ask: Ask, reason: str) -> Reply:
    """Return a reply with the reason why it has none of the probabilities that were asked for."""
    if ask.probabilities is None or reply.fields is None:
        return reply
    return replace(reply, probabilities=without_probabilities(ask.probabilities, reason))


def all_or_fault(said: Sequence[Reply | BaseException]) -> tuple[Reply, ...]:
    """Return the replies to questions asked at once, or raise the fault of one."""
    faults = [one for one in said if isinstance(one, BaseException)]
    for fault in faults:
        if not speaks_of_one_item(fault):
            raise fault
    if faults:
        raise faults[0]
    return tuple(one for one in said if isinstance(one, Reply))


Found = TypeVar("Found")


def answered(steps: AnySteps[Found], reply: Callable[[Ask], Reply]) -> Found:
    """Return what steps come to whose questions are answered one after the other."""
    try:
        asked = next(steps)
        while True:
            said = reply(asked) if isinstance(asked, Ask) else tuple(map(reply, asked))
            asked = steps.send(said)
    except StopIteration as end:
        found: Found = end.value
        return found


async def answered_at_once(
    steps: AnySteps[Found], reply: Callable[[Ask], Awaitable[Reply]]
) -> Found:
    """Return what steps come to; questions that do not wait for each other go out at once."""
    try:
        asked = next(steps)
        while True:
            if isinstance(asked, Ask):
                asked = steps.send(await reply(asked))
            else:
                said = await asyncio.gather(*map(reply, asked), return_exceptions=True)
                asked = steps.send(all_or_fault(said))
    except StopIteration as end:
        found: Found = end.value
        return found


_SETTINGS = Settings(temperature=None, max_tokens=1, logprobs=0)
_PROBE = ("The cat sat down on the", " mat.")
_TOLD: WeakSet[Stack] = WeakSet()


def check_scores_texts(lm: dspy.LM) -> None:
    """Refuse a model that has no way to say how likely a given text is; nothing is asked."""
    stack = stack_of(lm)
    if stack is None or not getattr(stack.engine, "scores_texts", False):
        raise unscoring(str(lm.model), "there is no such call for models of this kind")


def text_request(model: str, template: Template, ask: Ask) -> ModelRequest:
    """Return what asks for the log-probabilities of ``ask.continuation``."""
    return ModelRequest(
        model=model,
        prefix=template.prefix(),
        user=template.render(ask.inputs),
        settings=_SETTINGS,
        continuation=ask.continuation,
    )


async def text_reply(stack: Stack, request: ModelRequest) -> Reply:
    """Return the log-probabilities of a text, by ``logprobs``."""
    if _is_unknown(stack):
        try:
            await stack.complete(_probe(request))
        except ModelError as fault:
            raise _of_the_set_up(fault) from None
        _TOLD.add(stack)
    try:
        answer = await stack.complete(request)
    except ContextWindowExceeded as fault:
        return too_long(fault)
    return _reply(stack, request, answer)


def text_reply_sync(stack: Stack, request: ModelRequest) -> Reply:
    """Do the same as ``text_reply`` for a caller without an event loop."""
    if _is_unknown(stack):
        try:
            stack.complete_sync(_probe(request))
        except ModelError as fault:
            raise _of_the_set_up(fault) from None
        _TOLD.add(stack)
    try:
        answer = stack.complete_sync(request)
    except ContextWindowExceeded as fault:
        return too_long(fault)
    return _reply(stack, request, answer)


def _is_unknown(stack: Stack) -> bool:
    return stack not in _TOLD and not isinstance(stack.engine, PureEngine)


def _probe(request: ModelRequest) -> ModelRequest:
    prompt, continuation = _PROBE
    return ModelRequest(
        model=request.model,
        prefix=Prefix(),
        user=prompt,
        settings=request.settings,
        continuation=continuation,
    )


def _of_the_set_up(fault: ModelError) -> ModelError:
    """Return a fault that speaks of the endpoint, not of one item; passing ones as they are."""
    return fault if isinstance(fault, TransientModelError) else ModelError(str(fault))


def _reply(stack: Stack, request: ModelRequest, answer: ModelAnswer) -> Reply:
    call = stack.identity(request).hex()
    if not answer.logprobs:
        problem = "the tokens that came back do not spell the text, so none of their numbers counts"
        return Reply(problem=problem, call=call, final=True)
    return Reply(fields={"logprobs": tuple(one.logprob for one in answer.logprobs)}, call=call)

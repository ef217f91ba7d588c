"""What a model's answer is as the reply to a question: readable, unreadable, or too much to ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from judgesmith.programs.answers import is_cut_off
from judgesmith.programs.judging import Ask, Reply
from judgesmith.programs.models import ModelAnswer
from judgesmith.programs.models.errors import speaks_of_one_item
from judgesmith.programs.reply_probabilities import probabilities_in, without_probabilities


def readable(
    fields: Mapping[str, Any],
    *,
    call: str = "",
    answer: ModelAnswer | None = None,
    ask: Ask | None = None,
) -> Reply:
    """Return the reply for an answer that was read, unless it breaks off inside a number.

    Parameters
    ----------
    fields : dict
        Output fields by name, as they were read.
    call : str
        Identity of the model call, hexadecimal; empty where it is unknown.
    answer : ModelAnswer or None
        As it came; None where the model does not show it.
    ask : Ask or None
        The question, of whose answers it may want the probabilities.
    """
    if answer is not None and answer.finish_reason == "length" and is_cut_off(answer.text):
        return unreadable("", call=call, answer=answer)
    if ask is None or ask.probabilities is None:
        return Reply(fields=fields, call=call, recorded=_is_recorded(answer))
    found = probabilities_in(answer, ask.probabilities, fields)
    return Reply(fields=fields, call=call, recorded=_is_recorded(answer), probabilities=found)


def unreadable(fault: object, *, call: str = "", answer: ModelAnswer | None = None) -> Reply:
    """Return the reply for an answer that could not be read.

    Examples
    --------
    >>> unreadable("it has no score.").problem
    "the model's answer could not be read: it has no score."
    >>> unreadable("", answer=ModelAnswer(text="[[ ##", finish_reason="length")).problem
    "the model's answer could not be read: it was cut off at the model's limit of tokens."
    """
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
    """Return the replies to questions asked at once, or raise the fault of one.

    One that does not speak of this item alone, such as a wrong key, comes before all others.
    """
    faults = [one for one in said if isinstance(one, BaseException)]
    for fault in faults:
        if not speaks_of_one_item(fault):
            raise fault
    if faults:
        raise faults[0]
    return tuple(one for one in said if isinstance(one, Reply))

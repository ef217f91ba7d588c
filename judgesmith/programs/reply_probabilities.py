"""The probabilities that an ``Ask`` wants, as the model's answer gives them, or why it has none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from judgesmith.programs.answer_places import place_of_answer, places_in_records
from judgesmith.programs.answer_probabilities import AnswerProbabilities, answer_probabilities
from judgesmith.programs.judging import ProbabilitiesOf
from judgesmith.programs.models.errors import TransientModelError
from judgesmith.programs.models.request import ModelAnswer, TokenLogprob
from judgesmith.signatures.points import whole
from judgesmith.signatures.rubric import folded

_ABOUT_LOGPROBS = re.compile(r"(?i)log.?prob")
_REFUSING = (None, 400, 422)  # statuses that a setting is refused with
_ANCHORS = (80, 20)  # characters before an answer by which it is found among the tokens

Found = Mapping[str, AnswerProbabilities]


def refusal_of(fault: Exception) -> str | None:
    """Return what an endpoint says that refuses log-probabilities; None for other faults.

    Examples
    --------
    >>> from judgesmith.programs.models import ModelError
    >>> refusal_of(ModelError("m: logprobs is not supported (HTTP 400)", status=400))
    'the endpoint refuses log-probabilities: m: logprobs is not supported (HTTP 400)'
    >>> refusal_of(ModelError("m: no credit (HTTP 402)", status=402)) is None
    True
    """
    said = " ".join(str(fault).split())
    refused = getattr(fault, "status", None) in _REFUSING and _ABOUT_LOGPROBS.search(said)
    if isinstance(fault, TransientModelError) or not refused:
        return None
    return f"the endpoint refuses log-probabilities: {said[:300]}"


def without_probabilities(wanted: ProbabilitiesOf, reason: str) -> Found:
    """Return the record of a reply that has none of the probabilities that were wanted."""
    return {name: AnswerProbabilities.none(reason) for name in wanted.names}


def probabilities_in(
    answer: ModelAnswer | None, wanted: ProbabilitiesOf, fields: Mapping[str, Any]
) -> Found:
    """Return the probabilities that are wanted of an answer.

    Parameters
    ----------
    answer : ModelAnswer or None
        As it came; None where the model does not show it.
    wanted : ProbabilitiesOf
        Of what.
    fields : dict
        What was read from the answer: probabilities are given of what was read, or not at all.
    """
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
    """Return an answer made of the log-probabilities in a prediction; None without any.

    For models that are not ours, of which DSPy hands on tokens but not the text.
    """
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

"""The steps of a judge that compares: all responses to a source, ranked.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

from judgesmith.programs.critic_questions import criteria_text
from judgesmith.programs.effort import Effort
from judgesmith.programs.judging import AnySteps, Steps
from judgesmith.programs.pair_ranking import (
    Comparisons,
    Unanswered,
    every_pair,
    merge_ranked,
    most_merge_comparisons,
    shared_ranks,
    win_rates,
)
from judgesmith.programs.preference import COMPARE, Preference, preference_steps, unsendable
from judgesmith.programs.question_forms import QuestionForm
from judgesmith.programs.weighing import OVERALL
from judgesmith.signatures.judgement import Judgement, Weighting
from judgesmith.signatures.pairs import PairsProtocol
from judgesmith.signatures.scale import Scale

ALONE = "a response is ranked among the others to its source, and there are none"
"""Why a response without others has no score."""

USUAL = 16
"""Responses to a source that an estimate of calls assumes."""

_ENDS = Scale.categorical("worst", "best")
_FORM = QuestionForm(
    texts=("source", "context", "response_a", "response_b"), outputs=({"better": "points"},)
)


def pair_forms(protocol: PairsProtocol) -> dict[str, QuestionForm]:
    """Return the one question: which of two responses is better."""
    return {COMPARE: _FORM}


def pair_inputs(protocol: PairsProtocol) -> dict[str, str]:
    """Return the inputs of the question that are the same for every pair, by field."""
    rubric = protocol.rubric
    fixed = {"task": rubric.task} if rubric.task else {}
    if rubric.criteria:
        fixed["criteria"] = criteria_text(rubric, _ENDS)
    return fixed


def lone_steps(
    protocol: PairsProtocol, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Say of one response by itself that it cannot be ranked; nothing is asked."""
    yield from ()
    return Judgement.unscored(ALONE)


def usual_calls(protocol: PairsProtocol) -> int:
    """Return how many calls a response takes where its source has ``USUAL`` of them.

    Without uncertain comparisons, of which each may add others.

    Examples
    --------
    >>> usual_calls(PairsProtocol()), usual_calls(PairsProtocol(ranking="all"))
    (7, 15)
    """
    return -(-usual_comparisons(protocol, USUAL) * 2 * protocol.samples // USUAL)


def usual_comparisons(protocol: PairsProtocol, n: int) -> int:
    """Return how many comparisons ``n`` responses take, without uncertain ones."""
    return most_comparisons(n) if protocol.ranking == "all" else most_merge_comparisons(n)


def most_comparisons(n: int) -> int:
    """Return how many pairs ``n`` responses have: no ranking compares any twice."""
    return n * (n - 1) // 2


def most_calls(protocol: PairsProtocol, n: int) -> int:
    """Return how many calls ``n`` responses to a source take at most, if every answer is read.

    Examples
    --------
    >>> most_calls(PairsProtocol(), 4), most_calls(PairsProtocol(beam=1), 4)
    (12, 10)
    """
    # Without doubt an even comparison is followed both ways all the same.
    plain = protocol.ranking == "beam" and protocol.beam == 1
    n_pairs = most_merge_comparisons(n) if plain else most_comparisons(n)
    return n_pairs * 2 * protocol.samples


def pair_efforts(protocol: PairsProtocol, n: int) -> dict[str, Effort]:
    """Return how often two of ``n`` responses to a source are compared; see ``most_calls``."""
    found = Effort.each(most_calls(protocol, n))
    return {COMPARE: replace(found, usual=usual_comparisons(protocol, n) * 2 * protocol.samples)}


def source_steps(
    protocol: PairsProtocol,
    *,
    source: str,
    context: str | None,
    responses: Sequence[str],
) -> AnySteps[list[Judgement]]:
    """Rank the responses to one source: a generator of questions that returns judgements.

    Equal responses are compared as one and share its rank. Which are compared, and which is shown
    first, follows from what they say, so that their order changes nothing. A response that no
    model can receive is unscored, and the others are ranked without it.

    Parameters
    ----------
    protocol : PairsProtocol
        How they are compared and ranked.
    source, context : str
        What was answered.
    responses : sequence of str
        All responses to it.

    Returns
    -------
    list of Judgement
        One per response, in order. ``score`` is 100 for the best and 0 for the worst: with
        ``beam`` by rank, with ``all`` the mean probability of being better than another one.
    """
    faults = [
        unsendable({"source": source, "context": context, "response": one}) for one in responses
    ]
    sendable = [one for one, fault in zip(responses, faults, strict=True) if fault is None]
    if len(sendable) < 2:
        return [Judgement.unscored(fault or ALONE) for fault in faults]
    texts = sorted(set(sendable), key=_content)
    place_of = {text: place for place, text in enumerate(texts)}

    def compare(one: int, other: int) -> AnySteps[Preference]:
        return preference_steps(
            protocol, source=source, first=texts[one], second=texts[other], context=context
        )

    comparisons = Comparisons(compare)
    found = yield from _scores(protocol, len(texts), comparisons)
    judgements = []
    asked_for: set[int] = set()
    for text, fault in zip(responses, faults, strict=True):
        if fault is not None:
            judgements.append(Judgement.unscored(fault))
            continue
        place = place_of[text]
        calls = () if place in asked_for else _calls(place, comparisons)
        asked_for.add(place)
        judgements.append(_judgement(protocol, found[place], comparisons, calls))
    return judgements


def _content(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _scores(
    protocol: PairsProtocol, n: int, comparisons: Comparisons
) -> Generator[Any, Any, dict[int, tuple[float, str] | str]]:
    """Return score and explanation of each text, or why it has none."""
    if n == 1:
        return {0: (50.0, "all responses to the source say the same")}
    if protocol.ranking == "all":
        yield from comparisons.all_of(every_pair(n))
        return {
            place: rate
            if isinstance(rate, str)
            else (100 * rate, f"better than {rate * (n - 1):.1f} of {n - 1} others")
            for place, rate in win_rates(n, comparisons).items()
        }
    try:
        order = yield from merge_ranked(
            tuple(range(n)), comparisons, beam=protocol.beam, doubt=protocol.doubt
        )
    except Unanswered as fault:
        return dict.fromkeys(range(n), f"the responses to the source have no ranking: {fault}")
    ranks = shared_ranks(order, comparisons)
    made = f"by {len(comparisons.made)} comparisons"
    return {
        place: (100 * (n - rank) / (n - 1), f"rank {rank:g} of {n}, {made}")
        for place, rank in ranks.items()
    }


def _calls(place: int, comparisons: Comparisons) -> tuple[str, ...]:
    """Return the calls in which a text is shown first: every call belongs to one text."""
    found: list[str] = []
    for (one, other), preference in sorted(comparisons.made.items()):
        if place == one:
            found += preference.given.calls
        elif place == other:
            found += preference.swapped.calls
    return tuple(found)


def _judgement(
    protocol: PairsProtocol,
    found: tuple[float, str] | str,
    comparisons: Comparisons,
    calls: tuple[str, ...],
) -> Judgement:
    if isinstance(found, str):
        return Judgement.unscored(found, calls=calls)
    score, explanation = found
    how = _weighting(protocol, score, comparisons)
    weighting = {} if how is None else {OVERALL: how}
    return Judgement(
        score=score, raw=score, explanation=explanation, calls=calls, weighting=weighting
    )


def _weighting(protocol: PairsProtocol, score: float, comparisons: Comparisons) -> Weighting | None:
    """Return what the comparisons of a source rest on, where probabilities were to be used."""
    if protocol.weighting == "none":
        return None
    orders = [
        one
        for found in comparisons.made.values()
        for one in (found.given, found.swapped)
        if one.probability is not None
    ]
    if not orders:
        return None
    mass = min(one.mass for one in orders)
    without = [one for one in orders if one.mode != "probabilities"]
    if not without:
        return Weighting(mode="probabilities", stated=score, mass=mass)
    n = protocol.samples if without[0].mode == "samples" else 0
    reason = next((one.reason for one in without if one.reason), "")
    return Weighting(mode=without[0].mode, stated=score, mass=mass, reason=reason, n=n)

"""The steps of a judge that compares: all responses to a source, ranked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import log
from typing import Any

from judgesmith.programs.families.steps.preference import (
    COMPARE,
    Preference,
    preference_steps,
    unsendable,
)
from judgesmith.programs.judging.logprobs import OVERALL
from judgesmith.programs.judging.program import AnySteps, Steps, together
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.registry import Effort
from judgesmith.programs.judging.scoring import criteria_text
from judgesmith.signatures.family_configs import PairwiseConfig
from judgesmith.signatures.judgement import Judgement, Weighting
from judgesmith.signatures.scale import Scale

Compare = Callable[[int, int], AnySteps[Preference]]
"""Takes the places of two texts, the lower one first, and returns the steps of comparing them."""

_LEAST = 1e-6  # probability of an answer that a model calls impossible
_EVEN = 1e-9  # how far from one half rounding may put a comparison that is even


class Unanswered(Exception):  # noqa: N818 - says what happened
    """A comparison that the ranking needs has no answer; the message says why."""


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Comparisons of the texts to one source, each carried out once."""

    compare: Compare
    made: dict[tuple[int, int], Preference] = field(default_factory=dict)

    def all_of(self, pairs: set[tuple[int, int]]) -> AnySteps[None]:
        """Carry out those of the comparisons that were not, all at once."""
        wanted = sorted({_ordered(pair) for pair in pairs} - set(self.made))
        found = yield from together([self.compare(*pair) for pair in wanted])
        self.made.update(zip(wanted, found, strict=True))

    def chance(self, one: int, other: int) -> float:
        """Return the probability that ``one`` is better than ``other``."""
        found = self.made[_ordered((one, other))]
        if found.probability is None:
            raise Unanswered(str(found.problem))
        return found.probability if one < other else 1 - found.probability


def _ordered(pair: tuple[int, int]) -> tuple[int, int]:
    one, other = pair
    return (one, other) if one < other else (other, one)


@dataclass(frozen=True, slots=True)
class _Path:
    """A merge under way: what it has put in order, what is left of both runs, what it followed."""

    merged: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]
    total: float = 0.0
    n: int = 0

    @property
    def heads(self) -> tuple[int, int] | None:
        """The two texts to compare next; None where one run is used up."""
        return (self.first[0], self.second[0]) if self.first and self.second else None

    @property
    def likelihood(self) -> float:
        """The mean logarithm of the probabilities of the answers that it follows."""
        return self.total / self.n if self.n else 0.0

    def further(self, comparisons: Comparisons, doubt: float) -> list[_Path]:
        """Return the path with its next text; both ways where the comparison is uncertain."""
        if self.heads is None:
            rest = self.first or self.second
            merged = (*self.merged, rest[0])
            return [_Path(merged, self.first[1:], self.second[1:], self.total, self.n)]
        chance = comparisons.chance(*self.heads)
        ways = []
        if chance >= 0.5 - doubt:
            merged = (*self.merged, self.first[0])
            total = self.total + log(max(chance, _LEAST))
            ways.append(_Path(merged, self.first[1:], self.second, total, self.n + 1))
        if chance <= 0.5 + doubt:
            merged = (*self.merged, self.second[0])
            total = self.total + log(max(1 - chance, _LEAST))
            ways.append(_Path(merged, self.first, self.second[1:], total, self.n + 1))
        return ways


def merge_ranked(
    places: tuple[int, ...], comparisons: Comparisons, *, beam: int, doubt: float
) -> AnySteps[tuple[int, ...]]:
    """Return texts from best to worst, by a merge sort with a beam of rankings in every merge."""
    if len(places) < 2:
        return places
    middle = len(places) // 2
    halves = (places[:middle], places[middle:])
    first, second = yield from together(
        [merge_ranked(half, comparisons, beam=beam, doubt=doubt) for half in halves]
    )
    uncertain = doubt if beam > 1 else 0.0
    paths = [_Path((), first, second)]
    for _ in places:
        yield from comparisons.all_of({path.heads for path in paths if path.heads is not None})
        further = [way for path in paths for way in path.further(comparisons, uncertain)]
        # Equally likely ones stand in the order of the texts, which is that of their contents.
        further.sort(key=lambda path: (-round(path.likelihood, 12), path.merged))
        paths = further[:beam]
    return paths[0].merged


def shared_ranks(order: tuple[int, ...], comparisons: Comparisons) -> dict[int, float]:
    """Return the rank of each text, 1 for the best; neighbours that are even share theirs."""
    groups: list[list[int]] = []
    for place in order:
        if groups and abs(comparisons.chance(groups[-1][-1], place) - 0.5) <= _EVEN:
            groups[-1].append(place)
        else:
            groups.append([place])
    ranks: dict[int, float] = {}
    above = 0
    for group in groups:
        ranks |= dict.fromkeys(group, above + (len(group) + 1) / 2)
        above += len(group)
    return ranks


def win_rates(n: int, comparisons: Comparisons) -> Mapping[int, float | str]:
    """Return the mean probability of each of ``n`` texts to be better than another one."""
    found: dict[int, float | str] = {}
    for place in range(n):
        others = [other for other in range(n) if other != place]
        try:
            chances = [comparisons.chance(place, other) for other in others]
        except Unanswered as fault:
            found[place] = str(fault)
            continue
        found[place] = sum(chances) / len(chances)
    return found


def every_pair(n: int) -> set[tuple[int, int]]:
    """Return all pairs of ``n`` places."""
    return set(combinations(range(n), 2))


def most_merge_comparisons(n: int) -> int:
    """Return how many comparisons a merge sort of ``n`` texts needs at most, with a beam of 1."""
    rounds = (n - 1).bit_length() if n > 1 else 0
    return n * rounds - (1 << rounds) + 1


ALONE = "a response is ranked among the others to its source, and there are none"
"""Why a response without others has no score."""

USUAL = 16
"""Responses to a source that an estimate of calls assumes."""

_ENDS = Scale.categorical("worst", "best")
_FORM = QuestionForm(
    texts=("source", "context", "response_a", "response_b"), outputs=({"better": "points"},)
)


def pair_forms(protocol: PairwiseConfig) -> dict[str, QuestionForm]:
    """Return the one question: which of two responses is better."""
    return {COMPARE: _FORM}


def pair_inputs(protocol: PairwiseConfig) -> dict[str, str]:
    """Return the inputs of the question that are the same for every pair, by field."""
    rubric = protocol.rubric
    fixed = {"task": rubric.task} if rubric.task else {}
    if rubric.criteria:
        fixed["criteria"] = criteria_text(rubric, _ENDS)
    return fixed


def lone_steps(
    protocol: PairwiseConfig, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Say of one response by itself that it cannot be ranked; nothing is asked."""
    yield from ()
    return Judgement.unscored(ALONE)


def usual_calls(protocol: PairwiseConfig) -> int:
    """Return how many calls a response takes where its source has ``USUAL`` of them."""
    return -(-usual_comparisons(protocol, USUAL) * 2 * protocol.samples // USUAL)


def usual_comparisons(protocol: PairwiseConfig, n: int) -> int:
    """Return how many comparisons ``n`` responses take, without uncertain ones."""
    return most_comparisons(n) if protocol.ranking == "all" else most_merge_comparisons(n)


def most_comparisons(n: int) -> int:
    """Return how many pairs ``n`` responses have: no ranking compares any twice."""
    return n * (n - 1) // 2


def most_calls(protocol: PairwiseConfig, n: int) -> int:
    """Return how many calls ``n`` responses to a source take at most, if every answer is read."""
    # Without doubt an even comparison is followed both ways all the same.
    plain = protocol.ranking == "beam" and protocol.beam == 1
    n_pairs = most_merge_comparisons(n) if plain else most_comparisons(n)
    return n_pairs * 2 * protocol.samples


def pair_efforts(protocol: PairwiseConfig, n: int) -> dict[str, Effort]:
    """Return how often two of ``n`` responses to a source are compared; see ``most_calls``."""
    found = Effort.each(most_calls(protocol, n))
    return {COMPARE: replace(found, usual=usual_comparisons(protocol, n) * 2 * protocol.samples)}


def source_steps(
    protocol: PairwiseConfig,
    *,
    source: str,
    context: str | None,
    responses: Sequence[str],
) -> AnySteps[list[Judgement]]:
    """Rank the responses to one source: a generator of questions that returns judgements."""
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
    protocol: PairwiseConfig, n: int, comparisons: Comparisons
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
    protocol: PairwiseConfig,
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


def _weighting(
    protocol: PairwiseConfig, score: float, comparisons: Comparisons
) -> Weighting | None:
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

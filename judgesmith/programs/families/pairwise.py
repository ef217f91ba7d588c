"""The pairwise judge: preferences between two responses, and rankings of many."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import log
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, FiniteFloat, model_validator

from judgesmith.errors import InputError
from judgesmith.programs.judging import program
from judgesmith.programs.judging.executors import Executor, JudgeLike, with_own_models
from judgesmith.programs.judging.logprobs import OVERALL
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.registry import Effort, JudgeFamily
from judgesmith.programs.judging.runner import (
    CONCURRENCY,
    StepsWork,
    beginning,
    read_rate_of,
    work_each,
)
from judgesmith.programs.judging.scoring import criteria_text, told_rubric, unsendable
from judgesmith.results.progress import OnProgress, staged
from judgesmith.signatures.aggregation import Aggregation
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Cause, Judgement, Reason, Weighting
from judgesmith.signatures.scale import PREFERENCES, Scale, levels_of, percent_of
from judgesmith.signatures.space import Choice, Rubrics, Space, field_choice, rubric_choice

if TYPE_CHECKING:
    import dspy


class PairwiseConfig(JudgeConfig):
    """The configuration of a pairwise judge."""

    judge: Literal["pairs"] = "pairs"
    ranking: Literal["beam", "all"] = "beam"
    beam: int = Field(default=8, ge=1, le=64)
    doubt: FiniteFloat = Field(default=0.1, ge=0.0, le=0.5)
    answers: Scale = PREFERENCES
    weighting: Literal["none", "probabilities"] = "probabilities"

    @model_validator(mode="after")
    def _compares(self) -> Self:
        if self.answers != PREFERENCES:
            raise InputError(
                f"a comparison is answered with {', '.join(reversed(PREFERENCES.labels))}; got "
                f"{self.answers}."
            )
        if self.aggregation != Aggregation():
            raise InputError(
                "a pairs judge has no aggregation: ranks within a source cannot be weighed.",
                hint="leave the aggregation as it is.",
            )
        return self

    @property
    def own_score(self) -> str:
        return "the rank among the responses to the same source"


COMPARE = "compare"  # the question
_LEVELS = levels_of(PREFERENCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOrder:
    """A judge's answer about two responses in one order."""

    probability: float | None = None
    stated: float | None = None
    mode: Literal["probabilities", "samples", "stated"] = "stated"
    mass: float = 0.0
    reason: str = ""
    cause: Cause | None = None
    calls: tuple[str, ...] = ()

    @property
    def problem(self) -> str | None:
        return None if self.cause is None else self.cause.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """A judge's preference between two responses to a source, from both orders.

    Attributes
    ----------
    given, swapped : OneOrder
        With the first response shown first, and with the second.

    Examples
    --------
    Whatever is shown first wins: the orders disagree, and together they say nothing.

    >>> given = OneOrder(probability=0.9, stated=1.0)
    >>> found = Preference(given=given, swapped=OneOrder(probability=0.1, stated=0.0))
    >>> found.probability, found.disagree, found.first_place
    (0.5, True, 0.4)
    """

    given: OneOrder
    swapped: OneOrder

    @property
    def probability(self) -> float | None:
        """The probability that the first is better, the mean of both orders; None without one."""
        if self.given.probability is None or self.swapped.probability is None:
            return None
        return (self.given.probability + self.swapped.probability) / 2

    @property
    def disagree(self) -> bool | None:
        """Whether the stated answers of the two orders differ; None where one has none."""
        if self.given.stated is None or self.swapped.stated is None:
            return None
        return self.given.stated != self.swapped.stated

    @property
    def first_place(self) -> float | None:
        """By how much being shown first adds to the probability of winning, -0.5 to 0.5."""
        if self.given.probability is None or self.swapped.probability is None:
            return None
        return (self.given.probability - self.swapped.probability) / 2

    @property
    def cause(self) -> Cause | None:
        """Why an order has no answer; None if both have one."""
        return self.given.cause or self.swapped.cause

    @property
    def problem(self) -> str | None:
        """The same in one sentence."""
        return None if self.cause is None else self.cause.text

    @property
    def calls(self) -> tuple[str, ...]:
        """Identities of the model calls behind it."""
        return (*self.given.calls, *self.swapped.calls)

    @classmethod
    def unanswered(cls, cause: Cause) -> Preference:
        """Return the preference of a pair without an answer, with the cause."""
        none = OneOrder(cause=cause)
        return cls(given=none, swapped=none)


def pair_steps(protocol: PairwiseConfig, pair: ResponsePair) -> program.RequestProgram[Preference]:
    """Ask which of two responses is better, in both orders at once."""
    shared = {"source": pair.source, "context": pair.context}
    both = (pair.first, pair.second), (pair.second, pair.first)
    named = {"first response": pair.first, "second response": pair.second}
    if fault := unsendable({**shared, **named}):
        return Preference.unanswered(fault)
    orders = [{**shared, "response_a": a, "response_b": b} for a, b in both]
    given, swapped = yield from program.gather([_one_order(protocol, one) for one in orders])
    return Preference(given=given, swapped=_turned(swapped))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """One answer to a comparison: the probability that the first text is better."""

    stated: float
    chance: float | None = None
    mass: float = 0.0
    reason: str = ""


def _one_order(
    protocol: PairwiseConfig, inputs: Mapping[str, str | None]
) -> program.RequestProgram[OneOrder]:
    """Return the answer about the first text, reduced over all samples."""
    wanted = None
    if protocol.weighting == "probabilities":
        wanted = program.ProbabilitiesOf(field="better", answers=tuple(_LEVELS))

    several = [program.Calls() for _ in range(protocol.samples)]

    def sampled(sample: int, calls: program.Calls) -> program.RequestProgram[_Answer | Cause]:
        ask = program.PromptRequest(
            predictor=COMPARE, inputs=inputs, sample=sample, probabilities=wanted
        )
        again = protocol.samples + sample
        return program.asked(ask, lambda fields: _answered(fields, calls), again=again, calls=calls)

    found = yield from program.gather([sampled(*one) for one in enumerate(several)])
    made = tuple(call for calls in several for call in calls.made)
    answers = [one for one in found if not isinstance(one, Cause)]
    if not answers:
        first = next(one for one in found if isinstance(one, Cause))
        cause = replace(first, text=f"a comparison has no answer: {first}")
        return OneOrder(cause=cause, calls=made)
    return _together(answers, made)


def _answered(fields: Mapping[str, Any], calls: program.Calls) -> _Answer:
    stated = percent_of(fields["better"], PREFERENCES) / 100
    found = None if calls.latest is None else calls.latest.probabilities.get("better")
    if found is None:
        return _Answer(stated=stated)
    if found.mode == "none":
        return _Answer(stated=stated, mass=found.mass, reason=found.reason)
    chance = sum(chance * _LEVELS[answer] for answer, chance in found.values.items()) / 100
    return _Answer(stated=stated, chance=chance, mass=found.mass)


def _together(answers: Sequence[_Answer], calls: tuple[str, ...]) -> OneOrder:
    often = fmean(one.stated for one in answers)
    found = OneOrder(
        probability=often,
        stated=0.5 if often == 0.5 else float(often > 0.5),
        mode="samples" if len(answers) > 1 else "stated",
        mass=min(one.mass for one in answers),
        calls=calls,
    )
    chances = [one.chance for one in answers if one.chance is not None]
    if len(chances) == len(answers):
        return replace(found, probability=fmean(chances), mode="probabilities")
    return replace(found, reason=next((one.reason for one in answers if one.reason), ""))


def _turned(found: OneOrder) -> OneOrder:
    return replace(
        found,
        probability=None if found.probability is None else 1 - found.probability,
        stated=None if found.stated is None else 1 - found.stated,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsePair:
    """Two responses to one source.

    Attributes
    ----------
    source, context, first, second : str
        The texts; ``context`` may be None.
    source_id, first_id, second_id : str
        What they are called; may be empty.
    """

    source: str
    first: str
    second: str
    context: str | None = None
    source_id: str = ""
    first_id: str = ""
    second_id: str = ""

    @classmethod
    def of(cls, first: RatedItem, second: RatedItem) -> ResponsePair:
        """Return the pair of two items' responses to the first one's source."""
        return cls(
            source=first.source,
            context=first.context,
            first=first.response,
            second=second.response,
            source_id=first.source_id,
            first_id=first.system_id,
            second_id=second.system_id,
        )


def compares(judge: JudgeLike) -> PairwiseConfig:
    """Return the configuration of a judge that compares; any other judge is refused."""
    if not isinstance(judge.protocol, PairwiseConfig):
        raise InputError(
            f"a {judge.protocol.judge} judge scores single responses and does not compare them.",
            hint="compile one with --judge pairs.",
        )
    return judge.protocol


def prefer_each(
    judge: JudgeLike,
    pairs: Iterable[ResponsePair],
    *,
    lm: dspy.LM | None = None,
    concurrency: int = CONCURRENCY,
    on_progress: OnProgress | None = None,
) -> Iterator[tuple[ResponsePair, Preference]]:
    """Yield pairs with what a judge prefers, in order, reading ``pairs`` only as far as needed.

    Parameters
    ----------
    judge : Pairs or SavedJudge
        A judge that compares. It is asked in both orders, in the words that it has or was saved
        with.
    pairs : iterable of ResponsePair
        What to compare.
    lm : dspy.LM or None
        The model; None takes DSPy's current one, or the offline model.
    concurrency : int
        Pairs compared at the same time.
    on_progress : callable or None
        Told of every ``ProgressEvent``.

    Raises
    ------
    ValueError
        If the judge does not compare responses.
    ModelError, CacheError
        As for ``score_batch``. A pair that the budget did not reach has no answer, and says so.

    Examples
    --------
    >>> from judgesmith.programs.families.modules import PairwiseJudge
    >>> pair = ResponsePair(source="It rained.", first="It rained.", second="It rained.")
    >>> [found.probability for _, found in prefer_each(PairwiseJudge(), [pair])]
    [0.5]
    """
    protocol = compares(judge)
    judge, lm = with_own_models(judge, lm)
    work = StepsWork[ResponsePair, Preference](
        Executor.of(judge, lm),
        lambda pair: pair_steps(protocol, pair),
        lambda pair, cause: Preference.unanswered(cause),
        readable=read_rate_of(lm),
        judged=lambda found: (as_read(found),),
    )
    return work_each(
        work,
        pairs,
        concurrency=concurrency,
        may_begin=beginning(2 * protocol.samples, lm),
        on_progress=staged(on_progress, "pairs"),
    )


def as_read(found: Preference) -> Judgement:
    """Return what was read of a pair: something if one order has an answer, or why nothing was."""
    if found.cause and found.given.stated is None and found.swapped.stated is None:
        return Judgement.unscored(found.cause, calls=found.calls)
    return Judgement(score=0.0)


Compare = Callable[[int, int], program.RequestProgram[Preference]]
"""Takes the places of two texts, the lower one first, and returns the steps of comparing them."""

_LEAST = 1e-6  # probability of an answer that a model calls impossible
_EVEN = 1e-9  # how far from one half rounding may put a comparison that is even


class Unanswered(Exception):  # noqa: N818 - says what happened
    """A comparison that the ranking needs has no answer, and why."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.text)
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Comparisons:
    """The comparisons of the responses to one source, each made once."""

    compare: Compare
    made: dict[tuple[int, int], Preference] = field(default_factory=dict)

    def all_of(self, pairs: set[tuple[int, int]]) -> program.RequestProgram[None]:
        wanted = sorted({_ordered(pair) for pair in pairs} - set(self.made))
        found = yield from program.gather([self.compare(*pair) for pair in wanted])
        self.made.update(zip(wanted, found, strict=True))

    def chance(self, one: int, other: int) -> float:
        """Return the probability that ``one`` is better than ``other``."""
        found = self.made[_ordered((one, other))]
        if found.cause is not None:
            raise Unanswered(found.cause)
        assert found.probability is not None  # as both orders have an answer
        return found.probability if one < other else 1 - found.probability


def _ordered(pair: tuple[int, int]) -> tuple[int, int]:
    return min(pair), max(pair)


@dataclass(frozen=True, slots=True)
class _Path:
    """A partial merge: the merged texts, the rest of both runs, and its log-likelihood."""

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
) -> program.RequestProgram[tuple[int, ...]]:
    """Return texts from best to worst, by a merge sort with a beam of rankings in every merge."""
    if len(places) < 2:
        return places
    middle = len(places) // 2
    halves = (places[:middle], places[middle:])
    first, second = yield from program.gather(
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


def win_rates(n: int, comparisons: Comparisons) -> Mapping[int, float | Cause]:
    """Return the mean probability of each of ``n`` texts to be better than another one."""
    found: dict[int, float | Cause] = {}
    for place in range(n):
        try:
            chances = [comparisons.chance(place, one) for one in range(n) if one != place]
            found[place] = sum(chances) / len(chances)
        except Unanswered as fault:
            found[place] = fault.cause
    return found


def most_merge_comparisons(n: int) -> int:
    """Return how many comparisons a merge sort of ``n`` texts needs at most, with a beam of 1."""
    rounds = (n - 1).bit_length() if n > 1 else 0
    return n * rounds - (1 << rounds) + 1


ALONE = Cause(
    Reason.UNSUITABLE, "a response is ranked among the others to its source, and there are none"
)
"""Why a response without others has no score."""

USUAL = 16  # responses to a source that an estimate of calls assumes
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
    fixed = told_rubric(rubric)
    if rubric.criteria:
        fixed["criteria"] = criteria_text(rubric, _ENDS)
    return fixed


def lone_steps(protocol: PairwiseConfig, item: RatedItem) -> program.JudgeProgram:
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
    protocol: PairwiseConfig, items: Sequence[RatedItem]
) -> program.RequestProgram[list[Judgement]]:
    """Rank the responses to one source: a generator of questions that returns judgements."""
    faults = [unsendable(one.texts) for one in items]
    sendable = [one.response for one, fault in zip(items, faults, strict=True) if fault is None]
    if len(sendable) < 2:
        return [Judgement.unscored(fault or ALONE) for fault in faults]
    texts = sorted(set(sendable), key=_content)
    place_of = {text: place for place, text in enumerate(texts)}

    def compare(one: int, other: int) -> program.RequestProgram[Preference]:
        own = items[0]
        pair = ResponsePair(
            source=own.source, context=own.context, first=texts[one], second=texts[other]
        )
        return pair_steps(protocol, pair)

    comparisons = Comparisons(compare)
    found = yield from _scores(protocol, len(texts), comparisons)
    judgements = []
    calls = {place: _calls(place, comparisons) for place in found}  # each belongs to one response
    for item, fault in zip(items, faults, strict=True):
        if fault is not None:
            judgements.append(Judgement.unscored(fault))
            continue
        place = place_of[item.response]
        own = calls.pop(place, ())
        judgements.append(_judgement(protocol, found[place], comparisons, own))
    return judgements


def _content(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _scores(
    protocol: PairwiseConfig, n: int, comparisons: Comparisons
) -> Generator[Any, Any, dict[int, tuple[float, str] | Cause]]:
    if n == 1:
        return {0: (50.0, "all responses to the source say the same")}
    if protocol.ranking == "all":
        yield from comparisons.all_of(set(combinations(range(n), 2)))
        return {
            place: rate
            if isinstance(rate, Cause)
            else (100 * rate, f"better than {rate * (n - 1):.1f} of {n - 1} others")
            for place, rate in win_rates(n, comparisons).items()
        }
    try:
        order = yield from merge_ranked(
            tuple(range(n)), comparisons, beam=protocol.beam, doubt=protocol.doubt
        )
    except Unanswered as fault:
        why = f"the responses to the source have no ranking: {fault.cause}"
        return dict.fromkeys(range(n), replace(fault.cause, text=why))
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
    found: tuple[float, str] | Cause,
    comparisons: Comparisons,
    calls: tuple[str, ...],
) -> Judgement:
    if isinstance(found, Cause):
        return Judgement.unscored(found, calls=calls)
    score, said = found
    how = _weighting(protocol, score, comparisons)
    weighting = {} if how is None else {OVERALL: how}
    return Judgement(score=score, raw=score, explanation=said, calls=calls, weighting=weighting)


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


def pair_space(protocol: PairwiseConfig, rubrics: Rubrics = None) -> Space:
    choices: list[Choice] = [rubric_choice(protocol, rubrics)] if protocol.rubric.criteria else []
    choices += [
        field_choice(protocol, "ranking", ("beam", "all")),
        field_choice(protocol, "weighting", ("probabilities", "none")),
    ]
    return Space(choices=tuple(choices))


PAIRS = JudgeFamily(
    name="pairs",
    about="ranks the responses to a source by comparing two at a time, in both orders",
    protocol=PairwiseConfig,
    forms=pair_forms,
    steps=lone_steps,
    inputs=lambda protocol, question: pair_inputs(protocol),
    calls=usual_calls,
    efforts=pair_efforts,
    source_steps=source_steps,
    most_calls=most_calls,
    questions="judgesmith.signatures.questions.pairwise:QUESTIONS",
    space=pair_space,
    judge="judgesmith.programs.families.modules:PairwiseJudge",
)

"""Which of two responses is better, asked in both orders, one pair or many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from judgesmith.errors import InputError
from judgesmith.programs.judging.executors import Askable, Asker, with_own_models
from judgesmith.programs.judging.program import (
    AnySteps,
    Ask,
    Calls,
    ProbabilitiesOf,
    asked,
    together,
)
from judgesmith.programs.judging.runner import (
    CONCURRENCY,
    Readable,
    Work,
    beginning,
    readable_of,
    work_each,
)
from judgesmith.signatures.family_configs import PREFERENCES, PairwiseConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.scale import levels_of, percent_of

if TYPE_CHECKING:
    import dspy


COMPARE = "compare"
"""The question."""

_LEVELS = levels_of(PREFERENCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOrder:
    """What a judge says of two responses that it is shown in one order."""

    probability: float | None = None
    stated: float | None = None
    mode: Literal["probabilities", "samples", "stated"] = "stated"
    mass: float = 0.0
    reason: str = ""
    problem: str | None = None
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """Which of two responses to a source is better, by both orders of showing them.

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
        """The probability that the first is better, the mean of both orders; None without one.

        A liking for one place adds to one order what it takes from the other.
        """
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
    def problem(self) -> str | None:
        """Why there is no answer to rely on; None where both orders have one."""
        return self.given.problem or self.swapped.problem

    @property
    def calls(self) -> tuple[str, ...]:
        """Identities of the model calls behind it."""
        return (*self.given.calls, *self.swapped.calls)

    @classmethod
    def unanswered(cls, problem: str) -> Preference:
        """Return the preference of a pair that nothing was said of, and why."""
        none = OneOrder(problem=problem)
        return cls(given=none, swapped=none)


def preference_steps(
    protocol: PairwiseConfig, *, source: str, first: str, second: str, context: str | None = None
) -> AnySteps[Preference]:
    """Ask which of two responses is better, in both orders at once."""
    texts = {"source": source, "context": context, "first response": first}
    fault = unsendable({**texts, "second response": second})
    if fault is not None:
        return Preference.unanswered(fault)
    shared = {"source": source, "context": context}
    given, swapped = yield from together(
        [
            _one_order(protocol, {**shared, "response_a": first, "response_b": second}),
            _one_order(protocol, {**shared, "response_a": second, "response_b": first}),
        ]
    )
    return Preference(given=given, swapped=_turned(swapped))


def unsendable(texts: Mapping[str, str | None]) -> str | None:
    r"""Return why texts cannot be sent to a model; None where they can."""
    for name, text in texts.items():
        if not (isinstance(text, str) or (name == "context" and text is None)):
            raise TypeError(f"{name} must be a text; got {type(text).__name__}.")
        try:
            (text or "").encode()
        except UnicodeEncodeError:
            return (
                f"the {name} holds half of a character (a lone surrogate), which no model can "
                "receive"
            )
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """One answer to a comparison: the chances of the text that is shown first."""

    stated: float
    chance: float | None = None
    mass: float = 0.0
    reason: str = ""


def _one_order(protocol: PairwiseConfig, inputs: Mapping[str, str | None]) -> AnySteps[OneOrder]:
    """Return what is said of the text that is shown first, asked as often as samples are wanted."""
    wanted = None
    if protocol.weighting == "probabilities":
        wanted = ProbabilitiesOf(field="better", answers=tuple(_LEVELS))

    several = [Calls() for _ in range(protocol.samples)]

    def sampled(sample: int, calls: Calls) -> AnySteps[_Answer | str]:
        ask = Ask(predictor=COMPARE, inputs=inputs, sample=sample, probabilities=wanted)
        again = protocol.samples + sample
        return asked(ask, lambda fields: _answered(fields, calls), again=again, calls=calls)

    found = yield from together([sampled(*one) for one in enumerate(several)])
    made = tuple(call for calls in several for call in calls.made)
    answers = [one for one in found if not isinstance(one, str)]
    if not answers:
        problem = next(one for one in found if isinstance(one, str))
        return OneOrder(problem=f"a comparison has no answer: {problem}", calls=made)
    return _together(answers, protocol, made)


def _answered(fields: Mapping[str, Any], calls: Calls) -> _Answer:
    stated = percent_of(fields["better"], PREFERENCES) / 100
    found = None if calls.latest is None else calls.latest.probabilities.get("better")
    if found is None:
        return _Answer(stated=stated)
    if found.mode == "none":
        return _Answer(stated=stated, mass=found.mass, reason=found.reason)
    chance = sum(chance * _LEVELS[answer] for answer, chance in found.values.items()) / 100
    return _Answer(stated=stated, chance=chance, mass=found.mass)


def _together(
    answers: Sequence[_Answer], protocol: PairwiseConfig, calls: tuple[str, ...]
) -> OneOrder:
    """Return what several answers to one comparison come to."""
    often = fmean(one.stated for one in answers)
    said = 0.5 if often == 0.5 else float(often > 0.5)
    chances = [one.chance for one in answers if one.chance is not None]
    if len(chances) == len(answers):
        return OneOrder(
            probability=fmean(chances),
            stated=said,
            mode="probabilities",
            mass=min(one.mass for one in answers),
            calls=calls,
        )
    return OneOrder(
        probability=often,
        stated=said,
        mode="samples" if len(answers) > 1 else "stated",
        mass=min(one.mass for one in answers),
        reason=next((one.reason for one in answers if one.reason), ""),
        calls=calls,
    )


def _turned(found: OneOrder) -> OneOrder:
    """Return the same answer, said of the other text."""
    return OneOrder(
        probability=None if found.probability is None else 1 - found.probability,
        stated=None if found.stated is None else 1 - found.stated,
        mode=found.mode,
        mass=found.mass,
        reason=found.reason,
        problem=found.problem,
        calls=found.calls,
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


def prefer_each(
    judge: Askable,
    pairs: Iterable[ResponsePair],
    *,
    lm: dspy.LM | None = None,
    concurrency: int = CONCURRENCY,
    progress: Callable[[int], None] | None = None,
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
    progress : callable or None
        Told the number of pairs finished since it was last told.

    Raises
    ------
    ValueError
        If the judge compares nothing.
    ModelError, LedgerError
        As for ``judge_items``. A pair that the budget did not reach has no answer, and says so.

    Examples
    --------
    >>> from judgesmith.programs.families.pairwise import PairwiseJudge
    >>> pair = ResponsePair(source="It rained.", first="It rained.", second="It rained.")
    >>> [found.probability for _, found in prefer_each(PairwiseJudge(), [pair])]
    [0.5]
    """
    protocol = judge.protocol
    if not isinstance(protocol, PairwiseConfig):
        raise InputError(
            f"a judge of the kind {protocol.judge} scores single texts and compares nothing; "
            "compile one with --judge pairs."
        )
    judge, lm = with_own_models(judge, lm)
    return work_each(
        _Pairs(protocol, Asker.of(judge, lm), readable_of(lm)),
        pairs,
        concurrency=concurrency,
        may_begin=beginning(2 * protocol.samples, lm),
        progress=progress,
    )


class _Pairs(Work[ResponsePair, Preference]):
    """Pairs, each asked about in both orders."""

    def __init__(self, protocol: PairwiseConfig, asker: Asker, readable: Readable) -> None:
        super().__init__(asker, readable)
        self._protocol = protocol

    async def done(self, unit: ResponsePair) -> Preference:
        """Return which of two responses is better."""
        found = await self.asker.taken(
            preference_steps(
                self._protocol,
                source=unit.source,
                first=unit.first,
                second=unit.second,
                context=unit.context,
            )
        )
        self.readable.add(as_read(found))
        return found

    def undone(self, unit: ResponsePair, problem: str) -> Preference:
        """Return that there is no answer."""
        return Preference.unanswered(problem)


def as_read(found: Preference) -> Judgement:
    """Return what was read of a pair: something if one order has an answer, or why nothing was."""
    if found.given.stated is None and found.swapped.stated is None:
        return Judgement.unscored(str(found.problem), calls=found.calls)
    return Judgement(score=0.0)

"""Which of two responses is better, asked in both orders: the steps, and what they come to.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from judgesmith.programs.judging import AnySteps, Ask, Calls, ProbabilitiesOf, asked
from judgesmith.programs.together import together
from judgesmith.signatures.answer_scale import levels_of, percent_of
from judgesmith.signatures.pairs import PREFERENCES, PairsProtocol

COMPARE = "compare"
"""The question."""

_LEVELS = levels_of(PREFERENCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOrder:
    """What a judge says of two responses that it is shown in one order.

    Attributes
    ----------
    probability : float or None
        That the first of the pair is better, wherever it is shown; a tie counts half. None where
        there is no answer.
    stated : float or None
        The answer itself: 1 where the first of the pair is better, 0 the second, 0.5 neither. Of
        several samples the response that more of them call better, 0.5 where as many do.
    mode : {"probabilities", "samples", "stated"}
        What the probability rests on: the model's own probabilities, how often it said so in
        several samples, or the one answer that it stated.
    mass : float
        How much of the probability was listed, 0 to 1; of several samples the least.
    reason : str
        Why there are no probabilities although they were to be used; empty elsewhere.
    problem : str or None
        Why there is no answer.
    calls : tuple of str
        Identities of the model calls behind it.
    """

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
    protocol: PairsProtocol, *, source: str, first: str, second: str, context: str | None = None
) -> AnySteps[Preference]:
    """Ask which of two responses is better, in both orders at once.

    Parameters
    ----------
    protocol : PairsProtocol
        How it is asked.
    source, first, second, context : str
        The texts.

    Raises
    ------
    TypeError
        At the first step, if one is no text.
    """
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
    r"""Return why texts cannot be sent to a model; None where they can.

    Raises
    ------
    TypeError
        If one is no text.

    Examples
    --------
    >>> unsendable({"source": "half a character: \ud800"})
    'the source holds half of a character (a lone surrogate), which no model can receive'
    """
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


def _one_order(protocol: PairsProtocol, inputs: Mapping[str, str | None]) -> AnySteps[OneOrder]:
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
    answers: Sequence[_Answer], protocol: PairsProtocol, calls: tuple[str, ...]
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

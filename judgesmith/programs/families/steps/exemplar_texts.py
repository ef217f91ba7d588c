"""Exemplars of every level of quality: written by halving, compared, and put in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, isfinite, sqrt
from typing import Any, Literal

from judgesmith.errors import InputError
from judgesmith.programs.judging.logprobs import AnswerProbabilities
from judgesmith.programs.judging.program import (
    AnySteps,
    Ask,
    Calls,
    ProbabilitiesOf,
    asked,
    together,
)
from judgesmith.signatures.family_configs import ExemplarConfig

Normalisation = Literal["affine", "level"]


@dataclass(frozen=True, slots=True)
class Compared:
    """How a response compares with one exemplar."""

    better: float
    worse: float

    def __post_init__(self) -> None:
        parts = (self.better, self.worse, 1 - self.better - self.worse)
        if not all(isfinite(one) and -1e-9 <= one <= 1 + 1e-9 for one in parts):
            raise InputError(
                "better and worse are probabilities, at most 1 together; got "
                f"{self.better:g} and {self.worse:g}."
            )

    def averaged(self, other: Compared) -> Compared:
        """Return the mean of two, such as of both orders."""
        return Compared((self.better + other.better) / 2, (self.worse + other.worse) / 2)


def largest_sum(n: int) -> int:
    """Return S, the sum of a response that is certainly better than all ``n`` exemplars."""
    return n * (n + 1) // 2


def comparison_sum(compared: Sequence[Compared], *, mirrored: bool = False) -> float:
    """Return s, the sum over all exemplars of what a response gains and loses."""
    n = len(compared)
    if n < 2:
        raise InputError(f"expected comparisons with two exemplars or more; got {n}.")
    return fsum(
        level * one.better - (n + 1 - level if mirrored else level) * one.worse
        for level, one in enumerate(compared, start=1)
    )


def level_of_sum(s: float, n: int, *, mirrored: bool = False) -> float:
    """Return the level that a sum stands for, from 1 to ``n``."""
    above = _above_least(s, n)
    level = above / n if mirrored else sqrt(above)
    return min(max(level, 1.0), float(n))


def normalised(
    s: float,
    n: int,
    how: Normalisation,
    *,
    mirrored: bool = False,
    low: float = 0.0,
    high: float = 100.0,
) -> float:
    """Return a sum on the scale from ``low`` to ``high``; larger sums never get less."""
    if how == "affine":
        share = _above_least(s, n) / (2 * largest_sum(n))
    else:
        share = (level_of_sum(s, n, mirrored=mirrored) - 1) / (n - 1)
    return low + (high - low) * share


def _above_least(s: float, n: int) -> float:
    """Return how far a sum lies above the least possible one, 0 to 2 S."""
    if n < 2:
        raise InputError(f"expected comparisons with two exemplars or more; got {n}.")
    most = largest_sum(n)
    if not abs(s) <= most + 1e-6:
        raise InputError(f"the sum over {n} exemplars lies between {-most} and {most}; got {s:g}.")
    return min(max(s + most, 0.0), 2.0 * most)


SAMPLED_AT = 1.0
"""Temperature of answers whose frequencies stand for probabilities."""

_AGAIN = 1  # number of the second attempt at a comparison
_NOT_ASKED = "the judge draws samples instead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparisons:
    """How a response compares with each of several texts, and how that is known."""

    compared: tuple[Compared, ...]
    stated: tuple[Compared, ...]
    mode: Literal["probabilities", "samples"]
    n: int = 0
    mass: float = 0.0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Verdict:
    said: str
    given: AnswerProbabilities


def comparisons(
    protocol: ExemplarConfig,
    criterion: str,
    response: str,
    others: Sequence[str],
    *,
    source: str,
    context: str | None,
    calls: Calls,
) -> AnySteps[Comparisons | str]:
    """Return how a response compares with other texts, or why one comparison is missing."""
    texts = {"source": source, "context": context, "criterion": criterion}
    turns = (False, True) if protocol.order == "both" else (False,)
    pairs = [
        (turned, {**texts, **_in_order(protocol, response, other, turned)})
        for other in others
        for turned in turns
    ]
    n_turns, reason, mass = len(turns), _NOT_ASKED, 0.0
    stated: list[str] = []
    if protocol.verdicts == "probabilities":
        wanted = ProbabilitiesOf(field="verdict", answers=protocol.words.labels)
        found = yield from together(
            [
                _verdict(Ask(predictor="compare", inputs=one, probabilities=wanted), _AGAIN, calls)
                for _, one in pairs
            ]
        )
        verdicts = [one for one in found if isinstance(one, _Verdict)]
        if len(verdicts) < len(found):
            return _missing(found, n_turns)
        stated = [one.said for one in verdicts]
        mass = min(one.given.mass for one in verdicts)
        reason = next((v.given.reason for v in verdicts if v.given.mode == "none"), "")
        if not reason:
            sides = [
                _compared(protocol, one.given.values, turned)
                for one, (turned, _) in zip(verdicts, pairs, strict=True)
            ]
            return Comparisons(
                compared=_over_turns(sides, n_turns),
                stated=_stated(protocol, stated, pairs, n_turns),
                mode="probabilities",
                mass=mass,
            )
    n = protocol.n_sampled
    drawn = yield from together([_drawn(one, n, calls) for _, one in pairs])
    counts = [one for one in drawn if isinstance(one, list)]
    if len(counts) < len(drawn):
        return _missing(drawn, n_turns)
    shares = [{word: c / len(one) for word, c in Counter(one).items()} for one in counts]
    sides = [
        _compared(protocol, one, turned) for one, (turned, _) in zip(shares, pairs, strict=True)
    ]
    stated = stated or [one[0] for one in counts]
    return Comparisons(
        compared=_over_turns(sides, n_turns),
        stated=_stated(protocol, stated, pairs, n_turns),
        mode="samples",
        n=min(map(len, counts)),
        mass=mass,
        reason=reason,
    )


def _in_order(protocol: ExemplarConfig, response: str, other: str, turned: bool) -> dict[str, str]:
    """Return the two texts in their order."""
    response_first = (protocol.form == "yes-no") != turned
    first, second = (response, other) if response_first else (other, response)
    return {"first": first, "second": second}


def _verdict(ask: Ask, again: int, calls: Calls) -> AnySteps[_Verdict | str]:
    """Return what is answered to one comparison, or why nothing is."""

    def read(fields: Mapping[str, Any]) -> _Verdict:
        given = {} if calls.latest is None else calls.latest.probabilities
        none = AnswerProbabilities.none(_NOT_ASKED)
        return _Verdict(str(fields["verdict"]), given.get("verdict", none))

    return asked(ask, read, again=again, calls=calls)


def _drawn(inputs: Mapping[str, str | None], n: int, calls: Calls) -> AnySteps[list[str] | str]:
    """Return the verdicts among ``n`` samples of one comparison, or why there is none."""
    courses = []
    for sample in range(1, n + 1):
        ask = Ask(predictor="compare", inputs=inputs, sample=sample, temperature=SAMPLED_AT)
        courses.append(_verdict(ask, n + sample, calls))
    found = yield from together(courses)
    said = [one.said for one in found if isinstance(one, _Verdict)]
    return said or next(one for one in found if isinstance(one, str))


def _compared(protocol: ExemplarConfig, shares: Mapping[str, float], turned: bool) -> Compared:
    """Return how the response compares, by the probabilities of the words."""
    up, down = ("Better", "Worse") if protocol.form == "three" else ("Yes", "No")
    first, second = shares.get(up, 0.0), shares.get(down, 0.0)
    return Compared(second, first) if turned else Compared(first, second)


def _stated(
    protocol: ExemplarConfig, said: Sequence[str], pairs: Sequence[tuple[bool, Any]], n: int
) -> tuple[Compared, ...]:
    sides = [
        _compared(protocol, {word: 1.0}, turned)
        for word, (turned, _) in zip(said, pairs, strict=True)
    ]
    return _over_turns(sides, n)


def _over_turns(sides: Sequence[Compared], n_turns: int) -> tuple[Compared, ...]:
    """Return the comparisons, both orders of each averaged where there are two."""
    if n_turns == 1:
        return tuple(sides)
    return tuple(a.averaged(b) for a, b in zip(sides[::2], sides[1::2], strict=True))


def _missing(found: Sequence[Any], n_turns: int) -> str:
    """Return which comparison is missing, and why."""
    place, reason = next((at, one) for at, one in enumerate(found) if isinstance(one, str))
    return f"no verdict on exemplar {place // n_turns + 1}: {reason}"


WARM = 0.7
"""Least temperature of a second attempt: at 0 a model would write the same text again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemplar:
    """A response that was written to stand on a level."""

    level: int
    text: str
    flags: tuple[str, ...] = ()


def n_rounds(levels: int) -> int:
    """Return in how many rounds of questions that many exemplars are written."""
    return (levels - 2).bit_length() + 1


def written_exemplars(
    protocol: ExemplarConfig,
    criterion: str,
    *,
    source: str,
    context: str | None,
    calls: Calls,
) -> AnySteps[tuple[Exemplar, ...] | str]:
    """Return the exemplars of levels 1 to N, or the sentence that says why there are none."""
    writing = _Writing(protocol, {"source": source, "context": context}, criterion, calls)
    n = protocol.levels
    problems = yield from together([writing.end(1, other=n), writing.end(n, other=1)])
    problem = next(filter(None, problems), "") or (yield from writing.between(1, n))
    return problem or tuple(writing.found[level] for level in range(1, n + 1))


@dataclass(frozen=True, slots=True)
class _Writing:
    protocol: ExemplarConfig
    texts: Mapping[str, str | None]
    criterion: str
    calls: Calls
    found: dict[int, Exemplar] = field(default_factory=dict)

    def end(self, level: int, *, other: int) -> AnySteps[str]:
        """Write the worst or the best; return why there is none, or nothing."""
        name = "worst" if level == 1 else "best"
        said = f"{level} of {self.protocol.levels}: the {name} possible response"
        return self._one("end", level, said, beside=(other,))

    def between(self, low: int, high: int) -> AnySteps[str]:
        """Write all between two that are there; return why one is missing, or nothing."""
        if high - low < 2:
            return ""
        level = (low + high) // 2
        said = f"{level} of {self.protocol.levels}, where {self.protocol.levels} is the best"
        problem = yield from self._one("between", level, said, beside=(low, high))
        if problem:
            return problem
        halves = [self.between(low, level), self.between(level, high)]
        problems = yield from together(halves)
        return next(filter(None, problems), "")

    def _one(self, question: str, level: int, said: str, beside: tuple[int, ...]) -> AnySteps[str]:
        inputs = {**self.texts, "criterion": self.criterion, "level": said}
        if question == "between":
            inputs |= {
                name: self.found[one].text
                for name, one in zip(("worse", "better"), beside, strict=True)
            }
        own = self.protocol.writer_temperature
        first = Ask(predictor=question, inputs=inputs, temperature=own)
        problem = ""
        for ask in (first, replace(first, sample=1, temperature=max(own, WARM))):
            reply = self.calls((yield ask))
            if reply.fields is None:
                problem = reply.problem
                if reply.final:
                    break
                continue
            text = str(reply.fields["exemplar"]).strip()
            flags = self._flags(text, beside)
            if text or level not in self.found:  # a copy still says more than nothing
                self.found[level] = Exemplar(level=level, text=text, flags=flags)
            if not flags:
                break
        return "" if level in self.found else f"no exemplar of level {level}: {problem}"

    def _flags(self, text: str, beside: tuple[int, ...]) -> tuple[str, ...]:
        if not text:
            return ("empty",)
        copied = (one for one in beside if one in self.found and _alike(self.found[one].text, text))
        return tuple(f"copy of level {one}" for one in copied)


def _alike(first: str, second: str) -> bool:
    return first.casefold().split() == second.casefold().split()

"""Comparisons of a response with exemplars: what is asked, and how probable each verdict is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judgesmith.programs.answer_probabilities import AnswerProbabilities
from judgesmith.programs.exemplar_scores import Compared
from judgesmith.programs.judging import AnySteps, Ask, Calls, ProbabilitiesOf, asked
from judgesmith.programs.together import together
from judgesmith.signatures.exemplars import ExemplarProtocol

SAMPLED_AT = 1.0
"""Temperature of answers whose frequencies stand for probabilities."""

_AGAIN = 1  # number of the second attempt at a comparison
_NOT_ASKED = "the judge draws samples instead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparisons:
    """How a response compares with each of several texts, and how that is known.

    Attributes
    ----------
    compared : tuple of Compared
        By probability, in the order of the texts.
    stated : tuple of Compared
        By the first answer to each question alone.
    mode : {"probabilities", "samples"}
        Where ``compared`` comes from.
    n : int
        Fewest samples behind one of them; 0 for probabilities.
    mass : float
        Least share of the probability that was listed for one of them, 0 to 1.
    reason : str
        Why there are no probabilities; empty where there are.
    """

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
    protocol: ExemplarProtocol,
    criterion: str,
    response: str,
    others: Sequence[str],
    *,
    source: str,
    context: str | None,
    calls: Calls,
) -> AnySteps[Comparisons | str]:
    """Return how a response compares with other texts, or why one comparison is missing.

    All questions go out at once. Where the log-probabilities of one are missing, or hold less
    than half of the probability, samples are drawn for all of them: one score is made in one way.

    Parameters
    ----------
    protocol : ExemplarProtocol
        How comparisons are worded, in which order, and how often they are drawn.
    criterion : str
        As the model reads it, ``NAME: MEANING``.
    response : str
        What is compared.
    others : sequence of str
        What it is compared with, each by itself.
    source, context : str
        What all of them answer.
    calls : Calls
        Where the calls are remembered.
    """
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


def _in_order(
    protocol: ExemplarProtocol, response: str, other: str, turned: bool
) -> dict[str, str]:
    """Return the two texts in their order.

    Usually the response comes second in the form three, and first in the form yes-no.
    """
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


def _compared(protocol: ExemplarProtocol, shares: Mapping[str, float], turned: bool) -> Compared:
    """Return how the response compares, by the probabilities of the words."""
    up, down = ("Better", "Worse") if protocol.form == "three" else ("Yes", "No")
    first, second = shares.get(up, 0.0), shares.get(down, 0.0)
    return Compared(second, first) if turned else Compared(first, second)


def _stated(
    protocol: ExemplarProtocol, said: Sequence[str], pairs: Sequence[tuple[bool, Any]], n: int
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

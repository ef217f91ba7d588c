"""How evenly the answers of a judge are spread over those that it may give."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgesmith.errors import InputError
from judgesmith.programs.judging.judge import Judge
from judgesmith.programs.judging.registry import family_of
from judgesmith.signatures.scale import levels_of

MOST_ANSWERS = 10
"""Answers beyond which an even spread is no aim: nobody expects all of 0 to 100 equally often."""


def imbalance(shares: Mapping[str, float]) -> float:
    """Return how far a distribution is from even: half the sum of the absolute differences.

    0 is even; with k answers and everything on one of them it is 1 - 1/k.

    Examples
    --------
    >>> imbalance({"a": 0.5, "b": 0.5}), imbalance({"1": 0, "2": 0, "3": 0, "4": 1})
    (0.0, 0.75)
    """
    even = 1 / len(shares)
    return math.fsum(abs(share - even) for share in shares.values()) / 2


@dataclass(frozen=True, slots=True)
class Measured:
    """What a judge answered on some texts.

    Attributes
    ----------
    shares : dict of str to (dict of str to float)
        The mean distribution of answers, by question.
    share_scored : float
        Fraction of the texts that got a score.
    complete : bool
        False where the budget ended before all were asked.
    """

    shares: Mapping[str, Mapping[str, float]]
    share_scored: float
    complete: bool

    def imbalance(self, questions: Sequence[str]) -> float:
        """Return the mean imbalance of several questions; nan where none was answered."""
        found = [imbalance(self.shares[one]) for one in questions if one in self.shares]
        return math.fsum(found) / len(found) if found else math.nan


def refuse_many_answers(judge: Judge) -> None:
    """Refuse a judge that asks for one of more answers than can be equally likely.

    Raises
    ------
    ValueError
        If so, if it asks nothing that an instruction is for, or if it judges no text by itself.
    """
    if family_of(judge.protocol.judge).ranks:
        raise InputError(
            f"a judge of {judge.protocol.judge} compares the responses to a source, and an even "
            "spread is looked for in answers about single texts; search otherwise, or not at all "
            "(--optimizer protocol or none)."
        )
    if not list(judge.named_predictors()):
        raise InputError("this judge asks a model nothing by an instruction; there is no wording.")
    for name, template in judge.templates().items():
        n = len(levels_of(template.answers))
        if set(template.outputs.values()) - {"text"} and n > MOST_ANSWERS:
            raise InputError(
                f"the question {name} has {n} answers, of which no even spread can be expected; "
                f"take a scale of {MOST_ANSWERS} at most, such as --choose answers=1-5."
            )

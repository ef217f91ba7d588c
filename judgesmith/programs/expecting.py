"""What is expected of a judgement, and in which sentences it falls short."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real

from judgesmith.errors import InputError
from judgesmith.programs.saved_kinds import AnySaved, saved_leaves
from judgesmith.signatures.annotating import AnnotatorProtocol
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.scale import PERCENT, Scale

_LONGEST = 300  # characters of a text or of an explanation in a message


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a judgement has to fulfil.

    Parameters
    ----------
    at_least, at_most : float or None
        Lowest and highest score, in points of the judge's scale; None does not mind.
    criteria : dict of str to float
        Lowest score by criterion, in points from 0 to 100, as judges score criteria.
    no_errors : bool
        Whether the judge may point at no error.
    unscored : bool
        Whether a judgement without a score is fine, too.

    Examples
    --------
    >>> wanted = Expectation(at_least=4, criteria={"wit": 50})
    >>> wanted.shortcomings(Judgement(score=3, criteria={"wit": {"score": 60}}))
    ['the score is 3, expected 4 or more']
    >>> wanted.shortcomings(Judgement.unscored("the model's answer could not be read"))
    ["there is no score: the model's answer could not be read"]
    """

    at_least: float | None = None
    at_most: float | None = None
    criteria: Mapping[str, float] = field(default_factory=dict)
    no_errors: bool = False
    unscored: bool = False

    def check_against(self, judge: AnySaved) -> None:
        """Refuse what this judge could never fulfil or always does.

        Raises
        ------
        ValueError
            If a bound is no number, or outside the judge's scale, the lower one is above the upper
            one, or errors are asked of a judge that looks for none.
        """
        for name in ("at_least", "at_most"):
            _within(getattr(self, name), judge.scale, name)
        low, high = self.at_least, self.at_most
        if low is not None and high is not None and low > high:
            raise InputError(
                f"no score is {low:g} or more and {high:g} or less; exchange at_least and at_most."
            )
        for name, points in self.criteria.items():
            _within(points, PERCENT, f"criteria[{name!r}]")
        if self.no_errors and not _finds_errors(judge):
            raise InputError(
                "no_errors needs a judge that looks for errors, and this one does not; compile one "
                "with --judge annotator, or leave no_errors out."
            )

    def shortcomings(self, judgement: Judgement) -> list[str]:
        """Return what is not as expected, in sentences; none where all is."""
        if judgement.score is None:
            return [] if self.unscored else [f"there is no score: {judgement.problem}"]
        found = []
        if self.at_least is not None and judgement.score < self.at_least:
            found.append(f"the score is {judgement.score:.4g}, expected {self.at_least:g} or more")
        if self.at_most is not None and judgement.score > self.at_most:
            found.append(f"the score is {judgement.score:.4g}, expected {self.at_most:g} or less")
        for name, points in self.criteria.items():
            given = judgement.criteria.get(name)
            if given is None:
                known = ", ".join(judgement.criteria) or "none"
                found.append(f"there is no criterion {name!r}; the judge scores: {known}")
            elif given.score is None:
                found.append(f"{name} has no score, expected {points:g} or more")
            elif given.score < points:
                why = f" ({_cut(given.explanation)})" if given.explanation else ""
                found.append(f"{name} is {given.score:.4g}, expected {points:g} or more{why}")
        if self.no_errors and judgement.errors:
            named = "; ".join(
                f"{_cut(one.text)!r} ({_cut(one.explanation)})" for one in judgement.errors[:5]
            )
            n = len(judgement.errors)
            found.append(f"the judge points at {n} error{'' if n == 1 else 's'}: {named}")
        return found


def told(response: str, judgement: Judgement, shortcomings: list[str]) -> str:
    """Return the message about one response that falls short.

    Examples
    --------
    >>> found = Judgement(score=2, explanation="It names no date.")
    >>> print(told("It opened.", found, ["the score is 2, expected 4 or more"]))
    the score is 2, expected 4 or more
      explanation: It names no date.
      response: It opened.
    """
    lines = ["; ".join(shortcomings)]
    if judgement.explanation:
        lines.append(f"  explanation: {_cut(judgement.explanation)}")
    return "\n".join([*lines, f"  response: {_cut(response)}"])


def _within(points: object, scale: Scale, name: str) -> None:
    if points is None:
        return
    if isinstance(points, bool) or not isinstance(points, Real):
        raise InputError(f"{name} is a number; got {points!r}.")
    bound = float(points)
    if not scale.low <= bound <= scale.high:
        raise InputError(
            f"{name} is in points from {scale.low:g} to {scale.high:g} here; got {bound:g}."
        )


def _finds_errors(judge: AnySaved) -> bool:
    kinds = (one.protocol for one in saved_leaves(judge))
    return any(isinstance(one, AnnotatorProtocol) or one.judge == "distilled" for one in kinds)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"

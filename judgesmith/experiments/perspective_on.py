"""What both perspectives tell of a criterion beside their number: what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.agreeing import Unscored
from judgesmith.experiments.perspective_ratings import RightLevels
from judgesmith.experiments.perspective_scores import SampledScores
from judgesmith.metrics.resampling.draws import Counted
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.scale import Scale


@dataclass(frozen=True, kw_only=True, eq=False)
class Basis:
    """What a number rests on.

    Attributes
    ----------
    right : RightLevels
        What was compared with, and what was left out.
    unscored : Unscored
        Texts with a right level for which the judge gave nothing.
    n_outside : int
        Samples left out because they lie outside of the judge's scale.
    n_samples : (int, int)
        The fewest and the most samples that a judged text has; (0, 0) where none was judged.
    answers : Scale or None
        What the samples are points of, where that is known.
    """

    right: RightLevels
    unscored: Unscored
    n_outside: int
    n_samples: tuple[int, int]
    answers: Scale | None

    @classmethod
    def of(cls, right: RightLevels, scores: SampledScores, causes: Sequence[Cause | None]) -> Basis:
        """Return what the texts with a right level have.

        Parameters
        ----------
        right : RightLevels
            One level per text.
        scores : SampledScores
            The judge's answers.
        causes : sequence of (Cause or None), one per text
            Why there is nothing to compare; None where there is.

        Raises
        ------
        ValueError
            If no text has a right level. The message counts why.
        """
        if not right.kept.size:
            raise InputError(none_kept(right))
        kept = right.kept.tolist()
        judged = scores.n_samples[kept][scores.n_samples[kept] > 0]
        return cls(
            right=right,
            unscored=Unscored.of((causes[place] for place in kept), len(kept)),
            n_outside=scores.n_outside,
            n_samples=(int(judged.min()), int(judged.max())) if judged.size else (0, 0),
            answers=scores.scale,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        counts = self.right.counts
        return {
            "kept": None if counts is None else counts.to_dict(),
            "built": self.right.n_built,
            "unrated": self.right.n_unrated,
            "unscored": self.unscored.n,
            **self.unscored.to_dict(),
            "samples": list(self.n_samples),
            "samples_outside": self.n_outside,
            "scale": str(self.right.scale),
            "answers": None if self.answers is None else str(self.answers),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class OnCriterion:
    """What either perspective found on one criterion.

    Attributes
    ----------
    criterion : str
        What was rated.
    basis : Basis
        What its number rests on.
    counted : Counted
        The number as a function of how often each source is drawn.
    """

    criterion: str
    basis: Basis
    counted: Counted


def n_sources_of(sources: np.ndarray) -> int:
    """Return how many sources there are, numbered from 0."""
    return int(sources.max(initial=-1)) + 1


def why_unscored(cause: Cause, advice: str) -> str:
    """Return why nothing has a score and what to do: ``advice``, unless the budget was spent.

    Examples
    --------
    >>> why_unscored(Cause(Reason.UNREADABLE, "no score in it"), "Choose another target")
    'no score in it. Choose another target.'
    >>> why_unscored(Cause(Reason.OVER_BUDGET, "1 call is spent."), "Choose another target")
    '1 call is spent. Give a larger one; what is on record costs nothing.'
    """
    if cause.reason is Reason.OVER_BUDGET:
        advice = "Give a larger one; what is on record costs nothing"
    return f"{cause.text.rstrip('.')}. {advice}."


def none_kept(right: RightLevels) -> str:
    """Return why a criterion of which no rating is kept has no number, and what to do."""
    counts = right.counts
    why = ""
    if counts is not None:
        why = (
            f": {sum(counts.n_dropped)} are disputed, {counts.n_too_few} have a single rating, of "
            f"{counts.n_unknown} a mean alone is known"
        )
    return (
        f"no text has an undisputed rating on {right.criterion}{why}. Say --aggregate mode to take "
        "what most raters gave, or a single rating as it is."
    )

"""Whether a judge gives the right coarse rating: linear-weighted kappa with people, level by level.

A judge's rating of a text is the mode of its samples, each brought to the nearest level first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.perspective_on import Basis, OnCriterion, n_sources_of, why_unscored
from judgesmith.experiments.perspective_ratings import RightLevels, on_levels_of
from judgesmith.experiments.perspective_scores import OUTSIDE, SampledScores
from judgesmith.metrics import Estimate, confusion_matrix, weighted_kappa_interval
from judgesmith.metrics.arrays import FloatArray, IntArray
from judgesmith.metrics.ratings import ConfusionMatrix, modes, nearest_levels
from judgesmith.metrics.ratings.kappa import counted_kappa
from judgesmith.signatures.judgement import Cause, Reason

UNREADABLE = Cause(Reason.UNREADABLE, "fewer than half of its samples could be read")
UNKNOWN_SCALE = Cause(Reason.OTHER, "nobody says what its scores are points of")


@dataclass(frozen=True, kw_only=True, eq=False)
class GlobalReport(OnCriterion):
    """How well a judge's ratings agree with the right ones on one criterion.

    Attributes
    ----------
    kappa : Estimate
        Linear-weighted, over all levels of the scale, with an interval over sources; undefined
        where both sides are constant and equal.
    confusion : ConfusionMatrix
        Rows are the right levels, columns those that the judge gives.
    ratings : array, shape (n_items,)
        The judge's, nan where there is none.
    criterion, basis, counted
        See ``OnCriterion``.
    """

    kappa: Estimate
    confusion: ConfusionMatrix
    ratings: FloatArray

    @property
    def value(self) -> Estimate:
        """Return the one number of the report."""
        return self.kappa

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {
            "kappa": self.kappa.to_dict(),
            "confusion": self.confusion.to_dict(),
            **self.basis.to_dict(),
        }


def global_report(
    right: RightLevels,
    scores: SampledScores,
    sources: IntArray,
    *,
    rng: np.random.Generator,
) -> GlobalReport:
    """Return how well a judge's ratings agree with the right levels.

    Parameters
    ----------
    right : RightLevels
        One level per text.
    scores : SampledScores
        The judge's answers.
    sources : int array, shape (n_items,)
        From 0 on: what was responded to, or what must stay together with it.
    rng : Generator
        Draws the interval.

    Raises
    ------
    ValueError
        If the ratings are no levels, no text has one, or the judge rated none of these.

    Examples
    --------
    >>> from judgesmith.experiments.dataset import DataSet
    >>> from judgesmith.experiments.perspective_ratings import right_levels
    >>> from judgesmith.signatures import RatedItem, Scale
    >>> items = [
    ...     RatedItem(source_id=str(n), response="", human={"wit": (r, r)}, scale={"wit": "1..3"})
    ...     for n, r in enumerate((1, 2, 3))
    ... ]
    >>> data = DataSet(name="toy", items=tuple(items))
    >>> answers = SampledScores.of([[1, 1, 2], [3, 3, 2], [3]], [None] * 3, Scale(low=1, high=3))
    >>> right, rng = right_levels(data, "wit"), np.random.default_rng(0)
    >>> found = global_report(right, answers, data.groups, rng=rng)
    >>> found.ratings.tolist(), round(found.kappa.value, 2)
    ([1.0, 3.0, 3.0], 0.67)
    """
    human = on_levels_of(right)
    assert right.levels is not None
    ratings, problems = ratings_of(scores, right.levels)
    basis = Basis.of(right, scores, problems)
    kept = right.kept
    if basis.unscored.n == len(kept):
        why = next(iter(basis.unscored.causes))
        advice = "Say what its answers are points of with --answers"
        advice = advice if why in (UNKNOWN_SCALE, OUTSIDE) else "Choose another target"
        raise InputError(
            f"none of the {len(kept)} texts with a right rating on {right.criterion} has one of "
            f"the judge: {why_unscored(why, advice)}"
        )
    own, rated, labels = ratings[kept], human[kept], sources[kept]
    n_sources = n_sources_of(sources)
    return GlobalReport(
        criterion=right.criterion,
        basis=basis,
        counted=counted_kappa(rated, own, labels, n_sources, levels=right.levels),
        kappa=weighted_kappa_interval(
            rated, own, sources=labels.tolist(), levels=right.levels, rng=rng
        ),
        confusion=confusion_matrix(rated, own, levels=right.levels),
        ratings=ratings,
    )


def ratings_of(
    scores: SampledScores, levels: FloatArray
) -> tuple[FloatArray, tuple[Cause | None, ...]]:
    """Return the rating that each text's samples come to, and why there is none.

    Each sample is laid on the levels, scale on scale, and goes to the nearest one, half-ways
    towards the middle. The rating is the most frequent of them; of several that are, the one
    nearest to the samples' mean, then the lower. With fewer than half of the samples there is none.

    Examples
    --------
    >>> from judgesmith.signatures.scale import PERCENT
    >>> scores = SampledScores.of([[10, 30, 30], [50]], [None, None], PERCENT)
    >>> ratings_of(scores, np.arange(1.0, 6.0))[0].tolist()
    [2.0, 3.0]
    """
    n_items = len(scores.problems)
    if scores.scale is None:
        reasons = [one or UNKNOWN_SCALE for one in scores.problems]
        return np.full(n_items, np.nan), tuple(reasons)
    ends = scores.scale.low, scores.scale.high
    points = nearest_levels(np.clip(scores.values, *ends), levels=levels, scale=ends)
    found = np.full(n_items, np.nan)
    # Rows are as long as the text has samples: beyond them nothing was unreadable.
    for n in np.unique(scores.n_samples[scores.n_samples > 0]).tolist():
        rows = scores.n_samples == n
        found[rows] = modes(points[rows, :n])
    problems = [
        (problem or UNREADABLE) if missing else None
        for problem, missing in zip(scores.problems, np.isnan(found).tolist(), strict=True)
    ]
    return found, tuple(problems)

"""Whether a judge gives the right coarse rating: linear-weighted kappa with people, level by level.

A judge's rating of a text is the mode of its samples, each brought to the nearest level first.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.experiments.agreeing import Unscored
from judgesmith.experiments.perspective_ratings import RightLevels, on_levels_of
from judgesmith.experiments.perspective_scores import OUTSIDE, SampledScores
from judgesmith.metrics import (
    ConfusionMatrix,
    Estimate,
    confusion_matrix,
    kappa_interval,
    modes,
    nearest_levels,
)
from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.ratings.kappa import disagreements, kappa_of_sums
from judgesmith.metrics.ratings.rating_levels import level_codes
from judgesmith.optimizers.source_counts import Counted
from judgesmith.signatures.scale import Scale

UNREADABLE = "fewer than half of its samples could be read"
UNKNOWN_SCALE = "nobody says what its scores are points of"


@dataclass(frozen=True, kw_only=True, eq=False)
class GlobalReport:
    """How well a judge's ratings agree with the right ones on one criterion.

    Attributes
    ----------
    criterion : str
        What was rated.
    kappa : Estimate
        Linear-weighted, over all levels of the scale, with an interval over sources; undefined
        where both sides are constant and equal.
    confusion : ConfusionMatrix
        Rows are the right levels, columns those that the judge gives.
    right : RightLevels
        What was compared with, and what was left out.
    ratings : array, shape (n_items,)
        The judge's, nan where there is none.
    unscored : Unscored
        Texts with a right level and no rating of the judge.
    n_outside : int
        Samples left out because they lie outside of the judge's scale.
    n_samples : (int, int)
        The fewest and the most samples that a judged text has.
    answers : Scale or None
        What the samples are points of.
    counted : Counted
        Kappa as a function of how often each source is drawn.
    """

    criterion: str
    kappa: Estimate
    confusion: ConfusionMatrix
    right: RightLevels
    ratings: FloatArray
    unscored: Unscored
    n_outside: int
    n_samples: tuple[int, int]
    answers: Scale | None
    counted: Counted

    @property
    def value(self) -> Estimate:
        """Return the one number of the report."""
        return self.kappa

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        counts = self.right.counts
        return {
            "kappa": self.kappa.to_dict(),
            "confusion": self.confusion.to_dict(),
            "kept": None if counts is None else counts.to_dict(),
            "built": self.right.n_built,
            "unrated": self.right.n_unrated,
            "unscored": self.unscored.n,
            "problems": dict(self.unscored.reasons),
            "samples": list(self.n_samples),
            "samples_outside": self.n_outside,
            "scale": str(self.right.scale),
            "answers": None if self.answers is None else str(self.answers),
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
    >>> from judgesmith.signatures.rated import RatedItem
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
    kept = right.kept
    refuse_none_kept(right)
    ratings, problems = ratings_of(scores, right.levels)
    counts = Counter(problems[place] for place in kept.tolist() if np.isnan(ratings[place]))
    if counts.total() == len(kept):
        why = str(counts.most_common(1)[0][0])
        advice = "Say what its answers are points of with --answers"
        advice = advice if why in (UNKNOWN_SCALE, OUTSIDE) else "Choose another target"
        raise ValueError(
            f"none of the {len(kept)} texts with a right rating on {right.criterion} has one of "
            f"the judge: {why}. {advice}."
        )
    own, rated, labels = ratings[kept], human[kept], sources[kept]
    judged = scores.n_samples[kept][scores.n_samples[kept] > 0]
    return GlobalReport(
        criterion=right.criterion,
        kappa=kappa_interval(own, rated, sources=labels.tolist(), levels=right.levels, rng=rng),
        confusion=confusion_matrix(own, rated, levels=right.levels),
        right=right,
        ratings=ratings,
        unscored=Unscored(
            n=counts.total(),
            n_rows=len(kept),
            reasons={str(why): n for why, n in counts.most_common()},
        ),
        n_outside=scores.n_outside,
        n_samples=(int(judged.min(initial=10**9)), int(judged.max(initial=0))),
        answers=scores.scale,
        counted=_counted(own, rated, labels, int(sources.max(initial=-1)) + 1, right.levels),
    )


def refuse_none_kept(right: RightLevels) -> None:
    """Refuse ratings of which none is left.

    Raises
    ------
    ValueError
        The message counts why.
    """
    if right.kept.size:
        return
    counts = right.counts
    few = 0 if counts is None else counts.n_too_few
    why = (
        ""
        if counts is None
        else f": {sum(counts.n_dropped)} are disputed, {few} have a "
        + (f"single rating, of {counts.n_unknown} a mean alone is known")
    )
    raise ValueError(
        f"no text has an undisputed rating on {right.criterion}{why}. Say --aggregate mode to take "
        "what most raters gave, or a single rating as it is."
    )


def ratings_of(
    scores: SampledScores, levels: FloatArray
) -> tuple[FloatArray, tuple[str | None, ...]]:
    """Return the rating that each text's samples come to, and why there is none.

    Each sample is laid on the levels, scale on scale, and goes to the nearest one, half-ways
    towards the middle. The rating is the most frequent of them; of several that are, the one
    nearest to the samples' mean, then the lower. With fewer than half of the samples there is none.

    Examples
    --------
    >>> scores = SampledScores.of([[10, 30, 30], [50]], [None, None], Scale(low=0, high=100))
    >>> ratings_of(scores, np.arange(1.0, 6.0))[0].tolist()
    [2.0, 3.0]
    """
    n_items = len(scores.problems)
    if scores.scale is None:
        reasons = [one or UNKNOWN_SCALE for one in scores.problems]
        return np.full(n_items, np.nan), tuple(reasons)
    ends = scores.scale.low, scores.scale.high
    points = nearest_levels(scores.values, levels=levels, scale=ends)
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


def _counted(
    own: FloatArray, human: FloatArray, sources: IntArray, n_sources: int, levels: FloatArray
) -> Counted:
    """Return linear-weighted kappa from each source's disagreements and levels."""
    scored = ~np.isnan(own)
    own, human, sources = own[scored], human[scored], sources[scored]
    first, second = (level_codes(each, levels, name="ratings") for each in (human, own))
    n, apart = len(levels), disagreements(len(levels), "linear")
    sums = np.zeros((n_sources, 2 * n + 1))
    np.add.at(sums, (sources, first), 1.0)
    np.add.at(sums, (sources, n + second), 1.0)
    np.add.at(sums, (sources, np.full(len(sources), 2 * n)), apart[first, second])

    def kappas(counts: FloatArray) -> FloatArray:
        found = counts @ sums
        return kappa_of_sums(found[:, -1], found[:, :n], found[:, n:-1], apart)

    value = float(kappas(np.ones((1, n_sources)))[0]) if len(own) else math.nan
    return Counted(value=value, of_counts=kappas, n_units=len(np.unique(sources)))

"""Whether a judge orders near neighbours: pairs of one source whose ratings are next to each other.

A judge's score of a text is the mean of its samples; a tie is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.experiments.agreeing import Unscored
from judgesmith.experiments.error_differences import (
    accuracy_apart,
    error_pairs,
    preferred_by_score,
)
from judgesmith.experiments.global_perspective import refuse_none_kept
from judgesmith.experiments.perspective_ratings import RightLevels
from judgesmith.experiments.perspective_scores import SampledScores
from judgesmith.metrics import (
    AccuracyByErrors,
    AdjacentAccuracy,
    Estimate,
    accuracy_by_errors,
    adjacent_accuracy,
)
from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.correlations.column import Column
from judgesmith.metrics.pairs.adjacent import neighbouring_rows, rounded_scores
from judgesmith.optimizers.source_counts import Counted, ratio_of_sums
from judgesmith.signatures.scale import Scale


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalReport:
    """How well a judge orders near neighbours on one criterion.

    Attributes
    ----------
    criterion : str
        What was rated.
    accuracy : AdjacentAccuracy
        Over all pairs from neighbouring occupied ratings of a source, with an interval over
        sources.
    by_errors : AccuracyByErrors or None
        By how many errors were put into either text, where the set says so.
    right : RightLevels
        What was compared with, and what was left out.
    unscored : Unscored
        Texts with a right place and no score of the judge.
    n_outside : int
        Samples left out because they lie outside of the judge's scale.
    n_samples : (int, int)
        The fewest and the most samples that a judged text has.
    answers : Scale or None
        What the samples are points of, where that is known; it makes no difference.
    counted : Counted
        The accuracy as a function of how often each source is drawn.
    apart : dict of int to Estimate
        I(k): the same of all pairs that differ by k errors, where the set says so.
    """

    criterion: str
    accuracy: AdjacentAccuracy
    by_errors: AccuracyByErrors | None
    right: RightLevels
    unscored: Unscored
    n_outside: int
    n_samples: tuple[int, int]
    answers: Scale | None
    counted: Counted
    apart: Mapping[int, Estimate]

    @property
    def value(self) -> AdjacentAccuracy:
        """Return the one number of the report."""
        return self.accuracy

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        counts = self.right.counts
        return {
            "accuracy": self.accuracy.to_dict(),
            "by_errors": None if self.by_errors is None else self.by_errors.to_dict(),
            "errors_apart": {str(k): one.to_dict() for k, one in self.apart.items()},
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


def local_report(
    right: RightLevels,
    scores: SampledScores,
    sources: IntArray,
    *,
    n_errors: FloatArray | None = None,
) -> LocalReport:
    """Return how well a judge orders texts of one source whose ratings are neighbours.

    Parameters
    ----------
    right : RightLevels
        One value per text, of which the order within a source counts.
    scores : SampledScores
        The judge's answers.
    sources : int array, shape (n_items,)
        From 0 on: what was responded to, or what must stay together with it.
    n_errors : array, shape (n_items,), or None
        How many errors were put into each text, nan where nobody says.

    Raises
    ------
    ValueError
        If no text has a value, no source has two different ones, or no pair has two scores.

    Examples
    --------
    >>> from judgesmith.experiments.dataset import DataSet
    >>> from judgesmith.experiments.perspective_ratings import right_levels
    >>> from judgesmith.signatures.rated import RatedItem
    >>> items = [
    ...     RatedItem(source_id="a", response="", human={"wit": (r, r)}, scale={"wit": "1..5"})
    ...     for r in (1, 3, 5)
    ... ]
    >>> data = DataSet(name="toy", items=tuple(items))
    >>> answers = SampledScores.of([[4], [6, 7], [6.5]], [None] * 3, Scale(low=1, high=10))
    >>> found = local_report(right_levels(data, "wit"), answers, data.groups)
    >>> found.accuracy.value, found.accuracy.n, found.accuracy.tied
    (0.5, 2, 0.5)
    """
    refuse_none_kept(right)
    kept = right.kept
    own, human, labels = scores.values[kept], right.values[kept], sources[kept]
    accuracy = adjacent_accuracy(own, human, sources=labels.tolist())
    unscored = np.isnan(own).all(axis=1)
    counts = Counter(scores.problems[place] for place in kept[unscored].tolist())
    _refuse_no_pair(right, accuracy, counts)
    judged = scores.n_samples[kept][scores.n_samples[kept] > 0]
    pairs = error_pairs(np.full(len(kept), np.nan) if n_errors is None else n_errors[kept], labels)
    return LocalReport(
        criterion=right.criterion,
        accuracy=accuracy,
        by_errors=_by_errors(own, n_errors[kept], labels) if n_errors is not None else None,
        right=right,
        unscored=Unscored(
            n=counts.total(),
            n_rows=len(kept),
            reasons={str(why): n for why, n in counts.most_common()},
        ),
        n_outside=scores.n_outside,
        n_samples=(int(judged.min(initial=10**9)), int(judged.max(initial=0))),
        answers=scores.scale,
        counted=_counted(own, human, labels, int(sources.max(initial=-1)) + 1),
        apart=accuracy_apart(preferred_by_score(own, pairs), pairs),
    )


def _refuse_no_pair(
    right: RightLevels, accuracy: AdjacentAccuracy, counts: Counter[str | None]
) -> None:
    if accuracy.n:
        return
    if accuracy.n_unscored:
        why = f": {counts.most_common(1)[0][0]}" if counts else ""
        raise ValueError(
            f"no pair of neighbours on {right.criterion} has two scores{why}. Choose another "
            "target, or score these texts."
        )
    raise ValueError(
        f"no source has two texts with different undisputed ratings on {right.criterion}, and "
        "only texts of one source are compared. Say --aggregate mean to take all ratings."
    )


def _by_errors(own: FloatArray, n_errors: FloatArray, sources: IntArray) -> AccuracyByErrors | None:
    stated = ~np.isnan(n_errors)
    if len(np.unique(n_errors[stated])) < 2:
        return None
    return accuracy_by_errors(own[stated], n_errors[stated], sources=sources[stated].tolist())


def _counted(own: FloatArray, human: FloatArray, sources: IntArray, n_sources: int) -> Counted:
    """Return the share of pairs in order, from each source's own pairs."""
    scores = rounded_scores(own)
    worse, better = neighbouring_rows(sources, Column.of(human))
    scored = ~np.isnan(scores[worse]) & ~np.isnan(scores[better])
    worse, better = worse[scored], better[scored]
    right = (scores[worse] < scores[better]).astype(np.float64)
    return ratio_of_sums(right, np.ones(len(right)), sources[worse], n_sources)

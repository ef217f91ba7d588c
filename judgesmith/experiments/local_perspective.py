"""Whether a judge orders near neighbours: pairs of one source whose ratings are next to each other.

A judge's score of a text is the mean of its samples; a tie is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.perspective_on import Basis, OnCriterion, n_sources_of, why_unscored
from judgesmith.experiments.perspective_ratings import RightLevels
from judgesmith.experiments.perspective_scores import SampledScores
from judgesmith.metrics import Estimate
from judgesmith.metrics.arrays import FloatArray, IntArray
from judgesmith.metrics.pairs import (
    AccuracyByErrors,
    AdjacentAccuracy,
    accuracy_by_errors,
    adjacent_accuracy,
)
from judgesmith.metrics.pairs.errors import (
    accuracy_apart,
    error_pairs,
    preferred_by_score,
)
from judgesmith.metrics.pairs.ordering import rounded_scores
from judgesmith.optimizers.objectives.agreement import NeighbourAccuracy
from judgesmith.optimizers.predictions import PredictionTable


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalReport(OnCriterion):
    """How well a judge orders near neighbours on one criterion.

    Attributes
    ----------
    accuracy : AdjacentAccuracy
        Over all pairs from neighbouring occupied ratings of a source, with an interval over
        sources.
    by_errors : AccuracyByErrors or None
        By how many errors were put into either text, where the set says so.
    apart : dict of int to Estimate
        I(k): the same of all pairs that differ by k errors, where the set says so.
    criterion, basis, counted
        See ``OnCriterion``.
    """

    accuracy: AdjacentAccuracy
    by_errors: AccuracyByErrors | None
    apart: Mapping[int, Estimate]

    @property
    def value(self) -> AdjacentAccuracy:
        """Return the one number of the report."""
        return self.accuracy

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {
            "accuracy": self.accuracy.to_dict(),
            "by_errors": None if self.by_errors is None else self.by_errors.to_dict(),
            "errors_apart": {str(k): one.to_dict() for k, one in self.apart.items()},
            **self.basis.to_dict(),
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
    >>> from judgesmith.signatures import RatedItem, Scale
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
    basis = Basis.of(right, scores, scores.problems)
    kept = right.kept
    own, labels = scores.values[kept], sources[kept]
    table = PredictionTable(
        predicted=rounded_scores(own), human=right.values[kept], sources=labels, systems=labels
    )
    accuracy = adjacent_accuracy(table.human, table.predicted, sources=labels.tolist())
    _refuse_no_pair(right, accuracy, basis)
    stated = np.full(len(kept), np.nan) if n_errors is None else n_errors[kept]
    pairs = error_pairs(stated, labels)
    return LocalReport(
        criterion=right.criterion,
        basis=basis,
        counted=NeighbourAccuracy().counted_target(table, labels, n_sources_of(sources)),
        accuracy=accuracy,
        by_errors=_by_errors(own, stated, labels),
        apart=accuracy_apart(preferred_by_score(own, pairs), pairs),
    )


def _refuse_no_pair(right: RightLevels, accuracy: AdjacentAccuracy, basis: Basis) -> None:
    if accuracy.n:
        return
    if accuracy.n_unscored:
        advice = "Choose another target, or score these texts"
        why = next((f": {why_unscored(one, advice)}" for one in basis.unscored.causes), "")
        raise InputError(
            f"no pair of neighbours on {right.criterion} has two scores{why or f'. {advice}.'}"
        )
    raise InputError(
        f"no source has two texts with different undisputed ratings on {right.criterion}, and "
        "only texts of one source are compared.",
        hint="say --aggregate mean to take all ratings.",
    )


def _by_errors(own: FloatArray, n_errors: FloatArray, sources: IntArray) -> AccuracyByErrors | None:
    stated = ~np.isnan(n_errors)
    if len(np.unique(n_errors[stated])) < 2:
        return None
    return accuracy_by_errors(own[stated], n_errors[stated], sources=sources[stated].tolist())

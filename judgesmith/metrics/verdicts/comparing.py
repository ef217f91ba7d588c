"""Two judges' verdicts on the same rows: differences of rates, and exact tests of them."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from judgesmith.metrics.arrays import IntArray, Seed
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import PairedEstimate, Record
from judgesmith.metrics.resampling.draws import (
    checked_generator,
    difference_of,
    draws_of_sources,
    varying_interval,
)
from judgesmith.metrics.verdicts.confusion import (
    Classes,
    CodedVerdicts,
    Values,
    VerdictMetric,
)

# Up to so many cells is the distribution of all sign changes computed, by sums.
_MOST_SUMS = 2**26
# Whole numbers that stand for shares of a row are at most so large.
_LARGEST = 2**40


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictComparison(Record):
    """Differences of two judges' rates on the same rows, ``first`` minus ``second``.

    Attributes
    ----------
    tpr, tnr, balanced_accuracy : PairedEstimate
        Intervals are percentiles of a bootstrap over sources; ``p_value`` is that of ``test``.
    test : {"mcnemar", "sign-flip"}
        Exact McNemar within the class where every source has one row; otherwise the verdicts of
        the judges change hands by source.
    first_only, second_only : tuple of int, int
        Rows of the positive class, and of the others, that only that judge gets right.
    n, n_groups, n_unlabelled, n_unscored : int
        Rows with a label and both verdicts, their sources, and rows left out.
    """

    tpr: PairedEstimate
    tnr: PairedEstimate
    balanced_accuracy: PairedEstimate
    test: Literal["mcnemar", "sign-flip"]
    first_only: tuple[int, int]
    second_only: tuple[int, int]
    n: int
    n_groups: int
    n_unlabelled: int
    n_unscored: int


def compare_verdicts(
    labels: Values,
    first: Values,
    second: Values,
    sources: Labels | None = None,
    *,
    positive: object = None,
    classes: Classes = None,
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> VerdictComparison:
    """Compare two judges' verdicts on the rows that both gave one.

    Parameters
    ----------
    labels, first, second : sequence of labels, shape (n_rows,); nan or None where missing
    sources : sequence of labels, one per row, or None
    positive, classes
        As for :func:`~judgesmith.metrics.verdicts.f1`; with three or more labels TPR and TNR are
        those of the positive label against the rest.
    confidence, seed, n_resamples
        As in :mod:`judgesmith.metrics`: coverage, seed or generator, 20 resamples or more.

    Returns
    -------
    VerdictComparison
        p-values are exact for TPR and TNR. ``low`` and ``high`` are nan if no resample differs
        from another.

    References
    ----------
    McNemar (1947), "Note on the sampling error of the difference between correlated proportions
    or percentages", Psychometrika 12. Fisher (1935), "The Design of Experiments", section 21, for
    changes of sign.

    Examples
    --------
    >>> labels = [1] * 20 + [0] * 20
    >>> found = compare_verdicts(labels, labels, [1] * 30 + [0] * 10)
    >>> found.tnr.value, found.first_only, round(found.tnr.p_value, 4), found.test
    (0.5, (0, 10), 0.002, 'mcnemar')
    """
    rng = checked_generator(seed, n_resamples, confidence)
    rows = CodedVerdicts.of(
        labels, first, second, sources=sources, classes=classes, positive=positive
    )
    good, n, gains = rows.true == rows.place, len(rows.true), _gains(rows)
    draws = [*draws_of_sources(rows.n_sources, n_resamples, rng)] if n else []

    def difference(name: VerdictMetric) -> PairedEstimate:
        one, other = rows.counted(name), rows.counted(name, judge=1)
        members = {"tpr": good, "tnr": ~good}.get(name, np.ones(n, bool))
        found = difference_of(
            one,
            other,
            iter([(counts,) for counts in draws]),
            confidence=confidence,
            interval=lambda _, resampled, n_units: varying_interval(resampled, n_units, confidence),
            n=int(np.count_nonzero(members)),
            n_groups=one.n_units,
            statistic=name,
        )
        own = np.bincount(rows.sources, weights=gains[name], minlength=rows.n_sources)
        p_value = math.nan if math.isnan(found.value) else sign_flip_p(own.astype(np.int64), rng)
        return replace(found, p_value=p_value)

    only = [
        tuple(int(np.count_nonzero(gains[name] * sign > 0)) for name in ("tpr", "tnr"))
        for sign in (1, -1)
    ]
    return VerdictComparison(
        tpr=difference("tpr"),
        tnr=difference("tnr"),
        balanced_accuracy=difference("balanced_accuracy"),
        test="mcnemar" if rows.n_sources == n else "sign-flip",
        first_only=(only[0][0], only[0][1]),
        second_only=(only[1][0], only[1][1]),
        n=n,
        n_groups=rows.n_sources,
        n_unlabelled=rows.n_unlabelled,
        n_unscored=rows.n_unscored,
    )


def _gains(rows: CodedVerdicts) -> dict[str, IntArray]:
    """Return by how much each row makes the first judge's rates higher, in whole numbers."""
    good = rows.true == rows.place
    passed, right = ((rows.said == each).astype(np.int64) for each in (rows.place, rows.true))
    size = np.bincount(rows.true, minlength=len(rows.classes))
    # In proportion to one over the size of the class; exactly so, unless the numbers are huge.
    common = min(math.lcm(*size[size > 0].tolist()), _LARGEST)
    weight = np.round(common / size[rows.true]).astype(np.int64)
    return {
        "tpr": np.where(good, passed[0] - passed[1], 0),
        "tnr": np.where(good, 0, passed[1] - passed[0]),
        "balanced_accuracy": (right[0] - right[1]) * weight,
    }


def sign_flip_p(gains: IntArray, rng: np.random.Generator) -> float:
    """Return the p-value of a sum of randomly signed whole numbers, exact or from 9,999 draws."""
    own = np.abs(gains[gains != 0])
    if not own.size:
        return 1.0
    observed = abs(int(gains.sum()))
    own //= (shared := int(np.gcd.reduce(own)))
    observed //= shared
    if own.sum() * len(own) > _MOST_SUMS:
        sums = np.array(
            [abs(int((rng.integers(2, size=len(own)) * 2 - 1) @ own)) for _ in range(9999)]
        )
        return float((np.count_nonzero(sums >= observed) + 1) / 10_000)
    # How likely it is that those with a positive sign add up to each number.
    chance = np.ones(1)
    for size in own.tolist():
        chance = (np.pad(chance, (0, size)) + np.pad(chance, (size, 0))) / 2
    sums = np.abs(2 * np.arange(len(chance)) - len(chance) + 1)
    return min(1.0, float(chance[sums >= observed].sum()))

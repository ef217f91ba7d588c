"""Curves of scores over all thresholds: ROC, precision and recall, and the areas below them."""

import math
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import FloatArray, Seed, label_list, ratio, score_vector
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate, Record
from judgesmith.metrics.resampling.counted import in_blocks
from judgesmith.metrics.resampling.draws import (
    Counted,
    checked_generator,
    draws_of_units,
    estimate_of,
    varying_interval,
)
from judgesmith.metrics.resampling.jackknife import left_out_interval
from judgesmith.metrics.verdicts.confusion import Classes, CodedVerdicts, Values


def roc_auc(labels: Values, scores: ArrayLike, *, positive: object = None) -> float:
    """Return the chance that a positive row has a higher score than another; ties count a half.

    Parameters
    ----------
    labels : sequence of labels, shape (n_rows,)
    scores : array-like, shape (n_rows,)
        Rows where either is nan or None are left out; :func:`verdict_curves` counts them.
    positive : label, or None
        As for :func:`~judgesmith.metrics.verdicts.f1`.

    References
    ----------
    Hanley and McNeil (1982), "The meaning and use of the area under a receiver operating
    characteristic (ROC) curve", Radiology 143.

    Examples
    --------
    >>> roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    0.875
    """
    return _area(_Scored.of(labels, scores, positive=positive))


def average_precision(labels: Values, scores: ArrayLike, *, positive: object = None) -> float:
    """Return precision averaged over the recall that each threshold adds, without interpolation.

    Parameters
    ----------
    labels, scores, positive
        As for :func:`roc_auc`.

    Examples
    --------
    >>> round(average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 3)
    0.833
    """
    rows = _Scored.of(labels, scores, positive=positive)
    return _counted_precision(rows, len(rows.good)).value


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCurves(Record):
    """What each threshold on scores does, and the areas under both curves.

    Attributes
    ----------
    area, average_precision : Estimate
        As :func:`roc_auc` and :func:`average_precision`, with intervals over sources.
    threshold, tpr, fpr, precision : tuple of float
        One entry per distinct score, rising; rows pass with that score or more. ``tpr`` against
        ``fpr`` is the ROC curve, ``precision`` against ``tpr`` that of precision and recall.
    n_positive, n_negative, n_groups, n_unlabelled, n_unscored : int
    """

    area: Estimate
    average_precision: Estimate
    threshold: tuple[float, ...]
    tpr: tuple[float, ...]
    fpr: tuple[float, ...]
    precision: tuple[float, ...]
    n_positive: int
    n_negative: int
    n_groups: int
    n_unlabelled: int
    n_unscored: int


def verdict_curves(
    labels: Values,
    scores: ArrayLike,
    sources: Labels | None = None,
    *,
    positive: object = None,
    classes: Classes = None,
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> VerdictCurves:
    """Return the ROC curve and that of precision and recall, with areas and their intervals.

    Parameters
    ----------
    labels, scores, positive
        As for :func:`roc_auc`.
    sources : sequence of labels, one per row, or None
    classes
        As for :func:`~judgesmith.metrics.verdicts.f1`.
    confidence, seed, n_resamples
        As in :mod:`judgesmith.metrics`: coverage, seed or generator, 20 resamples or more.

    Returns
    -------
    VerdictCurves
        The interval of the ROC area is Student's for its logit, by the infinitesimal jackknife
        over sources; nan where the area is 1. That of average precision are percentiles of a
        bootstrap.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44, and Obuchowski (1997), "Nonparametric
    analysis of clustered ROC curve data", Biometrics 53, for the variance.

    Examples
    --------
    >>> found = verdict_curves([0, 0, 1, 1] * 5, [0.1, 0.4, 0.4, 0.8] * 5)
    >>> found.area.value, found.tpr, found.fpr
    (0.875, (1.0, 1.0, 0.5), (1.0, 0.5, 0.0))
    """
    rng = checked_generator(seed, n_resamples, confidence)
    rows = _Scored.of(labels, scores, sources, positive=positive, classes=classes)
    n, n_positive = len(rows.good), int(np.count_nonzero(rows.good))
    n_sources = rows.coded.n_sources
    shown = {"n": n, "n_groups": n_sources}
    area = _area(rows)
    levels, codes = np.unique(rows.scores, return_inverse=True)
    passed = [
        np.cumsum(np.bincount(codes[own], minlength=len(levels))[::-1])[::-1]
        for own in (rows.good, ~rows.good)
    ]
    columns = {
        "threshold": levels,
        "tpr": ratio(passed[0], np.full(len(levels), n_positive)),
        "fpr": ratio(passed[1], np.full(len(levels), n - n_positive)),
        "precision": ratio(passed[0], passed[0] + passed[1]),
    }
    return VerdictCurves(
        area=Estimate.of(
            area,
            _logit_interval(area, rows, confidence),
            confidence,
            n_undefined=int(math.isnan(area)),
            statistic="AUC",
            **shown,
        ),
        average_precision=estimate_of(
            _counted_precision(rows, n_sources),
            draws_of_units((n_sources,), n_resamples, rng),
            confidence=confidence,
            interval=lambda _, found, n_units: varying_interval(found, n_units, confidence),
            statistic="average precision",
            **shown,
        ),
        **{name: tuple(column.tolist()) for name, column in columns.items()},
        n_positive=n_positive,
        n_negative=n - n_positive,
        n_groups=n_sources,
        n_unlabelled=rows.coded.n_unlabelled,
        n_unscored=rows.coded.n_unscored,
    )


@dataclass(frozen=True, slots=True)
class _Scored:
    """Rows with a label and a score, and whether the label is the positive one."""

    coded: CodedVerdicts
    scores: FloatArray
    good: NDArray[np.bool_]

    @classmethod
    def of(
        cls, labels: Values, scores: ArrayLike, sources: Labels | None = None, **how: Any
    ) -> Self:
        given = label_list(labels, name="labels")
        found = score_vector(scores, name="scores", n_items=len(given), allow_missing=True)
        missing = np.isnan(found)
        scored = [None if gone else one for one, gone in zip(given, missing, strict=True)]
        coded = CodedVerdicts.of(given, scored, sources=sources, **how)
        return cls(coded, found[coded.kept], coded.true == coded.place)


def _area(rows: _Scored) -> float:
    return float(_beaten(rows)[rows.good].mean()) if rows.good.any() else math.nan


def _beaten(rows: _Scored) -> FloatArray:
    """Return the share of rows of the other label that each row is on the right side of."""
    beaten = np.full(len(rows.good), np.nan)
    for own, sign in ((rows.good, 1), (~rows.good, -1)):
        others = np.sort(sign * rows.scores[~own])
        sides = (np.searchsorted(others, sign * rows.scores[own], side) for side in _SIDES)
        beaten[own] = ratio(sum(sides) / 2, np.full(np.count_nonzero(own), len(others)))
    return beaten


_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


def _logit_interval(area: float, rows: _Scored, confidence: float) -> tuple[float, float]:
    """Return Student's interval of the logit, from what each source adds to first order."""
    if not 0 < area < 1:
        return math.nan, math.nan
    size = np.where(rows.good, np.count_nonzero(rows.good), np.count_nonzero(~rows.good))
    shifts = np.bincount(rows.coded.sources, weights=(_beaten(rows) - area) / size)
    n = len(shifts)
    if n < 2:
        return math.nan, math.nan
    logit = math.log(area / (1 - area))
    left_out = logit - shifts / (area * (1 - area)) * n / (n - 1)
    low, high = (1 / (1 + math.exp(-end)) for end in left_out_interval(logit, left_out, confidence))
    return low, high


def _counted_precision(rows: _Scored, n_sources: int) -> Counted:
    """Return average precision as a function of how often each source is drawn."""
    from scipy.sparse import csr_array

    levels, codes = np.unique(-rows.scores, return_inverse=True)
    n_levels = len(levels)
    places = codes + n_levels * rows.good
    shape = n_sources, 2 * n_levels
    sums = csr_array((np.ones(len(codes)), (rows.coded.sources, places)), shape=shape)

    def precision(counts: FloatArray) -> FloatArray:
        found = np.asarray(counts @ sums).reshape(len(counts), 2, n_levels)
        good, passed = found[:, 1], np.cumsum(found, axis=2)
        exact = ratio(passed[:, 1], passed.sum(axis=1), otherwise=0.0)
        return ratio(np.sum(good * exact, axis=1), good.sum(axis=1))

    value = float(precision(np.ones((1, n_sources)))[0]) if n_levels else math.nan
    return Counted(
        value=value,
        of_counts=in_blocks(precision, 2 * n_levels),
        n_units=n_sources,
        n_undefined=int(math.isnan(value)),
    )

"""How well verdicts agree with raters' labels: each metric, and all of them with intervals."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.arrays import FloatArray, Seed, fraction, number
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate, Record
from judgesmith.metrics.resampling.draws import estimates_of_sums
from judgesmith.metrics.resampling.shares import share_interval, wilson_interval
from judgesmith.metrics.verdicts.confusion import (
    OF_POSITIVE,
    Classes,
    CodedVerdicts,
    Tables,
    Values,
    VerdictMetric,
)

BoolArray = NDArray[np.bool_]


def accuracy(labels: Values, verdicts: Values, *, classes: Classes = None) -> float:
    """Return the share of verdicts that are the raters' label.

    Parameters
    ----------
    labels, verdicts : sequence of labels, shape (n_rows,)
        What raters and what the judge said: words, booleans, or 0 and 1; none missing.
    classes : sequence of labels, or None
        All labels there are, worst first where they have an order. None: those that occur.

    Examples
    --------
    >>> accuracy(["pass", "fail", "pass", "pass"], ["pass", "fail", "fail", "pass"])
    0.75
    """
    return _value("accuracy", labels, verdicts, classes)


def balanced_accuracy(labels: Values, verdicts: Values, *, classes: Classes = None) -> float:
    """Return the mean over labels of the share of their rows that get that verdict.

    With two labels it is the mean of TPR and TNR, and .5 for chance, whatever the prevalence.

    Parameters
    ----------
    labels, verdicts, classes
        As for :func:`accuracy`; labels that raters never gave do not count.

    Returns
    -------
    float
        nan if raters gave fewer than two labels.

    References
    ----------
    Brodersen, Ong, Stephan and Buhmann (2010), "The balanced accuracy and its posterior
    distribution", ICPR.

    Examples
    --------
    >>> balanced_accuracy(["pass", "pass", "pass", "fail"], ["pass", "pass", "pass", "pass"])
    0.5
    """
    return _value("balanced_accuracy", labels, verdicts, classes)


def mcc(labels: Values, verdicts: Values, *, classes: Classes = None) -> float:
    """Return Matthews' correlation of labels and verdicts, for any number of labels.

    Parameters
    ----------
    labels, verdicts, classes
        As for :func:`accuracy`.

    Returns
    -------
    float
        From -1 to 1, 0 for chance; nan if labels or verdicts are all the same.

    References
    ----------
    Gorodkin (2004), "Comparing two K-category assignments by a K-category correlation
    coefficient", Computational Biology and Chemistry 28.

    Examples
    --------
    >>> round(mcc([1, 1, 1, 0, 0], [1, 1, 0, 0, 0]), 3)
    0.667
    """
    return _value("mcc", labels, verdicts, classes)


def cohen_kappa(labels: Values, verdicts: Values, *, classes: Classes = None) -> float:
    """Return Cohen's kappa: accuracy beyond what the two distributions let expect by chance.

    Parameters
    ----------
    labels, verdicts, classes
        As for :func:`accuracy`; for an order see :func:`~judgesmith.metrics.weighted_kappa`.

    Examples
    --------
    >>> round(cohen_kappa([1, 1, 1, 0, 0], [1, 1, 0, 0, 0]), 3)
    0.615
    """
    return _value("kappa", labels, verdicts, classes)


def macro_f1(labels: Values, verdicts: Values, *, classes: Classes = None) -> float:
    """Return the mean of F1 over the labels that raters or the judge gave.

    Parameters
    ----------
    labels, verdicts, classes
        As for :func:`accuracy`.

    Examples
    --------
    >>> round(macro_f1(["a", "b", "c", "c"], ["a", "b", "b", "c"]), 3)
    0.778
    """
    return _value("macro_f1", labels, verdicts, classes)


def f1(
    labels: Values, verdicts: Values, *, positive: object = None, classes: Classes = None
) -> float:
    """Return F1 of the positive label: the harmonic mean of precision and TPR.

    Parameters
    ----------
    labels, verdicts, classes
        As for :func:`accuracy`.
    positive : label, or None
        Of which label. None: ``pass``, ``yes``, ``true``, True or 1, whichever occurs.

    Examples
    --------
    >>> f1([1, 1, 1, 0, 0], [1, 1, 0, 0, 0]), round(f1([1, 1, 0], [1, 0, 0], positive=0), 3)
    (0.8, 0.667)
    """
    return _value("f1", labels, verdicts, classes, positive)


def tpr(
    labels: Values, verdicts: Values, *, positive: object = None, classes: Classes = None
) -> float:
    """Return the share of positive rows that the judge passes (recall); nan without such rows.

    Parameters
    ----------
    labels, verdicts, positive, classes
        As for :func:`f1`.

    Examples
    --------
    >>> tpr(["pass", "pass", "fail"], ["pass", "fail", "fail"])
    0.5
    """
    return _value("tpr", labels, verdicts, classes, positive)


def tnr(
    labels: Values, verdicts: Values, *, positive: object = None, classes: Classes = None
) -> float:
    """Return the share of rows without the positive label that the judge stops (specificity).

    Parameters
    ----------
    labels, verdicts, positive, classes
        As for :func:`f1`; with three or more labels one against the rest.

    Examples
    --------
    >>> tnr(["pass", "pass", "fail"], ["pass", "fail", "fail"])
    1.0
    """
    return _value("tnr", labels, verdicts, classes, positive)


def precision(
    labels: Values, verdicts: Values, *, positive: object = None, classes: Classes = None
) -> float:
    """Return the share of passed rows that are positive; it changes with the prevalence.

    Parameters
    ----------
    labels, verdicts, positive, classes
        As for :func:`f1`.

    Examples
    --------
    >>> precision(["pass", "pass", "fail"], ["pass", "fail", "fail"])
    1.0
    """
    return _value("precision", labels, verdicts, classes, positive)


def npv(
    labels: Values, verdicts: Values, *, positive: object = None, classes: Classes = None
) -> float:
    """Return the share of stopped rows that are not positive (negative predictive value).

    Parameters
    ----------
    labels, verdicts, positive, classes
        As for :func:`f1`.

    Examples
    --------
    >>> npv(["pass", "pass", "fail"], ["pass", "fail", "fail"])
    0.5
    """
    return _value("npv", labels, verdicts, classes, positive)


def expected_cost(
    labels: Values,
    verdicts: Values,
    *,
    costs: Mapping[object, float],
    classes: Classes = None,
) -> float:
    """Return the mean cost per row of wrong verdicts; better when lower.

    Parameters
    ----------
    labels, verdicts, classes
        As for :func:`accuracy`.
    costs : mapping from each label to what a wrong verdict costs on a row with that label

    Examples
    --------
    >>> costs = {"fail": 5, "pass": 1}
    >>> expected_cost(["pass", "fail", "pass"], ["pass", "pass", "fail"], costs=costs)
    2.0
    """
    return _value("cost", labels, verdicts, classes or tuple(costs), costs=costs)


def _value(
    name: VerdictMetric,
    labels: Values,
    verdicts: Values,
    classes: Classes,
    positive: object = None,
    costs: Mapping[object, float] | None = None,
) -> float:
    """Return one metric; refuse rows without a label or a verdict."""
    rows = CodedVerdicts.of(labels, verdicts, classes=classes, positive=positive)
    if left_out := rows.n_unlabelled + rows.n_unscored:
        raise ValueError(
            f"{left_out} rows have no label or no verdict; leave them out and report how many "
            "there were, or take verdict_agreement, which counts them."
        )
    place = rows.place if name in OF_POSITIVE else -1
    whole = rows.sums().sum(axis=0)
    return float(Tables.of(whole[None], whole, place, rows.cost_of(costs)).value(name)[0])


def labels_needed(
    rate: float = 0.9,
    half_width: float = 0.05,
    *,
    cluster_size: float = 1.0,
    intraclass: float = 0.0,
    confidence: float = 0.95,
) -> int:
    """Return how many rows of a class give its TPR or TNR an interval of a given half width.

    The interval is Wilson's. Rows that come in clusters of ``m`` are worth less by the design
    effect ``1 + (m - 1) * intraclass``.

    Parameters
    ----------
    rate, half_width : float, between 0 and 1; what is expected, and wanted
    cluster_size : float, at least 1; rows of the class per source
    intraclass : float, from 0 to 1; how alike verdicts on rows of one source are
    confidence : float, between 0 and 1

    Examples
    --------
    >>> labels_needed(0.9), labels_needed(0.9, cluster_size=5, intraclass=0.3)
    (141, 311)
    """
    for name, value in {"rate": rate, "half_width": half_width, "confidence": confidence}.items():
        fraction(value, name=name)
    if number(cluster_size, name="cluster_size") < 1 or not 0 <= intraclass <= 1:
        raise ValueError(
            "cluster_size must be 1 or more, and intraclass from 0 to 1; got "
            f"{cluster_size} and {intraclass}."
        )
    n = 1
    while np.ptp(wilson_interval(rate, n, confidence=confidence)) > 2 * half_width:
        n += 1
    return math.ceil(n * (1 + (cluster_size - 1) * intraclass))


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictAgreement(Record):
    """All metrics of a judge's verdicts, with intervals over sources.

    Attributes
    ----------
    classes : tuple of labels; the order of ``counts``, ``recall`` and ``f1_by_label``
    positive : label
    counts : tuple of tuples of int; rows are raters' labels, columns the judge's
    prevalence, judged : Estimate
        Share of rows with the positive label, by raters and by the judge.
    tpr, tnr, precision, npv : Estimate
        Of the positive label, with three or more labels against the rest. ``n`` counts the rows
        of the class.
    accuracy, balanced_accuracy, mcc, kappa, ac1, f1, macro_f1 : Estimate
        ``kappa`` is Cohen's, ``ac1`` Gwet's, ``f1`` that of the positive label.
    quadratic_kappa, cost : Estimate or None; for labels in an order, and where costs are given
    recall, f1_by_label : tuple of Estimate, one per class
    n, n_groups, n_unlabelled, n_unscored : int
        Rows and sources that entered; rows left out without a label, and those that have a label
        and no verdict.
    """

    classes: tuple[object, ...]
    positive: object
    counts: tuple[tuple[int, ...], ...]
    prevalence: Estimate
    judged: Estimate
    tpr: Estimate
    tnr: Estimate
    precision: Estimate
    npv: Estimate
    accuracy: Estimate
    balanced_accuracy: Estimate
    mcc: Estimate
    kappa: Estimate
    ac1: Estimate
    f1: Estimate
    macro_f1: Estimate
    quadratic_kappa: Estimate | None
    cost: Estimate | None
    recall: tuple[Estimate, ...]
    f1_by_label: tuple[Estimate, ...]
    n: int
    n_groups: int
    n_unlabelled: int
    n_unscored: int


def verdict_agreement(
    labels: Values,
    verdicts: Values,
    *,
    sources: Labels | None = None,
    positive: object = None,
    classes: Classes = None,
    ordered: bool = False,
    costs: Mapping[object, float] | None = None,
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> VerdictAgreement:
    """Return all metrics of verdicts with intervals over sources.

    Intervals of shares (TPR, TNR, precision, NPV, recall, accuracy) are those of
    :func:`~judgesmith.metrics.resampling.share_interval`, which also have a length where every
    verdict is right. The others are percentiles of one bootstrap over sources.

    Parameters
    ----------
    labels, verdicts : sequence of labels, shape (n_rows,)
        Words, booleans, or 0 and 1. Rows where either is nan or None are left out and counted.
    sources : sequence of labels, one per row, or None
    positive, classes
        As for :func:`~judgesmith.metrics.verdicts.f1`.
    ordered : bool; whether ``classes`` are in order, for quadratic kappa
    costs : mapping from each label to a number, or None
    confidence, seed, n_resamples
        As in :mod:`judgesmith.metrics`: coverage, seed or generator, 20 resamples or more.

    Returns
    -------
    VerdictAgreement
        Undefined metrics are nan, with ``n_undefined`` 1, or the number of labels without rows.

    Examples
    --------
    >>> labels = ["pass", "fail", "pass", "pass", "fail", None, "pass", "fail"] * 5
    >>> verdicts = ["pass", "fail", "pass", "fail", "fail", "pass", None, "pass"] * 5
    >>> found = verdict_agreement(labels, verdicts, sources=[row // 4 for row in range(40)])
    >>> found.counts, found.n_unlabelled, found.n_unscored
    (((10, 5), (5, 10)), 5, 5)
    >>> round(found.tnr.value, 2), round(found.mcc.value, 2), found.tnr.n
    (0.67, 0.33, 15)
    """
    rows = CodedVerdicts.of(labels, verdicts, sources=sources, classes=classes, positive=positive)
    place, n, n_classes = rows.place, len(rows.true), len(rows.classes)
    by_name, f1_by_label = _composites(
        rows, ordered, rows.cost_of(costs), seed, n_resamples, confidence
    )

    def share(yes: BoolArray, among: BoolArray, name: str) -> Estimate:
        kept = np.flatnonzero(among)
        one = share_interval(yes[kept], sources=rows.sources[kept], confidence=confidence)
        return replace(one, statistic=name, n_undefined=int(not kept.size))

    everywhere = np.ones(n, bool)
    good, passed, right = rows.true == place, rows.said[0] == place, rows.true == rows.said[0]
    return VerdictAgreement(
        classes=rows.classes,
        positive=rows.classes[place],
        counts=tuple(
            map(tuple, rows.sums().sum(axis=0).astype(int).reshape(n_classes, -1).tolist())
        ),
        prevalence=share(good, everywhere, "prevalence"),
        judged=share(passed, everywhere, "judged"),
        tpr=share(passed, good, "tpr"),
        tnr=share(~passed, ~good, "tnr"),
        precision=share(good, passed, "precision"),
        npv=share(~good, ~passed, "npv"),
        accuracy=share(right, everywhere, "accuracy"),
        quadratic_kappa=by_name.pop("quadratic_kappa", None),
        cost=by_name.pop("cost", None),
        **by_name,
        recall=tuple(share(right, rows.true == each, "recall") for each in range(n_classes)),
        f1_by_label=f1_by_label,
        n=n,
        n_groups=rows.n_sources,
        n_unlabelled=rows.n_unlabelled,
        n_unscored=rows.n_unscored,
    )


def _composites(
    rows: CodedVerdicts,
    ordered: bool,
    costs: FloatArray | None,
    seed: Seed,
    n_resamples: int,
    confidence: float,
) -> tuple[dict[VerdictMetric, Estimate], tuple[Estimate, ...]]:
    """Return what is no share of rows, by name, and F1 of each label, from one bootstrap."""
    sums, place = rows.sums(), rows.place
    whole = sums.sum(axis=0)
    names: list[VerdictMetric] = ["balanced_accuracy", "mcc", "kappa", "ac1", "f1", "macro_f1"]
    names += ["quadratic_kappa"] * ordered
    names += ["cost"] * (costs is not None)

    def composite(tables: FloatArray) -> FloatArray:
        given = Tables.of(tables, whole, place, costs)
        return np.column_stack([*(given.value(name) for name in names), given.f1s])

    found = estimates_of_sums(
        sums, composite, n=len(rows.true), seed=seed, n_resamples=n_resamples, confidence=confidence
    )
    found = [
        replace(one, statistic=name, n_undefined=int(math.isnan(one.value)))
        for name, one in zip([*names, *["f1"] * len(rows.classes)], found, strict=True)
    ]
    by_name = dict(zip(names, found, strict=False))
    empty = int(np.count_nonzero(Tables.of(whole[None], whole, place).true == 0))
    by_name["balanced_accuracy"] = replace(by_name["balanced_accuracy"], n_undefined=empty)
    return by_name, tuple(found[len(names) :])

"""The threshold from which on a score passes: by an objective, by costs, or above a floor."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.errors import InputError
from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    check_choice,
    fraction,
    label_list,
    score_vector,
    source_codes,
)
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Record
from judgesmith.metrics.verdicts.confusion import (
    Classes,
    Tables,
    Values,
    class_codes,
    class_list,
    cost_vector,
)

Floor = tuple[Literal["tpr", "tnr"], float]
"""A rate, and what it must be at least."""
ThresholdObjective = Literal[
    "accuracy", "balanced_accuracy", "mcc", "kappa", "f1", "tpr", "tnr", "cost"
]

# Values of an objective this close are the same but for rounding.
_EQUAL = 1e-12
# The design effect of a class is pooled over at most so many thresholds.
_MOST_POOLED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredLabels:
    """Rows with a label and a score, and whether the label is the positive one."""

    good: NDArray[np.bool_]
    scores: FloatArray
    sources: IntArray
    classes: tuple[object, ...]
    n_unlabelled: int
    n_unscored: int

    @classmethod
    def of(
        cls,
        labels: Values,
        scores: ArrayLike,
        sources: Labels | None = None,
        *,
        positive: object = None,
        classes: Classes = None,
    ) -> "ScoredLabels":
        """Keep the rows with both, and count the others; the positive label comes last."""
        given = label_list(labels, name="labels")
        found = score_vector(scores, name="scores", n_items=len(given), allow_missing=True)
        known, place = class_list(given, classes, positive)
        if place < 0:
            raise ValueError(
                f"positive= must say which of {list(known)} is the label of good rows."
            )
        codes = class_codes(given, known, name="labels")
        kept = (codes >= 0) & ~np.isnan(found)
        return cls(
            good=codes[kept] == place,
            scores=found[kept],
            sources=source_codes(sources, len(given), kept),
            classes=(*known[:place], *known[place + 1 :], known[place]),
            n_unlabelled=int(np.count_nonzero(codes < 0)),
            n_unscored=int(np.count_nonzero((codes >= 0) & np.isnan(found))),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeOff(Record):
    """TPR and TNR at each threshold; a row passes if its score is the threshold or more.

    Attributes
    ----------
    threshold, tpr, tnr : tuple of float, thresholds rising
        The first lets every row pass, the last none; the others lie between two scores.
    """

    threshold: tuple[float, ...]
    tpr: tuple[float, ...]
    tnr: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictThreshold(Record):
    """The score from which on a row passes, and what it does on the rows it was chosen on.

    Attributes
    ----------
    threshold : float
    objective, value : str, float; what was optimized, and what it is at the threshold
    tpr, tnr : float, on the rows at hand
    floor, bound : tuple of str and float, float
        The rate with a floor, and the one-sided lower bound of that rate over sources, at
        ``confidence``; None and nan without one.
    curve : TradeOff
    n_positive, n_negative, n_groups, n_unlabelled, n_unscored : int
        Rows with the positive and with another label, their sources, and rows left out.
    """

    threshold: float
    objective: ThresholdObjective
    value: float
    tpr: float
    tnr: float
    floor: Floor | None
    bound: float
    confidence: float
    curve: TradeOff
    n_positive: int
    n_negative: int
    n_groups: int
    n_unlabelled: int
    n_unscored: int


def verdict_threshold(
    labels: Values,
    scores: ArrayLike,
    sources: Labels | None = None,
    *,
    objective: ThresholdObjective | None = None,
    costs: Mapping[object, float] | None = None,
    floor: Floor | None = None,
    confidence: float = 0.9,
    positive: object = None,
    classes: Classes = None,
    scale: tuple[float, float] = (0.0, 1.0),
) -> VerdictThreshold:
    """Return the threshold on scores that is best by an objective, above a floor if wished.

    Of equally good thresholds the one in the middle of the widest gap between scores is taken.
    With a floor, only thresholds are considered whose lower bound of that rate meets it. The bound
    is that of Clopper and Pearson for as many rows as those of the class are worth, given their
    design effect within sources. Since a rate rises or falls with the threshold, this needs no
    correction for the number of thresholds.

    Parameters
    ----------
    labels : sequence of labels, shape (n_rows,); nan or None where missing
    scores : array-like, shape (n_rows,), on ``scale``, such as probabilities of the positive label
    sources : sequence of labels, one per row, or None
    objective : str, or None
        None: ``cost`` with ``costs``, with a floor the other rate, otherwise
        ``balanced_accuracy``.
    costs : mapping from both labels to what a wrong verdict costs
    floor : such as ``("tnr", 0.9)``, or None
    confidence : float, between 0 and 1; that the rate of new rows meets the floor
    positive, classes
        As for :func:`~judgesmith.metrics.verdicts.f1`.
    scale : (float, float); the lowest and the highest score there can be

    Raises
    ------
    InputError
        If a label does not occur, or if the rows of a class are too few for the floor even
        without an error: 22 for 0.9 at 90 %.

    References
    ----------
    Bates, Angelopoulos, Lei, Malik and Jordan (2021), "Distribution-Free, Risk-Controlling
    Prediction Sets", JACM 68, for thresholds of monotone risks. Korn and Graubard (1998), Survey
    Methodology 24, for the effective number of rows.

    Examples
    --------
    >>> found = verdict_threshold([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.8, 0.9])
    >>> found.threshold, round(found.tpr, 2), found.tnr, round(found.value, 2)
    (0.7, 0.67, 1.0, 0.83)
    """
    fraction(confidence, name="confidence")
    rows = ScoredLabels.of(labels, scores, sources, positive=positive, classes=classes)
    chosen = _objective(objective, costs, floor)
    found = _Candidates.of(rows.good, rows.scores, scale)
    n_positive = int(np.count_nonzero(rows.good))
    if not 0 < n_positive < len(rows.good):
        raise InputError(
            f"a threshold needs rows of both labels; got {n_positive} with {rows.classes[-1]!r} "
            f"and {len(rows.good) - n_positive} without"
        )
    prices = None if costs is None else cost_vector(costs, rows.classes)
    bounds = None
    if floor is not None:
        members = rows.good == (floor[0] == "tpr")
        worth = rows_worth(rows.scores[members], rows.sources[members], found.threshold)
        _check_worth(floor, confidence, members, rows.sources, worth)
        bounds = lower_bound(found.rate(floor[0]), worth, confidence)
    best, values = found.best(
        chosen, prices, None if floor is None or bounds is None else bounds >= floor[1]
    )
    return VerdictThreshold(
        threshold=float(found.threshold[best]),
        objective=chosen,
        value=float(values[best]),
        tpr=float(found.rate("tpr")[best]),
        tnr=float(found.rate("tnr")[best]),
        floor=floor,
        bound=math.nan if bounds is None else float(bounds[best]),
        confidence=confidence,
        curve=found.curve(),
        n_positive=n_positive,
        n_negative=len(rows.good) - n_positive,
        n_groups=int(rows.sources.max()) + 1,
        n_unlabelled=rows.n_unlabelled,
        n_unscored=rows.n_unscored,
    )


def _objective(
    objective: ThresholdObjective | None, costs: object, floor: Floor | None
) -> ThresholdObjective:
    """Return what is optimized, and refuse settings that say nothing."""
    if floor is not None:
        check_choice(floor[0], Literal["tpr", "tnr"], name="the rate of a floor")
        fraction(floor[1], name="a floor")
    if objective is None:
        other: ThresholdObjective = "tnr" if floor is not None and floor[0] == "tpr" else "tpr"
        rate: ThresholdObjective = "balanced_accuracy" if floor is None else other
        return rate if costs is None else "cost"
    check_choice(objective, ThresholdObjective, name="objective")
    if objective in ("tpr", "tnr") and (floor is None or floor[0] == objective):
        raise ValueError(
            f"{objective} alone is best at an end of the scale; give the other a floor."
        )
    return objective


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Thresholds, the gaps of scores that they lie in, and the table of verdicts at each."""

    threshold: FloatArray
    gap: FloatArray
    tables: FloatArray

    @classmethod
    def of(
        cls, good: NDArray[np.bool_], scores: FloatArray, scale: tuple[float, float]
    ) -> "_Candidates":
        low, high = scale
        if scores.size and not (low <= scores.min() and scores.max() <= high):
            raise ValueError(
                f"scores must be from {low:g} to {high:g}; got {scores.min():g} to "
                f"{scores.max():g}. Give their scale."
            )
        levels, codes = np.unique(scores, return_inverse=True)
        middle = (levels[1:] + levels[:-1]) / 2
        # Between neighbouring floats there is no middle that stops the lower.
        middle = np.where(middle > levels[:-1], middle, levels[1:])
        passing = []
        for members in (~good, good):
            at_level = np.bincount(codes[members], minlength=len(levels))
            passing.append(np.append(np.cumsum(at_level[::-1])[::-1], 0.0))
        whole = [float(each[0]) for each in passing]
        stopped = [total - each for total, each in zip(whole, passing, strict=True)]
        return cls(
            np.concatenate([[low], middle, [np.nextafter(high, np.inf)]]),
            np.diff(levels, prepend=low, append=high),
            np.stack([stopped[0], passing[0], stopped[1], passing[1]], axis=1),
        )

    def rate(self, name: Literal["tpr", "tnr"]) -> FloatArray:
        return self.given().value(name)

    def given(self, costs: FloatArray | None = None) -> Tables:
        return Tables.of(self.tables, self.tables[0], 1, costs)

    def best(
        self,
        objective: ThresholdObjective,
        costs: FloatArray | None,
        allowed: NDArray[np.bool_] | None,
    ) -> tuple[int, FloatArray]:
        """Return the best allowed candidate, and the objective at each."""
        values = self.given(costs).value(objective)
        better = np.nan_to_num(-values if objective == "cost" else values, nan=-np.inf)
        if allowed is not None:
            better = np.where(allowed, better, -np.inf)
        equal = better >= better.max() - _EQUAL
        return int(np.argmax(np.where(equal, self.gap, -1.0))), values

    def curve(self) -> TradeOff:
        columns = self.threshold, self.rate("tpr"), self.rate("tnr")
        threshold, tpr, tnr = (tuple(each.tolist()) for each in columns)
        return TradeOff(threshold=threshold, tpr=tpr, tnr=tnr)


def rows_worth(scores: FloatArray, sources: NDArray[np.generic], thresholds: FloatArray) -> float:
    """Return how many independent rows those of a class are worth, over all thresholds."""
    from scipy.special import stdtrit

    codes = np.unique(sources, return_inverse=True)[1]
    n, n_sources = len(scores), int(codes.max(initial=-1)) + 1
    if n_sources == n or n_sources < 2:
        return float(n_sources)
    step = -(-len(thresholds) // _MOST_POOLED)
    passed = scores >= thresholds[::step, None]
    residual = passed - passed.mean(axis=1, keepdims=True)
    cells = codes + n_sources * np.arange(len(passed))[:, None]
    totals = np.bincount(cells.ravel(), weights=residual.ravel(), minlength=n_sources)
    between = n_sources / (n_sources - 1) * float(np.sum(totals**2))
    within = float(np.sum(residual**2))
    if within == 0:
        return float(n_sources)
    shortened = (stdtrit(1e9, 0.9) / stdtrit(n_sources - 1, 0.9)) ** 2
    return float(min(n, n * within / between) * shortened)


def lower_bound(rate: FloatArray, worth: float, confidence: float) -> FloatArray:
    """Return Clopper and Pearson's one-sided lower bound of rates of so many rows."""
    from scipy.special import betaincinv

    right = rate * worth
    some = right > _EQUAL
    found = betaincinv(np.where(some, right, 1.0), worth - right + 1, 1 - confidence)
    return np.where(some, found, 0.0)


def _check_worth(
    floor: Floor, confidence: float, members: NDArray[np.bool_], sources: IntArray, worth: float
) -> None:
    """Refuse a floor that even rows without an error could not show to be met."""
    name, least = floor
    needed = math.ceil(math.log(1 - confidence) / math.log(least) - _EQUAL)
    if worth >= needed - _EQUAL:
        return
    n, n_sources = int(np.count_nonzero(members)), len(np.unique(sources[members]))
    given = f"{n}" if n == n_sources else f"{n} of {n_sources} sources, worth {worth:.1f}"
    which = "with" if name == "tpr" else "without"
    raise InputError(
        f"a floor of {least:g} for the {name.upper()} at {100 * confidence:g}% confidence needs "
        f"{needed} rows {which} the positive label, even if every verdict is right; got {given}",
        hint="label more rows of that class, or take a lower floor",
    )

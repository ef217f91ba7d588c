"""Prediction-powered means of systems and their differences."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    fraction,
    group_codes,
    group_sums,
    label_list,
    number,
    paired_scores,
    ratio,
    score_vector,
)
from judgesmith.metrics.comparing.significance import holm
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate, PairedEstimate, Record, squarable

# Errors below this share of the largest human rating are rounding.
_DUST = 1e-13
# Sources left out at a time, so that the products of all their sums stay small.
_BLOCK = 2**14
# What each source adds to a part, in this order.
_N_RATED, _N_UNRATED, _HUMAN, _ON_RATED, _ON_UNRATED = range(5)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRows:
    """Rows of one system, all of them scored by the judge."""

    predicted: FloatArray
    human: FloatArray
    sources: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectified:
    """Corrected means of the parts, their signed sum, its standard error and degrees of freedom."""

    means: tuple[float, ...]
    value: float
    error: float
    freedom: float
    weight: float
    n_groups: int


def rectified(
    parts: Sequence[SystemRows], signs: Sequence[float], weight: float | None
) -> Rectified:
    """Return the sum over parts of sign times corrected mean."""
    sums = _SourceSums.of(parts)
    sign = np.asarray(signs, dtype=np.float64)
    rated, unrated = (np.count_nonzero(sums.linear[:, :, at], axis=0) for at in (0, 1))
    weights, means = sums.solve(sign, weight)
    value = float(sign @ means) + sums.centre * float(sign.sum())
    error = freedom = float("nan")
    if rated.min() > 1:
        places = np.concatenate([rated, unrated])
        present = sums.linear[:, :, :2].transpose(0, 2, 1).reshape(-1, len(places)) > 0
        # Each source counts towards the smallest kind of rows that it holds.
        kind = np.argmin(np.where(present, places, np.iinfo(np.int64).max), axis=1)
        size = np.maximum(places - 1.0, 1.0)
        gaps = (sums.left_out(sign, weight) - float(sign @ means)) ** 2
        spread = np.bincount(kind, weights=gaps, minlength=len(places)).astype(np.float64)
        spread *= size / np.maximum(places, 1)
        total = float(spread.sum())
        error = float(np.sqrt(total))
        if error <= _DUST * sums.largest:
            error = 0.0
        else:
            freedom = total**2 / float(np.sum(spread**2 / size))
    return Rectified(
        means=tuple(float(mean) for mean in means + sums.centre),
        value=value,
        error=error,
        freedom=freedom,
        weight=float(weights),
        n_groups=len(sums.linear),
    )


@dataclass(frozen=True, slots=True)
class _SourceSums:
    """What every source adds, after a constant was taken from all human ratings."""

    linear: FloatArray
    squares: FloatArray
    centre: float
    largest: float

    @classmethod
    def of(cls, parts: Sequence[SystemRows]) -> "_SourceSums":
        human = np.concatenate([part.human for part in parts])
        rated = human[~np.isnan(human)]
        centre = float(rated.mean()) if rated.size else float("nan")
        present, codes = np.unique(
            np.concatenate([part.sources for part in parts]), return_inverse=True
        )
        linear = np.zeros((len(present), len(parts), 5))
        squares = np.zeros((len(present), len(parts), 2))
        start = 0
        for at, part in enumerate(parts):
            own = codes[start : start + len(part.human)]
            start += len(part.human)
            is_rated = ~np.isnan(part.human)
            p = _centred(part.predicted)
            h = np.where(is_rated, part.human - centre, 0.0)
            columns = (is_rated, ~is_rated, h, p * is_rated, p * ~is_rated)
            linear[:, at] = group_sums(columns, own, len(present))
            squares[:, at] = group_sums((p * p, p * h), own, len(present))
        return cls(linear, squares, centre, float(np.max(np.abs(rated), initial=0.0)))

    def solve(self, sign: FloatArray, weight: float | None) -> tuple[FloatArray, FloatArray]:
        """Return the weight and the corrected means of all sources together."""
        flat = self.linear.reshape(len(self.linear), self.linear.shape[1] * 5)
        weights, means = _solve(
            self.linear.sum(axis=0)[None],
            self.squares.sum(axis=0)[None],
            (flat.T @ flat)[None],
            sign,
            weight,
        )
        return weights[0], means[0]

    def left_out(self, sign: FloatArray, weight: float | None) -> FloatArray:
        flat = self.linear.reshape(len(self.linear), self.linear.shape[1] * 5)
        linear, squares, products = self.linear.sum(axis=0), self.squares.sum(axis=0), flat.T @ flat
        found = []
        for at in range(0, len(flat), _BLOCK):
            here = slice(at, at + _BLOCK)
            own = flat[here]
            _, means = _solve(
                linear - self.linear[here],
                squares - self.squares[here],
                products - own[:, :, None] * own[:, None, :],
                sign,
                weight,
            )
            found.append(means @ sign)
        return np.concatenate(found)


def _centred(judge: FloatArray) -> FloatArray:
    """Subtract the mean; what a constant judge leaves is 0 and not rounding."""
    if Column.of(judge).n_levels < 2:
        return np.zeros(len(judge))
    return np.asarray(judge - judge.mean())


def _solve(
    linear: FloatArray,
    squares: FloatArray,
    products: FloatArray,
    sign: FloatArray,
    weight: float | None,
) -> tuple[FloatArray, FloatArray]:
    """Return weights (n_sets,) and means (n_sets, n_parts) of several sets of sources."""
    n, unrated, human, on_rated, on_unrated = np.moveaxis(linear, 2, 0)
    mean = ratio(human, n)
    gap = np.where(unrated > 0.5, ratio(on_rated, n) - _ratio(on_unrated, unrated), 0.0)
    if weight is None:
        weights = _tuned(linear, squares, products, sign)
    else:
        weights = np.full(len(linear), weight)
    return weights, mean - weights[:, None] * gap


def _tuned(
    linear: FloatArray, squares: FloatArray, products: FloatArray, sign: FloatArray
) -> FloatArray:
    """Return the weight that makes the variance least, between 0 and 1; 0 if it is undefined."""
    n, unrated, human, on_rated, on_unrated = np.moveaxis(linear, 2, 0)
    both = n + unrated
    mean_human, mean_judge = _ratio(human, n), _ratio(on_rated + on_unrated, both)
    # Rows as linear forms of what a source adds: deviations from the means, and weights in d.
    size, human_of, judge_of, in_mean, in_gap = (np.zeros((*n.shape, 5)) for _ in range(5))
    size[..., [_N_RATED, _N_UNRATED]] = 1
    human_of[..., _HUMAN], human_of[..., _N_RATED] = 1, -mean_human
    judge_of[..., [_ON_RATED, _ON_UNRATED]] = 1
    judge_of[..., [_N_RATED, _N_UNRATED]] = -mean_judge[..., None]
    usable = (n > 0.5) & (unrated > 0.5)
    in_mean[..., _N_RATED] = sign * _ratio(1.0, n)
    in_gap[..., _N_RATED] = np.where(usable, sign * _ratio(1.0, n), 0.0)
    in_gap[..., _N_UNRATED] = np.where(usable, -sign * _ratio(1.0, unrated), 0.0)
    rated_only = np.zeros_like(size)
    rated_only[..., _N_RATED] = 1

    def over_pairs(first: FloatArray, second: FloatArray) -> FloatArray:
        """Sum over sources the product of two forms, for each pair of parts."""
        k = n.shape[1]
        blocks = products.reshape(-1, k, 5, k, 5)
        return np.asarray(np.einsum("bsi,bsitj,btj->bst", first, blocks, second, optimize=True))

    own = np.eye(n.shape[1])
    judge_squares = squares[..., 0] - both * mean_judge**2
    cross = squares[..., 1] - mean_human * on_rated
    alike = _ratio(
        over_pairs(judge_of, judge_of) - own * judge_squares[:, None],
        over_pairs(size, size) - own * both[:, None],
    )
    alike_human = _ratio(
        over_pairs(human_of, judge_of) - own * cross[:, None],
        over_pairs(rated_only, size) - own * n[:, None],
    )
    itself = np.diagonal(alike, axis1=1, axis2=2)
    itself_human = np.diagonal(alike_human, axis1=1, axis2=2)
    rows = np.where(usable, _ratio(1.0, n) + _ratio(1.0, unrated), 0.0)
    variance = np.sum((_ratio(judge_squares, both - 1) - itself) * rows, axis=1)
    variance += np.sum(alike * over_pairs(in_gap, in_gap), axis=(1, 2))
    rows = np.where(usable, _ratio(1.0, n), 0.0)
    covariance = np.sum((_ratio(cross, n) - itself_human) * rows, axis=1)
    covariance += np.sum(alike_human * over_pairs(in_mean, in_gap), axis=(1, 2))
    return np.clip(_ratio(covariance, variance), 0.0, 1.0)


def _ratio(top: FloatArray | float, bottom: FloatArray) -> FloatArray:
    return ratio(top, bottom, otherwise=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionPoweredMean(Record):
    """A mean human score with and without judge scores.

    Attributes
    ----------
    estimate : Estimate
        With the judge. ``n`` counts rated and unrated rows, ``n_groups`` their sources.
    classical : Estimate
        The mean of the ratings alone, with Student's interval over the rated sources.
    weight : float
        How far the judge was trusted, lambda: 0 is not at all, and both estimates are equal.
    gain : float
        Squared standard error of ``classical`` over that of ``estimate``: how many times as many
        ratings would have done as much as the judge did. nan where either is undefined.
    n_rated, n_unrated, n_unscored : int
        Rows that entered, and rows left out because the judge gave no score.
    """

    estimate: Estimate
    classical: Estimate
    weight: float
    gain: float
    n_rated: int
    n_unrated: int
    n_unscored: int


def prediction_powered_mean(
    human: ArrayLike,
    judge: ArrayLike,
    judge_unlabelled: ArrayLike,
    *,
    sources: Labels | None = None,
    sources_unlabelled: Labels | None = None,
    weight: float | None = None,
    confidence: float = 0.95,
) -> PredictionPoweredMean:
    """Return the mean human score of all rows, of which some are rated.

    ``mean(human) - weight * (mean(judge) - mean(judge_unlabelled))``. It must be chance which rows
    were rated. The error is the jackknife's over sources, ``weight`` found anew each time; the
    quantile is Student's with Welch and Satterthwaite's degrees of freedom. The interval covers the
    choice of sources and of rated rows; it takes raters and judge as given.

    Parameters
    ----------
    human, judge : array-like, shape (n_rated,)
        On rated rows; those that ``judge`` leaves unscored (nan or None) are left out.
    judge_unlabelled : array-like, shape (n_unrated,), in the judge's points
        The same judge on unrated rows; may be empty.
    sources, sources_unlabelled : sequence of labels, one per row
        Equal labels mean one source, also from one list to the other. Give both, or neither.
    weight : float from 0 to 1, or None
        None for the one of least variance, kept between 0 and 1. Put a judge on a scale narrower
        than the human one, such as 0 to 1, on that scale first.
    confidence : float, between 0 and 1

    Returns
    -------
    PredictionPoweredMean
        An interval is nan with fewer than two rated sources, or if nothing varies. Both values
        are nan without rated rows.

    References
    ----------
    Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), "Prediction-powered inference",
    Science 382. Angelopoulos, Duchi and Zrnic (2023), "PPI++: Efficient Prediction-Powered
    Inference", arXiv:2311.01453, for the weight.

    Examples
    --------
    >>> human, judge = [4, 2, 5, 3, 4, 1], [80, 45, 90, 60, 70, 20]
    >>> others = [85, 75, 60, 90, 70, 95, 65, 80, 75, 70, 85, 60]
    >>> found = prediction_powered_mean(human, judge, others)
    >>> round(found.classical.value, 2), round(found.estimate.value, 2), found.weight > 0
    (3.17, 4.1, True)
    """
    h, p = paired_scores(human, judge, allow_unscored=True)
    others = score_vector(judge_unlabelled, name="judge_unlabelled", allow_missing=True)
    if (sources is None) != (sources_unlabelled is None):
        raise ValueError(
            "give both sources and sources_unlabelled, or neither; got one of them. Without "
            "labels every row is a source of its own."
        )
    if sources is None or sources_unlabelled is None:
        codes: IntArray = np.arange(len(p) + len(others))
    else:
        rated = label_list(sources, name="sources")
        unrated = label_list(sources_unlabelled, name="sources_unlabelled")
        group_codes(rated, name="sources", n_items=len(p))
        group_codes(unrated, name="sources_unlabelled", n_items=len(others))
        codes, _ = group_codes(rated + unrated, name="sources", n_items=len(p) + len(others))
    return powered_mean(
        np.concatenate([h, np.full(len(others), np.nan)]),
        np.concatenate([p, others]),
        codes,
        weight=weight,
        confidence=confidence,
    )


def powered_mean(
    human: FloatArray,
    judge: FloatArray,
    sources: IntArray,
    *,
    weight: float | None,
    confidence: float,
) -> PredictionPoweredMean:
    """Return the mean of rows of which those with a human score of nan are unrated."""
    check_weight(weight)
    fraction(confidence, name="confidence")
    squarable(judge, name="judge")
    squarable(human, name="human")
    scored = ~np.isnan(judge)
    part = SystemRows(predicted=judge[scored], human=human[scored], sources=sources[scored])
    corrected = rectified([part], [1.0], weight)
    alone = rectified([rated_rows(part)], [1.0], 0.0)
    n_rated = int(np.count_nonzero(~np.isnan(part.human)))
    return PredictionPoweredMean(
        estimate=mean_estimate(corrected, len(part.human), confidence),
        classical=mean_estimate(alone, n_rated, confidence),
        weight=corrected.weight,
        gain=gain_of(corrected, alone),
        n_rated=n_rated,
        n_unrated=len(part.human) - n_rated,
        n_unscored=int(np.count_nonzero(~scored)),
    )


def check_weight(weight: float | None) -> None:
    if weight is not None and not 0 <= number(weight, name="weight") <= 1:
        raise ValueError(
            f"weight must be from 0 (ratings alone) to 1, or None to find it; got {weight}."
        )


def rated_rows(part: SystemRows) -> SystemRows:
    rated = ~np.isnan(part.human)
    return SystemRows(
        predicted=part.predicted[rated], human=part.human[rated], sources=part.sources[rated]
    )


def mean_estimate(found: Rectified, n: int, confidence: float) -> Estimate:
    """Return a value with Student's interval, nan where nothing varies."""
    from scipy.special import stdtrit

    reach = math.nan
    if found.error > 0:
        reach = float(stdtrit(found.freedom, (1 + confidence) / 2)) * found.error
    ends = found.value - reach, found.value + reach
    return Estimate.of(found.value, ends, confidence, n=n, n_groups=found.n_groups)


def gain_of(corrected: Rectified, alone: Rectified) -> float:
    """Return the ratio of the squared standard errors, without the judge over with it."""
    if not (corrected.error > 0 and alone.error > 0):
        return math.nan
    return (alone.error / corrected.error) ** 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemMean(PredictionPoweredMean):
    """The mean human score of one system.

    Attributes
    ----------
    system : object; its label
    """

    system: object


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemDifference(Record):
    """The difference of two systems' mean human scores, with and without the judge.

    Attributes
    ----------
    estimate : PairedEstimate
        With the judge. ``first`` and ``second`` use one weight, the best for their difference.
    classical : PairedEstimate; from the ratings alone
    weight, gain : float; as in :class:`PredictionPoweredMean`
    n_shared : int
        Sources on which both systems were rated: on these the difference is paired.
    n_unscored : int; rows of the two systems left out because the judge gave no score
    """

    estimate: PairedEstimate
    classical: PairedEstimate
    weight: float
    gain: float
    n_shared: int
    n_unscored: int


def system_means(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels,
    weight: float | None = None,
    confidence: float = 0.95,
) -> list[SystemMean]:
    """Return the mean human score of each system, from ratings and judge scores.

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,)
        nan (or None) in ``human`` where a row is not rated (by chance), and in ``judge`` where it
        is not scored: such rows are left out and counted.
    systems, sources : sequence of labels, one per row
        Without ``sources`` every row is a source of its own.
    weight, confidence
        As for :func:`~judgesmith.metrics.systems.prediction_powered_mean`, for each system by
        itself.

    Returns
    -------
    list of SystemMean
        In order of first appearance; both values of an unrated system are nan. To compare two
        systems :func:`system_difference` is sharper.

    Examples
    --------
    >>> human = [4, 2, None, 3, 5, None, None, 1, 4, 3, None, 2]
    >>> judge = [4, 2, 4, 3, 5, 1, 3, 2, 4, 3, 5, 2]
    >>> found = system_means(human, judge, systems=["new", "old"] * 6)
    >>> [(one.system, one.n_rated, one.n_unrated, round(one.estimate.value, 2)) for one in found]
    [('new', 3, 3, 4.27), ('old', 5, 1, 2.07)]
    """
    h, p, codes, system_codes, known = _table(human, judge, systems, sources)
    check_weight(weight)
    fraction(confidence, name="confidence")
    found = []
    for system, code in known.items():
        own = system_codes == code
        mean = powered_mean(h[own], p[own], codes[own], weight=weight, confidence=confidence)
        given = {field.name: getattr(mean, field.name) for field in fields(mean)}
        found.append(SystemMean(system=system, **given))
    return found


def system_difference(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels,
    first: object,
    second: object,
    weight: float | None = None,
    confidence: float = 0.95,
) -> SystemDifference:
    """Return the difference of two systems' mean human scores, with an interval.

    Both means are corrected by one weight and left without each source together: paired where both
    were rated on a source, unpaired where only one was.

    Parameters
    ----------
    human, judge, systems, sources, weight, confidence
        As for :func:`system_means`; rows of other systems take no part.
    first, second : labels in ``systems``

    Returns
    -------
    SystemDifference
        ``value`` is ``first`` minus ``second``. Intervals and two-sided p-values are Student's,
        with Welch and Satterthwaite's degrees of freedom; nan if a system was rated on fewer than
        two sources or nothing varies. A p-value holds for one comparison that was planned.

    Examples
    --------
    >>> human = [4, 3, None, None, 5, 3, 4, 2, None, None, 3, 3]
    >>> judge = [4, 3, 5, 3, 5, 2, 4, 2, 3, 3, 3, 3]
    >>> found = system_difference(
    ...     human, judge, first="new", second="old", systems=["new", "old"] * 6,
    ...     sources=[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
    ... )
    >>> found.classical.value, round(found.estimate.value, 2), found.n_shared
    (1.25, 1.15, 4)
    """
    h, p, codes, system_codes, known = _table(human, judge, systems, sources)
    check_weight(weight)
    fraction(confidence, name="confidence")
    for name, system in (("first", first), ("second", second)):
        if system not in known:
            raise ValueError(f"{name} must be one of the systems; no row has {system!r}.")
    if known[first] == known[second]:
        raise ValueError(f"first and second must be two systems; got {first!r} twice.")
    scored = ~np.isnan(p)
    parts = []
    for system in (first, second):
        own = scored & (system_codes == known[system])
        parts.append(SystemRows(predicted=p[own], human=h[own], sources=codes[own]))
    signs = [1.0, -1.0]
    rated = [rated_rows(part) for part in parts]
    corrected, alone = rectified(parts, signs, weight), rectified(rated, signs, 0.0)
    either = np.isin(system_codes, [known[first], known[second]])
    return SystemDifference(
        estimate=_paired(corrected, sum(len(part.human) for part in parts), confidence),
        classical=_paired(alone, sum(len(part.human) for part in rated), confidence),
        weight=corrected.weight,
        gain=gain_of(corrected, alone),
        n_shared=len(np.intersect1d(rated[0].sources, rated[1].sources)),
        n_unscored=int(np.count_nonzero(either & ~scored)),
    )


def system_ranks(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels,
    confidence: float = 0.95,
) -> dict[object, tuple[int, int]]:
    """Return the best and the worst rank of each system that the ratings leave open.

    Parameters
    ----------
    human, judge, sources, systems, confidence
        As for :func:`system_means`; more is better.

    Returns
    -------
    dict of system to (int, int)
        In order of first appearance, 1 for the best: one more than there are systems that are
        significantly better, and the number of systems less those that are significantly worse.
        All pairs are compared by :func:`system_difference`, their p-values adjusted by Holm. A
        pair that cannot be compared leaves both ranks open.

    Examples
    --------
    >>> human = [4, 3, None, None, 5, 3, 4, 2, None, None, 3, 2]
    >>> judge = [4, 3, 5, 3, 5, 2, 4, 2, 3, 2, 3, 2]
    >>> system_ranks(human, judge, systems=["new", "old"] * 6, sources=sorted([*range(6)] * 2))
    {'new': (1, 1), 'old': (2, 2)}
    """
    known = list(dict.fromkeys(label_list(systems, name="systems")))
    pairs = list(combinations(range(len(known)), 2))
    found = [
        system_difference(
            human,
            judge,
            first=known[one],
            second=known[other],
            sources=sources,
            systems=systems,
            confidence=confidence,
        ).estimate
        for one, other in pairs
    ]
    named = [(known[one], known[other]) for one, other in pairs]
    return open_ranks(known, dict(zip(named, found, strict=True)), confidence=confidence)


def open_ranks(
    systems: Sequence[object],
    differences: Mapping[tuple[object, object], PairedEstimate],
    *,
    confidence: float,
) -> dict[object, tuple[int, int]]:
    """Return the ranks of systems that their differences leave open; see ``system_ranks``."""
    better, worse = dict.fromkeys(systems, 0), dict.fromkeys(systems, 0)
    adjusted = holm([one.p_value for one in differences.values()]) if differences else ()
    for ((one, other), estimate), p in zip(differences.items(), adjusted, strict=True):
        if p <= 1 - confidence:
            up, down = (one, other) if estimate.value > 0 else (other, one)
            better[down] += 1
            worse[up] += 1
    return {name: (1 + better[name], len(systems) - worse[name]) for name in systems}


def _table(
    human: ArrayLike, judge: ArrayLike, systems: Labels, sources: Labels | None
) -> tuple[FloatArray, FloatArray, IntArray, IntArray, dict[object, int]]:
    """Return scores, codes of sources and of systems, and the code of each system's label."""
    p = score_vector(judge, name="judge", allow_missing=True)
    h = score_vector(human, name="human", n_items=len(p), allow_missing=True)
    codes, _ = group_codes(sources, name="sources", n_items=len(p))
    labels = label_list(systems, name="systems")
    system_codes, _ = group_codes(labels, name="systems", n_items=len(p))
    known = {system: code for code, system in enumerate(dict.fromkeys(labels))}
    return squarable(h, name="human"), squarable(p, name="judge"), codes, system_codes, known


def _paired(found: Rectified, n: int, confidence: float) -> PairedEstimate:
    from scipy.special import stdtr

    p_value = float("nan")
    if found.error > 0:
        p_value = float(2 * stdtr(found.freedom, -abs(found.value) / found.error))
    return PairedEstimate(
        **asdict(mean_estimate(found, n, confidence)),
        first=found.means[0],
        second=found.means[1],
        p_value=p_value,
    )

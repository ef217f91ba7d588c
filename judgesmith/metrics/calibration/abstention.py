"""Abstention: risk-coverage curves and certified thresholds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    Seed,
    fraction,
    generator,
    number,
    score_vector,
    source_codes,
)
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate, Record, whole_number
from judgesmith.metrics.resampling.jackknife import left_out_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskCoverage(Record):
    """Risk as a function of coverage, and the area under it; all lower is better.

    Attributes
    ----------
    area : Estimate, in units of the loss
        Mean risk over the coverages 1/n, 2/n, ..., 1 (AURC).
    oracle, random : float
        The area if certainty ranked the rows by their loss, the least there can be, and the mean
        loss, the area of a certainty without information.
    coverage, risk, threshold : tuple of float, from the most certain rows on
        One entry per distinct certainty: the share of rows at least so certain, their mean
        loss, and that certainty.
    n_unscored : int; rows left out because they had no loss or no certainty
    """

    area: Estimate
    oracle: float
    random: float
    coverage: tuple[float, ...]
    risk: tuple[float, ...]
    threshold: tuple[float, ...]
    n_unscored: int

    @property
    def excess(self) -> float:
        """How far the area lies above the oracle's (E-AURC), in units of the loss."""
        return self.area.value - self.oracle


def risk_coverage_error(losses: ArrayLike, *, certainty: ArrayLike) -> float:
    """Return the area under the risk-coverage curve (AURC): the mean risk over all coverages.

    Parameters
    ----------
    losses : array-like, shape (n_rows,), 0 or more; for example ``abs(judge - human)``
    certainty : array-like, shape (n_rows,)
        Larger is surer; only its order counts, tied rows as if in random order.

    Returns
    -------
    float
        In units of the loss; nan without rows.

    References
    ----------
    Geifman, Uziel and El-Yaniv (2019), "Bias-Reduced Uncertainty Estimation for Deep Neural
    Classifiers", ICLR.

    Examples
    --------
    >>> round(risk_coverage_error([0, 2, 0], certainty=[0.9, 0.1, 0.8]), 3)
    0.222
    """
    loss, sure = checked_losses(losses, certainty, allow_unscored=False)
    return _Ranked.of(loss, sure).area() if len(loss) else math.nan


def risk_coverage(
    losses: ArrayLike,
    *,
    sources: Labels | None = None,
    certainty: ArrayLike,
    confidence: float = 0.95,
) -> RiskCoverage:
    """Return the risk-coverage curve and its area with an interval over sources.

    The interval is Student's for the infinitesimal jackknife of the area's logarithm. It
    covers least for few rows whose losses are very skewed: see the page on calibration.

    Parameters
    ----------
    losses, certainty : array-like, shape (n_rows,)
        As for :func:`risk_coverage_error`; rows where either is nan (or None) are left out.
    sources : sequence of labels, one per row, optional
    confidence : float, between 0 and 1

    Returns
    -------
    RiskCoverage
        The interval is nan with fewer than two sources, if no source changes anything, or if
        every loss is 0.

    References
    ----------
    El-Yaniv and Wiener (2010), "On the Foundations of Noise-free Selective Classification", JMLR
    11, for the curve; Geifman, Uziel and El-Yaniv (2019), as above, for area and excess. Jaeckel
    (1972), "The infinitesimal jackknife", Bell Laboratories, for the interval.

    Examples
    --------
    >>> found = risk_coverage([0, 2, 0, 1], certainty=[0.9, 0.1, 0.8, 0.8])
    >>> found.coverage, found.risk
    ((0.25, 0.75, 1.0), (0.0, 0.3333333333333333, 0.75))
    >>> round(found.area.value, 3), round(found.oracle, 3), found.random
    (0.333, 0.271, 0.75)
    """
    fraction(confidence, name="confidence")
    loss, sure = checked_losses(losses, certainty, allow_unscored=True)
    scored = ~np.isnan(loss) & ~np.isnan(sure)
    codes = source_codes(sources, len(loss), scored)
    loss, sure = loss[scored], sure[scored]
    n, n_groups = len(loss), int(codes.max(initial=-1)) + 1
    value, ends, oracle, random = math.nan, (math.nan, math.nan), math.nan, math.nan
    curve: list[tuple[float, ...]] = [(), (), ()]
    if n:
        ranked = _Ranked.of(loss, sure)
        value, oracle, random = ranked.area(), _Ranked.of(loss, -loss).area(), float(loss.mean())
        ends = _interval(value, np.bincount(codes, weights=ranked.influence()) / n, confidence)
        last = ranked.ends - 1
        curve = [
            tuple(column.tolist())
            for column in (ranked.ends / n, ranked.risk[last], sure[ranked.order][last])
        ]
    return RiskCoverage(
        area=Estimate.of(value, ends, confidence, n=n, n_groups=n_groups, n_undefined=int(n == 0)),
        oracle=oracle,
        random=random,
        coverage=curve[0],
        risk=curve[1],
        threshold=curve[2],
        n_unscored=int(np.count_nonzero(~scored)),
    )


def _interval(area: float, shifts: FloatArray, confidence: float) -> tuple[float, float]:
    """Return the ends for the logarithm of the area, from what each source adds to first order."""
    if area <= 0 or len(shifts) < 2:
        return math.nan, math.nan
    left_out = math.log(area) - shifts / area * len(shifts) / (len(shifts) - 1)
    low, high = np.exp(left_out_interval(math.log(area), left_out, confidence))
    return float(low), float(high)


def _runs(certainty: FloatArray) -> tuple[IntArray, IntArray]:
    """Return rows from the surest on, and where each run of ties ends."""
    codes = Column.of(certainty).codes
    order = np.argsort(-codes, kind="stable")
    return order, np.flatnonzero(np.diff(codes[order], append=-1)) + 1


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Losses from the most certain row on, with the mean of each run of tied rows."""

    order: IntArray
    losses: FloatArray
    starts: IntArray
    ends: IntArray
    risk: FloatArray

    @classmethod
    def of(cls, losses: FloatArray, certainty: FloatArray) -> "_Ranked":
        order, ends = _runs(certainty)
        ordered, starts = losses[order], np.append(0, ends[:-1])
        means = np.add.reduceat(ordered, starts) / (ends - starts)
        risk = np.cumsum(np.repeat(means, ends - starts)) / np.arange(1, len(order) + 1)
        return cls(order, ordered, starts, ends, risk)

    def area(self) -> float:
        return float(self.risk.mean())

    def influence(self) -> FloatArray:
        """Return, in the rows' own order, how the area changes with the weight of each."""
        n = len(self.losses)
        ranks = np.arange(1, n + 1)
        later = np.cumsum((1 / ranks)[::-1])[::-1]
        later_risk = np.cumsum((self.risk / ranks)[::-1])[::-1]
        size = self.ends - self.starts
        own, inverse, weighted = (
            np.repeat(np.add.reduceat(each, self.starts) / size, size)
            for each in (self.risk, later, later_risk)
        )
        change = np.empty(n)
        change[self.order] = own - self.area() + self.losses * inverse - weighted
        return change


def checked_losses(
    losses: ArrayLike, certainty: ArrayLike, *, allow_unscored: bool
) -> tuple[FloatArray, FloatArray]:
    """Return both vectors as floats, or say what is wrong with them."""
    loss = score_vector(losses, name="losses", allow_missing=allow_unscored)
    sure = score_vector(
        certainty, name="certainty", n_items=len(loss), allow_missing=allow_unscored
    )
    if (loss < 0).any():
        raise ValueError(
            f"losses must be 0 or more, such as absolute errors; got {loss[loss < 0][0]} at index "
            f"{np.flatnonzero(loss < 0)[0]}."
        )
    return loss, sure


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifiedThreshold(Record):
    """A certainty above which the risk is at most ``max_risk``, at the stated confidence.

    Attributes
    ----------
    threshold : float
        Accept new rows whose certainty is above it. -inf accepts every row; inf none, because
        no candidate could be certified.
    coverage, risk : float
        Share of the rows at hand that it accepts, and their observed loss (nan without any), the
        mean over rows, or over sources where they are given.
    wished : float, in units of the loss; the bound on the risk of new rows
    confidence : float; least chance, over the rows at hand, that the bound holds
    n_candidates : int
        Thresholds that were tried; the confidence holds for all of them together.
    n, n_groups, n_unscored : int
        Rows and sources at hand, and rows left out because they had no loss or certainty.
    """

    threshold: float
    coverage: float
    risk: float
    wished: float
    confidence: float
    n_candidates: int
    n: int
    n_groups: int
    n_unscored: int

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Return the threshold that :meth:`to_dict` wrote, also after a way through JSON."""
        known = {name: value for name, value in fields.items() if name != "threshold_is"}
        if known["threshold"] is None:
            known["threshold"] = -math.inf if known["coverage"] else math.inf
        if known["risk"] is None:
            known["risk"] = math.nan
        return cls(**known)

    def _in_words(self, infinite: float) -> str:
        if infinite > 0:
            return "infinite: no candidate could be certified, so no row is accepted"
        return "minus infinite: every row is accepted"


def certified_threshold(
    losses: ArrayLike,
    *,
    sources: Labels | None = None,
    certainty: ArrayLike,
    max_risk: float,
    largest_loss: float = 1.0,
    n_candidates: int = 20,
    confidence: float = 0.95,
    seed: Seed = 0,
) -> CertifiedThreshold:
    """Return the lowest certainty above which the risk is certified to be at most ``max_risk``.

    Candidates accept at most 1/m, 2/m, ..., all of the rows, the most certain first, for m
    candidates. Each is tested against the hypothesis that its risk is above ``max_risk``, with
    Holm's correction. The test is exact where losses are 0 or ``largest_loss`` (binomial, as
    Clopper and Pearson). Other losses are bet against one after another, in random order. This
    assumes nothing but the range of losses.

    Parameters
    ----------
    losses : array-like, shape (n_rows,), from 0 to ``largest_loss``
        For example 1 for a pair in the wrong order, or absolute errors.
    certainty : array-like, shape (n_rows,)
        Larger is surer. It must not have been tuned on these rows. Rows where losses or
        certainty are nan (or None) are left out.
    sources : sequence of labels, one per row, optional
        The risk then is that of a source: the mean loss of its accepted rows, averaged over
        sources that have any. The promise then takes the candidate thresholds as given.
    max_risk : float, between 0 and ``largest_loss``
    largest_loss : float, above 0
        The largest loss there can be, known beforehand: the range of the scale for absolute
        errors.
    n_candidates : int, 1 or more; few candidates are tested more sharply, many are finer
    confidence : float, between 0 and 1
    seed : int or numpy.random.Generator, shuffles the sources (or rows) for the bets

    References
    ----------
    Geifman and El-Yaniv (2017), "Selective Classification for Deep Neural Networks", NeurIPS, for
    the promise. Angelopoulos, Bates, Candès, Jordan and Lei (2021), "Learn then Test",
    arXiv:2110.01052, for testing candidates. Waudby-Smith and Ramdas (2024), "Estimating means of
    bounded random variables by betting", JRSS B 86, for the bets, with the stakes of Bates,
    Angelopoulos, Lei, Malik and Jordan (2021), "Distribution-Free, Risk-Controlling Prediction
    Sets", JACM 68.

    Examples
    --------
    >>> sure = np.arange(300)
    >>> wrong = np.where(sure < 100, sure % 3 == 0, sure % 50 == 0)
    >>> found = certified_threshold(wrong, certainty=sure, max_risk=0.1)
    >>> found.threshold, found.coverage, round(found.risk, 3)
    (89.0, 0.7, 0.038)
    """
    fraction(confidence, name="confidence")
    rng = generator(seed)
    number(max_risk, name="max_risk")
    number(largest_loss, name="largest_loss")
    if not (math.isfinite(largest_loss) and 0 < max_risk < largest_loss):
        raise ValueError(
            "max_risk must be between 0 and largest_loss, both in units of the loss; got "
            f"{max_risk} and {largest_loss}."
        )
    whole_number(n_candidates, name="n_candidates", least=1)
    loss, sure = checked_losses(losses, certainty, allow_unscored=True)
    scored = ~np.isnan(loss) & ~np.isnan(sure)
    codes = source_codes(sources, len(loss), scored)
    loss, sure = loss[scored] / largest_loss, sure[scored]
    n_groups = int(codes.max(initial=-1)) + 1
    shuffled = rng.permutation(n_groups)[codes]
    if (loss > 1).any():
        raise ValueError(
            f"losses must be at most largest_loss, {largest_loss}; got {loss.max() * largest_loss}."
        )
    n = len(loss)
    threshold, coverage, risk = math.inf, 0.0, math.nan
    # Descending runs of equal certainty are accepted whole.
    order, ends = _runs(sure)
    sizes = [n * k // n_candidates for k in range(1, n_candidates + 1)]
    runs = np.searchsorted(ends, sizes, side="right") - 1
    accepted = [order[: ends[run] if run >= 0 else 0] for run in runs]
    observed = [_source_means(loss[rows], shuffled[rows]) for rows in accepted]
    level = (1 - confidence) / n_candidates
    p_values = np.array([_p_value(means, max_risk / largest_loss, level) for means in observed])
    passed = np.flatnonzero(_holm(p_values, 1 - confidence))
    if passed.size:
        end = len(accepted[passed[-1]])
        # The largest of the others, so that every one of them stays below.
        threshold = float(np.max(sure[order[end:]], initial=-math.inf))
        coverage, risk = end / n, float(observed[passed[-1]].mean()) * largest_loss
    return CertifiedThreshold(
        threshold=threshold,
        coverage=coverage,
        risk=risk,
        wished=max_risk,
        confidence=confidence,
        n_candidates=n_candidates,
        n=n,
        n_groups=n_groups,
        n_unscored=int(np.count_nonzero(~scored)),
    )


def _source_means(losses: FloatArray, sources: IntArray) -> FloatArray:
    size = np.bincount(sources)
    return np.bincount(sources, weights=losses)[size > 0] / size[size > 0]


def _holm(p_values: FloatArray, level: float) -> NDArray[np.bool_]:
    """Say which hypotheses are rejected with at most ``level`` chance of any false rejection."""
    order = np.argsort(p_values, kind="stable")
    small = p_values[order] <= level / np.arange(len(p_values), 0, -1)
    rejected = np.zeros(len(p_values), bool)
    rejected[order] = np.logical_and.accumulate(small)
    return rejected


def _p_value(losses: FloatArray, risk: float, level: float) -> float:
    """Return a p-value for independent losses from 0 to 1 whose mean is ``risk`` or more."""
    from scipy.special import bdtr

    n = len(losses)
    if not n:
        return 1.0
    if ((losses == 0) | (losses == 1)).all():
        return float(bdtr(round(float(losses.sum())), n, risk))
    seen = np.arange(2, n + 2)
    mean = (0.5 + np.cumsum(losses)) / seen
    variance = (0.25 + np.cumsum((losses - mean) ** 2)) / seen
    # The stake on each loss knows only the losses before it.
    before = np.append(0.25, variance[:-1])
    stake = np.minimum(1.0, np.sqrt(2 * math.log(1 / level) / (n * before)))
    wealth = np.cumsum(np.log1p(stake * (risk - losses)))
    return math.exp(-max(0.0, float(wealth.max())))

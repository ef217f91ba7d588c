"""From which certainty on a judge may decide alone, if its risk must stay below a wished one."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.calibration.abstention import checked_losses
from judgesmith.metrics.checks import FloatArray, IntArray, fraction, group_codes, number
from judgesmith.metrics.correlations.column import Column
from judgesmith.metrics.correlations.levels import Labels
from judgesmith.metrics.limits import whole_number
from judgesmith.metrics.record import Record

__all__ = ["CertifiedThreshold", "certified_threshold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifiedThreshold(Record):
    """A certainty above which the risk is at most the wished one, as surely as stated.

    Attributes
    ----------
    threshold : float
        Accept new rows whose certainty is above it. -inf accepts every row; inf none, because
        no candidate could be certified.
    coverage : float, from 0 to 1
        Share of the rows at hand that it accepts.
    risk : float, in units of the loss
        Observed risk of these; nan if there are none. Rows count alike without sources, sources
        with them.
    wished : float, in units of the loss
        The bound on the risk of new rows.
    confidence : float
        Least chance, over the rows at hand, that the bound holds.
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
        """Say what an infinite threshold accepts."""
        if infinite > 0:
            return "infinite: no candidate could be certified, so no row is accepted"
        return "minus infinite: every row is accepted"


def certified_threshold(
    losses: ArrayLike,
    *,
    certainty: ArrayLike,
    wished: float,
    largest_loss: float = 1.0,
    sources: Labels | None = None,
    n_candidates: int = 20,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> CertifiedThreshold:
    """Return the lowest certainty above which the risk is certified to be at most ``wished``.

    Candidates accept at most 1/m, 2/m, ..., all of the rows, the most certain first, for m
    candidates. Each is tested against the hypothesis that its risk is above ``wished``, with
    Holm's correction for their number; of those that pass, the one that accepts most rows is
    returned. The test is exact where losses are 0 or ``largest_loss`` (binomial, as Clopper and
    Pearson). Other losses are bet against one after another, in random order: where their mean is
    ``wished`` or more, no bettor's wealth is likely to grow 20-fold, and where it is less, it
    grows the faster the less they vary. This assumes nothing but the range of losses.

    Parameters
    ----------
    losses : array-like, shape (n_rows,), from 0 to ``largest_loss``
        For example 1 for a pair in the wrong order, or absolute errors.
    certainty : array-like, shape (n_rows,)
        Larger is surer. It must not have been tuned on these rows. Rows where losses or
        certainty are nan (or None) are left out.
    wished : float, between 0 and ``largest_loss``
        The largest acceptable risk.
    largest_loss : float, above 0
        The largest loss there can be, known beforehand: the range of the scale for absolute
        errors.
    sources : sequence of labels, one per row, optional
        Rows of one source err alike. The risk then is that of a source: the mean loss of its
        accepted rows, averaged over sources that have any. The promise then takes the candidate
        thresholds as given.
    n_candidates : int, 1 or more
        Few candidates are tested more sharply, many are finer.
    rng : numpy.random.Generator
        Shuffles the sources (or rows) for the bets, so that their order does not matter.
    confidence : float, between 0 and 1
        Wanted certainty of the promise.

    Returns
    -------
    CertifiedThreshold

    Raises
    ------
    ValueError
        If rows do not pair up, a loss is outside its range, a label is missing, or a setting is
        not as described.
    TypeError
        If ``rng`` is not a generator.

    References
    ----------
    Geifman and El-Yaniv (2017), "Selective Classification for Deep Neural Networks", NeurIPS, for
    the promise. Angelopoulos, Bates, Candès, Jordan and Lei (2021), "Learn then Test: Calibrating
    Predictive Algorithms to Achieve Risk Control", arXiv:2110.01052, for testing candidates.
    Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting",
    JRSS B 86, for the bets, with the stakes of Bates, Angelopoulos, Lei, Malik and Jordan (2021),
    "Distribution-Free, Risk-Controlling Prediction Sets", JACM 68. Holm (1979), "A simple
    sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6.

    Examples
    --------
    A judge is wrong about one pair in three where it is unsure, and hardly ever else.

    >>> sure = np.arange(300)
    >>> wrong = np.where(sure < 100, sure % 3 == 0, sure % 50 == 0)
    >>> found = certified_threshold(
    ...     wrong, certainty=sure, wished=0.1, rng=np.random.default_rng(0)
    ... )
    >>> found.threshold, found.coverage, found.risk
    (89.0, 0.7, 0.0380952380952381)
    """
    fraction(confidence, name="confidence")
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator; got {type(rng).__name__}.")
    number(wished, name="wished")
    number(largest_loss, name="largest_loss")
    if not (math.isfinite(largest_loss) and 0 < wished < largest_loss):
        raise ValueError(
            "wished must be between 0 and largest_loss, both in units of the loss; got "
            f"{wished} and {largest_loss}."
        )
    whole_number(n_candidates, name="n_candidates", least=1)
    loss, sure = checked_losses(losses, certainty, allow_unscored=True)
    labels = np.arange(len(loss)) if sources is None else sources
    codes, _ = group_codes(labels, name="sources", n_items=len(loss))
    scored = ~np.isnan(loss) & ~np.isnan(sure)
    loss, sure = loss[scored] / largest_loss, sure[scored]
    codes = np.unique(codes[scored], return_inverse=True)[1]
    n_groups = int(codes.max(initial=-1)) + 1
    shuffled = rng.permutation(n_groups)[codes]
    if (loss > 1).any():
        raise ValueError(
            f"losses must be at most largest_loss, {largest_loss}; got {loss.max() * largest_loss}."
        )
    n = len(loss)
    threshold, coverage, risk = math.inf, 0.0, math.nan
    # Descending runs of equal certainty are accepted whole.
    order, ends, cuts = _runs(sure)
    sizes = [n * k // n_candidates for k in range(1, n_candidates + 1)]
    runs = np.searchsorted(ends, sizes, side="right") - 1
    observed = [
        _source_means(loss[rows], shuffled[rows])
        for rows in (order[: ends[run] if run >= 0 else 0] for run in runs)
    ]
    level = (1 - confidence) / n_candidates
    p_values = np.array([_p_value(means, wished / largest_loss, level) for means in observed])
    passed = np.flatnonzero(_holm(p_values, 1 - confidence))
    if passed.size:
        best = passed[-1]
        threshold, coverage = float(cuts[runs[best]]), float(ends[runs[best]]) / n
        risk = float(observed[best].mean()) * largest_loss
    return CertifiedThreshold(
        threshold=threshold,
        coverage=coverage,
        risk=risk,
        wished=wished,
        confidence=confidence,
        n_candidates=n_candidates,
        n=n,
        n_groups=n_groups,
        n_unscored=int(np.count_nonzero(~scored)),
    )


def _runs(certainty: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return rows from the surest on, where their ties end, and the next certainty below each."""
    codes = Column.of(certainty).codes
    order = np.argsort(-codes, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(codes[order])) + 1, len(order))[: len(order)]
    # The largest of the next run, so that every row of it stays below.
    peaks = np.full(int(codes.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(peaks, codes, certainty)
    return order, ends, np.append(peaks[::-1][1:], -np.inf)


def _source_means(losses: FloatArray, sources: IntArray) -> FloatArray:
    """Return the mean loss of each source present."""
    size = np.bincount(sources)
    totals = np.bincount(sources, weights=losses)
    means: FloatArray = totals[size > 0] / size[size > 0]
    return means


def _holm(p_values: FloatArray, level: float) -> NDArray[np.bool_]:
    """Say which hypotheses are rejected with at most ``level`` chance of any false rejection."""
    order = np.argsort(p_values, kind="stable")
    small = p_values[order] <= level / np.arange(len(p_values), 0, -1)
    rejected = np.zeros(len(p_values), bool)
    rejected[order] = np.logical_and.accumulate(small)
    return rejected


def _p_value(losses: FloatArray, risk: float, level: float) -> float:
    """Return a p-value for independent losses from 0 to 1 whose mean is ``risk`` or more.

    It is valid at every level and sharpest at ``level``.
    """
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

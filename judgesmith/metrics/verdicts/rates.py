"""Pass rates of systems, corrected for the errors of the judge that gave the verdicts."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    Seed,
    group_codes,
    group_sums,
    label_list,
    ratio,
    score_vector,
)
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import FEWEST_GROUPS, Estimate, PairedEstimate, Record
from judgesmith.metrics.resampling.draws import checked_generator, estimates_of_sums
from judgesmith.metrics.resampling.shares import share_interval, wilson_interval
from judgesmith.metrics.systems.means import (
    SystemDifference,
    open_ranks,
    powered_mean,
    system_difference,
)

_BLOCK = 2**22
AnyEstimate = TypeVar("AnyEstimate", bound=Estimate)


@dataclass(frozen=True, slots=True)
class ShareSums:
    """What a share and its variance over sources need: sums over rows, squares over sources."""

    rows: FloatArray
    yes: FloatArray
    rows_rows: FloatArray
    yes_rows: FloatArray
    yes_yes: FloatArray
    n_sources: FloatArray

    @classmethod
    def of(cls, yes: FloatArray, weights: FloatArray, sources: IntArray) -> "ShareSums":
        """Return the sums of rows with weights of at most 1."""
        codes = np.unique(sources, return_inverse=True)[1]
        n, k = group_sums((weights, weights * yes), codes).T
        sums = (n.sum(), k.sum(), n @ n, k @ n, k @ k, float(len(n)))
        return cls(*map(np.asarray, sums))

    @property
    def share(self) -> FloatArray:
        """The share of yes, nan without rows."""
        return ratio(self.yes, self.rows)

    @property
    def effective(self) -> FloatArray:
        """Rows over their design effect: as many independent rows would vary as much."""
        p = np.nan_to_num(self.share)
        squares = self.yes_yes - 2 * p * self.yes_rows + p**2 * self.rows_rows
        one_each = self.rows_rows == self.rows
        squares *= np.where(one_each, 1.0, ratio(self.n_sources, self.n_sources - 1))
        # A single source says nothing of how sources vary.
        squares = np.nan_to_num(squares, nan=np.inf)
        varying = p * (1 - p) * self.rows**2
        found = ratio(varying, squares, otherwise=np.inf)
        alike = (self.yes <= 0) | (self.yes >= self.rows)
        found = np.where(alike, ratio(self.rows**2, self.rows_rows, otherwise=0.0), found)
        return np.minimum(found, self.rows)

    def padded(self, z: float) -> tuple[FloatArray, FloatArray]:
        """Return the share with z²/2 successes and z² trials added, and its variance."""
        n = self.effective
        share = (np.nan_to_num(self.share) * n + z**2 / 2) / (n + z**2)
        return share, share * (1 - share) / (n + z**2)


@dataclass(frozen=True, slots=True)
class RoganGladen:
    """Corrected rates with their intervals; arrays of one shape."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    middle: FloatArray  # of the interval, from padded shares
    error: FloatArray
    youden: FloatArray  # TPR + TNR - 1
    youden_low: FloatArray
    youden_high: FloatArray
    padded_youden: FloatArray
    is_given: NDArray[np.bool_]  # where the lower limit of ``youden`` is above 0

    @classmethod
    def of(
        cls, judged: ShareSums, positive: ShareSums, negative: ShareSums, confidence: float
    ) -> "RoganGladen":
        """Correct judged rates by the judge's shares of right verdicts in either class."""
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        (p, var_p), (tpr, var_tpr), (tnr, var_tnr) = (
            one.padded(z) for one in (judged, positive, negative)
        )
        j, j_error = tpr + tnr - 1, np.sqrt(var_tpr + var_tnr)
        youden = positive.share + negative.share - 1
        known = np.minimum(positive.n_sources, negative.n_sources) >= FEWEST_GROUPS
        is_given = known & (judged.rows > 0) & (j - z * j_error > 0) & (youden > 0)
        middle = ratio(p + tnr - 1, j, is_given)
        spread = var_p + middle**2 * var_tpr + (1 - middle) ** 2 * var_tnr
        error = ratio(np.sqrt(spread), j, is_given)
        value = np.clip(ratio(judged.share + negative.share - 1, youden, is_given), 0.0, 1.0)
        low, high = (middle + side * z * error for side in (-1, 1))
        ends = np.clip([np.minimum(low, value), np.maximum(high, value)], 0.0, 1.0)
        reach = j - z * j_error, j + z * j_error
        return cls(value, ends[0], ends[1], middle, error, youden, *reach, j, is_given)


Problem = Literal["no scored rows", "few of a class", "youden"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRate(Record):
    """The pass rate of one system, as the judge says it and as people would.

    Attributes
    ----------
    system : object; its label, None where all rows are of one
    judged : Estimate; the share of rows without a label in use that the judge passes
    corrected : Estimate
        ``judged`` corrected by ``tpr`` and ``tnr``, which must be equal on labelled and on scored
        rows. nan with a ``problem``.
    bootstrap : Estimate; ``corrected`` with the percentile interval of resampled sources
    labelled : Estimate
        The share of positive labels, by Hájek's weights. Labelled rows must be a random sample.
    powered : Estimate
        PPI++ from labels and verdicts. Labelled rows must be a random part of all; nan where they
        were not equally likely, or not ``is_tested``, where it covers too seldom.
    tpr, tnr, youden : Estimate
        The share of positive rows that the judge passes, of negative rows that it stops, and
        TPR + TNR - 1.
    uses : {"own", "pooled"}; whose labelled rows ``tpr`` and ``tnr`` are from
    is_tested : bool; whether 5 sources or more of either class are labelled in this system
    problem : {"no scored rows", "few of a class", "youden"} or None
        Why ``corrected`` is nan: for a class with fewer than 5 sources, or a ``youden`` whose
        interval reaches 0, among others.
    n_positive, n_negative : int; labelled rows behind ``tpr`` and ``tnr``
    n_unused, n_unscored : int
        Labels left out since the row was not drawn at random; rows without a verdict.
    """

    system: object
    judged: Estimate
    corrected: Estimate
    bootstrap: Estimate
    labelled: Estimate
    powered: Estimate
    tpr: Estimate
    tnr: Estimate
    youden: Estimate
    uses: Literal["own", "pooled"]
    is_tested: bool
    problem: Problem | None
    n_positive: int
    n_negative: int
    n_unused: int
    n_unscored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRateDifference(Record):
    """The difference of two systems' pass rates, paired by source.

    Attributes
    ----------
    first_system, second_system : object
    judged, corrected, labelled, powered : PairedEstimate
        As in :class:`PassRate`.
    is_reliable : bool
        Whether either system has its own TPR and TNR, or they were tested and not found unequal.
        Otherwise ``corrected`` may show a difference in how the judge errs.
    n_shared : int; sources on which both were labelled
    """

    first_system: object
    second_system: object
    judged: PairedEstimate
    corrected: PairedEstimate
    labelled: PairedEstimate
    powered: PairedEstimate
    is_reliable: bool
    n_shared: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRates(Record):
    """The pass rates of all systems and their differences.

    Attributes
    ----------
    systems : tuple of PassRate; in order of first appearance
    differences : tuple of PassRateDifference; of each two, the first one minus the second one
    equal_tpr, equal_tnr : float
        p-values of one TPR and one TNR in all systems, by permutation of systems within sources;
        nan where fewer than two systems have labels of the class.
    is_equal : bool; whether neither is significant, by Bonferroni
    """

    systems: tuple[PassRate, ...]
    differences: tuple[PassRateDifference, ...]
    equal_tpr: float
    equal_tnr: float
    is_equal: bool

    @property
    def ranks(self) -> dict[object, tuple[int, int]]:
        """The best and the worst rank of each system that ``powered`` leaves open, 1 for the best.

        As for :func:`~judgesmith.metrics.systems.system_ranks`.
        """
        return open_ranks(
            [one.system for one in self.systems],
            {(one.first_system, one.second_system): one.powered for one in self.differences},
            confidence=self.systems[0].powered.confidence,
        )


def corrected_rates(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels | None = None,
    selection: ArrayLike | None = None,
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> PassRates:
    """Return the pass rate of each system from few labels and many verdicts of a judge.

    ``(p + TNR - 1) / (TPR + TNR - 1)``, where ``p`` is the rate at which the judge passes rows
    without a label (Rogan and Gladen). The interval is the delta method's after adding z²/2
    successes and z² trials to ``p``, TPR and TNR, whose counts are divided by the design effect of
    rows within sources. TPR and TNR are pooled over systems unless they differ significantly; then
    a system with labels enough has its own.

    Parameters
    ----------
    human, judge : array-like of bool or 0 and 1, shape (n_rows,)
        1 is a pass. nan (or None) in ``human`` without a label, in ``judge`` without a verdict.
    sources, systems : sequence of labels, one per row
        Without ``sources`` every row is a source of its own; without ``systems`` all are of one.
    selection : array-like, shape (n_rows,), optional
        The probability with which each labelled row was chosen to be labelled; nan where it was not
        drawn at random, and its label is left out. None: all were equally likely.
    confidence, seed, n_resamples
        As in :mod:`judgesmith.metrics`; resamples of the bootstrap and of the test of equal rates.

    Returns
    -------
    PassRates
        A rate without a value says why in ``problem``.

    References
    ----------
    Rogan and Gladen (1978), "Estimating prevalence from the results of a screening test", American
    Journal of Epidemiology 107. Lang and Reiczigel (2014), "Confidence limits for prevalence of
    disease adjusted for estimated sensitivity and specificity", Preventive Veterinary Medicine
    113, for added trials. Korn and Graubard (1998), Survey Methodology 24, for design effects.
    Angelopoulos, Duchi and Zrnic (2023), arXiv:2311.01453, for ``powered``.

    Examples
    --------
    >>> human = [1, 0] * 30 + [None] * 100
    >>> judge = [1, 0, 1, 0, 1, 0, 1, 0, 1, 1] * 6 + [1, 1, 1, 0] * 25
    >>> (found,) = corrected_rates(human, judge).systems
    >>> round(found.judged.value, 2), found.tpr.value, round(found.tnr.value, 2)
    (0.75, 1.0, 0.8)
    >>> round(found.corrected.value, 2), found.corrected.low < 0.69 < found.corrected.high
    (0.69, True)
    """
    draw = checked_generator(seed, n_resamples, confidence)
    rows = _Rows.of(human, judge, sources, systems, selection)
    p_values = [_equal_shares(rows, rows.human == of, n_resamples, draw) for of in (1, 0)]
    is_equal = not any(2 * p <= 1 - confidence for p in p_values)
    found = []
    for at in range(len(rows.names)):
        own = _Corrected(rows, at, True, confidence)
        alone = len(rows.names) == 1 or (not is_equal and bool(own.rate.is_given))
        found.append(own if alone else _Corrected(rows, at, False, confidence))
    ends = _bootstrap(found, rows, draw, n_resamples, confidence)
    pairs = itertools.combinations(found, 2)
    return PassRates(
        systems=tuple(one.record(boot) for one, boot in zip(found, ends, strict=True)),
        differences=tuple(_difference(one, other, is_equal) for one, other in pairs),
        equal_tpr=p_values[0],
        equal_tnr=p_values[1],
        is_equal=is_equal,
    )


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows with a verdict: labels in use (nan elsewhere), weights of at most 1, and codes."""

    human: FloatArray
    judge: FloatArray
    weights: FloatArray
    sources: IntArray
    systems: IntArray
    names: list[object]
    n_unused: IntArray
    n_unscored: IntArray

    @classmethod
    def of(
        cls,
        human: ArrayLike,
        judge: ArrayLike,
        sources: Labels | None,
        systems: Labels | None,
        selection: ArrayLike | None,
    ) -> "_Rows":
        p = score_vector(judge, name="judge", allow_missing=True)
        h = score_vector(human, name="human", n_items=len(p), allow_missing=True)
        for name, one in (("human", h), ("judge", p)):
            if not np.isin(one[~np.isnan(one)], (0, 1)).all():
                raise ValueError(f"{name} must be 1 for pass and 0 for fail, nan where unsaid.")
        chance = np.ones(len(p))
        if selection is not None:
            chance = score_vector(selection, name="selection", n_items=len(p), allow_missing=True)
        labelled = ~np.isnan(h)
        if np.any(labelled & ((chance <= 0) | (chance > 1))):
            raise ValueError("selection must be probabilities above 0 and up to 1, or nan.")
        names = [None] if systems is None else label_list(systems, name="systems")
        codes, n_systems = group_codes(
            np.zeros(len(p), dtype=int) if systems is None else names,
            name="systems",
            n_items=len(p),
        )
        of, _ = group_codes(sources, name="sources", n_items=len(p))
        has, by_chance = ~np.isnan(p), ~np.isnan(chance)
        used = labelled & by_chance
        weights = np.ones(len(p))
        weights[used] = chance[used].min(initial=1.0) / chance[used]
        n_unused, n_unscored = (
            np.bincount(codes[which], minlength=n_systems)
            for which in (has & labelled & ~by_chance, ~has)
        )
        own, names = np.where(used, h, np.nan)[has], list(dict.fromkeys(names))
        return cls(own, p[has], weights[has], of[has], codes[has], names, n_unused, n_unscored)


@dataclass(frozen=True, eq=False)
class _Corrected:
    """One system, corrected by its own labelled rows or by those of all."""

    rows: _Rows
    at: int
    by_own: bool
    confidence: float

    @cached_property
    def scored(self) -> NDArray[np.bool_]:
        return np.asarray((self.rows.systems == self.at) & np.isnan(self.rows.human))

    def behind(self, label: int, *, own: bool = False) -> NDArray[np.bool_]:
        """Return which labelled rows of a class the correction rests on, or its own ones."""
        its = (self.rows.systems == self.at) | (not (own or self.by_own))
        return np.asarray(its & (self.rows.human == label))

    def sums(self, which: NDArray[np.bool_], yes: FloatArray) -> ShareSums:
        return ShareSums.of(yes[which], self.rows.weights[which], self.rows.sources[which])

    @cached_property
    def in_use(self) -> NDArray[np.bool_]:
        return self.scored | self.behind(1) | self.behind(0)

    @cached_property
    def judged(self) -> ShareSums:
        return self.sums(self.scored, self.rows.judge)

    def right(self, *, own: bool = False) -> tuple[ShareSums, ShareSums]:
        """Return the sums of right verdicts on positive and on negative rows."""
        judge = self.rows.judge
        return (
            self.sums(self.behind(1, own=own), judge),
            self.sums(self.behind(0, own=own), 1 - judge),
        )

    @cached_property
    def rate(self) -> RoganGladen:
        return RoganGladen.of(self.judged, *self.right(), self.confidence)

    @cached_property
    def is_tested(self) -> bool:
        return all(one.n_sources >= FEWEST_GROUPS for one in self.right(own=True))

    def record(self, bootstrap: Estimate) -> PassRate:
        rows, rate, confidence = self.rows, self.rate, self.confidence
        positive, negative = self.behind(1), self.behind(0)
        own = rows.systems == self.at
        fewest = int(min(one.n_sources for one in self.right()))
        problem: Problem | None = None if rate.is_given else "youden"
        if not self.judged.rows:
            problem = "no scored rows"
        elif fewest < FEWEST_GROUPS:
            problem = "few of a class"
        powered = powered_mean(
            rows.human[own], rows.judge[own], rows.sources[own], weight=None, confidence=confidence
        ).estimate
        among = {"n": int(self.in_use.sum()), "n_groups": len(np.unique(rows.sources[self.in_use]))}
        classes = {"n": int((positive | negative).sum()), "n_groups": fewest}
        value, youden = float(rate.value), (float(rate.youden_low), float(rate.youden_high))
        ends, booted = (float(rate.low), float(rate.high)), (bootstrap.low, bootstrap.high)
        return PassRate(
            system=rows.names[self.at],
            judged=self._share(self.scored, rows.judge),
            corrected=Estimate.of(value, ends, confidence, **among),
            bootstrap=Estimate.of(value, booted if rate.is_given else ends, confidence, **among),
            labelled=self._share(own & ~self.scored, rows.human),
            powered=powered
            if self.is_tested and np.all(rows.weights == 1)
            else _undefined(powered),
            tpr=self._share(positive, rows.judge),
            tnr=self._share(negative, 1 - rows.judge),
            youden=Estimate.of(float(rate.youden), youden, confidence, **classes),
            uses="own" if self.by_own else "pooled",
            is_tested=self.is_tested,
            problem=problem,
            n_positive=int(positive.sum()),
            n_negative=int(negative.sum()),
            n_unused=int(rows.n_unused[self.at]),
            n_unscored=int(rows.n_unscored[self.at]),
        )

    def _share(self, which: NDArray[np.bool_], yes: FloatArray) -> Estimate:
        """Return a share of some rows, by their weights."""
        found = share_interval(
            yes[which], sources=self.rows.sources[which], confidence=self.confidence
        )
        if np.all(self.rows.weights[which] == 1) or found.n_groups < 2:
            return found
        sums = self.sums(which, yes)
        share = float(sums.share)
        low, high = wilson_interval(share, float(sums.effective), confidence=self.confidence)
        return replace(found, value=share, low=low, high=high)


def _undefined(found: AnyEstimate) -> AnyEstimate:
    paired = {"first": math.nan, "second": math.nan, "p_value": math.nan}
    more = paired if isinstance(found, PairedEstimate) else {}
    return replace(found, value=math.nan, low=math.nan, high=math.nan, **more)  # type: ignore[arg-type]


def _bootstrap(
    found: Sequence[_Corrected],
    rows: _Rows,
    rng: np.random.Generator,
    n_resamples: int,
    confidence: float,
) -> list[Estimate]:
    """Return the corrected rates with percentile intervals of resampled sources."""
    columns = []
    for one in found:
        for which, right in ((one.scored, 1), (one.behind(1), 1), (one.behind(0), 0)):
            weights = np.where(which, rows.weights, 0.0)
            columns += [weights * (rows.judge == right), weights]
    _, codes = np.unique(rows.sources, return_inverse=True)

    def rates(sums: FloatArray) -> FloatArray:
        yes, n = np.moveaxis(sums.reshape(len(sums), len(found), 3, 2), 3, 0)
        p, tpr, tnr = np.moveaxis(ratio(yes, n), 2, 0)
        j = np.nan_to_num(tpr + tnr - 1)
        return np.clip(ratio(p + tnr - 1, j), 0.0, 1.0)

    return estimates_of_sums(
        group_sums(columns, codes),
        rates,
        n=len(rows.judge),
        seed=rng,
        n_resamples=n_resamples,
        confidence=confidence,
    )


def _equal_shares(
    rows: _Rows, which: NDArray[np.bool_], n_draws: int, rng: np.random.Generator
) -> float:
    """Return the p-value of equal shares of right verdicts, by swapping systems within sources."""
    right = (rows.judge == rows.human)[which].astype(np.float64)
    cells, codes = np.unique(
        rows.sources[which] * len(rows.names) + rows.systems[which], return_inverse=True
    )
    of_source, of_system = np.divmod(cells, len(rows.names))
    present = np.unique(of_system)
    if len(present) < 2:
        return math.nan
    n, k = group_sums((np.ones(len(right)), right), codes).T
    strata = np.unique(of_source, return_inverse=True)[1]
    strata = np.where(np.bincount(strata)[strata] > 1, strata + 1, 0)
    excess = k - n * k.sum() / n.sum()

    def statistic(systems: IntArray) -> FloatArray:
        own = [(systems == one).astype(np.float64) for one in present]
        return np.asarray(sum(ratio((one @ excess) ** 2, one @ n, otherwise=0.0) for one in own))

    seen = float(statistic(of_system[None])[0])
    base = np.argsort(strata, kind="stable")
    n_above, size = 0, max(1, _BLOCK // len(cells))
    for start in range(0, n_draws, size):
        draws = rng.random((min(size, n_draws - start), len(cells)))
        moved = np.empty(draws.shape, dtype=np.int64)
        moved[:, base] = of_system[np.argsort(strata + draws, axis=1)]
        n_above += int(np.count_nonzero(statistic(moved) >= seen - 1e-9))
    return (n_above + 1) / (n_draws + 1)


def _difference(one: _Corrected, other: _Corrected, is_equal: bool) -> PassRateDifference:
    """Return the differences of two systems, the first minus the second."""
    rows = one.rows
    labelled = ~np.isnan(rows.human)

    def between(human: FloatArray, judge: FloatArray) -> SystemDifference:
        return system_difference(
            human,
            judge,
            systems=rows.systems,
            sources=rows.sources,
            first=one.at,
            second=other.at,
            confidence=one.confidence,
        )

    judged = between(np.where(labelled, np.nan, rows.judge), np.zeros(len(labelled))).classical
    by_labels = between(rows.human, rows.judge)
    two = by_labels.classical, by_labels.estimate
    if np.any(rows.weights != 1):
        two = _undefined(two[0]), _undefined(two[1])
    if not (one.is_tested and other.is_tested):
        two = two[0], _undefined(two[1])
    is_given = one.rate.is_given and other.rate.is_given
    return PassRateDifference(
        first_system=rows.names[one.at],
        second_system=rows.names[other.at],
        judged=judged,
        corrected=_corrected_difference(one, other) if is_given else _undefined(judged),
        labelled=two[0],
        powered=two[1],
        is_reliable=(one.by_own and other.by_own)
        or (is_equal and one.is_tested and other.is_tested),
        n_shared=by_labels.n_shared,
    )


def _corrected_difference(one: _Corrected, other: _Corrected) -> PairedEstimate:
    """Return the difference of corrected rates; errors of pooled TPR and TNR count once."""
    z = NormalDist().inv_cdf((1 + one.confidence) / 2)
    rows, rates = one.rows, (one.rate, other.rate)
    (p, var_p), (q, var_q) = one.judged.padded(z), other.judged.padded(z)
    gaps = [np.where(each.scored, rows.judge - each.judged.share, 0.0) for each in (one, other)]
    sums = group_sums(gaps, rows.sources)
    most = np.sqrt(var_p * var_q)
    shared = np.clip(sums[:, 0] @ sums[:, 1] / (one.judged.rows * other.judged.rows), -most, most)
    j, k = (rate.padded_youden for rate in rates)
    if one.by_own or other.by_own:
        middle = rates[0].middle - rates[1].middle
        variance = rates[0].error ** 2 + rates[1].error ** 2 - 2 * shared / (j * k)
    else:
        middle = (p - q) / j
        errors = sum(each.padded(z)[1] for each in one.right())
        variance = (var_p + var_q - 2 * shared + middle**2 * errors) / j**2
    error = float(np.sqrt(np.maximum(variance, 0.0)))
    first, second = (float(rate.value) for rate in rates)
    value = first - second
    low, high = np.clip([middle - z * error, middle + z * error], -1.0, 1.0)
    ends = min(float(low), value), max(float(high), value)
    in_use = one.in_use | other.in_use
    return PairedEstimate.of(
        value,
        ends,
        one.confidence,
        first=first,
        second=second,
        p_value=2 * NormalDist().cdf(-abs(float(middle)) / error) if error > 0 else math.nan,
        n=int(in_use.sum()),
        n_groups=len(np.unique(rows.sources[in_use])),
    )

"""Differences between groups of texts at equal human scores."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import (
    FloatArray,
    Seed,
    check_choice,
    group_codes,
    label_list,
    paired_scores,
    ratio,
    source_codes,
)
from judgesmith.metrics.audits.sums import sums_by_group
from judgesmith.metrics.correlation.coefficients import Statistic
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate, Record, squarable
from judgesmith.metrics.resampling.draws import (
    checked_generator,
    defined_resamples,
    draws_of_sources,
    two_sided_p,
    varying_interval,
    widened_quantile,
)
from judgesmith.metrics.resampling.intervals import agreement_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupGap(Record):
    """How a judge treats one group.

    Attributes
    ----------
    group : object, its label
    gap : Estimate
        Points that the judge gives the group above what it gives all groups for the same human
        score; below 0 it is put at a disadvantage.
    p_value : float
        Two-sided, for the hypothesis of no gap, not corrected for the number of groups.
    agreement : Estimate; correlation of judge and raters over the rows of the group
    """

    group: object
    gap: Estimate
    p_value: float
    agreement: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupGaps(Record):
    """How a judge treats all groups.

    Attributes
    ----------
    groups : tuple of GroupGap; in order of first appearance
    largest : Estimate
        The highest gap minus the lowest, in the judge's points. Chance alone makes it larger than
        0; its interval holds all such differences at once, and starts at 0 where chance suffices.
    p_value : float; for the hypothesis that no group differs from another
    slope : float; points of the judge for one of raters, within groups
    n_unscored : int; rows left out because the judge gave no score
    """

    groups: tuple[GroupGap, ...]
    largest: Estimate
    p_value: float
    slope: float
    n_unscored: int


# Below this share of the variance over all rows, human scores within groups are constant.
_SMALL = 1e-10


def group_gaps(
    human: ArrayLike,
    judge: ArrayLike,
    groups: Labels,
    *,
    sources: Labels | None = None,
    statistic: Statistic = "pearson",
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> GroupGaps:
    """Return how far a judge's scores of groups differ at equal human scores.

    What the judge is expected to give is a straight line of the human score with one slope, found
    within groups. The gap of a group is its mean distance from the line through the mean of all
    rows. Noise in human scores flattens the line: where raters score groups differently, part of
    that difference is left over and looks like a gap.

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,); nan (or None) in ``judge`` where unscored
    groups : sequence of labels, one per row, two groups or more
    sources : sequence of labels, one per row, optional
        A source may have rows in several groups.
    statistic : {"pearson", "spearman", "kendall", "q", ...}
        Which correlation is the agreement.
    seed, n_resamples, confidence
        As in :mod:`judgesmith.metrics`: coverage, seed or generator, 20 resamples or more.

    Returns
    -------
    GroupGaps
        All gaps are nan if human scores are constant within every group. The gap of a group
        without a scored row is nan; ``largest`` is that of the others and counts it in
        ``n_undefined``. A group with rows of fewer than two sources, undefined on more than 5 % of
        the resamples, or with the same gap on all of them, has no interval, and then ``largest``
        has none.

    Raises
    ------
    ValueError
        As for other metrics; also if sources times groups are more than 20 million.

    References
    ----------
    Cochran (1957), "Analysis of covariance: its nature and uses", Biometrics 13, for the gaps.
    Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 16, for the p-value of
    ``largest``: how often the range of what resamples add to the gaps is as large.

    Examples
    --------
    >>> human, groups = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5], ["en"] * 5 + ["de"] * 5
    >>> judge = [2, 3, 3, 4, 5, 1, 1, 2, 4, 4]
    >>> found = group_gaps(human, judge, groups)
    >>> [(each.group, round(each.gap.value, 2)) for each in found.groups]
    [('en', 0.5), ('de', -0.5)]
    >>> round(found.largest.value, 2), round(found.slope, 2)
    (1.0, 0.8)
    """
    rng = checked_generator(seed, n_resamples, confidence)
    check_choice(statistic, Statistic, name="statistic")
    h, p = paired_scores(human, judge, allow_unscored=True)
    p, h = squarable(p, name="judge"), squarable(h, name="human")
    labels = label_list(groups, name="groups")
    group_of, n_groups = group_codes(labels, name="groups", n_items=len(p))
    if n_groups < 2:
        raise ValueError(f"groups must be two or more, to be compared; got {n_groups}.")
    scored = ~np.isnan(p)
    codes = source_codes(sources, len(p), scored)
    p, h, group_of = p[scored], h[scored], group_of[scored]
    x = h - h.mean() if Column.of(h).n_levels > 1 else np.zeros(len(h))
    y = p - (float(p.mean()) if p.size else 0.0)
    sums = sums_by_group([np.ones(len(x)), y, x, x * x, x * y], codes, group_of, n_groups)
    scale = float(np.mean(x**2)) if x.size else 0.0
    gaps, slopes = _gaps(sums.sum(axis=0)[None], n_groups, scale)
    resampled = np.full((0, n_groups), np.nan)
    if len(sums) > 1:
        draws = draws_of_sources(len(sums), n_resamples, rng)
        resampled = np.concatenate([_gaps(counts @ sums, n_groups, scale)[0] for counts in draws])
    points = float(np.max(np.abs(y), initial=0.0))
    found = []
    for group, label in enumerate(dict.fromkeys(labels)):
        own = group_of == group
        n_units = int(np.count_nonzero(sums[:, 5 * group]))
        ends, p_value = (float("nan"), float("nan")), float("nan")
        if n_units > 1 and not np.isnan(gaps[0, group]):
            ends = varying_interval(resampled[:, group], n_units, confidence, points)
            if not np.isnan(ends[0]):
                p_value = two_sided_p(resampled[:, group], n_units)
        gap = Estimate.of(gaps[0, group], ends, confidence, n=int(own.sum()), n_groups=n_units)
        agreement = agreement_interval(
            h[own],
            p[own],
            sources=codes[own],
            statistic=statistic,
            confidence=confidence,
            seed=rng,
            n_resamples=n_resamples,
        )
        found.append(GroupGap(group=label, gap=gap, p_value=p_value, agreement=agreement))
    largest, p_value = _largest(found, resampled, len(sums), confidence)
    return GroupGaps(
        groups=tuple(found),
        largest=largest,
        p_value=p_value,
        slope=float(slopes[0]),
        n_unscored=int(np.count_nonzero(~scored)),
    )


def _gaps(sums: FloatArray, n_groups: int, scale: float) -> tuple[FloatArray, FloatArray]:
    """Return the gaps, shape (n_sets, n_groups), and the slope within groups of every set."""
    n, judge, people, square, product = np.moveaxis(sums.reshape(-1, n_groups, 5), 2, 0)
    size = np.maximum(n, 1.0)
    within = np.sum(square - people**2 / size, axis=1)
    within = np.where(within > _SMALL * scale * n.sum(axis=1), within, 0.0)
    slope = ratio(np.sum(product - people * judge / size, axis=1), within)
    left = judge - slope[:, None] * people
    mean = ratio(left.sum(axis=1), n.sum(axis=1))
    return ratio(left, n) - mean[:, None], slope


def _largest(
    groups: list[GroupGap], resampled: FloatArray, n_sources: int, confidence: float
) -> tuple[Estimate, float]:
    """Return the range of the gaps with its interval, and the p-value of no difference."""
    value = np.array([each.gap.value for each in groups])
    known = ~np.isnan(value)
    largest = float(np.ptp(value[known])) if np.count_nonzero(known) > 1 else float("nan")
    ends, p_value = (float("nan"), float("nan")), float("nan")
    complete = all(np.isnan(each.gap.value) or not np.isnan(each.gap.low) for each in groups)
    if complete and not np.isnan(largest):
        added = defined_resamples(np.ptp(resampled[:, known] - value[known], axis=1))
        # Resamples of few sources vary too little: as much wider as the gaps' own intervals.
        fewest = min(each.gap.n_groups for each in groups if not np.isnan(each.gap.value))
        normal = NormalDist().inv_cdf((1 - confidence) / 2)
        added = added * (widened_quantile(fewest, confidence) / normal)
        if added.size:
            reach = float(np.quantile(added, confidence))
            ends = max(0.0, largest - reach), largest + reach
            p_value = (np.count_nonzero(added >= largest) + 1) / (len(added) + 1)
    n, n_undefined = sum(each.gap.n for each in groups), int(np.count_nonzero(~known))
    found = Estimate.of(largest, ends, confidence, n=n, n_groups=n_sources, n_undefined=n_undefined)
    return found, p_value

"""Agreement at dataset, sample and system level, and the contribution of each row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    check_choice,
    group_codes,
    paired_scores,
    ratio,
)
from judgesmith.metrics.correlation.coefficients import (
    Q_PARTS,
    Statistic,
    deviations,
    group_correlations,
    on_one_scale,
    over_rows,
    tau_scale,
    unrelated_distance,
)
from judgesmith.metrics.correlation.columns import (
    Column,
    inversion_passes,
    pair_counts,
    row_balances,
    sums,
)
from judgesmith.metrics.records import Record

Level = Literal["system", "sample", "dataset"]
Labels = Sequence[object] | NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelValue(Record):
    """The value of an agreement and the data behind it.

    Attributes
    ----------
    value : float; the statistic; nan if it is undefined
    n, n_unscored : int
        Scored rows that entered, and rows left out because ``judge`` was nan.
    n_groups : int; groups that the level looks at: systems, sources, or the one dataset
    n_undefined : int
        Those among them left out of ``value``: sources whose own correlation is undefined, systems
        without a scored row, the dataset itself.
    """

    value: float
    n: int
    n_unscored: int
    n_groups: int
    n_undefined: int


def check_sources(sources: Labels | None, level: str) -> None:
    """Refuse the sample level, which is about pairs of rows of one source, without sources."""
    if sources is None and level == "sample":
        raise ValueError("sample level needs sources=, one label per item; got None.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRows:
    """Checked rows of which only those with a score are left; groups keep their numbers."""

    judge: Column
    human: Column
    sources: IntArray
    systems: IntArray
    n_sources: int
    n_systems: int
    n_unscored: int

    @classmethod
    def of(
        cls,
        human: FloatArray,
        judge: FloatArray,
        *,
        sources: Labels | None,
        systems: Labels | None,
        level: Level,
        scored: NDArray[np.bool_],
    ) -> "ScoredRows":
        check_choice(level, Level, name="level")
        check_sources(sources, level)
        n_rows = len(human)
        source_codes, n_sources = group_codes(sources, name="sources", n_items=n_rows)
        if systems is not None:
            system_codes, n_systems = group_codes(systems, name="systems", n_items=n_rows)
        elif level == "system":
            raise ValueError("system level needs systems=, one label per item; got None.")
        else:
            system_codes, n_systems = np.zeros(n_rows, np.int64), int(n_rows > 0)
        kept = slice(None) if scored.all() else scored
        return cls(
            judge=Column.of(judge[kept]),
            human=Column.of(human[kept]),
            sources=source_codes[kept],
            systems=system_codes[kept],
            n_sources=n_sources,
            n_systems=n_systems,
            n_unscored=int(n_rows - np.count_nonzero(scored)),
        )


def agreement(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels | None = None,
    statistic: Statistic = "pearson",
    level: Level = "dataset",
) -> LevelValue:
    """Return the correlation of a judge with human ratings at one level.

    ==========  ==================================================  ==========================
    level       value                                               also called
    ==========  ==================================================  ==========================
    `system`    correlation of the systems' mean scores             system-level, corpus-level
    `sample`    correlation across the systems of one source,       summary-, input-, turn-,
                averaged over sources                               segment-level (grouped)
    `dataset`   correlation over all rows, whatever their source    instance-, global-level,
                                                                    segment-level (no grouping)
    ==========  ==================================================  ==========================

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,)
        Rows that ``judge`` leaves unscored (nan or None) are left out and counted.
    sources, systems : sequence of labels, one per row
        What was responded to and who responded. ``systems`` is needed at system level only.
    statistic : {"pearson", "spearman", "kendall", "kendall_c", "concordance", "q"}
        ``kendall`` is tau-b and ``kendall_c`` tau-c; ``q`` is the sum of the first three, group by
        group. For ``concordance`` judge scores must be in points of the human scale.
    level : {"system", "sample", "dataset"}

    Returns
    -------
    LevelValue
        With ``value`` from -1 to 1 (``q``: -3 to 3), nan if undefined.

    Raises
    ------
    ValueError
        If rows do not pair up, a human score or a label is missing, a score is infinite, or
        the statistic or level is unknown.

    References
    ----------
    Louis and Nenkova (2013), "Automatically Assessing Machine Summary Content Without a Gold
    Standard", Computational Linguistics 39, compare the system and the input level.

    Examples
    --------
    >>> found = agreement(
    ...     [1, 2, 4, 3, 2, 1], [1, 2, 3, 5, 5, 5],
    ...     sources=["a", "a", "a", "b", "b", "b"], statistic="spearman", level="sample",
    ... )
    >>> found.value, found.n_groups, found.n_undefined
    (1.0, 2, 1)
    """
    check_choice(statistic, Statistic, name="statistic")
    h, p = paired_scores(human, judge, allow_unscored=True)
    rows = ScoredRows.of(h, p, sources=sources, systems=systems, level=level, scored=~np.isnan(p))
    return level_value(rows, statistic, level)


def level_value(rows: ScoredRows, statistic: Statistic, level: Level) -> LevelValue:
    """Compute one statistic at one level from checked rows."""
    x, y = rows.judge, rows.human
    n = len(x.codes)
    if level == "sample":
        values = group_correlations(statistic, x, y, rows.sources, rows.n_sources)
        value, n_groups = mean_defined(values), rows.n_sources
        n_undefined = int(np.count_nonzero(np.isnan(values)))
    elif level == "system":
        present, means = means_by_system(rows)
        n_groups, n_undefined = rows.n_systems, rows.n_systems - len(present)
        value = over_rows(statistic, *means)
    else:
        value, n_groups, n_undefined = over_rows(statistic, x, y), 1, 0
        n_undefined = int(np.isnan(value))
    return LevelValue(
        value=value, n=n, n_unscored=rows.n_unscored, n_groups=n_groups, n_undefined=n_undefined
    )


def means_by_system(rows: ScoredRows) -> tuple[IntArray, tuple[Column, Column]]:
    """Return the systems with a row, and the mean scores of each, of judge and human."""
    present, systems = np.unique(rows.systems, return_inverse=True)
    size = np.bincount(systems)
    x, y = (
        Column.of(np.bincount(systems, weights=column.values) / size, column.exponent)
        for column in (rows.judge, rows.human)
    )
    return present, (x, y)


def mean_defined(values: FloatArray) -> float:
    """Return the mean of what is not nan, nan if nothing is left."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else float("nan")


def contributions(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels | None = None,
    statistic: Statistic = "pearson",
    level: Level = "dataset",
) -> FloatArray:
    """Return the contribution of each row to an agreement: their ``np.nansum`` is the agreement.

    =============  ================================================================================
    statistic      part of a row among the n rows of its group
    =============  ================================================================================
    `pearson`      product of both scores, standardised within the group, over n
    `spearman`     the same of average ranks
    `kendall`      half of each of its pairs: its concordant minus its discordant partners, over
                   twice what tau divides the pairs by
    `kendall_c`    the same
    `concordance`  1 / n, less its squared distance over what is expected in all if scores were
                   shuffled: at most 1 / n, below 0 if it is farther off than that
    `q`            sum of the first three
    =============  ================================================================================

    At dataset level all rows are one group. At sample level each source is one, and the part is
    divided by the number of sources that have a value. At system level the systems' means are
    the group, and the rows of a system share its part equally.

    Parameters
    ----------
    human, judge, sources, systems, statistic, level
        As for :func:`agreement`.

    Returns
    -------
    float array, shape (n_rows,)
        In the unit of the statistic. nan in rows that take no part: unscored ones, those of a
        source whose correlation is undefined (at sample level), and all if the agreement is.

    Examples
    --------
    >>> parts = contributions(
    ...     [1, 2, 3], [1, 3, 2], sources=["a", "b", "c"], statistic="kendall", level="dataset"
    ... )
    >>> parts.round(3).tolist(), float(parts.sum().round(3))
    ([0.333, 0.0, 0.0], 0.333)
    """
    check_choice(statistic, Statistic, name="statistic")
    h, p = paired_scores(human, judge, allow_unscored=True)
    scored = ~np.isnan(p)
    rows = ScoredRows.of(h, p, sources=sources, systems=systems, level=level, scored=scored)
    result = np.full(len(p), np.nan)
    if level == "system":
        result[scored] = _of_system_means(rows, statistic)
    elif level == "sample":
        parts = _within_groups(statistic, rows.judge, rows.human, rows.sources, rows.n_sources)
        n_defined = len(np.unique(rows.sources[~np.isnan(parts)]))
        result[scored] = parts / max(n_defined, 1)
    else:
        one = np.zeros(len(rows.sources), np.int64)
        result[scored] = _within_groups(statistic, rows.judge, rows.human, one, 1)
    return result


def _of_system_means(rows: ScoredRows, statistic: Statistic) -> FloatArray:
    """Share the part of each system's means among its rows."""
    present, means = means_by_system(rows)
    parts = _within_groups(statistic, *means, np.zeros(len(present), np.int64), 1)
    _, systems, size = np.unique(rows.systems, return_inverse=True, return_counts=True)
    return np.asarray((parts / size)[systems])


def _within_groups(
    statistic: Statistic, x: Column, y: Column, groups: IntArray, n_groups: int
) -> FloatArray:
    """Return each row's part in the statistic of its group, nan where that is undefined."""
    if statistic == "q":
        parts = [_within_groups(one, x, y, groups, n_groups) for one in Q_PARTS]
        enough = np.bincount(groups, minlength=n_groups)[groups] >= 3
        return np.where(enough, np.sum(parts, axis=0), np.nan)
    if statistic == "concordance":
        first, second = on_one_scale(x, y)
        size = np.bincount(groups, minlength=n_groups)
        whole = unrelated_distance(x, y, groups, n_groups)[groups]
        return 1 / size[groups] - ratio((first - second) ** 2, whole)
    if statistic in ("kendall", "kendall_c"):
        counts = pair_counts(x, y, groups, n_groups)
        scale = tau_scale(statistic, counts, x, y, groups, n_groups)
        balance = row_balances(x, y, groups, n_groups).astype(np.float64)
        return ratio(balance, scale[groups])
    dx, dy, defined = deviations(statistic, x, y, groups, n_groups)
    sxx, syy = (sums(each * each, groups, n_groups) for each in (dx, dy))
    return ratio(dx * dy, np.where(defined, np.sqrt(sxx * syy), 0.0)[groups])


Kind = Literal["reversed", "tied"]

_MOST_PAIRS = 1000
# Rows of one block at least, and about how many pairs of blocks there are at most.
_BLOCK_ROWS = 64
_BLOCK_PAIRS = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstPair(Record):
    """Two rows that raters order and the judge reverses or ties.

    Attributes
    ----------
    better, worse : int; index of the row that raters score higher, and of the other
    human_gap, predicted_gap : float
        Better minus worse, in points of either scale: above 0 for raters, 0 or below for the judge.
    harm : float
        How much the pair hurts, as :func:`worst_pairs` has it; above 0.
    """

    better: int
    worse: int
    human_gap: float
    predicted_gap: float
    harm: float


def worst_pairs(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    n: int = 10,
    kind: Kind = "reversed",
) -> tuple[WorstPair, ...]:
    """Return the pairs of rows on which a judge contradicts raters most.

    The harm of a reversed pair is the product of its two gaps, each in standard deviations of its
    list: what the pair takes away from Pearson's correlation, times the squared number of rows. The
    harm of a tied pair is the human gap alone. Memory grows with the rows, not with their pairs.

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,); nan (or None) in ``judge`` where unscored
    sources : sequence of labels, one per row, or None
        Only rows of one source make a pair; without sources any two rows do.
    n : int, from 1 to 1000; how many pairs, at most
    kind : {"reversed", "tied"}
        Pairs that the judge orders the other way round, or gives one score.

    Returns
    -------
    tuple of WorstPair
        The most harmful first, then by row. Which of equally harmful pairs are left out is not
        defined.

    Examples
    --------
    >>> found = worst_pairs([2, 1, 5, 4], [1, 9, 5, 5], n=1)[0]
    >>> found.better, found.worse, found.human_gap, found.predicted_gap, round(found.harm, 2)
    (2, 1, 4.0, -4.0, 3.58)
    >>> [(pair.better, pair.worse) for pair in worst_pairs([2, 1, 5, 4], [1, 9, 5, 5], kind="tied")]
    [(2, 3)]
    """
    check_choice(kind, Kind, name="kind")
    if not isinstance(n, int | np.integer) or not 1 <= n <= _MOST_PAIRS:
        raise ValueError(f"n must be a whole number from 1 to {_MOST_PAIRS}; got {n!r}.")
    h, p = paired_scores(human, judge, allow_unscored=True)
    groups, n_groups = np.zeros(len(p), np.int64), 1
    if sources is not None:
        groups, n_groups = group_codes(sources, name="sources", n_items=len(p))
    rows = np.flatnonzero(~np.isnan(p))
    groups, x, y = groups[rows], Column.of(p[rows]), Column.of(h[rows])
    if not rows.size or y.n_levels < 2:
        return ()
    # From the low to the high place of a gap: for ties a step of one, whatever the score.
    low, high = x.values, x.values
    unit = np.std(x.values) * np.std(y.values)
    if kind == "tied":
        groups, n_groups = x.cells(groups, n_groups)
        low, high = np.zeros(len(rows)), np.ones(len(rows))
        unit = np.std(y.values)
    better = _extreme(groups, x.codes, y.codes, n)
    worse = _extreme(groups, -x.codes, -y.codes, n)
    products, firsts, seconds = _largest_products(
        _Edge.of(better, groups, low, y.values),
        _Edge.of(worse, groups, high, y.values),
        n_groups,
        n,
    )
    firsts, seconds = rows[firsts], rows[seconds]
    order = np.lexsort((seconds, firsts, -products))
    return tuple(
        WorstPair(
            better=int(first),
            worse=int(second),
            human_gap=float(h[first]) - float(h[second]),
            predicted_gap=float(p[first]) - float(p[second]),
            harm=float(product / unit),
        )
        for product, first, second in zip(
            products[order], firsts[order], seconds[order], strict=True
        )
    )


def _extreme(groups: IntArray, x: IntArray, y: IntArray, n: int) -> IntArray:
    """Return rows that fewer than n others of their group are at most at x, at least at y."""
    by_x, by_y = np.lexsort((-y, x, groups)), np.lexsort((x, -y, groups))
    place = np.empty(len(groups), np.int64)
    place[by_y] = np.arange(len(groups))
    # Rows that are before one in both orders: all before it in one, less the inverted ones.
    before = np.arange(len(groups)) - np.searchsorted(groups[by_x], groups[by_x])
    for low, _, first, last in inversion_passes(place[by_x]):
        before[low] -= last - first
    return np.asarray(by_x[before < n])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edge:
    """Rows of one edge in order of their group and y."""

    rows: IntArray
    groups: IntArray
    x: FloatArray
    y: FloatArray

    @classmethod
    def of(cls, rows: IntArray, groups: IntArray, x: FloatArray, y: FloatArray) -> "_Edge":
        rows = rows[np.lexsort((y[rows], groups[rows]))]
        return cls(rows=rows, groups=groups[rows], x=x[rows], y=y[rows])

    def blocks(self, size: int) -> tuple[IntArray, IntArray]:
        """Return where blocks of at most so many rows of one group start and end."""
        place = np.arange(len(self.rows)) - np.searchsorted(self.groups, self.groups)
        starts = np.flatnonzero(place % size == 0)
        return starts, np.append(starts, len(place))[1:]


def _largest_products(
    better: _Edge, worse: _Edge, n_groups: int, n: int
) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the n largest products of both gaps, and the rows they are between."""
    counts = [np.bincount(edge.groups, minlength=n_groups) for edge in (better, worse)]
    n_pairs = float(counts[0].astype(np.float64) @ counts[1])
    size = max(_BLOCK_ROWS, int(np.sqrt(n_pairs / _BLOCK_PAIRS)))
    (better_from, better_to), (worse_from, worse_to) = better.blocks(size), worse.blocks(size)
    above, below = _pairs_of_blocks(better.groups[better_from], worse.groups[worse_from])
    # No product in a pair of blocks is larger than that of the outermost gaps.
    rise = (
        np.maximum.reduceat(better.y, better_from)[above]
        - np.minimum.reduceat(worse.y, worse_from)[below]
    )
    fall = (
        np.maximum.reduceat(worse.x, worse_from)[below]
        - np.minimum.reduceat(better.x, better_from)[above]
    )
    bounds = np.maximum(rise, 0.0) * np.maximum(fall, 0.0)
    best, least = np.empty(0), 0.0
    pairs = np.empty((2, 0), np.int64)
    for one in np.argsort(-bounds):
        if bounds[one] <= least:
            break
        a = slice(better_from[above[one]], better_to[above[one]])
        b = slice(worse_from[below[one]], worse_to[below[one]])
        gaps = np.maximum(better.y[a, None] - worse.y[b], 0.0)
        gaps *= np.maximum(worse.x[b] - better.x[a, None], 0.0)
        found = np.argwhere(gaps > least)
        best = np.append(best, gaps[tuple(found.T)])
        pairs = np.append(pairs, [better.rows[a][found[:, 0]], worse.rows[b][found[:, 1]]], axis=1)
        if len(best) > n:
            kept = np.argpartition(-best, n - 1)[:n]
            best, pairs = best[kept], pairs[:, kept]
        if len(best) == n:
            least = float(best.min())
    return best, pairs[0], pairs[1]


def _pairs_of_blocks(first: IntArray, second: IntArray) -> tuple[IntArray, IntArray]:
    """Return all pairs of places whose groups, in order in both lists, are equal."""
    start, end = (np.searchsorted(second, first, side=side) for side in ("left", "right"))
    n_partners = end - start
    ones = np.repeat(np.arange(len(first)), n_partners)
    offset = np.arange(len(ones)) - np.repeat(np.cumsum(n_partners) - n_partners, n_partners)
    return ones, start[ones] + offset

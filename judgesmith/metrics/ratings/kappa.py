"""Cohen's kappa in levels of a scale, by kind of row, and its interval from counts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    Seed,
    check_choice,
    group_codes,
    number_array,
    paired_scores,
    rating_table,
    ratio,
)
from judgesmith.metrics.correlation.columns import TIE_TOLERANCE
from judgesmith.metrics.correlation.levels import Labels, mean_defined
from judgesmith.metrics.records import Estimate, PairedEstimate
from judgesmith.metrics.resampling.draws import (
    Counted,
    checked_generator,
    difference_of,
    draws_of_sources,
    estimate_of,
)

MOST_LEVELS = 256
"""More levels than this are refused: a table of all pairs of them would be mostly empty."""


def checked_levels(levels: ArrayLike | None, *scores: FloatArray) -> FloatArray:
    """Return the levels that are declared, or else all that occur in finite scores."""
    if levels is None and not scores:
        raise ValueError("levels must be given: a vector of rising numbers, such as 1 to 5.")
    if levels is None:
        found = np.unique(np.concatenate(scores))
        found = found[np.diff(found, prepend=-np.inf) > _tolerance(found)]
        if len(found) > MOST_LEVELS:
            raise ValueError(
                f"{len(found)} different scores are too many to be levels, at most {MOST_LEVELS}; "
                "round them to the levels of a scale first."
            )
        return found
    declared = number_array(levels, name="levels")
    if declared.ndim != 1 or not declared.size or not np.isfinite(declared).all():
        raise ValueError(
            f"levels must be a vector of finite numbers, such as 1 to 5; got {levels!r}."
        )
    if np.any(np.diff(declared / 2) <= _tolerance(declared)):
        raise ValueError(f"levels must rise from each to the next; got {declared.tolist()}.")
    if len(declared) > MOST_LEVELS:
        raise ValueError(f"there must be at most {MOST_LEVELS} levels; got {len(declared)}.")
    return declared


def level_codes(scores: FloatArray, levels: FloatArray, *, name: str) -> IntArray:
    """Return the place of each finite score among the levels, from 0; any shape."""
    codes = levels.searchsorted(scores)
    if not np.array_equal(levels.take(codes, mode="clip"), scores):
        # Rounding noise, or a fault: both are rare, so that the usual case need not wait.
        tolerance = _tolerance(levels)
        codes = np.searchsorted(levels - tolerance, scores, side="right") - 1
        strange = np.flatnonzero(np.abs(scores - levels[codes]) > tolerance)
        if strange.size:
            raise ValueError(
                f"{name} holds {strange.size} of {scores.size} scores that are none of the levels "
                f"{_listed(levels)}, the first at index {strange[0]}: {scores.flat[strange[0]]:g}; "
                "declare the levels of the scale, or bring the scores to its levels first."
            )
    return codes.astype(np.int64, copy=False)


def _tolerance(levels: FloatArray) -> float:
    """Return how far apart equal scores may lie, for levels that rise."""
    return TIE_TOLERANCE * float(max(abs(levels[0]), abs(levels[-1]))) if levels.size else 0.0


def _listed(levels: FloatArray) -> str:
    """Return levels as text that stays short."""
    texts = [f"{level:g}" for level in levels]
    return ", ".join(texts if len(texts) < 13 else [*texts[:3], "...", *texts[-2:]])


Weights = Literal["linear", "quadratic", "nominal"]


def weighted_kappa(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    levels: ArrayLike | None = None,
    weights: Weights = "linear",
) -> float:
    """Return Cohen's kappa of two lists of ratings on one scale.

    It is ``1 - sum(w * c) / sum(w * e)`` over all pairs of levels, where ``c`` counts items and
    ``e`` is what the totals of rows and columns let expect by chance.

    Parameters
    ----------
    human, judge : array-like, shape (n_items,), in points of one scale, none missing
    levels : array-like, shape (n_levels,), or None
        The levels of the scale in rising order, at most 256; their places count, not their
        distances. None stands for the levels that occur.
    weights : {"linear", "quadratic", "nominal"}
        What a disagreement counts: the number of levels between, its square, or one.

    Returns
    -------
    float
        1 is perfect agreement, 0 is chance, negative is less than chance; nan if both lists are
        constant and equal, or empty.

    References
    ----------
    Cohen (1960), "A coefficient of agreement for nominal scales", Educational and Psychological
    Measurement 20. Cohen (1968), "Weighted kappa", Psychological Bulletin 70.

    Examples
    --------
    >>> round(weighted_kappa([1, 2, 2, 3], [1, 2, 3, 3], levels=range(1, 6)), 3)
    0.714
    >>> weighted_kappa([2, 2, 2], [2, 2, 2], levels=range(1, 6))
    nan
    """
    check_choice(weights, Weights, name="weights")
    h, p = paired_scores(human, judge)
    cells, n_levels = table_cells(h, p, levels=levels)
    table = np.bincount(cells, minlength=n_levels**2)
    return float(kappa_of_tables(table.astype(np.float64), n_levels, weights))


def table_cells(
    human: FloatArray, judge: FloatArray, *, levels: ArrayLike | None
) -> tuple[IntArray, int]:
    """Return the cell of each item in the table of human by predicted levels, and their number."""
    known = checked_levels(levels, judge, human)
    rows = level_codes(human, known, name="human")
    columns = level_codes(judge, known, name="judge")
    return rows * len(known) + columns, len(known)


def kappa_of_tables(tables: FloatArray, n_levels: int, weights: Weights) -> FloatArray:
    apart = disagreements(n_levels, weights)
    square = tables.reshape(*tables.shape[:-1], n_levels, n_levels)
    observed = tables @ apart.ravel()
    return kappa_of_sums(observed, square.sum(axis=-1), square.sum(axis=-2), apart)


def kappa_of_sums(
    observed: FloatArray, rows: FloatArray, columns: FloatArray, apart: FloatArray
) -> FloatArray:
    """Return the kappa of tables of which only sums are known, all of them whole numbers."""
    # Sums of whole numbers are exact, so what chance cannot disagree on is exactly zero.
    expected = ((rows @ apart) * columns).sum(axis=-1)
    return np.asarray(1 - ratio(observed * rows.sum(axis=-1), np.asarray(expected)))


def disagreements(n_levels: int, weights: Weights) -> FloatArray:
    """Return what each pair of levels counts as a disagreement, shape (n_levels, n_levels)."""
    places = np.arange(n_levels, dtype=np.float64)
    steps = np.abs(places[:, None] - places)
    if weights == "linear":
        return steps
    if weights == "quadratic":
        return steps**2
    return (steps > 0).astype(np.float64)


# Cells of the working arrays of one block of resamples, at 8 bytes each.
_BLOCK_CELLS = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedKinds:
    """Rows as kinds of rows, and the cell of each kind in each of several tables of levels."""

    kinds: IntArray
    cells: IntArray
    sources: IntArray
    n_sources: int
    n_levels: int

    @classmethod
    def of(
        cls,
        human: FloatArray,
        judge: list[FloatArray],
        *,
        sources: Labels | None,
        levels: ArrayLike | None,
    ) -> "RatedKinds":
        """Keep the rows that every judge scored; one table per judge."""
        codes, _ = group_codes(sources, name="sources", n_items=len(human))
        scored = ~np.any(np.isnan(judge), axis=0)
        h = human[scored]
        known = checked_levels(levels, h, *(p[scored] for p in judge))
        tables = [table_cells(h, p[scored], levels=known)[0] for p in judge]
        return cls._grouped(np.stack(tables, axis=1), codes[scored], len(known))

    @classmethod
    def of_raters(
        cls, table: FloatArray, *, sources: Labels | None, levels: ArrayLike | None
    ) -> "RatedKinds":
        """Keep the items that two raters rated; one table per pair of raters."""
        codes, _ = group_codes(sources, name="sources", n_items=len(table))
        given = ~np.isnan(table)
        known = checked_levels(levels, table[given])
        places = np.full(table.shape, -1)
        places[given] = level_codes(table[given], known, name="ratings")
        first, second = np.triu_indices(table.shape[1], k=1)
        cells = np.where(
            given[:, first] & given[:, second],
            places[:, first] * len(known) + places[:, second],
            -1,
        )
        shared = np.any(cells >= 0, axis=1)
        return cls._grouped(cells[shared], codes[shared], len(known))

    @classmethod
    def _grouped(cls, cells: IntArray, sources: IntArray, n_levels: int) -> "RatedKinds":
        """Give the kinds of rows numbers, and the sources that are left."""
        kinds_of, kinds = np.unique(cells, axis=0, return_inverse=True)
        left, codes = np.unique(sources, return_inverse=True)
        return cls(
            kinds=kinds.ravel(),
            cells=kinds_of,
            sources=codes,
            n_sources=len(left),
            n_levels=n_levels,
        )

    @property
    def n(self) -> int:
        """Return how many pairs of ratings there are in all tables."""
        return int(np.count_nonzero(self.cells[self.kinds] >= 0))

    def values(self, weights: Weights) -> FloatArray:
        """Return the kappa of each table, shape (n_tables,)."""
        counts = np.bincount(self.kinds, minlength=len(self.cells)).astype(np.float64)
        values: FloatArray = self.kappas(weights)(counts[None])[0]
        return values

    def counted(self, weights: Weights, places: IntArray) -> Counted:
        """Return the mean kappa of some tables as a function of counts of kinds."""
        kappas = self.kappas(weights)
        value = mean_defined(self.values(weights)[places])
        return Counted(
            value=value,
            of_counts=lambda counts: kappas(counts)[:, places].mean(axis=1),
            n_units=self.n_sources,
            n_undefined=int(np.isnan(value)),
        )

    def draws(self, rng: np.random.Generator, n_resamples: int) -> Iterator[tuple[FloatArray]]:
        """Yield, in blocks, how often each resample holds each kind of row."""
        n_kinds, n_tables = self.cells.shape
        block = max(1, _BLOCK_CELLS // max(n_kinds, n_tables * (2 * self.n_levels + 1)))
        if self.n_sources == len(self.kinds):
            shares = np.bincount(self.kinds) / len(self.kinds)
            for start in range(0, n_resamples, block):
                size = min(block, n_resamples - start)
                yield (rng.multinomial(self.n_sources, shares, size=size).astype(np.float64),)
            return
        ones = np.ones(len(self.kinds))
        kinds_of = _sums_over((ones, self.kinds, self.sources), (n_kinds, self.n_sources))
        for counts in draws_of_sources(self.n_sources, n_resamples, rng):
            for start in range(0, len(counts), block):
                yield (kinds_of(counts[start : start + block]),)

    def kappas(self, weights: Weights) -> Callable[[FloatArray], FloatArray]:
        """Return the map from counts of kinds to the kappas of each table in each resample."""
        n_kinds, n_tables = self.cells.shape
        apart, n_levels = disagreements(self.n_levels, weights), self.n_levels
        kind, table = np.nonzero(self.cells >= 0)
        row, column = np.divmod(self.cells[kind, table], max(n_levels, 1))
        # Of each table: how often either side gave each level, and the sum of disagreements.
        n_sums = 2 * n_levels + 1
        places = [row, n_levels + column, np.full_like(row, 2 * n_levels)]
        ones = np.ones(len(kind))
        sums_of = _sums_over(
            (
                np.concatenate([ones, ones, apart[row, column]]),
                np.concatenate([table * n_sums + place for place in places]),
                np.tile(kind, 3),
            ),
            (n_tables * n_sums, n_kinds),
        )

        def kappas(counts: FloatArray) -> FloatArray:
            sums = sums_of(counts).reshape(len(counts), n_tables, n_sums)
            rows, columns = sums[..., :n_levels], sums[..., n_levels:-1]
            return kappa_of_sums(sums[..., -1], rows, columns, apart)

        return kappas


def _sums_over(
    entries: tuple[FloatArray, IntArray, IntArray], shape: tuple[int, int]
) -> Callable[[FloatArray], FloatArray]:
    """Return the map from counts in each resample to sums of weighted counts."""
    from scipy.sparse import csr_array

    weights, sums, counted = entries
    # With sums first, the products run along the resamples, which lie side by side.
    matrix = csr_array((weights, (sums, counted)), shape=shape)

    def of(counts: FloatArray) -> FloatArray:
        return np.asarray((matrix @ np.ascontiguousarray(counts.T)).T)

    return of


def counted_kappa(
    human: FloatArray,
    judge: FloatArray,
    sources: IntArray,
    n_sources: int,
    *,
    levels: FloatArray,
    weights: Weights = "linear",
) -> Counted:
    """Return kappa from each source's disagreements, and how often it has each level."""
    scored = ~np.isnan(judge)
    own = sources[scored]
    first, second = (level_codes(each[scored], levels, name="scores") for each in (human, judge))
    n = len(levels)
    apart = disagreements(n, weights)
    sums = np.zeros((n_sources, 2 * n + 1))
    np.add.at(sums, (own, first), 1.0)
    np.add.at(sums, (own, n + second), 1.0)
    np.add.at(sums, (own, np.full(len(own), 2 * n)), apart[first, second])

    def kappas(counts: FloatArray) -> FloatArray:
        found = counts @ sums
        return kappa_of_sums(found[:, -1], found[:, :n], found[:, n:-1], apart)

    value = float(kappas(np.ones((1, n_sources)))[0])
    return Counted(value=value, of_counts=kappas, n_units=len(np.unique(own)))


def weighted_kappa_interval(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    levels: ArrayLike | None = None,
    weights: Weights = "linear",
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> Estimate:
    """Return Cohen's kappa with an interval over sources.

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,); nan (or None) in ``judge`` where unscored
    sources : sequence of labels, one per row
        If every source has one row, rows are resampled.
    levels, weights
        As for :func:`~judgesmith.metrics.weighted_kappa`.
    confidence, seed, n_resamples
        As in :mod:`judgesmith.metrics`: coverage, seed or generator, 20 resamples or more.

    Returns
    -------
    Estimate
        ``low`` and ``high`` are nan with fewer than two sources, if ``value`` is undefined, or if
        more than 5 % of the resamples are; otherwise these are left out.

    References
    ----------
    As for :func:`~judgesmith.metrics.correlation.agreement_interval`.

    Examples
    --------
    >>> found = weighted_kappa_interval(
    ...     [1, 2, 2, 3, 2, 1, 2, 3], [1, 2, 3, 3, 2, 1, 1, 3], sources=range(8),
    ...     levels=[1, 2, 3], seed=0,
    ... )
    >>> round(found.value, 2), found.low < found.value < found.high, found.n_groups
    (0.71, True, 8)
    """
    rng = checked_generator(seed, n_resamples, confidence)
    check_choice(weights, Weights, name="weights")
    h, p = paired_scores(human, judge, allow_unscored=True)
    rows = RatedKinds.of(h, [p], sources=sources, levels=levels)
    return _estimate(rows, weights, rng, n_resamples, confidence)


def weighted_kappa_difference(
    human: ArrayLike,
    judge: ArrayLike,
    other: ArrayLike,
    *,
    sources: Labels | None = None,
    levels: ArrayLike | None = None,
    weights: Weights = "linear",
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> PairedEstimate:
    """Return the kappa of ``judge`` minus that of ``other`` on the same rows and resamples.

    Parameters
    ----------
    human, judge, other : array-like, shape (n_rows,)
        Rows that either judge leaves unscored (nan or None) are left out.
    sources, levels, weights, seed, n_resamples, confidence
        As for :func:`weighted_kappa_interval`.

    Returns
    -------
    PairedEstimate
        The p-value is that of :func:`~judgesmith.metrics.correlation.agreement_difference`.

    Examples
    --------
    >>> found = weighted_kappa_difference(
    ...     [1, 2, 2, 3, 2, 1, 2, 3], [1, 2, 3, 3, 2, 1, 1, 3], [2, 2, 1, 3, 2, 3, 1, 2],
    ...     sources=range(8), levels=[1, 2, 3], seed=0,
    ... )
    >>> found.value == found.first - found.second > 0
    True
    """
    rng = checked_generator(seed, n_resamples, confidence)
    check_choice(weights, Weights, name="weights")
    h, p = paired_scores(human, judge, allow_unscored=True)
    _, q = paired_scores(human, other, allow_unscored=True)
    rows = RatedKinds.of(h, [p, q], sources=sources, levels=levels)
    kappas = rows.kappas(weights)
    one, rest = (rows.counted(weights, np.array([place])) for place in (0, 1))
    return difference_of(
        one,
        rest,
        rows.draws(rng, n_resamples),
        n=len(rows.kinds),
        n_groups=rows.n_sources,
        confidence=confidence,
        gain=lambda counts: np.subtract(*kappas(counts).T),
        statistic=f"{weights}-weighted kappa",
    )


def pairwise_kappa(
    ratings: ArrayLike,
    *,
    sources: Labels | None = None,
    levels: ArrayLike | None = None,
    weights: Weights = "linear",
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> Estimate:
    """Return Cohen's kappa of two raters, averaged over all pairs of raters, each counting alike.

    Parameters
    ----------
    ratings : array-like, shape (n_items, n_raters), in points of the scale
        nan (or None) where missing. A column is one person; if it is not,
        :func:`~judgesmith.metrics.krippendorff_alpha` is the better choice.
    sources : sequence of labels, one per item, or None
    levels, weights, seed, n_resamples, confidence
        As for :func:`weighted_kappa_interval`.

    Returns
    -------
    Estimate
        ``n`` counts pairs of ratings of one item; ``n_undefined`` pairs of raters left out
        because they share no item or gave nothing but one level.

    References
    ----------
    Light (1971), "Measures of response agreement for qualitative data", Psychological Bulletin 76,
    for the mean over pairs.

    Examples
    --------
    >>> found = pairwise_kappa(
    ...     [[1, 1, 2], [2, 2, 2], [3, 3, 3], [1, 2, 1], [3, 3, 2]], levels=[1, 2, 3],
    ... )
    >>> round(found.value, 2), found.n, found.n_undefined
    (0.51, 15, 0)
    """
    rng = checked_generator(seed, n_resamples, confidence)
    check_choice(weights, Weights, name="weights")
    rows = RatedKinds.of_raters(rating_table(ratings), sources=sources, levels=levels)
    return _estimate(rows, weights, rng, n_resamples, confidence)


def _estimate(
    rows: RatedKinds,
    weights: Weights,
    rng: np.random.Generator,
    n_resamples: int,
    confidence: float,
) -> Estimate:
    """Return the mean over the tables that have a kappa."""
    defined = ~np.isnan(rows.values(weights))
    found = rows.counted(weights, np.flatnonzero(defined))
    return estimate_of(
        replace(found, n_undefined=int(np.count_nonzero(~defined))),
        rows.draws(rng, n_resamples),
        n=rows.n,
        n_groups=rows.n_sources,
        confidence=confidence,
        statistic=f"{weights}-weighted kappa",
    )

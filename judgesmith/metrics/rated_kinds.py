"""Cross tables of rating levels, for all rows and for every resample of whole sources.

Rows with the same ratings are one kind, so that a resample is how often it holds each kind. If
every source has one row, these numbers are multinomial and no row is drawn at all.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, IntArray, group_codes
from judgesmith.metrics.kappa import Weights, disagreements, kappa_of_sums, table_cells
from judgesmith.metrics.levels import Labels
from judgesmith.metrics.rating_levels import checked_levels, level_codes
from judgesmith.metrics.source_draws import draws_of_sources

__all__ = ["RatedKinds"]

# Cells of the working arrays of one block of resamples, at 8 bytes each.
_BLOCK_CELLS = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedKinds:
    """Rows as kinds of rows, and the cell of each kind in each of several tables of levels.

    Attributes
    ----------
    kinds : int array, shape (n_rows,)
        Rows of one kind have the same ratings.
    cells : int array, shape (n_kinds, n_tables)
        -1 where a kind is in no cell of a table.
    sources : int array, shape (n_rows,)
        From 0 to ``n_sources - 1``, each with a row.
    """

    kinds: IntArray
    cells: IntArray
    sources: IntArray
    n_sources: int
    n_levels: int

    @classmethod
    def of(
        cls,
        predicted: list[FloatArray],
        human: FloatArray,
        *,
        sources: Labels,
        levels: ArrayLike | None,
    ) -> "RatedKinds":
        """Keep the rows that every judge scored; one table per judge."""
        codes, _ = group_codes(sources, name="sources", n_items=len(human))
        scored = ~np.any(np.isnan(predicted), axis=0)
        h = human[scored]
        known = checked_levels(levels, h, *(p[scored] for p in predicted))
        tables = [table_cells(p[scored], h, levels=known)[0] for p in predicted]
        return cls._grouped(np.stack(tables, axis=1), codes[scored], len(known))

    @classmethod
    def of_raters(
        cls, table: FloatArray, *, sources: Labels | None, levels: ArrayLike | None
    ) -> "RatedKinds":
        """Keep the items that two raters rated; one table per pair of raters."""
        labels = range(len(table)) if sources is None else sources
        codes, _ = group_codes(labels, name="sources", n_items=len(table))
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
        values: FloatArray = self._kappas(weights)(counts[None])[0]
        return values

    def resampled(self, weights: Weights, rng: np.random.Generator, n_resamples: int) -> FloatArray:
        """Return the kappa of each table in each resample, shape (n_resamples, n_tables)."""
        kappas = self._kappas(weights)
        return np.concatenate([kappas(counts) for counts in self._draws(rng, n_resamples)])

    def _draws(self, rng: np.random.Generator, n_resamples: int) -> Iterator[FloatArray]:
        """Yield, in blocks, how often each resample holds each kind of row."""
        n_kinds, n_tables = self.cells.shape
        block = max(1, _BLOCK_CELLS // max(n_kinds, n_tables * (2 * self.n_levels + 1)))
        if self.n_sources == len(self.kinds):
            shares = np.bincount(self.kinds) / len(self.kinds)
            for start in range(0, n_resamples, block):
                size = min(block, n_resamples - start)
                yield rng.multinomial(self.n_sources, shares, size=size).astype(np.float64)
            return
        ones = np.ones(len(self.kinds))
        kinds_of = _sums_over((ones, self.kinds, self.sources), (n_kinds, self.n_sources))
        for counts in draws_of_sources(self.n_sources, n_resamples, rng):
            for start in range(0, len(counts), block):
                yield kinds_of(counts[start : start + block])

    def _kappas(self, weights: Weights) -> Callable[[FloatArray], FloatArray]:
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
    """Return the map from counts in each resample to sums of weighted counts.

    Parameters
    ----------
    entries : (float array, int array, int array)
        Weights, and for each of them the number of the sum and of what is counted. Those with
        the same two numbers add up.
    shape : (int, int)
        How many sums there are, and how many things are counted.
    """
    from scipy.sparse import csr_array

    weights, sums, counted = entries
    # With sums first, the products run along the resamples, which lie side by side.
    matrix = csr_array((weights, (sums, counted)), shape=shape)

    def of(counts: FloatArray) -> FloatArray:
        return np.asarray((matrix @ np.ascontiguousarray(counts.T)).T)

    return of

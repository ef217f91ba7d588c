"""Sources of like size laid side by side, so that all of them are computed in one operation."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.levels import ScoredRows

__all__ = ["SourceStack", "like_sized"]

# Cells of one stack of matrices of pairs.
_STACK_CELLS = 2**20


def like_sized(sizes: IntArray, largest: int) -> Iterator[IntArray]:
    """Yield the sources that are computed together: within a factor of two of one size.

    Examples
    --------
    >>> [each.tolist() for each in like_sized(np.array([4, 9, 1, 3, 700]), 512)]
    [[0, 3], [1]]
    """
    classes = np.ceil(np.log2(np.maximum(sizes, 1)))
    for one in np.unique(classes):
        alike = np.flatnonzero((classes == one) & (sizes > 1) & (sizes <= largest))
        if alike.size:
            at_once = max(1, _STACK_CELLS // int(sizes[alike].max()) ** 2)
            yield from (alike[at : at + at_once] for at in range(0, len(alike), at_once))


@dataclass(frozen=True, slots=True)
class SourceStack:
    """Rows of several sources, each filled up to the size of the largest by rows never drawn.

    Attributes
    ----------
    x, y : float array, shape (n_sources, size)
        Scores, centred and of unit variance within each source.
    x_codes, y_codes : int array, shape (n_sources, size)
        Ranks among the distinct scores of the source, from 0.
    units : int array, shape (n_sources, size)
        What each row is drawn with; the last unit is never drawn.
    """

    x: FloatArray
    y: FloatArray
    x_codes: IntArray
    y_codes: IntArray
    units: IntArray

    @classmethod
    def of(
        cls,
        rows: ScoredRows,
        order: IntArray,
        starts: IntArray,
        sizes: IntArray,
        units: IntArray,
        n_units: int,
    ) -> "SourceStack":
        """Gather the rows of sources from their places in ``order``."""
        offset = np.arange(sizes.max())
        filled = offset < sizes[:, None]
        places = order[np.where(filled, starts[:, None] + offset, starts[:, None])]
        x, y = rows.predicted, rows.human
        return cls(
            _standardised(x.values[places], filled),
            _standardised(y.values[places], filled),
            _dense(x.codes[places]),
            _dense(y.codes[places]),
            np.where(filled, units[places], n_units),
        )

    def signs(self) -> tuple[FloatArray, FloatArray]:
        """Return the signs of all differences, shape (n_sources, size, size), of either list."""
        x, y = (
            np.sign(codes[:, :, None] - codes[:, None, :]).astype(np.float64)
            for codes in (self.x_codes, self.y_codes)
        )
        return x, y


def _standardised(values: FloatArray, filled: NDArray[np.bool_]) -> FloatArray:
    """Centre and scale each row over its filled places; a constant one becomes zero."""
    n = np.count_nonzero(filled, axis=1)[:, None]
    centred = np.where(filled, values - values.sum(axis=1, where=filled)[:, None] / n, 0.0)
    spread = np.sqrt(np.sum(centred**2, axis=1)[:, None] / n)
    return centred / np.where(spread > 0, spread, 1.0)


def _dense(codes: IntArray) -> IntArray:
    """Return each row's codes as ranks among its distinct ones."""
    order = np.argsort(codes, axis=1)
    ordered = np.take_along_axis(codes, order, axis=1)
    ranks = np.zeros_like(codes)
    np.cumsum(ordered[:, 1:] > ordered[:, :-1], axis=1, out=ranks[:, 1:])
    result = np.empty_like(codes)
    np.put_along_axis(result, order, ranks, axis=1)
    return result

"""What scores miss in each bin, summed by source: from these sums alone every variance follows.

Without one source, the sums of a bin change by those of one cell, so that leaving out each source
in turn costs no more than one pass over the cells.
"""

import math
from dataclasses import dataclass

import numpy as np

from judgesmith.metrics.checks import FloatArray, IntArray

__all__ = ["Cells"]


@dataclass(frozen=True, slots=True)
class Cells:
    """Sums of residuals in each cell, the rows of one source in one bin.

    Attributes
    ----------
    sums : float array, shape (5, n_cells)
        Rows n, residuals r, and the products r * r, r * n and n * n of these sums.
    bins, sources : int array, shape (n_cells,)
        Where the cells belong.
    bin_sums : float array, shape (5, n_bins)
        The same summed over the cells of a bin.
    sources_in : int array, shape (n_bins,)
        How many cells a bin has.
    """

    sums: FloatArray
    bins: IntArray
    sources: IntArray
    bin_sums: FloatArray
    sources_in: IntArray

    @classmethod
    def of(cls, residuals: FloatArray, bins: IntArray, sources: IntArray) -> "Cells":
        """Sum the residuals."""
        sources = np.unique(sources, return_inverse=True)[1]
        width = int(sources.max(initial=0)) + 1
        cells, which = np.unique(bins * width + sources, return_inverse=True)
        n = np.bincount(which, minlength=len(cells)).astype(np.float64)
        r = np.bincount(which, weights=residuals, minlength=len(cells))
        sums = np.stack([n, r, r * r, r * n, n * n])
        own_bins = cells // width
        n_bins = int(own_bins.max(initial=-1)) + 1
        return cls(
            sums=sums,
            bins=own_bins,
            sources=cells % width,
            bin_sums=np.stack(
                [np.bincount(own_bins, weights=each, minlength=n_bins) for each in sums]
            ),
            sources_in=np.bincount(own_bins, minlength=n_bins),
        )

    def expected_if_calibrated(self) -> float:
        """Return the mean distance from 0 of means that are 0 but for chance."""
        n = self.bin_sums[0]
        _, variance = _gap(self.bin_sums, self.sources_in)
        return float(np.sum(n * np.sqrt(2 * variance / math.pi)) / n.sum())

    def squared_error(self) -> tuple[float, FloatArray]:
        """Return the mean squared gap without chance, of all rows and without each source."""
        n_sources = int(self.sources.max()) + 1
        whole = _excess(self.bin_sums, self.sources_in)
        left = _excess(self.bin_sums[:, self.bins] - self.sums, self.sources_in[self.bins] - 1)
        change = np.bincount(self.sources, weights=left - whole[self.bins], minlength=n_sources)
        rows = np.bincount(self.sources, weights=self.sums[0], minlength=n_sources)
        n, total = float(self.bin_sums[0].sum()), float(whole.sum())
        without = np.full(n_sources, np.nan)
        np.divide(total + change, n - rows, out=without, where=rows < n)
        return total / n, without


def _gap(sums: FloatArray, sources_in: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean residual of bins and its variance, from the sums of their cells."""
    n, r, rr, rn, nn = sums
    gap, variance = np.zeros_like(n), np.full_like(n, np.nan)
    np.divide(r, n, out=gap, where=sources_in > 0)
    spread = np.maximum(rr - 2 * gap * rn + gap * gap * nn, 0.0) * sources_in
    np.divide(spread, (sources_in - 1) * n * n, out=variance, where=sources_in > 1)
    return gap, variance


def _excess(sums: FloatArray, sources_in: IntArray) -> FloatArray:
    """Return rows times squared gap beyond chance; an empty bin has none."""
    gap, variance = _gap(sums, sources_in)
    return np.where(sources_in > 0, sums[0] * (gap * gap - variance), 0.0)

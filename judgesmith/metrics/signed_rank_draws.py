"""The signed-rank test of resamples, from how often each item was drawn.

Sizes are sorted once; what a resample changes is how many pairs have each size.
"""

import numpy as np

from judgesmith.metrics.checks import FloatArray
from judgesmith.metrics.signed_rank_null import ENUMERATED_AT_MOST, RankSums, log_tails

__all__ = ["ResampledTest"]


class ResampledTest:
    """The test of one set of paired differences as a function of counts.

    Parameters
    ----------
    steps : ndarray, shape (n_items,)
        Differences in whole steps, nan where a side is unscored.
    """

    def __init__(self, steps: FloatArray) -> None:
        self.scored = ~np.isnan(steps)
        size = np.where(self.scored, np.abs(steps), 0.0)
        order = np.argsort(size, kind="stable")
        self.order = order[np.count_nonzero(size == 0) :]
        ordered = size[self.order]
        self.first = np.flatnonzero(np.diff(ordered, prepend=0.0))
        self.positive = (steps[self.order] > 0).astype(np.float64)

    def log_p(self, counts: FloatArray) -> FloatArray:
        """Return log p-values that originals score higher, nan where no scored pair was drawn.

        Parameters
        ----------
        counts : ndarray, shape (n_resamples, n_items)
            How often each resample draws each item.
        """
        return log_tails(self._sums(counts))[0]

    def _sums(self, counts: FloatArray) -> RankSums:
        """Return the rank sums of each resample."""
        n_pairs = counts @ self.scored
        if not len(self.order):
            none = np.zeros(len(counts))
            return RankSums(doubled=none, n_nonzero=none, n_pairs=n_pairs, ties=none, starts=none)
        drawn = counts[:, self.order]
        alike = np.add.reduceat(drawn, self.first, axis=1)
        gains = np.add.reduceat(drawn * self.positive, self.first, axis=1)
        up_to = np.cumsum(alike, axis=1)
        starts = np.zeros(len(counts))
        few = n_pairs <= ENUMERATED_AT_MOST
        if few.any():
            bits = np.where(alike[few] > 0, np.exp2(up_to[few] - alike[few]), 0.0)
            starts[few] = np.sum(bits, axis=1) + np.exp2(up_to[few, -1])
        return RankSums(
            doubled=np.sum(gains * (2 * up_to - alike + 1), axis=1),
            n_nonzero=up_to[:, -1],
            n_pairs=n_pairs,
            ties=np.sum(alike**3 - alike, axis=1),
            starts=starts,
        )

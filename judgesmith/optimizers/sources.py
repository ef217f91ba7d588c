"""Rows of one source are alike: what that does to a regression, and how to undo it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgesmith.optimizers.splitting import IntArray
from judgesmith.optimizers.table import FloatArray, Labels


@dataclass(frozen=True, kw_only=True, eq=False)
class Whitening:
    """Makes rows independent that share a random deviation per source.

    With noise of variance 1 and deviations of variance ``share``, rows of a source of ``m``
    rows have the covariance ``I + share * J``; taking ``1 - 1 / sqrt(1 + m * share)`` of the
    source's mean from each makes it the identity.

    Attributes
    ----------
    codes : array of int, shape (n,)
        Source of each row, from 0.
    sizes, parts : array, shape (n_sources,)
        Rows of each source, and how much of its mean is taken away.
    log_determinant : float
        Of the covariance, plus the log of the intercept's precision: what the marginal
        likelihood needs.

    Examples
    --------
    >>> white = Whitening.of(np.array(["a", "a", "b", "b"]), 0.0)
    >>> white.centered(np.array([1.0, 3.0, 5.0, 7.0]))
    array([-3., -1.,  1.,  3.])
    """

    codes: IntArray
    sizes: FloatArray
    parts: FloatArray
    log_determinant: float

    @classmethod
    def of(cls, groups: Labels, share: float) -> Whitening:
        """Return the whitening of rows with these source labels.

        Parameters
        ----------
        groups : array, shape (n,)
            Labels of the sources.
        share : float
            Variance of a source's deviation, in units of the noise's.
        """
        codes = np.unique(groups, return_inverse=True)[1]
        sizes = np.bincount(codes).astype(float)
        inflation = 1 + share * sizes
        log_determinant = np.sum(np.log(inflation)) + np.log(np.sum(sizes / inflation))
        return cls(
            codes=codes,
            sizes=sizes,
            parts=1 - 1 / np.sqrt(inflation),
            log_determinant=float(log_determinant),
        )

    def centered(self, columns: FloatArray) -> FloatArray:
        """Return ``columns``, shape (n,) or (n, k), whitened and without the intercept."""
        one = self._white(np.ones((len(self.codes), 1)))
        white = self._white(columns.reshape(len(columns), -1))
        white = white - one @ (one.T @ white) / np.sum(one**2)
        return white.reshape(columns.shape)

    def _white(self, columns: FloatArray) -> FloatArray:
        sums = np.zeros((len(self.sizes), columns.shape[1]))
        np.add.at(sums, self.codes, columns)
        means = sums / self.sizes[:, None]
        return np.asarray(columns - (self.parts[:, None] * means)[self.codes])

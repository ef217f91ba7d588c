"""Linear weights that lean on the model's own score and add to it only what the data supports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgesmith.optimizers.table import FloatArray

PENALTIES = tuple(float(x) for x in np.logspace(-2, 3, 11))
"""Penalties tried, per row: at .01 the data decides alone, at 1000 the model's own score does."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearFit:
    """Learned numbers of a linear map from terms to human points.

    Attributes
    ----------
    centers, spreads, weights : array, shape (n_terms,)
        Each term minus its center, over its spread, times its weight, is summed.
    intercept : float
        Added to the sum.
    penalty : float
        The penalty per row that was used.
    """

    centers: FloatArray
    spreads: FloatArray
    weights: FloatArray
    intercept: float
    penalty: float

    def predict(self, terms: FloatArray) -> FloatArray:
        """Return the map's value for every row of ``terms``, shape (n, n_terms)."""
        standard = (terms - self.centers) / self.spreads
        return np.asarray(standard @ self.weights + self.intercept)


def fit_ridge(
    terms: FloatArray, human: FloatArray, *, free: FloatArray, penalty: float
) -> LinearFit:
    """Return the least-squares weights with a penalty on those that are not free.

    Minimises ``sum (human - prediction)^2 + n * penalty * sum(weight^2 of terms not free)`` over
    standardised terms. With a large penalty only the free terms are left, so the fit falls
    back on them rather than on a constant.

    Parameters
    ----------
    terms : array, shape (n, n_terms)
        Constant columns get weight 0.
    human : array, shape (n,)
        Points to predict.
    free : array of bool, shape (n_terms,)
        Terms without a penalty, such as the model's own overall score.
    penalty : float
        0 or more, per row.
    """
    centers = terms.mean(axis=0)
    spreads = terms.std(axis=0)
    constant = spreads <= 1e-9 * (1 + np.abs(centers))
    spreads = np.where(constant, 1.0, spreads)
    standard = np.where(constant, 0.0, (terms - centers) / spreads)
    # A trace of penalty keeps the system solvable where free terms repeat each other.
    penalties = len(human) * np.where(free, 1e-6, penalty)
    gram = standard.T @ standard + np.diag(penalties)
    intercept = float(human.mean())
    weights = np.linalg.solve(gram, standard.T @ (human - intercept))
    return LinearFit(
        centers=centers,
        spreads=spreads,
        weights=np.where(constant, 0.0, weights),
        intercept=intercept,
        penalty=penalty,
    )


def fit_by_folds(
    terms: FloatArray, human: FloatArray, *, free: FloatArray, folds: np.ndarray
) -> LinearFit:
    """Return a ridge fit whose penalty predicts left-out folds best.

    Parameters
    ----------
    folds : array of int, shape (n,)
        Rows with one number are left out together; rows of one source share a number.
    """
    errors = np.zeros(len(PENALTIES))
    for fold in np.unique(folds):
        inside, outside = folds != fold, folds == fold
        if inside.sum() < 3:
            continue
        for place, penalty in enumerate(PENALTIES):
            fit = fit_ridge(terms[inside], human[inside], free=free, penalty=penalty)
            errors[place] += np.sum((human[outside] - fit.predict(terms[outside])) ** 2)
    # Of penalties that predict equally well, the largest: it changes the model's score least.
    best = len(PENALTIES) - 1 - int(np.argmin(errors[::-1]))
    return fit_ridge(terms, human, free=free, penalty=PENALTIES[best])

"""A small Bayesian linear regression: what graded examples say about weights held beforehand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Belief:
    """A normal distribution over weights, and the noise of a grade around their sum.

    Attributes
    ----------
    mean : ndarray, shape (n_terms,)
        Expected weights, in points per unit of the term.
    covariance : ndarray, shape (n_terms, n_terms)
        How sure they are.
    noise : float
        Standard deviation of a grade, in points.

    Examples
    --------
    >>> before = Belief(mean=np.array([50.0]), covariance=np.array([[100.0]]), noise=10.0)
    >>> after = before.given(np.array([[1.0]]), np.array([70.0]))
    >>> float(after.mean[0]), float(after.covariance[0, 0])
    (60.0, 50.0)
    """

    mean: Vector
    covariance: Vector
    noise: float

    def given(self, terms: Vector, grades: Vector) -> Belief:
        """Return the belief after seeing graded examples (Bishop 2006, section 3.3).

        Parameters
        ----------
        terms : ndarray, shape (n_examples, n_terms)
            What each example shows.
        grades : ndarray, shape (n_examples,)
            In points.
        """
        if not len(grades):
            return self
        # Solved among the examples, of which there are few, rather than among the terms.
        spread = terms @ self.covariance
        expected = spread @ terms.T + self.noise**2 * np.eye(len(grades))
        gain = np.linalg.solve(expected, spread).T
        return Belief(
            mean=self.mean + gain @ (grades - terms @ self.mean),
            covariance=self.covariance - gain @ spread,
            noise=self.noise,
        )

    def predict(self, terms: Vector) -> tuple[float, float]:
        """Return the expected grade of an item and its standard deviation, in points."""
        variance = float(terms @ self.covariance @ terms) + self.noise**2
        return float(terms @ self.mean), max(variance, 1e-9) ** 0.5

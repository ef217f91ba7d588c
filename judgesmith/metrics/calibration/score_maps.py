"""Maps from a judge's scores to the scale of people, as plain numbers that can be kept and read."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, score_vector
from judgesmith.metrics.record import Record

__all__ = ["AffineMap", "IsotonicMap", "ScoreMap"]


class _Map(Record, ABC):
    """What both kinds share: plain numbers out and in, and scores through."""

    __slots__ = ()

    def __call__(self, predicted: ArrayLike) -> FloatArray:
        """Return :meth:`apply`."""
        return self.apply(predicted)

    @abstractmethod
    def apply(self, predicted: ArrayLike) -> FloatArray:
        """Return scores on the scale of people; nan (or None) stays nan."""

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Return the map that :meth:`to_dict` wrote, also after a way through JSON."""
        return cls(**fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class AffineMap(_Map):
    """A straight line from the judge's scores to those of people.

    Attributes
    ----------
    slope, intercept : float
        ``slope * predicted + intercept``.
    bounds : (float, float) or None
        Ends of the human scale, at which values stop.
    n, n_unscored : int
        Rows it was learned from, and rows left out because they had no predicted score.
    """

    slope: float
    intercept: float
    bounds: tuple[float, float] | None = None
    n: int
    n_unscored: int

    def __post_init__(self) -> None:
        """Refuse numbers that are no line."""
        if not (math.isfinite(self.slope) and math.isfinite(self.intercept)):
            raise ValueError(
                f"slope and intercept must be finite; got {self.slope} and {self.intercept}."
            )
        if self.bounds is not None:
            ends = score_vector(np.ravel(np.asarray(self.bounds)), name="bounds")
            if len(ends) != 2 or not ends[0] < ends[1]:
                raise ValueError(
                    f"bounds must be finite (low, high) with low < high; got {self.bounds!r}."
                )
            low, high = ends
            object.__setattr__(self, "bounds", (float(low), float(high)))

    def apply(self, predicted: ArrayLike) -> FloatArray:
        """Return scores on the scale of people; nan (or None) stays nan.

        Parameters
        ----------
        predicted : array-like of any shape, in points of the judge's scale
            New scores.
        """
        mapped = self.slope * _finite_or_nan(predicted) + self.intercept
        if self.bounds is not None:
            mapped = np.clip(mapped, *self.bounds)
        return np.asarray(mapped)


@dataclass(frozen=True, slots=True, kw_only=True)
class IsotonicMap(_Map):
    """A curve that never falls (or never rises), straight between its corners, flat outside.

    Attributes
    ----------
    thresholds : tuple of float, increasing
        Predicted scores of the corners.
    values : tuple of float, monotone
        Human scores of the corners.
    n, n_unscored : int
        Rows it was learned from, and rows left out because they had no predicted score.
    """

    thresholds: tuple[float, ...]
    values: tuple[float, ...]
    n: int
    n_unscored: int

    def __post_init__(self) -> None:
        """Refuse numbers that are no such curve."""
        x, y = np.asarray(self.thresholds, float), np.asarray(self.values, float)
        step = np.diff(y)
        if not (
            x.shape == y.shape == (x.size,)
            and x.size
            and np.isfinite([x, y]).all()
            and (np.diff(x) > 0).all()
            and ((step >= 0).all() or (step <= 0).all())
        ):
            raise ValueError(
                "an isotonic map needs increasing thresholds and as many values that never change "
                f"direction; got {self.thresholds} and {self.values}."
            )
        object.__setattr__(self, "thresholds", tuple(x.tolist()))
        object.__setattr__(self, "values", tuple(y.tolist()))

    def apply(self, predicted: ArrayLike) -> FloatArray:
        """Return scores on the scale of people; nan (or None) stays nan.

        Parameters
        ----------
        predicted : array-like of any shape, in points of the judge's scale
            New scores; below the first and above the last threshold the curve is flat.
        """
        return np.asarray(np.interp(_finite_or_nan(predicted), self.thresholds, self.values))


ScoreMap = AffineMap | IsotonicMap
"""A monotone way from a judge's scores to the scale of people."""


def _finite_or_nan(predicted: ArrayLike) -> FloatArray:
    """Return scores as floats, in the shape they have."""
    flat = score_vector(np.ravel(predicted), name="predicted", allow_missing=True)
    return flat.reshape(np.shape(predicted))

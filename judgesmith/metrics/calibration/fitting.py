"""From a judge's scores to the raters' scale."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import (
    FloatArray,
    Rng,
    generator,
    group_codes,
    paired_scores,
    score_vector,
)
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Record, squarable, whole_number


class _Map(Record, ABC):
    """What both kinds share: plain numbers out and in, and scores through."""

    __slots__ = ()

    def __call__(self, judge: ArrayLike) -> FloatArray:
        """Return :meth:`apply`."""
        return self.apply(judge)

    @abstractmethod
    def apply(self, judge: ArrayLike) -> FloatArray:
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
        ``slope * score + intercept``.
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

    def apply(self, judge: ArrayLike) -> FloatArray:
        """Return scores on the scale of people; nan (or None) stays nan.

        Parameters
        ----------
        judge : array-like of any shape, in points of the judge's scale
            New scores.
        """
        mapped = self.slope * _finite_or_nan(judge) + self.intercept
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

    def apply(self, judge: ArrayLike) -> FloatArray:
        """Return scores on the scale of people; nan (or None) stays nan.

        Parameters
        ----------
        judge : array-like of any shape, in points of the judge's scale
            New scores; below the first and above the last threshold the curve is flat.
        """
        return np.asarray(np.interp(_finite_or_nan(judge), self.thresholds, self.values))


ScoreMap = AffineMap | IsotonicMap
"""A monotone way from a judge's scores to the scale of people."""


def _finite_or_nan(judge: ArrayLike) -> FloatArray:
    """Return scores as floats, in the shape they have."""
    flat = score_vector(np.ravel(judge), name="judge", allow_missing=True)
    return flat.reshape(np.shape(judge))


def affine_map(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    bounds: tuple[float, float] | None = None,
) -> AffineMap:
    """Return the line through predicted scores that is closest to people in squares.

    Two numbers, so a few dozen rows suffice. It keeps every order (or turns all of them around,
    if the slope is negative) and so changes no rank correlation.

    Parameters
    ----------
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with ``judge``.
    judge : array-like, shape (n_rows,), in points of the judge's scale
        nan (or None) where a row is unscored; such rows are left out and counted.
    bounds : (float, float), optional
        Ends of the human scale, at which mapped scores stop.

    Returns
    -------
    AffineMap
        Applied with ``map(scores)``.

    Raises
    ------
    ValueError
        If rows do not pair up, a human score is missing, or the predicted scores are all the
        same, which leaves the slope undefined.

    Examples
    --------
    >>> line = affine_map([1, 2, 3, 4], [20, 40, 60, 80], bounds=(1, 5))
    >>> line([50, 100, 130, None]).tolist()
    [2.5, 5.0, 5.0, nan]
    """
    h, p = paired_scores(human, judge, allow_unscored=True)
    squarable(h, name="human")
    scored = ~np.isnan(p)
    x, y = p[scored], h[scored]
    if Column.of(x).n_levels < 2:
        raise ValueError(
            "judge must hold two different scores or more for a line; got "
            f"{len(x)} scored rows" + (f", all {x[0]}." if len(x) else ".")
        )
    scale = float(np.max(np.abs(x)))
    centre = float(np.mean(x / scale))
    dx = x / scale - centre
    slope = float(dx @ (y - y.mean()) / (dx @ dx))
    return AffineMap(
        slope=slope / scale,
        intercept=float(y.mean()) - slope * centre,
        bounds=bounds,
        n=len(x),
        n_unscored=int(np.count_nonzero(~scored)),
    )


def isotonic_map(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    increasing: bool = True,
) -> IsotonicMap:
    """Return the monotone curve through predicted scores that is closest to people in squares.

    Pools neighbouring scores whose human means fall the wrong way. It bends where the judge's
    scale bends, but follows chance with few rows: below some hundred rows prefer
    :func:`affine_map`. Scores that it pools become ties.

    Parameters
    ----------
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with ``judge``.
    judge : array-like, shape (n_rows,), in points of the judge's scale
        nan (or None) where a row is unscored; such rows are left out and counted. Tied scores
        are one corner, with the mean of their human scores.
    increasing : bool
        Whether people rate higher what the judge scores higher.

    Returns
    -------
    IsotonicMap
        Applied with ``map(scores)``; equals ``sklearn.isotonic.IsotonicRegression`` with
        ``out_of_bounds="clip"``.

    Raises
    ------
    ValueError
        If rows do not pair up, a human score is missing, or no row is scored.

    References
    ----------
    Ayer, Brunk, Ewing, Reid and Silverman (1955), "An empirical distribution function for
    sampling with incomplete information", Annals of Mathematical Statistics 26. Zadrozny and
    Elkan (2002), "Transforming classifier scores into accurate multiclass probability estimates",
    KDD, for calibration by it.

    Examples
    --------
    People rate the two middle rows the other way round; they are pooled.

    >>> curve = isotonic_map([1, 3, 2, 5], [10, 20, 30, 40])
    >>> curve([5, 15, 25, 40]).tolist()
    [1.0, 1.75, 2.5, 5.0]
    """
    from scipy.optimize import isotonic_regression

    h, p = paired_scores(human, judge, allow_unscored=True)
    scored = ~np.isnan(p)
    if not scored.any():
        raise ValueError(f"need at least one scored row for a map; got none of {len(p)}.")
    x, y, column = p[scored], h[scored], Column.of(p[scored])
    size = np.bincount(column.codes)
    mean = np.bincount(column.codes, weights=y) / size
    corner = np.full(column.n_levels, np.inf)
    np.minimum.at(corner, column.codes, x)
    fitted = np.asarray(isotonic_regression(mean, weights=size, increasing=increasing).x)
    # Corners inside a flat stretch say nothing.
    keep = np.ones(len(fitted), bool)
    keep[1:-1] = (fitted[1:-1] != fitted[:-2]) | (fitted[1:-1] != fitted[2:])
    return IsotonicMap(
        thresholds=tuple(corner[keep].tolist()),
        values=tuple(fitted[keep].tolist()),
        n=len(x),
        n_unscored=int(np.count_nonzero(~scored)),
    )


def cross_calibrated(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    fit: Callable[[FloatArray, FloatArray], ScoreMap],
    n_folds: int = 5,
    rng: Rng = 0,
) -> FloatArray:
    """Return scores each mapped by a map that was learned without its source.

    The honest scores for asking how good a calibrated judge is when no rows can be set aside.
    They come from ``n_folds`` slightly different maps; for use, learn one map from all rows.

    Parameters
    ----------
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with ``judge``.
    judge : array-like, shape (n_rows,), in points of the judge's scale
        nan (or None) where a row is unscored; it stays nan.
    sources : sequence of labels, one per row, optional
        Rows of one source fall in one fold. Without it, every row is its own.
    fit : callable
        From human scores and the judge's to a map, such as :func:`affine_map`.
    n_folds : int, 2 or more
        How many parts the sources are dealt into.
    rng : int or numpy.random.Generator
        Who deals.

    Returns
    -------
    float array, shape (n_rows,), in points of the human scale

    Raises
    ------
    ValueError
        If rows do not pair up, a label is missing, there are fewer sources than folds, or
        ``fit`` refuses the rows of the other folds.
    TypeError
        If ``rng`` is neither a whole number nor a generator.

    References
    ----------
    Stone (1974), "Cross-validatory choice and assessment of statistical predictions", JRSS B 36.

    Examples
    --------
    >>> scores = cross_calibrated(
    ...     [1, 2, 3, 4, 5, 6], [10, 20, 30, 40, 50, 60], fit=affine_map, n_folds=3,
    ...     rng=np.random.default_rng(0),
    ... )
    >>> scores.round(6).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    rng = generator(rng)
    h, p = paired_scores(human, judge, allow_unscored=True)
    codes, n_sources = group_codes(sources, name="sources", n_items=len(p))
    if whole_number(n_folds, name="n_folds", least=2) > n_sources:
        raise ValueError(
            f"n_folds must be from 2 to the number of sources, {n_sources}; got {n_folds}."
        )
    folds = (rng.permutation(n_sources) % n_folds)[codes]
    mapped = np.full(len(p), np.nan)
    for fold in range(n_folds):
        inside = folds == fold
        mapped[inside] = fit(h[~inside], p[~inside])(p[inside])
    return mapped

"""Maps from judge scores to human scores, and margins around them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import (
    FloatArray,
    Seed,
    check_choice,
    fraction,
    generator,
    group_codes,
    paired_scores,
    score_vector,
    source_codes,
)
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Record, squarable, whole_number


class _Map(Record, ABC):
    """What both kinds share: plain numbers out and in, and scores through."""

    __slots__ = ()

    def __call__(self, judge: ArrayLike) -> FloatArray:
        return self.apply(judge)

    def apply(self, judge: ArrayLike) -> FloatArray:
        """Return scores, of any shape, on the human scale; nan (or None) stays nan."""
        flat = score_vector(np.ravel(judge), name="judge", allow_missing=True)
        return np.asarray(self._mapped(flat.reshape(np.shape(judge))))

    @abstractmethod
    def _mapped(self, scores: FloatArray) -> FloatArray: ...

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Return the map that :meth:`to_dict` wrote, also after a way through JSON."""
        return cls(**fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class AffineMap(_Map):
    """A straight line from the judge's scores to human scores.

    Attributes
    ----------
    slope, intercept : float; ``slope * score + intercept``
    bounds : (float, float) or None; ends of the human scale, at which values stop
    n, n_unscored : int
        Rows it was learned from, and rows left out because they had no predicted score.
    """

    slope: float
    intercept: float
    bounds: tuple[float, float] | None = None
    n: int
    n_unscored: int

    def __post_init__(self) -> None:
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

    def _mapped(self, scores: FloatArray) -> FloatArray:
        mapped = self.slope * scores + self.intercept
        return mapped if self.bounds is None else np.asarray(np.clip(mapped, *self.bounds))


@dataclass(frozen=True, slots=True, kw_only=True)
class IsotonicMap(_Map):
    """A monotone piecewise linear map, constant outside its thresholds.

    Attributes
    ----------
    thresholds, values : tuple of float, the former increasing, the latter monotone
        Predicted and human scores of the corners.
    n, n_unscored : int
        Rows it was learned from, and rows left out because they had no predicted score.
    """

    thresholds: tuple[float, ...]
    values: tuple[float, ...]
    n: int
    n_unscored: int

    def __post_init__(self) -> None:
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

    def _mapped(self, scores: FloatArray) -> FloatArray:
        return np.asarray(np.interp(scores, self.thresholds, self.values))


ScoreMap = AffineMap | IsotonicMap
"""A monotone way from a judge's scores to the scale of people."""


def affine_map(
    human: ArrayLike, judge: ArrayLike, *, bounds: tuple[float, float] | None = None
) -> AffineMap:
    """Return the least-squares line from the judge's scores to human scores.

    A few dozen rows suffice. It keeps every order (or reverses it, if the slope is negative).

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,)
        Rows that ``judge`` leaves unscored (nan or None) are left out and counted.
    bounds : (float, float), optional; ends of the human scale, at which mapped scores stop

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


def isotonic_map(human: ArrayLike, judge: ArrayLike, *, increasing: bool = True) -> IsotonicMap:
    """Return the monotone least-squares map from the judge's scores to human scores.

    Pools neighbouring scores whose human means fall the wrong way. Below some hundred rows prefer
    :func:`affine_map`. Scores that it pools become ties.

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,)
        Rows that ``judge`` leaves unscored (nan or None) are left out and counted. Tied scores
        are one corner, with the mean of their human scores.
    increasing : bool; whether raters score higher what the judge scores higher

    Returns
    -------
    IsotonicMap
        Applied with ``map(scores)``; equals ``sklearn.isotonic.IsotonicRegression`` with
        ``out_of_bounds="clip"``.

    References
    ----------
    Ayer, Brunk, Ewing, Reid and Silverman (1955), Annals of Mathematical Statistics 26. Zadrozny
    and Elkan (2002), "Transforming classifier scores into accurate multiclass probability
    estimates", KDD.

    Examples
    --------
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
    seed: Seed = 0,
) -> FloatArray:
    """Return cross-fitted scores: each is mapped by a map fitted without its source.

    They come from ``n_folds`` slightly different maps; for use, learn one map from all rows.

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,); nan (or None) in ``judge`` stays nan
    sources : sequence of labels, one per row, optional; rows of one source fall in one fold
    fit : callable
        From human scores and the judge's to a map, such as :func:`affine_map`.
    n_folds : int, 2 or more
    seed : int or numpy.random.Generator

    Returns
    -------
    float array, shape (n_rows,), in points of the human scale

    References
    ----------
    Stone (1974), "Cross-validatory choice and assessment of statistical predictions", JRSS B 36.

    Examples
    --------
    >>> scores = cross_calibrated(
    ...     [1, 2, 3, 4, 5, 6], [10, 20, 30, 40, 50, 60], fit=affine_map, n_folds=3,
    ... )
    >>> scores.round(6).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    rng = generator(seed)
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


Covers = Literal["row", "source"]

# Ranks are whole numbers; what is this close to one is one.
_DUST = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformalMargin(Record):
    """A margin around scores that contains human ratings at the stated rate.

    Attributes
    ----------
    margin : float, 0 or more
        In points; in spreads if ``normalised``. inf if there are too few sources for the
        confidence: the interval then is the whole scale.
    confidence : float
        Least chance that the interval of a new row (or all of a new source) holds.
    covers : {"row", "source"}
    normalised : bool; whether intervals need a spread for each row
    n, n_groups, n_unscored : int
        Rows and sources it was learned from, and rows left out because they had no score.
    """

    margin: float
    confidence: float
    covers: Covers
    normalised: bool
    n: int
    n_groups: int
    n_unscored: int

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Return the margin that :meth:`to_dict` wrote, also after a way through JSON."""
        known = {name: value for name, value in fields.items() if name != "margin_is"}
        return cls(**known | {"margin": math.inf if known["margin"] is None else known["margin"]})

    def _in_words(self, infinite: float) -> str:
        return "infinite: too few sources for the confidence"

    def interval(
        self, judge: ArrayLike, *, spread: ArrayLike | None = None, levels: ArrayLike | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the intervals of new rows.

        Parameters
        ----------
        judge : array-like, shape (n_rows,), in points; nan (or None) has an interval of nan
        spread : array-like, shape (n_rows,), above 0, if the margin is normalised
        levels : array-like, shape (n_levels,), increasing, optional
            The ratings there can be. Ends are moved out to the next level and stop at the first
            and last one.

        Returns
        -------
        low, high : float array, shape (n_rows,)
            -inf and inf where the margin is infinite and no levels are given.
        """
        p = score_vector(judge, name="judge", allow_missing=True)
        reach = self.margin * _spreads(spread, self.normalised, ~np.isnan(p))
        low, high = p - reach, p + reach
        if levels is not None:
            low, high = _out_to_levels(low, high, levels)
        return low, high


def conformal_margin(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    spread: ArrayLike | None = None,
    covers: Covers = "row",
    confidence: float = 0.9,
) -> ConformalMargin:
    """Return the conformal margin around scores, with guaranteed coverage of human ratings.

    With n rows and no sources it is the ``ceil((n + 1) * confidence)``-th smallest of the
    distances ``|judge - human|`` (split conformal prediction). With K sources, each has the
    weight ``1 / (K + 1)``, shared by its rows, and the margin is the smallest distance at which
    the weights reach ``confidence``; the missing ``1 / (K + 1)`` stands for the new source.

    ==========  ======================================================================
    ``covers``  with chance ``confidence`` or more, over the rows set aside and the new
    ==========  ======================================================================
    "row"       one row, drawn at random from a new source, is inside its interval
    "source"    all rows of a new source are, together: the largest distance of each
                source counts, and intervals are longer
    ==========  ======================================================================

    Neither promises coverage for each score, each source, or rows selected by their score; another
    row of a *known* source is not covered by the promise, nor are sources of another kind.

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,), in points of the human scale
        Of rows that the judge, its map and its settings were not selected on. Rows that ``judge``
        leaves unscored (nan or None) are left out.
    sources : sequence of labels, one per row, optional
    spread : array-like, shape (n_rows,), above 0, optional
        How unsure the judge is of each row, for example the standard deviation of a panel plus a
        constant. Distances are divided by it, intervals are wider where it is larger.
    covers : {"row", "source"}
    confidence : float, between 0 and 1

    Returns
    -------
    ConformalMargin
        Applied with ``margin.interval(scores)``. Infinite with fewer than
        ``confidence / (1 - confidence)`` sources: 9 for .9, 19 for .95.

    References
    ----------
    Lei, G'Sell, Rinaldo, Tibshirani and Wasserman (2018), "Distribution-Free Predictive Inference
    for Regression", JASA 113, for one row per source. Dunn, Wasserman and Ramdas (2022), JASA, and
    Lee, Barber and Willett (2023), arXiv:2306.06342, for weights by source.

    Examples
    --------
    >>> human = np.array([1, 4, 2, 5, 3, 3, 2, 4, 1])
    >>> found = conformal_margin(human, human + [0.5, -1, 0, 0.3, -0.2, 1.5, 0.1, 0.4, 0.6])
    >>> found.margin, found.interval([2.8, 4.9], levels=[1, 2, 3, 4, 5])
    (1.5, (array([1., 3.]), array([5., 5.])))
    """
    fraction(confidence, name="confidence")
    check_choice(covers, Covers, name="covers")
    h, p = paired_scores(human, judge, allow_unscored=True)
    scored = ~np.isnan(p)
    codes = source_codes(sources, len(p), scored)
    distances = (np.abs(p - h) / _spreads(spread, spread is not None, scored))[scored]
    sizes = np.bincount(codes)
    n_groups = len(sizes)
    if covers == "source":
        largest = np.zeros(n_groups)
        np.maximum.at(largest, codes, distances)
        weights, distances = np.ones(n_groups), largest
    else:
        weights = 1 / sizes[codes]
    order = np.argsort(distances)
    reached = np.cumsum(weights[order]) >= confidence * (n_groups + 1) - _DUST
    return ConformalMargin(
        margin=float(distances[order][np.argmax(reached)]) if reached.any() else math.inf,
        confidence=confidence,
        covers=covers,
        normalised=spread is not None,
        n=len(codes),
        n_groups=n_groups,
        n_unscored=int(np.count_nonzero(~scored)),
    )


def _spreads(spread: ArrayLike | None, wanted: bool, scored: NDArray[np.bool_]) -> FloatArray:
    """Return what distances are divided by."""
    if (spread is not None) != wanted:
        raise ValueError(
            "give spread= for the new rows too, since the margin was learned with it."
            if wanted
            else "spread= was not given when the margin was learned; leave it out."
        )
    if spread is None:
        return np.ones(len(scored))
    given = score_vector(spread, name="spread", n_items=len(scored), allow_missing=True)
    bad = scored & ~(given > 0)
    if bad.any():
        raise ValueError(
            f"spread must be above 0; got {given[bad][0]} at index {np.flatnonzero(bad)[0]}. Add a "
            "constant where a panel can agree fully."
        )
    return np.where(scored, given, 1.0)


def _out_to_levels(
    low: FloatArray, high: FloatArray, levels: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Move ends out to levels, at most to the first and the last."""
    scale = score_vector(levels, name="levels")
    if len(scale) < 2 or not (np.diff(scale) > 0).all():
        raise ValueError(f"levels must be increasing, such as [1, 2, 3]; got {levels!r}.")
    dust = _DUST * (scale[-1] - scale[0])
    below = np.searchsorted(scale, low + dust, side="right") - 1
    above = np.searchsorted(scale, high - dust, side="left")
    last = len(scale) - 1
    ends = scale[np.clip(below, 0, last)], scale[np.clip(above, 0, last)]
    low, high = (
        np.where(np.isnan(end), np.nan, out) for end, out in zip((low, high), ends, strict=True)
    )
    return low, high

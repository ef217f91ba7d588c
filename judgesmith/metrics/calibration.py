"""Maps that put a judge's scores on the scale of people, learned on some rows, used on others.

A map that is judged by the rows it was learned from looks better than it is: the isotonic one can
follow every row of a small set. Learn on rows that are set aside, or ask for scores that are
calibrated across folds, with :func:`cross_calibrated`.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, group_codes, paired_scores
from judgesmith.metrics.column import Column
from judgesmith.metrics.levels import Labels
from judgesmith.metrics.score_maps import AffineMap, IsotonicMap, ScoreMap

__all__ = ["affine_map", "cross_calibrated", "isotonic_map"]


def affine_map(
    predicted: ArrayLike, human: ArrayLike, *, bounds: tuple[float, float] | None = None
) -> AffineMap:
    """Return the line through predicted scores that is closest to people in squares.

    Two numbers, so a few dozen rows suffice. It keeps every order (or turns all of them around,
    if the slope is negative) and so changes no rank correlation.

    Parameters
    ----------
    predicted : array-like, shape (n_rows,), in points of the judge's scale
        nan (or None) where a row is unscored; such rows are left out and counted.
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with ``predicted``.
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
    >>> line = affine_map([20, 40, 60, 80], [1, 2, 3, 4], bounds=(1, 5))
    >>> line([50, 100, 130, None]).tolist()
    [2.5, 5.0, 5.0, nan]
    """
    p, h = paired_scores(predicted, human, allow_unscored=True)
    scored = ~np.isnan(p)
    x, y = p[scored], h[scored]
    if Column.of(x).n_levels < 2:
        raise ValueError(
            "predicted must hold two different scores or more for a line; got "
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


def isotonic_map(predicted: ArrayLike, human: ArrayLike, *, increasing: bool = True) -> IsotonicMap:
    """Return the monotone curve through predicted scores that is closest to people in squares.

    Pools neighbouring scores whose human means fall the wrong way. It bends where the judge's
    scale bends, but follows chance with few rows: below some hundred rows prefer
    :func:`affine_map`. Scores that it pools become ties.

    Parameters
    ----------
    predicted : array-like, shape (n_rows,), in points of the judge's scale
        nan (or None) where a row is unscored; such rows are left out and counted. Tied scores
        are one corner, with the mean of their human scores.
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with ``predicted``.
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

    >>> curve = isotonic_map([10, 20, 30, 40], [1, 3, 2, 5])
    >>> curve([5, 15, 25, 40]).tolist()
    [1.0, 1.75, 2.5, 5.0]
    """
    from scipy.optimize import isotonic_regression

    p, h = paired_scores(predicted, human, allow_unscored=True)
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
    predicted: ArrayLike,
    human: ArrayLike,
    *,
    fit: Callable[[FloatArray, FloatArray], ScoreMap],
    sources: Labels | None = None,
    n_folds: int = 5,
    rng: np.random.Generator,
) -> FloatArray:
    """Return scores each mapped by a map that was learned without its source.

    The honest scores for asking how good a calibrated judge is when no rows can be set aside.
    They come from ``n_folds`` slightly different maps; for use, learn one map from all rows.

    Parameters
    ----------
    predicted : array-like, shape (n_rows,), in points of the judge's scale
        nan (or None) where a row is unscored; it stays nan.
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with ``predicted``.
    fit : callable
        From predicted and human scores to a map, such as :func:`affine_map`.
    sources : sequence of labels, one per row, optional
        Rows of one source fall in one fold. Without it, every row is its own.
    n_folds : int, 2 or more
        How many parts the sources are dealt into.
    rng : numpy.random.Generator
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
        If ``rng`` is not a generator.

    References
    ----------
    Stone (1974), "Cross-validatory choice and assessment of statistical predictions", JRSS B 36.

    Examples
    --------
    >>> scores = cross_calibrated(
    ...     [10, 20, 30, 40, 50, 60], [1, 2, 3, 4, 5, 6], fit=affine_map, n_folds=3,
    ...     rng=np.random.default_rng(0),
    ... )
    >>> scores.round(6).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator; got {type(rng).__name__}.")
    p, h = paired_scores(predicted, human, allow_unscored=True)
    labels = np.arange(len(p)) if sources is None else sources
    codes, n_sources = group_codes(labels, name="sources", n_items=len(p))
    if not 2 <= n_folds <= n_sources:
        raise ValueError(
            f"n_folds must be from 2 to the number of sources, {n_sources}; got {n_folds}."
        )
    folds = (rng.permutation(n_sources) % n_folds)[codes]
    mapped = np.full(len(p), np.nan)
    for fold in range(n_folds):
        inside = folds == fold
        mapped[inside] = fit(p[~inside], h[~inside])(p[inside])
    return mapped

"""How many points a judge is off, over all items or over all levels alike."""

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import paired_scores
from judgesmith.metrics.groupwise import Column

__all__ = ["macro_absolute_error", "mean_absolute_error"]


def mean_absolute_error(predicted: ArrayLike, human: ArrayLike) -> float:
    """Return how far predicted scores are from human ones, on average over items.

    Parameters
    ----------
    predicted : array-like, shape (n_items,), in points of the human scale
        Scores of the judge, whole or not.
    human : array-like, shape (n_items,), in points of the same scale
        Scores by people, aligned with ``predicted``.

    Returns
    -------
    float
        Points, 0 or more; better when lower; nan without items. Where most items have one
        level, a judge that always says so has a low one.

    Raises
    ------
    ValueError
        If the scores do not pair up or one is missing or infinite.

    References
    ----------
    Willmott and Matsuura (2005), "Advantages of the mean absolute error (MAE) over the root mean
    square error (RMSE) in assessing average model performance", Climate Research 30.

    Examples
    --------
    >>> mean_absolute_error([5, 5, 5, 5], [5, 5, 5, 1])
    1.0
    """
    p, h = paired_scores(predicted, human)
    return float(np.mean(np.abs(p - h))) if p.size else float("nan")


def macro_absolute_error(predicted: ArrayLike, human: ArrayLike) -> float:
    """Return :func:`mean_absolute_error` within each human level, averaged over the levels.

    Every level that people gave counts alike, however rarely they gave it, so that a judge
    gains nothing by saying the most frequent one.

    Parameters
    ----------
    predicted : array-like, shape (n_items,), in points of the human scale
        Scores of the judge, whole or not.
    human : array-like, shape (n_items,), in points of the same scale
        Scores by people, aligned with ``predicted``: levels, each given to several items.

    Returns
    -------
    float
        Points, 0 or more; better when lower; nan without items.

    Raises
    ------
    ValueError
        If the scores do not pair up or one is missing or infinite.

    References
    ----------
    Baccianella, Esuli and Sebastiani (2009), "Evaluation measures for ordinal regression", ISDA.

    Examples
    --------
    >>> macro_absolute_error([5, 5, 5, 5], [5, 5, 5, 1])
    2.0
    """
    p, h = paired_scores(predicted, human)
    codes = Column.of(h).codes
    if not codes.size:
        return float("nan")
    return float(np.mean(np.bincount(codes, weights=np.abs(p - h)) / np.bincount(codes)))

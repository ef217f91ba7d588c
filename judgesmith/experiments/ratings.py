"""From what several raters said to one value."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from typing import Literal, get_args

from judgesmith.errors import InputError
from judgesmith.signatures.scale import Scale

Aggregate = Literal["mean", "median", "mode", "unanimous"]
"""How several ratings of one item become one value."""

_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*", re.ASCII)


def rating_value(ratings: Sequence[float], how: Aggregate = "mean") -> float | None:
    """Return the one value that stands for an item's ratings, or None where there is none.

    Parameters
    ----------
    ratings : sequence of float, in points of the human scale
        One per rater; may be empty.
    how : {"mean", "median", "mode", "unanimous"}
        ``mode`` is the most frequent rating, and the median of the most frequent ones where
        several are; ``unanimous`` is what all raters said.

    Returns
    -------
    float or None
        In points; None without ratings, and for ``unanimous`` where raters differ.

    Raises
    ------
    ValueError
        If ``how`` is none of the four.

    Examples
    --------
    >>> rating_value([1, 2, 2, 5]), rating_value([1, 2, 2, 5], "mode")
    (2.5, 2.0)
    >>> rating_value([1, 1, 5, 5], "mode")
    3.0
    >>> rating_value([4, 5], "unanimous") is None
    True
    """
    if how not in get_args(Aggregate):
        raise InputError(f"ratings are aggregated by {', '.join(get_args(Aggregate))}; got {how}.")
    if not ratings:
        return None
    if how == "mean":
        return math.fsum(ratings) / len(ratings)
    if how == "median":
        return float(statistics.median(ratings))
    if how == "mode":
        return float(statistics.median(statistics.multimode(ratings)))
    return float(ratings[0]) if len(set(ratings)) == 1 else None


def rating_points(answer: object, scale: Scale | None) -> float:
    """Return the points that a cell of a table states.

    Parameters
    ----------
    answer : object
        A number, its spelling with a decimal point, or a label of the scale.
    scale : Scale or None
        Where the points must lie; None reads any finite number.

    Raises
    ------
    ValueError
        If the cell is no such thing. The message is what was expected, nothing more.

    Examples
    --------
    >>> rating_points("4", Scale(low=1, high=5))
    4.0
    >>> rating_points("four", Scale(low=1, high=5))
    Traceback (most recent call last):
    judgesmith.InputError: a number from 1 to 5
    """
    if scale is not None and isinstance(answer, str) and answer in scale.labels:
        return scale.read(answer)
    number = isinstance(answer, int | float) and not isinstance(answer, bool)
    if number or (isinstance(answer, str) and _NUMBER.fullmatch(answer)):
        points = _float(answer)
        if math.isfinite(points) and (scale is None or points in scale):
            return points
    raise InputError(expected_rating(scale))


def _float(answer: object) -> float:
    """Return a number or its spelling as a float; integers too large for one are infinite."""
    try:
        return float(answer)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf


def expected_rating(scale: Scale | None) -> str:
    """Return what a rating on ``scale`` looks like, for messages.

    Examples
    --------
    >>> expected_rating(Scale(low=1, high=5, kind="integer"))
    'a whole number from 1 to 5'
    """
    if scale is None:
        return "a number"
    ends = f"from {scale.low:g} to {scale.high:g}"
    if scale.labels:
        return f"one of {', '.join(scale.labels)}, or a whole number {ends}"
    return f"a {'whole ' if scale.kind == 'integer' else ''}number {ends}"

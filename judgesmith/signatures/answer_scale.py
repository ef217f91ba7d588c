"""Answers on other scales than 0 to 100: what they come to, and how a score is written on them.

Everything a judge computes with is on 0 to 100; a model may be asked for 1 to 5, or for words.
"""

from __future__ import annotations

import functools

from judgesmith.errors import InputError
from judgesmith.signatures.points import whole
from judgesmith.signatures.scale import PERCENT, Scale

Level = int | float | str
"""An answer as it is written: a number, or a word."""


def percent_of(answer: Level, scale: Scale) -> float:
    """Return what an answer comes to on 0 to 100.

    Raises
    ------
    ValueError
        If it lies outside the scale, or is none of its words.

    Examples
    --------
    >>> percent_of(4, Scale(low=1, high=5)), percent_of("fair", Scale.categorical("poor", "fair"))
    (75.0, 100.0)
    """
    if isinstance(answer, str):
        points = scale.read(answer)
    else:
        points = float(answer)
        # A model that answers between two points of a scale says something, too.
        if not scale.low <= points <= scale.high:
            raise InputError(f"the model answered {points:g}, outside {scale}.")
    return points if is_percent(scale) else 100 * scale.fraction(points)


def level_of(percent: float, scale: Scale) -> Level:
    """Return the level nearest to what is meant, of 0 to 100; halves go to the middle.

    On 0 to 100 itself nothing is rounded.

    Examples
    --------
    >>> level_of(70, Scale(low=1, high=5)), level_of(20, Scale.categorical("poor", "fair", "good"))
    (4, 'poor')
    >>> level_of(62.5, Scale(low=1, high=5)), level_of(37.5, Scale(low=1, high=5))
    (3, 3)
    """
    if is_percent(scale):
        return whole(percent)
    points = scale.points(percent / 100)
    nearest = round(points)
    if abs(points - int(points)) == 0.5:
        up, middle = int(points) + 1, (scale.low + scale.high) / 2
        nearest = up if points < middle else up - 1
    return scale.labels[nearest - int(scale.low)] if scale.labels else nearest


@functools.lru_cache(maxsize=64)
def levels_of(scale: Scale) -> dict[str, float]:
    """Return what each level of a scale comes to on 0 to 100, by how it is written; worst first.

    Examples
    --------
    >>> levels_of(Scale(low=1, high=5))
    {'1': 0.0, '2': 25.0, '3': 50.0, '4': 75.0, '5': 100.0}
    >>> list(levels_of(Scale.categorical("poor", "fair")))
    ['poor', 'fair']
    """
    points = range(int(scale.low), int(scale.high) + 1)
    written = scale.labels or tuple(map(str, points))
    return {name: 100 * scale.fraction(one) for name, one in zip(written, points, strict=True)}


def is_percent(scale: Scale) -> bool:
    """Say whether a scale is 0 to 100."""
    return (scale.low, scale.high, scale.labels) == (PERCENT.low, PERCENT.high, ())

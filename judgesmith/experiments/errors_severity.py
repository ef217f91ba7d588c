"""How bad an error is: points and words, and where bad ones begin.

Points go from 1 to 5. Sets of annotated errors use other words; those of MQM are among ours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from judgesmith.errors import InputError
from judgesmith.signatures.family_configs import SEVERITIES

SEVERITY_WORDS: Mapping[str, int] = {
    word.casefold(): points for points, word in enumerate(SEVERITIES, start=1)
}
"""The points that words stand for, from the least to the worst."""

MAJOR = 3.0
"""Points from which an error counts as a major one, where there are but two classes."""

Grade = Literal["ungraded", "minor", "moderate", "major"]

_WORD_OF = {points: word for word, points in SEVERITY_WORDS.items()}


def severity_points(stated: object) -> float | None:
    """Return what points a number or a word stands for, None for nothing.

    Raises
    ------
    ValueError
        If it is neither.

    Examples
    --------
    >>> severity_points("Major"), severity_points(2), severity_points(None)
    (4.0, 2.0, None)
    """
    if stated is None:
        return None
    if isinstance(stated, str) and (points := SEVERITY_WORDS.get(stated.strip().casefold())):
        return float(points)
    if isinstance(stated, int | float) and not isinstance(stated, bool) and math.isfinite(stated):
        return float(stated)
    raise InputError(f"expected a number, or one of {', '.join(SEVERITY_WORDS)}; got {stated!r}.")


def severity_text(severity: float | None) -> str:
    """Return how bad an error is, in words.

    Examples
    --------
    >>> severity_text(4), severity_text(2.5), severity_text(12), severity_text(None)
    ('major, 4 of 5', 'moderate, 2.5 of 5', 'severity 12', 'of no stated severity')
    """
    if severity is None:
        return "of no stated severity"
    word = _WORD_OF.get(_nearest(severity))
    return f"{word}, {severity:g} of 5" if word else f"severity {severity:g}"


def grade_of(severity: float | None) -> Grade:
    """Return in which of the ways an error is marked that readers can tell apart.

    Examples
    --------
    >>> [grade_of(points) for points in (None, 1, 2, 3, 4, 5)]
    ['ungraded', 'minor', 'minor', 'moderate', 'major', 'major']
    """
    if severity is None:
        return "ungraded"
    points = _nearest(severity)
    return "minor" if points < 3 else "moderate" if points == 3 else "major"


def is_major(severity: float | None, *, major: float = MAJOR) -> bool:
    """Say whether an error counts as a major one; one of no stated severity does not.

    Examples
    --------
    >>> is_major(3), is_major(None), is_major(3, major=4)
    (True, False, False)
    """
    return severity is not None and severity >= major


def _nearest(severity: float) -> int:
    return math.floor(severity + 0.5)

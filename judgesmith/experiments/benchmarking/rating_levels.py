"""The ratings that a global benchmark is built for: the whole points of a scale."""

from __future__ import annotations

from judgesmith.errors import InputError
from judgesmith.signatures.scale import Scale

MOST = 11
"""More ratings than this are no coarse scale, and each needs anchors of its own."""


def rating_levels(name: str, scale: Scale | None) -> tuple[float, ...]:
    """Return the ratings of a scale, the lowest first.

    Raises
    ------
    ValueError
        If there is no scale, its ends are not whole, it has more than 11 points, or counts
        faults.

    Examples
    --------
    >>> rating_levels("fluency", Scale(low=1, high=3))
    (1.0, 2.0, 3.0)
    >>> rating_levels("fluency", Scale(low=0, high=100))
    Traceback (most recent call last):
    ...
    judgesmith.InputError: ratings of fluency are from 0..100, too many for a global benchmark, \
which takes up to 11 whole points; say --scale fluency=LOW..HIGH, or take --perspective local.
    """
    if scale is None:
        raise InputError(
            f"nobody says what {name} is rated on.", hint=f"say --scale {name}=LOW..HIGH."
        )
    if not scale.higher_is_better:
        raise InputError(
            f"people counted faults on {name}, where fewer are better; a global benchmark takes "
            "ratings of which more are better.",
            hint="choose other --criteria, or --perspective local.",
        )
    whole = scale.low.is_integer() and scale.high.is_integer()
    if not whole or scale.high - scale.low >= MOST:
        why = "too many" if whole else "not whole points"
        raise InputError(
            f"ratings of {name} are from {scale}, {why} for a global benchmark, which takes up to "
            f"{MOST} whole points.",
            hint=f"say --scale {name}=LOW..HIGH, or take --perspective local.",
        )
    return tuple(float(one) for one in range(int(scale.low), int(scale.high) + 1))

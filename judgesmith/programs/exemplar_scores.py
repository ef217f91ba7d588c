"""From comparisons with exemplars of known levels to one score: formulas, and nothing else.

Exemplars stand on levels 1 (worst) to N (best). A response gains ``i`` for being better than
exemplar ``i`` and loses ``i`` for being worse, each by its probability, so that the sum lies
between ``-S`` and ``S`` with ``S = N (N + 1) / 2``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, isfinite, sqrt
from typing import Literal

from judgesmith.errors import InputError

Normalisation = Literal["affine", "level"]


@dataclass(frozen=True, slots=True)
class Compared:
    """How a response compares with one exemplar.

    Attributes
    ----------
    better, worse : float
        Probabilities that it is better and that it is worse, 0 to 1; what is left to 1 is the
        probability that the two are alike.

    Raises
    ------
    ValueError
        If they are no probabilities, or more than 1 together.
    """

    better: float
    worse: float

    def __post_init__(self) -> None:
        parts = (self.better, self.worse, 1 - self.better - self.worse)
        if not all(isfinite(one) and -1e-9 <= one <= 1 + 1e-9 for one in parts):
            raise InputError(
                "better and worse are probabilities, at most 1 together; got "
                f"{self.better:g} and {self.worse:g}."
            )

    def averaged(self, other: Compared) -> Compared:
        """Return the mean of two, such as of both orders."""
        return Compared((self.better + other.better) / 2, (self.worse + other.worse) / 2)


def largest_sum(n: int) -> int:
    """Return S, the sum of a response that is certainly better than all ``n`` exemplars.

    Examples
    --------
    >>> [largest_sum(n) for n in (2, 3, 5, 9)]
    [3, 6, 15, 45]
    """
    return n * (n + 1) // 2


def comparison_sum(compared: Sequence[Compared], *, mirrored: bool = False) -> float:
    """Return s, the sum over all exemplars of what a response gains and loses.

    Parameters
    ----------
    compared : sequence of Compared
        With the exemplars of levels 1 to N, in this order; at least two.
    mirrored : bool
        Whether being worse than level ``i`` costs ``N + 1 - i`` instead of ``i``, so that turning
        the scale round turns the sum round.

    Returns
    -------
    float
        From -S to S; see ``largest_sum``.

    Raises
    ------
    ValueError
        If there are fewer than two exemplars.

    References
    ----------
    Direct scoring through comparisons with synthetic exemplars; the mirrored weights are ours.

    Examples
    --------
    Better than 1 and 2, like 3, worse than 4 and 5:

    >>> clear = [Compared(1, 0), Compared(1, 0), Compared(0, 0), Compared(0, 1), Compared(0, 1)]
    >>> comparison_sum(clear), comparison_sum(clear, mirrored=True)
    (-6.0, 0.0)
    """
    n = len(compared)
    if n < 2:
        raise InputError(f"expected comparisons with two exemplars or more; got {n}.")
    return fsum(
        level * one.better - (n + 1 - level if mirrored else level) * one.worse
        for level, one in enumerate(compared, start=1)
    )


def level_of_sum(s: float, n: int, *, mirrored: bool = False) -> float:
    """Return the level that a sum stands for, from 1 to ``n``.

    A response like exemplar ``k`` that is rightly placed against the others has the sum
    ``k**2 - S``, or ``n * k - S`` with mirrored weights, and gets exactly ``k``. What lies beyond
    the outermost levels is cut off there, so that extremes can tie.

    Raises
    ------
    ValueError
        If there are fewer than two levels, or the sum is none that they can give.

    Examples
    --------
    >>> [level_of_sum(k**2 - 15, 5) for k in (1, 2, 3, 4, 5)]
    [1.0, 2.0, 3.0, 4.0, 5.0]
    >>> level_of_sum(15, 5), level_of_sum(-15, 5), level_of_sum(0, 5, mirrored=True)
    (5.0, 1.0, 3.0)
    """
    above = _above_least(s, n)
    level = above / n if mirrored else sqrt(above)
    return min(max(level, 1.0), float(n))


def normalised(
    s: float,
    n: int,
    how: Normalisation,
    *,
    mirrored: bool = False,
    low: float = 0.0,
    high: float = 100.0,
) -> float:
    """Return a sum on the scale from ``low`` to ``high``; larger sums never get less.

    Parameters
    ----------
    s : float
        The sum, from -S to S.
    n : int
        How many exemplars it is over.
    how : {"affine", "level"}
        ``low + (high - low) (s + S) / 2 S``, which keeps every correlation; or the level
        (``level_of_sum``) with 1 at ``low`` and ``n`` at ``high``, which means the same whatever
        ``n`` is and can tie the extremes.
    mirrored : bool
        Whether the sum has mirrored weights; only levels differ by it.
    low, high : float
        Ends of the scale, in its points.

    Raises
    ------
    ValueError
        If there are fewer than two exemplars, or the sum is none that they can give.

    Examples
    --------
    >>> normalised(-6, 5, "affine"), normalised(-6, 5, "level")
    (30.0, 50.0)
    """
    if how == "affine":
        share = _above_least(s, n) / (2 * largest_sum(n))
    else:
        share = (level_of_sum(s, n, mirrored=mirrored) - 1) / (n - 1)
    return low + (high - low) * share


def _above_least(s: float, n: int) -> float:
    """Return how far a sum lies above the least possible one, 0 to 2 S."""
    if n < 2:
        raise InputError(f"expected comparisons with two exemplars or more; got {n}.")
    most = largest_sum(n)
    if not abs(s) <= most + 1e-6:
        raise InputError(f"the sum over {n} exemplars lies between {-most} and {most}; got {s:g}.")
    return min(max(s + most, 0.0), 2.0 * most)

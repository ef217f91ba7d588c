"""How far a share has moved."""

import math
from dataclasses import dataclass

import numpy as np

from judgesmith.metrics.checks import fraction
from judgesmith.metrics.record import Record
from judgesmith.metrics.resampling.shares import wilson_interval

__all__ = ["ShareShift", "share_shift"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareShift(Record):
    """How far a share has moved.

    Attributes
    ----------
    before, now : float
        Fractions from 0 to 1.
    difference, low, high : float
        ``now`` minus ``before`` and its interval, from -1 to 1.
    p_value : float
        Of the hypothesis that both are draws of one share.
    n_before, n_now : float
        Independent draws that they are worth.
    """

    before: float
    now: float
    difference: float
    low: float
    high: float
    p_value: float
    n_before: float
    n_now: float


def share_shift(
    before: float, now: float, *, n_before: float, n_now: float, confidence: float = 0.95
) -> ShareShift:
    """Return how far a share lies from what it was.

    Parameters
    ----------
    before, now : float
        Fractions from 0 to 1.
    n_before, n_now : float, above 0
        Independent draws that they are worth; see ``effective_size``.
    confidence : float, between 0 and 1
        Nominal coverage of the interval, which is Newcombe's of two Wilson intervals.

    Returns
    -------
    ShareShift
        The p-value is Fisher's exact one, two-sided, for as many whole draws as the sizes allow.

    Raises
    ------
    ValueError
        If a share is none, a size is not above 0, or ``confidence`` not between 0 and 1.

    References
    ----------
    Newcombe (1998), "Interval estimation for the difference between independent proportions",
    Statistics in Medicine 17, method 10.

    Examples
    --------
    >>> found = share_shift(0.0, 0.2, n_before=50, n_now=50)
    >>> found.difference, round(found.low, 2), round(found.p_value, 4)
    (0.2, 0.09, 0.0012)
    """
    from scipy.stats import fisher_exact

    level = fraction(confidence, name="confidence")
    for share, n in ((before, n_before), (now, n_now)):
        if not 0 <= share <= 1 or not (n > 0 and math.isfinite(n)):
            raise ValueError(f"need a share from 0 to 1 of a number above 0; got {share} of {n}.")
    (low_before, high_before), (low_now, high_now) = (
        wilson_interval(share, n, confidence=level)
        for share, n in ((before, n_before), (now, n_now))
    )
    difference = now - before
    counts = [(round(share * n), round(n)) for share, n in ((before, n_before), (now, n_now))]
    table = np.array([[yes, max(n, 1) - yes] for yes, n in counts])
    return ShareShift(
        before=before,
        now=now,
        difference=difference,
        low=difference - math.hypot(now - low_now, high_before - before),
        high=difference + math.hypot(high_now - now, before - low_before),
        p_value=float(fisher_exact(table).pvalue),
        n_before=n_before,
        n_now=n_now,
    )

"""How often golden items are asked, what change is tolerated, and how seldom chance may alarm."""

from __future__ import annotations

from dataclasses import dataclass

from judgesmith.errors import InputError

N_CHECKS = 4
"""Things that are looked at, each with its part of the chance of a false alarm."""

MOST_SAMPLES = 100
"""Beyond that only more items tell more: the score of before stays one draw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecheckSettings:
    """The settings of a recheck.

    Parameters
    ----------
    samples : int, from 1 to 100
        How often each item is asked. Two or more show how much chance alone moves a score; three
        keep the cost small and know it from 40 degrees of freedom with 20 items.
    tolerance : float, 0 or more and below 1
        Change that does not matter, as a share of the scale's width. 0.05 is a fifth of a point on
        1 to 5, well below half of the smallest step that people rate in.
    confidence : float, between 0 and 1
        That a judge passes whose scores changed by just as much as is tolerated. One whose model
        is the same is this far from an alarm as well, and passes far more often than that
        (benchmark ``rechecking``).
    unscored : float, 0 or more and below 1
        Share of scores that may be missing by bad luck, such as an answer cut short.

    Raises
    ------
    ValueError
        If one of them is impossible.

    Examples
    --------
    >>> RecheckSettings().each
    0.9875
    """

    samples: int = 3
    tolerance: float = 0.05
    confidence: float = 0.95
    unscored: float = 0.05

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if not 1 <= self.samples <= MOST_SAMPLES:
            raise InputError(f"samples are from 1 to {MOST_SAMPLES}; got {self.samples}.")
        for name in ("tolerance", "unscored"):
            value = getattr(self, name)
            if not 0 <= value < 1:
                raise InputError(f"{name} is a share, 0 or more and below 1; got {value}.")
        if not 0 < self.confidence < 1:
            raise InputError(f"confidence must be between 0 and 1; got {self.confidence}.")

    @property
    def each(self) -> float:
        """Confidence of each of the checks, so that that of all is ``confidence`` or more."""
        return 1 - (1 - self.confidence) / N_CHECKS

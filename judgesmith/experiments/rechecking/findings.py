"""What a recheck found: what moved, by how much, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judgesmith.experiments.rechecking.settings import RecheckSettings
from judgesmith.metrics.records import Estimate, Record, plain
from judgesmith.signatures import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class RecheckedItem(Record):
    """One golden item, then and now.

    Attributes
    ----------
    number : int
        Its place among the judge's golden items, from 1.
    response : str
        The text under judgement.
    before : float
        Its score when the judge was made, in points of the judge's scale.
    now : tuple of float
        Its scores of now, in points; nan where there is none.
    change : float
        Mean of these minus ``before``, as a share of the scale's width; nan without a score.
    explained_before : bool
        Whether its score had an explanation.
    n_explained : int
        How many of the scores of now have one.
    problem : str or None
        Why a score of now is missing; None where all are there.
    """

    number: int
    response: str
    before: float
    now: tuple[float, ...]
    change: float
    explained_before: bool
    n_explained: int
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Record):
    """One thing that was looked at.

    Attributes
    ----------
    name : str
        ``shift``, ``moves``, ``unscored`` or ``alike``.
    drifted : bool
        Whether it changed by more than is tolerated, and by more than chance explains.
    said : str
        What was found, in one sentence.
    """

    name: str
    drifted: bool
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recheck(Record):
    """Whether a judge still says what it said.

    Attributes
    ----------
    judge : str
        Its fingerprint.
    made_with, asked : tuple of str
        Models that it was made with, and those that were asked now.
    settings : RecheckSettings
        What was tolerated.
    scale : Scale
        What scores are measured in.
    shift : Estimate
        How much higher scores are now, on average, as a share of the scale's width.
    moves : Estimate
        How far scores of single items moved, root mean square, what chance moves them taken off,
        as such a share; undefined where each item was asked once.
    noise : float
        Standard deviation of scores of the same item now, as such a share; nan likewise.
    unscored : Estimate
        Share of the scores of now that are missing; items had one before.
    checks : tuple of Check
        What was looked at, in order.
    items : tuple of RecheckedItem
        Every golden item, in the judge's order.
    """

    judge: str
    made_with: tuple[str, ...]
    asked: tuple[str, ...]
    settings: RecheckSettings
    scale: Scale
    shift: Estimate
    moves: Estimate
    noise: float
    unscored: Estimate
    checks: tuple[Check, ...]
    items: tuple[RecheckedItem, ...]

    @property
    def drifted(self) -> bool:
        """Whether anything did."""
        return any(check.drifted for check in self.checks)

    def largest(self, n: int) -> list[RecheckedItem]:
        """Return the items that moved most, unscored ones first, the others by size of change."""

        def order(item: RecheckedItem) -> tuple[float, int]:
            missing = item.change != item.change
            return (-float("inf") if missing else -abs(item.change), item.number)

        return sorted(self.items, key=order)[:n]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON; undefined is None."""
        told: Mapping[str, Any] = {
            "samples": self.settings.samples,
            "tolerance": self.settings.tolerance,
            "confidence": self.settings.confidence,
            "tolerated_unscored": self.settings.unscored,
        }
        return {
            "judge": self.judge,
            "drifted": self.drifted,
            "made_with": list(self.made_with),
            "asked": list(self.asked),
            **told,
            "scale": [self.scale.low, self.scale.high],
            "shift": self.shift.to_dict(),
            "moves": self.moves.to_dict(),
            "noise": plain(self.noise),
            "n_items": len(self.items),
            "unscored": self.unscored.to_dict(),
            "checks": [one.to_dict() for one in self.checks],
            "items": [one.to_dict() for one in self.items],
        }

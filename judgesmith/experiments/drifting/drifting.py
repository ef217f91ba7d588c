"""Comparing what scores and inputs are like now with what they were like before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from judgesmith.experiments.drifting.measured import SCORE
from judgesmith.experiments.drifting.snapshot import (
    NO,
    SCORED,
    Numbers,
    Shares,
    Snapshot,
    is_score,
)
from judgesmith.metrics import holm
from judgesmith.metrics.comparing import distribution_shift, share_shift
from judgesmith.metrics.records import Record
from judgesmith.programs.artifacts.record import SavedJudgeError, SavedRecord
from judgesmith.programs.artifacts.saved_ensembles import SavedCalibrated, SavedHolder
from judgesmith.signatures.aggregation import Calibration

ALPHA = 0.05
"""The chance of any false finding at all, over everything that is compared."""

RARE = 0.01
"""A script or language below this share, before and now, is not looked at by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift(Record):
    """How far one thing has moved.

    Attributes
    ----------
    what : str
        A score, what is counted of texts, or a label, such as ``response language German``.
    kind : {"scores", "inputs"}
        What it is of.
    unit : {"distance", "share"}
        What ``effect`` is: the largest difference between two distribution functions, or the
        difference of two shares.
    before, now : float
        Means, or shares.
    effect, low, high : float
        How far it has moved, with a 95 % interval.
    p_value : float
        Adjusted by Holm for everything that is compared.
    drifted : bool
        Whether the effect is beyond the tolerance, and no chance finding.
    new : bool
        Whether it is a label that did not occur before.
    """

    what: str
    kind: str
    unit: str
    before: float
    now: float
    effect: float
    low: float
    high: float
    p_value: float
    drifted: bool = False
    new: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What has moved.

    Attributes
    ----------
    before, now : Snapshot
        What was compared.
    shifts : tuple of Shift
        Everything, scores first.
    unknown : tuple of str
        What is in one of both alone, and cannot be compared.
    """

    before: Snapshot
    now: Snapshot
    shifts: tuple[Shift, ...]
    unknown: tuple[str, ...]

    @property
    def drifted(self) -> tuple[Shift, ...]:
        """What has drifted."""
        return tuple(one for one in self.shifts if one.drifted)

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON."""
        return {
            "drifted": bool(self.drifted),
            "rows": {"before": self.before.rows, "now": self.now.rows},
            "unscored": {"before": self.before.unscored, "now": self.now.unscored},
            "shifts": [one.to_dict() for one in self.shifts],
            "unknown": list(self.unknown),
        }


def drift_between(
    before: Snapshot, now: Snapshot, *, tolerance: float = 0.1, share_tolerance: float = 0.05
) -> Drift:
    """Return what has moved.

    A thing has drifted if its effect is larger than the tolerance, and its p-value, adjusted for
    everything that is compared, below .05. So a large set does not drift by trifles, and a small
    one not by chance.

    Parameters
    ----------
    before, now : Snapshot
        What scores and inputs were like, and are.
    tolerance : float, from 0 to 1
        For numbers, as a distance between distributions: .1 is a shift by a quarter of a standard
        deviation, .2 by half of one.
    share_tolerance : float, from 0 to 1
        For shares: of rows without a score, of scripts and of languages.

    Examples
    --------
    >>> from judgesmith.experiments.drifting.snapshot import Row, snapshot_of
    >>> def rows(shift):
    ...     found = [Row(source=str(i), numbers={"score": i % 50 + shift}, labels={})
    ...              for i in range(200)]
    ...     return snapshot_of(found)
    >>> [one.drifted for one in drift_between(rows(0), rows(2)).shifts]
    [False]
    >>> [(one.what, round(one.effect, 1)) for one in drift_between(rows(0), rows(15)).drifted]
    [('score', 0.3)]
    """
    unknown = sorted(
        {*before.numbers, *before.labels} ^ {*now.numbers, *now.labels},
        key=lambda name: (not is_score(name), name),
    )
    shifts = [
        _of_numbers(name, before.numbers[name], now.numbers[name])
        for name in sorted(set(before.numbers) & set(now.numbers), key=_order)
    ]
    for name in sorted(set(before.labels) & set(now.labels), key=_order):
        shifts += _of_labels(name, before.labels[name], now.labels[name])
    adjusted = holm([one.p_value for one in shifts])
    limits = {"distance": tolerance, "share": share_tolerance}
    found = [
        _judged(one, float(p), limits[one.unit]) for one, p in zip(shifts, adjusted, strict=True)
    ]
    found.sort(key=lambda one: one.kind != "scores")
    return Drift(before=before, now=now, shifts=tuple(found), unknown=tuple(unknown))


def known_before(judge: SavedRecord) -> Snapshot | None:
    """Return what scores and inputs were like when a judge was made; None where it does not say.

    Of a panel, which says nothing itself, the inputs of its first member; of a calibrated judge
    also its scores, unless it leaves texts to people.

    Parameters
    ----------
    judge : saved judge
        Of any kind.

    Raises
    ------
    SavedJudgeError
        If what it says cannot be read.
    """
    if judge.reference:
        return read_snapshot(judge.reference)
    if isinstance(judge, SavedCalibrated):
        found = known_before(judge.members["judge"])
        return None if found is None else _calibrated(found, judge.calibration)
    if isinstance(judge, SavedHolder):
        known = (known_before(one) for one in judge.members.values())
        return next((one.without_scores() for one in known if one is not None), None)
    return None


def _calibrated(found: Snapshot, calibration: Calibration) -> Snapshot:
    """Return what the scores of a judge are like once they are calibrated.

    The map keeps the order of scores, so it maps quantiles to quantiles. Where texts are left to
    people, scores are not known.
    """
    scores = found.numbers.get(SCORE)
    if scores is None or calibration.abstention is not None:
        return found.without_scores()
    points = tuple(calibration.apply(one) for one in scores.points)
    mapped = scores.model_copy(update={"points": points})
    return found.model_copy(update={"numbers": {**found.numbers, SCORE: mapped}})


def read_snapshot(plain: Mapping[str, Any]) -> Snapshot:
    """Return what a judge says of when it was made.

    Raises
    ------
    SavedJudgeError
        If it cannot be read.
    """
    try:
        return Snapshot.model_validate(plain)
    except ValidationError:
        raise SavedJudgeError(
            "what the judge says of the texts it was made with cannot be read.",
            hint="compile it again, or compare with other scores, by --against.",
        ) from None


def _order(name: str) -> tuple[bool, str]:
    return not (is_score(name) or name == SCORED), name


def _of_numbers(name: str, before: Numbers, now: Numbers) -> Shift:
    found = distribution_shift(
        before.points, now.points, n_before=before.effective, n_now=now.effective
    )
    return Shift(
        what=name,
        kind="scores" if is_score(name) else "inputs",
        unit="distance",
        before=found.before,
        now=found.now,
        effect=found.distance,
        low=found.low,
        high=found.high,
        p_value=found.p_value,
    )


def _of_labels(name: str, before: Shares, now: Shares) -> Iterator[Shift]:
    """Yield the shifts of labels that are not rare; of two labels one says all."""
    labels = [
        label
        for label in dict.fromkeys((*before.shares, *now.shares))
        if max(before.shares.get(label, 0.0), now.shares.get(label, 0.0)) >= RARE
    ]
    if name == SCORED:
        labels = [NO]
    elif len(labels) == 2:
        labels = labels[1:]
    for label in labels:
        found = share_shift(
            before.shares.get(label, 0.0),
            now.shares.get(label, 0.0),
            n_before=before.effective,
            n_now=now.effective,
        )
        yield Shift(
            what="without a score" if name == SCORED else f"{name} {label}",
            kind="scores" if name == SCORED else "inputs",
            unit="share",
            before=found.before,
            now=found.now,
            effect=found.difference,
            low=found.low,
            high=found.high,
            p_value=found.p_value,
            new=name != SCORED and label not in before.shares,
        )


def _judged(one: Shift, p_value: float, limit: float) -> Shift:
    drifted = p_value < ALPHA and abs(one.effect) > limit
    return replace(one, p_value=p_value, drifted=drifted)

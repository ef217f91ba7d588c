"""The rule by which a recheck alarms: checks, each with its part of the chance to be wrong.

With ``c`` the confidence of each check (see ``RecheckSettings.each``), and everything as a share of
the scale's width, a judge has drifted if one of these holds.

- ``shift``: the ``c`` interval of the mean change lies wholly above the tolerance, or wholly below
  minus the tolerance.
- ``moves``: the low end of the ``2 c - 1`` interval (one end alone counts) of the root mean square
  change of single items, what chance moves them taken off, lies above the tolerance.
- ``unscored``: the low end of the ``2 c - 1`` interval of the share of scores that are missing lies
  above the tolerated share.
- ``alike``: all scores are one number, and the chance of that, if nothing changed, is ``1 - c`` or
  less given the scores of before.
- ``tnr``, ``tpr``, of a judge on labels: the high end of the ``2 c - 1`` interval of the change of
  the share of golden items that get people's label, bad or good ones, lies below minus the
  tolerance. So the rate that is stated for test rows holds no longer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judgesmith.errors import InputError
from judgesmith.metrics.comparing.repeats import (
    chance_of_alike,
    missing_share,
    repeat_noise,
    score_moves,
    score_shift,
)
from judgesmith.metrics.records import FEWEST_GROUPS, Estimate, Record, plain
from judgesmith.metrics.resampling.shares import share_interval
from judgesmith.programs.artifacts.record import GoldenItem, SavedVerdicts
from judgesmith.signatures import Judgement, RatedItem, Scale

N_CHECKS = 4
"""Things that are looked at of any judge, each with its part of the chance of a false alarm."""

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
        return self.each_of(N_CHECKS)

    def each_of(self, n_checks: int) -> float:
        """Return the same where so many things are looked at."""
        return 1 - (1 - self.confidence) / n_checks


@dataclass(frozen=True, slots=True, kw_only=True)
class RecheckedItem(Record):
    """One golden item, then and now."""

    number: int
    response: str
    before: float  # score at the time, in the judge's points
    now: tuple[float, ...]  # scores of now, nan: missing
    change: float  # of the mean, as a share of the scale
    explained_before: bool
    n_explained: int
    problem: str | None  # why a score of now is missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Record):
    """One thing that was looked at."""

    name: str
    drifted: bool
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedLabels(Record):
    """How often golden items get the label that they had; ``changed`` counts other labels."""

    same: Estimate
    changed: Mapping[str, int]

    @classmethod
    def of(
        cls, golden: Sequence[GoldenItem], again: Sequence[Sequence[Judgement]], confidence: float
    ) -> RepeatedLabels | None:
        """Return the agreement of labels of before and now; None where the judge gives none."""
        pairs = [
            (number, one.judgement.label, each[number].label)
            for number, one in enumerate(golden)
            for each in again
            if one.judgement.label is not None and each[number].label is not None
        ]
        if not pairs:
            return None
        same = share_interval(
            [before == now for _, before, now in pairs],
            sources=[number for number, *_ in pairs],
            confidence=confidence,
        )
        changed = Counter(f"{before} -> {now}" for _, before, now in pairs if before != now)
        return cls(same=same, changed=dict(changed.most_common()))


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionReport(Record, report="judgesmith.cli.trust.recheck:report"):
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
    labels : RepeatedLabels or None
        How often items get the label that they had, of a judge that gives labels.
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
    labels: RepeatedLabels | None = None

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
            **({"labels": self.labels.to_dict()} if self.labels is not None else {}),
        }


Scores = npt.NDArray[np.float64]


def recheck_of(
    golden: Sequence[GoldenItem],
    again: Sequence[Sequence[Judgement]],
    settings: RecheckSettings,
    *,
    scale: Scale,
    judge: str = "",
    made_with: tuple[str, ...] = (),
    asked: tuple[str, ...] = (),
    positive: str | None = None,
    stated: SavedVerdicts | None = None,
) -> RegressionReport:
    """Return whether judgements are those of golden items; ``stated``: TPR and TNR on test rows."""
    rates = _right_labels(golden, again, positive) if stated is not None else {}
    each = settings.each_of(N_CHECKS + len(rates))
    width = scale.high - scale.low
    before = np.array([_score(one.judgement) for one in golden]) / width
    now = np.array([[_score(one) for one in each] for each in again], dtype=float).T / width
    now = now.reshape(len(golden), len(again))
    one_end = round(2 * each - 1, 12)
    shift = score_shift(before, now, confidence=each)
    moves = score_moves(before, now, confidence=one_end)
    unscored = missing_share(now, confidence=one_end)
    noise = repeat_noise(now)
    items = tuple(
        _item(number, one, [each[number] for each in again], width)
        for number, one in enumerate(golden)
    )
    return RegressionReport(
        judge=judge,
        made_with=made_with,
        asked=asked,
        settings=settings,
        scale=scale,
        shift=shift,
        moves=moves,
        noise=noise,
        unscored=unscored,
        checks=(
            _shift(shift, settings),
            _moves(moves, noise, settings),
            _unscored(unscored, settings),
            _alike(chance_of_alike(before, now), now * width, each),
            *(
                _fallen(name, *rows, stated, settings, confidence=one_end)
                for name, rows in rates.items()
                if stated is not None
            ),
        ),
        items=items,
        labels=RepeatedLabels.of(golden, again, settings.confidence),
    )


def _score(judgement: Judgement) -> float:
    return math.nan if judgement.score is None else float(judgement.score)


def _item(number: int, one: GoldenItem, again: Sequence[Judgement], width: float) -> RecheckedItem:
    now = [_score(each) for each in again]
    given = [score for score in now if math.isfinite(score)]
    before = _score(one.judgement)
    return RecheckedItem(
        number=number + 1,
        response=one.response,
        before=before,
        now=tuple(now),
        change=sum(x - before for x in given) / len(given) / width if given else math.nan,
        explained_before=bool(one.judgement.explanation),
        n_explained=sum(bool(each.explanation) for each in again),
        problem=next((each.problem for each in again if each.problem is not None), None),
    )


def _shift(shift: Estimate, settings: RecheckSettings) -> Check:
    beyond = shift.low > settings.tolerance or shift.high < -settings.tolerance
    said = f"on average scores changed by {_points(shift.value, sign=True)} of the scale"
    if math.isfinite(shift.low):
        ends = f"{_points(shift.low, sign=True)} to {_points(shift.high, sign=True)}"
        said = f"{said} ({ends}; tolerated: {_points(settings.tolerance)} either way)"
    else:
        said = "fewer than two items have a score, which tells nothing of the average change"
    return Check(name="shift", drifted=beyond, said=f"{said}.")


def _moves(moves: Estimate, noise: float, settings: RecheckSettings) -> Check:
    if not math.isfinite(moves.low):
        said = "single items were asked too seldom to tell a change from chance"
    else:
        said = (
            f"single items moved by {_points(moves.value)} of the scale "
            f"({_points(moves.low)} to {_points(moves.high)}; tolerated: "
            f"{_points(settings.tolerance)}) beyond what chance moves them, {_points(noise)}"
        )
    return Check(name="moves", drifted=moves.low > settings.tolerance, said=f"{said}.")


def _unscored(share: Estimate, settings: RecheckSettings) -> Check:
    said = f"{_points(share.value)} of the scores are missing"
    if share.value > 0:
        said += (
            f" ({_points(share.low)} to {_points(share.high)}; tolerated: "
            f"{_points(settings.unscored)})"
        )
    return Check(name="unscored", drifted=share.low > settings.unscored, said=f"{said}.")


def _alike(chance: float, now: Scores, each: float) -> Check:
    given = now[np.isfinite(now)]
    if given.size and np.all(given == given[0]):
        said = f"every score is {given[0]:g} now (chance of that if nothing changed: {chance:.2g})"
    else:
        said = "scores differ from item to item" if given.size else "there are no scores"
    return Check(name="alike", drifted=chance <= 1 - each, said=f"{said}.")


def _right_labels(
    golden: Sequence[GoldenItem], again: Sequence[Sequence[Judgement]], positive: str | None
) -> dict[str, tuple[Scores, Scores]]:
    """Return whether bad and good items, where five or more, got people's label before and now."""
    found = {}
    for name, good in (("tnr", False), ("tpr", True)):
        rows = [
            place
            for place, one in enumerate(golden)
            if one.human_label is not None and (one.human_label == positive) == good
        ]
        sides = [[one.judgement for one in golden], *again]
        right = np.array(
            [[_is_right(side[place], positive, good=good) for side in sides] for place in rows]
        )
        if len(rows) >= FEWEST_GROUPS:
            found[name] = right[:, 0], right[:, 1:]
    return found


def _is_right(judgement: Judgement, positive: str | None, *, good: bool) -> float:
    return math.nan if judgement.label is None else float((judgement.label == positive) == good)


def _fallen(
    name: str,
    before: Scores,
    now: Scores,
    stated: SavedVerdicts,
    settings: RecheckSettings,
    *,
    confidence: float,
) -> Check:
    change, rate = score_shift(before, now, confidence=confidence), stated.heldout[name]
    what = f"{'bad' if name == 'tnr' else 'good'} items"
    if not math.isfinite(change.high):
        said = f"too few {what} have a label now to tell whether {name.upper()} changed"
        return Check(name=name, drifted=False, said=f"{said}.")
    drifted = change.high < -settings.tolerance
    said = (
        f"{np.nanmean(now):.0%} of {len(before)} {what} are labelled right, "
        f"{_points(change.value, sign=True)} ({_points(change.low, sign=True)} to "
        f"{_points(change.high, sign=True)}; tolerated: {_points(settings.tolerance)}); stated "
        f"{name.upper()}: {rate.percent}"
    )
    if drifted and rate.value is not None:
        said += f", which is now about {max(rate.value + change.value, 0.0):.0%}"
    return Check(name=name, drifted=drifted, said=f"{said}.")


def _points(share: float, *, sign: bool = False) -> str:
    """Return a share in percent, with one decimal; what looks like 0 has no sign."""
    rounded = round(100 * share, 1)
    return f"{rounded:{'+' if sign and rounded else ''}.1f} %"


MOST_ITEMS = 20
"""The 95 % interval of an average change reaches .47 standard deviations to either side with 20
items, and 1.24 with 5. They were judged anyway, so that keeping them asks nothing."""

MOST_LETTERS = 400_000
"""Characters of all their texts together, past the first five: a judge is a file to keep in git."""


def drawn_golden(
    items: Sequence[RatedItem],
    judgements: Sequence[Judgement],
    labels: Sequence[str | None] | None = None,
) -> tuple[GoldenItem, ...]:
    """Return scored items from the best to the worst, at even steps, as a sample of all.

    Neither end is favoured. The best of many is partly lucky and comes out lower when it is asked
    again; of items at even steps as many were lucky as were not. With people's ``labels``, each
    label has as many items as there are, up to its share of all.
    """
    labels = labels or [None] * len(items)
    scored = [place for place, one in enumerate(judgements) if one.score is not None]
    ordered = sorted(scored, key=lambda place: (-(judgements[place].score or 0.0), place))
    groups = [[p for p in ordered if labels[p] == one] for one in dict.fromkeys(labels)]
    even = _at_even_steps(groups, MOST_ITEMS)
    if sum(map(_letters, (items[place] for place in even))) > MOST_LETTERS:
        # What is left is spread over the scores as well, not the best ones alone.
        even = _at_even_steps(groups, min(5, len(even)))
    ranks = {place: rank for rank, place in enumerate(ordered)}
    return tuple(
        GoldenItem.of(items[place], judgements[place], labels[place])
        for place in sorted(even, key=lambda place: ranks[place])
    )


def _at_even_steps(groups: Sequence[Sequence[int]], most: int) -> list[int]:
    """Return members of all groups, up to ``most``: as many of each, or all of a small one."""
    found: list[int] = []
    left = len(groups)
    for group in sorted(groups, key=len):
        n = min((most - len(found)) // left, len(group))
        found += [group[(2 * step + 1) * len(group) // (2 * n)] for step in range(n)]
        left -= 1
    return found


def _letters(item: RatedItem) -> int:
    return sum(map(len, (item.source, item.context or "", item.response, *item.references)))

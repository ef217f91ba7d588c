"""The rule by which a recheck alarms: four checks, each with its part of the chance to be wrong.

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
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from judgesmith.experiments.rechecking.findings import Check, Recheck, RecheckedItem
from judgesmith.experiments.rechecking.settings import RecheckSettings
from judgesmith.metrics.comparing.repeats import (
    chance_of_alike,
    missing_share,
    repeat_noise,
    score_moves,
    score_shift,
)
from judgesmith.metrics.records import Estimate
from judgesmith.programs.artifacts.record import GoldenItem
from judgesmith.signatures import Judgement, Scale

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
) -> Recheck:
    """Return whether judgements of now are those that golden items had.

    Parameters
    ----------
    golden : sequence of GoldenItem
        Items that had a score.
    again : sequence of sequences of Judgement
        One sequence for each time that all items were asked, aligned with ``golden``.
    settings : RecheckSettings
        What is tolerated.
    scale : Scale
        What scores are measured in.
    judge, made_with, asked
        As in ``Recheck``.

    Examples
    --------
    >>> def judged(change):
    ...     return [Judgement(score=10 * n + change) for n in range(8)]
    >>> items = [GoldenItem(source="s", response="r", judgement=one) for one in judged(0)]
    >>> def asked_again(change):
    ...     now = [judged(change)] * 3
    ...     return recheck_of(items, now, RecheckSettings(), scale=Scale(low=0, high=100))
    >>> asked_again(0).drifted, asked_again(4).drifted, asked_again(12).drifted
    (False, False, True)
    """
    width = scale.high - scale.low
    before = np.array([_score(one.judgement) for one in golden]) / width
    now = np.array([[_score(one) for one in each] for each in again], dtype=float).T / width
    now = now.reshape(len(golden), len(again))
    one_end = round(2 * settings.each - 1, 12)
    shift = score_shift(before, now, confidence=settings.each)
    moves = score_moves(before, now, confidence=one_end)
    unscored = missing_share(now, confidence=one_end)
    noise = repeat_noise(now)
    items = tuple(
        _item(number, one, [each[number] for each in again], width)
        for number, one in enumerate(golden)
    )
    return Recheck(
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
            _alike(chance_of_alike(before, now), now * width, settings),
        ),
        items=items,
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


def _alike(chance: float, now: Scores, settings: RecheckSettings) -> Check:
    given = now[np.isfinite(now)]
    if given.size and np.all(given == given[0]):
        said = f"every score is {given[0]:g} now (chance of that if nothing changed: {chance:.2g})"
    else:
        said = "scores differ from item to item" if given.size else "there are no scores"
    return Check(name="alike", drifted=chance <= 1 - settings.each, said=f"{said}.")


def _points(share: float, *, sign: bool = False) -> str:
    """Return a share in percent, with one decimal; what looks like 0 has no sign."""
    rounded = round(100 * share, 1)
    return f"{rounded:{'+' if sign and rounded else ''}.1f} %"

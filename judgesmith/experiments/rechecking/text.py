"""A recheck in words: the verdict, every check, and the items that moved most."""

from __future__ import annotations

import math

from judgesmith.experiments.rechecking.findings import Recheck, RecheckedItem

_MOST = 5
_LONGEST = 60
_LEAST = 0.0005  # of the scale: less looks like nothing


def recheck_text(found: Recheck) -> list[str]:
    """Return the lines that people read.

    Examples
    --------
    >>> from judgesmith.experiments.rechecking.rule import recheck_of
    >>> from judgesmith.experiments.rechecking.settings import RecheckSettings
    >>> from judgesmith.programs.artifacts.record import GoldenItem
    >>> from judgesmith.signatures import Judgement, Scale
    >>> judged = [Judgement(score=n) for n in (1, 5)]
    >>> golden = [GoldenItem(source="s", response="r", judgement=one) for one in judged]
    >>> scale = Scale(low=1, high=5)
    >>> same = recheck_of(golden, [judged] * 2, RecheckSettings(samples=2), scale=scale)
    >>> for line in recheck_text(same):
    ...     print(line)  # doctest: +ELLIPSIS
    ok       shift: on average scores changed by 0.0 % of the scale (0.0 % to 0.0 %; tolerated: ...
    ok       moves: single items moved by 0.0 % of the scale (0.0 % to 0.0 %; tolerated: 5.0 %) ...
    ok       unscored: 0.0 % of the scores are missing.
    ok       alike: scores differ from item to item.
    """
    lines = [
        f"{'DRIFTED' if one.drifted else 'ok':8} {one.name}: {one.said}" for one in found.checks
    ]
    moved = [one for one in found.largest(_MOST) if not abs(one.change) < _LEAST]
    if moved:
        lines.append("moved most:")
        lines += [f"  {item_text(one)}" for one in moved]
    return lines


def recheck_notes(found: Recheck) -> list[str]:
    """Return what a reader should know beside the verdict, in sentences."""
    notes = []
    if found.made_with and set(found.asked) != set(found.made_with):
        notes.append(
            f"the judge was made with {', '.join(found.made_with)}, and asked was "
            f"{', '.join(found.asked)}."
        )
    lost = sum(one.explained_before and one.n_explained == 0 for one in found.items)
    if lost:
        notes.append(f"{lost} items had an explanation and have none any more.")
    new = sum(not one.explained_before and one.n_explained > 0 for one in found.items)
    if new:
        notes.append(f"{new} items had no explanation and have one now.")
    if found.settings.samples == 1:
        notes.append(
            "each item was asked once, so that nothing is known of chance: only the average is "
            "checked, not single items; ask more often with --samples."
        )
    return notes


def item_text(item: RecheckedItem) -> str:
    """Return an item's scores, then and now, with the beginning of its text."""
    now = ", ".join("none" if math.isnan(score) else f"{score:.4g}" for score in item.now)
    change = "" if math.isnan(item.change) else f" ({100 * item.change:+.1f} %)"
    why = f"; {_cut(item.problem, 2 * _LONGEST)}" if item.problem else ""
    text = _cut(item.response, _LONGEST)
    return f"item {item.number}: {item.before:.4g} -> {now}{change}{why}: {text}"


def _cut(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1]}…"

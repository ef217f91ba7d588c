"""What a judge card says of how well a judge notices that texts were changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_COLUMNS = ("uncompiled", "best_member", "heldout", "gain")
_OVERALL = ("d_min", "d_avg", "false_alarms")


def discernment_lines(found: Mapping[str, Any]) -> Iterator[str]:
    r"""Yield what was found of discernment, in Markdown; nothing where it was not looked at.

    Parameters
    ----------
    found : mapping
        ``agreement["discernment"]`` of a saved judge.

    Examples
    --------
    >>> kinds = [{"name": "case_loss", "level": "character", "lowers": True}]
    >>> estimate = {"value": 1.25, "low": 0.5, "high": 2.5, "n": 9}
    >>> lines = discernment_lines({"kinds": kinds, "selection": {"overall": {"d_min": estimate}}})
    >>> print(*lines, sep="\n")
    ## Discernment
    <BLANKLINE>
    Evidence D that originals score higher than changed versions (1 is a p-value of .05).
    Chosen by: case_loss.
    <BLANKLINE>
    | changes | D | chosen by |
    | --- | --- | --- |
    | kinds it was chosen by | d_min | 1.25 [0.50, 2.50] |
    <BLANKLINE>
    """
    if not found:
        return
    yield "## Discernment"
    yield ""
    yield "Evidence D that originals score higher than changed versions (1 is a p-value of .05)."
    yield f"Chosen by: {_names(found.get('kinds'))}."
    if found.get("unseen_kinds"):
        yield f"Kept for the report: {_names(found.get('unseen_kinds'))}."
    yield ""
    seen, unseen = found.get("seen") or {}, found.get("unseen") or {}
    columns = {"chosen by": found.get("selection")}
    if seen:
        columns |= {name: seen[name] for name in _COLUMNS if name in seen}
    yield f"| changes | D | {' | '.join(columns)} |"
    yield f"| --- | --- | {' | '.join('---' for _ in columns)} |"
    yield from _rows("kinds it was chosen by", columns)
    if unseen:
        others = {name: unseen.get(name) for name in columns}
        yield from _rows("kinds it never saw", others)
    yield ""


def _rows(which: str, columns: Mapping[str, Any]) -> Iterator[str]:
    from judgesmith.programs.card import agreement_text

    reports = [(one or {}).get("overall") or {} for one in columns.values()]
    for name in _OVERALL:
        if any(name in report for report in reports):
            cells = [
                agreement_text(report[name], ".2f") if name in report else "" for report in reports
            ]
            yield f"| {which} | {name} | {' | '.join(cells)} |"


def _names(kinds: Any) -> str:
    return ", ".join(str(one["name"]) for one in kinds or ()) or "none"

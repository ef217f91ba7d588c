"""Rows that were chosen to be rated: they are no random sample, wherever they are read again."""

from __future__ import annotations

from collections.abc import Sequence

from judgesmith.signatures import RatedItem

SUGGESTED_BY = "suggested_by"
"""The field of a row that says how it was chosen."""

RANDOM = "random"
"""How a row was chosen that may be reported on: all rows were as likely to be drawn."""


def was_chosen(item: RatedItem) -> bool:
    """Say whether a row was chosen for what a judge said of it, rather than drawn at random.

    Examples
    --------
    >>> rows = [{}, {"suggested_by": "random"}, {"suggested_by": "coverage"}, {"suggested_by": ""}]
    >>> [was_chosen(RatedItem(response="r", extra=row)) for row in rows]
    [False, False, True, False]
    """
    by = item.extra.get(SUGGESTED_BY)
    return isinstance(by, str) and by.strip() not in ("", RANDOM)


def chosen_note(items: Sequence[RatedItem]) -> list[str]:
    """Return that some rated rows are no random sample, if there are any.

    Examples
    --------
    >>> row = RatedItem(response="r", human={"overall": (4,)}, extra={"suggested_by": "coverage"})
    >>> chosen_note([row, row.model_copy(update={"extra": {}})])[0].partition(":")[0]
    '1 of 2 rated rows was chosen by suggest and not at random'
    """
    rated = [item for item in items if any(item.human.values())]
    n = sum(was_chosen(item) for item in rated)
    if not n:
        return []
    was, it = ("was", "it") if n == 1 else ("were", "them")
    return [
        f"{n} of {len(rated)} rated rows {was} chosen by suggest and not at random: agreement on "
        f"{it} is not that on other texts, and compile learns from {it} without holding {it} out."
    ]

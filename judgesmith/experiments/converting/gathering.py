"""Items of tables that have a row per rater: what is the same in their rows, and what was said."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from judgesmith.experiments.converting.records import Record
from judgesmith.experiments.problems import shown


@dataclass
class Gathered:
    """An item, and what its raters said of it.

    Attributes
    ----------
    record : Record
        Its first row.
    same : dict of str to str
        What is the same in all of its rows.
    human : dict of str to list of float
        Ratings by criterion, in the order of the rows.
    raters : list of str
        Who gave them.
    """

    record: Record
    same: dict[str, Any]
    human: dict[str, list[float]] = field(default_factory=dict)
    raters: list[str] = field(default_factory=list)

    def agrees(self, record: Record, same: dict[str, Any]) -> bool:
        """Say whether a row is one of the same item, and write down where it is not."""
        for name, value in same.items():
            if self.same[name] != value:
                expected = f"{shown(self.same[name])}, as in {self.record.where}"
                record.problem(name, expected=expected, came=shown(value))
        return self.same == same

    def add(self, human: dict[str, tuple[float, ...]], rater: str | None = None) -> None:
        """Keep what one more rater said."""
        for name, points in human.items():
            self.human.setdefault(name, []).extend(points)
        if rater is not None:
            self.raters.append(rater)


def gathered(
    rated: Iterable[tuple[Hashable, Record, dict[str, Any], dict[str, tuple[float, ...]], str]],
) -> Iterator[Gathered]:
    """Yield items once all of their rows are read, in the order of their first ones.

    Parameters
    ----------
    rated : iterable of (key, record, same, human, rater)
        One per row; rows with one key are one item. An empty rater is nobody in particular.
    """
    items: dict[Hashable, Gathered] = {}
    for key, record, same, human, rater in rated:
        item = items.setdefault(key, Gathered(record, same))
        if item.agrees(record, same):
            item.add(human, rater or None)
    yield from items.values()

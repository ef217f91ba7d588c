"""Several that look on at the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgesmith.signatures import Judgement, RatedItem

if TYPE_CHECKING:
    from judgesmith.experiments.scoring.judging import RowWatch


class Watches:
    """Tells several what it is told, in their order.

    Parameters
    ----------
    *watches : RowWatch
        Who is told.
    """

    def __init__(self, *watches: RowWatch) -> None:
        self._watches = watches

    def judged(self, file: str, row: int, item: RatedItem, judgement: Judgement) -> None:
        """Pass on a row that was judged."""
        for one in self._watches:
            one.judged(file, row, item, judgement)

    def kept(self, n_rows: int) -> None:
        """Pass on a number of rows that are not judged again."""
        for one in self._watches:
            one.kept(n_rows)

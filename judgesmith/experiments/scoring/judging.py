"""What stands between the readers and the writer: who judges, and who looks on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from judgesmith.signatures import Judgement, RatedItem

Judging = Callable[[Iterator[RatedItem]], Iterator[tuple[RatedItem, Judgement]]]
"""What judges a stream of items: ``judge_each`` with its judge and its model.

It reads the items as far as it needs them and yields each of them, the very object that it was
given, with its judgement: once, and in the order of the items unless rows may come as they are
finished.
"""


class RowWatch(Protocol):
    """Looks on while rows are written, for logs and meters."""

    def judged(self, file: str, row: int, item: RatedItem, judgement: Judgement) -> None:
        """Take note of a row that was judged now.

        Parameters
        ----------
        file : str
            The input as it was named.
        row : int
            The row's number among those of its input, from 1.
        item : RatedItem
            The texts.
        judgement : Judgement
            What is written of them.
        """

    def kept(self, n_rows: int) -> None:
        """Take note of rows that an earlier run had written and that are not judged again."""

"""What one row of an ablation took: requests that were sent for it, and answers it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgesmith.programs.models import Stack


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCalls:
    """What it took to make a row.

    Attributes
    ----------
    new : int
        Requests sent for it, those of processes that were killed included, where the model's
        ledger knows of them.
    recorded : int
        Questions that were answered by what rows above, or earlier runs, have left on record.
    """

    new: int
    recorded: int


class Asked:
    """Counts what is asked for one row, from the moment that this is made.

    Parameters
    ----------
    stack : Stack or None
        What the model is asked through; None counts nothing.
    finished : int or None
        Requests of the run when its last row was finished. What it has spent since then, in
        processes that were killed too, went into this row. None counts this process alone.
    """

    def __init__(self, stack: Stack | None, *, finished: int | None) -> None:
        self.stack = stack
        self.before = None if stack is None else stack.usage
        self.finished = finished

    def calls(self) -> RowCalls | None:
        """Return the requests so far, and the questions that needed none."""
        if self.stack is None or self.before is None:
            return None
        now = self.stack.usage
        new = now.calls - self.before.calls
        questions = new + now.hits - self.before.hits
        if self.finished is not None:
            new = max(new, self.stack.spent.calls - self.finished)
        return RowCalls(new=new, recorded=max(questions - new, 0))

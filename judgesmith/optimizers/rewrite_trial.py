"""What is known of one rewrite of a judge's text."""

from __future__ import annotations

import math
from dataclasses import dataclass

from judgesmith.optimizers.demonstrations import rank_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteTrial:
    """One rewrite of one text, and how far it got.

    Attributes
    ----------
    number : int
        From 0, what the search started from.
    parent : int or None
        Number of the trial whose text was rewritten; None for the start.
    changed, text : str
        Name of the text, and what it became; empty for the start, and for no text at all.
    problem : str
        Why the rewrite was not judged; empty where it was.
    before, after : float
        The objective on the rows that the rewrite was learned from, of the parent and of the
        rewrite; nan where undefined or not judged.
    value : float
        The objective on the rows to choose by; nan where undefined, or not better before.
    n_rows : int
        How many rows to choose by it was judged on: all or none.
    share_scored : float
        Fraction of them that got a score, on the target with the smallest; 0 without any.
    """

    number: int
    parent: int | None = None
    changed: str = ""
    text: str = ""
    problem: str = ""
    before: float = math.nan
    after: float = math.nan
    value: float = math.nan
    n_rows: int = 0
    share_scored: float = 0.0

    @property
    def rank(self) -> tuple[bool, float]:
        """Larger is better, among trials that were judged on the rows to choose by."""
        return rank_of(self.value, self.share_scored)

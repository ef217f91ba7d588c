"""What optimizers tried, and which of two trials is better."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

ENOUGH_SCORED = 0.95
"""A candidate that scores a smaller share of the rows ranks below all that reach it."""


def rank_of(value: float, share_scored: float) -> tuple[bool, float]:
    """Return what is larger for the better of two: scores enough rows, then the objective."""
    return (share_scored >= ENOUGH_SCORED, -math.inf if math.isnan(value) else value)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """One candidate that an optimizer tried, and how well it did.

    Attributes
    ----------
    number : int
        In the order of the search; 0 is mostly the student.
    name : str
        Of a way to combine scores.
    value : float
        The objective; nan where it is undefined or the candidate was not judged.
    n_rows : int
        Rows that it was judged on.
    share_scored : float
        Fraction of these, and of their changed versions, with a score.
    problem : str
        Why the candidate was not judged; empty where it was.
    picked : dict of str to str
        Its configuration: an option by choice.
    against : int or None
        Number of the trial that it was raced against.
    values : dict of str to float
        Each of several objectives, by name.
    violation : float
        By how much it misses the conditions of several objectives.
    n_demonstrations, n_bootstrapped : int
        Demonstrations shown per prompt at most, and how many of these are runs of a judge.
    keys : tuple of str
        The rows that are shown.
    instructions : tuple of str
        Names of the questions with another instruction than the student's.
    parent : int or None
        Number of the trial of which a text was rewritten.
    changed, text : str
        Name of the text that was rewritten, and the rewrite.
    before, after : float
        The objective on the rows that a rewrite was learned from, of the parent and of the rewrite.
    behind, standard_error : float
        How far a way to combine scores lies behind the best, and how sure that is.
    optimism : float
        How much larger the objective was on the rows that were fitted on.
    allowed : bool
        Whether it may be taken.
    n_members : int
        Judges with a weight.

    Examples
    --------
    >>> few, many = (TrialRecord(value=2.0, share_scored=one) for one in (0.9, 1.0))
    >>> many.rank > few.rank
    True
    """

    number: int = 0
    name: str = ""
    value: float = math.nan
    n_rows: int = 0
    share_scored: float = 0.0
    problem: str = ""
    picked: Mapping[str, str] = field(default_factory=dict)
    against: int | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    violation: float = 0.0
    n_demonstrations: int = 0
    n_bootstrapped: int = 0
    keys: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ()
    parent: int | None = None
    changed: str = ""
    text: str = ""
    before: float = math.nan
    after: float = math.nan
    behind: float = math.nan
    standard_error: float = math.nan
    optimism: float = 0.0
    allowed: bool = True
    n_members: int = 0

    @property
    def rank(self) -> tuple[bool, float, int]:
        """Larger is better: scores enough rows, the objective, then fewer demonstrations."""
        return (*rank_of(self.value, self.share_scored), -self.n_demonstrations)

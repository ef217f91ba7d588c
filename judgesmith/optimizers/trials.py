"""What optimizers tried, and which of two trials is better."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

ENOUGH_SCORED = 0.95  # a candidate that scores fewer of the rows ranks below all that reach it


def rank_of(value: float, share_scored: float) -> tuple[bool, float]:
    """Return what is larger for the better of two: scores enough rows, then the objective."""
    return (share_scored >= ENOUGH_SCORED, -math.inf if math.isnan(value) else value)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """One candidate that an optimizer tried, and how well it did.

    Attributes
    ----------
    number, name : int, str
        In the order of the search, 0 is mostly the student; or of a way to combine scores.
    value, values : float, dict of str to float
        The objective; each of several by name. nan where undefined or not judged.
    n_rows, share_scored : int, float
        Rows judged, and the fraction of these, and of their changed versions, with a score.
    problem : str
        Why the candidate was not judged; empty where it was.
    picked : dict of str to str
        Its configuration: an option by choice.
    against, parent : int or None
        Number of the trial that it was raced against, or of which a text was rewritten.
    violation : float
        By how much it misses the conditions of several objectives.
    n_demonstrations, n_bootstrapped, keys : int, int, tuple of str
        Demonstrations per prompt at most, runs of a judge among these, and the rows shown.
    instructions : tuple of str
        Names of the questions with another instruction than the student's.
    changed, text, before, after : str, str, float, float
        The text that was rewritten, the rewrite, and the objective on the rows that it was learned
        from, of the parent and of the rewrite.
    behind, standard_error, optimism : float
        How far a way lies behind the best, how sure that is, and how much larger the objective was
        on the rows that were fitted on.
    allowed, n_members : bool, int
        Whether a way may be taken; judges with a weight.

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

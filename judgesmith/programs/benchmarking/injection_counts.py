"""What became of the errors that were to be put in, counted for the report."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Counts:
    """How often what happened while errors were put in.

    Attributes
    ----------
    wanted : int
        Targets that were to be made: texts with errors at once, or steps of sequences.
    made : int
        How many of them were.
    asked : int
        Questions to the model; none by rule.
    retried : int
        How many of these repeated an earlier one, with what was wrong with the answer.
    faults : Counter of str
        Answers that could not be used, by what was wrong with them.
    dropped : Counter of str
        Targets that were not made, by the last reason.
    rebound : int
        Errors by rule that are bound to another sub-aspect than the one that was drawn, which had
        no room left.
    short : int
        Sequences that ended before the step they were to reach.
    lost : int
        Sequences of which nothing but the reference was left.

    Examples
    --------
    >>> counts = Counts()
    >>> counts.fault("unchanged")
    >>> dict(counts.faults)
    {'unchanged': 1}
    """

    wanted: int = 0
    made: int = 0
    asked: int = 0
    retried: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    rebound: int = 0
    short: int = 0
    lost: int = 0

    def fault(self, reason: str) -> None:
        """Count an answer that could not be used."""
        self.faults[reason] += 1

    def question(self, attempt: int) -> None:
        """Count a question, the first about something or a later one."""
        self.asked += 1
        self.retried += attempt > 0

    def outcome(self, dropped: str = "") -> None:
        """Count a target that was made, or why it was not."""
        self.wanted += 1
        if dropped:
            self.dropped[dropped] += 1
        else:
            self.made += 1

    def sequence(self, n_targets: int, n_wanted: int) -> None:
        """Count a sequence by how many targets it has, the reference among them."""
        self.short += n_targets < n_wanted
        self.lost += n_targets < 2

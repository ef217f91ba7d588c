"""What a scoring run wrote, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from judgesmith.experiments.scoring.lines import Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What a scoring run wrote.

    Attributes
    ----------
    n_rows, n_unscored : int
        Rows written, and those among them without a score.
    reasons : dict of str to int
        Why rows have no score, with how many, most frequent first.
    stated : dict of str to int
        Why scores are the ones that the model stated although probabilities were to weigh them,
        with the number of such rows, most frequent first.
    sampled : dict of str to int
        How many samples verdicts rest on that were to be probabilities, and why, likewise.
    notes : tuple of str
        What was assumed about the columns of the inputs and converted.
    """

    n_rows: int
    n_unscored: int
    reasons: Mapping[str, int]
    stated: Mapping[str, int] = field(default_factory=dict)
    sampled: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(kw_only=True)
class Tally:
    """The counts of a scoring run while it goes on; ``n_again`` rows are worth another try.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.count({"problem": "cut off"})
    >>> tally.scored().n_rows, tally.scored().reasons
    (1, {'cut off': 1})
    """

    n_rows: int = 0
    n_again: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    stated: Counter[str] = field(default_factory=Counter)
    sampled: Counter[str] = field(default_factory=Counter)

    def count(self, note: Note | None, n: int = 1) -> None:
        """Count rows about which there is this to say."""
        self.n_rows += n
        if note is None:
            return
        if (problem := note.get("problem")) is not None:
            self.reasons[problem] += n
        if (reason := note.get("stated")) is not None:
            self.stated[reason] += n
        if (reason := note.get("sampled")) is not None:
            self.sampled[reason] += n
        self.n_again += n * bool(note.get("again"))

    def add(self, other: Tally) -> None:
        """Count what another tally counted."""
        self.n_rows += other.n_rows
        self.n_again += other.n_again
        self.reasons.update(other.reasons)
        self.stated.update(other.stated)
        self.sampled.update(other.sampled)

    def scored(self, notes: tuple[str, ...] = ()) -> Scored:
        """Return the counts as they are now."""
        return Scored(
            n_rows=self.n_rows,
            n_unscored=self.reasons.total(),
            reasons=dict(self.reasons.most_common()),
            stated=dict(self.stated.most_common()),
            sampled=dict(self.sampled.most_common()),
            notes=notes,
        )

"""What a scoring run wrote, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from judgesmith.experiments.scoring.lines import Note
from judgesmith.signatures.judgement import Cause, Reason, by_code, by_sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What a scoring run wrote.

    Attributes
    ----------
    n_rows, n_unscored : int
        Rows written, and those among them without a score.
    causes : dict of Cause to int
        Why rows have no score, code and sentence, with how many, most frequent first.
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
    causes: Mapping[Cause, int]
    stated: Mapping[str, int] = field(default_factory=dict)
    sampled: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def reasons(self) -> dict[str, int]:
        """Why rows have no score in sentences, with how many, most frequent first."""
        return by_sentence(self.causes)

    def unscored_dict(self) -> dict[str, dict[str, int]]:
        """Return why rows have no score ready for JSON, by sentence and by code."""
        return {"problems": self.reasons, "reasons": by_code(self.causes)}


@dataclass(kw_only=True)
class Tally:
    """The counts of a scoring run while it goes on; ``n_again`` rows are worth another try.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.count({"problem": "no end", "reason": "cut_off"})
    >>> tally.scored().n_rows, tally.scored().unscored_dict()
    (1, {'problems': {'no end': 1}, 'reasons': {'cut_off': 1}})
    """

    n_rows: int = 0
    n_again: int = 0
    causes: Counter[Cause] = field(default_factory=Counter)
    stated: Counter[str] = field(default_factory=Counter)
    sampled: Counter[str] = field(default_factory=Counter)

    def count(self, note: Note | None, n: int = 1) -> None:
        """Count rows about which there is this to say."""
        self.n_rows += n
        if note is None:
            return
        if (problem := note.get("problem")) is not None:
            self.causes[Cause(Reason.read(note.get("reason")), problem)] += n
        if (reason := note.get("stated")) is not None:
            self.stated[reason] += n
        if (reason := note.get("sampled")) is not None:
            self.sampled[reason] += n
        self.n_again += n * bool(note.get("again"))

    def add(self, other: Tally) -> None:
        """Count what another tally counted."""
        self.n_rows += other.n_rows
        self.n_again += other.n_again
        self.causes.update(other.causes)
        self.stated.update(other.stated)
        self.sampled.update(other.sampled)

    def scored(self, notes: tuple[str, ...] = ()) -> Scored:
        """Return the counts as they are now."""
        return Scored(
            n_rows=self.n_rows,
            n_unscored=self.causes.total(),
            causes=dict(self.causes.most_common()),
            stated=dict(self.stated.most_common()),
            sampled=dict(self.sampled.most_common()),
            notes=notes,
        )

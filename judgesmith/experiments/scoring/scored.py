"""What a scoring run wrote, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from judgesmith.experiments.stated_scores import sampled_reason, stated_reason
from judgesmith.signatures import Judgement


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
    """The counts of a scoring run while it goes on.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.add(Judgement.unscored("cut off"))
    >>> tally.scored().n_rows, tally.scored().reasons
    (1, {'cut off': 1})
    """

    n_rows: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    stated: Counter[str] = field(default_factory=Counter)
    sampled: Counter[str] = field(default_factory=Counter)

    def add(self, judgement: Judgement) -> None:
        """Count one more row."""
        self.n_rows += 1
        if judgement.problem is not None:
            self.reasons[judgement.problem] += 1
        if (reason := stated_reason(judgement)) is not None:
            self.stated[reason] += 1
        if (reason := sampled_reason(judgement)) is not None:
            self.sampled[reason] += 1

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

"""A search by races whose winner replaces the start only if luck does not explain its gain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from judgesmith.optimizers.family_test import Confirm, Confirmation, taken
from judgesmith.optimizers.racing_search import Contender, OneCandidate, RacingSearch
from judgesmith.optimizers.table import JudgedTable


@dataclass(kw_only=True, eq=False)
class ConfirmedSearch(RacingSearch[OneCandidate]):
    """Proposes, races and remembers; holds all that were raced against the start at the end.

    That asks nothing, so that a budget may end the search at any moment: those that were raced
    until then are held against the start. Who fell behind counts among those compared, on the rows
    it was judged on.

    Attributes
    ----------
    rule : Confirm or None
        Who passes; None takes the best in the race.
    confirmation : Confirmation or None
        Of the best; None where nobody was better than the start, or without a rule.
    taken : int
        Number of the trial that was taken, 0 for the start.
    """

    rule: Confirm | None
    confirmation: Confirmation | None = None
    taken: int = 0
    candidates: dict[int, OneCandidate] = field(default_factory=dict)
    tables: dict[int, JudgedTable] = field(default_factory=dict)

    def run(self, start: OneCandidate, known: Iterable[str] = ()) -> OneCandidate:
        """Return the best one that passes, or ``start``.

        Parameters
        ----------
        start : Candidate
            As for ``RacingSearch``.
        known : iterable of str
            As for ``RacingSearch``.
        """
        super().run(start, known)
        self.decide(start)
        return self.candidates.get(self.taken, start)

    def decide(self, start: OneCandidate) -> None:
        """Hold all that were raced against the start, by the rule."""
        before: dict[int, JudgedTable] = {}  # what the start says of the first so many rows
        for n_rows in {one.n_rows for one in self.trials.values()}:
            rows = np.sort(self.order[:n_rows]).tolist()
            before[n_rows] = start.table(rows).standing_for(len(self.order))
        self.taken, self.confirmation = taken(
            self.rule,
            self.objective,
            {n: (table, before[self.trials[n].n_rows]) for n, table in self.tables.items()},
            {n: one.rank for n, one in self.trials.items() if one.n_rows == len(self.order)},
            seed=self.seed,
        )

    def _note(self, one: Contender[OneCandidate], table: JudgedTable) -> None:
        self.candidates[one.number] = one.candidate
        self.tables[one.number] = table
        super()._note(one, table)

"""A search that tries many configurations on few rows before it judges any on all of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from judgesmith.optimizers.confirmed_search import ConfirmedSearch
from judgesmith.optimizers.demonstrations import ENOUGH_SCORED
from judgesmith.optimizers.eliminating import Elimination, KeepAll, Look
from judgesmith.optimizers.racing_search import (
    FEWEST_ROWS,
    Contender,
    OneCandidate,
    OutOfBudget,
)
from judgesmith.optimizers.screening import Screen, Screened, outlook, promising
from judgesmith.optimizers.table import JudgedTable
from judgesmith.signatures.space import Picked


@dataclass(kw_only=True, eq=False)
class ScreenedSearch(ConfirmedSearch[OneCandidate]):
    """Screens all configurations in batches, then races the most promising ones once.

    What is proposed, and who goes on, is decided by what all values so far say about options. The
    best of those that reach the end is the best on all rows, as in every race; the study is told
    of everybody when the race is over. A budget that ends the screening leaves the start.

    Attributes
    ----------
    screen : Screen
        On which parts of the rows, and how many go on. It stands in for ``elimination`` and
        ``looks``; the sampler proposes only where too little is known to learn from.
    own : dict of str to str, or None
        The configuration that the start is, where that is known.
    seen : dict of int to Screened
        What is known so far, by number.
    """

    screen: Screen
    elimination: Elimination = field(default_factory=KeepAll)
    own: Picked | None = None
    seen: dict[int, Screened] = field(default_factory=dict)

    def run(self, start: OneCandidate, known: Iterable[str] = ()) -> OneCandidate:
        """Return the best one that passes, or ``start``.

        Parameters
        ----------
        start : Candidate
            As for ``RacingSearch``.
        known : iterable of str
            As for ``RacingSearch``; the start is learned from as the first of these.
        """
        ids = list(known)
        self.own = json.loads(ids[0]) if ids else None
        return super().run(start, ids)

    @property
    def stops(self) -> list[int]:
        """After how many rows contenders are compared, rising to all of them."""
        return self.screen.stops(len(self.order), FEWEST_ROWS)

    def _batches(
        self, start: Contender[OneCandidate], tried: set[str]
    ) -> Iterator[list[Contender[OneCandidate]]]:
        """Yield everybody at once, when all were judged on the first part of the rows."""
        if self.own is not None:
            self.seen[0] = Screened(picked=self.own, value=self.trials[0].value, share=1.0)
        screened: list[Contender[OneCandidate]] = []
        n_rows = self.stops[0]
        try:
            for batch in super()._batches(start, tried):
                self._share([start, *batch], n_rows)
                whole = self._table(start, n_rows)
                self._see(start, whole, batch, [self._table(one, n_rows) for one in batch])
                screened += batch
        except OutOfBudget:
            self.complete = False  # those that were screened are noted, on the way to the end
        if screened:
            yield screened

    def _proposed(self, first: int, tried: set[str]) -> list[Contender[OneCandidate]]:
        given = self.proposer
        picked = promising(
            given.space,
            list(self.seen.values()),
            tried,
            min(self.batch, self.n_trials - first),
            rng=np.random.default_rng([self.seed, 7, first]),
        )
        had_their_turn: list[Picked] = [{}] * (first - len(given.first))
        self.proposer = replace(given, first=[*given.first, *had_their_turn, *picked])
        try:
            return super()._proposed(first, tried)
        finally:
            self.proposer = given

    def _staying(
        self,
        look: Look,
        leader: Contender[OneCandidate],
        racing: Sequence[Contender[OneCandidate]],
    ) -> set[int]:
        """Return the places of the most promising; of those without a value only if there is room.

        Place 0 in the look's tables is the leader's.
        """
        self._see(leader, look.tables[0], racing, look.tables[1:])
        means = outlook(
            self.proposer.space, list(self.seen.values()), [one.picked for one in racing]
        ).means
        defined = [np.isfinite(self.seen[one.number].value) for one in racing]
        ranking = sorted(
            range(len(racing)), key=lambda place: (defined[place], means[place]), reverse=True
        )
        n_staying = self.screen.n_staying(look.n_looks - look.number)
        return {place + 1 for place in ranking[:n_staying]}

    def _see(
        self,
        leader: Contender[OneCandidate],
        leaders: JudgedTable,
        several: Sequence[Contender[OneCandidate]],
        tables: Sequence[JudgedTable],
    ) -> None:
        for one, table in zip(several, tables, strict=True):
            enough = table.least_scored >= ENOUGH_SCORED - 1 / one.n_rows  # one may be bad luck
            self.seen[one.number] = Screened(
                picked=one.picked,
                value=self._expected(table, leader, leaders) if enough else float("nan"),
                share=one.n_rows / len(self.order),
            )

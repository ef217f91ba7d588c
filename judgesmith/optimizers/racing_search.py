"""A search by races: proposals are judged on growing parts of the same rows as the best so far.

It knows nothing of how a candidate judges, so that the same search runs on judges, on recorded
answers and on simulations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np

from judgesmith.optimizers.demonstrations import ENOUGH_SCORED
from judgesmith.optimizers.eliminating import Elimination, Look
from judgesmith.optimizers.objectives import Objective
from judgesmith.optimizers.proposing import Proposer, configuration_id
from judgesmith.optimizers.splitting import IntArray
from judgesmith.optimizers.table import FloatArray, JudgedTable, Labels

LOOKS = (0.15, 0.3, 0.6, 1.0)
"""Shares of the rows at which contenders are compared."""


class OutOfBudget(Exception):  # noqa: N818 - says what happened
    """The budget left rows of a candidate unasked."""


class Candidate(Protocol):
    """Whoever can be judged by what it says of rows."""

    def table(self, rows: Sequence[int]) -> JudgedTable:
        """Return what it says of the rows at these places, beside what people said.

        Raises
        ------
        OutOfBudget
            If some could not be asked.
        """


OneCandidate = TypeVar("OneCandidate", bound=Candidate)


@dataclass(frozen=True, slots=True, kw_only=True)
class RacedTrial:
    """One configuration, how far it got, and how well it did.

    Attributes
    ----------
    number : int
        From 0, what the search started from.
    picked : dict of str to str
        The option of every choice that arises; empty for the start.
    value : float
        The objective on the rows it was judged on, nan where undefined.
    n_rows : int
        How many these were; all of them, unless it fell behind.
    share_scored : float
        Fraction of these rows that got a score, on the target with the smallest.
    """

    number: int
    picked: Mapping[str, str]
    value: float
    n_rows: int
    share_scored: float

    @property
    def rank(self) -> tuple[bool, float]:
        """Larger is better, among trials on the same rows."""
        value = -math.inf if math.isnan(self.value) else self.value
        return (self.share_scored >= ENOUGH_SCORED, value)


@dataclass(kw_only=True, eq=False)
class _Contender(Generic[OneCandidate]):
    number: int
    picked: Mapping[str, str]
    candidate: OneCandidate
    trial: int | None = None
    n_rows: int = 0


@dataclass(kw_only=True, eq=False)
class RacingSearch(Generic[OneCandidate]):
    """Proposes, races and remembers.

    Attributes
    ----------
    proposer : Proposer
        Where configurations come from.
    make : callable
        From a configuration to a candidate.
    objective : Objective
        What is made as large as possible.
    order : array of int
        Places of all rows, in the order in which they are judged.
    elimination : Elimination
        Who goes on.
    looks : sequence of float
        Shares of the rows at which contenders are compared, rising to 1.
    n_trials, batch : int
        Configurations in all besides the start, and in one race.
    seed : int
        Of the resamples.
    trials : dict of int to RacedTrial
        What was tried, by number.
    n_judged : int
        Rows that candidates were asked about, of all candidates together.
    """

    proposer: Proposer
    make: Callable[[Mapping[str, str]], OneCandidate]
    objective: Objective
    order: IntArray
    elimination: Elimination
    looks: Sequence[float] = LOOKS
    n_trials: int
    batch: int
    seed: int
    trials: dict[int, RacedTrial] = field(default_factory=dict)
    n_judged: int = 0

    def run(self, start: OneCandidate) -> OneCandidate:
        """Return the best candidate among all that were judged on all rows, ``start`` included.

        Where the budget ends the search, that is the best of the races that were finished.
        """
        leader = _Contender(number=0, picked={}, candidate=start)
        tried: set[str] = set()
        try:
            self._note(leader, self._table(leader, len(self.order)))
            for first in range(0, self.n_trials, self.batch):
                batch = self._proposed(first, tried)
                if not batch:
                    break
                leader = self._raced(leader, batch)
        except OutOfBudget:
            pass
        return leader.candidate

    def _proposed(self, first: int, tried: set[str]) -> list[_Contender[OneCandidate]]:
        proposals = []
        for k in range(first, min(first + self.batch, self.n_trials)):
            found = self.proposer.propose(k, tried)
            if found is None:
                break
            tried.add(configuration_id(found[1]))
            proposals.append((k, *found))
        # All are proposed before any is judged: what comes of one must not guide its neighbours.
        return [
            _Contender(number=k + 1, picked=picked, candidate=self.make(picked), trial=trial)
            for k, trial, picked in proposals
        ]

    def _raced(
        self, leader: _Contender[OneCandidate], batch: Sequence[_Contender[OneCandidate]]
    ) -> _Contender[OneCandidate]:
        """Judge a batch as far as its members keep up with the best; return the new leader."""
        n_looks = len(self.looks)
        racing = [leader, *batch]
        for number, share in enumerate(self.looks, start=1):
            n_rows = math.ceil(share * len(self.order))
            tables = [self._table(one, n_rows) for one in racing]
            look = Look(
                tables=tables,
                objective=self.objective,
                number=number,
                n_looks=n_looks,
                rng=np.random.default_rng([self.seed, 4, batch[0].number, number]),
            )
            staying = set(range(len(racing)) if number == n_looks else self.elimination(look))
            for place, one in enumerate(racing[1:], start=1):
                if place not in staying or number == n_looks:
                    self._note(one, tables[place])
                    self._tell(one, tables[place], leader, tables[0])
            # The leader stays, whoever leads on these rows: its value on all rows is known.
            racing = [one for place, one in enumerate(racing) if place in staying or not place]
        return max(racing, key=lambda one: self.trials[one.number].rank)

    def _tell(
        self,
        one: _Contender[OneCandidate],
        table: JudgedTable,
        leader: _Contender[OneCandidate],
        leaders: JudgedTable,
    ) -> None:
        """Tell the study what a contender would come to if it kept its distance to the leader.

        A value on a part of the rows cannot be compared with one on others; the distance can.
        """
        if one.trial is not None:
            apart = self.objective.value(table) - self.objective.value(leaders)
            self.proposer.tell(one.trial, self.trials[leader.number].value + apart)

    def _table(self, one: _Contender[OneCandidate], n_rows: int) -> JudgedTable:
        self.n_judged += max(n_rows - one.n_rows, 0)
        one.n_rows = max(one.n_rows, n_rows)
        return one.candidate.table(np.sort(self.order[:n_rows]).tolist())

    def _note(self, one: _Contender[OneCandidate], table: JudgedTable) -> None:
        self.trials[one.number] = RacedTrial(
            number=one.number,
            picked=dict(one.picked),
            value=self.objective.value(table),
            n_rows=one.n_rows,
            share_scored=min(part.share_scored for part in table.parts),
        )


def stratified_order(human: FloatArray, groups: Labels, rng: np.random.Generator) -> IntArray:
    """Return the rows in an order of which every beginning spans the range of human scores.

    Sources stay together and are put in order of their mean score; the order takes the middle of
    each half of it, of each quarter, and so on, at a random offset.

    Parameters
    ----------
    human : array, shape (n_rows,)
        What people said.
    groups : array, shape (n_rows,)
        Rows of one source have equal labels.
    rng : Generator
        Breaks ties and draws the offset.

    Examples
    --------
    >>> human = np.arange(8.0)
    >>> order = stratified_order(human, np.arange(8), np.random.default_rng(0))
    >>> sorted(order.tolist()) == list(range(8)), abs(human[order[0]] - human[order[1]]) >= 3
    (True, True)
    """
    names, codes = np.unique(groups, return_inverse=True)
    n = len(names)
    means = np.bincount(codes, weights=human) / np.bincount(codes)
    ranked = np.lexsort((rng.permutation(n), means))
    # The van der Corput sequence fills the unit interval evenly, at every length.
    sequence = (np.asarray([_mirrored(place) for place in range(2 * n)]) + rng.random()) % 1.0
    visited = dict.fromkeys((sequence * n).astype(np.intp).tolist() + list(range(n)))
    turn = np.empty(n, dtype=np.intp)
    turn[ranked[list(visited)]] = np.arange(n)
    return np.asarray(np.argsort(turn[codes], kind="stable"), dtype=np.intp)


def _mirrored(number: int) -> float:
    """Return the binary digits of a number mirrored at the point, from 0 to below 1."""
    value, share = 0.0, 0.5
    while number:
        value += share * (number & 1)
        number >>= 1
        share /= 2
    return value

"""A search by races: proposals are judged on growing parts of the same rows as the best so far.

It knows nothing of how a candidate judges, so that the same search runs on judges, on recorded
answers and on simulations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np

from judgesmith.optimizers.demonstrations import ENOUGH_SCORED, rank_of
from judgesmith.optimizers.eliminating import Elimination, Look
from judgesmith.optimizers.objectives import Objective
from judgesmith.optimizers.proposing import Proposer, configuration_id
from judgesmith.optimizers.splitting import IntArray
from judgesmith.optimizers.table import FloatArray, JudgedTable, Labels
from judgesmith.optimizers.together import ByItself, Together

LOOKS = (0.15, 0.3, 0.6, 1.0)
"""Shares of the rows at which contenders are compared."""

FEWEST_ROWS = 10
"""Nobody falls behind on fewer rows than that: agreement on so few says nothing."""


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
        The objective on the rows it was judged on, nan where undefined. Discernment on a part of
        the rows is taken times as many as it is a part of, as it grows with their number.
    n_rows : int
        How many these were; all of them, unless it fell behind.
    share_scored : float
        Fraction of these rows that got a score, on the target with the smallest.
    against : int or None
        Number of the trial that led when this one was raced; None for the start.
    """

    number: int
    picked: Mapping[str, str]
    value: float
    n_rows: int
    share_scored: float
    against: int | None = None

    @property
    def rank(self) -> tuple[bool, float]:
        """Larger is better, among trials on the same rows."""
        return rank_of(self.value, self.share_scored)


@dataclass(kw_only=True, eq=False)
class Contender(Generic[OneCandidate]):
    """A candidate in a search: its trial here and in the study, its rival, rows judged so far."""

    number: int
    picked: Mapping[str, str]
    candidate: OneCandidate
    trial: int | None = None
    against: int | None = None
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
    noted : callable or None
        Told of every trial as soon as it is known how well it did.
    together : Together
        Told what is about to be asked, where several workers share it out.
    trials : dict of int to RacedTrial
        What was tried, by number.
    complete : bool
        False where the budget ended the search.
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
    noted: Callable[[RacedTrial], None] | None = None
    together: Together[OneCandidate] = field(default_factory=ByItself)
    trials: dict[int, RacedTrial] = field(default_factory=dict)
    complete: bool = True

    def run(self, start: OneCandidate, known: Iterable[str] = ()) -> OneCandidate:
        """Return the best candidate among all that were judged on all rows, ``start`` included.

        Where the budget ends the search, that is the best until then.

        Parameters
        ----------
        start : Candidate
            The first leader.
        known : iterable of str
            ``configuration_id`` of what ``start`` is, so that it is not tried again.
        """
        best = Contender(number=0, picked={}, candidate=start)
        tried = set(known)
        try:
            self._share([best], len(self.order))
            self._note(best, self._table(best, len(self.order)))
            for batch in self._batches(best, tried):
                for one in self._raced(best, batch):
                    best = max(best, one, key=lambda one: self.trials[one.number].rank)
        except OutOfBudget:
            self.complete = False
        return best.candidate

    @property
    def n_judged(self) -> int:
        """Rows that those who were tried were judged on, of all together."""
        return sum(one.n_rows for one in self.trials.values())

    @property
    def stops(self) -> list[int]:
        """After how many rows contenders are compared, rising to all of them."""
        n = len(self.order)
        parts = {math.ceil(share * n) for share in self.looks}
        return [*sorted(rows for rows in parts if FEWEST_ROWS <= rows < n), n]

    def _batches(
        self, start: Contender[OneCandidate], tried: set[str]
    ) -> Iterator[list[Contender[OneCandidate]]]:
        """Yield those that race each other, one race after the other."""
        for first in range(0, self.n_trials, self.batch):
            batch = self._proposed(first, tried)
            if not batch:
                return
            yield batch

    def _proposed(self, first: int, tried: set[str]) -> list[Contender[OneCandidate]]:
        proposals = []
        end = min(first + self.batch, self.n_trials)
        with self.together.alone(f"proposals {first} to {end - 1}"):
            for k in range(first, end):
                found = self.proposer.propose(k, tried)
                if found is None:
                    break
                tried.add(configuration_id(found[1]))
                proposals.append((k, *found))
        self.together.made([picked for _, _, picked in proposals])
        # All are proposed before any is judged: what comes of one must not guide its neighbours.
        return [
            Contender(number=k + 1, picked=picked, candidate=self.make(picked), trial=trial)
            for k, trial, picked in proposals
        ]

    def _raced(
        self, leader: Contender[OneCandidate], batch: Sequence[Contender[OneCandidate]]
    ) -> Iterator[Contender[OneCandidate]]:
        """Judge a batch as far as its members keep up; yield those that reach the end."""
        stops = self.stops
        racing = list(batch)
        for one in batch:
            one.against = leader.number
        for number, n_rows in enumerate(stops[:-1], start=1):
            # The leader is in every look, whoever leads on these rows: it was judged on all.
            self._share([leader, *racing], n_rows)
            tables = [self._table(one, n_rows) for one in (leader, *racing)]
            look = Look(
                tables=tables,
                objective=self.objective,
                number=number,
                n_looks=len(stops),
                rng=np.random.default_rng([self.seed, 4, batch[0].number, number]),
            )
            staying = self._staying(look, leader, racing)
            for place, one in enumerate(racing, start=1):
                if place not in staying:
                    self._finish(one, tables[place], leader, tables[0])
            racing = [one for place, one in enumerate(racing, start=1) if place in staying]
        self._share([leader, *racing], stops[-1])
        whole = self._table(leader, stops[-1])
        for one in racing:
            self._finish(one, self._table(one, stops[-1]), leader, whole)
            yield one

    def _staying(
        self,
        look: Look,
        leader: Contender[OneCandidate],
        racing: Sequence[Contender[OneCandidate]],
    ) -> set[int]:
        """Return the places in the look's tables of those who stay; place 0 is the leader's."""
        return set(self.elimination(look))

    def _finish(
        self,
        one: Contender[OneCandidate],
        table: JudgedTable,
        leader: Contender[OneCandidate],
        leaders: JudgedTable,
    ) -> None:
        self._note(one, table)
        self._tell(one, table, leader, leaders)

    def _tell(
        self,
        one: Contender[OneCandidate],
        table: JudgedTable,
        leader: Contender[OneCandidate],
        leaders: JudgedTable,
    ) -> None:
        """Tell the study how well a contender did, or that it fell behind.

        One that fell behind is pruned, with its value on the rows it was judged on, and with what
        it would come to if it kept its distance to the leader: a value on a part of the rows
        cannot be compared with one on others; the distance can. One that leaves too many rows
        without a score has no value, however well it did on the others. Where the leader has none,
        a contender's own value is the best there is.
        """
        if one.trial is None:
            return
        value = self.objective.value(table)
        enough = self.trials[one.number].share_scored >= ENOUGH_SCORED
        if not enough:
            self.proposer.tell(one.trial, math.nan)
        elif one.n_rows < len(self.order):
            expected = self._expected(table, leader, leaders)
            self.proposer.prune(one.trial, [value], [expected], one.n_rows)
        else:
            self.proposer.tell(one.trial, value)

    def _expected(
        self, table: JudgedTable, leader: Contender[OneCandidate], leaders: JudgedTable
    ) -> float:
        value = self.objective.value(table)
        lead = self.trials[leader.number].value
        apart = value - self.objective.value(leaders)
        return value if math.isnan(lead + apart) else lead + apart

    def _share(self, several: Sequence[Contender[OneCandidate]], n_rows: int) -> None:
        rows = np.sort(self.order[:n_rows]).tolist()
        self.together.judged([one.candidate for one in several], rows)

    def _table(self, one: Contender[OneCandidate], n_rows: int) -> JudgedTable:
        table = one.candidate.table(np.sort(self.order[:n_rows]).tolist())
        one.n_rows = max(one.n_rows, n_rows)
        return table.standing_for(len(self.order))

    def _note(self, one: Contender[OneCandidate], table: JudgedTable) -> None:
        trial = RacedTrial(
            number=one.number,
            picked=dict(one.picked),
            value=self.objective.value(table),
            n_rows=one.n_rows,
            share_scored=table.least_scored,
            against=one.against,
        )
        self.trials[one.number] = trial
        if self.noted is not None:
            self.noted(trial)


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
    >>> sorted(order.tolist()) == list(range(8)), bool(abs(human[order[0]] - human[order[1]]) >= 3)
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

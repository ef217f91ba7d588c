"""A search by races for the front of several objectives: nobody leads, and some are unbeaten."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from judgesmith.optimizers.demonstrations import ENOUGH_SCORED
from judgesmith.optimizers.dominating import FrontElimination, FrontLook, StayUnlessDominated
from judgesmith.optimizers.pareto import ParetoFront
from judgesmith.optimizers.racing_search import (
    Contender,
    OneCandidate,
    OutOfBudget,
    RacedTrial,
    RacingSearch,
)
from judgesmith.optimizers.several_objectives import SeveralObjectives
from judgesmith.optimizers.table import JudgedTable


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontTrial(RacedTrial):
    """One configuration of a search for a front.

    ``value`` is that of the first objective that looks at scores; without one, of the first.

    Attributes
    ----------
    values : dict of str to float
        Every objective on the rows it was judged on, without conditions, nan where undefined.
    violation : float
        By how much the conditions are missed there; 0 where they are met or there are none.
    """

    values: Mapping[str, float]
    violation: float = 0.0


@dataclass(kw_only=True, eq=False)
class FrontSearch(RacingSearch[OneCandidate]):
    """Proposes, races against the present front, and remembers.

    The front is made of those that were judged on all rows, leave at most 5 % of them without a
    score, and have every objective defined; of several with equal values the first stands for all.

    Attributes
    ----------
    objectives : SeveralObjectives
        What is made as large as possible.
    dominance : FrontElimination
        Who goes on in a race.
    members : list of Contender
        The front so far, in the order in which they were tried.
    """

    objectives: SeveralObjectives
    dominance: FrontElimination = StayUnlessDominated()  # noqa: RUF009 - a frozen record
    members: list[Contender[OneCandidate]] = field(default_factory=list)

    def run(self, start: OneCandidate, known: Iterable[str] = ()) -> OneCandidate:
        """Return the candidate at the knee of the front; ``start`` where nobody is on it.

        Where the budget ends the search, the front is that of all judged on all rows until then.

        Parameters
        ----------
        start : Candidate
            As for ``RacingSearch``.
        known : iterable of str
            As for ``RacingSearch``.
        """
        first = Contender(number=0, picked={}, candidate=start)
        whole: list[Contender[OneCandidate]] = []
        tried = set(known)
        try:
            self._share([first], len(self.order))
            self._note(first, self._table(first, len(self.order)))
            whole.append(first)
            for k in range(0, self.n_trials, self.batch):
                self._settle(whole)
                batch = self._proposed(k, tried)
                if not batch:
                    break
                for one in self._raced(self.knee or first, batch):
                    whole.append(one)  # noqa: PERF402 - the budget may end in between
        except OutOfBudget:
            self.complete = False
        self._settle(whole)
        return (self.knee or first).candidate

    @property
    def knee(self) -> Contender[OneCandidate] | None:
        """Who is at the knee of the front so far; None on an empty one."""
        trials = [self._trial_of(one) for one in self.members]
        place = self._front_of(trials).knee if trials else None
        return None if place is None else self.members[place]

    def _settle(self, whole: Sequence[Contender[OneCandidate]]) -> None:
        """Take as members those of the front of all that were judged on all rows."""
        trials = [self._trial_of(one) for one in whole]
        places = self._front_of(trials).places if trials else ()
        kept = {tuple(trials[place].values.values()): place for place in reversed(places)}
        self.members = [whole[place] for place in sorted(kept.values())]

    def _front_of(self, trials: Sequence[FrontTrial]) -> ParetoFront:
        values = [
            tuple(one.values.values())
            if one.share_scored >= ENOUGH_SCORED
            else (math.nan,) * len(one.values)
            for one in trials
        ]
        return self.objectives.front(values, [one.violation for one in trials])

    def _raced(
        self, leader: Contender[OneCandidate], batch: Sequence[Contender[OneCandidate]]
    ) -> Iterator[Contender[OneCandidate]]:
        """Judge a batch as far as no member beats it; yield those that reach the end.

        ``leader`` is whom distances are measured to: the knee.
        """
        stops = self.stops
        racing = list(batch)
        meets = [self._trial_of(one).violation == 0 for one in self.members]
        for one in batch:
            one.against = leader.number
        for number, n_rows in enumerate(stops[:-1], start=1):
            self._share(racing, n_rows)  # the members were judged on all rows
            tables = [self._table(one, n_rows) for one in racing]
            look = FrontLook(
                members=[self._table(one, n_rows) for one in self.members],
                meets=meets,
                contenders=tables,
                objectives=self.objectives,
                n_looks=len(stops),
                rng=np.random.default_rng([self.seed, 4, batch[0].number, number]),
            )
            staying = set(self.dominance(look))
            leaders = self._table(leader, n_rows)
            for place, one in enumerate(racing):
                if place not in staying:
                    self._finish(one, tables[place], leader, leaders)
            racing = [one for place, one in enumerate(racing) if place in staying]
        self._share(racing, stops[-1])
        whole = self._table(leader, stops[-1])
        for one in racing:
            self._finish(one, self._table(one, stops[-1]), leader, whole)
            yield one

    def _tell(
        self,
        one: Contender[OneCandidate],
        table: JudgedTable,
        leader: Contender[OneCandidate],
        leaders: JudgedTable,
    ) -> None:
        """Tell the study how well a contender did on every objective, or that it was beaten.

        One that was beaten is pruned, with what its distance to the knee would come to.
        """
        if one.trial is None:
            return
        values = [objective.value(table) for objective in self.objectives.each]
        enough = self.trials[one.number].share_scored >= ENOUGH_SCORED
        if not enough or one.n_rows == len(self.order):
            self.proposer.tell(one.trial, *(values if enough else (math.nan,) * len(values)))
            return
        whole = self._table(leader, len(self.order))
        expected = []
        for objective, value in zip(self.objectives.each, values, strict=True):
            apart = value - objective.value(leaders)
            moved = objective.value(whole) + apart
            expected.append(value if math.isnan(moved) else moved)
        self.proposer.prune(one.trial, values, expected, one.n_rows)

    def _note(self, one: Contender[OneCandidate], table: JudgedTable) -> None:
        values = self.objectives.values(table)
        trial = FrontTrial(
            number=one.number,
            picked=dict(one.picked),
            value=values[self.objectives.leading_place],
            values=dict(zip(self.objectives.names, values, strict=True)),
            violation=self.objectives.violation(table),
            n_rows=one.n_rows,
            share_scored=table.least_scored,
            against=one.against,
        )
        self.trials[one.number] = trial
        if self.noted is not None:
            self.noted(trial)

    def _trial_of(self, one: Contender[OneCandidate]) -> FrontTrial:
        trial = self.trials[one.number]
        assert isinstance(trial, FrontTrial)
        return trial

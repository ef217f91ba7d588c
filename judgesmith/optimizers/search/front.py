"""A search by races for the front of several objectives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.pareto import ParetoFront, SeveralObjectives
from judgesmith.optimizers.predictions import PredictionTable
from judgesmith.optimizers.search.racing import (
    Contender,
    Elimination,
    NoElimination,
    OneCandidate,
    OutOfBudget,
    RacingSearch,
)
from judgesmith.optimizers.trials import ENOUGH_SCORED, TrialRecord


@dataclass(frozen=True, kw_only=True, eq=False)
class FrontStage:
    """What is known of contenders and of the present front at one point of a race."""

    members: Sequence[PredictionTable]
    meets: Sequence[bool]
    contenders: Sequence[PredictionTable]
    objectives: SeveralObjectives
    n_looks: int
    rng: np.random.Generator


class FrontElimination(Protocol):
    """Decides who stays in a race for several objectives."""

    def __call__(self, look: FrontStage) -> Sequence[int]:
        """Return the places in ``look.contenders`` of those who stay, in rising order."""


@dataclass(frozen=True, slots=True)
class DominanceRule:
    """Those go whom a member of the front beats by more than chance explains."""

    risk: float = 0.2

    def __call__(self, look: FrontStage) -> Sequence[int]:
        """Return the places of those who may yet be on the front."""
        if not look.members:
            return range(len(look.contenders))
        return [
            place
            for place, contender in enumerate(look.contenders)
            if _is_sound(look.objectives, contender)
            and not any(
                self._beats(look, member, contender, meets=meets)
                for member, meets in zip(look.members, look.meets, strict=True)
            )
        ]

    def _beats(
        self, look: FrontStage, member: PredictionTable, contender: PredictionTable, *, meets: bool
    ) -> bool:
        pairs = [
            # An aim that stands under no condition is the same twice.
            list(dict.fromkeys((told, aim) if meets else (told,)))
            for told, aim in zip(look.objectives.each, look.objectives.aims, strict=True)
        ]
        # Cheap first: where it is not as good on these rows, it is not surely so.
        if not all(any(_as_good(one, member, contender) for one in ways) for ways in pairs):
            return False
        better = False
        for ways in pairs:
            signs = [self._sign(look, one, member, contender) for one in ways]
            if max(signs) < 0:
                return False
            better = better or max(signs) > 0
        return better

    def _sign(
        self,
        look: FrontStage,
        objective: Objective,
        member: PredictionTable,
        contender: PredictionTable,
    ) -> int:
        """Return 1 where the member is surely better, 0 where it is as good, -1 otherwise."""
        if objective.is_effort:
            apart = objective.value(member) - objective.value(contender)
            return -1 if math.isnan(apart) else int(np.sign(apart))
        gain = objective.gain(member, contender, rng=look.rng)
        if gain.value == gain.low == gain.high == 0:
            return 0
        n_tests = max(look.n_looks - 1, 1) * len(look.members)
        sure = gain.value > 0 and gain.p_value <= 2 * self.risk / n_tests  # one-sided of two
        return 1 if sure else -1


def front_elimination(elimination: Elimination) -> FrontElimination:
    """Return what corresponds to a way to eliminate by one objective."""
    if isinstance(elimination, NoElimination):
        return _NoDominance()
    risk = getattr(elimination, "risk", None)
    if risk is None:
        raise InputError(
            "several objectives are raced by RacingRule or NoElimination, for they give no "
            f"ranking; got {elimination!r}."
        )
    return DominanceRule(risk)


@dataclass(frozen=True, slots=True)
class _NoDominance:
    """Everybody is judged on all rows."""

    def __call__(self, look: FrontStage) -> Sequence[int]:
        """Return all places."""
        return range(len(look.contenders))


def _as_good(objective: Objective, member: PredictionTable, contender: PredictionTable) -> bool:
    return objective.value(member) >= objective.value(contender)


def _is_sound(objectives: SeveralObjectives, table: PredictionTable) -> bool:
    enough = table.least_scored >= 0.5
    return enough and not any(map(math.isnan, objectives.values(table)))


@dataclass(kw_only=True, eq=False)
class FrontSearch(RacingSearch[OneCandidate]):
    """Proposes, races against the present front, and remembers."""

    objectives: SeveralObjectives
    dominance: FrontElimination = DominanceRule()
    members: list[Contender[OneCandidate]] = field(default_factory=list)

    def run(self, start: OneCandidate, known: Iterable[str] = ()) -> OneCandidate:
        """Return the candidate at the knee of the front; ``start`` where nobody is on it."""
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
        trials = [self.trials[one.number] for one in self.members]
        place = self._front_of(trials).knee if trials else None
        return None if place is None else self.members[place]

    def _settle(self, whole: Sequence[Contender[OneCandidate]]) -> None:
        """Take as members those of the front of all that were judged on all rows."""
        trials = [self.trials[one.number] for one in whole]
        places = self._front_of(trials).places if trials else ()
        kept = {tuple(trials[place].values.values()): place for place in reversed(places)}
        self.members = [whole[place] for place in sorted(kept.values())]

    def _front_of(self, trials: Sequence[TrialRecord]) -> ParetoFront:
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
        """Judge a batch as far as no member beats it; yield those that reach the end."""
        stops = self.stops
        racing = list(batch)
        meets = [self.trials[one.number].violation == 0 for one in self.members]
        for one in batch:
            one.against = leader.number
        for number, n_rows in enumerate(stops[:-1], start=1):
            self._share(racing, n_rows)  # the members were judged on all rows
            tables = [self._table(one, n_rows) for one in racing]
            look = FrontStage(
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
        table: PredictionTable,
        leader: Contender[OneCandidate],
        leaders: PredictionTable,
    ) -> None:
        """Tell the study how well a contender did on every objective, or that it was beaten."""
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

    def _note(self, one: Contender[OneCandidate], table: PredictionTable) -> None:
        values = self.objectives.values(table)
        trial = TrialRecord(
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
        if self.on_trial is not None:
            self.on_trial(trial)

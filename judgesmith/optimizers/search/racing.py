"""Races of candidates: rules of elimination, for one objective and for several."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.combining import ParetoFront, SeveralObjectives
from judgesmith.optimizers.predictions import FloatArray, Labels, PredictionTable
from judgesmith.optimizers.rows import IntArray
from judgesmith.optimizers.space.proposing import Proposer, configuration_id
from judgesmith.optimizers.trials import ENOUGH_SCORED, TrialRecord, rank_of

if TYPE_CHECKING:
    import optuna

Shared = TypeVar("Shared")


class WorkSharing(Generic[Shared]):
    """Told what a search is about to ask, so that several workers may share it; here is but one."""

    def alone(self, what: str) -> AbstractContextManager[None]:
        """Return a block that one worker goes through first while the others wait for its end."""
        return nullcontext()

    def made(self, configurations: Sequence[Mapping[str, str]]) -> None:
        """Share out the requests that make the candidates of these configurations."""

    def judged(self, candidates: Sequence[Shared], rows: Sequence[int]) -> None:
        """Share out what these candidates are asked about the rows at these places."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RaceStage:
    tables: Sequence[PredictionTable]
    objective: Objective
    number: int
    n_looks: int
    rng: np.random.Generator

    def ranking(self) -> list[int]:
        """Return the contenders' places in ``tables``, best first; of equals the first."""
        ranks = [rank_of(self.objective.value(one), one.least_scored) for one in self.tables]
        return sorted(range(len(ranks)), key=lambda place: ranks[place], reverse=True)


class Elimination(Protocol):
    def __call__(self, look: RaceStage) -> Sequence[int]:
        """Return the places in ``look.tables`` of those who stay, in rising order."""


@dataclass(frozen=True, slots=True)
class NoElimination:
    """Every candidate is judged on all rows."""

    def __call__(self, look: RaceStage) -> Sequence[int]:
        return range(len(look.tables))

    @property
    def dominance(self) -> FrontElimination:
        return _unbeaten


@dataclass(frozen=True, slots=True)
class SuccessiveHalving:
    """Successive halving: the better half stays, on twice as many rows.

    References
    ----------
    Jamieson and Talwalkar (2016), "Non-stochastic Best Arm Identification and Hyperparameter
    Optimization", AISTATS.
    """

    def __call__(self, look: RaceStage) -> Sequence[int]:
        ranking = look.ranking()
        return sorted(ranking[: math.ceil(len(ranking) / 2)])


@dataclass(frozen=True, slots=True)
class RacingRule:
    """Those go who are worse than the leader by more than chance explains.

    The paired difference to the leader is resampled over sources. ``risk`` is shared out among
    all looks but the last (Bonferroni), not among the contenders. Those go, too, whose agreement
    is undefined where the leader's is not, and those that leave more than half of the rows
    without a score.

    Parameters
    ----------
    risk : float
        Chance that a contender which is as good as the leader is dropped, in all looks together;
        from 0 (none is dropped) to below 1.
    """

    risk: float = 0.2

    def __post_init__(self) -> None:
        if not 0 <= self.risk < 1:
            raise InputError(f"risk must be from 0 to below 1; got {self.risk}.")

    def __call__(self, look: RaceStage) -> Sequence[int]:
        ranking = look.ranking()
        leader = ranking[0]
        threshold = 2 * self.risk / max(look.n_looks - 1, 1)  # one-sided, of a two-sided p-value
        is_sound = [_is_sound(table, look.objective) for table in look.tables]
        staying = []
        for place, table in enumerate(look.tables):
            if place == leader:
                staying.append(place)
                continue
            if is_sound[leader] and not is_sound[place]:
                continue
            behind = look.objective.gain(look.tables[leader], table, seed=look.rng)
            if not (behind.value > 0 and behind.p_value <= threshold):
                staying.append(place)
        return staying

    @property
    def dominance(self) -> FrontElimination:
        return DominanceRule(self.risk)


RUNGS = (0.15, 0.3, 0.6, 1.0)  # shares of the rows at which contenders are compared

FEWEST_ROWS = 10  # no candidate is dropped on fewer: agreement on so few says nothing


class OutOfBudget(Exception):  # noqa: N818 - says what happened
    """The budget left rows of a candidate unasked."""


class Candidate(Protocol):
    def table(self, rows: Sequence[int]) -> PredictionTable:
        """Return what it says of the rows at these places, beside what people said."""


OneCandidate = TypeVar("OneCandidate", bound=Candidate)


@dataclass(kw_only=True, eq=False)
class Contender(Generic[OneCandidate]):
    number: int
    picked: Mapping[str, str]
    candidate: OneCandidate
    trial: int | None = None
    against: int | None = None
    n_rows: int = 0
    values: Sequence[float] = ()  # on all rows, of a leader


@dataclass(kw_only=True, eq=False)
class RacingSearch(Generic[OneCandidate]):
    proposer: Proposer
    make: Callable[[Mapping[str, str]], OneCandidate]
    objective: Objective
    order: IntArray
    elimination: Elimination | optuna.pruners.BasePruner
    looks: Sequence[float] = RUNGS
    n_trials: int
    batch: int
    seed: int
    on_trial: Callable[[TrialRecord], None] | None = None
    together: WorkSharing[OneCandidate] = field(default_factory=WorkSharing)
    trials: dict[int, TrialRecord] = field(default_factory=dict)
    whole: list[Contender[OneCandidate]] = field(default_factory=list)
    complete: bool = True

    def run(self, start: OneCandidate, known: Iterable[str] = ()) -> OneCandidate:
        """Return the best candidate among all that were judged on all rows, ``start`` included."""
        first = Contender(number=0, picked={}, candidate=start)
        tried = set(known)
        try:
            self._share([first], len(self.order))
            self._note(first, self._table(first, len(self.order)))
            self.whole.append(first)
            for batch in self._batches(first, tried):
                for one in self._raced(self.best or first, batch):
                    self.whole.append(one)
        except OutOfBudget:
            self.complete = False
        return (self.best or first).candidate

    @property
    def best(self) -> Contender[OneCandidate] | None:
        return max(self.whole, key=lambda one: self.trials[one.number].rank, default=None)

    @property
    def aims(self) -> Sequence[Objective]:
        """What the study is told of every trial."""
        return (self.objective,)

    @property
    def n_judged(self) -> int:
        return sum(one.n_rows for one in self.trials.values())

    @property
    def stops(self) -> list[int]:
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
            rng = np.random.default_rng([self.seed, 4, batch[0].number, number])
            staying, tables, leaders = self._look(leader, racing, number, n_rows, rng)
            for place, one in enumerate(racing):
                if place not in staying:
                    self._finish(one, tables[place], leader, leaders)
            racing = [one for place, one in enumerate(racing) if place in staying]
        self._share([leader, *racing], stops[-1])
        whole = self._table(leader, stops[-1])
        for one in racing:
            self._finish(one, self._table(one, stops[-1]), leader, whole)
            yield one

    def _look(
        self,
        leader: Contender[OneCandidate],
        racing: Sequence[Contender[OneCandidate]],
        number: int,
        n_rows: int,
        rng: np.random.Generator,
    ) -> tuple[Collection[int], Sequence[PredictionTable], PredictionTable]:
        """Return the places of those who stay, the tables of all, and the leader's."""
        # The leader is in every look, whoever leads on these rows: it was judged on all.
        self._share([leader, *racing], n_rows)
        tables = [self._table(one, n_rows) for one in (leader, *racing)]
        for one, table in zip(racing, tables[1:], strict=True):
            if one.trial is not None:
                self.proposer.report(one.trial, [aim.value(table) for aim in self.aims], n_rows)
        look = RaceStage(
            tables=tables, objective=self.objective, number=number, n_looks=len(self.stops), rng=rng
        )
        return [one - 1 for one in self._staying(look, leader, racing)], tables[1:], tables[0]

    def _staying(
        self,
        look: RaceStage,
        leader: Contender[OneCandidate],
        racing: Sequence[Contender[OneCandidate]],
    ) -> Iterable[int]:
        """Return the places in the look's tables of those who stay; place 0 is the leader's."""
        if callable(self.elimination):
            return self.elimination(look)
        pruned = [
            one.trial is not None and self.proposer.is_pruned(one.trial, self.elimination)
            for one in racing
        ]
        return [0, *(place for place, goes in enumerate(pruned, start=1) if not goes)]

    def _finish(
        self,
        one: Contender[OneCandidate],
        table: PredictionTable,
        leader: Contender[OneCandidate],
        leaders: PredictionTable,
    ) -> None:
        """Keep a trial; tell the study how well it did, or that it fell behind."""
        self._note(one, table)
        if one.trial is None:
            return
        values = [aim.value(table) for aim in self.aims]
        if self.trials[one.number].share_scored < ENOUGH_SCORED:
            self.proposer.tell(one.trial, *(math.nan,) * len(values))
        elif one.n_rows == len(self.order):
            self.proposer.tell(one.trial, *values)
        else:
            expected = self._expected(table, leader, leaders)
            self.proposer.prune(one.trial, values, expected, one.n_rows)

    def _expected(
        self, table: PredictionTable, leader: Contender[OneCandidate], leaders: PredictionTable
    ) -> list[float]:
        """Return what a contender may come to on all rows: as far from the leader as on these."""
        whole = self._table(leader, len(self.order))
        leader.values = leader.values or [aim.value(whole) for aim in self.aims]
        found = []
        for aim, lead in zip(self.aims, leader.values, strict=True):
            value = aim.value(table)
            moved = lead + (value - aim.value(leaders))
            found.append(value if math.isnan(moved) else moved)
        return found

    def _share(self, several: Sequence[Contender[OneCandidate]], n_rows: int) -> None:
        rows = np.sort(self.order[:n_rows]).tolist()
        self.together.judged([one.candidate for one in several], rows)

    def _table(self, one: Contender[OneCandidate], n_rows: int) -> PredictionTable:
        table = one.candidate.table(np.sort(self.order[:n_rows]).tolist())
        one.n_rows = max(one.n_rows, n_rows)
        return table.standing_for(len(self.order))

    def _values(self, table: PredictionTable) -> dict[str, Any]:
        """Return what a trial record says of a table."""
        return {"value": self.objective.value(table)}

    def _note(self, one: Contender[OneCandidate], table: PredictionTable) -> None:
        trial = TrialRecord(
            number=one.number,
            picked=dict(one.picked),
            n_rows=one.n_rows,
            share_scored=table.least_scored,
            against=one.against,
            **self._values(table),
        )
        self.trials[one.number] = trial
        if self.on_trial is not None:
            self.on_trial(trial)


def stratified_order(human: FloatArray, groups: Labels, rng: np.random.Generator) -> IntArray:
    """Return the rows in an order of which every beginning spans the range of human scores."""
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
    value, share = 0.0, 0.5
    while number:
        value += share * (number & 1)
        number >>= 1
        share /= 2
    return value


@dataclass(frozen=True, kw_only=True, eq=False)
class FrontStage:
    members: Sequence[PredictionTable]
    meets: Sequence[bool]
    contenders: Sequence[PredictionTable]
    objectives: SeveralObjectives
    n_looks: int
    rng: np.random.Generator


class FrontElimination(Protocol):
    def __call__(self, look: FrontStage) -> Sequence[int]:
        """Return the places in ``look.contenders`` of those who stay, in rising order."""


@dataclass(frozen=True, slots=True)
class DominanceRule:
    risk: float = 0.2

    def __call__(self, look: FrontStage) -> Sequence[int]:
        if not look.members:
            return range(len(look.contenders))
        return [
            place
            for place, contender in enumerate(look.contenders)
            if _is_sound(contender, *look.objectives.aims)
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
        if not all(any(x.value(member) >= x.value(contender) for x in ways) for ways in pairs):
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
        gain = objective.gain(member, contender, seed=look.rng)
        if gain.value == gain.low == gain.high == 0:
            return 0
        n_tests = max(look.n_looks - 1, 1) * len(look.members)
        sure = gain.value > 0 and gain.p_value <= 2 * self.risk / n_tests  # one-sided of two
        return 1 if sure else -1


def front_elimination(elimination: object) -> FrontElimination:
    """Return what corresponds, for several objectives, to a way to eliminate by one."""
    found: FrontElimination | None = getattr(elimination, "dominance", None)
    if found is None:
        raise InputError(
            "several objectives are raced by RacingRule or NoElimination, for they give no "
            f"ranking; got {elimination!r}."
        )
    return found


def _unbeaten(look: FrontStage) -> Sequence[int]:
    return range(len(look.contenders))


def _is_sound(table: PredictionTable, *aims: Objective) -> bool:
    return table.least_scored >= 0.5 and not any(math.isnan(aim.value(table)) for aim in aims)


@dataclass(kw_only=True, eq=False)
class FrontSearch(RacingSearch[OneCandidate]):
    objectives: SeveralObjectives
    dominance: FrontElimination = DominanceRule()

    @property
    def members(self) -> list[Contender[OneCandidate]]:
        trials = [self.trials[one.number] for one in self.whole]
        places = self._front_of(trials).places if trials else ()
        kept = {tuple(trials[place].values.values()): place for place in reversed(places)}
        return [self.whole[place] for place in sorted(kept.values())]

    @property
    def best(self) -> Contender[OneCandidate] | None:
        members = self.members
        trials = [self.trials[one.number] for one in members]
        place = self._front_of(trials).knee if trials else None
        return None if place is None else members[place]

    @property
    def aims(self) -> Sequence[Objective]:
        return self.objectives.each

    def _front_of(self, trials: Sequence[TrialRecord]) -> ParetoFront:
        values = [
            tuple(one.values.values())
            if one.share_scored >= ENOUGH_SCORED
            else (math.nan,) * len(one.values)
            for one in trials
        ]
        return self.objectives.front(values, [one.violation for one in trials])

    def _look(
        self,
        leader: Contender[OneCandidate],
        racing: Sequence[Contender[OneCandidate]],
        number: int,
        n_rows: int,
        rng: np.random.Generator,
    ) -> tuple[Collection[int], Sequence[PredictionTable], PredictionTable]:
        self._share(racing, n_rows)  # the members were judged on all rows
        tables, members = [self._table(one, n_rows) for one in racing], self.members
        look = FrontStage(
            members=[self._table(one, n_rows) for one in members],
            meets=[self.trials[one.number].violation == 0 for one in members],
            contenders=tables,
            objectives=self.objectives,
            n_looks=len(self.stops),
            rng=rng,
        )
        return self.dominance(look), tables, self._table(leader, n_rows)

    def _values(self, table: PredictionTable) -> dict[str, Any]:
        values = self.objectives.values(table)
        return {
            "value": values[self.objectives.leading_place],
            "values": dict(zip(self.objectives.names, values, strict=True)),
            "violation": self.objectives.violation(table),
        }

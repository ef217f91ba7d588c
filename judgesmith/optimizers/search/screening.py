"""Searches that screen many configurations on few rows, and confirm the winner."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.predictions import FloatArray, PredictionTable
from judgesmith.optimizers.rows import IntArray
from judgesmith.optimizers.search.racing import (
    FEWEST_ROWS,
    Contender,
    Elimination,
    NoElimination,
    OneCandidate,
    OutOfBudget,
    RaceStage,
    RacingSearch,
)
from judgesmith.optimizers.space.proposing import configuration_id
from judgesmith.optimizers.trials import (
    ENOUGH_SCORED,
    ConfirmationResult,
    ImprovementTest,
    select_trial,
)
from judgesmith.signatures.space import Picked, Space

SIGNALS = (1.0, 3.0, 10.0)  # variance among configurations, in units of the noise on all rows,
PAIRS = (0.2, 0.5)  # the share of it that is due to pairs of options,
OWN = 0.1  # and the share that is due to neither: what no other configuration tells about


def coded(configurations: Sequence[Picked], options: Mapping[str, Sequence[str]]) -> IntArray:
    places = {name: {one: k for k, one in enumerate(ids, 1)} for name, ids in options.items()}
    rows = [
        [of[one[name]] if name in one else 0 for name, of in places.items()]
        for one in configurations
    ]
    return np.asarray(rows, dtype=np.intp).reshape(len(rows), len(places))


class SurrogatePrediction(NamedTuple):
    means: FloatArray
    deviations: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Surrogate:
    codes: IntArray
    values: FloatArray
    shares: FloatArray

    def outlook(self, candidates: IntArray) -> SurrogatePrediction:
        """Return what candidates may come to, averaged over what may be so of the model."""
        defined = np.isfinite(self.values)
        if defined.sum() < 2:
            nothing = np.zeros(len(candidates))
            return SurrogatePrediction(means=nothing, deviations=nothing)
        values = np.where(defined, self.values, self.values[defined].min())
        noise = self._noise()
        fits = [self._fit(values, noise, signal, pairs) for signal in SIGNALS for pairs in PAIRS]
        log = np.asarray([one.log_evidence for one in fits])
        chances = np.exp(log - log.max())
        chances /= chances.sum()
        means, variances = np.zeros((2, len(fits), len(candidates)))
        for place, fit in enumerate(fits):
            across = fit.signal * likeness(candidates, self.codes, fit.pairs)
            means[place] = fit.level + across @ fit.weights
            known = np.einsum("ij,ij->i", across @ fit.inverse, across)
            variances[place] = fit.scale**2 * np.maximum(fit.signal - known, 0)
        mean = chances @ means
        return SurrogatePrediction(
            means=mean, deviations=np.sqrt(chances @ (variances + np.square(means - mean)))
        )

    def _noise(self) -> FloatArray:
        together = (self.shares[:, None] == self.shares) & (self.shares < 1)
        return np.asarray(np.diag(1 / self.shares) + together / self.shares)

    def _fit(self, values: FloatArray, noise: FloatArray, signal: float, pairs: float) -> _Fit:
        n = len(values)
        total = signal * likeness(self.codes, self.codes, pairs) + noise
        inverse = np.asarray(np.linalg.inv(total), dtype=np.float64)
        level = float(inverse.sum(axis=0) @ values / inverse.sum())
        weights = inverse @ (values - level)
        left = max(float((values - level) @ weights), 1e-12)
        log_evidence = -0.5 * (
            np.linalg.slogdet(total)[1] + np.log(inverse.sum()) + (n - 1) * np.log(left)
        )
        return _Fit(
            signal=signal,
            pairs=pairs,
            inverse=inverse,
            level=level,
            weights=weights,
            scale=float(np.sqrt(left / (n - 1))),
            log_evidence=float(log_evidence),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fit:
    signal: float
    pairs: float
    inverse: FloatArray
    level: float
    weights: FloatArray
    scale: float
    log_evidence: float


def likeness(first: IntArray, second: IntArray, pairs: float) -> FloatArray:
    n_choices = first.shape[1]
    same = (first[:, None, :] == second[None, :, :]).sum(axis=2)
    of_pairs = same * (same - 1) / max(n_choices * (n_choices - 1), 1)
    single = (1 - pairs - OWN) * same / n_choices
    return np.asarray(single + pairs * of_pairs + OWN * (same == n_choices))


FEWEST_TRIALS = 6  # with fewer values chance proposes
MOST_CANDIDATES = 1000  # configurations to choose proposals from; a larger space is drawn from

_NEAR = 5  # of the best so far, whose neighbours are candidates as well
_HOPE = 0.5  # standard deviations that a proposal gets for what is not known of it


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreeningStage:
    """Judge every candidate on a small part of the rows, few on more, and very few on all.

    With 108 configurations and at least 200 rows that is about a third of the rows that full
    evaluation of 30 configurations takes; how good the choice is was simulated
    (``docs/explanation/protocol-search.md``).

    Parameters
    ----------
    share, share_again : float
        Of the rows, for all candidates, and for those judged again; from above 0 to 1. On at
        least 10 rows.
    n_again, n_finalists : int
        How many are judged again, and how many of these on all rows.

    Examples
    --------
    >>> ScreeningStage().stops(600)
    [30, 120, 600]
    """

    share: float = 0.05
    share_again: float = 0.2
    n_again: int = 12
    n_finalists: int = 2

    def __post_init__(self) -> None:
        if not 0 < self.share <= self.share_again <= 1:
            raise InputError(
                "share and share_again rise from above 0 to 1; got "
                f"{self.share} and {self.share_again}."
            )
        if not 1 <= self.n_finalists <= self.n_again:
            raise InputError(
                "n_finalists must be 1 or more, and n_again no fewer; got "
                f"{self.n_finalists} and {self.n_again}."
            )

    def stops(self, n_rows: int, fewest: int = 10) -> list[int]:
        """Return after how many rows contenders are compared: on ``fewest`` or more."""
        shares = (self.share, self.share_again)
        parts = {max(int(np.ceil(share * n_rows)), fewest) for share in shares}
        return [*sorted(part for part in parts if part < n_rows), n_rows]

    def n_staying(self, n_looks_left: int) -> int:
        """Return how many stay, by how many looks are left; 1 is that at all rows."""
        return self.n_finalists if n_looks_left <= 1 else self.n_again


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenedValue:
    """What is known of a configuration: what it may come to, by which share of the rows."""

    picked: Picked
    value: float
    share: float


def predicted_values(
    space: Space, seen: Collection[ScreenedValue], candidates: Sequence[Picked]
) -> SurrogatePrediction:
    options = {one.name: one.ids for one in space.choices}
    evidence = Surrogate(
        codes=coded([one.picked for one in seen], options),
        values=np.asarray([one.value for one in seen], dtype=np.float64),
        shares=np.asarray([one.share for one in seen], dtype=np.float64),
    )
    return evidence.outlook(coded(candidates, options))


def promising(
    space: Space,
    seen: Sequence[ScreenedValue],
    known: Collection[str],
    n: int,
    *,
    rng: np.random.Generator,
) -> list[dict[str, str]]:
    if len(seen) < FEWEST_TRIALS:
        return []
    candidates = [
        one for one in _candidates(space, seen, rng) if configuration_id(one) not in known
    ]
    if not candidates:
        return []
    expected = predicted_values(space, seen, candidates)
    promised = expected.means + _HOPE * expected.deviations
    return [candidates[place] for place in np.argsort(-promised, kind="stable")[:n]]


def _candidates(
    space: Space, seen: Sequence[ScreenedValue], rng: np.random.Generator
) -> list[dict[str, str]]:
    """Return all configurations, or random ones and those one change from the best, shuffled."""
    if space.size <= MOST_CANDIDATES:
        found = list(space.configurations())
    else:
        means = predicted_values(space, seen, [one.picked for one in seen]).means
        near = (
            space.complete({**seen[place].picked, choice.name: option})
            for place in np.argsort(-means, kind="stable")[:_NEAR]
            for choice in space.choices
            for option in choice.ids
        )
        far = (
            space.proposed(lambda choice: str(rng.choice(choice.ids)))
            for _ in range(MOST_CANDIDATES)
        )
        unique = {configuration_id(one): one for one in itertools.chain(near, far)}
        found = list(unique.values())
    return [found[place] for place in rng.permutation(len(found))]  # of equals, any


@dataclass(kw_only=True, eq=False)
class ConfirmedSearch(RacingSearch[OneCandidate]):
    rule: ImprovementTest | None
    confirmation: ConfirmationResult | None = None
    taken: int = 0
    candidates: dict[int, OneCandidate] = field(default_factory=dict)
    tables: dict[int, PredictionTable] = field(default_factory=dict)

    def run(self, start: OneCandidate, known: Iterable[str] = ()) -> OneCandidate:
        super().run(start, known)
        self.decide(start)
        return self.candidates.get(self.taken, start)

    def decide(self, start: OneCandidate) -> None:
        before: dict[int, PredictionTable] = {}  # what the start says of the first so many rows
        for n_rows in {one.n_rows for one in self.trials.values()}:
            rows = np.sort(self.order[:n_rows]).tolist()
            before[n_rows] = start.table(rows).standing_for(len(self.order))
        self.taken, self.confirmation = select_trial(
            self.rule,
            self.objective,
            {n: (table, before[self.trials[n].n_rows]) for n, table in self.tables.items()},
            {n: one.rank for n, one in self.trials.items() if one.n_rows == len(self.order)},
            learned=True,
            seed=self.seed,
        )

    def _note(self, one: Contender[OneCandidate], table: PredictionTable) -> None:
        self.candidates[one.number] = one.candidate
        self.tables[one.number] = table
        super()._note(one, table)


@dataclass(kw_only=True, eq=False)
class ScreenedSearch(ConfirmedSearch[OneCandidate]):
    screen: ScreeningStage
    elimination: Elimination = field(default_factory=NoElimination)
    own: Picked | None = None
    seen: dict[int, ScreenedValue] = field(default_factory=dict)

    def run(self, start: OneCandidate, known: Iterable[str] = ()) -> OneCandidate:
        ids = list(known)
        self.own = json.loads(ids[0]) if ids else None
        return super().run(start, ids)

    @property
    def stops(self) -> list[int]:
        return self.screen.stops(len(self.order), FEWEST_ROWS)

    def _batches(
        self, start: Contender[OneCandidate], tried: set[str]
    ) -> Iterator[list[Contender[OneCandidate]]]:
        if self.own is not None:
            self.seen[0] = ScreenedValue(picked=self.own, value=self.trials[0].value, share=1.0)
        screened: list[Contender[OneCandidate]] = []
        n_rows = self.stops[0]
        try:
            for batch in super()._batches(start, tried):
                self._share([start, *batch], n_rows)
                whole = self._table(start, n_rows)
                self._see(start, whole, batch, [self._table(one, n_rows) for one in batch])
                screened += batch
        except OutOfBudget:
            self.complete = False  # those that were screened are on_trial, on the way to the end
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
        look: RaceStage,
        leader: Contender[OneCandidate],
        racing: Sequence[Contender[OneCandidate]],
    ) -> Iterable[int]:
        self._see(leader, look.tables[0], racing, look.tables[1:])
        picked = [one.picked for one in racing]
        means = predicted_values(self.proposer.space, list(self.seen.values()), picked).means
        defined = [np.isfinite(self.seen[one.number].value) for one in racing]
        ranking = sorted(
            range(len(racing)), key=lambda place: (defined[place], means[place]), reverse=True
        )
        n_staying = self.screen.n_staying(look.n_looks - look.number)
        return {place + 1 for place in ranking[:n_staying]}

    def _see(
        self,
        leader: Contender[OneCandidate],
        leaders: PredictionTable,
        several: Sequence[Contender[OneCandidate]],
        tables: Sequence[PredictionTable],
    ) -> None:
        for one, table in zip(several, tables, strict=True):
            enough = table.least_scored >= ENOUGH_SCORED - 1 / one.n_rows  # one may be bad luck
            self.seen[one.number] = ScreenedValue(
                picked=one.picked,
                value=self._expected(table, leader, leaders)[0] if enough else float("nan"),
                share=one.n_rows / len(self.order),
            )

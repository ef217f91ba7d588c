"""The search that spends each call where it decides: effects of options, estimated from rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Literal, Unpack

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics.arrays import FloatArray
from judgesmith.optimizers.base import SearchSettings
from judgesmith.optimizers.fitting.panels import equal_weights
from judgesmith.optimizers.objectives.agreement import Agreement
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.combining import SeveralObjectives
from judgesmith.optimizers.objectives.grammar import AnyObjective, as_objectives
from judgesmith.optimizers.predictions import PredictionTable
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.search.effect_model import (
    CrossFittedGain,
    GainPosterior,
    ObservedGains,
    OptionEffects,
    best_average,
    gain_posterior,
    row_blocks,
)
from judgesmith.optimizers.search.racing import OutOfBudget, stratified_order
from judgesmith.optimizers.space.candidates import Candidates, JudgeOnRows, SpaceSearch
from judgesmith.optimizers.space.demonstrations import CHOSEN, ORDER, RUNS, N
from judgesmith.optimizers.space.proposing import configuration_id
from judgesmith.optimizers.trials import TrialRecord, shares_of_gain, source_blocks, standard_error
from judgesmith.programs.families.ensemble.judges import Panel
from judgesmith.programs.judging.executors import calls_per_item
from judgesmith.programs.judging.judge import Judge
from judgesmith.signatures.space import Space

Effort = Literal["light", "medium", "heavy"]

EFFORTS: Mapping[str, float] = {"light": 2.0, "medium": 4.0, "heavy": 13.0}
"""Calls of a search at most, as multiples of scoring the learning rows once with the baseline."""

WORTH, REACHED = 0.01, 0.5  # a search ends where going on is expected to add less than WORTH,
# which is REACHED of what knowing all gains would add
AVERAGE_WORTH = 0.05  # an average takes several times as many calls whenever it is used
FEW_SOURCES, SURE_OF_FEW = 15, 0.975  # with fewer, a gain is as sure as Student's t says
FOR_NOISE = 8  # configurations of which the noise of gains is estimated, the first that are scored
LEAST_NOISE = 1e-3  # standard deviation of the gain of one row where answers are the baseline's
READ_AGAIN = 1.03  # calls per call needed: answers that cannot be read are asked for again
MOST_CONFIGURATIONS = 1500


class EffectSearch(SpaceSearch[Objective, Judge | Panel]):
    """Search a judge's configuration by the effects of its options.

    Configurations score blocks of sources, and each is compared with the baseline on the same
    rows. From all gains together the effect of every option is estimated, shrunken to the baseline
    (empirical Bayes); the next block goes to a configuration that may well be the best (Thompson
    sampling). The search ends early where going on is expected to add less than 0.01, half of what
    knowing all gains would add. The best configuration replaces the baseline only if its shrunken
    gain is above 0.01, and the chance that it is no better is at most ``risk``. With fewer than 15
    sources the gain must be above 0 by two standard errors or more (Student's t at 97.5%), and one
    source never replaces it. An average of several must be expected to add 0.05, which follows from
    how far their answers differ.

    Parameters
    ----------
    effort : {"light", "medium", "heavy"}
        At most 2, 4 and 13 times the calls of scoring the learning rows once.
    calls_per_item : int or None
        Calls that a judgement may take; None takes the student's. Where twice the student's or
        more are allowed, several configurations may be averaged (see ``Panel``).
    risk : float
        Largest chance that a judge which replaces the baseline is no better.
    space, fixed, n_demonstrations, n_demo_sets
        As for ``ProtocolSearch``.
    objective, **shared
        As for ``JudgeSearch``. Told of every configuration after each block that it has scored.

    Attributes
    ----------
    views_ : tuple of int
        Numbers of the trials that make the judge: 0 alone where the baseline stays.
    taken_ : int or None
        The number where it is one; None where several are averaged.
    gain_ : CrossFittedGain or None
        Of the way the choice was made, on rows that each choice was not made on; None where the
        objective looks at changed versions.
    expected_ : float
        The shrunken gain of the judge that is returned; 0 for the baseline.
    n_calls_, n_calls_at_most_ : int
        Calls that the search took, if every answer could be read, and could have taken.

    References
    ----------
    Russo et al. (2018), "A Tutorial on Thompson Sampling"; Efron and Morris (1973), "Stein's
    Estimation Rule and Its Competitors", for the shrinkage.
    """

    refuses_teacher = "shows no runs of a teacher"

    def __init__(
        self,
        objective: AnyObjective | SeveralObjectives = "q",
        *,
        effort: Effort = "medium",
        calls_per_item: int | None = None,
        risk: float = 0.2,
        space: Space | None = None,
        fixed: Sequence[str] = ("samples", "weighting"),
        n_demonstrations: int = 5,
        n_demo_sets: int = 2,
        **shared: Unpack[SearchSettings],
    ) -> None:
        super().__init__(
            space=space,
            fixed=fixed,
            n_demonstrations=n_demonstrations,
            n_demo_sets=n_demo_sets,
            **shared,
        )
        aims = as_objectives(objective, self.metric)
        if len(aims.each) > 1:
            raise InputError(
                "this search has one objective.", hint="search a front with ProtocolSearch."
            )
        if effort not in EFFORTS:
            raise InputError(f"effort is one of {', '.join(EFFORTS)}; got {effort!r}.")
        if calls_per_item is not None and calls_per_item < 1:
            raise InputError(f"calls_per_item must be 1 or more; got {calls_per_item}.")
        self.objective = aims.leading
        aim = self.objective
        correlates = isinstance(aim, Agreement) and aim.statistic != "concordance"
        if calls_per_item is not None and not correlates:
            raise InputError(
                "what an average of prompts adds is known of correlations alone, such as q or "
                f"pearson; got the objective {self.objective}.",
                hint="name one, or leave calls_per_item out.",
            )
        self.effort = effort
        if not 0 < risk < 1:
            raise InputError(f"risk is a chance between 0 and 1; got {risk}.")
        self.calls_per_item = calls_per_item
        self.risk = risk

    def _found(
        self, student: Judge, pool: Rows, selection: Rows, teacher: Judge | None
    ) -> Judge | Panel:
        candidates = self._candidates(student, pool, selection, leave=(CHOSEN, RUNS, ORDER))
        run = _Run(self, candidates, n_learning=len(pool) + len(selection.texts))
        self.complete_ = True
        try:
            run.search()
        except OutOfBudget:
            self.complete_ = False
        self.views_ = run.choose()
        self.taken_ = self.views_[0] if len(self.views_) == 1 else None
        self.trials_ = run.trials()
        self.gain_ = run.cross_fitted()
        self.expected_ = run.expected
        self.n_calls_, self.n_calls_at_most_ = run.n_calls, run.most_calls
        return run.judge(self.views_)


class _Run:
    def __init__(self, settings: EffectSearch, candidates: Candidates, *, n_learning: int) -> None:
        self.settings = settings
        self.candidates = candidates
        self.objective: Objective = settings.objective
        self.rng = np.random.default_rng([settings.seed, 40])
        space, student = candidates.space, candidates.student
        self.baseline = space.complete({N: "0"} if N in space.names else {})
        self.cost = calls_per_item(student)
        most = settings.calls_per_item or self.cost
        if most < self.cost:
            raise InputError(
                f"this judge takes {self.cost} calls per item before the search; got "
                f"calls_per_item={most}.",
                hint=f"give {self.cost} or more, or a judge that asks less.",
            )
        self.configurations = self._configurations(self.cost) if self.cost else []
        self.n_views = max(most // max(self.cost, 1), 1)
        self.effects = OptionEffects.of(self.configurations, self.baseline)
        selection = candidates.selection
        order = stratified_order(
            selection.levels, selection.groups, np.random.default_rng([settings.seed, 3])
        )
        self.blocks = row_blocks(order, selection.groups)
        # Of each block, changed versions of its rows counted.
        self.n_texts = [len(selection.take(rows).texts) for rows in self.blocks]
        self.parts = source_blocks(selection.groups, rng=np.random.default_rng([settings.seed, 6]))
        self.n_sources = len(set(selection.groups.tolist()))
        self.most_calls = math.floor(EFFORTS[settings.effort] * n_learning * self.cost)
        self.n_calls = 0
        self.scored: dict[int, list[int]] = {}  # blocks by configuration, in the order of trials
        self.judges: dict[int | None, JudgeOnRows] = {None: candidates.start()}  # the baseline's
        self.gains: dict[tuple[int, tuple[int, ...]], float] = {}
        self.errors: dict[int, float] = {}
        self.baseline_table: PredictionTable | None = None
        self.expected = 0.0

    def _configurations(self, most: int) -> list[dict[str, str]]:
        n_most = str(self.settings.n_demonstrations)
        student, space = self.candidates.student, self.candidates.of_judge
        costs: dict[str, int] = {}
        found = []
        for picked in self.candidates.space.configurations():
            if picked.get(N, "0") not in ("0", "3", n_most) or picked == self.baseline:
                continue
            own = {name: picked[name] for name in picked if name in space.names}
            known = configuration_id(own)
            if known not in costs:
                costs[known] = calls_per_item(student.with_choices(own, space=space))
            if costs[known] == most:
                found.append(picked)
        if len(found) > MOST_CONFIGURATIONS:
            chosen = np.sort(self.rng.choice(len(found), MOST_CONFIGURATIONS, replace=False))
            found = [found[place] for place in chosen.tolist()]
        return found

    def search(self) -> None:
        self.baseline_table = self._table(None, range(len(self.candidates.selection)))
        self.n_calls += self._judge(None, range(len(self.candidates.selection)))
        self._tell(None, self.baseline_table)
        if not self.configurations:
            return
        while True:
            known = self.posterior()
            if (
                known is not None
                and len(self.scored) >= 2
                and REACHED * known.value_of_knowing < WORTH
            ):
                # Prompts are averaged whether or not one of them is better than the baseline.
                least = WORTH if self.n_views == 1 else -math.inf
                self._complete([one for one in self._leaders(known) if known.mean[one] > least])
                return
            place = self._next(known)
            if place is None or not self._score_block(place):
                return

    def _leaders(self, known: GainPosterior) -> list[int]:
        ranked = sorted(self.scored, key=lambda place: -known.mean[place])
        return ranked[: self.n_views]

    def _complete(self, places: Sequence[int]) -> None:
        for place in places:
            while self._missing(place):
                if not self._score_block(place):
                    return

    def _missing(self, place: int) -> list[int]:
        done = self.scored.get(place, [])
        return [block for block in range(len(self.blocks)) if block not in done]

    def _n_missing(self, place: int) -> int:
        return sum(self.n_texts[block] for block in self._missing(place))

    def _judge(self, place: int | None, rows: Sequence[int]) -> int:
        """Judge rows by a configuration, or the baseline; return how many calls that took."""
        judge = self.judges[place]
        said = [*judge.judged(rows), *(one for row in rows for one in judge.of_versions[row])]
        return sum(len(one.calls) for one in said)

    def _next(self, known: GainPosterior | None) -> int | None:
        """Return the configuration to score a block of; None where the search has ended."""
        if known is None:  # of no block is the gain defined yet
            drawn = int(self.rng.integers(len(self.configurations)))
            left_over = [one for one in range(len(self.configurations)) if self._missing(one)]
            return drawn if drawn in left_over else next(iter(left_over), None)
        left = (self.most_calls - self.n_calls) / (self.cost * READ_AGAIN)
        needed = sum(map(self._n_missing, self._leaders(known)))
        if left - max(self.n_texts) < needed:
            within = [one for one in self.scored if 0 < self._n_missing(one) <= left]
            return max(within, key=lambda one: known.mean[one], default=None)
        open_ = np.asarray([bool(self._missing(one)) for one in range(len(self.configurations))])
        if not open_.any():
            return None
        draw = known.draws[int(self.rng.integers(len(known.draws)))]
        return int(np.argmax(np.where(open_, draw, -np.inf)))

    def _score_block(self, place: int) -> bool:
        missing = self._missing(place)
        counts = [sum(block in done for done in self.scored.values()) for block in missing]
        block = missing[int(np.argmin(counts))] if place not in self.scored else missing[0]
        rows = self.blocks[block]
        if self.n_calls + self.n_texts[block] * self.cost * READ_AGAIN > self.most_calls:
            return False
        if place not in self.judges:
            self.judges[place] = self.candidates.make(self.configurations[place])
        self.n_calls += self._judge(place, rows)
        self.scored.setdefault(place, []).append(block)
        self._tell(place, self._table(place))
        return True

    def _rows(self, place: int, without: int | None = None) -> list[int]:
        done = sorted(block for block in self.scored[place] if block != without)
        return sorted(row for block in done for row in self.blocks[block])

    def _table(self, place: int | None, rows: Sequence[int] | None = None) -> PredictionTable:
        """Return what a configuration, or the baseline, says of rows; by default of all scored."""
        if rows is None:
            rows = range(len(self.candidates.selection)) if place is None else self._rows(place)
        return self.judges[place].table(rows)

    def _gain(self, place: int, rows: Sequence[int]) -> float:
        known = place, tuple(rows)
        if known not in self.gains:
            after, before = self._table(place, rows), self._table(None, rows)
            self.gains[known] = self.objective.value(after) - self.objective.value(before)
        return self.gains[known]

    def _noise(self, places: Sequence[int]) -> FloatArray:
        """Return the standard deviation of one row's gain: measured for the first, else usual."""
        same = []
        for place in places:
            rows = self._rows(place)
            own, before = self._table(place, rows), self._table(None, rows)
            same.append(np.array_equal(own.predicted, before.predicted, equal_nan=True))
            if len(self.errors) < FOR_NOISE and place not in self.errors and not same[-1]:
                error = self._compared(own, before)[1]
                if error > 0:
                    self.errors[place] = error * math.sqrt(len(rows))
        squares = [error**2 for error in self.errors.values()]
        usual = math.sqrt(sum(squares) / len(squares)) if squares else 0.0
        return np.maximum(np.where(same, 0.0, usual), LEAST_NOISE)

    def _compared(self, table: PredictionTable, before: PredictionTable) -> tuple[float, float]:
        shares = shares_of_gain(self.objective, table, before, blocks=self.parts)
        value = self.objective.value(table) - self.objective.value(before)
        return value, standard_error(shares)

    def posterior(self, without: int | None = None) -> GainPosterior | None:
        """Return what the scored blocks say of all configurations, with one block left out."""
        places, gains, rows = [], [], []
        for place in self.scored:
            own = self._rows(place, without)
            gain = self._gain(place, own) if own else math.nan
            if not math.isnan(gain):
                places.append(place)
                gains.append(gain)
                rows.append(set(own))
        if not places:
            return None
        observed = ObservedGains(
            places=np.asarray(places),
            gains=np.asarray(gains),
            shared=np.asarray([[len(one & other) for other in rows] for one in rows], dtype=float),
            noise=self._noise(places),
        )
        rng = np.random.default_rng([self.settings.seed, 41])
        return gain_posterior(self.effects, observed, rng=rng)

    def choose(self) -> tuple[int, ...]:
        known = self.posterior() if self.scored else None
        if known is None or self.baseline_table is None:
            return (0,)
        whole = [place for place in self.scored if not self._missing(place)]
        views, expected = self._averaged(known, whole) if self.n_views > 1 else ([], 0.0)
        if views:
            self.expected = expected
            return tuple(map(self._number, views))
        best = max(whole, key=lambda place: known.mean[place], default=None)
        if best is None or not self._passes(known.mean[best], known.sd[best]):
            return (0,)
        self.expected = float(known.mean[best])
        return (self._number(best),)

    def _number(self, place: int | None) -> int:
        return [None, *self.scored].index(place)

    def _passes(self, gain: float, error: float, *, averaged: bool = False) -> bool:
        """Say whether an expected gain, with its standard deviation, replaces the baseline."""
        if self.settings.confirm is None:
            return gain > 0
        from scipy.special import stdtrit

        if self.n_sources < 2:
            return False  # one source tells nothing of how gains vary over sources
        few = self.n_sources < FEW_SOURCES and not averaged
        if few and gain < stdtrit(self.n_sources - 1, SURE_OF_FEW) * error:
            return False
        errors = NormalDist().inv_cdf(1 - self.settings.risk)
        return gain > (AVERAGE_WORTH if averaged else WORTH) and gain >= errors * error

    def _averaged(
        self, known: GainPosterior, places: Sequence[int]
    ) -> tuple[list[int | None], float]:
        """Return which configurations are averaged, none if the baseline stays, and the gain."""
        members = [None, *places]
        columns = np.full((len(members), len(self.candidates.selection)), np.nan)
        for column, place in zip(columns, members, strict=True):
            rows = range(len(column)) if place is None else self._rows(place)
            column[rows] = self._table(place).parts[0].predicted
        found = best_average(
            self.objective.value(self._table(None)),
            np.r_[0.0, known.mean[list(places)]],
            np.r_[0.0, known.sd[list(places)]],
            columns,
            most=self.n_views,
        )
        if found is None or not self._passes(found.gain, found.error, averaged=True):
            return [], 0.0
        return [members[place] for place in found.members], found.gain

    def judge(self, numbers: Sequence[int]) -> Judge | Panel:
        places = [[None, *self.scored][number] for number in numbers]
        judges = [self.judges[place].judge for place in places]
        if len(judges) == 1:
            return judges[0].with_protocol(judges[0].protocol)
        names = [f"prompt-{number}" for number in numbers]
        columns = [self._table(place).parts[0].predicted for place in places]
        rows = self.candidates.selection
        weights = equal_weights(dict(zip(names, columns, strict=True)), rows.human, rows.scale)
        return Panel(dict(zip(names, judges, strict=True)), weights)

    def trials(self) -> tuple[TrialRecord, ...]:
        if self.baseline_table is None:
            return ()
        return tuple(self._record(one, self._table(one)) for one in (None, *self.scored))

    def _record(self, place: int | None, table: PredictionTable) -> TrialRecord:
        picked = self.baseline if place is None else self.configurations[place]
        return TrialRecord(
            number=self._number(place),
            picked=dict(picked),
            value=self.objective.value(table),
            n_rows=table.parts[0].n,
            share_scored=table.least_scored,
            against=None if place is None else 0,
            n_demonstrations=int(picked.get(N, "0")),
        )

    def _tell(self, place: int | None, table: PredictionTable) -> None:
        if self.settings.on_trial is not None:
            self.settings.on_trial(self._record(place, table))

    def _chosen_without(self, block: int) -> list[int | None]:
        known = self.posterior(without=block)
        there = [place for place in self.scored if block in self.scored[place]]
        if known is None or not there:
            return [None]
        if self.n_views > 1 and (views := self._averaged(known, there)[0]):
            return views
        best = max(there, key=lambda place: known.mean[place])
        return [best if self._passes(known.mean[best], known.sd[best]) else None]

    def cross_fitted(self) -> CrossFittedGain | None:
        if self.baseline_table is None or "versions" in self.objective.needs:
            return None
        chosen = [self._chosen_without(block) for block in range(len(self.blocks))]
        rows = [row for own in self.blocks for row in own]
        if all(views == [None] for views in chosen):
            return CrossFittedGain(value=0.0, low=0.0, high=0.0, n_rows=len(rows))
        pieces = []
        for views, own in zip(chosen, self.blocks, strict=True):
            columns = []
            for place in views:
                whole, here = self._table(place).predicted, self._table(place, own).predicted
                columns.append((here - np.nanmean(whole)) / (np.nanstd(whole) or 1.0))
            pieces.append(np.mean(columns, axis=0))
        before = self._table(None, rows)
        after = replace(before, predicted=np.concatenate(pieces))
        gain, error = self._compared(after, before)
        return CrossFittedGain(
            value=gain, low=gain - 1.96 * error, high=gain + 1.96 * error, n_rows=len(rows)
        )

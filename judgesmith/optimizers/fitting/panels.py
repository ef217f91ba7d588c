"""Learning how much each judge of a panel counts, and whether a panel is worth having."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Unpack

import dspy
import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.base import RowSettings, check_objective, rows_for
from judgesmith.optimizers.fitting.cross_validation import (
    FEWEST_ROWS,
    FEWEST_SOURCES,
    LIMIT,
    CrossValidatedFit,
    Way,
    no_scores,
    of_versions,
)
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.grammar import AnyObjective
from judgesmith.optimizers.predictions import FloatArray, PredictionTable
from judgesmith.optimizers.rows import IntArray, Rows, rows_from
from judgesmith.optimizers.space.demonstrations import shown_keys
from judgesmith.programs.families.ensemble.judges import Panel, leaves_of
from judgesmith.signatures.aggregation import PanelWeights
from judgesmith.signatures.scale import Scale

LEAST_AGREEMENT = 0.1  # a panel that agrees less with people is put on their scale as if so far
PATIENCE = 3  # rounds without a better panel after which none is expected any more
FEWEST_SCORED = 0.8  # a member with scores on fewer rows is not weighed: the rest may be easy ones


@dataclass(frozen=True, kw_only=True, eq=False)
class Members:
    """Scores of all members, standardised by some rows, and the way to people's scale."""

    centers: FloatArray
    spreads: FloatArray
    scores: FloatArray
    human: FloatArray
    scale: Scale

    @classmethod
    def as_shares(cls, scores: FloatArray, scales: Sequence[Scale], scale: Scale) -> Members:
        return cls(
            centers=np.asarray([one.low for one in scales], float),
            spreads=np.asarray([one.high - one.low for one in scales], float),
            scores=scores,
            human=np.full(len(scores), np.nan),
            scale=scale,
        )

    @classmethod
    def learned(cls, scores: FloatArray, human: FloatArray, scale: Scale) -> Members:
        scored = np.isfinite(scores)
        n = np.maximum(scored.sum(axis=0), 1)
        centers = np.where(scored, scores, 0.0).sum(axis=0) / n
        away = np.where(scored, scores - centers, 0.0)
        spreads = np.sqrt((away**2).sum(axis=0) / n)
        spreads = np.where(spreads > 1e-9 * (1 + np.abs(centers)), spreads, 1.0)
        return cls(centers=centers, spreads=spreads, scores=scores, human=human, scale=scale)

    @cached_property
    def steps(self) -> FloatArray:
        return self.steps_of(self.scores)

    def steps_of(self, scores: FloatArray) -> FloatArray:
        return np.clip((scores - self.centers) / self.spreads, -LIMIT, LIMIT)

    def fitted(self, weights: FloatArray) -> PanelFit:
        if np.isnan(self.human).all():
            return PanelFit(self, weights, self.scale.high - self.scale.low, self.scale.low)
        mean = weighted_mean(self.steps, weights)
        scored = np.isfinite(mean)
        x, y = mean[scored], self.human[scored]
        if not len(x):
            x = y = np.zeros(1)
        spread_x, spread_y = float(x.std()), float(y.std())
        slope = LEAST_AGREEMENT
        if spread_x > 0 and spread_y > 0:
            agreement = float(np.mean((x - x.mean()) * (y - y.mean()))) / (spread_x * spread_y)
            slope = max(agreement, LEAST_AGREEMENT) * spread_y / spread_x
        return PanelFit(self, weights, slope, float(y.mean()) - slope * float(x.mean()))


@dataclass(frozen=True, eq=False)
class PanelFit:
    members: Members
    weights: FloatArray
    slope: float
    intercept: float

    def predict(self, scores: FloatArray) -> FloatArray:
        mean = weighted_mean(self.members.steps_of(scores), self.weights)
        scale = self.members.scale
        return np.clip(self.intercept + self.slope * mean, scale.low, scale.high)

    def plain(self, names: Sequence[str]) -> PanelWeights:
        return PanelWeights(
            members=tuple(names),
            centers=tuple(self.members.centers.tolist()),
            spreads=tuple(self.members.spreads.tolist()),
            weights=tuple(self.weights.tolist()),
            limit=LIMIT,
            slope=self.slope,
            intercept=self.intercept,
            scale=self.members.scale,
        )


def equal_weights(
    scores: Mapping[str, FloatArray], human: FloatArray, scale: Scale
) -> PanelWeights:
    """Return the mean of standardised scores of some rows, put on the scale of their ratings."""
    members = Members.learned(np.stack(list(scores.values()), axis=1), human, scale)
    return members.fitted(np.full(len(scores), 1.0 / len(scores))).plain(tuple(scores))


def weighted_mean(steps: FloatArray, weights: FloatArray) -> FloatArray:
    counted = np.isfinite(steps) * weights
    total = counted.sum(axis=1)
    sums = (np.where(np.isfinite(steps), steps, 0.0) * weights).sum(axis=1)
    means = np.full(len(steps), np.nan)
    np.divide(sums, total, out=means, where=total > 0)
    return means


def greedy_weights(
    members: Members, value: Callable[[PanelFit], float], *, n_rounds: int, allowed: Sequence[int]
) -> FloatArray:
    known: dict[bytes, float] = {}

    def worth(counts: FloatArray) -> float:
        weights = counts / counts.sum()
        key = np.round(weights, 12).tobytes()
        if key not in known:
            found = value(members.fitted(weights))
            known[key] = -math.inf if math.isnan(found) else found
        return known[key]

    counts = np.zeros(len(members.centers))
    best, best_worth, idle = counts, -math.inf, 0
    for _ in range(n_rounds):
        options = [counts + (np.arange(len(counts)) == place) for place in allowed]
        worths = [worth(one) for one in options]
        chosen = int(np.argmax(worths))
        counts = options[chosen]
        if worths[chosen] > best_worth:
            best, best_worth, idle = counts, worths[chosen], 0
            continue
        idle += 1
        if idle == PATIENCE:
            break
    if not best.sum():  # undefined for every member: none is preferred
        best = np.isin(np.arange(len(counts)), allowed).astype(float)
    weights: FloatArray = best / best.sum()
    return weights


PanelName = Literal["own", "single", "equal", "greedy"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PanelCombiner(Way):
    table: PredictionTable
    able: tuple[int, ...]
    objective: Objective
    n_rounds: int
    own: PanelWeights | None = None
    scales: tuple[Scale, ...] = ()
    seen: list[tuple[float, float]] = field(default_factory=list)
    fits: dict[bytes, PanelFit] = field(default_factory=dict)

    @property
    def scale(self) -> Scale:
        if self.own is not None:
            return self.own.scale
        assert isinstance(self.table.scale, Scale)
        return self.table.scale

    def fitted(self, inside: IntArray) -> Callable[[FloatArray], FloatArray]:
        if self.own is not None:
            return self._by_own
        return no_scores if _are_alike(self.table.human[inside]) else self._fit(inside).predict

    def predictions(self, inside: IntArray, outside: IntArray) -> FloatArray:
        if self.own is None and not _are_alike(self.table.human[inside]):
            fit = self._fit(inside)
            self.seen.append((self._value(fit, inside), self._value(fit, outside)))
        return super().predictions(inside, outside)

    def weights(self) -> PanelWeights:
        if self.own is not None:
            return self.own
        return self._fit(np.arange(self.table.n)).plain(self.names)

    @property
    def optimism(self) -> float:
        gaps = [inside - outside for inside, outside in self.seen]
        defined = [gap for gap in gaps if not math.isnan(gap)]
        return float(np.mean(defined)) if defined else 0.0

    def _fit(self, inside: IntArray) -> PanelFit:
        known = inside.tobytes()
        if known not in self.fits:
            scores, human = self.columns[inside], self.table.human[inside]
            members = (
                Members.as_shares(scores, self.scales, self.scale)
                if self.scales
                else Members.learned(scores, human, self.scale)
            )
            weights = greedy_weights(
                members,
                lambda fit: self._value(fit, inside),
                n_rounds={"single": 1, "equal": 0}.get(self.name, self.n_rounds),
                allowed=self.able,
            )
            self.fits[known] = members.fitted(weights)
        return self.fits[known]

    def _by_own(self, scores: FloatArray) -> FloatArray:
        assert self.own is not None
        found = []
        for row in scores.tolist():
            given = zip(self.names, row, strict=True)
            score = self.own.apply({name: None if math.isnan(x) else x for name, x in given})
            found.append(math.nan if score is None else score)
        return np.asarray(found, float)

    def _value(self, fit: PanelFit, places: IntArray) -> float:
        table = self.table.part(places)
        if _are_alike(table.human):
            return math.nan
        changed = None if self.changed is None else of_versions(fit.predict, self.changed[places])
        predicted = fit.predict(self.columns[places])
        return self.objective.value(table.predicting(predicted, changed, judge_scale=self.scale))


def _are_alike(human: FloatArray) -> bool:
    return bool(np.ptp(human) == 0)


def unpredicted(rows: Rows) -> PredictionTable:
    """Return the table of rows before anything is predicted of them, or of changed versions."""
    kinds = rows.kinds
    return PredictionTable(
        predicted=np.full(len(rows), np.nan),
        human=rows.human,
        sources=rows.groups,
        systems=rows.systems,
        scale=rows.scale,
        kinds=kinds,
        damaged=np.full((len(rows), len(kinds)), np.nan) if kinds else None,
        versioned=rows.versioned if kinds else None,
        examples=rows.examples,
    )


def columns_of(scores: Sequence[Sequence[float | None]], n_rows: int) -> FloatArray:
    if not scores:
        raise InputError("no members to weigh.", hint="give the scores of one at least, by name.")
    for one in scores:
        if len(one) != n_rows:
            raise InputError(f"expected one score per row, {n_rows}; got {len(one)}.")
    return np.asarray([[*one] for one in scores], float).T  # None is nan


class PanelSelection(CrossValidatedFit):
    """Learn the weights of a ``Panel`` by greedy ensemble selection.

    Four combiners compete: the student's own weights; the best single member; equal weights of
    standardised scores; and greedy selection with replacement. Each is fitted on half of the
    sources and valued on the other half, over and over. The way of the largest value, of equals
    the one with fewer members, is fitted on all rows. A panel that does not beat its best member
    comes back with that member alone.

    Parameters
    ----------
    objective : Objective, callable or str
        What is made as large as possible over whole lists of scores, without calls or dollars;
        ``metric`` is DSPy's word for it. Discernment alone, such as ``d_avg``, takes unrated rows,
        too: then scores count as shares of the members' scales, on which the panel answers.
    n_rounds : int
        Most members that selection adds, repetitions counted.
    n_folds, n_repeats : int
        Of the cross-fitting over sources.
    **shared
        As for ``JudgeOptimizer``. Members with a model of their own are asked that.

    Attributes
    ----------
    trials_ : tuple of TrialRecord
        Set by ``compile``; empty where there was too little to learn from.
    chosen_ : str
        The combiner taken.
    unweighed_ : tuple of str
        Members that too few rows have a score of.

    References
    ----------
    Caruana, Niculescu-Mizil, Crew and Ksikes (2004), "Ensemble Selection from Libraries of
    Models", ICML. Cross-fitting by source, and the other combiners, are ours.
    """

    def __init__(
        self,
        objective: AnyObjective = "q",
        *,
        n_rounds: int = 20,
        n_folds: int = 2,
        n_repeats: int = 10,
        metric: AnyObjective | None = None,
        **shared: Unpack[RowSettings],
    ) -> None:
        super().__init__(objective, n_folds=n_folds, n_repeats=n_repeats, metric=metric, **shared)
        if n_rounds < 1:
            raise InputError(f"n_rounds must be 1 or more; got {n_rounds}.")
        effort = [str(one) for one in self.objective.atoms if one.is_effort]
        if effort:
            raise InputError(
                "weights are learned from scores, which do not tell how much judging takes.",
                hint=f"leave {' and '.join(dict.fromkeys(effort))} out of the objective.",
            )
        self.n_rounds = n_rounds

    def compile(
        self,
        student: Panel,
        *,
        trainset: Sequence[dspy.Example],
        teacher: None = None,
        valset: None = None,
    ) -> Panel:
        """Return a copy of ``student`` with the weights that rated rows support.

        Rows that a member shows as demonstrations are left out. Rows that members were compiled
        on flatter those members; give others. Neither teacher nor valset is taken.
        """
        if not isinstance(student, Panel):
            raise TypeError(f"expected a Panel of judges; got {type(student).__name__}.")
        if teacher is not None or valset is not None:
            raise InputError(
                "PanelSelection cross-fits within trainset.", hint="drop teacher and valset."
            )
        shown = {
            key for one in leaves_of(student) for key in shown_keys(one.protocol.demonstrations)
        }
        rows = rows_for(self.objective, rows_from(trainset, self.scale).without(shown))
        check_objective(self.objective, rows)
        scores = {}
        for name, member in student.members.items():
            scores[name] = [one.score for one in self.judged(member, rows)]
        scales = {name: one.scale for name, one in student.members.items()}
        return student.with_weights(self.choose(rows, scores, own=student.weights, scales=scales))

    def choose(
        self,
        rows: Rows,
        scores: Mapping[str, Sequence[float | None]],
        *,
        own: PanelWeights | None = None,
        scales: Mapping[str, Scale] | None = None,
    ) -> PanelWeights:
        """Return the weights that recorded scores of rows support.

        Parameters
        ----------
        rows : Rows
            What people said, and changed versions where the objective looks at them.
        scores : dict of str to sequence of (float or None)
            By member, its score of every row or, with versions, of every text (``rows.texts``).
        own : PanelWeights or None
            Weights that the panel has: they compete, and stay where there is too little to learn
            from. None are equal ones of standardised scores.
        scales : dict of str to Scale, or None
            What members' scores are points of; read if the rows are unrated.
        """
        names = tuple(scores)
        rows = rows_for(self.objective, rows)
        if not rows.is_rated and not set(names) <= set(scales or {}):
            raise InputError("these rows have no ratings.", hint="give the scales of all members.")
        every = columns_of(list(scores.values()), len(rows.texts))
        columns, changed = every[: len(rows)], None
        if rows.kinds:
            changed = np.full((*rows.versioned.shape, len(names)), np.nan)
            changed[rows.versioned] = every[len(rows) :]
        shares = np.isfinite(columns).mean(axis=0)
        able = tuple(np.flatnonzero(shares >= FEWEST_SCORED).tolist())
        self.unweighed_ = tuple(name for place, name in enumerate(names) if place not in able)
        self.trials_ = ()
        learned: tuple[PanelName, ...] = ("single", "equal", "greedy") if able else ()
        people = unpredicted(rows)
        combiners = {
            name: PanelCombiner(
                name=name,
                names=names,
                columns=columns,
                changed=changed,
                table=people,
                able=able,
                objective=self.objective,
                n_rounds=self.n_rounds,
                own=own if name == "own" else None,
                scales=() if rows.is_rated else tuple((scales or {})[one] for one in names),
            )
            for name in (*(() if own is None else ("own",)), *learned)
        }
        if not combiners:
            raise InputError(
                f"no member has a score on {FEWEST_SCORED:.0%} of the rows: nothing can be weighed."
            )
        self.chosen_: str = "equal" if own is None else "own"
        n_sources = len(np.unique(rows.groups))
        enough = len(rows) >= FEWEST_ROWS and n_sources >= FEWEST_SOURCES
        if enough and np.ptp(rows.human) != 0:  # nan where nobody rated any
            self.chosen_ = self._best(people, combiners)
        return combiners[self.chosen_].weights()

    def _best(self, people: PredictionTable, combiners: Mapping[str, PanelCombiner]) -> str:
        """Return the way of the largest value, of equals the one with fewest members."""
        self._compared(people, list(combiners.values()), part=3)
        self.trials_ = tuple(
            replace(
                one,
                optimism=combiners[one.name].optimism,
                n_members=len(combiners[one.name].weights().asked),
            )
            for one in self.trials_
        )
        defined = [one for one in self.trials_ if not math.isnan(one.value)]
        ranked = defined or list(self.trials_[:1])
        return max(ranked, key=lambda one: (one.value, -one.n_members)).name

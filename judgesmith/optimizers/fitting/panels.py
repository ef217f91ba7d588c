"""Learning how much each judge of a panel counts, and whether a panel is worth having."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import dspy
import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.base import JudgeOptimizer, check_objective, rows_for
from judgesmith.optimizers.fitting.aggregation import FEWEST_ROWS, FEWEST_SOURCES, LIMIT
from judgesmith.optimizers.fitting.cross_validation import SourceFolds
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.grammar import AnyObjective, as_objective
from judgesmith.optimizers.predictions import FloatArray, PredictionTable
from judgesmith.optimizers.rows import IntArray, Rows, rows_of
from judgesmith.optimizers.space.demonstrations import shown_keys
from judgesmith.optimizers.trials import TrialRecord
from judgesmith.programs.families.ensemble.judges import Panel, leaves_of
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.signatures.aggregation import PanelWeights
from judgesmith.signatures.scale import Scale

LEAST_AGREEMENT = 0.1
"""A panel that agrees with people less than this is put on their scale as if it agreed so far."""

PATIENCE = 3
"""Rounds without a better panel after which none is expected any more."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Members:
    """Scores of all members, standardised by some rows, and the way to people's scale."""

    centers: FloatArray
    spreads: FloatArray
    steps: FloatArray
    human: FloatArray
    scale: Scale

    @classmethod
    def as_shares(cls, scores: FloatArray, scales: Sequence[Scale], scale: Scale) -> Members:
        """Return members whose steps are shares of their own scales, for unrated rows."""
        centers = np.asarray([one.low for one in scales], float)
        spreads = np.asarray([one.high - one.low for one in scales], float)
        return cls(
            centers=centers,
            spreads=spreads,
            steps=_steps(scores, centers, spreads),
            human=np.full(len(scores), np.nan),
            scale=scale,
        )

    @classmethod
    def learned(cls, scores: FloatArray, human: FloatArray, scale: Scale) -> Members:
        """Return members standardised by their scores, shape (n, n_members), nan if unscored."""
        scored = np.isfinite(scores)
        n = np.maximum(scored.sum(axis=0), 1)
        centers = np.where(scored, scores, 0.0).sum(axis=0) / n
        away = np.where(scored, scores - centers, 0.0)
        spreads = np.sqrt((away**2).sum(axis=0) / n)
        spreads = np.where(spreads > 1e-9 * (1 + np.abs(centers)), spreads, 1.0)
        steps = _steps(scores, centers, spreads)
        return cls(centers=centers, spreads=spreads, steps=steps, human=human, scale=scale)

    def fitted(self, weights: FloatArray) -> PanelFit:
        """Return the panel with these weights, in points of people's scale."""
        if np.isnan(self.human).all():
            return self._fit(weights, self.scale.high - self.scale.low, self.scale.low)
        mean = weighted_mean(self.steps, weights)
        scored = np.isfinite(mean)
        x, y = mean[scored], self.human[scored]
        if not len(x):
            x = y = np.zeros(1)
        spread_x, spread_y = float(x.std()), float(y.std())
        if spread_x > 0 and spread_y > 0:
            agreement = float(np.mean((x - x.mean()) * (y - y.mean()))) / (spread_x * spread_y)
            slope = max(agreement, LEAST_AGREEMENT) * spread_y / spread_x
        else:
            slope = LEAST_AGREEMENT
        return self._fit(weights, slope, float(y.mean()) - slope * float(x.mean()))

    def _fit(self, weights: FloatArray, slope: float, intercept: float) -> PanelFit:
        return PanelFit(
            centers=self.centers,
            spreads=self.spreads,
            weights=weights,
            slope=slope,
            intercept=intercept,
            scale=self.scale,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class PanelFit:
    """Learned numbers of a panel; see ``PanelWeights`` for what they mean."""

    centers: FloatArray
    spreads: FloatArray
    weights: FloatArray
    slope: float
    intercept: float
    scale: Scale

    def predict(self, scores: FloatArray) -> FloatArray:
        """Return the panel's scores of rows of member scores, nan where it has none."""
        steps = _steps(scores, self.centers, self.spreads)
        points = self.intercept + self.slope * weighted_mean(steps, self.weights)
        return np.clip(points, self.scale.low, self.scale.high)

    def plain(self, names: Sequence[str]) -> PanelWeights:
        """Return the same as plain numbers, of the members called ``names``."""
        return PanelWeights(
            members=tuple(names),
            centers=tuple(self.centers.tolist()),
            spreads=tuple(self.spreads.tolist()),
            weights=tuple(self.weights.tolist()),
            limit=LIMIT,
            slope=self.slope,
            intercept=self.intercept,
            scale=self.scale,
        )


def weighted_mean(steps: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted mean of each row over the members that have a score, else nan."""
    counted = np.isfinite(steps) * weights
    total = counted.sum(axis=1)
    sums = (np.where(np.isfinite(steps), steps, 0.0) * weights).sum(axis=1)
    means = np.full(len(steps), np.nan)
    np.divide(sums, total, out=means, where=total > 0)
    return means


def greedy_weights(
    members: Members,
    value: Callable[[PanelFit], float],
    *,
    n_rounds: int,
    allowed: Sequence[int],
) -> FloatArray:
    """Return the weights that greedy selection with replacement finds, shape (n_members,)."""
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


def _steps(scores: FloatArray, centers: FloatArray, spreads: FloatArray) -> FloatArray:
    return np.clip((scores - centers) / spreads, -LIMIT, LIMIT)


PanelName = Literal["own", "single", "equal", "greedy"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PanelCombiner:
    """One way to weigh members."""

    name: PanelName
    table: PredictionTable
    scores: FloatArray
    names: tuple[str, ...]
    able: tuple[int, ...]
    objective: Objective
    n_rounds: int
    scale: Scale
    changed: FloatArray | None = None
    own: PanelWeights | None = None
    scales: tuple[Scale, ...] = ()
    seen: list[tuple[float, float]] = field(default_factory=list)
    fits: dict[bytes, PanelFit] = field(default_factory=dict)

    def predictions(self, inside: IntArray, outside: IntArray) -> FloatArray:
        """Return the scores of rows ``outside`` by a fit on rows ``inside``."""
        if self.own is not None:
            return self._by_own(self.scores[outside])
        if _are_alike(self.table.human[inside]):
            return np.full(len(outside), np.nan)
        fit = self._fitted(inside)
        self.seen.append((self._value(fit, inside), self._value(fit, outside)))
        return fit.predict(self.scores[outside])

    def predictions_of_versions(self, inside: IntArray, outside: IntArray) -> FloatArray:
        """Return the scores of the changed versions of rows, shape (n_outside, n_kinds)."""
        assert self.changed is not None
        if self.own is not None:
            return self._of_versions(self._by_own, outside)
        if _are_alike(self.table.human[inside]):
            return np.full(self.changed[outside].shape[:2], np.nan)
        return self._of_versions(self._fitted(inside).predict, outside)

    def weights(self) -> PanelWeights:
        """Return the weights fitted on all rows."""
        if self.own is not None:
            return self.own
        return self._fitted(np.arange(self.table.n)).plain(self.names)

    @property
    def optimism(self) -> float:
        """How much larger the objective was on rows fitted on than on others, on average."""
        gaps = [inside - outside for inside, outside in self.seen]
        defined = [gap for gap in gaps if not math.isnan(gap)]
        return float(np.mean(defined)) if defined else 0.0

    def _fitted(self, inside: IntArray) -> PanelFit:
        known = inside.tobytes()
        if known not in self.fits:
            self.fits[known] = self._fit(inside)
        return self.fits[known]

    def _fit(self, inside: IntArray) -> PanelFit:
        if self.scales:
            members = Members.as_shares(self.scores[inside], self.scales, self.scale)
        else:
            members = Members.learned(self.scores[inside], self.table.human[inside], self.scale)
        n_rounds = {"single": 1, "equal": 0}.get(self.name, self.n_rounds)
        weights = greedy_weights(
            members, lambda fit: self._value(fit, inside), n_rounds=n_rounds, allowed=self.able
        )
        return members.fitted(weights)

    def _by_own(self, scores: FloatArray) -> FloatArray:
        assert self.own is not None
        found = []
        for row in scores.tolist():
            given = zip(self.names, row, strict=True)
            score = self.own.apply({name: None if math.isnan(x) else x for name, x in given})
            found.append(math.nan if score is None else score)
        return np.asarray(found, float)

    def _of_versions(
        self, predicted: Callable[[FloatArray], FloatArray], places: IntArray
    ) -> FloatArray:
        assert self.changed is not None
        scores = self.changed[places]
        return predicted(scores.reshape(-1, scores.shape[-1])).reshape(scores.shape[:2])

    def _value(self, fit: PanelFit, places: IntArray) -> float:
        table = self.table.part(places)
        if _are_alike(table.human):
            return math.nan
        changed = None if self.changed is None else self._of_versions(fit.predict, places)
        predicted = fit.predict(self.scores[places])
        return self.objective.value(table.predicting(predicted, changed, judge_scale=self.scale))


def _are_alike(human: FloatArray) -> bool:
    """Return whether people gave one score to all rows; False without ratings."""
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


def columns_of_versions(scores: FloatArray, rows: Rows) -> FloatArray | None:
    """Return scores of versions by row and kind, shape (n, n_kinds, n_members).

    None without any.
    """
    if not rows.kinds:
        return None
    found = np.full((len(rows), len(rows.kinds), scores.shape[1]), np.nan)
    found[rows.versioned] = scores
    return found


def columns_of(scores: Sequence[Sequence[float | None]], n_rows: int) -> FloatArray:
    """Return one column per member from the scores of each, nan where one has none."""
    if not scores:
        raise InputError("no members to weigh.", hint="give the scores of one at least, by name.")
    for one in scores:
        if len(one) != n_rows:
            raise InputError(f"expected one score per row, {n_rows}; got {len(one)}.")
    return np.asarray([[np.nan if x is None else x for x in one] for one in scores], float).T


FEWEST_SCORED = 0.8
"""A member with a score on a smaller share of rows is not weighed: the rest may be easy ones."""


class PanelSelection(JudgeOptimizer):
    """Learn the weights of a ``Panel`` by greedy ensemble selection.

    The student is the panel and what is compiled are its weights: an optimizer takes one program
    and returns a better copy, and a panel is one. Four combiners compete: the student's own
    weights; the best single member; equal weights of standardised scores; and greedy selection with
    replacement. Each is fitted on half of the sources and valued on the other half, over and
    over, so that choosing among many members does not flatter itself; the way of the largest
    value, of equals the one with fewer members, is fitted on all rows. A panel that does not beat
    its best member comes back with that member alone.

    Parameters
    ----------
    objective : Objective, callable or str
        What is made as large as it can be, on whole lists of scores: nothing of calls or dollars.
        One of discernment alone, such as ``d_avg``, takes unrated rows, too: then
        scores count as shares of the members' scales, on which the panel answers.
    n_rounds : int
        Most members that selection adds, repetitions counted.
    n_folds, n_repeats : int
        Of the cross-fitting over sources.
    seed : int
        Of the folds.
    scale, lm, concurrency, on_progress
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
        seed: int = 0,
        scale: Scale | None = None,
        lm: dspy.LM | None = None,
        concurrency: int = CONCURRENCY,
        on_progress: Callable[[int], None] | None = None,
        metric: AnyObjective | None = None,
    ) -> None:
        super().__init__(
            seed=seed, scale=scale, lm=lm, concurrency=concurrency, on_progress=on_progress
        )
        if n_rounds < 1:
            raise InputError(f"n_rounds must be 1 or more; got {n_rounds}.")
        if n_folds < 2 or n_repeats < 1:
            raise InputError(f"need 2 folds and 1 repeat or more; got {n_folds} and {n_repeats}.")
        self.objective = as_objective(objective, metric)
        effort = [str(one) for one in self.objective.atoms if one.is_effort]
        if effort:
            raise InputError(
                "weights are learned from scores, which do not tell how much judging takes.",
                hint=f"leave {' and '.join(dict.fromkeys(effort))} out of the objective.",
            )
        self.n_rounds = n_rounds
        self.n_folds = n_folds
        self.n_repeats = n_repeats

    def compile(
        self,
        student: Panel,
        *,
        trainset: Sequence[dspy.Example],
        teacher: dspy.Module | None = None,
        valset: Sequence[dspy.Example] | None = None,
    ) -> Panel:
        """Return a copy of ``student`` with the weights that rated rows support.

        Rows that a member shows as demonstrations are left out. Rows that members were compiled
        on flatter those members; give others.

        Raises
        ------
        TypeError
            If the student is no panel.
        ValueError
            If there is a teacher or a valset, or ``trainset`` holds nothing to learn from.
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
        rows = rows_for(self.objective, rows_of(trainset, self.scale).without(shown))
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
            By member, its score of every row, in points of its own scale; of every text
            (``rows.texts``) where rows have versions.
        own : PanelWeights or None
            Weights that the panel has: they compete, and stay where there is too little to learn
            from. None are equal ones of standardised scores.
        scales : dict of str to Scale, or None
            What members' scores are points of; read if the rows are unrated.

        Raises
        ------
        ValueError
            If scores and rows do not pair up, there are no rows or members, or no rating of the
            rows and the objective compares scores with people's, or scales are missing.
        """
        names = tuple(scores)
        rows = rows_for(self.objective, rows)
        if not rows.is_rated and not set(names) <= set(scales or {}):
            raise InputError("these rows have no ratings.", hint="give the scales of all members.")
        every = columns_of(list(scores.values()), len(rows.texts))
        table, changed = every[: len(rows)], columns_of_versions(every[len(rows) :], rows)
        shares = np.isfinite(table).mean(axis=0)
        able = tuple(np.flatnonzero(shares >= FEWEST_SCORED).tolist())
        self.unweighed_ = tuple(name for place, name in enumerate(names) if place not in able)
        self.trials_: tuple[TrialRecord, ...] = ()
        learned: tuple[PanelName, ...] = ("single", "equal", "greedy") if able else ()
        people = unpredicted(rows)
        given = () if rows.is_rated else tuple((scales or {})[name] for name in names)
        combiners = [
            PanelCombiner(
                name=name,
                table=people,
                scores=table,
                changed=changed,
                names=names,
                able=able,
                objective=self.objective,
                n_rounds=self.n_rounds,
                own=own if name == "own" else None,
                scale=own.scale if name == "own" and own is not None else rows.scale,
                scales=given,
            )
            for name in (*(() if own is None else ("own",)), *learned)
        ]
        if not combiners:
            raise InputError(
                f"no member has a score on {FEWEST_SCORED:.0%} of the rows: nothing can be weighed."
            )
        self.chosen_: str = "equal" if own is None else "own"
        n_sources = len(np.unique(rows.groups))
        enough = len(rows) >= FEWEST_ROWS and n_sources >= FEWEST_SOURCES
        if enough and np.ptp(rows.human) != 0:  # nan where nobody rated any
            self.trials_ = self._compared(people, combiners)
            self.chosen_ = _best(self.trials_)
        return next(combiner for combiner in combiners if combiner.name == self.chosen_).weights()

    def _compared(
        self, people: PredictionTable, combiners: Sequence[PanelCombiner]
    ) -> tuple[TrialRecord, ...]:
        halves = SourceFolds.of(
            people,
            n_folds=self.n_folds,
            n_repeats=self.n_repeats,
            rng=np.random.default_rng([self.seed, 3]),
        )
        crossed = [
            halves.agreement(
                combiner.predictions,
                self.objective,
                judge_scale=combiner.scale,
                of_versions=None if combiner.changed is None else combiner.predictions_of_versions,
            )
            for combiner in combiners
        ]
        best = max(crossed, key=lambda one: -math.inf if math.isnan(one.value) else one.value)
        trials = []
        for combiner, one in zip(combiners, crossed, strict=True):
            behind, error = one.behind(best)
            trials.append(
                TrialRecord(
                    name=combiner.name,
                    value=one.value,
                    optimism=combiner.optimism,
                    behind=behind,
                    standard_error=error,
                    n_members=len(combiner.weights().asked),
                )
            )
        return tuple(trials)


def _best(trials: Sequence[TrialRecord]) -> str:
    """Return the way of the largest value, of equals the one with fewest members."""
    defined = [one for one in trials if not math.isnan(one.value)] or list(trials[:1])
    return max(defined, key=lambda one: (one.value, -one.n_members)).name

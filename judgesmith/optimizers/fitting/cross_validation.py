"""How well ways to make one score agree with people they were not fitted on, and how sure that is.

Agreement is taken within each predicted part of the sources: predictions of two different fits,
put in one list, agree worse than either of them does.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.base import JudgeOptimizer, RowSettings
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.grammar import AnyObjective, as_objective
from judgesmith.optimizers.predictions import FloatArray, PredictionTable
from judgesmith.optimizers.rows import IntArray, folds_by_source
from judgesmith.optimizers.trials import MOST_BLOCKS, TrialRecord, rank_of
from judgesmith.signatures.scale import Scale

FEWEST_COMPARED = 3  # smaller parts of a fold are not compared on; Q needs three rows
FEWEST_ROWS, FEWEST_SOURCES = 20, 5  # with fewer scored ones nothing is learned
LIMIT = 3.0  # spreads from its center that a score counts at most: one odd text cannot count more

Fitted = Callable[[IntArray, IntArray], FloatArray]
"""From rows to fit on and rows to predict to the predictions of the latter."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CrossValidatedAgreement:
    value: float
    without: FloatArray

    def behind(self, best: CrossValidatedAgreement) -> tuple[float, float]:
        """Return how far this way lies behind ``best``, and the standard error of that."""
        if np.isnan(self.value):
            return float("inf"), float("nan")
        moved = best.without - self.without
        n = len(moved)
        spread = np.sum((moved - moved.mean()) ** 2)
        return best.value - self.value, float(np.sqrt((n - 1) / n * spread))


@dataclass(frozen=True, kw_only=True, eq=False)
class SourceFolds:
    table: PredictionTable
    parts: IntArray
    blocks: IntArray

    @classmethod
    def of(
        cls, table: PredictionTable, *, n_folds: int, n_repeats: int, rng: np.random.Generator
    ) -> SourceFolds:
        n_sources = len(np.unique(table.sources))
        k = min(n_folds, n_sources)
        parts = [folds_by_source(table.sources, k, rng=rng) for _ in range(n_repeats)]
        blocks = folds_by_source(table.sources, min(MOST_BLOCKS, n_sources), rng=rng)
        return cls(table=table, parts=np.asarray(parts), blocks=blocks)

    def agreement(
        self,
        fitted: Fitted,
        objective: Objective,
        *,
        judge_scale: Scale | None = None,
        of_versions: Fitted | None = None,
    ) -> CrossValidatedAgreement:
        table = self.table
        said = [self._left_out(fitted, parts, table.predicted.shape) for parts in self.parts]
        damaged: Sequence[FloatArray | None] = [None] * len(said)
        if of_versions is not None and table.damaged is not None:
            damaged = [
                self._left_out(of_versions, parts, table.damaged.shape) for parts in self.parts
            ]

        told = [
            table.predicting(row, changed, judge_scale=judge_scale)
            for row, changed in zip(said, damaged, strict=True)
        ]
        # Most parts have no row of the block that is left out, and keep their value.
        known: dict[tuple[int, bytes], float] = {}
        within = [
            (repeat, parts == part)
            for repeat, parts in enumerate(self.parts)
            for part in np.unique(parts)
        ]

        def value(used: np.ndarray) -> float:
            compared, fresh = [], {}
            for repeat, part in within:
                inside = np.flatnonzero(used & part)
                # Where people do not differ, or few rows are left, no way can show anything.
                if len(inside) >= FEWEST_COMPARED and np.ptp(table.human[inside]) != 0:
                    compared.append((repeat, inside.tobytes()))
                    if compared[-1] not in known:
                        fresh[compared[-1]] = told[repeat].part(inside)
            known.update(zip(fresh, objective.values(list(fresh.values())), strict=True))
            return float(np.mean([known[one] for one in compared])) if compared else math.nan

        without = [value(self.blocks != block) for block in range(int(self.blocks.max()) + 1)]
        return CrossValidatedAgreement(
            value=value(np.ones(table.n, dtype=bool)), without=np.asarray(without)
        )

    def left_out(self, fitted: Fitted) -> FloatArray:
        """Return what is predicted of each row by fits on other sources, averaged over repeats."""
        found = [self._left_out(fitted, parts, self.table.predicted.shape) for parts in self.parts]
        return np.asarray(np.mean(found, axis=0))

    def _left_out(self, fitted: Fitted, parts: IntArray, shape: tuple[int, ...]) -> FloatArray:
        predicted = np.full(shape, np.nan)
        for part in np.unique(parts):
            outside = np.flatnonzero(parts == part)
            predicted[outside] = fitted(np.flatnonzero(parts != part), outside)
        return predicted


@dataclass(frozen=True, kw_only=True, eq=False)
class Way(ABC):
    """A way to make one score of several columns, fitted on some rows and applied to others."""

    name: str
    names: tuple[str, ...]
    columns: FloatArray
    changed: FloatArray | None = None

    @property
    @abstractmethod
    def scale(self) -> Scale:
        """What predictions are points of."""

    @abstractmethod
    def fitted(self, inside: IntArray) -> Callable[[FloatArray], FloatArray]:
        """Return the function from columns to scores that rows ``inside`` support."""

    def predictions(self, inside: IntArray, outside: IntArray) -> FloatArray:
        return self.fitted(inside)(self.columns[outside])

    def predictions_of_versions(self, inside: IntArray, outside: IntArray) -> FloatArray:
        """Return the scores of the changed versions of rows, shape (n_outside, n_kinds)."""
        assert self.changed is not None
        return of_versions(self.fitted(inside), self.changed[outside])


def of_versions(predict: Callable[[FloatArray], FloatArray], columns: FloatArray) -> FloatArray:
    """Return the scores of versions with these columns, nan where there is no version."""
    found = np.full(columns.shape[:2], np.nan)
    there = ~np.isnan(columns).all(axis=2)
    found[there] = predict(columns[there])
    return found


def no_scores(columns: FloatArray) -> FloatArray:
    """Return no score for any row: a fit on equal ratings is undefined."""
    return np.full(len(columns), np.nan)


class CrossValidatedFit(JudgeOptimizer):
    def __init__(
        self,
        objective: AnyObjective,
        *,
        n_folds: int,
        n_repeats: int,
        metric: AnyObjective | None = None,
        **shared: Unpack[RowSettings],
    ) -> None:
        super().__init__(**shared)
        if n_folds < 2 or n_repeats < 1:
            raise InputError(f"need 2 folds and 1 repeat or more; got {n_folds} and {n_repeats}.")
        self.objective = as_objective(objective, metric)
        self.n_folds = n_folds
        self.n_repeats = n_repeats
        self.trials_: tuple[TrialRecord, ...] = ()

    def _folds(self, table: PredictionTable, *, part: int) -> SourceFolds:
        return SourceFolds.of(
            table,
            n_folds=self.n_folds,
            n_repeats=self.n_repeats,
            rng=np.random.default_rng([self.seed, part]),
        )

    def _compared(
        self,
        table: PredictionTable,
        ways: Sequence[Way],
        *,
        part: int,
        allowed: Sequence[str] | None = None,
    ) -> dict[str, CrossValidatedAgreement]:
        """Keep a trial of every way; ``part`` tells random numbers of optimizers apart."""
        folds = self._folds(table, part=part)
        found = {
            way.name: folds.agreement(
                way.predictions,
                self.objective,
                judge_scale=way.scale,
                of_versions=None if way.changed is None else way.predictions_of_versions,
            )
            for way in ways
        }
        names = list(found) if allowed is None else allowed
        best = max((found[one] for one in names), key=lambda one: rank_of(one.value, 1.0))
        self.trials_ = tuple(
            TrialRecord(
                name=name,
                value=one.value,
                behind=(behind := one.behind(best))[0],
                standard_error=behind[1],
                allowed=name in names,
            )
            for name, one in found.items()
        )
        return found

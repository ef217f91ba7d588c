"""How well a way of predicting agrees with people it was not fitted on, and how sure that is.

Sources are halved at random, many times; what is fitted on one half predicts the other.
Agreement is taken within each predicted half: predictions of two different fits, put in one
list, agree worse than either of them does, because each fit has seen the other's rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.predictions import FloatArray, PredictionTable
from judgesmith.optimizers.rows import IntArray, folds_by_source
from judgesmith.signatures.scale import Scale

MOST_BLOCKS = 20
"""Sources are left out of the comparison in this many blocks at most, to see how much it moves."""

FEWEST_COMPARED = 3
"""Smaller parts of halves are not compared on; Q needs three rows."""

Fitted = Callable[[IntArray, IntArray], FloatArray]
"""From rows to fit on and rows to predict to the predictions of the latter."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CrossValidatedAgreement:
    """Cross-validated agreement of one way, comparable with that of others on the same halves."""

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
    """The halves that every way is compared on."""

    table: PredictionTable
    parts: IntArray
    blocks: IntArray

    @classmethod
    def of(
        cls, table: PredictionTable, *, n_folds: int, n_repeats: int, rng: np.random.Generator
    ) -> SourceFolds:
        """Return random folds and blocks, by source."""
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
        """Return the cross-validated agreement of ``fitted``, in points of ``judge_scale``."""
        predicted = [
            self._left_out(fitted, parts, np.full(len(parts), np.nan)) for parts in self.parts
        ]
        damaged: Sequence[FloatArray | None] = [None] * len(predicted)
        if of_versions is not None and self.table.damaged is not None:
            none = np.full(self.table.damaged.shape, np.nan)
            damaged = [self._left_out(of_versions, parts, none.copy()) for parts in self.parts]
        said = list(zip(predicted, damaged, strict=True))
        everything = np.ones(self.table.n, dtype=bool)
        blocks = range(int(self.blocks.max()) + 1)

        def value(used: np.ndarray) -> float:
            return self._value(said, used, objective, judge_scale)

        without = [value(self.blocks != block) for block in blocks]
        return CrossValidatedAgreement(value=value(everything), without=np.asarray(without))

    def _left_out(self, fitted: Fitted, parts: IntArray, predicted: FloatArray) -> FloatArray:
        for part in np.unique(parts):
            outside = np.flatnonzero(parts == part)
            predicted[outside] = fitted(np.flatnonzero(parts != part), outside)
        return predicted

    def _value(
        self,
        said: Sequence[tuple[FloatArray, FloatArray | None]],
        used: np.ndarray,
        objective: Objective,
        judge_scale: Scale | None,
    ) -> float:
        values = []
        for (row, damaged), parts in zip(said, self.parts, strict=True):
            for part in np.unique(parts):
                inside = np.flatnonzero(used & (parts == part))
                # Where people do not differ, or hardly anybody is left, no way can show anything.
                if len(inside) >= FEWEST_COMPARED and np.ptp(self.table.human[inside]) != 0:
                    table = self.table.part(inside)
                    own = None if damaged is None else damaged[inside]
                    told = table.predicting(row[inside], own, judge_scale=judge_scale)
                    values.append(objective.value(told))
        return float(np.mean(values)) if values else math.nan

"""Objectives that count pairs of rows: ties as people see them, and near neighbours told apart."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics.arrays import FloatArray, IntArray
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.pairs.ordering import (
    agreeing_pairs,
    neighbouring_rows,
    rounded_scores,
    scaled_column,
)
from judgesmith.metrics.pairs.ties import PairLevel, TieShare, counted_ties
from judgesmith.metrics.resampling.draws import Counted, ratio_of_sums
from judgesmith.optimizers.objectives.base import TargetMean
from judgesmith.optimizers.predictions import PredictionTable


@dataclass(frozen=True)
class TieAccuracy(TargetMean):
    """Share of pairs of rows that the judge orders, or ties, as the human ratings do.

    Parameters
    ----------
    level : {"dataset", "sample"}
        All pairs of rows, or pairs within each source.

    Raises
    ------
    ValueError
        If the level is unknown.

    Examples
    --------
    >>> str(TieAccuracy("sample"))
    'ties@sample'
    """

    level: PairLevel = "dataset"

    def __post_init__(self) -> None:
        """Refuse what is no level of pairs."""
        if self.level not in get_args(PairLevel):
            raise InputError(f"level of pairs must be dataset or sample; got {self.level!r}.")

    def __str__(self) -> str:
        """Return the objective as it is read."""
        return "ties" if self.level == "dataset" else f"ties@{self.level}"

    def of_target(self, table: PredictionTable) -> float:
        """Return the share among the scored rows, nan without a pair."""
        return self._share(table).value if table.n_unscored < table.n else math.nan

    def counted_target(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it as a function of counts; a row is no pair with its own copy."""
        if table.n_unscored == table.n:
            return Counted(
                value=math.nan, of_counts=lambda counts: np.full(len(counts), np.nan), n_units=0
            )
        if self.level == "sample":
            return self._within(table, sources, n_sources)
        scored = ~np.isnan(table.predicted)
        return counted_ties(
            self.of_target(table), table.human[scored], table.predicted[scored], sources[scored]
        )

    def _share(self, table: PredictionTable) -> TieShare:
        scored = ~np.isnan(table.predicted)
        return TieShare.of(
            table.human, table.predicted, table.sources.tolist(), self.level, 0.0, scored
        )

    def _within(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        share = self._share(table)
        scored = ~np.isnan(table.predicted)
        own = sources[scored]
        judge, reach = scaled_column(table.predicted[scored], 0.0)
        agreeing = agreeing_pairs(judge, reach, Column.of(table.human[scored]), own)
        size = np.bincount(own, minlength=n_sources).astype(np.float64)
        pairs = np.maximum(size * (size - 1), 1.0)
        values = np.bincount(own, weights=agreeing, minlength=n_sources) / pairs
        weights = (size > 1).astype(np.float64)
        found = ratio_of_sums(values, weights, np.arange(n_sources), n_sources)
        return replace(found, value=share.value, n_undefined=share.n_undefined)


@dataclass(frozen=True)
class NeighbourAccuracy(TargetMean):
    """Share of pairs of neighbouring ratings of a source whose better row has the higher score.

    Examples
    --------
    >>> str(NeighbourAccuracy())
    'adjacent'
    """

    within_sources = True

    def __str__(self) -> str:
        """Return the objective as it is read."""
        return "adjacent"

    def of_target(self, table: PredictionTable) -> float:
        """Return the share of the pairs with two scores, nan without any."""
        better, _ = self._pairs(table, np.unique(table.sources, return_inverse=True)[1])
        return float(better.mean()) if better.size else math.nan

    def counted_target(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it from each source's pairs."""
        better, own = self._pairs(table, sources)
        found = ratio_of_sums(better, np.ones(len(better)), own, n_sources)
        n_undefined = len(np.unique(sources)) - len(np.unique(own))
        return replace(found, value=self.of_target(table), n_undefined=n_undefined)

    def _pairs(self, table: PredictionTable, sources: IntArray) -> tuple[FloatArray, IntArray]:
        """Return for each pair whether the better row scores higher, and its source."""
        scores = rounded_scores(table.predicted)
        worse, better = neighbouring_rows(sources, Column.of(table.human))
        scored = ~np.isnan(scores[worse]) & ~np.isnan(scores[better])
        worse, better = worse[scored], better[scored]
        return (scores[worse] < scores[better]).astype(np.float64), sources[worse]

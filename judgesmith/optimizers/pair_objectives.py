"""Objectives that count pairs of rows: ties as people see them, and near neighbours told apart."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.correlations.column import Column
from judgesmith.metrics.correlations.levels import ScoredRows
from judgesmith.metrics.pairs.adjacent import neighbouring_rows, rounded_scores
from judgesmith.metrics.pairs.agreeing_pairs import agreeing_pairs, scaled_column
from judgesmith.metrics.pairs.tie_shares import PairLevel, TieShare
from judgesmith.metrics.resampling.counted_pairs import LevelTally, pairs_of_counts
from judgesmith.optimizers.counted_objectives import TargetMean
from judgesmith.optimizers.source_counts import Counted, ratio_of_sums
from judgesmith.optimizers.table import JudgedTable


@dataclass(frozen=True)
class TieAccuracy(TargetMean):
    """Share of pairs of rows that the judge orders, or ties, as people do.

    Parameters
    ----------
    level : {"dataset", "sample"}
        All pairs, or those within a source, averaged over sources.

    Raises
    ------
    ValueError
        If the level is unknown.

    References
    ----------
    Deutsch, Foster and Freitag (2023), "Ties Matter", EMNLP. arXiv:2305.14324.

    Examples
    --------
    >>> table = JudgedTable(
    ...     predicted=np.array([10.0, 60.0, 70.0]), human=np.array([1.0, 2.0, 2.0]),
    ...     sources=np.arange(3), systems=np.array(["a"] * 3),
    ... )
    >>> round(TieAccuracy().value(table), 3)
    0.667
    """

    level: PairLevel = "dataset"

    def __post_init__(self) -> None:
        """Refuse what is no level of pairs."""
        if self.level not in get_args(PairLevel):
            raise InputError(f"level of pairs must be dataset or sample; got {self.level!r}.")

    def __str__(self) -> str:
        """Return the objective as it is read."""
        return "ties" if self.level == "dataset" else f"ties@{self.level}"

    def of_target(self, table: JudgedTable) -> float:
        """Return the share among the scored rows, nan without a pair."""
        return self._share(table).value if table.n_unscored < table.n else math.nan

    def counted_target(self, table: JudgedTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it as a function of counts; a row is no pair with its own copy."""
        if table.n_unscored == table.n:
            return Counted(
                value=math.nan, of_counts=lambda counts: np.full(len(counts), np.nan), n_units=0
            )
        if self.level == "sample":
            return self._within(table, sources, n_sources)
        scored = ~np.isnan(table.predicted)
        present, codes = np.unique(sources[scored], return_inverse=True)
        rows = ScoredRows.of(
            table.predicted[scored],
            table.human[scored],
            sources=codes.tolist(),
            systems=None,
            level="dataset",
            scored=np.ones(len(codes), bool),
        )
        rows = replace(rows, sources=codes, n_sources=len(present))  # numbered as in the counts
        of_pairs, width = pairs_of_counts(rows)
        both = rows.predicted.codes * rows.human.n_levels + rows.human.codes
        tally = LevelTally(both, rows.sources)
        size = np.bincount(rows.sources, minlength=rows.n_sources).astype(np.float64)

        def shares(counts: FloatArray) -> FloatArray:
            own = counts[:, present]
            net, ordered_x, ordered_y = of_pairs(own)
            tied = np.square(tally(np.ascontiguousarray(own.T))).sum(axis=0)
            everything = np.square(own @ size)
            ordered_by_both = ordered_x + ordered_y - everything + tied
            copies = np.square(own) @ size
            agreeing = (net + ordered_by_both) / 2 + tied - copies
            result = np.full(len(counts), np.nan)
            whole = everything - copies
            np.divide(agreeing, whole, out=result, where=whole > 0)
            return result

        block = max(16, 2**20 // max(width, len(codes), 1))

        def blocked(counts: FloatArray) -> FloatArray:
            parts = [shares(counts[at : at + block]) for at in range(0, len(counts), block)]
            return np.concatenate(parts) if parts else np.empty(0)

        return Counted(value=self.of_target(table), of_counts=blocked, n_units=len(present))

    def _share(self, table: JudgedTable) -> TieShare:
        scored = ~np.isnan(table.predicted)
        return TieShare.of(
            table.predicted, table.human, table.sources.tolist(), self.level, 0.0, scored
        )

    def _within(self, table: JudgedTable, sources: IntArray, n_sources: int) -> Counted:
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

    As :func:`~judgesmith.metrics.adjacent.adjacent_accuracy` counts them: a tie is wrong.

    Examples
    --------
    >>> table = JudgedTable(
    ...     predicted=np.array([30.0, 50.0, 50.0]), human=np.array([1.0, 2.0, 4.0]),
    ...     sources=np.zeros(3), systems=np.array(["a", "b", "c"]),
    ... )
    >>> NeighbourAccuracy().value(table)
    0.5
    """

    def __str__(self) -> str:
        """Return the objective as it is read."""
        return "adjacent"

    def of_target(self, table: JudgedTable) -> float:
        """Return the share of the pairs with two scores, nan without any."""
        better, _ = self._pairs(table, np.unique(table.sources, return_inverse=True)[1])
        return float(better.mean()) if better.size else math.nan

    def counted_target(self, table: JudgedTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it from each source's pairs."""
        better, own = self._pairs(table, sources)
        found = ratio_of_sums(better, np.ones(len(better)), own, n_sources)
        n_undefined = len(np.unique(sources)) - len(np.unique(own))
        return replace(found, value=self.of_target(table), n_undefined=n_undefined)

    def _pairs(self, table: JudgedTable, sources: IntArray) -> tuple[FloatArray, IntArray]:
        """Return for each pair whether the better row scores higher, and its source."""
        scores = rounded_scores(table.predicted)
        worse, better = neighbouring_rows(sources, Column.of(table.human))
        scored = ~np.isnan(scores[worse]) & ~np.isnan(scores[better])
        worse, better = worse[scored], better[scored]
        return (scores[worse] < scores[better]).astype(np.float64), sources[worse]

"""Objectives that need no people: a judge scores changed texts below their originals."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from judgesmith.errors import InputError
from judgesmith.metrics.arrays import FloatArray, IntArray
from judgesmith.metrics.perturbations import (
    average_discernment,
    discernment_score,
    harmonic_mean_log_p,
    wilcoxon_log_p,
)
from judgesmith.metrics.perturbations.report import centred_interval
from judgesmith.metrics.perturbations.scores import level_shares
from judgesmith.metrics.perturbations.wilcoxon import ResampledTest, steps_between
from judgesmith.metrics.resampling.draws import Counted, percentile_interval, two_sided_p
from judgesmith.optimizers.objectives.base import CONFIDENCE, Objective, shared_rows
from judgesmith.optimizers.predictions import PredictionTable
from judgesmith.signatures.perturbation import Perturbation

Experts = Mapping[str, Mapping[str, float]]
"""Shares of the targets by the name of each kind of change, which sum to 1."""

MOST = 1000.0  # no discernment is thought of as larger, where a bound is needed


class DiscernmentObjective(Objective):
    needs = frozenset({"scores", "versions"})
    bounds = (0.0, MOST)
    grows: bool = True  # with the number of rows
    worst: float = 0.0  # the D of a kind that has versions and no scored pair
    experts: Experts | None = None

    @abstractmethod
    def wants(self, kind: Perturbation) -> bool:
        """Say whether a kind of change takes part."""

    @abstractmethod
    def summed_up(self, scores: FloatArray, kinds: Sequence[Perturbation]) -> FloatArray:
        """Return one number of the scores of kinds, shape (..., n_kinds), nan where undefined."""

    def value(self, table: PredictionTable) -> float:
        own = self._own(table)
        scores = discernment_by_kind(own, self.experts) * own.evidence
        unscored = [_has_versions(part) & ~_has_pairs(part) for part in own.parts]
        scores = np.where(np.any(unscored, axis=0), self.worst, scores)
        return float(self.summed_up(scores, own.kinds))

    def paired(
        self, first: PredictionTable, second: PredictionTable
    ) -> tuple[PredictionTable, PredictionTable]:
        one, other = shared_rows(first, second)
        if one.damaged is None or other.damaged is None:
            return one, other
        unscored = np.isnan(one.damaged) | np.isnan(other.damaged)
        both = _with_pairs(one) & _with_pairs(other)
        return (
            replace(one, damaged=np.where(unscored & both, np.nan, one.damaged)),
            replace(other, damaged=np.where(unscored & both, np.nan, other.damaged)),
        )

    def counted(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        numbered = self._own(replace(table, sources=sources))
        tests = [_tests(part, n_kinds=len(numbered.kinds)) for part in numbered.parts]
        versions = [_versions_by_source(part, n_sources) for part in numbered.parts]

        def of_counts(counts: FloatArray) -> FloatArray:
            log_p = np.stack([[test(counts) for test in several] for several in tests], axis=-1)
            scores = _joined(log_p, numbered, self.experts) * numbered.evidence
            drawn = np.stack([counts @ own > 0 for own in versions], axis=-1).swapaxes(0, 1)
            unscored = np.any(np.isnan(log_p) & drawn, axis=-1)
            scores = np.where(unscored, self.worst, scores)
            return np.asarray(self.summed_up(scores.T, numbered.kinds))

        pairs = _pairs(numbered)
        known = _has_pairs(numbered) | _has_versions(numbered)
        return Counted(
            value=self.value(table),
            of_counts=of_counts,
            n_units=len(np.unique(numbered.sources[pairs.any(axis=1)])),
            n_undefined=int(np.count_nonzero(~known)),
        )

    def centred(self, value: float, resampled: FloatArray) -> FloatArray:
        return moved_to(value, resampled)

    def interval_of_gain(
        self, value: float, resampled: FloatArray, n_units: int
    ) -> tuple[float, float]:
        return percentile_interval(moved_to(value, resampled), n_units, CONFIDENCE)

    def p_of_gain(self, value: float, resampled: FloatArray, n_units: int) -> float:
        return careful_p(value, resampled, n_units)

    def _own(self, table: PredictionTable) -> PredictionTable:
        found = table.of_kinds(kind for kind in table.kinds if self.wants(kind))
        if found.damaged is None or not found.kinds:
            raise InputError(
                f"{self} looks at changed versions of the rows, and none of such kinds were "
                "judged.",
                hint="give rows with versions, or leave it out of the objective.",
            )
        return found if self.grows else replace(found, evidence=1.0)


@dataclass(frozen=True)
class _OfDamage(DiscernmentObjective):
    experts: Experts | None = field(default=None, hash=False)

    def wants(self, kind: Perturbation) -> bool:
        return kind.lowers and (self.experts is None or kind.name in self.experts)

    def interval(self, value: float, resampled: FloatArray, n_units: int) -> tuple[float, float]:
        return centred_interval(value, resampled, n_units, CONFIDENCE)


@dataclass(frozen=True)
class LowestDiscernment(_OfDamage):
    """The smallest discernment score over the kinds of change that make texts worse.

    Parameters
    ----------
    experts : mapping or None
        Shares of the targets by the name of each kind of change, which sum to 1; a kind without any
        takes no part. None has all targets count alike.

    Examples
    --------
    >>> sorted(LowestDiscernment().needs)
    ['scores', 'versions']
    """

    def __str__(self) -> str:
        return "d_min"

    def summed_up(self, scores: FloatArray, kinds: Sequence[Perturbation]) -> FloatArray:
        lowest = np.min(np.where(np.isnan(scores), np.inf, scores), axis=-1)
        return np.where(np.isinf(lowest), np.nan, lowest)


@dataclass(frozen=True)
class AverageDiscernment(_OfDamage):
    """The mean discernment score over the kinds of change that make texts worse.

    Each level of text (characters, words, sentences, …) has the same weight; ``experts`` are those
    of ``LowestDiscernment``.

    Examples
    --------
    >>> str(AverageDiscernment())
    'd_avg'
    """

    def __str__(self) -> str:
        return "d_avg"

    def summed_up(self, scores: FloatArray, kinds: Sequence[Perturbation]) -> FloatArray:
        levels = [kind.level for kind in kinds]
        if scores.ndim == 1:
            return np.asarray(average_discernment(scores, levels))
        found = np.full(scores.shape[:-1], np.nan)
        defined = ~np.isnan(scores)
        for pattern in np.unique(defined, axis=0):
            if pattern.any():
                same = (defined == pattern).all(axis=-1)
                shares = level_shares([levels[place] for place in np.flatnonzero(pattern)])
                found[same] = scores[same][:, pattern] @ shares
        return found


@dataclass(frozen=True)
class FalseAlarms(DiscernmentObjective):
    """The share of harmless kinds of change that lower scores all the same; lower is better.

    Examples
    --------
    >>> sorted(FalseAlarms().needs)
    ['controls', 'scores', 'versions']
    """

    needs = frozenset({"scores", "versions", "controls"})
    lower_is_better = True
    bounds = (0.0, 1.0)
    grows = False
    worst = math.inf

    def __str__(self) -> str:
        return "false_alarms"

    def wants(self, kind: Perturbation) -> bool:
        return not kind.lowers

    def summed_up(self, scores: FloatArray, kinds: Sequence[Perturbation]) -> FloatArray:
        n_defined = np.count_nonzero(~np.isnan(scores), axis=-1)
        n_alarms = np.count_nonzero(scores >= 1, axis=-1)
        return np.where(n_defined > 0, n_alarms / np.maximum(n_defined, 1), np.nan)

    def centred(self, value: float, resampled: FloatArray) -> FloatArray:
        return resampled


def discernment_by_kind(table: PredictionTable, experts: Experts | None = None) -> FloatArray:
    log_p = [wilcoxon_log_p(part.predicted, _damaged(part).T) for part in table.parts]
    return _joined(np.stack(log_p, axis=-1), table, experts)


def _joined(log_p: FloatArray, table: PredictionTable, experts: Experts | None) -> FloatArray:
    """Return D by kind, shape (n_kinds, …), of log p by kind, …, and target."""
    shares = None
    if experts is not None:
        own = [[experts[kind.name][one] for one in table.places] for kind in table.kinds]
        shares = np.reshape(own, (len(own), *[1] * (log_p.ndim - 2), -1))
    return discernment_score(harmonic_mean_log_p(log_p, weights=shares))


def moved_to(value: float, resampled: FloatArray) -> FloatArray:
    """Return resamples moved until their median is the value."""
    defined = resampled[~np.isnan(resampled)]
    if math.isnan(value) or not defined.size:
        return resampled
    return resampled - (float(np.median(defined)) - value)


def careful_p(value: float, resampled: FloatArray, n_units: int) -> float:
    """Return the two-sided p-value of a difference: the larger of that with a shift and without."""
    return max(two_sided_p(one, n_units) for one in (resampled, moved_to(value, resampled)))


def _damaged(table: PredictionTable) -> FloatArray:
    found = table.damaged
    assert found is not None
    return found


def _pairs(table: PredictionTable) -> NDArray[np.bool_]:
    return ~np.isnan(table.predicted)[:, None] & ~np.isnan(_damaged(table))


def _has_pairs(table: PredictionTable) -> NDArray[np.bool_]:
    return np.asarray(_pairs(table).any(axis=0))


def _has_versions(table: PredictionTable) -> NDArray[np.bool_]:
    if table.versioned is None:
        return np.zeros(len(table.kinds), dtype=bool)
    return np.asarray(table.versioned.any(axis=0))


def _with_pairs(table: PredictionTable) -> NDArray[np.bool_]:
    """Return whether its kind has a scored pair on its target, shape (n, n_kinds)."""
    pairs = _pairs(table)
    found = np.zeros_like(pairs)
    for own in table.places.values():
        found[own] = pairs[own].any(axis=0)
    return found


def _versions_by_source(part: PredictionTable, n_sources: int) -> FloatArray:
    """Return how many versions of each kind there are of each source, (n_sources, n_kinds)."""
    found = np.zeros((n_sources, len(part.kinds)))
    if part.versioned is not None:
        np.add.at(found, part.sources.astype(np.int64), part.versioned.astype(float))
    return found


def _tests(part: PredictionTable, *, n_kinds: int) -> list[Callable[[FloatArray], FloatArray]]:
    steps = steps_between(part.predicted, _damaged(part).T)
    sources = part.sources.astype(np.int64)

    def tested(place: int) -> Callable[[FloatArray], FloatArray]:
        rows = np.flatnonzero(~np.isnan(steps[place]))
        if not len(rows):
            return lambda counts: np.full(len(counts), np.nan)
        test, own = ResampledTest(steps[place, rows]), sources[rows]
        return lambda counts: test.log_p(counts[:, own])

    return [tested(place) for place in range(n_kinds)]

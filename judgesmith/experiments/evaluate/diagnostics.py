"""What correlations do not tell: pairs and ties, levels beyond chance, use of the scale, length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.data.items import DataSet
from judgesmith.data.targets import Targets, ratings_behind
from judgesmith.experiments.evaluate.agreement import Report, agreement_report
from judgesmith.experiments.evaluate.describing import rater_table
from judgesmith.experiments.evaluate.judged_rows import JudgedRows
from judgesmith.experiments.evaluate.within_source import only_within_sources, undefined
from judgesmith.metrics import (
    Estimate,
    confusion_matrix,
    icc,
    tie_aware_accuracy_interval,
    weighted_kappa_interval,
)
from judgesmith.metrics.audits import LengthBias, ScaleUse, length_bias, scale_use
from judgesmith.metrics.pairs import PairLevel
from judgesmith.metrics.ratings import ConfusionMatrix, Weights, nearest_levels
from judgesmith.metrics.records import plain
from judgesmith.optimizers.predictions import PredictionTable
from judgesmith.results.base import Result
from judgesmith.signatures.scale import Scale

MOST_LEVELS = 11
"""On a finer scale than 0..10 the exact level means little, and its table is mostly empty."""

PAIR_LEVELS: tuple[PairLevel, ...] = ("dataset", "sample")
WEIGHTS: tuple[Weights, ...] = ("quadratic", "linear")


@dataclass(frozen=True, kw_only=True, eq=False)
class Diagnostics(Result):
    """What is told beside correlations, all on the same rows."""

    pairs: Mapping[PairLevel, Estimate]
    kendall_c: Report
    concordance: Report | None  # Lin's; None unless both are on one scale
    judge_scale: Scale | None  # None where unknown, of scores on file
    levels: tuple[float, ...]
    kappa: Mapping[Weights, Estimate]
    confusion: ConfusionMatrix | None
    no_kappa: str | None
    judge_use: ScaleUse
    human_use: ScaleUse
    length: LengthBias
    reliability: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "pairs": {level: one.to_dict() for level, one in self.pairs.items()},
            "kendall_c": _by_level(self.kendall_c),
            "concordance": _by_level(self.concordance),
            "judge_scale": None if self.judge_scale is None else str(self.judge_scale),
            "levels": list(self.levels),
            "kappa": {weights: one.to_dict() for weights, one in self.kappa.items()},
            "confusion": None if self.confusion is None else self.confusion.to_dict(),
            "no_kappa": self.no_kappa,
            "scale_use": {"judge": self.judge_use.to_dict(), "people": self.human_use.to_dict()},
            "length_bias": {**self.length.to_dict(), "reliability": self.reliability},
        }


def diagnostics_of(
    judged: JudgedRows,
    rows: Sequence[int],
    dataset: DataSet,
    targets: Targets,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> Diagnostics | None:
    """Return what is to be told of the scored ones among ``rows``; None where none is scored."""
    chosen = np.asarray(rows, dtype=np.intp)
    chosen = chosen[~np.isnan(judged.table.predicted[chosen])]
    if not len(chosen):
        return None
    table = judged.table.take(chosen)
    scale = targets.scale
    judge_scale = judged.scale
    levels, no_kappa = _levels(table, scale, judge_scale)
    if judged.ranks:
        levels, no_kappa = (), "a rank within a source is not a point of the raters' scale"
    kappa, confusion = _agreement_on_levels(table, levels, judge_scale, rng, confidence)
    same = judge_scale is not None and (judge_scale.low, judge_scale.high) == (
        scale.low,
        scale.high,
    )
    reliability = _reliability(dataset, targets, targets.rated[chosen].tolist())
    pairs = {
        level: tie_aware_accuracy_interval(
            table.human,
            table.predicted,
            sources=table.sources.tolist(),
            level=level,
            confidence=confidence,
        )
        for level in PAIR_LEVELS
    }
    kendall_c = agreement_report(table, rng=rng, statistics=("kendall_c",), confidence=confidence)
    if judged.ranks:
        pairs["dataset"], kendall_c = undefined(pairs["dataset"]), only_within_sources(kendall_c)
    return Diagnostics(
        pairs=pairs,
        kendall_c=kendall_c,
        concordance=agreement_report(
            table, rng=rng, statistics=("concordance",), confidence=confidence
        )
        if same and scale.higher_is_better and not judged.ranks
        else None,
        judge_scale=judge_scale,
        levels=levels,
        kappa=kappa,
        confusion=confusion,
        no_kappa=no_kappa,
        judge_use=scale_use(table.predicted, sources=table.sources.tolist(), confidence=confidence),
        human_use=scale_use(table.human, sources=table.sources.tolist(), confidence=confidence),
        length=_length(
            table, dataset, targets.rated[chosen].tolist(), reliability, rng, confidence
        ),
        reliability=reliability,
    )


def _agreement_on_levels(
    table: PredictionTable,
    levels: tuple[float, ...],
    judge_scale: Scale | None,
    rng: np.random.Generator,
    confidence: float,
) -> tuple[dict[Weights, Estimate], ConfusionMatrix | None]:
    """Return kappa and the confusion of levels; nothing where there are none."""
    if judge_scale is None or not levels:
        return {}, None
    ends = (judge_scale.low, judge_scale.high)
    predicted = nearest_levels(table.predicted, levels=levels, scale=ends)
    kappa: dict[Weights, Estimate] = {
        weights: weighted_kappa_interval(
            table.human,
            predicted,
            sources=table.sources.tolist(),
            levels=levels,
            weights=weights,
            seed=rng,
            confidence=confidence,
        )
        for weights in WEIGHTS
    }
    return kappa, confusion_matrix(table.human, predicted, levels=levels)


def _levels(
    table: PredictionTable, scale: Scale, judge_scale: Scale | None
) -> tuple[tuple[float, ...], str | None]:
    """Return the points that people could give, or why a judge cannot be held against them."""
    n_levels = scale.high - scale.low + 1
    low, high = float(np.min(table.predicted)), float(np.max(table.predicted))
    why: str | None = None
    if not scale.higher_is_better:
        why = f"raters count faults, on {scale}"
    elif not (scale.low.is_integer() and scale.high.is_integer() and n_levels <= MOST_LEVELS):
        why = f"the raters' scale {scale} has no levels, or more than {MOST_LEVELS}"
    elif not np.all(table.human == np.round(table.human)):
        why = (
            f"not all human ratings are whole points of {scale}; --aggregate mode or median may "
            "make means of several raters so"
        )
    elif judge_scale is None:
        why = (
            f"the scale of the scores from {low:g} to {high:g} is unknown; give it with "
            "--answers LOW..HIGH"
        )
    elif low < judge_scale.low or high > judge_scale.high:
        why = f"scores from {low:g} to {high:g} are not on the judge's own scale {judge_scale}"
    if why is not None:
        return (), why
    return tuple(map(float, range(int(scale.low), int(scale.high) + 1))), None


def _reliability(dataset: DataSet, targets: Targets, places: Sequence[int]) -> float:
    """Return how reliable people's values are, 1 if unknown."""
    ratings = ratings_behind(dataset, targets.name)
    table = rater_table([ratings[place] for place in places]).ratings
    if not len(table):
        return 1.0
    found = icc(table).mean
    return found if 0 < found <= 1 else 1.0


def _length(
    table: PredictionTable,
    dataset: DataSet,
    places: Sequence[int],
    reliability: float,
    rng: np.random.Generator,
    confidence: float,
) -> LengthBias:
    lengths = np.asarray([len(dataset[place].response) for place in places], dtype=float)
    written = np.flatnonzero(lengths > 0)
    return length_bias(
        table.human[written],
        table.predicted[written],
        lengths[written],
        sources=table.sources[written].tolist(),
        reliability=reliability,
        seed=rng,
        confidence=confidence,
    )


def _by_level(report: Report | None) -> dict[str, Any] | None:
    """Return the one statistic of a report, by level."""
    found = plain(report)
    if found is None:
        return None
    return {level: one for level, row in found.items() for one in row.values()}

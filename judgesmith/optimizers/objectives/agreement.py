"""Objectives that compare scores with human ratings: correlations, levels, pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np

from judgesmith.errors import InputError, hint_of, sentence_of
from judgesmith.metrics import mean_absolute_error
from judgesmith.metrics.arrays import FloatArray, IntArray, Seed, check_choice, paired_scores
from judgesmith.metrics.comparing.significance import with_sources_shared
from judgesmith.metrics.correlation import (
    Level,
    RatedPart,
    Statistic,
    agreement,
    contributions,
    mean_agreement_difference,
    mean_agreement_interval,
)
from judgesmith.metrics.correlation.coefficients import group_correlations
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.pairs.ordering import (
    agreeing_pairs,
    neighbouring_rows,
    rounded_scores,
    scaled_column,
)
from judgesmith.metrics.pairs.ties import PairLevel, TieShare, counted_ties
from judgesmith.metrics.ratings import nearest_levels
from judgesmith.metrics.ratings.kappa import Weights, counted_kappa, weighted_kappa
from judgesmith.metrics.records import Estimate, PairedEstimate
from judgesmith.metrics.resampling.draws import Counted, ratio_of_sums
from judgesmith.metrics.resampling.intervals import AveragedUnits, scored_by_both
from judgesmith.optimizers.objectives.base import UNDEFINED, Objective, TargetMean, shared_rows
from judgesmith.optimizers.objectives.verdicts import ThresholdRule, VerdictRate
from judgesmith.optimizers.predictions import PredictionTable, Scales
from judgesmith.signatures.scale import Scale


@dataclass(frozen=True, slots=True)
class Agreement(Objective):
    """Correlation with people at one level; the mean of it over targets where there are several.

    Parameters
    ----------
    statistic : {"q", "pearson", "spearman", "kendall", "kendall_c", "concordance"}
        ``q`` is the sum of the three after it, from -3 to 3; ``kendall_c`` is tau-c.
        ``concordance`` makes sense only of a judge that answers in points of the human scale.
    level : {"dataset", "sample", "system"}
        Over all rows, within each source, or between the systems' means.

    Examples
    --------
    >>> table = PredictionTable(
    ...     predicted=np.array([10.0, 50.0, 90.0]), human=np.array([1.0, 3.0, 5.0]),
    ...     sources=np.arange(3), systems=np.array(["a"] * 3),
    ... )
    >>> round(Agreement("q").value(table), 6)
    3.0
    """

    statistic: Statistic = "q"
    level: Level = "dataset"
    checked_on_ratings = False  # rows whose ratings are constant are refused in their own words

    def __post_init__(self) -> None:
        for (name, given), known in zip(self._given.items(), (Statistic, Level), strict=True):
            if given not in (names := get_args(known)):
                raise InputError(f"{name} must be one of {', '.join(names)}; got {given!r}.")

    @property
    def _given(self) -> dict[str, Any]:
        return {"statistic": self.statistic, "level": self.level}

    def __str__(self) -> str:
        return self.statistic if self.level == "dataset" else f"{self.statistic}@{self.level}"

    def value(self, table: PredictionTable) -> float:
        if table.targets:
            return float(np.mean([self.value(part) for part in table.parts]))
        if table.n == table.n_unscored:
            return math.nan
        labels: dict[str, Any] = {"sources": table.sources, "systems": table.systems}
        return agreement(table.human, table.predicted, **labels, **self._given).value

    def values(self, tables: Sequence[PredictionTable]) -> Sequence[float]:
        if not tables or self.level != "dataset" or any(table.targets for table in tables):
            return [self.value(table) for table in tables]
        # Many small tables take hardly longer than one.
        columns = [[table.human for table in tables], [table.predicted for table in tables]]
        human, judge = paired_scores(*map(np.concatenate, columns), allow_unscored=True)
        tables_of_rows = np.repeat(np.arange(len(tables)), [table.n for table in tables])
        scored = ~np.isnan(judge)
        x, y = Column.of(judge[scored]), Column.of(human[scored])
        found = group_correlations(self.statistic, x, y, tables_of_rows[scored], len(tables))
        return [float(one) for one in found]

    @property
    def bounds(self) -> tuple[float, float]:
        return (-3.0, 3.0) if self.statistic == "q" else (-1.0, 1.0)

    def counted(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        scored = ~np.isnan(table.predicted)
        present = np.unique(sources[scored])
        if not present.size:
            return UNDEFINED
        numbered = rated_parts(replace(table, sources=sources))
        units = AveragedUnits.of(numbered, self.statistic, self.level, "sources")
        return replace(
            units.counted,
            value=self.value(table),
            of_counts=lambda counts: units(counts[:, present]),
        )

    def paired(
        self, first: PredictionTable, second: PredictionTable
    ) -> tuple[PredictionTable, PredictionTable]:
        one, other = shared_rows(first, second)
        if self.level != "sample":
            return one, other
        predicted = one.predicted.copy(), other.predicted.copy()
        for rows in one.places.values():
            kept = with_sources_shared(
                one.human[rows],
                predicted[0][rows],
                predicted[1][rows],
                sources=one.sources[rows],
                statistic=self.statistic,
            )
            for scores, own in zip(predicted, kept, strict=True):
                scores[rows] = own
        return replace(one, predicted=predicted[0]), replace(other, predicted=predicted[1])

    def estimate(self, table: PredictionTable, *, seed: Seed) -> Estimate:
        return mean_agreement_interval(rated_parts(table), **self._given, seed=seed)

    def gain(
        self, first: PredictionTable, second: PredictionTable, *, seed: Seed
    ) -> PairedEstimate:
        parts = rated_parts(first), rated_parts(second)
        return mean_agreement_difference(*parts, **self._given, seed=seed)

    def estimate_pair(
        self,
        first: PredictionTable,
        second: PredictionTable,
        *,
        seeds: Sequence[Seed],
    ) -> tuple[Estimate, Estimate]:
        parts = zip(rated_parts(first), rated_parts(second), strict=True)
        pairs = [scored_by_both(*pair, **self._given) for pair in parts]
        one, other = (
            mean_agreement_interval(list(parts), **self._given, seed=seed)
            for parts, seed in zip(zip(*pairs, strict=True), seeds, strict=True)
        )
        return one, other

    def row_parts(self, table: PredictionTable) -> FloatArray:
        parts = np.full(table.n, np.nan)
        for rows in table.places.values():
            if not np.isnan(table.predicted[rows]).all():
                labels: dict[str, Any] = {"sources": table.sources[rows]}
                labels["systems"] = table.systems[rows]
                human, judge = table.human[rows], table.predicted[rows]
                parts[rows] = contributions(human, judge, **labels, **self._given)
            if np.isnan(parts[rows]).all():
                return np.full(table.n, np.nan)
        return parts / len(table.places)

    def row_part(self, table: PredictionTable, row: int) -> float:
        return float(self.row_parts(table)[row])


def rated_parts(table: PredictionTable) -> list[RatedPart]:
    return [
        RatedPart(
            judge=part.predicted, human=part.human, sources=part.sources, systems=part.systems
        )
        for part in table.parts
    ]


def parse_agreement(text: str) -> Agreement:
    statistic, _, level = text.strip().partition("@")
    try:
        return Agreement(statistic, level or "dataset")  # type: ignore[arg-type]
    except ValueError as fault:
        raise InputError(
            "an objective is STATISTIC or STATISTIC@LEVEL, as in q or spearman@sample: "
            f"{sentence_of(fault)}",
            hint=hint_of(fault),
        ) from None


MOST_LEVELS = 11  # on a finer scale than 0..10 the exact level means little


def levels_in(table: PredictionTable) -> FloatArray:
    scale = table.scale if isinstance(table.scale, Scale) else None
    whole = scale is not None and scale.low.is_integer() and scale.high.is_integer()
    if scale is not None and whole and scale.high - scale.low < MOST_LEVELS:
        return np.arange(scale.low, scale.high + 1)
    found = np.unique(table.human)
    if len(found) > MOST_LEVELS:
        named = "no scale is named" if scale is None else f"the scale {scale} has as many or more"
        raise InputError(
            f"kappa needs {MOST_LEVELS} levels or fewer; raters gave {len(found)} different "
            f"values, and {named}.",
            hint="take q or concordance for fine ratings.",
        )
    return found


def in_people_points(table: PredictionTable) -> FloatArray:
    scale = _known(table.scale, "human", "scale")
    judge = _known(table.judge_scale, "the judge's", "judge_scale")
    scored = table.predicted[~np.isnan(table.predicted)]
    if np.any((scored < judge.low) | (scored > judge.high)):
        raise InputError(
            f"scores from {scored.min():g} to {scored.max():g} are not on the judge's scale "
            f"{judge}.",
            hint="name the scale that it answers on with judge_scale=.",
        )
    share = (table.predicted - judge.low) / (judge.high - judge.low)
    share = share if judge.higher_is_better else 1 - share
    return np.asarray(scale.low + share * (scale.high - scale.low))


def _known(given: Scales, whose: str, name: str) -> Scale:
    if isinstance(given, Scale):
        return given
    raise InputError(
        f"kappa and mae compare points, and the scale of {whose} scores is not known.",
        hint=f"give the table {name}=, such as PredictionTable(…, {name}=Scale(low=0, high=100)).",
    )


def on_levels(table: PredictionTable) -> tuple[FloatArray, FloatArray, FloatArray]:
    levels = levels_in(table)
    if len(levels) < 2:
        return np.empty(0), np.empty(0), levels
    points = np.clip(in_people_points(table), levels[0], levels[-1])
    human = nearest_levels(table.human, levels=levels)
    return nearest_levels(points, levels=levels), human, levels


def has_two_labels(table: PredictionTable) -> bool:
    scale = table.scale
    return isinstance(scale, Scale) and scale.is_verdict and len(scale.labels) == 2


MOST_POINTS = 1000.0  # no error is thought of as larger, where a bound is needed


@dataclass(frozen=True)
class Kappa(TargetMean):
    """Agreement on the level beyond chance: Cohen's weighted kappa.

    Where people gave two labels, such as pass and fail, that of verdicts: see ``VerdictRate``.

    Parameters
    ----------
    weights : {"quadratic", "linear"}
        How a disagreement grows with the distance of two levels.

    Examples
    --------
    >>> str(Kappa()), str(Kappa("linear"))
    ('kappa', 'kappa_linear')
    """

    weights: Weights = "quadratic"
    rule: ThresholdRule | None = field(default=None, repr=False, compare=False)
    needs = frozenset({"scores", "ratings", "scale"})
    bounds = (-1.0, 1.0)

    def __post_init__(self) -> None:
        check_choice(self.weights, Weights, name="weights")
        if self.weights == "nominal":
            raise InputError("weights must be quadratic or linear; got 'nominal'.")

    def __str__(self) -> str:
        return "kappa" if self.weights == "quadratic" else "kappa_linear"

    def decided_by(self, rule: ThresholdRule) -> Objective:
        return replace(self, rule=rule)

    @property
    def of_two_labels(self) -> VerdictRate:
        """The same number where people gave two labels."""
        return VerdictRate("kappa", self.rule)

    def of_target(self, table: PredictionTable) -> float:
        if has_two_labels(table):
            return self.of_two_labels.of_target(table)
        judge, people, levels = on_levels(table)
        scored = ~np.isnan(judge)
        if not scored.any():
            return math.nan
        return weighted_kappa(people[scored], judge[scored], levels=levels, weights=self.weights)

    def counted_target(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        if has_two_labels(table):
            return self.of_two_labels.counted_target(table, sources, n_sources)
        judge, people, levels = on_levels(table)
        own = sources[: len(judge)]
        found = counted_kappa(people, judge, own, n_sources, levels=levels, weights=self.weights)
        return replace(found, value=self.of_target(table))


@dataclass(frozen=True)
class AbsoluteError(TargetMean):
    """Mean absolute error in points of the human scale; lower is better.

    Examples
    --------
    >>> AbsoluteError().lower_is_better
    True
    """

    needs = frozenset({"scores", "ratings", "scale"})
    lower_is_better = True
    bounds = (0.0, MOST_POINTS)

    def __str__(self) -> str:
        return "mae"

    def of_target(self, table: PredictionTable) -> float:
        points = in_people_points(table)
        scored = ~np.isnan(points)
        return mean_absolute_error(table.human[scored], points[scored])

    def counted_target(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        points = in_people_points(table)
        scored = (~np.isnan(points)).astype(np.float64)
        off = np.nan_to_num(np.abs(points - table.human))
        found = ratio_of_sums(off, scored, sources, n_sources)
        return replace(found, value=self.of_target(table))


@dataclass(frozen=True)
class TieAccuracy(TargetMean):
    """Share of pairs of rows that the judge orders, or ties, as the human ratings do.

    Parameters
    ----------
    level : {"dataset", "sample"}
        All pairs of rows, or pairs within each source.

    Examples
    --------
    >>> str(TieAccuracy("sample"))
    'ties@sample'
    """

    level: PairLevel = "dataset"

    def __post_init__(self) -> None:
        if self.level not in get_args(PairLevel):
            raise InputError(f"level of pairs must be dataset or sample; got {self.level!r}.")

    def __str__(self) -> str:
        return "ties" if self.level == "dataset" else f"ties@{self.level}"

    def of_target(self, table: PredictionTable) -> float:
        return self._share(table).value if table.n_unscored < table.n else math.nan

    def counted_target(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        if table.n_unscored == table.n:
            return UNDEFINED
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
        return replace(found, value=share.value, n_undefined=share.shown["n_undefined"])


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
        return "adjacent"

    def of_target(self, table: PredictionTable) -> float:
        better, _ = self._pairs(table, np.unique(table.sources, return_inverse=True)[1])
        return float(better.mean()) if better.size else math.nan

    def counted_target(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
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

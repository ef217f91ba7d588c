"""Objectives that count right and wrong verdicts: what is passed, and what is stopped."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from judgesmith.errors import InputError, did_you_mean
from judgesmith.metrics.arrays import FloatArray, IntArray, group_sums
from judgesmith.metrics.resampling.draws import Counted
from judgesmith.metrics.verdicts.confusion import Tables, VerdictMetric
from judgesmith.metrics.verdicts.threshold import Cuts
from judgesmith.optimizers.objectives.base import Objective, TargetMean
from judgesmith.optimizers.predictions import Labels, PredictionTable
from judgesmith.signatures.scale import Scale, shortest

BoolArray = NDArray[np.bool_]
Terms = tuple[tuple[float, Objective], ...]  # weights and what they weigh
Rate = Literal["balanced_accuracy", "mcc", "f1", "kappa", "tpr", "tnr"]

PARTS_OF_SOURCES = 5
"""Of sources, where verdicts take a threshold that was learned on others."""


def people_labels(table: PredictionTable) -> Scale:
    """Return the labels that people gave; refuse ratings."""
    if isinstance(table.scale, Scale) and table.scale.is_verdict:
        return table.scale
    raise InputError(
        "verdicts such as tpr, tnr and cost are counted against labels such as pass and fail, and "
        + ("these are ratings." if table.scale else "the scale of the human scores is not known."),
        where="--objective",
        hint="say which ratings are labels (--labels fail,pass), or take q or kappa; usd and calls "
        "are what judging costs.",
    )


def is_good(table: PredictionTable) -> BoolArray:
    """Return which rows people gave the positive label, or a better one."""
    return np.asarray(table.human >= people_labels(table).good_from)


def table_verdicts(table: PredictionTable, rule: ThresholdRule) -> FloatArray:
    """Return 1 for what the judge passes, 0 for what it stops, nan where it says nothing.

    A table without a threshold has one for every source, learned on all others.
    """
    scored = ~np.isnan(table.predicted)
    found = np.full(table.n, np.nan)
    if table.threshold is not None:
        scale = table.judge_scale
        if not isinstance(scale, Scale):
            raise InputError("a threshold needs the judge's scale.", hint="give judge_scale=.")
        share = (table.predicted - scale.low) / (scale.high - scale.low)
        found[scored] = share[scored] >= table.threshold
        return found
    good = is_good(table)[scored]
    found[scored] = rule.out_of_fold(
        table.predicted[scored], good, table.sources[scored], people_labels(table)
    )
    return found


class OfVerdicts(TargetMean):
    """A number made of how many good and bad rows a judge passes and stops."""

    needs = frozenset({"scores", "ratings", "labels", "scale"})
    rule: ThresholdRule | None = None

    @property
    @abstractmethod
    def metric(self) -> VerdictMetric:
        """What it is called among the metrics of verdicts."""

    def costs_on(self, scale: Scale) -> FloatArray | None:
        """Return what a wrong verdict costs on a bad and on a good row, if it costs anything."""
        return None

    def of_cells(self, cells: FloatArray, scale: Scale) -> FloatArray:
        """Return the number of any counts, nan where it is undefined.

        In the last dimension are bad rows stopped and passed, good rows stopped and passed.
        """
        tables = Tables.of(cells, np.ones(4), 1, self.costs_on(scale))
        return tables.value(self.metric).reshape(cells.shape[:-1])

    def cells(self, table: PredictionTable) -> FloatArray:
        """Return which of the four counts each row adds to."""
        good = is_good(table)
        weight = -1.0 if self.lower_is_better else 1.0
        passed = table_verdicts(table, self.rule or rule_of([((weight, self),)]))
        found = [own & (passed == said) for own in (~good, good) for said in (0, 1)]
        return np.stack(found, axis=1).astype(np.float64)

    def decided_by(self, rule: ThresholdRule) -> Objective:
        return replace(self, rule=rule)  # type: ignore[type-var]

    def of_target(self, table: PredictionTable) -> float:
        return float(self.of_cells(self.cells(table).sum(axis=0), people_labels(table)))

    def counted_target(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        cells, scale = self.cells(table), people_labels(table)
        sums = group_sums(tuple(cells.T), sources, n_sources)
        return Counted(
            value=float(self.of_cells(cells.sum(axis=0), scale)),
            of_counts=lambda counts: self.of_cells(counts @ sums, scale),
            n_units=int(np.count_nonzero(sums.sum(axis=1))),
        )

    def row_parts(self, table: PredictionTable) -> FloatArray:
        parts = np.full(table.n, np.nan)
        for part, own in zip(table.parts, table.places.values(), strict=True):
            cells, scale = self.cells(part), people_labels(part)
            counted = np.flatnonzero(cells.any(axis=1))
            whole = float(self.of_cells(cells.sum(axis=0), scale))
            if math.isnan(whole):
                return np.full(table.n, np.nan)
            without = self.of_cells(cells.sum(axis=0) - cells[counted], scale)
            lost = np.where(np.isnan(without), 0.0, whole - without)
            shared = (whole - lost.sum()) / len(counted)
            parts[own[counted]] = (lost + shared) / len(table.places)
        return parts

    def row_part(self, table: PredictionTable, row: int) -> float:
        return float(self.row_parts(table)[row])


@dataclass(frozen=True)
class VerdictRate(OfVerdicts):
    """How right a judge's verdicts are, where people gave labels such as pass and fail.

    Scores become verdicts by the table's threshold. A table without one has a threshold for each
    source, learned on all other sources.

    Parameters
    ----------
    name : {"balanced_accuracy", "mcc", "f1", "kappa", "tpr", "tnr"}
        ``tpr`` is the share of good rows that are passed, ``tnr`` that of bad rows that are
        stopped, ``balanced_accuracy`` their mean; ``f1`` is the mean over both labels.

    Examples
    --------
    >>> table = PredictionTable(
    ...     predicted=np.array([.2, .9, .4, .8]), human=np.array([0.0, 1.0, 1.0, 0.0]),
    ...     sources=np.arange(4), systems=np.array(["a"] * 4), threshold=.3,
    ...     scale=Scale.of_labels("fail", "pass"), judge_scale=Scale(low=0, high=1),
    ... )
    >>> VerdictRate("tpr").value(table), VerdictRate("tnr").value(table)
    (1.0, 0.5)
    """

    name: Rate = "balanced_accuracy"
    rule: ThresholdRule | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.name not in get_args(Rate):
            raise InputError(f"name must be one of {', '.join(get_args(Rate))}; got {self.name!r}.")

    def __str__(self) -> str:
        return self.name

    @property
    def bounds(self) -> tuple[float, float]:
        return (-1.0, 1.0) if self.name in ("mcc", "kappa") else (0.0, 1.0)

    @property
    def metric(self) -> VerdictMetric:
        return "macro_f1" if self.name == "f1" else self.name


def costs_of(text: str) -> tuple[tuple[str, float], ...]:
    """Return the costs that a text such as ``fail=5, pass=1`` names, by label."""
    found: dict[str, float] = {}
    for one in text.split(","):
        label, equals, cost = (part.strip() for part in one.rpartition("="))
        try:
            number = float(cost) if label and equals else math.nan
        except ValueError:
            number = math.nan
        if not (math.isfinite(number) and number > 0) or label in found:
            raise InputError(
                f"costs are numbers above 0, one by label, as in fail=5,pass=1; got {text!r:.80}."
            )
        found[label] = number
    return tuple(found.items())


@dataclass(frozen=True)
class VerdictCost(OfVerdicts):
    """Mean cost of a row by wrong verdicts; lower is better.

    Parameters
    ----------
    costs : tuple of (str, float)
        What a wrong verdict on a row costs, by the label that people gave it; 1 where unsaid.

    Examples
    --------
    >>> str(VerdictCost((("fail", 5), ("pass", 1)))), str(VerdictCost())
    ('cost(fail=5, pass=1)', 'cost')
    """

    costs: tuple[tuple[str, float], ...] = ()
    rule: ThresholdRule | None = field(default=None, repr=False, compare=False)
    lower_is_better = True

    def __post_init__(self) -> None:
        for label, cost in self.costs:
            if not (math.isfinite(cost) and cost > 0):
                raise InputError(f"a cost is a number above 0; got {cost:g} for {label}.")

    def __str__(self) -> str:
        said = ", ".join(f"{label}={shortest(cost)}" for label, cost in self.costs)
        return f"cost({said})" if said else "cost"

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, max((cost for _, cost in self.costs), default=1.0)

    @property
    def metric(self) -> VerdictMetric:
        return "cost"

    def costs_on(self, scale: Scale) -> FloatArray:
        if len(scale.labels) != 2:
            raise InputError(f"costs are of two labels; these are {', '.join(scale.labels)}.")
        found = dict.fromkeys(scale.labels, 1.0)
        for name, cost in self.costs:
            label = scale.label(name)
            if label is None:
                raise InputError(
                    f"a cost is named for {name!r}, and the labels are {', '.join(scale.labels)}.",
                    hint=did_you_mean(name, scale.labels),
                )
            found[label] = cost
        return np.array([found[label] for label in scale.labels])


VerdictTerms = tuple[tuple[float, OfVerdicts], ...]
"""Weights, and the numbers of verdicts that they weigh."""


@dataclass(frozen=True)
class ThresholdRule:
    """What a threshold is selected by: a sum of numbers of verdicts, and floors under others.

    ``floors`` are sums with the least that they may be.
    """

    terms: VerdictTerms
    floors: tuple[tuple[VerdictTerms, float], ...] = ()

    @classmethod
    def of(cls, objective: Any) -> ThresholdRule:
        """Return the rule of what counts verdicts in an objective, or in several."""
        return rule_of(
            [one.unconditional().weighted() for one in objective.each],
            [(one.left.weighted(), one.bound) for one in objective.constraints],
        )

    def threshold(
        self, scores: FloatArray, good: BoolArray, sources: Labels, scale: Scale
    ) -> tuple[float, bool]:
        """Return the least score that passes, and whether it meets all floors.

        A floor under ``tpr`` or ``tnr`` is met where the lower limit of the share is above it.
        Where no threshold meets all, the one that comes nearest is taken; where all rows have one
        label, everything passes.
        """
        cuts = Cuts.of(scores, good, sources)
        if not cuts.tells_apart:
            return -math.inf, not self.floors
        short = np.zeros(len(cuts.thresholds))
        for terms, bound in self.floors:
            found = [w * _limited(one, cuts, w > 0, scale) for w, one in terms]
            short += np.maximum(bound - np.sum(found, axis=0), 0.0)
        values = [weight * one.of_cells(cuts.tables, scale) for weight, one in self.terms]
        smooth = cuts.smoothed(np.sum(values, axis=0))
        allowed = np.flatnonzero(short <= short.min() + 1e-12)
        best = allowed[smooth[allowed] >= smooth[allowed].max() - 1e-12]
        return float(cuts.thresholds[best[len(best) // 2]]), bool(short.min() <= 1e-12)

    def out_of_fold(
        self, scores: FloatArray, good: BoolArray, sources: Labels, scale: Scale
    ) -> BoolArray:
        """Return what passes, by a threshold for each fold of sources that the others teach."""
        folds = np.unique(sources, return_inverse=True)[1] % PARTS_OF_SOURCES
        passed = np.zeros(len(scores), dtype=bool)
        for fold in np.unique(folds):
            own, rest = folds == fold, folds != fold
            least, _ = self.threshold(scores[rest], good[rest], sources[rest], scale)
            passed[own] = scores[own] >= least
        return passed


def rule_of(aims: Sequence[Terms], floors: Sequence[tuple[Terms, float]] = ()) -> ThresholdRule:
    """Return what a threshold is selected by, for all parts of an objective alike.

    Where no aim says what is better, or only one side of it, balanced accuracy decides.
    """
    terms = tuple(term for one in aims for term in _of_verdicts(one))
    bounded = tuple(
        (own, bound) for one, bound in floors if (own := _of_verdicts(one)) and len(own) == len(one)
    )
    sides = {str(one) for _, one in terms}
    if not terms or (len(sides) == 1 and sides <= {"tpr", "tnr"} and not bounded):
        terms = ((1.0, VerdictRate()),)
    return ThresholdRule(terms, bounded)


def with_rule(terms: Terms, rule: ThresholdRule) -> Terms:
    """Return the terms of a sum, those that count verdicts by one threshold."""
    return tuple((weight, one.decided_by(rule)) for weight, one in terms)


def _of_verdicts(terms: Terms) -> VerdictTerms:
    own = ((weight, getattr(one, "of_two_labels", one)) for weight, one in terms)
    return tuple((weight, one) for weight, one in own if isinstance(one, OfVerdicts))


def _limited(one: OfVerdicts, cuts: Cuts, from_below: bool, scale: Scale) -> FloatArray:
    if from_below and str(one) in ("tpr", "tnr"):
        return cuts.lower_limit(good=str(one) == "tpr")
    return one.of_cells(cuts.tables, scale)

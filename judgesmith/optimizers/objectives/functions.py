"""Objectives that users write as functions, and means of a number that every row has."""

from __future__ import annotations

import inspect
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Real
from typing import Any

import dspy
import numpy as np
from numpy.typing import NDArray

from judgesmith.errors import InputError, JudgesmithError
from judgesmith.metrics.arrays import FloatArray, IntArray
from judgesmith.metrics.resampling.draws import Counted, ratio_of_sums
from judgesmith.optimizers.objectives.base import (
    Objective,
    TargetMean,
    counted_by_rows,
    shared_rows,
)
from judgesmith.optimizers.predictions import PredictionTable, scale_of_target
from judgesmith.optimizers.space.proposing import identity_of
from judgesmith.signatures.judgement import Judgement

KINDS = "f(ratings, scores), f(table) or metric(example, prediction, trace=None) -> float"
"""What a function has to be like."""


MOST_CALLS = MOST_USD = 1000.0
"""No item is thought of as taking or costing more, where a bound is needed."""


class RowMean(TargetMean):
    """The mean of a number that every row has, scored or not."""

    within_sources = True  # it sees one row at a time

    @abstractmethod
    def of_rows(self, table: PredictionTable) -> FloatArray:
        """Return the number of every row."""

    def counts(self, table: PredictionTable) -> NDArray[np.bool_]:
        return np.ones(table.n, dtype=bool)

    def paired(
        self, first: PredictionTable, second: PredictionTable
    ) -> tuple[PredictionTable, PredictionTable]:
        """Return both tables as they are: rows without a score count, too."""
        return first, second

    def of_target(self, table: PredictionTable) -> float:
        counted = self.counts(table)
        sums = np.where(counted, self.of_rows(table), 0.0).sum()
        return float(sums / counted.sum()) if counted.any() else math.nan

    def counted_target(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        counted = self.counts(table)
        numbers = np.where(counted, self.of_rows(table), 0.0)
        return ratio_of_sums(numbers, counted.astype(np.float64), sources, n_sources)


@dataclass(frozen=True)
class ShareScored(RowMean):
    """Share of the rows that got a score.

    Examples
    --------
    >>> str(ShareScored())
    'scored'
    """

    needs = frozenset({"scores"})

    def __str__(self) -> str:
        return "scored"

    def of_rows(self, table: PredictionTable) -> FloatArray:
        return (~np.isnan(table.predicted)).astype(np.float64)


@dataclass(frozen=True)
class CallsPerItem(RowMean):
    """Model calls per item, cached or not; lower is better.

    Examples
    --------
    >>> CallsPerItem().is_effort
    True
    """

    needs = frozenset({"calls"})
    lower_is_better = True
    bounds = (0.0, MOST_CALLS)

    def __str__(self) -> str:
        return "calls"

    def of_rows(self, table: PredictionTable) -> FloatArray:
        if table.n and not table.n_calls:
            raise InputError(
                "the calls behind these scores are unknown.",
                hint="leave calls out of the objective.",
            )
        return np.asarray(table.n_calls, dtype=np.float64)


@dataclass(frozen=True)
class DollarsPerItem(RowMean):
    """United States dollars per item, as if nothing were cached; lower is better.

    Examples
    --------
    >>> sorted(DollarsPerItem().needs)
    ['usd']
    """

    needs = frozenset({"usd"})
    lower_is_better = True
    bounds = (0.0, MOST_USD)

    def __str__(self) -> str:
        return "usd"

    def of_rows(self, table: PredictionTable) -> FloatArray:
        if table.n and not table.usd:
            raise InputError(
                "the cost of these scores is unknown.",
                hint="leave usd out of the objective, or search "
                "the protocol with a model whose price is known and with a ledger.",
            )
        return np.asarray(table.usd, dtype=np.float64)


@dataclass(frozen=True)
class FunctionObjective(TargetMean):
    """A function of a table's scored rows; the mean of it over targets where there are several.

    Optimizers make one of any function of one argument that they are given.

    Parameters
    ----------
    function : callable
        From a ``PredictionTable`` of scored rows to a finite number, or nan where undefined.
    of_arrays : bool
        Whether it takes two arrays instead: the ratings, and the scores on the scale of the
        ratings. Optimizers do so with every function of two arguments but one of an ``example``.

    Examples
    --------
    >>> str(FunctionObjective(lambda table: 1.0))
    '<lambda>'
    """

    function: Callable[..., Any]
    of_arrays: bool = False
    within_sources = True  # whether it does is the user's business

    @property
    def identity(self) -> str:
        return identity_of(self.function)

    def __str__(self) -> str:
        return name_of(self.function)

    def of_target(self, table: PredictionTable) -> float:
        scored = table.take(np.flatnonzero(~np.isnan(table.predicted)))
        if not scored.n:
            return math.nan
        given: tuple[Any, ...] = (scored,)
        if self.of_arrays:
            given = (scored.human, _on_scale_of_ratings(scored))[:: -1 if self._turned else 1]
        return _number(self.function, self.function, *given, where=f"a table of {scored.n} rows")

    @cached_property
    def _turned(self) -> bool:
        return _first_argument(self.function) in _SCORES

    def counted_target(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        return counted_by_rows(self.of_target, table, sources, n_sources)


@dataclass(frozen=True)
class MetricObjective(RowMean):
    """The mean over scored rows of a metric as DSPy's optimizers take it.

    Optimizers make one of ``metric=``, and of other functions of two arguments or more.

    Parameters
    ----------
    metric : callable
        ``metric(example, prediction, trace=None) -> float``.

    Examples
    --------
    >>> def close(example, prediction, trace=None):
    ...     return abs(example.score - prediction.score) < 1
    >>> str(MetricObjective(close))
    'close'
    """

    metric: Callable[..., Any]

    @property
    def identity(self) -> str:
        return identity_of(self.metric)

    def __str__(self) -> str:
        return name_of(self.metric)

    def counts(self, table: PredictionTable) -> NDArray[np.bool_]:
        return ~np.isnan(table.predicted)

    def paired(
        self, first: PredictionTable, second: PredictionTable
    ) -> tuple[PredictionTable, PredictionTable]:
        return shared_rows(first, second)

    def of_rows(self, table: PredictionTable) -> FloatArray:
        if len(table.examples) != table.n:
            raise InputError(
                f"the metric {self} compares examples with predictions, and this table has no "
                "examples.",
                hint="give an objective f(ratings, scores) -> float.",
            )
        found = np.full(table.n, np.nan)
        traces = [None] * (_n_arguments(self.metric) - 2)
        for row in np.flatnonzero(~np.isnan(table.predicted)).tolist():
            judgement = table.judgements[row] if table.judgements else Judgement(score=0.0)
            fields = {name: getattr(judgement, name) for name in type(judgement).model_fields}
            fields |= {"score": float(table.predicted[row]), "problem": None}
            fields["criteria"] = dict(judgement.criteria)
            target = table.targets[row] if table.targets else ""
            fields["scale"] = scale_of_target(table.judge_scale, target)
            prediction = dspy.Prediction(**fields)
            call = partial(self.metric, table.examples[row], prediction)
            where = f"row {row + 1} of {table.n}"
            value = _number(self.metric, call, *traces, where=where)
            if math.isnan(value):
                raise _unusable(self.metric, value, where)
            found[row] = value
        return found

    def row_parts(self, table: PredictionTable) -> FloatArray:
        parts = self.of_rows(table)
        for own in table.places.values():
            n = np.count_nonzero(~np.isnan(parts[own]))
            if not n:
                return np.full(table.n, np.nan)
            parts[own] /= n * len(table.places)
        return parts

    def row_part(self, table: PredictionTable, row: int) -> float:
        return float(self.row_parts(table)[row])


_SCORES = ("judge", "y_pred", "scores", "predicted", "predictions", "preds")
"""Names of a first argument that gets the scores; any other gets the ratings."""
_EXAMPLES = ("example", "ex", "gold", "item", "row", "sample")
"""Names of a first argument by which a function is a metric of one example, as DSPy has them."""


def _first_argument(function: Callable[..., Any]) -> str:
    called = function.forward if isinstance(function, dspy.Module) else function
    return next(iter(inspect.signature(called).parameters))


def _on_scale_of_ratings(table: PredictionTable) -> FloatArray:
    own, wanted = (scale_of_target(one, "") for one in (table.judge_scale, table.scale))
    if own is None or wanted is None or own == wanted:
        return table.predicted
    points: Any = table.predicted
    return np.asarray(wanted.points(own.fraction(points)))


def objective_of(function: Callable[..., Any]) -> FunctionObjective | MetricObjective:
    n = _n_arguments(function)
    if n == 2 and _first_argument(function) not in _EXAMPLES:
        return FunctionObjective(function, of_arrays=True)
    return FunctionObjective(function) if n == 1 else MetricObjective(function)


def check_direction(objective: Objective, said: PredictionTable) -> None:
    """Refuse a function that is larger for turned ratings than for the ratings themselves."""
    aim = objective.unconditional()
    if not isinstance(aim, FunctionObjective | MetricObjective):
        return
    turned = said.human.copy()
    for own in said.places.values():
        turned[own] = said.human[own].min() + said.human[own].max() - said.human[own]
    best, worst = aim.value(said), aim.value(said.predicting(turned, judge_scale=said.judge_scale))
    if best < worst:
        raise InputError(
            f"the objective {aim} is maximized, and it is {best:.4g} for a judge that repeats the "
            f"human ratings and {worst:.4g} for one that turns them round.",
            hint="return its negative.",
        )


def name_of(function: Callable[..., Any]) -> str:
    if isinstance(function, partial):
        return name_of(function.func)
    return str(getattr(function, "__name__", type(function).__name__))


_ARGUMENTS: Sequence[int] = (1, 2, 3, 5)
"""A table; example and prediction; with a trace; and with the two that GEPA's metrics take."""


def _n_arguments(function: Callable[..., Any]) -> int:
    called = function.forward if isinstance(function, dspy.Module) else function
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        raise _unlike(function) from None
    for n in _ARGUMENTS:
        try:
            signature.bind(*[None] * n)
        except TypeError:
            continue
        return n
    raise _unlike(function)


def _unlike(function: object) -> InputError:
    return InputError(f"an objective is {KINDS}; {name_of(function)} takes other arguments.")  # type: ignore[arg-type]


def _number(
    named: Callable[..., Any], call: Callable[..., Any], *arguments: Any, where: str
) -> float:
    try:
        found = call(*arguments)
    except JudgesmithError:
        raise
    except Exception as fault:
        raise InputError(
            f"the objective {name_of(named)} raised {type(fault).__name__} on {where}: {fault}",
            hint="a function of one argument gets a PredictionTable, one of two the ratings and "
            "the scores, one of (example, prediction, trace=None) one row.",
        ) from fault
    if isinstance(found, dspy.Prediction) and "score" in found:
        found = found.score
    if isinstance(found, np.ndarray) and not found.ndim:
        found = found.item()
    if isinstance(found, Real | np.bool_) and not math.isinf(value := float(found)):
        return value
    raise _unusable(named, found, where)


def _unusable(named: Callable[..., Any], found: object, where: str) -> InputError:
    return InputError(
        f"the objective {name_of(named)} must return a finite number; on {where} it returned "
        f"{found!r:.80}."
    )

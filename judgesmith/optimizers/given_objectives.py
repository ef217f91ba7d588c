"""Objectives that users write as functions: of a whole table, or of one row as DSPy's metrics."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any

import dspy
import numpy as np

from judgesmith.errors import InputError, JudgesmithError
from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.optimizers.counted_objectives import TargetMean
from judgesmith.optimizers.sampler_identity import identity_of
from judgesmith.optimizers.source_counts import Counted, ratio_of_sums
from judgesmith.optimizers.table import JudgedTable
from judgesmith.signatures.judgement import Judgement

KINDS = "f(table) -> float or metric(example, prediction, trace=None) -> float"
"""What a function has to be like."""


@dataclass(frozen=True)
class FunctionObjective(TargetMean):
    """A function of a table's scored rows; the mean of it over targets where there are several.

    Parameters
    ----------
    function : callable
        From a ``JudgedTable`` whose rows all have a score to a float, larger is better and nan is
        undefined. A resample on which it raises is undefined, too.
    """

    function: Callable[[JudgedTable], Any]

    @property
    def identity(self) -> str:
        """What tells the function from others of its name."""
        return identity_of(self.function)

    def __str__(self) -> str:
        """Return the name of the function."""
        return name_of(self.function)

    def of_target(self, table: JudgedTable) -> float:
        """Return what the function says of the scored rows, nan without any."""
        scored = table.take(np.flatnonzero(~np.isnan(table.predicted)))
        if not scored.n:
            return math.nan
        return _number(self.function, self.function, scored, where=f"a table of {scored.n} rows")

    def counted_target(self, table: JudgedTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it as a function of counts: every draw is a table with repeated rows."""
        kept = np.flatnonzero(~np.isnan(table.predicted))
        scored, own = table.take(kept), sources[kept]

        def drawn(counts: FloatArray) -> float:
            times = counts.astype(np.intp)[own]
            places = np.repeat(np.arange(len(own)), times)
            if not len(places):
                return math.nan
            # A source that is drawn twice is two sources.
            copies = np.concatenate([np.arange(n) for n in times])
            labels = own[places] + n_sources * copies
            try:
                return self.of_target(replace(scored.take(places), sources=labels))
            except InputError:
                return math.nan

        return Counted(
            value=self.of_target(table),
            of_counts=lambda counts: np.asarray([drawn(one) for one in counts]),
            n_units=len(np.unique(own)),
        )


@dataclass(frozen=True)
class MetricObjective(TargetMean):
    """The mean over scored rows of a metric as DSPy's optimizers take it.

    Parameters
    ----------
    metric : callable
        ``metric(example, prediction, trace=None)``, larger is better: a number, True or False, or
        a prediction with a ``score``. It is given the example that the row was made from, and
        what the judge returns for it.
    """

    metric: Callable[..., Any]

    @property
    def identity(self) -> str:
        """What tells the metric from others of its name."""
        return identity_of(self.metric)

    def __str__(self) -> str:
        """Return the name of the metric."""
        return name_of(self.metric)

    def of_rows(self, table: JudgedTable) -> FloatArray:
        """Return the metric of every row, nan where it has no score.

        Raises
        ------
        InputError
            If the table has no examples, or the metric raises or returns no number.
        """
        if len(table.examples) != table.n:
            raise InputError(
                f"the metric {self} compares examples with predictions, and this table has no "
                f"examples; give an objective {KINDS.partition(' or ')[0]}."
            )
        found = np.full(table.n, np.nan)
        traces = [None] * (_n_arguments(self.metric) - 2)
        for row in np.flatnonzero(~np.isnan(table.predicted)).tolist():
            judgement = table.judgements[row] if table.judgements else Judgement(score=0.0)
            fields = {name: getattr(judgement, name) for name in type(judgement).model_fields}
            fields |= {"score": float(table.predicted[row]), "problem": None}
            fields["criteria"] = dict(judgement.criteria)
            prediction = dspy.Prediction(**fields)
            call = partial(self.metric, table.examples[row], prediction)
            where = f"row {row + 1} of {table.n}"
            value = _number(self.metric, call, *traces, where=where)
            if math.isnan(value):
                raise _unusable(self.metric, value, where)
            found[row] = value
        return found

    def of_target(self, table: JudgedTable) -> float:
        """Return the mean over the scored rows, nan without any."""
        found = self.of_rows(table)
        return float(np.nanmean(found)) if not np.isnan(table.predicted).all() else math.nan

    def counted_target(self, table: JudgedTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it from each source's sums."""
        found = self.of_rows(table)
        scored = (~np.isnan(found)).astype(np.float64)
        return ratio_of_sums(np.nan_to_num(found), scored, sources, n_sources)


def objective_of(function: Callable[..., Any]) -> FunctionObjective | MetricObjective:
    """Return the objective that a function is: of a table, or a metric of one row.

    Raises
    ------
    InputError
        If it takes neither one argument, nor an example and a prediction.

    Examples
    --------
    >>> def close(example, prediction, trace=None):
    ...     return -abs(example.score - prediction.score)
    >>> objective_of(close)
    MetricObjective(metric=<function close at ...>)
    >>> str(objective_of(lambda table: table.share_scored))
    '<lambda>'
    """
    n = _n_arguments(function)
    return FunctionObjective(function) if n == 1 else MetricObjective(function)


def name_of(function: Callable[..., Any]) -> str:
    """Return what a function is called."""
    if isinstance(function, partial):
        return name_of(function.func)
    return str(getattr(function, "__name__", type(function).__name__))


_ARGUMENTS: Sequence[int] = (1, 2, 3, 5)
"""A table; example and prediction; with a trace; and with the two that GEPA's metrics take."""


def _n_arguments(function: Callable[..., Any]) -> int:
    """Return with how many arguments a function can be called, the fewest that make sense."""
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
    """Return the number that a user's function returns; nan is undefined.

    Raises
    ------
    InputError
        If it raises, or returns anything else.
    """
    try:
        found = call(*arguments)
    except JudgesmithError:
        raise
    except Exception as fault:
        raise InputError(
            f"the objective {name_of(named)} raised {type(fault).__name__} on {where}: {fault}"
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

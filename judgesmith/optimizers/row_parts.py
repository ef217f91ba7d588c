"""How much each row adds to an objective: what an optimizer that looks at single rows is told."""

from __future__ import annotations

import numpy as np

from judgesmith.metrics import contributions
from judgesmith.optimizers.combined import WeightedSum
from judgesmith.optimizers.constrained import Constrained
from judgesmith.optimizers.given_objectives import MetricObjective
from judgesmith.optimizers.objectives import Agreement, Objective
from judgesmith.optimizers.table import FloatArray, JudgedTable


def row_parts(objective: Objective, table: JudgedTable) -> FloatArray:
    """Return the part of every row in an objective: ``np.nansum`` of them is the objective.

    The parts of a correlation, and of sums of correlations, are exact (see
    :func:`~judgesmith.metrics.contributions`). Other numbers do not fall into parts by
    themselves: there a row's part is by how much the number is larger with it than without it,
    and what these differences leave of the whole is shared out equally. Of an aim under
    conditions, the parts are those of the aim.

    Parts depend on all other rows of the table: the same row has other parts in another table.

    Parameters
    ----------
    objective : Objective
        What is asked about.
    table : JudgedTable
        Of one target or several, whose parts are divided by the number of targets.

    Returns
    -------
    float array, shape (table.n,)
        In the unit of the objective. nan in unscored rows, in rows that take no part, and in all
        rows where the objective is undefined.

    Examples
    --------
    >>> table = JudgedTable(
    ...     predicted=np.array([10.0, 90.0, 50.0]), human=np.array([1.0, 3.0, 5.0]),
    ...     sources=np.arange(3), systems=np.array(["a"] * 3),
    ... )
    >>> parts = row_parts(Agreement("kendall"), table)
    >>> parts.round(3).tolist(), float(parts.sum().round(3)), Agreement("kendall").value(table)
    ([0.333, 0.0, 0.0], 0.333, 0.3333333333333333)
    """
    if isinstance(objective, Constrained):
        return row_parts(objective.aim, table)
    if isinstance(objective, WeightedSum):
        return _summed([weight * row_parts(atom, table) for weight, atom in objective.terms])
    if isinstance(objective, Agreement):
        return _of_agreement(objective, table)
    if isinstance(objective, MetricObjective):
        return _of_mean(objective, table)
    return _by_leaving_out(objective, table)


def row_part(objective: Objective, table: JudgedTable, row: int) -> float:
    """Return the part of one row alone: quicker where the others are found one by one.

    Where parts are exact it is that of ``row_parts``; elsewhere by how much the number is larger
    with the row than without it. nan where the row has none.

    Examples
    --------
    >>> table = JudgedTable(
    ...     predicted=np.array([10.0, 90.0, 50.0]), human=np.array([1.0, 3.0, 5.0]),
    ...     sources=np.arange(3), systems=np.array(["a"] * 3),
    ... )
    >>> round(row_part(Agreement("kendall"), table, 0), 3)
    0.333
    """
    if isinstance(objective, Constrained):
        return row_part(objective.aim, table, row)
    if isinstance(objective, WeightedSum):
        terms = [weight * row_part(atom, table, row) for weight, atom in objective.terms]
        given = [term for term in terms if not np.isnan(term)]
        return float(np.sum(given)) if given else float("nan")
    if isinstance(objective, Agreement | MetricObjective):
        return float(row_parts(objective, table)[row])
    if np.isnan(table.predicted[row]):
        return float("nan")
    others = table.take(np.delete(np.arange(table.n), row))
    return objective.value(table) - objective.value(others)


def _summed(terms: list[FloatArray]) -> FloatArray:
    """Add the parts of several terms; a row that takes part in some of them has a part."""
    found = np.stack(terms)
    if np.isnan(found).all(axis=1).any():  # a sum is undefined where one of its terms is
        return np.full(found.shape[1], np.nan)
    return np.where(np.isnan(found).all(axis=0), np.nan, np.nansum(found, axis=0))


def _of_agreement(objective: Agreement, table: JudgedTable) -> FloatArray:
    parts = np.full(table.n, np.nan)
    labels = np.asarray(table.targets or ("",) * table.n)
    names = dict.fromkeys(labels.tolist())
    for name in names:
        rows = np.flatnonzero(labels == name)
        if np.isnan(table.predicted[rows]).all():
            return np.full(table.n, np.nan)
        parts[rows] = contributions(
            table.predicted[rows],
            table.human[rows],
            sources=table.sources[rows],
            systems=table.systems[rows],
            statistic=objective.statistic,
            level=objective.level,
        )
        if np.isnan(parts[rows]).all():
            return np.full(table.n, np.nan)
    return parts / len(names)


def _of_mean(objective: MetricObjective, table: JudgedTable) -> FloatArray:
    """Return the shares of rows in a mean, each divided by the scored rows of its target."""
    parts = objective.of_rows(table)
    labels = np.asarray(table.targets or ("",) * table.n)
    names = dict.fromkeys(labels.tolist())
    for name in names:
        own = labels == name
        n = np.count_nonzero(~np.isnan(parts[own]))
        if not n:
            return np.full(table.n, np.nan)
        parts[own] /= n * len(names)
    return parts


def _by_leaving_out(objective: Objective, table: JudgedTable) -> FloatArray:
    parts = np.full(table.n, np.nan)
    whole = objective.value(table)
    scored = np.flatnonzero(~np.isnan(table.predicted))
    if np.isnan(whole) or not len(scored):
        return parts
    everything = np.arange(table.n)
    without = np.asarray(
        [objective.value(table.take(np.delete(everything, row))) for row in scored.tolist()]
    )
    # A number that one row alone keeps defined says nothing of that row's share.
    differences = np.where(np.isnan(without), 0.0, whole - without)
    parts[scored] = differences + (whole - differences.sum()) / len(scored)
    return parts

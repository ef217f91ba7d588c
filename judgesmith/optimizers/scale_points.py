"""A judge's scores in people's points, and on the levels of their scale."""

from __future__ import annotations

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics import nearest_levels
from judgesmith.optimizers.table import FloatArray, JudgedTable
from judgesmith.signatures.scale import PERCENT, Scale

MOST_LEVELS = 11
"""On a finer scale than 0..10 the exact level means little, and tables of levels are empty."""


def people_scale(table: JudgedTable) -> Scale | None:
    """Return what people rated on: what the table says, or from the least to the greatest value.

    None where it says nothing and all values are equal.
    """
    if table.scale is not None:
        return table.scale
    low, high = (float(end(table.human)) for end in (np.min, np.max)) if table.n else (0.0, 0.0)
    return Scale(low=low, high=high) if low < high else None


def levels_of(table: JudgedTable) -> FloatArray:
    """Return the levels of people's scale, in rising order.

    They are the whole points of the scale that the table names, if it has 11 or fewer; otherwise
    the values that occur, if these are so few.

    Raises
    ------
    ValueError
        If there are more than 11 of either.

    Examples
    --------
    >>> table = JudgedTable(
    ...     predicted=np.array([1.0, 2.0]), human=np.array([2.0, 4.0]), sources=np.arange(2),
    ...     systems=np.array(["a", "a"]), scale=Scale(low=1, high=5),
    ... )
    >>> levels_of(table).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0]
    """
    scale = table.scale
    whole = scale is not None and scale.low.is_integer() and scale.high.is_integer()
    if scale is not None and whole and scale.high - scale.low < MOST_LEVELS:
        return np.arange(scale.low, scale.high + 1)
    found = np.unique(table.human)
    if len(found) > MOST_LEVELS:
        named = "no scale is named" if scale is None else f"the scale {scale} has as many or more"
        raise InputError(
            f"kappa needs {MOST_LEVELS} levels or fewer; people gave {len(found)} different "
            f"values, and {named}. Take q or concordance for fine ratings."
        )
    return found


def in_people_points(table: JudgedTable) -> FloatArray:
    """Return the judge's scores in points of people's scale, nan where there is none.

    What the judge answered on is what the table says; where it says nothing, people's scale if
    all its scores lie there, and 0..100 otherwise. One scale is laid on the other end by end.

    Raises
    ------
    ValueError
        If scores lie outside of all these scales.

    Examples
    --------
    >>> table = JudgedTable(
    ...     predicted=np.array([50.0, np.nan]), human=np.array([2.0, 4.0]), sources=np.arange(2),
    ...     systems=np.array(["a", "a"]), scale=Scale(low=1, high=5),
    ... )
    >>> in_people_points(table).tolist()
    [3.0, nan]
    """
    scale = people_scale(table)
    if scale is None:
        return np.full(table.n, np.nan)
    judge = table.judge_scale
    candidates = (scale, PERCENT) if judge is None else (judge,)
    scored = table.predicted[~np.isnan(table.predicted)]
    for one in candidates:
        if np.all((one.low <= scored) & (scored <= one.high)):
            share = (table.predicted - one.low) / (one.high - one.low)
            share = share if one.higher_is_better else 1 - share
            return np.asarray(scale.low + share * (scale.high - scale.low))
    raise InputError(
        f"scores from {scored.min():g} to {scored.max():g} lie on none of the scales "
        f"{', '.join(map(str, candidates))}; name the judge's own with judge_scale=."
    )


def on_levels(table: JudgedTable) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return judge's and people's scores brought to the nearest level, and the levels.

    Without two levels nothing is brought anywhere: the scores are empty.
    """
    levels = levels_of(table)
    if len(levels) < 2:
        return np.empty(0), np.empty(0), levels
    points = np.clip(in_people_points(table), levels[0], levels[-1])
    human = nearest_levels(table.human, levels=levels)
    return nearest_levels(points, levels=levels), human, levels

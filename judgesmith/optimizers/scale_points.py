"""A judge's scores in people's points, and on the levels of their scale."""

from __future__ import annotations

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics import nearest_levels
from judgesmith.optimizers.table import FloatArray, JudgedTable, Scales
from judgesmith.signatures.scale import Scale

MOST_LEVELS = 11
"""On a finer scale than 0..10 the exact level means little, and tables of levels are empty."""


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
    scale = table.scale if isinstance(table.scale, Scale) else None
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

    The judge's scale is laid on people's end by end.

    Raises
    ------
    InputError
        If the table of one target does not name both scales, or scores lie outside the judge's.

    Examples
    --------
    >>> table = JudgedTable(
    ...     predicted=np.array([50.0, np.nan]), human=np.array([2.0, 4.0]), sources=np.arange(2),
    ...     systems=np.array(["a", "a"]), scale=Scale(low=1, high=5),
    ...     judge_scale=Scale(low=0, high=100),
    ... )
    >>> in_people_points(table).tolist()
    [3.0, nan]
    """
    scale = _known(table.scale, "human", "scale")
    judge = _known(table.judge_scale, "the judge's", "judge_scale")
    scored = table.predicted[~np.isnan(table.predicted)]
    if np.any((scored < judge.low) | (scored > judge.high)):
        raise InputError(
            f"scores from {scored.min():g} to {scored.max():g} are not on the judge's scale "
            f"{judge}; name the scale that it answers on with judge_scale=."
        )
    share = (table.predicted - judge.low) / (judge.high - judge.low)
    share = share if judge.higher_is_better else 1 - share
    return np.asarray(scale.low + share * (scale.high - scale.low))


def _known(given: Scales, whose: str, name: str) -> Scale:
    if isinstance(given, Scale):
        return given
    raise InputError(
        f"kappa and mae compare points, and the scale of {whose} scores is not known; give the "
        f"table {name}=, such as JudgedTable(…, {name}=Scale(low=0, high=100))."
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

"""The scores of a panel, from those that its members gave to the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.runs.heldout import Places
from judgesmith.experiments.targets import FRACTION
from judgesmith.signatures import Judgement, Scale


def combined_scores(
    members: Mapping[str, Sequence[Mapping[str, Any]]],
    scales: Sequence[Sequence[float] | None],
    *,
    how: Literal["mean", "median"],
    places: Places,
    at_least: int | None = None,
) -> tuple[list[Judgement], Scale | None, Places]:
    """Return what a panel says of the rows that all its members judged.

    Parameters
    ----------
    members : dict of str to sequence of dict
        Rows as ``score_rows`` makes them, by the member that gave them.
    scales : sequence of ((low, high) or None)
        What each member answers on, where that is known.
    how : {"mean", "median"}
        What the scores of a row come to. Members that all know their scale count as shares of it.
    places : array of int
        Rows that are held out.
    at_least : int or None
        Members that must have a score; None is half of them.

    Returns
    -------
    judgements : list of Judgement
        One per row; unscored where fewer members scored it.
    scale : Scale or None
        0 to 1 where all members know theirs, else None.
    places : array of int
        Where the rows stand.

    Raises
    ------
    ValueError
        If members judged other rows, or only some of them know their scale.

    Examples
    --------
    >>> rows = {"a": [{"item": 3, "score": 80.0}], "b": [{"item": 3, "score": 3.0}]}
    >>> places = np.asarray([3])
    >>> found, scale, _ = combined_scores(rows, [(0, 100), (1, 5)], how="mean", places=places)
    >>> found[0].score, scale == FRACTION
    (0.65, True)
    """
    for name, rows in members.items():
        if [row["item"] for row in rows] != places.tolist():
            raise InputError(
                f"{name} was held against other rows than the panel.",
                hint="leave it out of the panel, or give all of them one objective.",
            )
    known = [one for one in scales if one is not None]
    if known and len(known) < len(scales):
        names = [name for name, one in zip(members, scales, strict=True) if one is None]
        raise InputError(
            f"nobody knows what the scores of {', '.join(names)} are points of, and those of the "
            "others have a scale.",
            hint="make a panel of either kind.",
        )
    columns = [_column(rows, one) for rows, one in zip(members.values(), scales, strict=True)]
    table = np.column_stack(columns) if len(places) else np.empty((0, len(columns)))
    wanted = len(members) / 2 if at_least is None else at_least
    judged = []
    for row in table:
        given = row[~np.isnan(row)]
        if len(given) < wanted:
            judged.append(Judgement.unscored(f"{len(given)} of {len(row)} members gave a score"))
        else:
            judged.append(
                Judgement(score=float(np.mean(given) if how == "mean" else np.median(given)))
            )
    return judged, FRACTION if known else None, places


def _column(rows: Sequence[Mapping[str, Any]], scale: Sequence[float] | None) -> np.ndarray:
    values = np.asarray(
        [np.nan if row["score"] is None else row["score"] for row in rows], dtype=float
    )
    return values if scale is None else (values - scale[0]) / (scale[1] - scale[0])

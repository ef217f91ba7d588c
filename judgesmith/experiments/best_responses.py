"""Responses that people found good, where nobody wrote references."""

from __future__ import annotations

from collections.abc import Sequence

from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.targets import UselessTargetError, targets_of

GOOD = 0.75
"""How far up the scale a response stands at least, as a fraction."""


def best_responses(
    dataset: DataSet, sources: Sequence[Sequence[int]], *, at_least: float = GOOD
) -> tuple[tuple[str, ...], ...]:
    """Return the good responses to each source that has no references.

    Parameters
    ----------
    dataset : DataSet
        With ratings; what counts is ``overall`` where people rated that, and the mean of their
        criteria otherwise.
    sources : sequence of sequence of int
        The rows of each source.
    at_least : float
        The least that a good one has, as a fraction of the scale.

    Returns
    -------
    tuple of tuple of str
        For each source the best first, of equals the earlier; none where any of its rows names a
        reference that is not blank, and none anywhere where everything is rated the same.

    Raises
    ------
    ValueError
        If a source has no reference, and nobody rated anything.

    Examples
    --------
    >>> from judgesmith.signatures import RatedItem, Scale
    >>> likert = {"overall": Scale(low=1, high=5)}
    >>> items = [
    ...     RatedItem(response=text, human={"overall": (points,)}, scale=likert)
    ...     for text, points in (("fair", 3), ("good", 4), ("best", 5))
    ... ]
    >>> best_responses(DataSet(name="toy", items=tuple(items)), [[0, 1, 2]])
    (('best', 'good'),)
    """
    lacking = [
        not any(t.strip() for row in rows for t in dataset[row].references) for rows in sources
    ]
    if not any(lacking):
        return ((),) * len(sources)
    try:
        values = targets_of(dataset).fractions
    except UselessTargetError:
        return ((),) * len(sources)

    def best(rows: Sequence[int]) -> tuple[str, ...]:
        good = [row for row in rows if values[row] >= at_least]
        return tuple(dataset[row].response for row in sorted(good, key=lambda row: -values[row]))

    return tuple(best(rows) if lacks else () for rows, lacks in zip(sources, lacking, strict=True))

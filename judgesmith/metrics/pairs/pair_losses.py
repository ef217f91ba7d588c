"""Pairs of rows as rows of their own: was the better one scored higher, and by how much."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, IntArray, group_codes, paired_scores
from judgesmith.metrics.correlations.column import Column
from judgesmith.metrics.correlations.levels import Labels
from judgesmith.metrics.pairs.row_pairs import pairs_within
from judgesmith.metrics.record import Record

__all__ = ["PairLosses", "pair_losses"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairLosses(Record):
    """Pairs of rows of one source that people order, as input for :func:`risk_coverage`.

    Attributes
    ----------
    losses : float array, shape (n_pairs,)
        1 where the judge orders the pair the other way, 1/2 where it ties it, else 0.
    certainty : float array, shape (n_pairs,), in points
        How far apart its two scores are.
    sources : int array, shape (n_pairs,)
        Number of the pair's source, by first appearance.
    n_ties : int
        Pairs left out because people tie them.
    n_unscored : int
        Rows left out because they had no predicted score.
    """

    losses: FloatArray
    certainty: FloatArray
    sources: IntArray
    n_ties: int
    n_unscored: int


def pair_losses(predicted: ArrayLike, human: ArrayLike, *, sources: Labels) -> PairLosses:
    """Return what the judge gets wrong about pairs of rows, and how sure it looks of each.

    Parameters
    ----------
    predicted : array-like, shape (n_rows,), in points of the judge's scale
        nan (or None) where a row is unscored; such rows are left out and counted.
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with ``predicted``.
    sources : sequence of labels, one per row
        Pairs are made within a source; one label for all compares every row with every other.

    Returns
    -------
    PairLosses
        Scores that differ by rounding alone are tied.

    Raises
    ------
    ValueError
        If rows do not pair up, a human score or a label is missing, or there are more than 10
        million pairs.

    Examples
    --------
    >>> pairs = pair_losses([1, 3, 2, 2], [1, 2, 3, 3], sources=["a"] * 4)
    >>> pairs.losses.tolist(), pairs.certainty.tolist(), pairs.n_ties
    ([0.0, 0.0, 0.0, 1.0, 1.0], [2.0, 1.0, 1.0, 1.0, 1.0], 1)
    """
    p, h = paired_scores(predicted, human, allow_unscored=True)
    codes, n_sources = group_codes(sources, name="sources", n_items=len(p))
    scored = ~np.isnan(p)
    p, h, codes = p[scored], h[scored], codes[scored]
    x, y = Column.of(p).codes, Column.of(h).codes
    first, second = pairs_within(codes, n_sources)
    people = np.sign(y[first] - y[second])
    ordered = people != 0
    first, second, people = first[ordered], second[ordered], people[ordered]
    judge = np.sign(x[first] - x[second])
    return PairLosses(
        losses=np.abs(judge - people) / 2,
        certainty=np.where(judge == 0, 0.0, np.abs(p[first] - p[second])),
        sources=codes[first],
        n_ties=int(np.count_nonzero(~ordered)),
        n_unscored=int(np.count_nonzero(~scored)),
    )

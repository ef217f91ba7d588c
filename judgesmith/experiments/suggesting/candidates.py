"""Rows that might be rated next, as numbers: what a judge says of each, and how unsure it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgesmith.programs.families.ensemble.members import (
    CalibratedJudgement,
    PanelJudgement,
    doubt_of,
)
from judgesmith.signatures import Judgement, RatedItem

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """Scored rows that nobody has rated.

    Parameters
    ----------
    items : tuple of RatedItem
        The rows.
    scores : array, shape (n_items,), in points of the judge's scale
        What the judge says, before it leaves any text to people.
    doubt : array, shape (n_items,), 0 or more
        How unsure the judge is: more is less sure. 0 everywhere where nothing tells.
    sources : array of int, shape (n_items,)
        Equal for rows about the same source.
    """

    items: tuple[RatedItem, ...]
    scores: FloatArray
    doubt: FloatArray
    sources: IntArray

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.items)


def score_before(judgement: Judgement) -> float | None:
    """Return a score, also of a text that a calibrated judge leaves to people.

    Examples
    --------
    >>> left = CalibratedJudgement(
    ...     score=None, problem="too unsure", abstained=True, uncalibrated=40.0, low=1, high=5
    ... )
    >>> score_before(left), score_before(Judgement(score=3)), score_before(Judgement.unscored("?"))
    (40.0, 3.0, None)
    """
    if isinstance(judgement, CalibratedJudgement) and judgement.uncalibrated is not None:
        return judgement.uncalibrated
    return judgement.score


def doubts_of(judgements: Sequence[Judgement]) -> FloatArray:
    """Return how unsure a judge is of each text, by what its kind of judgement tells.

    The disagreement of a panel's members; the doubt by which a calibrated judge leaves texts to
    people, else the width of its interval; else how far the scores on criteria lie apart, each
    against its own mean over all texts, so that a criterion that is always strict is no doubt.

    Parameters
    ----------
    judgements : sequence of Judgement
        Of one judge.

    Returns
    -------
    array, shape (n_items,)
        0 where nothing tells.

    Examples
    --------
    >>> one = Judgement(score=5, criteria={"a": {"score": 40}, "b": {"score": 60}})
    >>> two = Judgement(score=5, criteria={"a": {"score": 80}, "b": {"score": 60}})
    >>> doubts_of([one, two]).tolist()
    [10.0, 10.0]
    """
    own = np.array([_own_doubt(one) for one in judgements], dtype=float)
    told = np.isfinite(own)
    if told.any() and np.ptp(own[told]) > 0:
        return np.where(told, own, 0.0)
    names = sorted({name for one in judgements for name in one.criteria})
    said = np.array([[_points(one, name) for name in names] for one in judgements], dtype=float)
    said = said.reshape(len(judgements), len(names))
    known = np.isfinite(said)
    n_known = known.sum(axis=0)
    means = np.where(known, said, 0.0).sum(axis=0) / np.maximum(n_known, 1)
    apart = np.where(known, said - means, 0.0)
    n_said = np.maximum(known.sum(axis=1), 1)
    middle = apart.sum(axis=1) / n_said
    squares = np.where(known, (apart - middle[:, None]) ** 2, 0.0)
    return np.asarray(np.sqrt(squares.sum(axis=1) / n_said))


def _own_doubt(judgement: Judgement) -> float:
    """Return what a judgement itself says of how sure it is, nan where it says nothing."""
    found = None
    if isinstance(judgement, PanelJudgement):
        found = doubt_of(judgement, "members")
    elif isinstance(judgement, CalibratedJudgement):
        found = judgement.doubt
        if found is None and judgement.low is not None and judgement.high is not None:
            found = judgement.high - judgement.low
    return math.nan if found is None else found


def _points(judgement: Judgement, name: str) -> float:
    one = judgement.criteria.get(name)
    return math.nan if one is None or one.score is None else one.score

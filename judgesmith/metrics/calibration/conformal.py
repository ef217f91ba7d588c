"""Intervals around scores that hold the human rating as often as they claim, whatever the judge.

The only assumption is that the new row is as exchangeable with the rows set aside as these are
with one another. How good the judge is decides how long the intervals are, never how often they
are right.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import FloatArray, fraction, group_codes, paired_scores, score_vector
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Record

Covers = Literal["row", "source"]

# Ranks are whole numbers; what is this close to one is one.
_DUST = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformalMargin(Record):
    """How far human ratings lie from scores, at most, as often as claimed.

    Attributes
    ----------
    margin : float, 0 or more
        In points; in spreads if ``normalised``. inf if there are too few sources for the
        confidence: the interval then is the whole scale.
    confidence : float
        Least chance that the interval of a new row (or all of a new source) holds.
    covers : {"row", "source"}
        What it is the chance of.
    normalised : bool
        Whether intervals need a spread for each row.
    n, n_groups, n_unscored : int
        Rows and sources it was learned from, and rows left out because they had no score.
    """

    margin: float
    confidence: float
    covers: Covers
    normalised: bool
    n: int
    n_groups: int
    n_unscored: int

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Return the margin that :meth:`to_dict` wrote, also after a way through JSON."""
        known = {name: value for name, value in fields.items() if name != "margin_is"}
        return cls(**known | {"margin": math.inf if known["margin"] is None else known["margin"]})

    def _in_words(self, infinite: float) -> str:
        """Say why the margin is infinite."""
        return "infinite: too few sources for the confidence"

    def interval(
        self,
        judge: ArrayLike,
        *,
        spread: ArrayLike | None = None,
        levels: ArrayLike | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the intervals of new rows.

        Parameters
        ----------
        judge : array-like, shape (n_rows,), in points
            New scores; nan (or None) has an interval of nan.
        spread : array-like, shape (n_rows,), above 0
            Of the new rows, if the margin is normalised.
        levels : array-like, shape (n_levels,), increasing, optional
            The ratings there can be. Ends are moved out to the next level and stop at the first
            and last one; a mean of ratings between two levels stays covered.

        Returns
        -------
        low, high : float array, shape (n_rows,)
            -inf and inf where the margin is infinite and no levels are given.

        Raises
        ------
        ValueError
            If a score is infinite, a spread is missing, superfluous or not above 0, or the
            levels do not increase.
        """
        p = score_vector(judge, name="judge", allow_missing=True)
        reach = self.margin * _spreads(spread, self.normalised, ~np.isnan(p))
        low, high = p - reach, p + reach
        if levels is not None:
            low, high = _out_to_levels(low, high, levels)
        return low, high


def conformal_margin(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    spread: ArrayLike | None = None,
    covers: Covers = "row",
    confidence: float = 0.9,
) -> ConformalMargin:
    """Return the margin around scores that holds human ratings with a guaranteed chance.

    With n rows and no sources it is the ``ceil((n + 1) * confidence)``-th smallest of the
    distances ``|judge - human|`` (split conformal prediction). With K sources, each has the
    weight ``1 / (K + 1)``, shared by its rows, and the margin is the smallest distance at which
    the weights reach ``confidence``; the missing ``1 / (K + 1)`` stands for the new source.

    ==========  ======================================================================
    ``covers``  with chance ``confidence`` or more, over the rows set aside and the new
    ==========  ======================================================================
    "row"       one row, drawn at random from a new source, is inside its interval
    "source"    all rows of a new source are, together: the largest distance of each
                source counts, and intervals are longer
    ==========  ======================================================================

    Neither promises coverage for each score, each source, or rows chosen by their score; another
    row of a *known* source is not covered by the promise, nor are sources of another kind.

    Parameters
    ----------
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with ``judge``.
    judge : array-like, shape (n_rows,), in points of the human scale
        Of rows that the judge, its map and its settings were not chosen by: a judge that has
        seen them is closer to them than to new ones. nan (or None) where a row is unscored; such
        rows are left out.
    sources : sequence of labels, one per row, optional
        What each row is about. Without it, every row is its own source.
    spread : array-like, shape (n_rows,), above 0, optional
        How unsure the judge is of each row, for example the standard deviation of a panel plus a
        constant. Distances are divided by it, intervals are wider where it is larger.
    covers : {"row", "source"}
        See the table.
    confidence : float, between 0 and 1
        Wanted chance.

    Returns
    -------
    ConformalMargin
        Applied with ``margin.interval(scores)``. Infinite with fewer than
        ``confidence / (1 - confidence)`` sources: 9 for .9, 19 for .95.

    Raises
    ------
    ValueError
        If rows do not pair up, a human score or a label is missing, a spread is not above 0,
        ``covers`` is unknown or ``confidence`` is not between 0 and 1.

    References
    ----------
    Lei, G'Sell, Rinaldo, Tibshirani and Wasserman (2018), "Distribution-Free Predictive Inference
    for Regression", JASA 113, for one row per source. Dunn, Wasserman and Ramdas (2022),
    "Distribution-Free Prediction Sets for Two-Layer Hierarchical Models", JASA, and Lee, Barber
    and Willett (2023), "Distribution-free inference with hierarchical data", arXiv:2306.06342,
    for weights by source and the new source's own.

    Examples
    --------
    >>> human = np.array([1, 4, 2, 5, 3, 3, 2, 4, 1])
    >>> found = conformal_margin(human, human + [0.5, -1, 0, 0.3, -0.2, 1.5, 0.1, 0.4, 0.6])
    >>> found.margin
    1.5
    >>> found.interval([2.8, 4.9]), found.interval([2.8, 4.9], levels=[1, 2, 3, 4, 5])
    ((array([1.3, 3.4]), array([4.3, 6.4])), (array([1., 3.]), array([5., 5.])))
    """
    fraction(confidence, name="confidence")
    if covers not in get_args(Covers):
        raise ValueError(f"covers must be one of {get_args(Covers)}; got {covers!r}.")
    h, p = paired_scores(human, judge, allow_unscored=True)
    codes, _ = group_codes(sources, name="sources", n_items=len(p))
    scored = ~np.isnan(p)
    distances = (np.abs(p - h) / _spreads(spread, spread is not None, scored))[scored]
    codes = np.unique(codes[scored], return_inverse=True)[1]
    sizes = np.bincount(codes)
    n_groups = len(sizes)
    if covers == "source":
        largest = np.zeros(n_groups)
        np.maximum.at(largest, codes, distances)
        weights, distances = np.ones(n_groups), largest
    else:
        weights = 1 / sizes[codes]
    order = np.argsort(distances)
    reached = np.cumsum(weights[order]) >= confidence * (n_groups + 1) - _DUST
    return ConformalMargin(
        margin=float(distances[order][np.argmax(reached)]) if reached.any() else math.inf,
        confidence=confidence,
        covers=covers,
        normalised=spread is not None,
        n=len(codes),
        n_groups=n_groups,
        n_unscored=int(np.count_nonzero(~scored)),
    )


def _spreads(spread: ArrayLike | None, wanted: bool, scored: NDArray[np.bool_]) -> FloatArray:
    """Return what distances are divided by."""
    if (spread is not None) != wanted:
        raise ValueError(
            "give spread= for the new rows too, since the margin was learned with it."
            if wanted
            else "spread= was not given when the margin was learned; leave it out."
        )
    if spread is None:
        return np.ones(len(scored))
    given = score_vector(spread, name="spread", n_items=len(scored), allow_missing=True)
    bad = scored & ~(given > 0)
    if bad.any():
        raise ValueError(
            f"spread must be above 0; got {given[bad][0]} at index {np.flatnonzero(bad)[0]}. Add a "
            "constant where a panel can agree fully."
        )
    return np.where(scored, given, 1.0)


def _out_to_levels(
    low: FloatArray, high: FloatArray, levels: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Move ends out to levels, at most to the first and the last."""
    scale = score_vector(levels, name="levels")
    if len(scale) < 2 or not (np.diff(scale) > 0).all():
        raise ValueError(f"levels must be increasing, such as [1, 2, 3]; got {levels!r}.")
    dust = _DUST * (scale[-1] - scale[0])
    below = np.searchsorted(scale, low + dust, side="right") - 1
    above = np.searchsorted(scale, high - dust, side="left")
    last = len(scale) - 1
    ends = scale[np.clip(below, 0, last)], scale[np.clip(above, 0, last)]
    low, high = (
        np.where(np.isnan(end), np.nan, out) for end, out in zip((low, high), ends, strict=True)
    )
    return low, high

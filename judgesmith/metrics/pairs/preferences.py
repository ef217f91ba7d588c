"""Agreement of a judge's preferences between two texts with people's, and with themselves."""

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.checks import IntArray, group_codes
from judgesmith.metrics.correlations.levels import Labels
from judgesmith.metrics.estimate import Estimate
from judgesmith.metrics.pairs.pair_votes import preferences
from judgesmith.metrics.record import Record
from judgesmith.metrics.resampling.shares import share_interval

__all__ = ["OrderConsistency", "PreferenceAgreement", "order_consistency", "preference_agreement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceAgreement(Record):
    """How often a judge prefers what people prefer.

    Attributes
    ----------
    accuracy : Estimate
        Share of pairs with the same answer of three: first, second, neither.
    accuracy_decided : Estimate
        The same for the pairs in which people prefer one; a judge that prefers neither is wrong.
    confusion : 3 x 3 counts
        Rows are people's answers, columns the judge's, in the order second (0), neither (0.5),
        first (1).
    n_unscored : int
        Pairs left out because the judge gave no answer.
    """

    accuracy: Estimate
    accuracy_decided: Estimate
    confusion: tuple[tuple[int, int, int], ...]
    n_unscored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderConsistency(Record):
    """Whether a judge answers alike when the two texts change places.

    Attributes
    ----------
    consistent : Estimate
        Share of pairs with the same answer in both orders.
    flipped : Estimate
        Share of pairs in which one text wins in one order and the other text in the other. What
        is neither consistent nor flipped has a tie in one order only.
    first_place : Estimate
        Share of all preferences for one text, in either order, that go to the text shown first;
        0.5 shows no preference for a place. ``n`` counts preferences, not pairs.
    n_unscored : int
        Pairs left out because an order has no answer.
    """

    consistent: Estimate
    flipped: Estimate
    first_place: Estimate
    n_unscored: int


def preference_agreement(
    predicted: ArrayLike,
    human: ArrayLike,
    *,
    sources: Labels | None = None,
    confidence: float = 0.95,
) -> PreferenceAgreement:
    """Return how well preferences agree with people's, with intervals over sources.

    Intervals are those of :func:`~judgesmith.metrics.share_interval`. They take raters, systems and
    the judge's answers as given. Chance depends on how often either side answers what: read the
    confusion counts beside the shares.

    Parameters
    ----------
    predicted : array-like, shape (n_pairs,)
        1 where the judge prefers the first text, 0 the second, 0.5 neither; nan (or None) where it
        gave no answer.
    human : array-like, shape (n_pairs,)
        People's preferences in the same numbers, none missing.
        :func:`~judgesmith.metrics.majority_preference` makes one of several raters'.
    sources : sequence of labels, one per pair, optional
        What was responded to; without them every pair is a source of its own.
    confidence : float, between 0 and 1
        Nominal coverage.

    Returns
    -------
    PreferenceAgreement

    Raises
    ------
    ValueError
        If pairs do not match, a preference is none of these numbers, people's is missing, or
        ``confidence`` is not between 0 and 1.

    Examples
    --------
    >>> found = preference_agreement([1, 0, 0.5, 1, None], [1, 0, 1, 0.5, 0])
    >>> found.accuracy.value, round(found.accuracy_decided.value, 3), found.n_unscored
    (0.5, 0.667, 1)
    >>> found.confusion
    ((1, 0, 0), (0, 0, 1), (0, 1, 1))
    """
    h = preferences(human, "human", allow_unscored=False)
    p = preferences(predicted, "predicted", n=len(h), allow_unscored=True)
    codes = _codes(sources, len(h))
    scored = ~np.isnan(p)
    same, decided = p == h, scored & (h != 0.5)
    counts = np.bincount((6 * h[scored] + 2 * p[scored]).astype(np.int64), minlength=9)
    confusion = tuple(
        (int(second), int(neither), int(first)) for second, neither, first in counts.reshape(3, 3)
    )
    return PreferenceAgreement(
        accuracy=_share(same, scored, codes, confidence),
        accuracy_decided=_share(same, decided, codes, confidence),
        confusion=confusion,
        n_unscored=int(np.count_nonzero(~scored)),
    )


def order_consistency(
    given: ArrayLike,
    swapped: ArrayLike,
    *,
    sources: Labels | None = None,
    confidence: float = 0.95,
) -> OrderConsistency:
    """Return how often a judge's preference survives the two texts changing places.

    A pair whose answer flips adds one preference for the first place in both orders (or for the
    second in both), a consistent one adds one to each, so ``first_place`` is one half for a judge
    that is always consistent, right or wrong.

    Parameters
    ----------
    given : array-like, shape (n_pairs,)
        The answers with the first text shown first: 1 where the first text wins, 0 the second,
        0.5 neither, nan (or None) where there is no answer.
    swapped : array-like, shape (n_pairs,)
        The answers with the second text shown first, about the same texts: 1 still means that
        the first text of the pair wins.
    sources : sequence of labels, one per pair, optional
        What was responded to; without them every pair is a source of its own.
    confidence : float, between 0 and 1
        Nominal coverage of the intervals over sources.

    Returns
    -------
    OrderConsistency

    Raises
    ------
    ValueError
        If pairs do not match, a preference is none, or ``confidence`` is not between 0 and 1.

    Examples
    --------
    One pair keeps its winner; in two, whatever stands first wins.

    >>> found = order_consistency([1, 1, 1], [1, 0, 0])
    >>> round(found.consistent.value, 3), round(found.flipped.value, 3)
    (0.333, 0.667)
    >>> round(found.first_place.value, 3), found.first_place.n
    (0.833, 6)
    """
    a = preferences(given, "given", allow_unscored=True)
    b = preferences(swapped, "swapped", n=len(a), allow_unscored=True)
    codes = _codes(sources, len(a))
    both = ~np.isnan(a) & ~np.isnan(b)
    decided = np.concatenate([both & (a != 0.5), both & (b != 0.5)])
    return OrderConsistency(
        consistent=_share(a == b, both, codes, confidence),
        flipped=_share(np.abs(a - b) == 1, both, codes, confidence),
        first_place=_share(
            np.concatenate([a == 1, b == 0]), decided, np.tile(codes, 2), confidence
        ),
        n_unscored=int(np.count_nonzero(~both)),
    )


def _codes(sources: Labels | None, n: int) -> IntArray:
    """Return the source of each pair."""
    return np.arange(n) if sources is None else group_codes(sources, name="sources", n_items=n)[0]


def _share(
    yes: NDArray[np.bool_], kept: NDArray[np.bool_], codes: IntArray, confidence: float
) -> Estimate:
    """Return the share of yes among the answers kept."""
    return share_interval(yes[kept], items=cast(Labels, codes[kept]), confidence=confidence)

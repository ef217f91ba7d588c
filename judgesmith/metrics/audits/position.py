"""Whether a judge favours a place: the text shown first, or items early in a list."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import FloatArray, Rng, generator, score_vector
from judgesmith.metrics.audits.sums import (
    ratio,
    source_codes,
    sums_by_group,
    sums_by_source,
)
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate, Record, squarable
from judgesmith.metrics.resampling.draws import estimates_of_sums
from judgesmith.metrics.resampling.shares import share_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBias(Record):
    """How a judge of pairs favours the text shown first, over pairs judged in both orders.

    Attributes
    ----------
    bias : Estimate
        How often the first place won, a tie as half, minus .5: from -.5 (always the second) to
        .5 (always the first); 0 is none.
    among_inconsistent : Estimate
        The same among pairs whose answer changed with the order, which ``n`` counts: the share of
        them that moved towards the first place, minus .5.
    inconsistent : Estimate
        The share of pairs whose answer changed, from 0 to 1.
    n_unscored : int
        Pairs left out because an answer is missing.
    """

    bias: Estimate
    among_inconsistent: Estimate
    inconsistent: Estimate
    n_unscored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceEffects(Record):
    """How scores depend on the place in a list.

    Attributes
    ----------
    places : tuple of int or float
        In order.
    effects : tuple of Estimate
        The mean score at each place minus the mean of all rows, in points; 0 is none.
    slope : Estimate
        Points for each place further down, by least squares.
    n_unscored : int
        Rows left out because they have no score.
    """

    places: tuple[float, ...]
    effects: tuple[Estimate, ...]
    slope: Estimate
    n_unscored: int


def position_bias(
    given: ArrayLike,
    swapped: ArrayLike,
    *,
    sources: Labels | None = None,
    confidence: float = 0.95,
    rng: Rng = 0,
    n_resamples: int = 1000,
) -> PositionBias:
    """Return how much a judge favours the text shown first, from both orders of each pair.

    Asking in both orders takes quality out: what a text gains by being better, it gains in either
    place. How often a preference survives the exchange is
    :func:`~judgesmith.metrics.pairs.order_consistency`; this is which way it moves, and how far.

    Parameters
    ----------
    given, swapped : array-like, shape (n_pairs,), from 0 to 1
        How far the first text of the pair won, where it was shown first, and where the other one
        was: 1 it won, 0 it lost, .5 neither; or its probability to win. nan (or None) where there
        is no answer; such pairs are left out.
    sources : sequence of labels, one per pair
        What is drawn for the intervals. Without it every pair is a source of its own.
    rng, n_resamples, confidence
        Where resamples of sources come from, how many, and nominal coverage.

    Returns
    -------
    PositionBias
        ``among_inconsistent`` is nan if no answer changed; all are nan without pairs. The bias has
        a percentile interval, nan if all sources are alike; the two shares have that of
        :func:`~judgesmith.metrics.resampling.share_interval`, which also holds where all answers
        are one.

    Raises
    ------
    ValueError
        If answers and labels do not fit together, an answer is outside 0 to 1, or a setting is
        out of range.
    TypeError
        If ``rng`` is no generator.

    References
    ----------
    Wang et al. (2023), "Large Language Models are not Fair Evaluators", arXiv:2305.17926. Zheng et
    al. (2023), "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena", arXiv:2306.05685.

    Examples
    --------
    Of four pairs two change their answer, both towards the first place.

    >>> found = position_bias([1, 1, 0, 1], [1, 0, 0, 0.5], rng=np.random.default_rng(0))
    >>> found.bias.value, found.among_inconsistent.value, found.inconsistent.value
    (0.1875, 0.5, 0.5)
    """
    rng = generator(rng)
    a = _answers(given, "given", None)
    b = _answers(swapped, "swapped", len(a))
    judged = ~(np.isnan(a) | np.isnan(b))
    codes = source_codes(sources, len(a), judged)
    gain = a[judged] - b[judged]
    changed = gain != 0
    (bias,) = estimates_of_sums(
        sums_by_source([np.ones(len(gain)), gain], codes),
        lambda sums: ratio(sums[:, 1:], 2 * sums[:, :1]),
        n=len(gain),
        rng=rng,
        n_resamples=n_resamples,
        confidence=confidence,
    )
    towards = share_interval(gain[changed] > 0, sources=codes[changed], confidence=confidence)
    return PositionBias(
        bias=bias,
        among_inconsistent=replace(
            towards, value=towards.value - 0.5, low=towards.low - 0.5, high=towards.high - 0.5
        ),
        inconsistent=share_interval(changed, sources=codes, confidence=confidence),
        n_unscored=int(np.count_nonzero(~judged)),
    )


def place_effects(
    judge: ArrayLike,
    places: Iterable[float],
    *,
    sources: Labels | None = None,
    confidence: float = 0.95,
    rng: Rng = 0,
    n_resamples: int = 1000,
) -> PlaceEffects:
    """Return how scores depend on the place at which an item stood in a list.

    The items must have been put into the lists in random order, or each into every place:
    otherwise what stands first may be what is best.

    Parameters
    ----------
    judge : array-like, shape (n_rows,), in points of the judge's scale
        nan (or None) where an item is unscored; such rows are left out.
    places : array-like of numbers, shape (n_rows,)
        1 for the first of a list, and so on.
    sources : sequence of labels, one per row
        The lists, or what they are about; what is drawn for the intervals.
    rng, n_resamples, confidence
        Where resamples of sources come from, how many, and nominal coverage.

    Returns
    -------
    PlaceEffects
        The effects of places are not simultaneous: of twenty places without an effect one has an
        interval that leaves 0 out. The slope is nan if all rows stood at one place; intervals are
        nan if all sources are alike.

    Raises
    ------
    ValueError
        If scores, places and labels do not fit together, sources times places are more than 20
        million, or a setting is out of range.
    TypeError
        If ``rng`` is no generator.

    Examples
    --------
    >>> found = place_effects(
    ...     [5, 4, 3, 4, 4, 2, 5, 3, 3], [1, 2, 3] * 3, sources=[0, 0, 0, 1, 1, 1, 2, 2, 2],
    ...     rng=np.random.default_rng(0),
    ... )
    >>> [round(effect.value, 2) for effect in found.effects], round(found.slope.value, 2)
    ([1.0, 0.0, -1.0], -1.0)
    """
    rng = generator(rng)
    p = squarable(score_vector(judge, name="judge", allow_missing=True), name="judge")
    at = squarable(score_vector(np.asarray(places), name="places", n_items=len(p)), name="places")
    scored = ~np.isnan(p)
    codes = source_codes(sources, len(p), scored)
    p, at = p[scored], at[scored]
    known, which = np.unique(at, return_inverse=True)
    score = p - p.mean() if Column.of(p).n_levels > 1 else np.zeros(len(p))
    step = at - known.mean() if known.size else at
    ones = np.ones(len(p))
    everywhere = sums_by_source([ones, score, step, score * step, step * step], codes)
    by_place = sums_by_group([ones, score], codes, which, len(known))

    def effects(sums: FloatArray) -> FloatArray:
        """Return the effect of each place, and the slope."""
        n, total, steps, product, squares = sums[:, :5].T
        slope = ratio(n * product - total * steps, n * squares - steps**2)
        gaps = ratio(sums[:, 6::2], sums[:, 5::2]) - ratio(total, n)[:, None]
        return np.concatenate([gaps, slope[:, None]], axis=1)

    found = estimates_of_sums(
        np.concatenate([everywhere, by_place], axis=1),
        effects,
        n=len(p),
        rng=rng,
        n_resamples=n_resamples,
        confidence=confidence,
        scale=float(np.max(np.abs(score), initial=0.0)),
    )
    return PlaceEffects(
        places=tuple(float(place) for place in known),
        effects=tuple(found[:-1]),
        slope=found[-1],
        n_unscored=int(np.count_nonzero(~scored)),
    )


def _answers(values: ArrayLike, name: str, n_pairs: int | None) -> FloatArray:
    """Return answers from 0 to 1, nan where there is none."""
    answers = score_vector(values, name=name, n_items=n_pairs, allow_missing=True)
    outside = (answers < 0) | (answers > 1)
    if outside.any():
        raise ValueError(
            f"{name} must be from 0 (the first text lost) to 1 (it won); got "
            f"{answers[outside][0]} at index {np.flatnonzero(outside)[0]}."
        )
    return answers

"""Bias of a judge by length, own family and position.

Long answers may be better, and raters may say so. What counts as bias is how much more a judge
gives to length, or to its own family, among answers that raters score alike.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import (
    FloatArray,
    Seed,
    group_sums,
    number,
    paired_scores,
    ratio,
    score_vector,
    source_codes,
)
from judgesmith.metrics.audits.sums import covariances, products, sums_by_group, z_scores
from judgesmith.metrics.correlation.columns import Column, centred_ranks
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate, Record, squarable
from judgesmith.metrics.resampling.draws import estimates_of_sums
from judgesmith.metrics.resampling.shares import share_interval

# Below this share of what it could be, length left over by human scores is rounding.
_COLLINEAR = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthBias(Record):
    """Length bias of a judge, by the logarithm of length; 0 is no bias.

    Attributes
    ----------
    slope : Estimate
        Standard deviations of the judge's score for one of log length, at equal human scores.
    rank_slope : Estimate; the same of ranks, unmoved by a few very long answers
    correlation, human_correlation : Estimate
        Pearson's, of log length with the judge's and with human scores, for comparison.
    n_unscored : int; rows left out because the judge gave no score
    """

    slope: Estimate
    rank_slope: Estimate
    correlation: Estimate
    human_correlation: Estimate
    n_unscored: int


def length_bias(
    human: ArrayLike,
    judge: ArrayLike,
    lengths: ArrayLike,
    *,
    sources: Labels | None = None,
    reliability: float = 1.0,
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> LengthBias:
    """Return how much a judge's scores rise with length at equal human ratings.

    With j the judge, l the logarithm of length, h raters and r correlations, the slope is
    ``(R r_jl - r_jh r_hl) / (R - r_hl**2)``, where R is the reliability of the human scores: the
    coefficient of l in the regression of j on l and h. If good answers are long, a fair judge shows
    a slope above 0 unless R says how noisy human scores are.

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,); nan (or None) in ``judge`` where unscored
    lengths : array-like, shape (n_rows,), above 0; characters, words or tokens
    sources : sequence of labels, one per row, optional
    reliability : float, above 0 and up to 1
        Of the human scores, such as the intraclass correlation of their mean. The intervals do
        not cover its error.
    seed, n_resamples, confidence
        As in :mod:`judgesmith.metrics`: coverage, seed or generator, 20 resamples or more.

    Returns
    -------
    LengthBias
        A slope is nan if judge, raters or lengths are constant, if length and human scores are on
        a line, or if they correlate as much as ``reliability`` allows or more. Ranks are those
        among all rows, also in the intervals; these are nan if all sources are alike.

    References
    ----------
    Yule (1907), "On the theory of correlation for any number of variables", for the slope. Fuller
    (1987), "Measurement Error Models", section 2.2, for a known reliability. Dubois, Galambosi,
    Liang and Hashimoto (2024), "Length-Controlled AlpacaEval", for the question.

    Examples
    --------
    >>> human, lengths = [1, 2, 3, 4, 5, 2, 4, 3], [40, 300, 80, 500, 120, 60, 90, 900]
    >>> judge = np.array(human) + np.log(lengths)
    >>> found = length_bias(human, judge, lengths)
    >>> round(found.slope.value, 2), round(found.human_correlation.value, 2)
    (0.56, 0.31)
    """
    h, p = paired_scores(human, judge, allow_unscored=True)
    words = score_vector(lengths, name="lengths", n_items=len(p))
    if (words <= 0).any():
        raise ValueError(
            f"lengths must be above 0; the one at index {np.flatnonzero(words <= 0)[0]} is not. "
            "Leave out empty answers, and count them."
        )
    if not 0 < number(reliability, name="reliability") <= 1:
        raise ValueError(f"reliability must be above 0 and up to 1; got {reliability}.")
    scored = ~np.isnan(p)
    codes = source_codes(sources, len(p), scored)
    variables = [each[scored] for each in (p, np.log(words), h)]
    n_pairs = len(products([np.empty(0)] * 3))

    def slopes(sums: FloatArray) -> FloatArray:
        raw, ranked = covariances(sums[:, :n_pairs], 3), covariances(sums[:, n_pairs:], 3)
        deviations = np.sqrt(np.diagonal(raw, axis1=1, axis2=2))
        return np.stack(
            [
                partial_slope(raw, reliability),
                partial_slope(ranked, reliability),
                ratio(raw[:, 0, 1], deviations[:, 0] * deviations[:, 1]),
                ratio(raw[:, 1, 2], deviations[:, 1] * deviations[:, 2]),
            ],
            axis=1,
        )

    plain = products([z_scores(each) for each in variables])
    ranked = products([z_scores(_ranks(each)) for each in variables])
    found = estimates_of_sums(
        group_sums([*plain, *ranked], codes),
        slopes,
        n=int(np.count_nonzero(scored)),
        seed=seed,
        n_resamples=n_resamples,
        confidence=confidence,
    )
    names = ("slope", "rank_slope", "correlation", "human_correlation")
    n_unscored = int(np.count_nonzero(~scored))
    return LengthBias(**dict(zip(names, found, strict=True)), n_unscored=n_unscored)


def partial_slope(covariance: FloatArray, reliability: float = 1.0) -> FloatArray:
    """Return the standardised coefficient of the second variable beside the third."""
    first, second, third = (covariance[:, at, at] for at in range(3))
    true = reliability * third
    left = second * true - covariance[:, 1, 2] ** 2
    left = np.where(left > _COLLINEAR * second * third, left, 0.0)
    slope = ratio(covariance[:, 0, 1] * true - covariance[:, 0, 2] * covariance[:, 1, 2], left)
    return slope * ratio(np.sqrt(second), np.sqrt(first))


def _ranks(scores: FloatArray) -> FloatArray:
    return centred_ranks(Column.of(scores), np.zeros(len(scores), np.int64), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPreference(Record):
    """How much higher the judge rates its own family than raters do.

    All in standard deviations over the rows; 0 is no preference.

    Attributes
    ----------
    gap : Estimate; ``judge_gap`` minus ``human_gap``
    adjusted : Estimate
        How much more the judge gives its own answers than others that raters score alike.
    judge_gap, human_gap : Estimate
        Own less other answers, as the judge and as raters see them.
    n_own, n_other, n_unscored : int
        Scored answers of either kind, and rows left out because the judge gave no score.
    """

    gap: Estimate
    adjusted: Estimate
    judge_gap: Estimate
    human_gap: Estimate
    n_own: int
    n_other: int
    n_unscored: int


def self_preference(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    own: Sequence[bool] | NDArray[np.bool_],
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> SelfPreference:
    """Return how much more a judge prefers answers of its own family than raters do.

    If its own answers are the better ones, noise of the judge makes ``gap`` sit too low and noise
    of raters ``adjusted`` too high. Where both agree on the sign, noise does not explain it.

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,); nan (or None) in ``judge`` where unscored
    own : sequence of bool, one per row; whether the judge's family wrote the answer
    sources : sequence of labels, one per row, optional
    seed, n_resamples, confidence
        As in :mod:`judgesmith.metrics`: coverage, seed or generator, 20 resamples or more.

    Returns
    -------
    SelfPreference
        nan if all answers are of one kind, or if judge or raters are constant. The intervals take
        the systems as given.

    References
    ----------
    Panickssery, Bowman and Feng (2024), "LLM Evaluators Recognize and Favor Their Own
    Generations", for the question; Cochran (1957), "Analysis of covariance: its nature and uses",
    Biometrics 13, for ``adjusted``.

    Examples
    --------
    >>> human, own = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5], [True] * 5 + [False] * 5
    >>> judge = [2, 3, 4, 5, 6, 1, 2, 3, 4, 5]
    >>> found = self_preference(human, judge, own=own)
    >>> round(found.gap.value, 2), round(found.adjusted.value, 2), found.human_gap.value
    (0.67, 0.67, 0.0)
    """
    h, p = paired_scores(human, judge, allow_unscored=True)
    given = score_vector(np.asarray(own), name="own", n_items=len(p))
    if not np.isin(given, (0, 1)).all():
        raise ValueError("own must be True or False for each row.")
    scored = ~np.isnan(p)
    codes = source_codes(sources, len(p), scored)
    is_own = given[scored]
    share = float(is_own.mean()) if is_own.size else 0.0
    variables = [z_scores(p[scored]), z_scores(h[scored]), is_own - share]

    def gaps(sums: FloatArray) -> FloatArray:
        found = covariances(sums, 3)
        of_judge, people, mine = (found[:, at, at] for at in range(3))
        by_judge = ratio(ratio(found[:, 0, 2], mine), np.sqrt(of_judge))
        by_people = ratio(ratio(found[:, 1, 2], mine), np.sqrt(people))
        held = found[:, [0, 2, 1]][:, :, [0, 2, 1]]
        adjusted = ratio(partial_slope(held), np.sqrt(mine))
        return np.stack([by_judge - by_people, adjusted, by_judge, by_people], axis=1)

    found = estimates_of_sums(
        group_sums(products(variables), codes),
        gaps,
        n=len(is_own),
        seed=seed,
        n_resamples=n_resamples,
        confidence=confidence,
    )
    return SelfPreference(
        gap=found[0],
        adjusted=found[1],
        judge_gap=found[2],
        human_gap=found[3],
        n_own=int(is_own.sum()),
        n_other=int(np.sum(1 - is_own)),
        n_unscored=int(np.count_nonzero(~scored)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBias(Record):
    """Position bias of a pairwise judge, from pairs judged in both orders.

    Attributes
    ----------
    bias : Estimate
        How often the first place won, a tie as half, minus .5: from -.5 (always the second) to
        .5 (always the first); 0 is none.
    among_inconsistent : Estimate
        The same among pairs whose answer changed with the order, which ``n`` counts.
    inconsistent : Estimate; the share of pairs whose answer changed, from 0 to 1
    n_unscored : int; pairs left out because an answer is missing
    """

    bias: Estimate
    among_inconsistent: Estimate
    inconsistent: Estimate
    n_unscored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceEffects(Record):
    """How scores depend on the position in a list.

    Attributes
    ----------
    places : tuple of int or float, in order
    effects : tuple of Estimate
        The mean score at each place minus the mean of all rows, in points; 0 is none.
    slope : Estimate; points for each place further down, by least squares
    n_unscored : int; rows left out because they have no score
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
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> PositionBias:
    """Return how much a pairwise judge favours the text shown first, from both orders of each pair.

    :func:`~judgesmith.metrics.pairs.order_consistency` reports how often a preference survives the
    exchange; this is which way it moves, and how far.

    Parameters
    ----------
    given, swapped : array-like, shape (n_pairs,), from 0 to 1
        How far the first text of the pair won, where it was shown first, and where the other one
        was: 1 it won, 0 it lost, .5 neither; or its probability to win. Pairs with nan (or None)
        are left out.
    sources : sequence of labels, one per pair, optional
    seed, n_resamples, confidence
        As in :mod:`judgesmith.metrics`: coverage, seed or generator, 20 resamples or more.

    Returns
    -------
    PositionBias
        ``among_inconsistent`` is nan if no answer changed; all are nan without pairs. The bias has
        a percentile interval, nan if all sources are alike; the two shares have that of
        :func:`~judgesmith.metrics.resampling.share_interval`.

    References
    ----------
    Wang et al. (2023), "Large Language Models are not Fair Evaluators", arXiv:2305.17926. Zheng et
    al. (2023), "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena", arXiv:2306.05685.

    Examples
    --------
    >>> found = position_bias([1, 1, 0, 1], [1, 0, 0, 0.5])
    >>> found.bias.value, found.among_inconsistent.value, found.inconsistent.value
    (0.1875, 0.5, 0.5)
    """
    a = _answers(given, "given", None)
    b = _answers(swapped, "swapped", len(a))
    judged = ~(np.isnan(a) | np.isnan(b))
    codes = source_codes(sources, len(a), judged)
    gain = a[judged] - b[judged]
    changed = gain != 0
    (bias,) = estimates_of_sums(
        group_sums([np.ones(len(gain)), gain], codes),
        lambda sums: ratio(sums[:, 1:], 2 * sums[:, :1]),
        n=len(gain),
        seed=seed,
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
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> PlaceEffects:
    """Return how scores depend on the position of an item in a list.

    The items must have been put into the lists in random order, or each into every place.

    Parameters
    ----------
    judge : array-like, shape (n_rows,); nan (or None) where unscored
    places : array-like of numbers, shape (n_rows,), 1 for the first of a list
    sources : sequence of labels, one per row, the lists or what they are about
    seed, n_resamples, confidence
        As in :mod:`judgesmith.metrics`: coverage, seed or generator, 20 resamples or more.

    Returns
    -------
    PlaceEffects
        The intervals of places are not simultaneous. The slope is nan if all rows stood at one
        place; intervals are nan if all sources are alike.

    Raises
    ------
    ValueError
        As for other metrics; also if sources times places are more than 20 million.

    Examples
    --------
    >>> found = place_effects(
    ...     [5, 4, 3, 4, 4, 2, 5, 3, 3], [1, 2, 3] * 3, sources=[0, 0, 0, 1, 1, 1, 2, 2, 2],
    ... )
    >>> [round(effect.value, 2) for effect in found.effects], round(found.slope.value, 2)
    ([1.0, 0.0, -1.0], -1.0)
    """
    p = squarable(score_vector(judge, name="judge", allow_missing=True), name="judge")
    at = squarable(score_vector(np.asarray(places), name="places", n_items=len(p)), name="places")
    scored = ~np.isnan(p)
    codes = source_codes(sources, len(p), scored)
    p, at = p[scored], at[scored]
    known, which = np.unique(at, return_inverse=True)
    score = p - p.mean() if Column.of(p).n_levels > 1 else np.zeros(len(p))
    step = at - known.mean() if known.size else at
    ones = np.ones(len(p))
    everywhere = group_sums([ones, score, step, score * step, step * step], codes)
    by_place = sums_by_group([ones, score], codes, which, len(known))

    def effects(sums: FloatArray) -> FloatArray:
        n, total, steps, product, squares = sums[:, :5].T
        slope = ratio(n * product - total * steps, n * squares - steps**2)
        gaps = ratio(sums[:, 6::2], sums[:, 5::2]) - ratio(total, n)[:, None]
        return np.concatenate([gaps, slope[:, None]], axis=1)

    found = estimates_of_sums(
        np.concatenate([everywhere, by_place], axis=1),
        effects,
        n=len(p),
        seed=seed,
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
    """Return answers from 0 to 1, nan if missing."""
    answers = score_vector(values, name=name, n_items=n_pairs, allow_missing=True)
    outside = (answers < 0) | (answers > 1)
    if outside.any():
        raise ValueError(
            f"{name} must be from 0 (the first text lost) to 1 (it won); got "
            f"{answers[outside][0]} at index {np.flatnonzero(outside)[0]}."
        )
    return answers

"""Whether a judge prefers long answers more than people do.

Long answers may be better, and people may say so. What counts as bias is how much more a judge
gives to length among answers that people rate alike.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import (
    FloatArray,
    Rng,
    generator,
    number,
    paired_scores,
    score_vector,
)
from judgesmith.metrics.audits.sums import (
    covariances,
    products,
    ratio,
    source_codes,
    standardised,
    sums_by_source,
)
from judgesmith.metrics.correlation.columns import Column, centred_ranks
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate, Record
from judgesmith.metrics.resampling.draws import estimates_of_sums

# Below this share of what it could be, length left over by human scores is rounding.
_COLLINEAR = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthBias(Record):
    """How a judge's scores go with the logarithm of length. 0 is no bias in all of them.

    Attributes
    ----------
    slope : Estimate
        Standard deviations of the judge's score for one of log length, at equal human scores.
    rank_slope : Estimate
        The same of ranks, whatever the shape of the scales; unmoved by a few very long answers.
    correlation, human_correlation : Estimate
        Pearson's, of log length with the judge's and with human scores, for comparison.
    n_unscored : int
        Rows left out because the judge gave no score.
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
    rng: Rng = 0,
    n_resamples: int = 1000,
) -> LengthBias:
    """Return how much a judge's scores rise with length among answers that people rate alike.

    With j the judge, l the logarithm of length, h people and r correlations, the slope is
    ``(R r_jl - r_jh r_hl) / (R - r_hl**2)``, where R is the reliability of the human scores: the
    coefficient of l in the regression of j on l and h. Human scores with noise leave quality
    uncontrolled: if good answers are long, a fair judge shows a slope above 0 unless R says how
    noisy they are.

    Parameters
    ----------
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with ``judge``.
    judge : array-like, shape (n_rows,), in points of the judge's scale
        nan (or None) where an answer is unscored; such rows are left out.
    lengths : array-like, shape (n_rows,), above 0
        Characters, words or tokens; which of them makes little difference to a logarithm.
    sources : sequence of labels, one per row
        What is drawn for the intervals. Without it every row is a source of its own.
    reliability : float, above 0 and up to 1
        Of the human scores, such as the intraclass correlation of their mean; 1 takes them as
        free of noise. Given, not estimated: the intervals do not cover what it is off by.
    rng, n_resamples, confidence
        Where resamples of sources come from, how many, and nominal coverage.

    Returns
    -------
    LengthBias
        A slope is nan if judge, people or lengths are constant, if length and human scores are on
        a line, or if they correlate as much as ``reliability`` allows or more. Ranks are those
        among all rows, also in the intervals; these are nan if all sources are alike.

    Raises
    ------
    ValueError
        If scores, lengths and labels do not fit together, a length is not above 0, or a setting
        is out of range.
    TypeError
        If ``rng`` is no generator.

    References
    ----------
    Yule (1907), "On the theory of correlation for any number of variables", for the slope. Fuller
    (1987), "Measurement Error Models", section 2.2, for a known reliability. Dubois, Galambosi,
    Liang and Hashimoto (2024), "Length-Controlled AlpacaEval", for the question.

    Examples
    --------
    A judge that says what people say, and more for length.

    >>> human, lengths = [1, 2, 3, 4, 5, 2, 4, 3], [40, 300, 80, 500, 120, 60, 90, 900]
    >>> judge = np.array(human) + np.log(lengths)
    >>> found = length_bias(human, judge, lengths, rng=np.random.default_rng(0))
    >>> round(found.slope.value, 2), round(found.human_correlation.value, 2)
    (0.56, 0.31)
    """
    rng = generator(rng)
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
        """Return the slope, its ranks', and the two correlations."""
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

    plain = products([standardised(each) for each in variables])
    ranked = products([standardised(_ranks(each)) for each in variables])
    found = estimates_of_sums(
        sums_by_source([*plain, *ranked], codes),
        slopes,
        n=int(np.count_nonzero(scored)),
        rng=rng,
        n_resamples=n_resamples,
        confidence=confidence,
    )
    return LengthBias(
        slope=found[0],
        rank_slope=found[1],
        correlation=found[2],
        human_correlation=found[3],
        n_unscored=int(np.count_nonzero(~scored)),
    )


def partial_slope(covariance: FloatArray, reliability: float = 1.0) -> FloatArray:
    """Return the standardised coefficient of the second variable beside the third."""
    first, second, third = (covariance[:, at, at] for at in range(3))
    true = reliability * third
    left = second * true - covariance[:, 1, 2] ** 2
    left = np.where(left > _COLLINEAR * second * third, left, 0.0)
    slope = ratio(covariance[:, 0, 1] * true - covariance[:, 0, 2] * covariance[:, 1, 2], left)
    return slope * ratio(np.sqrt(second), np.sqrt(first))


def _ranks(scores: FloatArray) -> FloatArray:
    """Return average ranks."""
    return centred_ranks(Column.of(scores), np.zeros(len(scores), np.int64), 1)

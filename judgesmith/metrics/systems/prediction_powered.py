"""The mean human score from few rated rows and many that only a judge has scored.

The mean of the ratings alone is right but wide; the mean of the judge's scores is narrow but
inherits the judge's errors. Prediction-powered inference measures those errors where people rated
and takes them off: right whatever the judge, and the narrower the better the judge follows people.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import (
    FloatArray,
    IntArray,
    fraction,
    group_codes,
    label_list,
    number,
    paired_scores,
    score_vector,
)
from judgesmith.metrics.correlations.levels import Labels
from judgesmith.metrics.estimate import Estimate
from judgesmith.metrics.limits import squarable
from judgesmith.metrics.record import Record
from judgesmith.metrics.systems.rectified_sums import Part, Rectified, rectified

__all__ = ["PredictionPoweredMean", "prediction_powered_mean"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionPoweredMean(Record):
    """A mean human score with and without the help of a judge.

    Attributes
    ----------
    estimate : Estimate
        With the judge. ``n`` counts rated and unrated rows, ``n_groups`` their sources.
    classical : Estimate
        The mean of the ratings alone, with Student's interval over the rated sources.
    weight : float
        How far the judge was trusted, lambda: 0 is not at all, and both estimates are equal.
    gain : float
        Squared standard error of ``classical`` over that of ``estimate``: how many times as many
        ratings would have done as much as the judge did. nan where either is undefined.
    n_rated, n_unrated : int
        Rows that entered.
    n_unscored : int
        Rows left out because the judge gave no score.
    """

    estimate: Estimate
    classical: Estimate
    weight: float
    gain: float
    n_rated: int
    n_unrated: int
    n_unscored: int


def prediction_powered_mean(
    predicted: ArrayLike,
    human: ArrayLike,
    predicted_unlabelled: ArrayLike,
    *,
    sources: Labels | None = None,
    sources_unlabelled: Labels | None = None,
    weight: float | None = None,
    confidence: float = 0.95,
) -> PredictionPoweredMean:
    """Return the mean human score of all rows, of which people rated some.

    ``mean(human) - weight * (mean(predicted) - mean(predicted_unlabelled))``. It must be chance
    which rows were rated: if people rated the hard ones, both estimates are about hard ones.

    The error is the jackknife's over sources, ``weight`` found anew each time, so rows of one
    source may be alike and a source may hold rated and unrated rows: what it shares between them
    then cancels. The quantile is Student's with Welch and Satterthwaite's degrees of freedom. The
    interval covers the choice of sources and of rated rows; it takes raters and judge as given.

    Parameters
    ----------
    predicted : array-like, shape (n_rated,), in points of the judge's scale
        The judge on rated rows; nan (or None) where it gave no score, such rows are left out.
    human : array-like, shape (n_rated,), in points of the human scale
        Aligned with ``predicted``.
    predicted_unlabelled : array-like, shape (n_unrated,), in the judge's points
        The same judge on rows that nobody rated; may be empty.
    sources, sources_unlabelled : sequence of labels, one per row
        Equal labels mean one source, also from one list to the other. Give both, or neither if
        every row is a source of its own.
    weight : float from 0 to 1, or None
        None for the one of least variance, kept between 0 and 1: 0 for a judge whose scores fall
        where ratings rise. Put a judge on a scale narrower than people's, such as 0 to 1 against
        1 to 5, on theirs first: it would need a weight above 1.
    confidence : float, between 0 and 1
        Nominal coverage.

    Returns
    -------
    PredictionPoweredMean
        An interval is nan with fewer than two rated sources, or if nothing varies. Both values
        are nan without rated rows.

    Raises
    ------
    ValueError
        If scores do not pair up or are infinite, a rating is missing, labels do not fit their
        rows or are given for one list only, or a setting is out of range.

    References
    ----------
    Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), "Prediction-powered inference",
    Science 382. Angelopoulos, Duchi and Zrnic (2023), "PPI++: Efficient Prediction-Powered
    Inference", arXiv:2311.01453, for the weight.

    Examples
    --------
    >>> human, judge = [4, 2, 5, 3, 4, 1], [80, 45, 90, 60, 70, 20]
    >>> others = [85, 75, 60, 90, 70, 95, 65, 80, 75, 70, 85, 60]
    >>> found = prediction_powered_mean(judge, human, others)
    >>> round(found.classical.value, 2), round(found.estimate.value, 2), found.weight > 0
    (3.17, 4.1, True)
    """
    p, h = paired_scores(predicted, human, allow_unscored=True)
    others = score_vector(predicted_unlabelled, name="predicted_unlabelled", allow_missing=True)
    if (sources is None) != (sources_unlabelled is None):
        raise ValueError(
            "give both sources and sources_unlabelled, or neither; got one of them. Without "
            "labels every row is a source of its own."
        )
    if sources is None or sources_unlabelled is None:
        codes: IntArray = np.arange(len(p) + len(others))
    else:
        rated = label_list(sources, name="sources")
        unrated = label_list(sources_unlabelled, name="sources_unlabelled")
        group_codes(rated, name="sources", n_items=len(p))
        group_codes(unrated, name="sources_unlabelled", n_items=len(others))
        codes, _ = group_codes(rated + unrated, name="sources", n_items=len(p) + len(others))
    return powered_mean(
        np.concatenate([p, others]),
        np.concatenate([h, np.full(len(others), np.nan)]),
        codes,
        weight=weight,
        confidence=confidence,
    )


def powered_mean(
    predicted: FloatArray,
    human: FloatArray,
    sources: IntArray,
    *,
    weight: float | None,
    confidence: float,
) -> PredictionPoweredMean:
    """Return the mean of rows of which those with a human score of nan are unrated."""
    check_weight(weight)
    fraction(confidence, name="confidence")
    squarable(predicted, name="predicted")
    squarable(human, name="human")
    scored = ~np.isnan(predicted)
    part = Part(predicted=predicted[scored], human=human[scored], sources=sources[scored])
    corrected = rectified([part], [1.0], weight)
    alone = rectified([rated_rows(part)], [1.0], 0.0)
    n_rated = int(np.count_nonzero(~np.isnan(part.human)))
    return PredictionPoweredMean(
        estimate=estimate_of(corrected, len(part.human), confidence),
        classical=estimate_of(alone, n_rated, confidence),
        weight=corrected.weight,
        gain=gain_of(corrected, alone),
        n_rated=n_rated,
        n_unrated=len(part.human) - n_rated,
        n_unscored=int(np.count_nonzero(~scored)),
    )


def check_weight(weight: float | None) -> None:
    """Refuse a weight that is not a share."""
    if weight is not None and not 0 <= number(weight, name="weight") <= 1:
        raise ValueError(
            f"weight must be from 0 (ratings alone) to 1, or None to find it; got {weight}."
        )


def rated_rows(part: Part) -> Part:
    """Return the rows that people rated."""
    rated = ~np.isnan(part.human)
    return Part(
        predicted=part.predicted[rated], human=part.human[rated], sources=part.sources[rated]
    )


def estimate_of(found: Rectified, n: int, confidence: float) -> Estimate:
    """Return a value with Student's interval, nan where nothing varies."""
    from scipy.special import stdtrit

    reach = math.nan
    if found.error > 0:
        reach = float(stdtrit(found.freedom, (1 + confidence) / 2)) * found.error
    return Estimate(
        value=found.value,
        low=found.value - reach,
        high=found.value + reach,
        confidence=confidence,
        n=n,
        n_groups=found.n_groups,
        n_undefined=0,
    )


def gain_of(corrected: Rectified, alone: Rectified) -> float:
    """Return the ratio of the squared standard errors, without the judge over with it."""
    if not (corrected.error > 0 and alone.error > 0):
        return math.nan
    return (alone.error / corrected.error) ** 2

"""Whether a judge favours the answers of its own model family.

Its own answers may be better, and people may say so. What counts as bias is how much higher a
judge puts them than people do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import FloatArray, Rng, generator, paired_scores, score_vector
from judgesmith.metrics.audits.length import partial_slope
from judgesmith.metrics.audits.sums import (
    covariances,
    products,
    ratio,
    source_codes,
    standardised,
    sums_by_source,
)
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate, Record
from judgesmith.metrics.resampling.draws import estimates_of_sums


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPreference(Record):
    """How much higher the judge's own family stands with the judge than with people.

    All in standard deviations over the rows; 0 is no preference.

    Attributes
    ----------
    gap : Estimate
        ``judge_gap`` minus ``human_gap``: own less other answers, in standardised judge minus
        standardised human scores.
    adjusted : Estimate
        How much more the judge gives its own answers than others that people rate alike.
    judge_gap, human_gap : Estimate
        Own less other answers, as the judge and as people see them.
    n_own, n_other : int
        Scored answers of either kind.
    n_unscored : int
        Rows left out because the judge gave no score.
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
    rng: Rng = 0,
    n_resamples: int = 1000,
) -> SelfPreference:
    """Return how much a judge prefers answers of its own family, beyond what people do.

    A judge with noise tells all groups apart less than people do, so if its own answers are the
    better ones, ``gap`` sits too low; noisy people make ``adjusted`` sit too high there. Where
    both agree on the sign, neither noise explains it.

    Parameters
    ----------
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with ``judge``.
    judge : array-like, shape (n_rows,), in points of the judge's scale
        nan (or None) where an answer is unscored; such rows are left out.
    sources : sequence of labels, one per row
        What is drawn for the intervals. Without it every row is a source of its own.
    own : sequence of bool, one per row
        Whether the judge's family wrote the answer.
    rng, n_resamples, confidence
        Where resamples of sources come from, how many, and nominal coverage.

    Returns
    -------
    SelfPreference
        nan if all answers are of one kind, or if judge or people are constant. The intervals take
        the systems as given: with one system of its own, family and system are the same thing.

    Raises
    ------
    ValueError
        If scores and labels do not fit together, ``own`` holds anything but yes and no, or a
        setting is out of range.
    TypeError
        If ``rng`` is no generator.

    References
    ----------
    Panickssery, Bowman and Feng (2024), "LLM Evaluators Recognize and Favor Their Own
    Generations", for the question; Cochran (1957), "Analysis of covariance: its nature and uses",
    Biometrics 13, for ``adjusted``.

    Examples
    --------
    A judge that adds a point to its own answers, which people find no better.

    >>> human, own = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5], [True] * 5 + [False] * 5
    >>> judge = [2, 3, 4, 5, 6, 1, 2, 3, 4, 5]
    >>> found = self_preference(human, judge, own=own, rng=np.random.default_rng(0))
    >>> round(found.gap.value, 2), round(found.adjusted.value, 2), found.human_gap.value
    (0.67, 0.67, 0.0)
    """
    rng = generator(rng)
    h, p = paired_scores(human, judge, allow_unscored=True)
    given = score_vector(np.asarray(own), name="own", n_items=len(p))
    if not np.isin(given, (0, 1)).all():
        raise ValueError("own must say True or False of each row.")
    scored = ~np.isnan(p)
    codes = source_codes(sources, len(p), scored)
    is_own = given[scored]
    share = float(is_own.mean()) if is_own.size else 0.0
    variables = [standardised(p[scored]), standardised(h[scored]), is_own - share]

    def gaps(sums: FloatArray) -> FloatArray:
        """Return the four gaps."""
        found = covariances(sums, 3)
        of_judge, people, mine = (found[:, at, at] for at in range(3))
        by_judge = ratio(ratio(found[:, 0, 2], mine), np.sqrt(of_judge))
        by_people = ratio(ratio(found[:, 1, 2], mine), np.sqrt(people))
        held = found[:, [0, 2, 1]][:, :, [0, 2, 1]]
        adjusted = ratio(partial_slope(held), np.sqrt(mine))
        return np.stack([by_judge - by_people, adjusted, by_judge, by_people], axis=1)

    found = estimates_of_sums(
        sums_by_source(products(variables), codes),
        gaps,
        n=len(is_own),
        rng=rng,
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

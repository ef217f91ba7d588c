"""Whether one judge marks spans better than another, on the same texts."""

import math
from typing import Literal

import numpy as np

from judgesmith.metrics.checks import group_codes
from judgesmith.metrics.estimate import PairedEstimate
from judgesmith.metrics.levels import Labels
from judgesmith.metrics.source_draws import (
    check_settings,
    draws_of_sources,
    percentile_interval,
    two_sided_p,
)
from judgesmith.metrics.span_agreement import (
    SPAN_STATISTICS,
    SpanAgreement,
    source_sums,
    summary,
)

__all__ = ["SpanStatistic", "span_difference"]

SpanStatistic = Literal["precision", "recall", "f1", "macro_f1"]


def span_difference(
    first: SpanAgreement,
    second: SpanAgreement,
    *,
    statistic: SpanStatistic = "f1",
    sources: Labels | None = None,
    rng: np.random.Generator,
    n_resamples: int = 1000,
    confidence: float = 0.95,
) -> PairedEstimate:
    """Return how much better the first judge marks spans, from the texts that both have scored.

    Both are computed on the same resamples of sources, so what they share cancels.

    Parameters
    ----------
    first, second : SpanAgreement
        Of two judges against the same gold spans of the same texts in the same order, from the
        same function with the same settings.
    statistic : {"precision", "recall", "f1", "macro_f1"}
        What to compare.
    sources : sequence of labels, one per text
        As both were given: one for each text, scored or not. Without it, texts are drawn.
    rng, n_resamples, confidence
        As for :func:`~judgesmith.metrics.span_character_agreement`.

    Returns
    -------
    PairedEstimate
        ``low``, ``high`` and ``p_value`` are nan with fewer than two sources, if more than 5 % of
        the resamples are undefined, or if the difference is the same in all. The p-value is that
        of :func:`~judgesmith.metrics.paired_interval`.

    Raises
    ------
    ValueError
        If the two are not about the same texts and gold spans, the statistic is unknown, a label
        is missing, or a setting is not as described.
    TypeError
        If ``rng`` is not a generator.

    Examples
    --------
    >>> from judgesmith.metrics.spans import span_character_agreement
    >>> gold = [[(0, 5)], [(3, 9)], [(2, 4)], []]
    >>> rng = np.random.default_rng(0)
    >>> one = span_character_agreement([[(0, 5)], [(3, 8)], [(2, 5)], []], gold, rng=rng)
    >>> other = span_character_agreement([[(4, 9)], [(3, 8)], [], [(0, 1)]], gold, rng=rng)
    >>> found = span_difference(one, other, rng=rng)
    >>> round(found.first, 2), round(found.second, 2), round(found.value, 2)
    (0.92, 0.5, 0.42)
    """
    check_settings(rng, n_resamples, confidence)
    if statistic not in SPAN_STATISTICS:
        raise ValueError(f"statistic must be one of {SPAN_STATISTICS}; got {statistic!r}.")
    n = len(first.of_texts)
    if len(second.of_texts) != n:
        raise ValueError(
            f"both must be about the same texts; got {n} and {len(second.of_texts)} of them."
        )
    labels = np.arange(n) if sources is None else sources
    codes, _ = group_codes(labels, name="sources", n_items=n)
    amounts = [each.of_texts for each in (first, second)]
    kept = np.flatnonzero(~np.isnan(amounts[0][:, 0]) & ~np.isnan(amounts[1][:, 0]))
    one, other = (each[kept] for each in amounts)
    if (one[:, 3] != other[:, 3]).any():
        at = int(kept[np.flatnonzero(one[:, 3] != other[:, 3])[0]])
        raise ValueError(
            f"both must be compared with the same gold spans in the same way; text {at} differs."
        )
    units, codes = np.unique(codes[kept], return_inverse=True)
    sums = [source_sums(each, codes, len(units)) for each in (one, other)]
    place = SPAN_STATISTICS.index(statistic)
    values = [float(summary(each.sum(axis=0)[None])[0, place]) for each in sums]
    value = values[0] - values[1]
    low = high = p_value = math.nan
    if len(units) > 1 and not math.isnan(value):
        drawn = np.concatenate(
            [
                np.subtract(*(summary(counts @ each)[:, place] for each in sums))
                for counts in draws_of_sources(len(units), n_resamples, rng)
            ]
        )
        if np.nanmin(drawn) < np.nanmax(drawn):
            low, high = percentile_interval(drawn, len(units), confidence)
            p_value = math.nan if math.isnan(low) else two_sided_p(drawn, len(units))
    return PairedEstimate(
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        n=len(kept),
        n_groups=len(units),
        n_undefined=int(math.isnan(value)),
        first=values[0],
        second=values[1],
        p_value=p_value,
    )

"""Agreement of two sets of error spans, and the difference between two judges in it."""

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from judgesmith.metrics.arrays import FloatArray, IntArray, Rng, group_codes
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate, PairedEstimate, Record
from judgesmith.metrics.resampling.draws import (
    Counted,
    check_settings,
    difference_of,
    draws_of_units,
    estimates_of_sums,
    varying_interval,
)
from judgesmith.metrics.spans.tables import SpanTable

DUST = 1e-12
"""Shares that are no further apart differ by rounding."""

SPAN_STATISTICS = ("precision", "recall", "f1", "macro_f1")
"""What :func:`summary` returns, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanAgreement(Record):
    """How well predicted spans agree with gold spans, in characters or in spans.

    Attributes
    ----------
    precision, recall, f1 : Estimate, from 0 to 1
        Of sums over all texts (micro). ``precision`` is nan if nothing was predicted, ``recall``
        if nothing is gold, ``f1`` if neither is; ``f1`` is 0 if only one of them is.
        ``n`` counts texts.
    macro_f1 : Estimate, from 0 to 1
        Mean of the texts' own F1; a text in which neither side has a span counts 1.
    predicted, gold : float
        What each side marked: characters, their severities, or spans.
    matched_predicted, matched_gold : float
        The part of each that the other side supports. They differ only where characters are
        weighted by severity.
    n_unscored : int
        Texts left out because ``predicted`` was None.
    n_unlocated_predicted, n_unlocated_gold : int
        Spans left out because they have no place in their text.
    of_texts : float array, shape (n_texts_given, 4)
        ``matched_predicted``, ``predicted``, ``matched_gold`` and ``gold`` of each text, nan where
        it is unscored: what :func:`~judgesmith.metrics.spans.span_agreement_difference` compares.
    """

    precision: Estimate
    recall: Estimate
    f1: Estimate
    macro_f1: Estimate
    predicted: float
    gold: float
    matched_predicted: float
    matched_gold: float
    n_unscored: int
    n_unlocated_predicted: int
    n_unlocated_gold: int
    of_texts: FloatArray = field(repr=False, compare=False)

    @property
    def true_positives(self) -> float:
        """What of the predicted is matched."""
        return self.matched_predicted

    @property
    def false_positives(self) -> float:
        """What of the predicted is not matched."""
        return self.predicted - self.matched_predicted

    @property
    def false_negatives(self) -> float:
        """What of the gold is not matched."""
        return self.gold - self.matched_gold


def agreement_of_matches(
    table: SpanTable,
    amounts: FloatArray,
    *,
    sources: Labels | None,
    rng: Rng,
    n_resamples: int,
    confidence: float,
) -> SpanAgreement:
    """Return the record from ``amounts`` of shape (n_texts, 4)."""
    codes, _ = group_codes(sources, name="sources", n_items=table.n_given)
    units, codes = np.unique(codes[table.kept], return_inverse=True)
    found = estimates_of_sums(
        source_sums(amounts, codes, len(units)),
        summary,
        n=table.n_texts,
        rng=rng,
        n_resamples=n_resamples,
        confidence=confidence,
    )
    estimates = [replace(one, n_undefined=int(math.isnan(one.value))) for one in found]
    matched_predicted, predicted, matched_gold, gold = amounts.sum(axis=0).tolist()
    of_texts = np.full((table.n_given, 4), np.nan)
    of_texts[table.kept] = amounts
    return SpanAgreement(
        precision=estimates[0],
        recall=estimates[1],
        f1=estimates[2],
        macro_f1=estimates[3],
        predicted=predicted,
        gold=gold,
        matched_predicted=matched_predicted,
        matched_gold=matched_gold,
        n_unscored=table.n_given - table.n_texts,
        n_unlocated_predicted=table.predicted.n_unlocated,
        n_unlocated_gold=table.gold.n_unlocated,
        of_texts=of_texts,
    )


def source_sums(amounts: FloatArray, codes: IntArray, n_units: int) -> FloatArray:
    """Return for each source the sums of its texts' amounts and own F1, and how many they are."""
    own = _rates(amounts)[:, 2]
    # A text that neither side marked is judged rightly; sums never see it.
    own[np.isnan(own)] = 1.0
    columns = np.column_stack([amounts, own, np.ones(len(own))])
    return np.stack(
        [np.bincount(codes, weights=column, minlength=n_units) for column in columns.T], axis=1
    )


def _rates(amounts: FloatArray) -> FloatArray:
    """Return precision, recall and F1 of rows of the four amounts, nan where undefined."""
    rates = np.full((len(amounts), 3), np.nan)
    matched, total = amounts[:, [0, 2]], amounts[:, [1, 3]]
    np.divide(matched, total, out=rates[:, :2], where=total > 0)
    p, r = np.nan_to_num(rates[:, :2]).T
    any_marked = total.any(axis=1)
    rates[any_marked, 2] = 0.0
    np.divide(2 * p * r, p + r, out=rates[:, 2], where=any_marked & (p + r > 0))
    return rates


def summary(sums: FloatArray) -> FloatArray:
    """Return the four statistics of rows of sums as in :func:`source_sums`, nan if undefined."""
    macro = np.full(len(sums), np.nan)
    np.divide(sums[:, 4], sums[:, 5], out=macro, where=sums[:, 5] > 0)
    return np.column_stack([_rates(sums[:, :4]), macro])


SpanStatistic = Literal["precision", "recall", "f1", "macro_f1"]


def span_agreement_difference(
    first: SpanAgreement,
    second: SpanAgreement,
    *,
    sources: Labels | None = None,
    statistic: SpanStatistic = "f1",
    confidence: float = 0.95,
    rng: Rng = 0,
    n_resamples: int = 1000,
) -> PairedEstimate:
    """Return how much better the first judge marks spans, from the texts that both have scored.

    Both are computed on the same resamples of sources, so what they share cancels.

    Parameters
    ----------
    first, second : SpanAgreement
        Of two judges against the same gold spans of the same texts in the same order, from the
        same function with the same settings.
    sources : sequence of labels, one per text
        As both were given: one for each text, scored or not. Without it, texts are drawn.
    statistic : {"precision", "recall", "f1", "macro_f1"}
        What to compare.
    rng, n_resamples, confidence
        As for :func:`~judgesmith.metrics.span_character_agreement`.

    Returns
    -------
    PairedEstimate
        ``low``, ``high`` and ``p_value`` are nan with fewer than two sources, if more than 5 % of
        the resamples are undefined, or if the difference is the same in all. The p-value is that
        of :func:`~judgesmith.metrics.agreement_difference`.

    Raises
    ------
    ValueError
        If the two are not about the same texts and gold spans, the statistic is unknown, a label
        is missing, or a setting is not as described.
    TypeError
        If ``rng`` is neither a whole number nor a generator.

    Examples
    --------
    >>> from judgesmith.metrics.spans.matching import span_character_agreement
    >>> gold = [[(0, 5)], [(3, 9)], [(2, 4)], []]
    >>> rng = np.random.default_rng(0)
    >>> one = span_character_agreement(gold, [[(0, 5)], [(3, 8)], [(2, 5)], []], rng=rng)
    >>> other = span_character_agreement(gold, [[(4, 9)], [(3, 8)], [], [(0, 1)]], rng=rng)
    >>> found = span_agreement_difference(one, other, rng=rng)
    >>> round(found.first, 2), round(found.second, 2), round(found.value, 2)
    (0.92, 0.5, 0.42)
    """
    rng = check_settings(rng, n_resamples, confidence)
    if statistic not in SPAN_STATISTICS:
        raise ValueError(f"statistic must be one of {SPAN_STATISTICS}; got {statistic!r}.")
    n = len(first.of_texts)
    if len(second.of_texts) != n:
        raise ValueError(
            f"both must be about the same texts; got {n} and {len(second.of_texts)} of them."
        )
    codes, _ = group_codes(sources, name="sources", n_items=n)
    amounts = [each.of_texts for each in (first, second)]
    kept = np.flatnonzero(~np.isnan(amounts[0][:, 0]) & ~np.isnan(amounts[1][:, 0]))
    one, other = (each[kept] for each in amounts)
    # Sums of the same severities differ by rounding where other spans cut the text.
    differ = ~np.isclose(one[:, 3], other[:, 3], rtol=1e-9, atol=0.0)
    if differ.any():
        at = int(kept[np.flatnonzero(differ)[0]])
        raise ValueError(
            f"both must be compared with the same gold spans in the same way; text {at} differs."
        )
    units, codes = np.unique(codes[kept], return_inverse=True)
    sums = [source_sums(each, codes, len(units)) for each in (one, other)]
    place = SPAN_STATISTICS.index(statistic)

    def counted(own: FloatArray) -> Counted:
        value = float(summary(own.sum(axis=0)[None])[0, place])
        return Counted(
            value=value,
            of_counts=lambda counts: summary(counts @ own)[:, place],
            n_units=len(units),
            n_undefined=int(math.isnan(value)),
        )

    first_counted, second_counted = (counted(own) for own in sums)

    def gain(counts: FloatArray) -> FloatArray:
        apart = first_counted.of_counts(counts) - second_counted.of_counts(counts)
        return np.where(np.abs(apart) <= DUST, 0.0, apart)

    return difference_of(
        first_counted,
        second_counted,
        draws_of_units((len(units),), n_resamples, rng),
        n=len(kept),
        n_groups=len(units),
        confidence=confidence,
        gain=gain,
        # Resamples that never vary do not show how sure the value is.
        interval=lambda _, resampled, n_units: varying_interval(resampled, n_units, confidence),
    )

"""Precision, recall and F1 from what was matched in each text, with intervals over sources."""

import math
from dataclasses import dataclass, field

import numpy as np

from judgesmith.metrics.checks import FloatArray, IntArray, group_codes
from judgesmith.metrics.correlations.levels import Labels
from judgesmith.metrics.estimate import Estimate
from judgesmith.metrics.record import Record
from judgesmith.metrics.resampling.source_draws import (
    check_settings,
    draws_of_sources,
    percentile_interval,
)
from judgesmith.metrics.spans.span_table import SpanTable

__all__ = [
    "DUST",
    "SPAN_STATISTICS",
    "SpanAgreement",
    "agreement_of_matches",
    "source_sums",
    "summary",
]

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
        ``matched_predicted``, ``predicted``, ``matched_gold`` and ``gold`` of each text, nan
        where it is unscored: what :func:`~judgesmith.metrics.span_difference` compares.
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
    rng: np.random.Generator,
    n_resamples: int,
    confidence: float,
) -> SpanAgreement:
    """Return the record from ``amounts`` of shape (n_texts, 4).

    Columns are the matched part of the predicted, the predicted, the matched part of the gold,
    and the gold.
    """
    check_settings(rng, n_resamples, confidence)
    labels = np.arange(table.n_given) if sources is None else sources
    codes, _ = group_codes(labels, name="sources", n_items=table.n_given)
    units, codes = np.unique(codes[table.kept], return_inverse=True)
    sums = source_sums(amounts, codes, len(units))
    values = summary(sums.sum(axis=0)[None])[0]
    intervals = np.full((4, 2), np.nan)
    if len(units) > 1:
        drawn = np.concatenate(
            [summary(counts @ sums) for counts in draws_of_sources(len(units), n_resamples, rng)]
        )
        for place in np.flatnonzero(~np.isnan(values)):
            # Resamples that never vary do not show how sure the value is.
            if np.nanmax(drawn[:, place]) - np.nanmin(drawn[:, place]) > DUST:
                intervals[place] = percentile_interval(drawn[:, place], len(units), confidence)
    estimates = [
        Estimate(
            value=float(value),
            low=float(low),
            high=float(high),
            confidence=confidence,
            n=table.n_texts,
            n_groups=len(units),
            n_undefined=int(math.isnan(value)),
        )
        for value, (low, high) in zip(values, intervals, strict=True)
    ]
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

"""Whether a judge finds the errors that people find: spans matched one to one."""

from collections.abc import Iterable

import numpy as np

from judgesmith.metrics.checks import FloatArray, IntArray, number
from judgesmith.metrics.correlations.levels import Labels
from judgesmith.metrics.spans.span_agreement import SpanAgreement, agreement_of_matches
from judgesmith.metrics.spans.span_characters import check_credit
from judgesmith.metrics.spans.span_side import SpanSide, TextSpans
from judgesmith.metrics.spans.span_table import SpanTable

__all__ = ["matched_span_agreement"]

# An assignment of so many pairs takes seconds and a few hundred megabytes.
_MOST_PAIRS = 10_000_000
# Offsets are whole numbers: shares of them that differ at all differ by more.
_DUST = 1e-12


def matched_span_agreement(
    predicted: Iterable[TextSpans | None],
    gold: Iterable[TextSpans | None],
    *,
    sources: Labels | None = None,
    iou_threshold: float = 0.5,
    partial: bool = False,
    severity_credit: float = 1.0,
    same_label: bool = False,
    rng: np.random.Generator,
    n_resamples: int = 1000,
    confidence: float = 0.95,
) -> SpanAgreement:
    """Return how many spans have a partner on the other side, and precision, recall and F1.

    Each span has at most one partner, which it overlaps by at least ``iou_threshold``. Among all
    such pairings of a text the one with the largest total credit counts, so the order of spans
    does not matter. Precision is credit per predicted span, recall credit per gold span.

    Parameters
    ----------
    predicted, gold : iterable with the spans of each text
        As for :func:`~judgesmith.metrics.span_character_agreement`; spans given twice are two.
    sources : sequence of labels, one per text
        What each text is about; intervals draw sources. Without it, texts.
    iou_threshold : float, from 0 to 1
        Least overlap of partners: characters in both over characters in either. At 0 one common
        character is enough, at 1 spans must be equal.
    partial : bool
        Whether a pair earns its overlap instead of 1.
    severity_credit : float, from 0 to 1
        By how much the credit of a pair is multiplied if its severities differ.
    same_label : bool
        Whether partners must have the same label.
    rng, n_resamples, confidence
        As for :func:`~judgesmith.metrics.span_character_agreement`.

    Returns
    -------
    SpanAgreement
        Counts are spans, or credit for them. Intervals as there.

    Raises
    ------
    ValueError, TypeError
        As for :func:`~judgesmith.metrics.span_character_agreement`; if spans of one text that
        overlap one another, directly or through others, make more than 10 million pairs.

    References
    ----------
    Kuhn (1955), "The Hungarian method for the assignment problem", Naval Research Logistics
    Quarterly 2. Perrella, Morales Agostinho and Zaragoza (2026), "Span-Level Machine Translation
    Meta-Evaluation", arXiv:2603.19921, on what exact, partial and credited matches reward.

    Examples
    --------
    The second predicted span lies too far off: 3 characters in both, 9 in either.

    >>> predicted, gold = [[(0, 10), (20, 26)]], [[(2, 10), (23, 29)]]
    >>> found = matched_span_agreement(predicted, gold, rng=np.random.default_rng(0))
    >>> found.true_positives, found.f1.value
    (1.0, 0.5)
    >>> soft = matched_span_agreement(
    ...     predicted, gold, iou_threshold=0, partial=True, rng=np.random.default_rng(0)
    ... )
    >>> round(soft.true_positives, 3)
    1.133
    """
    check_credit(severity_credit)
    if not 0 <= number(iou_threshold, name="iou_threshold") <= 1:
        raise ValueError(
            f"iou_threshold must be from 0 (any overlap) to 1 (equal spans); got {iou_threshold}."
        )
    table = SpanTable.of(predicted, gold)
    credit = np.zeros(table.n_texts)
    for first, second in _meetings(table, ("labels",) if same_label else ()):
        overlap = _overlap(table.predicted, table.gold, first, second)
        fits = (overlap > 0) & (overlap >= iou_threshold - _DUST)
        worth = np.where(fits, overlap if partial else 1.0, 0.0)
        differ = table.predicted.severities[first] != table.gold.severities[second]
        worth[differ] *= severity_credit
        if first.ndim == 1:
            np.add.at(credit, table.predicted.texts[first], worth)
        else:
            credit[table.predicted.texts[first[0, 0]]] += _best_total(worth)
    n_predicted, n_gold = (
        np.bincount(side.texts, minlength=table.n_texts) for side in (table.predicted, table.gold)
    )
    amounts = np.column_stack([credit, n_predicted, credit, n_gold]).astype(np.float64)
    return agreement_of_matches(
        table, amounts, sources=sources, rng=rng, n_resamples=n_resamples, confidence=confidence
    )


def _meetings(table: SpanTable, keys: tuple[str, ...]) -> Iterable[tuple[IntArray, IntArray]]:
    """Yield spans that may be partners: first all lone pairs, then each larger knot of spans.

    A knot is a run of spans in which each overlaps another; no partner lies outside. Lone pairs
    come as two vectors, a knot as two index grids of shape (n_predicted, n_gold).
    """
    on_predicted, on_gold, begins, _ = table.line(*keys)
    n_predicted = len(on_predicted)
    on = begins[np.concatenate([on_predicted, on_gold])]
    starts = np.concatenate([table.predicted.starts, table.gold.starts]) + on
    ends = np.concatenate([table.predicted.ends, table.gold.ends]) + on
    order = np.argsort(starts, kind="stable")
    reach = np.maximum.accumulate(ends[order])
    knots = np.zeros(len(order), np.int64)
    knots[1:] = np.cumsum(starts[order][1:] >= reach[:-1])
    is_predicted = order < n_predicted
    n_knots = int(knots.max(initial=-1)) + 1
    sizes = np.stack(
        [np.bincount(knots[side], minlength=n_knots) for side in (is_predicted, ~is_predicted)]
    )
    lone = (sizes == 1).all(axis=0)[knots]
    yield order[lone & is_predicted], order[lone & ~is_predicted] - n_predicted
    bounds = np.append(0, np.cumsum(sizes.sum(axis=0)))
    for knot in np.flatnonzero((sizes > 0).all(axis=0) & (sizes.sum(axis=0) > 2)):
        if sizes[0, knot] * sizes[1, knot] > _MOST_PAIRS:
            raise ValueError(
                f"{sizes[0, knot]} predicted and {sizes[1, knot]} gold spans of one text overlap "
                f"one another, more than {_MOST_PAIRS} pairs to choose partners from; count "
                "characters with span_character_agreement instead."
            )
        members = order[bounds[knot] : bounds[knot + 1]]
        ours = members < n_predicted
        first, second = np.meshgrid(members[ours], members[~ours] - n_predicted, indexing="ij")
        yield first, second


def _overlap(predicted: SpanSide, gold: SpanSide, first: IntArray, second: IntArray) -> FloatArray:
    """Return characters in both over characters in either."""
    start, end = predicted.starts[first], predicted.ends[first]
    other_start, other_end = gold.starts[second], gold.ends[second]
    both = np.maximum(np.minimum(end, other_end) - np.maximum(start, other_start), 0)
    either = (end - start) + (other_end - other_start) - both
    share: FloatArray = both / either
    return share


def _best_total(worth: FloatArray) -> float:
    """Return the largest total of a one-to-one assignment."""
    from scipy.optimize import linear_sum_assignment

    return float(worth[linear_sum_assignment(worth, maximize=True)].sum())

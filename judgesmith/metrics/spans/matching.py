"""Span agreement by characters and by matched spans."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.arrays import FloatArray, IntArray, Seed, group_sums, number
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.spans.agreement import (
    SpanAgreement,
    SpanSide,
    SpanTable,
    TextSpans,
    agreement_of_matches,
)


def span_character_agreement(
    human: Iterable[TextSpans | None],
    judge: Iterable[TextSpans | None],
    *,
    sources: Labels | None = None,
    weighted: bool = False,
    severity_credit: float = 1.0,
    same_label: bool = False,
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> SpanAgreement:
    """Return precision, recall and F1 of the marked characters.

    A character that several spans of one side cover counts once. Precision is the part of the
    predicted characters that is gold, recall the part of the gold ones that is predicted, both
    from sums over all texts.

    Parameters
    ----------
    human, judge : iterable with the spans of each text
        A span is a :class:`Span` or ``(start, end[, severity[, label]])``; a text without errors
        has an empty list. A text whose predicted spans are None is left out and counted.
    sources : sequence of labels, one per text, optional
    weighted : bool
        Whether a character counts its severity (the largest of a side's spans over it) instead of
        1.
    severity_credit : float, from 0 to 1
        Credit for a character that both sides mark, but no two spans over it are equally severe.
        The shared tasks on error spans give 0.5.
    same_label : bool
        Whether labels must agree. A character then counts once for each label it has.
    confidence, seed, n_resamples
        As in :mod:`judgesmith.metrics`: coverage, seed or generator, 20 resamples or more.

    Returns
    -------
    SpanAgreement
        Intervals are nan with fewer than two sources, if more than 5 % of the resamples are
        undefined, or if all are the same. They take the annotators as given.

    References
    ----------
    Blain et al. (2023), "Findings of the WMT 2023 Shared Task on Quality Estimation", WMT, for
    characters with credit of 0.5. Perrella, Morales Agostinho and Zaragoza (2026), "Span-Level
    Machine Translation Meta-Evaluation", arXiv:2603.19921, compare ways to count.

    Examples
    --------
    >>> found = span_character_agreement(
    ...     [[(0, 8)], [(5, 8), (7, 9)], []], [[(0, 10)], [(5, 9)], []],
    ... )
    >>> found.true_positives, found.false_positives, found.false_negatives
    (12.0, 2.0, 0.0)
    >>> round(found.precision.value, 3), found.recall.value, round(found.macro_f1.value, 3)
    (0.857, 1.0, 0.963)
    """
    check_credit(severity_credit)
    table = SpanTable.of(human, judge)
    keys = ("labels",) if same_label else ()
    amounts = _amounts(table, keys, weighted=weighted, severity_credit=severity_credit)
    return agreement_of_matches(
        table, amounts, sources=sources, seed=seed, n_resamples=n_resamples, confidence=confidence
    )


def check_credit(severity_credit: float) -> None:
    if not 0 <= number(severity_credit, name="severity_credit") <= 1:
        raise ValueError(
            "severity_credit must be from 0 (severities must be equal) to 1 (they do not matter); "
            f"got {severity_credit}."
        )


def _amounts(
    table: SpanTable, keys: tuple[str, ...], *, weighted: bool, severity_credit: float
) -> FloatArray:
    """Return the matched and all characters of either side, for each text."""
    on_predicted, on_gold, begins, owner = table.line(*keys)
    sides, edges = _laid(table, (on_predicted, on_gold), begins)
    if len(edges) < 2:
        return np.zeros((table.n_texts, 4))
    lengths = np.diff(edges).astype(np.float64)
    covered = [_covered(edges, *side) for side in sides]
    credit = np.logical_and(*covered).astype(np.float64)
    if severity_credit < 1:
        agreed = _covered(edges, *_equally_severe(table, keys, (on_predicted, on_gold), begins))
        credit[~agreed] *= severity_credit
    texts = owner[np.searchsorted(begins, edges[:-1], side="right") - 1]
    columns = []
    for cover, side, spans in zip(covered, sides, (table.predicted, table.gold), strict=True):
        size = lengths * cover
        if weighted:
            size = lengths * _largest(edges, *side, spans.severities)
        columns += [size * credit, size]
    return group_sums(columns, texts, table.n_texts)


def _laid(
    table: SpanTable, places: tuple[IntArray, IntArray], begins: IntArray
) -> tuple[list[tuple[IntArray, IntArray]], IntArray]:
    """Return where spans start and end on the line, on either side, and all these edges."""
    both = zip((table.predicted, table.gold), places, strict=True)
    sides = [(side.starts + begins[on], side.ends + begins[on]) for side, on in both]
    return sides, np.unique(np.concatenate([end for side in sides for end in side]))


def _covered(edges: IntArray, starts: IntArray, ends: IntArray) -> NDArray[np.bool_]:
    """Say of each cell between two edges whether a span covers it."""
    opened = np.bincount(np.searchsorted(edges, starts), minlength=len(edges))
    closed = np.bincount(np.searchsorted(edges, ends), minlength=len(edges))
    return np.cumsum(opened - closed)[:-1] > 0


def _equally_severe(
    table: SpanTable, keys: tuple[str, ...], places: tuple[IntArray, IntArray], begins: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the stretches that spans of one severity cover on both sides."""
    on_predicted, on_gold, own_begins, _ = table.line(*keys, "severities")
    sides, edges = _laid(table, (on_predicted, on_gold), own_begins)
    both = np.logical_and(*(_covered(edges, *side) for side in sides))
    at = np.searchsorted(own_begins, edges[:-1][both], side="right") - 1
    # Each stretch of the finer line lies on one stretch of the coarser one.
    coarse = np.zeros(len(own_begins), np.int64)
    coarse[on_predicted], coarse[on_gold] = places
    shift = begins[coarse[at]] - own_begins[at]
    return edges[:-1][both] + shift, edges[1:][both] + shift


def _largest(
    edges: IntArray, starts: IntArray, ends: IntArray, severities: FloatArray
) -> FloatArray:
    """Return the largest severity over each cell between two edges, 0 without any."""
    first, last = np.searchsorted(edges, starts), np.searchsorted(edges, ends)
    # A span is the union of two runs of 2**k cells; runs are halved until they are cells.
    power = np.frexp(last - first)[1] - 1
    cells = np.zeros(len(edges) - 1)
    for k in range(int(power.max(initial=0)), -1, -1):
        at = power == k
        np.maximum.at(cells, first[at], severities[at])
        np.maximum.at(cells, last[at] - 2**k, severities[at])
        if k:
            half = 2 ** (k - 1)
            cells[half:] = np.maximum(cells[half:], cells[:-half])
    return cells


# An assignment of so many pairs takes seconds and a few hundred megabytes.
_MOST_PAIRS = 10_000_000
# Offsets are whole numbers: shares of them that differ at all differ by more.
_DUST = 1e-12


def matched_span_agreement(
    human: Iterable[TextSpans | None],
    judge: Iterable[TextSpans | None],
    *,
    sources: Labels | None = None,
    iou_threshold: float = 0.5,
    partial: bool = False,
    severity_credit: float = 1.0,
    same_label: bool = False,
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> SpanAgreement:
    """Return precision, recall and F1 of matched spans.

    Each span has at most one partner, which it overlaps by at least ``iou_threshold``; of all such
    pairings of a text the one with the largest total credit counts. Precision is credit per
    predicted span, recall credit per gold span.

    Parameters
    ----------
    human, judge, sources, seed, n_resamples, confidence
        As for :func:`span_character_agreement`; spans given twice are two.
    iou_threshold : float, from 0 to 1
        Least overlap of partners: characters in both over characters in either. At 0 one common
        character is enough, at 1 spans must be equal.
    partial : bool; whether a pair earns its overlap instead of 1
    severity_credit : float, from 0 to 1
        By how much the credit of a pair is multiplied if its severities differ.
    same_label : bool; whether partners must have the same label

    Returns
    -------
    SpanAgreement
        Counts are spans, or credit for them. Intervals as there.

    Raises
    ------
    ValueError, TypeError
        As there; also if overlapping spans of one text make more than 10 million pairs.

    References
    ----------
    Kuhn (1955), "The Hungarian method for the assignment problem", Naval Research Logistics
    Quarterly 2. Perrella et al. (2026), as there, on exact, partial and credited matches.

    Examples
    --------
    >>> predicted, gold = [[(0, 10), (20, 26)]], [[(2, 10), (23, 29)]]
    >>> found = matched_span_agreement(gold, predicted)
    >>> found.true_positives, found.f1.value
    (1.0, 0.5)
    >>> soft = matched_span_agreement(gold, predicted, iou_threshold=0, partial=True)
    >>> round(soft.true_positives, 3)
    1.133
    """
    check_credit(severity_credit)
    if not 0 <= number(iou_threshold, name="iou_threshold") <= 1:
        raise ValueError(
            f"iou_threshold must be from 0 (any overlap) to 1 (equal spans); got {iou_threshold}."
        )
    table = SpanTable.of(human, judge)
    credit = np.zeros(table.n_texts)
    for first, second in _meetings(table, ("labels",) if same_label else ()):
        overlap = _overlap(table.gold, table.predicted, first, second)
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
        table, amounts, sources=sources, seed=seed, n_resamples=n_resamples, confidence=confidence
    )


def _meetings(table: SpanTable, keys: tuple[str, ...]) -> Iterable[tuple[IntArray, IntArray]]:
    """Yield spans that may be partners: first all lone pairs, then each larger knot of spans."""
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


def _overlap(human: SpanSide, judge: SpanSide, first: IntArray, second: IntArray) -> FloatArray:
    start, end = judge.starts[first], judge.ends[first]
    other_start, other_end = human.starts[second], human.ends[second]
    both = np.maximum(np.minimum(end, other_end) - np.maximum(start, other_start), 0)
    either = (end - start) + (other_end - other_start) - both
    return np.asarray(both / either)


def _best_total(worth: FloatArray) -> float:
    """Return the largest total of a one-to-one assignment."""
    from scipy.optimize import linear_sum_assignment

    return float(worth[linear_sum_assignment(worth, maximize=True)].sum())

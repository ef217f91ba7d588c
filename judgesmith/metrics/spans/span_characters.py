"""Whether a judge marks the characters that people mark: precision, recall and F1.

Only the ends of spans are sorted, so texts may be as long as they like.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.checks import FloatArray, IntArray, number
from judgesmith.metrics.correlations.levels import Labels
from judgesmith.metrics.spans.span_agreement import SpanAgreement, agreement_of_matches
from judgesmith.metrics.spans.span_side import TextSpans
from judgesmith.metrics.spans.span_table import SpanTable

__all__ = ["check_credit", "span_character_agreement"]


def span_character_agreement(
    predicted: Iterable[TextSpans | None],
    gold: Iterable[TextSpans | None],
    *,
    sources: Labels | None = None,
    weighted: bool = False,
    severity_credit: float = 1.0,
    same_label: bool = False,
    rng: np.random.Generator,
    n_resamples: int = 1000,
    confidence: float = 0.95,
) -> SpanAgreement:
    """Return how well the characters marked in texts agree with those that people marked.

    A character that several spans of one side cover counts once. Precision is the part of the
    predicted characters that is gold, recall the part of the gold ones that is predicted, both
    from sums over all texts; a text without spans on either side adds nothing to them.

    Parameters
    ----------
    predicted, gold : iterable with the spans of each text
        A span is a :class:`Span` or ``(start, end[, severity[, label]])``; a text without errors
        has an empty list. A text whose predicted spans are None (nobody could read the answer)
        is left out and counted.
    sources : sequence of labels, one per text
        What each text is about; intervals draw sources. Without it, texts.
    weighted : bool
        Whether a character counts its severity (the largest of a side's spans over it) instead
        of 1.
    severity_credit : float, from 0 to 1
        Credit for a character that both sides mark, but no two spans over it are equally severe.
        1 looks at the place alone; the shared tasks on error spans give 0.5.
    same_label : bool
        Whether labels must agree. A character then counts once for each label it has.
    rng : numpy.random.Generator
        Where the resamples come from.
    n_resamples : int, 20 or more
        How many.
    confidence : float, between 0 and 1
        Nominal coverage.

    Returns
    -------
    SpanAgreement
        Intervals are nan with fewer than two sources, if more than 5 % of the resamples are
        undefined, or if all are the same. They take the annotators as given: other people would
        mark other spans.

    Raises
    ------
    ValueError
        If texts do not pair up, gold spans are missing for a text, or a span, a label of
        ``sources`` or a setting is not as described.
    TypeError
        If a side is no list of texts or ``rng`` is not a generator.

    References
    ----------
    Blain et al. (2023), "Findings of the WMT 2023 Shared Task on Quality Estimation", WMT, for
    characters with credit of 0.5 for the wrong severity. Perrella, Morales Agostinho and Zaragoza
    (2026), "Span-Level Machine Translation Meta-Evaluation", arXiv:2603.19921, compare ways to
    count and recommend sums over texts.

    Examples
    --------
    >>> found = span_character_agreement(
    ...     [[(0, 10)], [(5, 9)], []], [[(0, 8)], [(5, 8), (7, 9)], []],
    ...     rng=np.random.default_rng(0),
    ... )
    >>> found.true_positives, found.false_positives, found.false_negatives
    (12.0, 2.0, 0.0)
    >>> round(found.precision.value, 3), found.recall.value, round(found.macro_f1.value, 3)
    (0.857, 1.0, 0.963)
    """
    check_credit(severity_credit)
    table = SpanTable.of(predicted, gold)
    keys = ("labels",) if same_label else ()
    amounts = _amounts(table, keys, weighted=weighted, severity_credit=severity_credit)
    return agreement_of_matches(
        table, amounts, sources=sources, rng=rng, n_resamples=n_resamples, confidence=confidence
    )


def check_credit(severity_credit: float) -> None:
    """Refuse a credit that is no share."""
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
    sides = [
        (side.starts + begins[on], side.ends + begins[on])
        for side, on in ((table.predicted, on_predicted), (table.gold, on_gold))
    ]
    edges = np.unique(np.concatenate([end for side in sides for end in side]))
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
    return np.stack(
        [np.bincount(texts, weights=column, minlength=table.n_texts) for column in columns], axis=1
    )


def _covered(edges: IntArray, starts: IntArray, ends: IntArray) -> NDArray[np.bool_]:
    """Say of each cell between two edges whether a span covers it."""
    opened = np.bincount(np.searchsorted(edges, starts), minlength=len(edges))
    closed = np.bincount(np.searchsorted(edges, ends), minlength=len(edges))
    depth: IntArray = np.cumsum(opened - closed)[:-1]
    return depth > 0


def _equally_severe(
    table: SpanTable,
    keys: tuple[str, ...],
    places: tuple[IntArray, IntArray],
    begins: IntArray,
) -> tuple[IntArray, IntArray]:
    """Return the stretches that spans of one severity cover on both sides."""
    on_predicted, on_gold, own_begins, _ = table.line(*keys, "severities")
    sides = [
        (side.starts + own_begins[on], side.ends + own_begins[on])
        for side, on in ((table.predicted, on_predicted), (table.gold, on_gold))
    ]
    edges = np.unique(np.concatenate([end for side in sides for end in side]))
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
    """Return the largest severity over each cell between two edges, 0 where there is none."""
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

"""Texts compared with anchors, anchors with each other, and texts with what an error made of them.

What is asked for the numbers of ``anchor_rating``, ``neighbour_probabilities`` and ``blind_kinds``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.comparators import anchor_pairs
from judgesmith.metrics.records import Record, plain
from judgesmith.programs.benchmarking import AcrossPair, Comparator, Compared
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Cause, Reason

Told = Callable[[int], None]
"""Told the number of pairs finished since it was last told."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """What became of the pairs that were asked about.

    Attributes
    ----------
    n : int
        Pairs.
    n_similar : int
        Pairs called similar, also because the two orders conflict.
    n_disagree : int
        Pairs of which the two orders say different things.
    n_unanswered : int
        Pairs without an answer.
    cause : Cause or None
        Why the first of those has none, or where the budget ended, that it did; None where all
        have one.
    """

    n: int = 0
    n_similar: int = 0
    n_disagree: int = 0
    n_unanswered: int = 0
    cause: Cause | None = None

    def add(self, found: Compared) -> float:
        """Count a pair and return its sign, nan without an answer."""
        self.n += 1
        sign = found.sign
        if sign is None:
            self.n_unanswered += 1
            over_budget = found.cause is not None and found.cause.reason is Reason.OVER_BUDGET
            if self.cause is None or over_budget:
                self.cause = found.cause
            return float("nan")
        self.n_similar += sign == 0
        self.n_disagree += bool(found.disagree)
        return float(sign)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnchorRelations(Record):
    """How texts compare with the anchors of each rating.

    Attributes
    ----------
    signs : float array, shape (n_texts, n_levels, n_anchors)
        1 where the text is better, -1 where the anchor is, 0 where they are similar; nan where
        there is no answer, no such anchor, or the anchor has the text's own source.
    n_anchors : int array, shape (n_texts, n_levels)
        How many anchors each text was compared with.
    tally : Tally
        What became of all pairs.
    """

    signs: NDArray[np.float64]
    n_anchors: NDArray[np.int64]
    tally: Tally

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, ready for JSON."""
        return _as_dict(self.tally)


def compare_with_anchors(
    texts: Sequence[RatedItem],
    anchors: Sequence[Sequence[RatedItem]],
    comparator: Comparator,
    *,
    progress: Told | None = None,
) -> AnchorRelations:
    """Compare every text with every anchor that was written about another source.

    Parameters
    ----------
    texts : sequence of RatedItem
        What is to be rated.
    anchors : sequence of sequences of RatedItem
        The anchors of each rating, in the order of the ratings.
    comparator : Comparator
        Who compares, on the criterion that the anchors stand for.
    progress : callable or None
        Told the number of pairs finished since it was last told.

    Raises
    ------
    ModelError, LedgerError
        As for ``judge_items``.

    Examples
    --------
    >>> from judgesmith.signatures.rubric import Criterion
    >>> fluent = Comparator(Criterion(name="fluency", definition="Is it well written?"))
    >>> low = [RatedItem(source_id="1", source="Ann met Bob.", response="the the in 1987 cats")]
    >>> high = [RatedItem(source_id="2", source="It rained.", response="It rained.")]
    >>> text = RatedItem(source_id="2", source="It rained.", response="It rained.")
    >>> found = compare_with_anchors([text], [low, high], fluent)
    >>> found.signs.tolist(), found.n_anchors.tolist()
    ([[[1.0], [nan]]], [[1, 0]])
    """
    widest = max(map(len, anchors), default=0)
    signs = np.full((len(texts), len(anchors), widest), np.nan)
    n_anchors = np.zeros(signs.shape[:2], dtype=np.int64)

    def cells() -> Iterator[tuple[int, int, int]]:
        for row, text in enumerate(texts):
            for level, several in enumerate(anchors):
                for place, anchor in enumerate(several):
                    if not same_source(text, anchor):
                        yield row, level, place

    asked = (AcrossPair(texts[r], anchors[level][place]) for r, level, place in cells())
    tally = Tally()
    answers = comparator.each(asked, progress=progress)
    for cell, (_, found) in zip(cells(), answers, strict=True):
        signs[cell] = tally.add(found)
        n_anchors[cell[:2]] += 1
    return AnchorRelations(signs=signs, n_anchors=n_anchors, tally=tally)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairSigns(Record):
    """What a comparator says of pairs.

    Attributes
    ----------
    signs : float array, shape (n_pairs,)
        1 where the first is better, -1 the second, 0 neither; nan where there is no answer.
    disagreed : tuple of (bool or None)
        Whether the two orders of each pair differ.
    tally : Tally
        What became of all pairs.
    """

    signs: NDArray[np.float64]
    disagreed: tuple[bool | None, ...]
    tally: Tally

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, ready for JSON."""
        return _as_dict(self.tally)


def compare_pairs(
    pairs: Iterable[tuple[RatedItem, RatedItem]],
    comparator: Comparator,
    *,
    progress: Told | None = None,
) -> PairSigns:
    """Compare the two texts of every pair, such as one without an error and the same with it.

    Raises
    ------
    ModelError, LedgerError
        As for ``judge_items``.
    """
    tally, signs, disagreed = Tally(), [], []
    asked = (AcrossPair(first, second) for first, second in pairs)
    for _, found in comparator.each(asked, progress=progress):
        signs.append(tally.add(found))
        disagreed.append(found.disagree)
    return PairSigns(
        signs=np.asarray(signs, dtype=np.float64), disagreed=tuple(disagreed), tally=tally
    )


def compare_anchors(
    anchors: Sequence[Sequence[RatedItem]],
    comparator: Comparator,
    *,
    progress: Told | None = None,
) -> tuple[PairSigns, list[tuple[int, int]], list[int]]:
    """Compare all anchors of different ratings with each other.

    Returns
    -------
    PairSigns, list of (int, int), list of int
        The answers; the anchors of each pair, numbered from those of the lowest rating on; and
        the place of each anchor's rating. All three are what ``comparator_accuracy`` takes.

    Raises
    ------
    ModelError, LedgerError
        As for ``judge_items``.
    """
    flat = [anchor for several in anchors for anchor in several]
    levels_of = [level for level, several in enumerate(anchors) for _ in several]
    pairs = anchor_pairs(levels_of)
    asked = ((flat[one], flat[two]) for one, two in pairs)
    return compare_pairs(asked, comparator, progress=progress), pairs, levels_of


def same_source(one: RatedItem, other: RatedItem) -> bool:
    """Say whether two texts have a source in common, by its id or by what it says.

    Examples
    --------
    >>> item = RatedItem(source_id="1", source="It rained.", response="Rain.")
    >>> same_source(item, item.model_copy(update={"source_id": "2"}))
    True
    >>> same_source(item, RatedItem(source_id="2", source="It snowed.", response="Rain."))
    False
    """
    same_id = bool(one.source_id) and one.source_id == other.source_id
    return same_id or (bool(one.source.strip()) and one.source == other.source)


def _as_dict(tally: Tally) -> dict[str, Any]:
    found: dict[str, Any] = plain(
        {
            "pairs": tally.n,
            "similar": tally.n_similar,
            "orders_disagree": tally.n_disagree,
            "unanswered": tally.n_unanswered,
            "problem": tally.cause and str(tally.cause),
        }
    )
    return found

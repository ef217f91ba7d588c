"""The texts that a judge keeps with what it said of them, to be asked about again later."""

from __future__ import annotations

from collections.abc import Sequence

from judgesmith.programs.artifacts.record import GoldenItem
from judgesmith.signatures import Judgement, RatedItem

MOST_ITEMS = 20
"""The 95 % interval of an average change reaches .47 standard deviations to either side with 20
items, and 1.24 with 5. They were judged anyway, so that keeping them asks nothing."""

MOST_LETTERS = 400_000
"""Characters of all their texts together, past the first five: a judge is a file to keep in git."""


def golden_items(
    items: Sequence[RatedItem], judgements: Sequence[Judgement]
) -> tuple[GoldenItem, ...]:
    """Return scored items from the best to the worst, at even steps, as a sample of all.

    Neither end is favoured. The best of many is partly lucky and comes out lower when it is asked
    again; of items at even steps as many were lucky as were not.

    Parameters
    ----------
    items : sequence of RatedItem
        Rows that nothing was learned from.
    judgements : sequence of Judgement
        Aligned with ``items``; those without a score are passed over.

    Examples
    --------
    >>> rows = [RatedItem(source="s", response=str(n)) for n in range(60)]
    >>> kept = golden_items(rows, [Judgement(score=n) for n in range(60)])
    >>> len(kept), [one.judgement.score for one in kept[:3]]
    (20, [58.0, 55.0, 52.0])
    """
    scored = [place for place, one in enumerate(judgements) if one.score is not None]
    ordered = sorted(scored, key=lambda place: (-(judgements[place].score or 0.0), place))
    n = min(MOST_ITEMS, len(ordered))
    even = [ordered[(2 * step + 1) * len(ordered) // (2 * n)] for step in range(n)]
    if sum(map(_letters, (items[place] for place in even))) > MOST_LETTERS:
        # What is left is spread over the scores as well, not the best ones alone.
        few = min(5, n)
        even = [ordered[(2 * step + 1) * len(ordered) // (2 * few)] for step in range(few)]
    return tuple(GoldenItem.of(items[place], judgements[place]) for place in even)


def _letters(item: RatedItem) -> int:
    return sum(map(len, (item.source, item.context or "", item.response, *item.references)))

"""A few judgements to look at: the best, the worst, and some in between."""

from __future__ import annotations

from collections.abc import Sequence

from judgesmith.optimizers.rows import Rows
from judgesmith.signatures import Judgement, RatedItem


def good_and_bad(
    rows: Rows, judgements: Sequence[Judgement]
) -> list[tuple[RatedItem, float, Judgement]]:
    """Return scored rows: best and worst first, then ones in between, five at most."""
    scored = [place for place, one in enumerate(judgements) if one.score is not None]
    ordered = sorted(scored, key=lambda place: (-(judgements[place].score or 0.0), place))
    if not ordered:
        return []
    places = [0, len(ordered) - 1, len(ordered) // 2, len(ordered) // 4, 3 * len(ordered) // 4]
    chosen = list(dict.fromkeys(ordered[place] for place in places))
    return [(rows.items[i], float(rows.human[i]), judgements[i]) for i in chosen]

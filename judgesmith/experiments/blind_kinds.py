"""Which kinds of errors a comparator sees: pairs of a text and the same text with one more error.

Numbers alone; nothing here asks a model.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.errors import InputError
from judgesmith.metrics import Estimate
from judgesmith.metrics.records import Record, plain
from judgesmith.metrics.resampling import share_interval

Sight = Literal["sees", "unclear", "blind"]
"""Whether a comparator notices a kind of error in most pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenKind(Record):
    """How often a comparator notices one kind of error.

    Attributes
    ----------
    kind : str
        What the error is called.
    seen : Estimate
        Share of pairs in which it prefers the text without the error; intervals are over sources.
    fooled : float
        Share of pairs in which it prefers the text with the error; the rest it calls similar.
    n_unanswered : int
        Pairs without an answer, which are left out.
    """

    kind: str
    seen: Estimate
    fooled: float
    n_unanswered: int

    @property
    def sight(self) -> Sight:
        """``blind`` where it surely misses the error in more pairs than not, ``sees`` where not.

        ``unclear`` where the interval holds one half, or there is none.
        """
        if self.seen.high < 0.5:
            return "blind"
        return "sees" if self.seen.low > 0.5 else "unclear"

    def to_dict(self) -> dict[str, Any]:
        """Return all that a report says of the kind, ready for JSON."""
        fields = {name: getattr(self, name) for name in ("seen", "fooled", "n_unanswered")}
        found: dict[str, Any] = plain({"kind": self.kind, "sight": self.sight, **fields})
        return found


def seen_kinds(
    kinds: Sequence[str],
    signs: ArrayLike,
    *,
    sources: Sequence[Hashable],
    confidence: float = 0.95,
) -> tuple[SeenKind, ...]:
    """Return how often a comparator notices each kind of error, the least noticed first.

    Parameters
    ----------
    kinds : sequence of str, one per pair
        The kind of the one error that the second text has and the first has not.
    signs : array-like, shape (n_pairs,)
        1 where the first text was called better, -1 the second, 0 neither; nan without an answer.
    sources : sequence of labels, one per pair
        What both texts were written about.
    confidence : float, between 0 and 1
        Nominal coverage of the intervals.

    Raises
    ------
    ValueError
        If there is not one kind, sign and source per pair, or a sign is something else.

    Examples
    --------
    >>> found = seen_kinds(
    ...     ["typos"] * 4 + ["swapped names"] * 4, [1, 1, 1, 0, 0, 0, -1, 0],
    ...     sources=[1, 2, 3, 4] * 2,
    ... )
    >>> [(one.kind, one.seen.value, one.fooled) for one in found]
    [('swapped names', 0.0, 0.25), ('typos', 0.75, 0.0)]
    """
    given = np.asarray(signs, dtype=np.float64)
    if given.shape != (len(kinds),) or len(sources) != len(kinds):
        raise InputError(
            f"there must be one kind, sign and source per pair; got {len(kinds)}, {given.shape} "
            f"and {len(sources)}."
        )
    answered = ~np.isnan(given)
    if not np.isin(given[answered], (-1, 0, 1)).all():
        raise InputError("signs must be 1, 0 or -1, or nan where there is no answer.")
    found = []
    for kind in sorted(set(kinds)):
        of_kind = np.array([one == kind for one in kinds])
        rows = of_kind & answered
        items = [sources[row] for row in np.flatnonzero(rows).tolist()]
        found.append(
            SeenKind(
                kind=kind,
                seen=share_interval(given[rows] == 1, sources=items, confidence=confidence),
                fooled=float(np.mean(given[rows] == -1)) if items else float("nan"),
                n_unanswered=int(np.count_nonzero(of_kind & ~answered)),
            )
        )
    return tuple(sorted(found, key=lambda one: -1 if not one.seen.n else one.seen.value))

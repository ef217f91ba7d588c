"""A sample of whole sources from rows that are read once, in memory that stays the same."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from judgesmith.signatures.items import RatedItem

MOST_ROWS = 2000
"""Rows that are kept to look at more closely."""


class SampledSources:
    """Rows of sources that a hash of their ids picks: all sources first, then every second, ….

    The rows of a source are all kept or none, so that judges that look at a source as a whole can
    be reckoned with. The same rows give the same sample, in whatever order they come.

    Parameters
    ----------
    most : int
        Rows to keep at most. Where a single source has more, the first of them are kept.

    Attributes
    ----------
    n_rows : int
        Rows that were seen.

    Examples
    --------
    >>> rows = SampledSources(most=10)
    >>> for n in range(100):
    ...     rows.add(RatedItem(source_id=str(n // 2), source="s", response=str(n)))
    >>> rows.n_rows, len(rows.items) <= 10, len(rows.items) % 2
    (100, True, 0)
    """

    def __init__(self, most: int = MOST_ROWS) -> None:
        self._most = most
        self._kept: dict[str, list[RatedItem]] = {}
        self._n_kept = 0
        self._share = 1  # one source in so many
        self.n_rows = 0

    @classmethod
    def of(cls, items: Iterable[RatedItem]) -> SampledSources:
        """Return the sample of all of these rows."""
        found = cls()
        for one in items:
            found.add(one)
        return found

    @property
    def items(self) -> list[RatedItem]:
        """The rows that were kept, source by source."""
        return [one for rows in self._kept.values() for one in rows]

    def add(self, item: RatedItem) -> None:
        """Look at one more row."""
        self.n_rows += 1
        known = self._kept.get(item.source_id)
        if known is None:
            if _number(item.source_id) % self._share:
                return
            known = self._kept[item.source_id] = []
        if len(known) >= self._most:
            return
        known.append(item)
        self._n_kept += 1
        while self._n_kept > self._most and len(self._kept) > 1:
            self._share *= 2
            names = [one for one in self._kept if _number(one) % self._share == 0]
            if not names:  # the last of them stand for all
                names = [min(self._kept, key=_number)]
            self._kept = {one: self._kept[one] for one in names}
            self._n_kept = sum(map(len, self._kept.values()))


def _number(source_id: str) -> int:
    name = source_id.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(name, digest_size=8).digest(), "big")

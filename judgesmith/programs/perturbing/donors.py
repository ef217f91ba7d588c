"""Texts of other sources, to be put where they do not belong."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from judgesmith.signatures.rated import RatedItem

_TRIES = 20


class Donors:
    """Texts under judgement that others can be given in place of their own.

    Parameters
    ----------
    items : iterable of RatedItem
        Their responses are the texts. Of equal texts to one source the first counts.

    Examples
    --------
    >>> from random import Random
    >>> items = [RatedItem(source=source, response=f"on {source}") for source in "ab"]
    >>> Donors(items).other_than(items[0], Random(0))
    'on b'
    >>> Donors(items[:1]).other_than(items[0], Random(0)) is None
    True
    """

    def __init__(self, items: Iterable[RatedItem]) -> None:
        known = ((item.source_id, item.source.strip(), item.response) for item in items)
        self._texts = [one for one in dict.fromkeys(known) if one[2].strip()]
        self._ids = {source_id for source_id, _, _ in self._texts}
        self._sources = {source for _, source, _ in self._texts}

    def __len__(self) -> int:
        """Return how many texts there are."""
        return len(self._texts)

    def other_than(self, item: RatedItem, rng: Random) -> str | None:
        """Return a text of another source that differs from the item's own, or None.

        Another source has another id, where both have one, and another text, where both have
        one; of items without either, the texts themselves tell.
        """
        n = len(self._texts)
        if self._are_all_of(item):
            return None
        for _ in range(min(_TRIES, n)):
            drawn = self._texts[rng.randrange(n)]
            if _is_other(drawn, item):
                return drawn[2]
        others = [one[2] for one in self._texts if _is_other(one, item)]
        return others[rng.randrange(len(others))] if others else None

    def _are_all_of(self, item: RatedItem) -> bool:
        """Say whether all texts share the item's source, so that none need be looked at."""
        source = item.source.strip()
        return (bool(item.source_id) and self._ids == {item.source_id}) or (
            bool(source) and self._sources == {source}
        )


def _is_other(donor: tuple[str, str, str], item: RatedItem) -> bool:
    source_id, source, text = donor
    if source_id and source_id == item.source_id:
        return False
    if source and source == item.source.strip():
        return False
    return " ".join(text.split()) != " ".join(item.response.split())

"""Suggested rows that come back rated: their texts and ids as they were before the sheet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from judgesmith.experiments.spreadsheet_cells import as_written
from judgesmith.experiments.suggesting.rating_form import KEY
from judgesmith.experiments.suggesting.rating_sheet import KEY_MARK
from judgesmith.signatures import RatedItem
from judgesmith.signatures.items import text_key

_KEY = re.compile(rf"{KEY_MARK}([0-9a-f]{{32}})")
_CUT = re.compile(r" … \[[0-9]+ more characters left out\]\Z")


def stated_key(item: RatedItem) -> str | None:
    """Return the key of the texts that a row of a sheet is about, None where it states none."""
    cell = item.extra.get(KEY)
    found = _KEY.fullmatch(cell.strip()) if isinstance(cell, str) else None
    return found[1] if found else None


def restored(item: RatedItem) -> RatedItem:
    """Return a row of a sheet with its texts and ids as they were, as far as that is certain.

    The key says whether it is: texts that were edited since, or cut, stay as they stand.

    Examples
    --------
    >>> from judgesmith.experiments.spreadsheet_cells import cell_of
    >>> row = RatedItem(source_id="-1", source="=A1", response="fine")
    >>> sheet = RatedItem(
    ...     source_id="'-1", source=cell_of("=A1"), response="fine", extra={"key": f"x{row.key}"}
    ... )
    >>> found = restored(sheet)
    >>> found.source, found.source_id, found.key == row.key
    ('=A1', '-1', True)
    """
    ids = {name: as_written(getattr(item, name)) for name in ("source_id", "system_id")}
    item = item.model_copy(update=ids)
    key = stated_key(item)
    if key is None or item.key == key:
        return item
    forms = [_forms(item.source), _forms(item.response)]
    # A sheet has an empty cell for no context and for an empty one.
    contexts = [None, ""] if not item.context else _forms(item.context)
    for source in forms[0]:
        for context in contexts:
            for response in forms[1]:
                if text_key(source, context, response) == key:
                    texts = {"source": source, "context": context, "response": response}
                    return item.model_copy(update=texts)
    return item


@dataclass(frozen=True, slots=True, kw_only=True)
class Strays:
    """Rows of a sheet whose texts are not those that were suggested.

    Attributes
    ----------
    changed, cut : tuple of int
        Indices of rows with other texts, and among these of rows whose texts the sheet cut.
    """

    changed: tuple[int, ...] = ()
    cut: tuple[int, ...] = ()

    @classmethod
    def among(cls, items: Sequence[RatedItem]) -> Strays:
        """Return those of some rows that were restored as far as that is possible."""
        changed = [
            place
            for place, item in enumerate(items)
            if (key := stated_key(item)) is not None and key != item.key
        ]
        return cls(
            changed=tuple(changed),
            cut=tuple(place for place in changed if _is_cut(items[place])),
        )

    def notes(self) -> list[str]:
        """Return what to know of them, in sentences."""
        n = len(self.changed)
        if not n:
            return []
        was = "row has" if n == 1 else "rows have"
        return [
            f"{n} {was} other texts than were suggested, edited or with odd spaces that a sheet "
            "makes plain, and the texts in the sheet count; name the file that they were chosen "
            "from, too, to have them as they were."
        ]


def _is_cut(item: RatedItem) -> bool:
    return any(_CUT.search(text or "") for text in (item.source, item.context, item.response))


def _forms(cell: str) -> list[str]:
    """Return the texts that a cell may have been written from, the likeliest first."""
    found = [cell, as_written(cell)]
    # Some spreadsheets end lines within cells as Windows does.
    found += [one.replace("\r\n", "\n") for one in found]
    return list(dict.fromkeys(found))

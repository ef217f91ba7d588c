"""Sheets of rows that people are to rate: written, and read again with their ids."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judgesmith.data.sheets.cells import as_written, cell_of, is_cut, sheet_place, write_cells
from judgesmith.errors import InputError
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.items import text_key
from judgesmith.signatures.scale import shortest

SUGGESTED_BY = "suggested_by"
"""The field of a row that says how it was chosen."""

SELECTION = "selection_probability"
"""The field with the probability of a row that was drawn at random; empty for other rows."""

RANDOM = "random"
"""How a row was chosen that may be reported on: all rows were as likely to be drawn."""

DEMONSTRATION = "demonstration"
"""The field of a row that is ``never`` for one that no prompt may show as a demonstration."""


def may_be_shown(item: RatedItem) -> bool:
    return str(item.extra.get(DEMONSTRATION) or "").strip().casefold() != "never"


def was_chosen(item: RatedItem) -> bool:
    """Say whether a row was chosen for what a judge said of it, rather than drawn at random."""
    by = item.extra.get(SUGGESTED_BY)
    return isinstance(by, str) and by.strip() not in ("", RANDOM)


def selection_chance(item: RatedItem) -> float | None:
    """Return a row's chance to be drawn; None if unstated, nan if a judge's scores chose it."""
    if was_chosen(item):
        return math.nan
    stated = str(item.extra.get(SELECTION) or "").strip().replace(",", ".")
    if not stated:
        return None
    try:
        chance = float(stated)
    except ValueError:
        chance = math.nan
    if not 0 < chance <= 1:
        raise InputError(
            f"{SELECTION} must be a probability above 0 and up to 1; got {stated[:40]!r}."
        )
    return chance


def chosen_note(items: Sequence[RatedItem]) -> list[str]:
    """Return that some rated rows are no random sample, if there are any."""
    rated = [item for item in items if any(item.human.values())]
    n = sum(was_chosen(item) for item in rated)
    if not n:
        return []
    was, it = ("was", "it") if n == 1 else ("were", "them")
    return [
        f"{n} of {len(rated)} rated rows {was} selected by suggest and not at random: agreement on "
        f"{it} is not that on other texts, and compile learns from {it} without holding {it} out."
    ]


KEY = "key"
"""The column that says which texts a row is about."""

IDS = ("source_id", "system_id")
TEXTS = ("source", "context", "response")
COMMENT = "comment"
MARKS = (SUGGESTED_BY, SELECTION, *IDS, KEY)

_POINTS = re.compile(
    r"(?P<name>.+): a (?P<whole>whole )?number from (?P<low>\S+) \((?P<first>worst|best)\) "
    r"to (?P<high>\S+) \((?:worst|best)\)(?P<rater>.*)",
    re.DOTALL,
)
_LABELS = re.compile(
    r"(?P<name>.+?): one of (?P<labels>.+?)(?P<ordered>, from worst to best)?"
    r"(?: \((?P<positive>[^,]+) for good responses\)|(?<=best))(?P<rater>.*)",
    re.DOTALL,
)


def heading(name: str, scale: Scale) -> str:
    """Return the heading of the column in which a criterion is rated."""
    labels = scale.labels
    if labels and scale.higher_is_better and scale.low == 0 and _can_be_listed(labels):
        order = ", from worst to best" if scale.ordered else ""
        # Of two labels in order the second is the positive one.
        plain = scale.positive is None or (scale.ordered and len(labels) == 2)
        positive = "" if plain else f" ({scale.positive} for good responses)"
        return cell_of(f"{name}: one of {', '.join(labels)}{order}{positive}")
    ends = ("worst", "best") if scale.higher_is_better else ("best", "worst")
    whole = "" if scale.kind == "numeric" else "whole "
    low, high = shortest(scale.low), shortest(scale.high)
    return cell_of(f"{name}: a {whole}number from {low} ({ends[0]}) to {high} ({ends[1]})")


@dataclass(frozen=True, slots=True)
class RatingForm:
    """What the columns of a sheet of suggested rows hold."""

    columns: Mapping[str, tuple[str, ...]]
    scales: Mapping[str, Scale]

    @classmethod
    def of(cls, names: Sequence[str]) -> RatingForm | None:
        """Return the form that a table's columns make; None where it is no such sheet."""
        if SUGGESTED_BY not in names or KEY not in names:
            return None
        columns: dict[str, tuple[str, ...]] = {}
        scales: dict[str, Scale] = {}
        for column in names:
            found = _read(column)
            if found is not None:
                name, scale = found
                columns[name] = (*columns.get(name, ()), column)
                scales.setdefault(name, scale)
        return cls(columns, scales) if columns else None


def lost_columns(names: Sequence[str]) -> list[str]:
    """Return the columns that a sheet of suggested rows lacks; none of another table."""
    if RatingForm.of([*names, SUGGESTED_BY, KEY]) is None:
        return []
    return [name for name in (SUGGESTED_BY, KEY) if name not in names]


def _read(column: str) -> tuple[str, Scale] | None:
    """Return the criterion and the scale that a heading states; None for another column."""
    column = as_written(column)
    if found := _POINTS.fullmatch(column):
        try:
            scale = Scale(
                low=float(found["low"]),
                high=float(found["high"]),
                kind="integer" if found["whole"] else "numeric",
                higher_is_better=found["first"] == "worst",
            )
        except ValueError:
            return None
        return found["name"], scale
    if found := _LABELS.fullmatch(column):
        labels, positive = found["labels"].split(", "), found["positive"]
        if not _can_be_listed(labels) or (positive is not None and positive not in labels):
            return None
        if positive is None:
            return found["name"], Scale.parse("|".join(labels))
        ordered = found["ordered"] is not None
        return found["name"], Scale.of_labels(*labels, positive=positive, ordered=ordered)
    return None


def _can_be_listed(labels: Iterable[str]) -> bool:
    """Say whether labels can be told apart in a list, and read from cells."""
    given = list(labels)
    plain = all(one == one.strip() == cell_of(one) and one and "," not in one for one in given)
    return plain and len(given) > 1 and len(set(given)) == len(given)


KEY_MARK = "x"
"""What keys begin with in a sheet, as no number does: spreadsheets change numbers."""


def write_rating_sheet(
    rows: Sequence[tuple[RatedItem, str]],
    criteria: Mapping[str, Scale],
    output: str | Path,
    *,
    chance: float | None = None,
    overwrite: bool = False,
) -> int:
    """Write a CSV file with one row per text, for people to rate; return how many cells were cut.

    Parameters
    ----------
    rows : sequence of (RatedItem, str)
        The texts, and how each was chosen.
    criteria : dict of str to Scale
        What people rate, and on which scale.
    output : str or Path
        A file that ends in ``.csv``. It appears whole or not at all.
    chance : float or None
        The probability with which the random rows were drawn.
    overwrite : bool
        Whether another file of this name may be replaced, ratings and all.

    Raises
    ------
    FileExistsError
        If ``output`` holds anything but this very sheet, still blank.
    ValueError
        If ``output`` does not end in ``.csv``, or two criteria would have one heading.
    """
    place = sheet_place(output)
    asked = [heading(name, scale) for name, scale in criteria.items()]
    if len(set(asked)) < len(asked):
        raise InputError("two criteria are written alike in a sheet; rename one of them.")
    with_context = any(item.context is not None for item, _ in rows)
    texts = [name for name in TEXTS if name != "context" or with_context]
    lines = []
    for item, by in rows:
        shown = [cell_of(getattr(item, name) or "") for name in texts]
        drawn = f"{chance:.6g}" if chance is not None and by == RANDOM else ""
        marks = [
            cell_of(by),
            drawn,
            *(cell_of(getattr(item, name)) for name in IDS),
            KEY_MARK + item.key,
        ]
        lines.append([*shown, *("" for _ in asked), "", *marks])
    header = [*texts, *asked, COMMENT, *MARKS]
    write_cells(place, [header, *lines], overwrite=overwrite)
    return sum(is_cut(cell) for line in lines for cell in line)


_KEY = re.compile(rf"{KEY_MARK}([0-9a-f]{{32}})")
_CUT = re.compile(r" … \[[0-9]+ more characters left out\]\Z")


def stated_key(item: RatedItem) -> str | None:
    """Return the key of the texts that a row of a sheet is about, None where it states none."""
    cell = item.extra.get(KEY)
    found = _KEY.fullmatch(cell.strip()) if isinstance(cell, str) else None
    return found[1] if found else None


def restored(item: RatedItem) -> RatedItem:
    """Return a row of a sheet with its texts and ids as they were, where the key confirms them."""
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
    """Rows of a sheet whose texts are not those that were suggested."""

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

"""Rated rows from several files as one set: those of earlier, and sheets that came back.

A sheet's ratings go to the row that they were given for, if another file has it. Copies of one
sheet, filled in by several people, become several ratings of the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgesmith.data.columns import column_map
from judgesmith.data.formats.opening import open_rows, options_of
from judgesmith.data.formats.raw import ReadOptions
from judgesmith.data.items import DataSet
from judgesmith.data.labels import LabelsGiven
from judgesmith.data.problems import DataError, shown_value
from judgesmith.data.reading import ColumnsGiven, read_part
from judgesmith.data.rows import ScaleGiven, given_scales
from judgesmith.data.sheets.ratings import (
    DEMONSTRATION,
    SELECTION,
    SUGGESTED_BY,
    RatingForm,
    Strays,
    chosen_note,
    stated_key,
)
from judgesmith.errors import InputError
from judgesmith.signatures import RatedItem, Scale

"""Source, system and texts of a row."""


def read_many(
    sources: Sequence[str | Path],
    *,
    columns: ColumnsGiven | list[ColumnsGiven] = None,
    scale: ScaleGiven = None,
    labels: LabelsGiven = None,
    positive: str | None = None,
    missing: str | Sequence[str] = (),
    encoding: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
) -> DataSet:
    """Return the rows of one file or of several as one set, each item once.

    Parameters
    ----------
    sources : sequence of str or Path
        Files as ``read_items`` reads them, sheets of suggested rows among them.
    columns, scale, labels, positive, missing, encoding, decimal, sheet
        As for ``read_items``; each counts for the files that it can be about; ``columns`` may be a
        list with those of each file. A sheet of suggested rows says what its columns hold, and is
        read without columns and scale. A file without any of the rating columns is read as
        unrated, if another file has them.

    Raises
    ------
    DataError
        If a file cannot be read, two say different scales of a criterion, or an item is rated in
        two files that are no copies of one sheet.
    FileNotFoundError
        If there is no such file.
    ValueError
        If a file is named twice.
    """
    options = ReadOptions.of(encoding=encoding, decimal=decimal, missing=missing, sheet=sheet)
    scales = given_scales(scale).with_labels(labels, positive)
    maps: list[ColumnsGiven] = columns if isinstance(columns, list) else [columns] * len(sources)
    if len(sources) == 1:
        return read_part(sources[0], columns=maps[0], scale=scales, options=options)
    files: dict[Path, str | Path] = {}
    for source in sources:
        # Under another name as well, or the ratings in a sheet would count for two people's.
        place = Path(source).resolve()
        if place in files:
            also = "" if str(files[place]) == str(source) else f" (as {files[place]}, too)"
            raise InputError(f"{source} is given twice{also}.", hint="name each file once.")
        files[place] = source
    joined = _Joined()
    sheets = []
    each = _options_each(sources, options)
    headers = [first_columns(*one) for one in zip(sources, each, strict=True)]
    mapped = [column_map(one) for one in maps]
    rated = set().union(*(name for one in mapped for name in one.criteria.values()))
    has_rated = any(one & rated for one in headers)
    for source, its, header, own in zip(sources, each, headers, mapped, strict=True):
        if is_sheet(header):
            sheets.append((str(source), read_part(source, options=its, with_cut=True)))
        elif header and has_rated and not header & rated:
            joined.add(str(source), read_part(source, columns=own.of_texts, options=its))
        else:
            part = read_part(source, columns=own, scale=scales, options=its)
            joined.add(str(source), part)
    for name, part in sheets:
        joined.add_sheet(name, part)
    return joined.dataset()


@dataclass
class _Joined:
    """What was read so far."""

    items: dict[Any, RatedItem] = field(default_factory=dict)
    rated_in: dict[Any, str] = field(default_factory=dict)
    scales: dict[str, tuple[str, Scale]] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    of_sheets: set[Any] = field(default_factory=set)
    returned: set[Any] = field(default_factory=set)
    n_twice: int = 0

    def add(self, name: str, part: DataSet) -> None:
        """Add the rows of a file that is no sheet."""
        self._begin(name, part)
        self.notes += part.notes
        own: set[tuple[str, str, str]] = set()
        for number, item in enumerate(part.items):
            row: Any = item.ids
            if row in self.items and row not in own:
                self.n_twice += 1
                self._rate(row, item, name)
                continue
            # One file may repeat a row without a system; reading it said so.
            own.add(item.ids)
            row = (*row, name, number) if row in self.items else row
            self._put(row, item, name)

    def add_sheet(self, name: str, part: DataSet) -> None:
        """Add the ratings in a sheet to the rows that they were given for, or as rows."""
        self._begin(name, part)
        self.notes += [note for note in part.notes if note not in self.notes]
        by_texts: dict[str, list[Any]] = {}
        for row, item in self.items.items():
            # A row of a sheet before this one may have other texts than were suggested.
            for key in {item.key, stated_key(item) or item.key}:
                by_texts.setdefault(key, []).append(row)
        lost = []
        for item in part.items:
            row = item.ids
            rows = by_texts.setdefault(stated_key(item) or item.key, [])
            same = [one for one in rows if one[:2] == row[:2]]
            if not rows:
                lost.append(item)
                rows.append(row)
                self.of_sheets.add(row)
                self._put(row, item, "")
            elif any(item.human.values()):
                its = (same or rows)[0]
                self.returned.update({its} - self.of_sheets)
                self._rate(its, item, "", of=name)
        strays = Strays.among(lost)
        if strays.cut:
            raise DataError.of(
                where=name,
                field="key",
                expected="whole texts (name the file that they were chosen from, too)",
                came=f"{len(strays.cut)} that the sheet had no room for",
            )
        self.notes += [note for note in strays.notes() if note not in self.notes]

    def dataset(self) -> DataSet:
        items = tuple(self.items.values())
        notes = list(self.notes)
        if self.n_twice:
            was = "row is" if self.n_twice == 1 else "rows are"
            notes.append(f"{self.n_twice} {was} in several files, and taken once.")
        if n := len(self.returned):
            rows = "1 row" if n == 1 else f"{n} rows"
            notes.append(f"sheets hold the ratings of {rows} of the other files.")
        notes += chosen_note(items)
        return DataSet(name="+".join(self.names), items=items, notes=tuple(notes))

    def _put(self, row: Any, item: RatedItem, name: str) -> None:
        self.items[row] = item
        for criterion, ratings in item.human.items():
            if ratings:
                self.rated_in[row, criterion] = name

    def _rate(self, row: Any, item: RatedItem, name: str, *, of: str = "") -> None:
        """Add ratings to an item; those of sheets add up, others are there but once."""
        rated = [criterion for criterion, ratings in item.human.items() if ratings]
        for criterion in rated:
            before = self.rated_in.get((row, criterion))
            if before is not None and (name or before):
                raise _twice(of or name, item, criterion, before or "a sheet")
            self.rated_in[row, criterion] = name
        if rated:
            self.items[row] = _with_ratings(self.items[row], item)

    def _begin(self, name: str, part: DataSet) -> None:
        self.names.append(part.name)
        for criterion, scale in part.scales.items():
            other, known = self.scales.setdefault(criterion, (name, scale))
            if (known.low, known.high, known.labels) != (scale.low, scale.high, scale.labels):
                raise DataError.of(
                    where=name,
                    field=criterion,
                    expected=f"the scale {known} that {other} has (say --scale "
                    f"{criterion}=LOW..HIGH, or rate on one scale)",
                    came=str(scale),
                )


def _with_ratings(known: RatedItem, item: RatedItem) -> RatedItem:
    """Return an item with the ratings of another of its rows added."""
    beside: dict[str, dict[str, tuple[Any, ...]]] = {}
    for part in ("human", "rationale", "raters", "undecided"):
        old, new = getattr(known, part), getattr(item, part)
        beside[part] = {**old}
        for name in new:
            n_before = len(known.human.get(name, ()))
            gaps = () if part == "human" else (None if part == "rationale" else "",) * n_before
            before = old.get(name, () if part == "undecided" else gaps)
            beside[part][name] = (*before, *new[name])
    marks = (SUGGESTED_BY, SELECTION, DEMONSTRATION)
    mark = {name: item.extra[name] for name in marks if name in item.extra}
    return known.model_copy(
        update={
            **beside,
            "scale": {**known.scale, **item.scale},
            "extra": {**known.extra, **mark},
        }
    )


def _options_each(sources: Sequence[str | Path], options: ReadOptions) -> list[ReadOptions]:
    """Return the options that each source takes; one that no source takes is refused."""
    each = [options_of(source, options) for source in sources]
    taken = {name for one in each for name in one.said}
    if any(name not in taken for name in options.said):
        open_rows(sources[0], options=options.only(set(options.said) - taken))
    return each


def first_columns(source: str | Path, options: ReadOptions) -> set[str]:
    """Return the columns of a file's first row; of standard input none."""
    if str(source) == "-":
        return set()
    first = next(open_rows(source, options=options).rows, None)
    return set() if first is None else {str(one) for one in first[1]}


def is_sheet(columns: set[str]) -> bool:
    """Say whether columns are those of a sheet of suggested rows."""
    return RatingForm.of(sorted(columns)) is not None


def _twice(name: str, item: RatedItem, criterion: str, other: str) -> DataError:
    whose = ", ".join(shown_value(one) for one in (item.source_id, item.system_id) if one)
    expected = "items that are rated in one file only, or in copies of one sheet"
    came = f"a rating of {whose or 'a row without ids'}, which {other} has, too"
    return DataError.of(where=name, field=criterion, expected=expected, came=came)

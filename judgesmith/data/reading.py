"""Rated data from files and DataFrames, all rows or one at a time.

Reading a whole set checks what needs all rows: scales, repeated items, ids that stand for
several sources. A stream never looks at ratings and holds one row at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from inspect import signature
from typing import Any

from judgesmith.data.columns import SCORE_NAMES, ColumnMap, column_map, plain_name, recognised
from judgesmith.data.formats.opening import open_rows
from judgesmith.data.formats.raw import RawRows, ReadOptions
from judgesmith.data.items import DataSet
from judgesmith.data.labels import LabelsGiven
from judgesmith.data.problems import DataError, Problem, shown_value
from judgesmith.data.rows import (
    RATED_FIELDS,
    GivenScales,
    RatingReader,
    ScaleGiven,
    TextReader,
    given_scales,
)
from judgesmith.data.sheets.ratings import (
    COMMENT,
    MARKS,
    RatingForm,
    Strays,
    chosen_note,
    lost_columns,
    restored,
)
from judgesmith.signatures.items import RatedItem

SourceGiven = Any
"""A path or name, a pandas DataFrame, a Hugging Face dataset, a list of dicts or dspy.Examples, or
a dict of columns."""
ColumnsGiven = ColumnMap | Mapping[str, str | Sequence[str]] | str | None

# A stream learns the columns from this many rows; rows of JSON Lines may leave fields out.
_PEEKED = 100

# A few ids with two spellings of one source are an editor's slip, more are a wrong column.
_MOST_IDS_WITH_SEVERAL_SOURCES = 0.05


def read_items(
    source: SourceGiven,
    *,
    columns: ColumnsGiven = None,
    scale: ScaleGiven = None,
    labels: LabelsGiven = None,
    positive: str | None = None,
    missing: str | Sequence[str] = (),
    encoding: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
) -> DataSet:
    """Return all rows of a file or DataFrame as rated items.

    Parameters
    ----------
    source : str, Path, DataFrame, datasets.Dataset, dict of columns, or list of dict or Example
        A file ending in ``.jsonl``, ``.ndjson``, ``.json``, ``.csv`` or ``.tsv`` (each also
        with ``.gz``), ``.parquet`` or ``.xlsx``; a folder that ``save_to_disk`` wrote;
        ``hf://OWNER/NAME[/CONFIG][:SPLIT]``; ``-`` for JSON Lines on standard input; ``sample``
        or ``sample-verdicts`` for the datasets that come with the package.
    columns : ColumnMap, mapping, str or None
        Which columns hold what, as in ``source=article,response=summary,score=rating``. What
        it leaves out is recognised by common names, and the set's notes say so.
    scale : Scale, str, (low, high), mapping or None
        One scale for every criterion whose rows state none, as in ``1..5``, or scales by
        criterion, as in ``coherence=1..5``, which win over the rows.
    labels : str, sequence, mapping or None
        The labels that raters gave in place of numbers, as in ``fail,pass``, of all criteria or
        by criterion. Booleans, pass and fail, yes and no are recognised without it.
    positive : str or None
        The label of good responses; None: ``pass``, ``yes`` or ``true``.
    missing : str or sequence of str
        Markers of a missing rating, in addition to an empty cell, as in ``n/a,-``.
    encoding : str or None
        Of a text file; None: UTF-8.
    decimal : {",", "."} or None
        The decimal sign of ratings in CSV, TSV and workbooks. None reads ``3,5`` where the whole
        column can be read in no other way, and the set's notes say so.
    sheet : str or None
        The sheet of a workbook; None: the first.

    Returns
    -------
    DataSet
        Items in the order of the file. Rows without ratings are items too.

    Raises
    ------
    DataError
        With every problem there is: rows that cannot be read, ratings that are no numbers or
        off their scale, criteria without a scale, scales that contradict each other or are
        given for a criterion that is not there, an item that is rated in two rows, ids that
        stand for several sources, ambiguous columns.
    FileNotFoundError
        If there is no such file.
    ImportError
        If a library that reads the source is not installed; the message says which extra
        brings it.
    ValueError
        If ``columns`` or ``scale`` cannot be read.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"article": ["a long text"], "summary": ["a text"], "rating": [4]})
    >>> data = read_items(table, scale="1..5")
    >>> data[0].response, data[0].human
    ('a text', {'overall': (4.0,)})
    >>> print(*data.notes)
    assumed columns: source is 'article', response is 'summary', overall is 'rating'.
    """
    options = ReadOptions.of(encoding=encoding, decimal=decimal, missing=missing, sheet=sheet)
    scales = given_scales(scale).with_labels(labels, positive)
    return read_part(source, columns=columns, scale=scales, options=options)


READ_OPTIONS = tuple(signature(read_items).parameters)[1:]
"""How rows are read, by the names of the arguments that say so."""


def as_dataset(given: SourceGiven, caller: str, **options: Any) -> DataSet:
    """Return what a function of the public name ``caller`` got as data, read if need be."""
    try:
        if isinstance(given, DataSet):
            if options:
                raise TypeError(f"they are read already; drop {', '.join(options)}.")
            return given
        rows = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else ()
        if rows and all(isinstance(one, RatedItem) for one in rows):
            return DataSet(name="rows", items=rows)
        return read_items(given, **options)
    except TypeError as fault:
        raise TypeError(f"judgesmith.{caller}: data: {fault}") from None


def read_part(
    source: SourceGiven,
    *,
    columns: ColumnsGiven = None,
    scale: ScaleGiven | GivenScales = None,
    options: ReadOptions | None = None,
    with_cut: bool = False,
) -> DataSet:
    """Return rows as :func:`read_items` does, also of a sheet, whose whole texts are elsewhere."""
    given, scales = column_map(columns), given_scales(scale)
    raw = open_rows(source, options=options)
    rows = list(raw.rows)
    if not rows:
        nothing = Problem(where=raw.name, field="file", expected="at least one row", came="none")
        raise DataError(raw.problems or [nothing])
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    canonical = "human" in names and "human" not in given.columns and not given.criteria
    form = None if canonical or given.criteria else RatingForm.of(names)
    if form is not None:
        given = ColumnMap(fields=given.fields, criteria=form.columns)
        scales = scales.beside(form.scales)
    elif not canonical and not given.criteria:
        _refuse_lost(raw.name, names)
    found, notes = recognised(names, given, where=raw.name, canonical=canonical)
    if form is not None:
        notes += _unread(names, found)
    texts = TextReader(found, raw, ignored=RATED_FIELDS)
    ratings = RatingReader(found, scales, raw)
    drafts = [
        (number, row, texts.fields(number, row), ratings.answers(number, row))
        for number, row in rows
    ]
    items = []
    for number, row, fields, answers in drafts:
        item = RatedItem(**fields, **ratings.points(number, row, answers))
        items.append(item if form is None else restored(item))
    raw.found += [(0, problem) for problem in ratings.scale_problems]
    numbers = [number for number, _ in rows]
    notes += _across_rows(raw, list(zip(numbers, items, strict=True)))
    strays = Strays.among(items) if form is not None else Strays()
    for place in () if with_cut else strays.cut:
        raw.problem(
            numbers[place],
            at="key",
            expected="whole texts (name the file that they were chosen from, too)",
            came="texts that the sheet had no room for",
        )
    notes += [] if with_cut else [*strays.notes(), *chosen_note(items)]
    if raw.problems:
        raise DataError(raw.problems)
    return DataSet(
        name=raw.name.split(".")[0],
        items=tuple(items),
        notes=(*raw.notes, *notes, *texts.notes, *ratings.notes),
        places=tuple(range(1, len(items) + 1)),
    )


def _refuse_lost(where: str, names: Sequence[str]) -> None:
    """Refuse a sheet that ``suggest`` wrote and that lacks columns of ratings."""
    expected = (
        "the column of this name that suggest wrote (put it back, or name the columns of "
        "ratings by --map NAME=COLUMN)"
    )
    came = "a sheet without it"
    if lost := lost_columns(names):
        raise DataError(
            [Problem(where=where, field=one, expected=expected, came=came) for one in lost]
        )


class ItemStream(Iterator[RatedItem]):
    """Items of a file one at a time, without their ratings."""

    def __init__(
        self,
        source: SourceGiven,
        *,
        columns: ColumnsGiven,
        strict: bool,
        name: str | None = None,
        options: ReadOptions | None = None,
    ) -> None:
        self._raw = open_rows(source, options=options)
        if name is not None:
            self._raw.name = name
        self._strict = strict
        first = list(itertools.islice(self._raw.rows, _PEEKED))
        names = list(dict.fromkeys(name for _, row in first for name in row))
        given = column_map(columns)
        unrated = ColumnMap(fields=given.fields)
        self._assumed: list[str] = []
        self._texts: TextReader | None = None
        if first:
            found, self._assumed = recognised(
                names,
                unrated,
                where=self._raw.name,
                canonical="human" in names,
                with_ratings=False,
            )
            ignored = (
                *RATED_FIELDS,
                *(name for name in names if plain_name(name) in SCORE_NAMES),
                *(c for g in given.criteria.values() for c in g),
            )
            self._texts = TextReader(found, self._raw, ignored=ignored)
        self._rows = itertools.chain(first, self._raw.rows)
        self.name = self._raw.name
        self.place = 0

    @property
    def problems(self) -> list[Problem]:
        """Return the rows that could not be read, so far."""
        return self._raw.problems

    @property
    def notes(self) -> list[str]:
        """Return what was assumed about columns and converted, so far."""
        return [*self._raw.notes, *self._assumed, *(self._texts.notes if self._texts else ())]

    def __next__(self) -> RatedItem:
        """Return the next item; at the end, raise what was wrong with the others."""
        for number, row in self._rows:
            assert self._texts is not None
            n_problems = len(self._raw.found)
            fields = self._texts.fields(number, row)
            if len(self._raw.found) == n_problems:
                self.place = number
                return RatedItem(**fields)
        if self._strict and self.problems:
            raise DataError(self.problems)
        raise StopIteration


def stream_items(
    source: SourceGiven,
    *,
    columns: ColumnsGiven = None,
    strict: bool = True,
    name: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> ItemStream:
    """Return the rows of a file as items one at a time, in flat memory; ratings are not read.

    Parameters
    ----------
    source : str, Path or DataFrame
        As for :func:`read_items`. The file is opened and its columns are checked at once.
    columns : ColumnMap, mapping, str or None
        As for :func:`read_items`; columns of ratings need not be there.
    strict : bool
        True raises every problem at the end, after the last good item. False leaves them in
        ``problems``, for callers that report them elsewhere.
    name : str or None
        What messages call the file; None: its name without the folder.
    encoding, sheet : str or None
        As for :func:`read_items`.

    Raises
    ------
    DataError
        Also for what cannot wait until the end: columns, encoding, a damaged file.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = stream_items(pd.DataFrame({"prompt": ["2 + 2?"], "output": ["4"], "score": ["x"]}))
    >>> [(item.source, item.response, dict(item.human)) for item in rows]
    [('2 + 2?', '4', {})]
    """
    options = ReadOptions.of(encoding=encoding, sheet=sheet)
    return ItemStream(source, columns=columns, strict=strict, name=name, options=options)


def _unread(names: Sequence[str], found: ColumnMap) -> list[str]:
    """Return that a sheet has columns of its own, for ratings may be under a changed heading."""
    read = (*found.columns, *MARKS, COMMENT)
    other = [one or "a column without a heading" for one in names if one not in read]
    if not other:
        return []
    return [f"not read: {', '.join(other)}; ratings are read under the sheet's own headings."]


def _across_rows(raw: RawRows, items: Sequence[tuple[int, RatedItem]]) -> list[str]:
    """Return notes on rows that concern each other; what is not safe becomes a problem."""
    texts: dict[str, dict[str, int]] = {}
    seen: dict[tuple[str, str], dict[str, int]] = {}
    n_repeated = 0
    for place, item in items:
        if item.source.strip():
            texts.setdefault(item.source_id, {}).setdefault(item.source, place)
        twins = seen.setdefault((item.source_id, item.system_id), {})
        if (key := item.key) not in twins:
            twins[key] = place
        elif item.system_id and any(item.human.values()):
            raw.problem(
                place,
                at="source_id, system_id",
                expected="one row per item (put its raters in one row, as in score=rater1+rater2)",
                came=f"the item of {raw.where(twins[key])} again",
            )
        else:
            n_repeated += 1
    notes = []
    if n_repeated:
        repeat = "row repeats" if n_repeated == 1 else "rows repeat"
        notes.append(f"{n_repeated} {repeat} source, context and response of an earlier row.")
    n_several = sum(len(twins) > 1 for (_, system), twins in seen.items() if system)
    if n_several:
        notes.append(f"{n_several} pairs of source_id and system_id have several responses.")
    mixed = {name: places for name, places in texts.items() if len(places) > 1}
    if mixed:
        name, places = next(iter(mixed.items()))
        first, second = itertools.islice(places.values(), 2)
        found = (
            f"{len(mixed)} of {len(texts)} source ids stand for several source texts, the first "
            f"{shown_value(name)} ({raw.where(first)} and {raw.where(second)})"
        )
        if len(mixed) > _MOST_IDS_WITH_SEVERAL_SOURCES * len(texts):
            expected = (
                "one source text per id (name another column with --map source_id=COLUMN, or "
                "leave ids out with --map source_id=)"
            )
            raw.problem(0, at="source_id", expected=expected, came=found)
        else:
            notes.append(f"{found}; splits keep each id, and each text, together.")
    return notes

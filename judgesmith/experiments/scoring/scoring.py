"""Scoring new texts into a file: one row out for every row in, all of them or no file."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from judgesmith.drafts import draft_beside, put
from judgesmith.experiments.earlier_rows import beside, refuse_loss
from judgesmith.experiments.problems import nothing_in
from judgesmith.experiments.reading import ColumnsGiven, ItemStream
from judgesmith.experiments.scoring.judging import Judging, RowWatch
from judgesmith.experiments.scoring.marks import Marks, marks_of, refuse_others
from judgesmith.experiments.scoring.scored import Scored, Tally
from judgesmith.experiments.scoring.shards import Inputs, Shard, shards_of
from judgesmith.programs.asking import current_lm
from judgesmith.programs.models import AnyModel
from judgesmith.programs.running import CONCURRENCY, judge_each
from judgesmith.programs.saved_kinds import AnySaved
from judgesmith.programs.scored_row import json_line, score_row
from judgesmith.signatures import RatedItem

_TOLD = 16  # rows between two words about progress


def score_shards(
    judge: AnySaved,
    inputs: Inputs | tuple[Shard, ...],
    output: str | Path,
    *,
    columns: ColumnsGiven = None,
    lm: AnyModel | None = None,
    concurrency: int = CONCURRENCY,
    overwrite: bool = False,
    judging: Judging | None = None,
    progress: Callable[[int], None] | None = None,
    watch: RowWatch | None = None,
) -> Scored:
    """Judge every row of some files and write one line of JSON each, in flat memory.

    Parameters
    ----------
    judge : SavedJudge, SavedPanel or SavedCalibrated
        What judges.
    inputs : str, Path, sequence of them, or tuple of Shard
        Files, folders and patterns, as for ``shards_of``.
    output, lm, concurrency, overwrite
        As for ``score_file``.
    columns : ColumnMap, mapping, str or None
        Which columns hold what, as for ``stream_items``.
    judging : callable or None
        What judges a stream of items; None is ``judge_each`` with ``judge``, ``lm`` and
        ``concurrency``. ``judge`` and ``lm`` must be those that it asks: rows are marked by them.
    progress : callable or None
        Told how many rows were written since it was last told.
    watch : RowWatch or None
        Told of every row that is written.

    Raises
    ------
    FileExistsError, DataError, ModelError, LedgerError, ValueError
        As for ``score_file`` and ``shards_of``.
    """
    shards = inputs if _are_shards(inputs) else shards_of(inputs)  # type: ignore[arg-type]
    reading = _Reading(shards, columns)  # type: ignore[arg-type]
    lm = lm or current_lm()
    judging = judging or _locally(judge, lm, concurrency)
    return _score(judge, reading, Path(output), lm, overwrite, judging, progress, watch)


def _are_shards(inputs: object) -> bool:
    return isinstance(inputs, tuple) and all(isinstance(one, Shard) for one in inputs)


def _locally(judge: AnySaved, lm: AnyModel, concurrency: int) -> Judging:
    return lambda items: judge_each(judge, items, lm=lm, concurrency=concurrency)


class _Reading(Iterator[RatedItem]):
    """The items of several shards, and which row of which file came last."""

    def __init__(self, shards: tuple[Shard, ...], columns: ColumnsGiven) -> None:
        self.shards = iter(shards)
        self.columns = columns
        self.name = shards[0].name
        self.file, self.row = self.name, 0
        self.items: ItemStream | Iterator[RatedItem] = iter(())
        self.notes: dict[str, None] = {}

    def __next__(self) -> RatedItem:
        while True:
            item = next(self.items, None)
            if item is not None:
                self.row += 1
                return item
            self.notes.update(dict.fromkeys(getattr(self.items, "notes", ())))
            shard = next(self.shards, None)
            if shard is None:
                raise StopIteration
            self.file, self.row = shard.name, 0
            opened = shard.items(self.columns)
            self.items, self.name = opened, opened.name


class _Given(Iterator[RatedItem]):
    """Items of somebody else's."""

    notes = ()

    def __init__(self, items: Iterator[RatedItem]) -> None:
        self.items = items
        self.name = self.file = str(getattr(items, "name", "input"))
        self.row = 0

    def __next__(self) -> RatedItem:
        item = next(self.items)
        self.row += 1
        return item


def score_file(
    judge: AnySaved,
    items: Iterator[RatedItem],
    output: str | Path,
    *,
    lm: AnyModel | None = None,
    concurrency: int = CONCURRENCY,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Scored:
    """Judge every item and write one JSON line each, in order and in flat memory.

    Rows go to a draft beside ``output``, which is renamed when all are written: there is a
    whole file or none. A run that was stopped starts over, finds its answers on record, and
    asks only for the rest.

    Parameters
    ----------
    judge : SavedJudge, SavedPanel or SavedCalibrated
        What judges.
    items : iterator of RatedItem
        From ``stream_items``; ratings are not read.
    output : str or Path
        A file that ends in ``.jsonl``, in a folder that is there.
    lm : dspy.LM, StackModel or None
        The model; None takes DSPy's current one, or the offline model.
    concurrency : int
        Items judged at the same time.
    overwrite : bool
        Whether rows of another run may be replaced. Another run is one with another judge,
        another model or endpoint, or an input with another text at the same place. Nor are
        rows of the same run replaced by fewer, or by fewer scores.
    progress : callable or None
        Told how many items were finished since it was last told.

    Raises
    ------
    FileExistsError
        If ``output`` holds something else than rows of this run. Nothing is asked for a text
        that stands where the file has another one, nor for any text after it.
    DataError
        If there are no items, or a row of the input cannot be read: all such rows are named,
        and nothing is written.
    ModelError, LedgerError
        If the model cannot be asked at all, or the ledger not used.
    ValueError
        If ``output`` is named as something else than JSON Lines.

    Examples
    --------
    >>> import tempfile
    >>> from judgesmith.experiments import CompileSettings, compile_judge, read_items
    >>> data = read_items("sample")
    >>> judge = compile_judge(data, CompileSettings(optimizer="none", holdout=0)).saved
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = score_file(judge, iter(data.items[:3]), Path(folder) / "scores.jsonl")
    >>> done.n_rows, done.n_unscored
    (3, 0)
    """
    lm = lm or current_lm()
    judging = _locally(judge, lm, concurrency)
    return _score(judge, _Given(items), Path(output), lm, overwrite, judging, progress, None)


def _score(
    judge: AnySaved,
    items: _Reading | _Given,
    output: Path,
    lm: AnyModel,
    overwrite: bool,
    judging: Judging,
    progress: Callable[[int], None] | None,
    watch: RowWatch | None,
) -> Scored:
    if output.suffix != ".jsonl":
        raise ValueError(f"rows are written as JSON Lines; name a file in .jsonl, not {output}.")
    first = next(items, None)
    if first is None:
        raise nothing_in(items.name)
    marks = marks_of(judge, lm, first)
    under_way: deque[tuple[RatedItem, str, int]] = deque()

    def placed(rows: Iterator[RatedItem]) -> Iterator[RatedItem]:
        for item in rows:
            under_way.append((item, items.file, items.row))
            yield item

    rows: Iterator[RatedItem] = chain([first], items)
    if not overwrite:
        rows = rows_beside(output, rows, marks)
    tally, n_told = Tally(), 0
    with draft_beside(output) as draft:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            for item, judgement in judging(placed(rows)):
                given, name, row = under_way.popleft()
                if given is not item:
                    raise ValueError("what judges must yield the items it was given, in order.")
                file.write(json_line(score_row(item, judgement) | marks))
                tally.add(judgement)
                if watch is not None:
                    watch.judged(name, row, item, judgement)
                if progress is not None and tally.n_rows - n_told >= _TOLD:
                    progress(tally.n_rows - n_told)
                    n_told = tally.n_rows
            file.flush()
            os.fsync(file.fileno())
        if output.exists() and not overwrite:
            refuse_loss(output, draft, marks["run"])
        put(draft, output)
    if progress is not None and tally.n_rows > n_told:
        progress(tally.n_rows - n_told)
    return tally.scored(tuple(items.notes))


def unscored_items(
    judge: AnySaved,
    shards: tuple[Shard, ...],
    output: Path,
    *,
    columns: ColumnsGiven = None,
    lm: AnyModel,
    overwrite: bool = False,
) -> Iterator[RatedItem]:
    """Yield the items that ``score_shards`` would have judged, for who asks before it does.

    Raises
    ------
    FileExistsError
        If ``output`` holds something else than rows of this run, or a row for another text, and
        is not to be overwritten.
    """
    items = _Reading(shards, columns)
    first = next(items, None)
    if first is None:
        return
    rows = chain([first], items)
    yield from rows if overwrite else rows_beside(output, rows, marks_of(judge, lm, first))


def rows_beside(output: Path, rows: Iterator[RatedItem], marks: Marks) -> Iterator[RatedItem]:
    """Return the rows, held against those of an earlier run if there is a file of it."""
    if not output.exists():
        return rows
    refuse_others(output, marks)
    return beside(rows, output, marks["run"])

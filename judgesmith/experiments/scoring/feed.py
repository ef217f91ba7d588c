"""The items that are still to be judged, one after the other, and the files that they go to."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from judgesmith.data.reading import ColumnsGiven
from judgesmith.drafts import draft_beside, put
from judgesmith.errors import InputError
from judgesmith.experiments.scoring.formats import write_scores
from judgesmith.experiments.scoring.lines import ScoreLine, Tally, note_of
from judgesmith.experiments.scoring.parts import PartFiles
from judgesmith.experiments.scoring.resume_check import (
    Beside,
    EarlierRow,
    Marks,
    refuse_loss,
    refuse_others,
)
from judgesmith.experiments.scoring.shards import OutputPlace, Shard
from judgesmith.programs.judging.rows import score_row
from judgesmith.signatures import Judgement, RatedItem
from judgesmith.signatures.plain_data import json_line


class OutputFile:
    """A file of scores in the making."""

    def __init__(
        self,
        place: Path,
        ending: str,
        marks: Marks,
        *,
        ordered: bool,
        overwrite: bool,
        whole: bool,
        n_inputs: int,
        labels: bool = False,
    ) -> None:
        self.place = place
        self.ending = ending
        self.marks = marks
        self.ordered = ordered
        self.n_inputs = n_inputs
        self.labels = labels
        self._beside: Beside | None = None
        self._replaces = place.exists() and not overwrite
        if self._replaces:
            refuse_others(place, marks)
            self._beside = Beside(place, marks["run"])
        self.parts = PartFiles(place, marks, ordered=ordered, fresh=overwrite or whole)
        self._earlier = self.parts.earlier()
        self._files: list[str] = []
        self._starts: list[int] = []
        self.n_read = 0
        self.n_under_way = 0
        self.n_kept = 0
        self.all_read = False

    def begin(self, file: str) -> None:
        """Say that the items which come now are of another input."""
        self._files.append(file)
        self._starts.append(self.n_read)

    def wants(self, item: RatedItem) -> bool:
        """Say whether the next item is still to be judged."""
        self.n_read += 1
        if self._beside is not None:
            self._beside.check(item, self._files[-1] if self.n_inputs > 1 else "", self.row)
        if self._earlier.any and self._earlier.has(self.n_read, item.key):
            self.n_kept += 1
            return False
        self.n_under_way += 1
        return True

    @property
    def row(self) -> int:
        """The number of the item that came last, in its input."""
        return self.n_read - self._starts[-1]

    def end(self) -> None:
        """Say that there are no items any more."""
        self.all_read = True
        self._earlier.refuse_rest(self.n_read)

    @property
    def whole(self) -> bool:
        """Whether every item is judged."""
        return self.all_read and not self.n_under_way

    def add(self, number: int, item: RatedItem, judgement: Judgement) -> None:
        """Take what became of an item."""
        row = {**score_row(item, judgement), **self.marks}
        self.parts.add(ScoreLine(number, row["key"], note_of(judgement), json_line(row)[:-1]))
        self.n_under_way -= 1

    def finish(self) -> Tally:
        """Put the file into its place; what was kept meanwhile stays until ``clear``."""
        tally = Tally()
        if self._replaces and self.place.exists():
            refuse_loss(self.place, self._new_rows(), self.marks["run"])
        with draft_beside(self.place) as draft:
            how = {"placed": not self.ordered, "labels": self.labels}
            write_scores(self._rows(tally), draft, self.ending, **how)
            put(draft, self.place)
        return tally

    def _new_rows(self) -> Iterator[EarlierRow]:
        for line in self.parts.lines():
            place = None if self.ordered else ("", line.number)
            yield EarlierRow(line=line.number, key=line.key, scored=line.scored, place=place)

    def _rows(self, tally: Tally) -> Iterator[str]:
        for line in self.parts.lines():
            tally.count(line.note)
            yield line.row if self.ordered else self._placed(line)

    def _placed(self, line: ScoreLine) -> str:
        """Return a row that says which row of which input it is."""
        n = bisect_left(self._starts, line.number) - 1
        named = json_line({"file": self._files[n]})[1:-2] + ", " if self.n_inputs > 1 else ""
        return f'{{"row": {line.number - self._starts[n]}, {named}{line.row[1:]}'

    def clear(self) -> None:
        """Remove what was kept until the file is there."""
        self.parts.remove()

    def leave(self) -> None:
        """Let another process continue."""
        self.parts.leave()


@dataclass(frozen=True)
class Given:
    """Items that somebody else reads, and what they are called."""

    name: str
    given: Iterator[RatedItem]
    once = True

    def items(self, columns: ColumnsGiven = None) -> Iterator[RatedItem]:
        """Return the items, with whatever columns they were read."""
        return self.given


class Opened(NamedTuple):
    """Items that can be read but once, the first of which was looked at; and what reads them."""

    items: Iterator[RatedItem]
    reader: Iterator[RatedItem]


@dataclass(frozen=True, kw_only=True)
class ScoringJob:
    """A file to be written, and what goes into it."""

    target: OutputPlace
    sources: tuple[Shard | Given, ...]
    opened: Mapping[str, Opened]
    marks: Marks


class FeedPlace(NamedTuple):
    """Where an item that is being judged belongs."""

    item: RatedItem
    output: OutputFile
    number: int
    file: str
    row: int


class Feed(Iterator[RatedItem]):
    """The items of several jobs that are still to be judged."""

    def __init__(
        self,
        jobs: Iterable[ScoringJob],
        begin: Callable[[ScoringJob], OutputFile],
        columns: ColumnsGiven,
        *,
        ordered: bool,
    ) -> None:
        self._begin = begin
        self._columns = columns
        self._ordered = ordered
        self.outputs: deque[tuple[ScoringJob, OutputFile]] = deque()
        self.n_kept = 0
        self.notes: dict[str, None] = {}
        self._queue: deque[FeedPlace] = deque()
        self._by_item: dict[int, list[FeedPlace]] = {}
        self._items = chain.from_iterable(map(self._of_job, jobs))

    def __next__(self) -> RatedItem:
        place = next(self._items)
        if self._ordered:
            self._queue.append(place)
        else:
            self._by_item.setdefault(id(place.item), []).append(place)
        return place.item

    def place_of(self, item: RatedItem) -> FeedPlace:
        """Return where an item that was handed out belongs, once."""
        if self._ordered:
            place = self._queue.popleft() if self._queue else None
        else:
            places = self._by_item.get(id(item), [])
            place = places.pop() if places else None
            if not places:
                self._by_item.pop(id(item), None)
        if place is None or place.item is not item:
            raise InputError(
                "what judges must yield each item that it is given, once"
                f"{' and in their order' if self._ordered else ''}; got another one."
            )
        return place

    @property
    def n_missing(self) -> int:
        """How many items were handed out and did not come back."""
        return len(self._queue) + sum(map(len, self._by_item.values()))

    def _of_job(self, job: ScoringJob) -> Iterator[FeedPlace]:
        output = self._begin(job)
        self.outputs.append((job, output))
        for source in job.sources:
            output.begin(source.name)
            if (opened := job.opened.get(source.name)) is None:
                reader = source.items(self._columns)
                opened = Opened(reader, reader)
            for item in opened.items:
                if output.wants(item):
                    yield FeedPlace(item, output, output.n_read, source.name, output.row)
                else:
                    self.n_kept += 1
            self.notes.update(dict.fromkeys(getattr(opened.reader, "notes", ())))
        output.end()

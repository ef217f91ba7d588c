"""The items that are still to be judged, one after the other, and where each of them belongs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from judgesmith.data.reading import ColumnsGiven
from judgesmith.errors import InputError
from judgesmith.experiments.scoring.marks import Marks
from judgesmith.experiments.scoring.output_file import OutputFile
from judgesmith.experiments.scoring.shards import OutputPlace, Shard
from judgesmith.signatures import RatedItem


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
        """Return the next item to judge."""
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

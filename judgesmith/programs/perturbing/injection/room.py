"""What errors are to be put into, and the places of a text that are still free."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random

from pydantic import BaseModel, ConfigDict, Field

from judgesmith.errors import InputError
from judgesmith.programs.perturbing.catalogue import Case, Change, Donors, drawn_order
from judgesmith.programs.perturbing.passage import Passage, Span
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import SubAspect, Target


class Job(BaseModel):
    """A text that errors are put into."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    task: str = ""
    source_id: str = ""
    source: str = ""
    context: str | None = None
    target: Target
    criterion: str = Field(min_length=1)
    definition: str = ""
    sub_aspects: tuple[SubAspect, ...] = Field(min_length=1)
    sample: int = Field(default=0, ge=0)

    def generator(self, seed: int) -> Random:
        """Return the generator of all draws for this job."""
        state = hashlib.blake2b(f"{seed} {self.key}".encode(errors="surrogatepass"), digest_size=16)
        return Random(int.from_bytes(state.digest()))


def drawn_sub_aspects(
    sub_aspects: Sequence[SubAspect], n: int, rng: Random
) -> tuple[SubAspect, ...]:
    """Return ``n`` sub-aspects in random order, all once before any is there again."""
    if n < 0 or not sub_aspects:
        raise InputError(
            f"0 or more errors of at least one sub-aspect are drawn; got {n} of {len(sub_aspects)}."
        )
    found: list[SubAspect] = []
    while len(found) < n:
        found += rng.sample(list(sub_aspects), len(sub_aspects))
    return tuple(found[:n])


@dataclass(slots=True)
class Counts:
    """How often what happened while errors were put in."""

    wanted: int = 0
    made: int = 0
    asked: int = 0
    retried: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    rebound: int = 0
    short: int = 0
    lost: int = 0

    def fault(self, reason: str) -> None:
        """Count an answer that could not be used."""
        self.faults[reason] += 1

    def question(self, attempt: int) -> None:
        """Count a question, the first about something or a later one."""
        self.asked += 1
        self.retried += attempt > 0

    def outcome(self, dropped: str = "") -> None:
        """Count a target that was made, or why it was not."""
        self.wanted += 1
        if dropped:
            self.dropped[dropped] += 1
        else:
            self.made += 1

    def sequence(self, n_targets: int, n_wanted: int) -> None:
        """Count a sequence by how many targets it has, the reference among them."""
        self.short += n_targets < n_wanted
        self.lost += n_targets < 2


class TakenPlaces:
    """Spans of a text that nothing else may reach into, looked up without looking at each."""

    def __init__(self, spans: Iterable[Span]) -> None:
        several = sorted(set(spans))
        self._points = [start for start, end in several if start == end]
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in several:
            if start == end:
                continue
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def meets(self, start: int, end: int) -> bool:
        """Say whether a span reaches into a taken one, or where one of both is empty, meets it."""
        point = bisect_left(self._points, start)
        if point < len(self._points) and self._points[point] <= end:
            return True
        empty = start == end
        place = bisect_left(self._ends, start if empty else start + 1)
        return place < len(self._ends) and self._starts[place] < end + empty

    def is_met_by(self, change: Change) -> bool:
        """Say whether a change meets a taken span."""
        start, end, put = change
        if start < end or not put or not self.meets(start, end):
            return self.meets(start, end)
        if start in self._points:
            return True
        place = bisect_left(self._ends, start)
        after = start == self._ends[place] and put[0].isspace()
        before = start == self._starts[place] and put[-1].isspace()
        return not (after or before)


class Room:
    """A text with errors in it, and the places where there are none yet."""

    def __init__(
        self,
        target: Target,
        *,
        source: str = "",
        context: str | None = None,
        rng: Random,
        donors: Donors | None = None,
        source_id: str = "",
    ) -> None:
        item = RatedItem(source_id=source_id, source=source, context=context, response=target.text)
        self.case = Case(item=item, passage=Passage(target.text), amount=1, rng=rng, donors=donors)
        self._spans = [span for one in target.errors for span in one.spans]

    @property
    def text(self) -> str:
        """The text as it is now."""
        return self.case.passage.text

    @property
    def passage(self) -> Passage:
        """The text and where its parts are."""
        return self.case.passage

    @property
    def rng(self) -> Random:
        """What all draws come from."""
        return self.case.rng

    @cached_property
    def taken(self) -> TakenPlaces:
        """Where errors stand, by themselves and with the words that they stand in or next to."""
        return TakenPlaces(one for span in self._spans for one in (span, self._widened(span)))

    @cached_property
    def words(self) -> list[Span]:
        """The words that no error touches, in order."""
        return [word for word in self.passage.words if self.is_free(*word)]

    @cached_property
    def whole_sentences(self) -> list[Span]:
        """The sentences in which there is no error, in order."""
        return [sentence for sentence in self.passage.sentences if self.is_free(*sentence)]

    @cached_property
    def starts_of_sentences(self) -> frozenset[int]:
        """Where sentences begin."""
        return frozenset(start for start, _ in self.passage.sentences)

    def shown(self, span: Span) -> str:
        """Return what stands at a span."""
        return self.passage.shown(span)

    def is_free(self, start: int, end: int) -> bool:
        """Say whether a place is apart from all errors; an empty one, not beside any either."""
        return not self.taken.meets(start, end)

    def holds(self, changes: Iterable[Change]) -> bool:
        """Say whether all changes keep apart from all errors."""
        return not any(map(self.taken.is_met_by, changes))

    def n_words_taken(self, changes: Iterable[Change]) -> int:
        """Return how many free words changes take away or put elsewhere."""
        gone = TakenPlaces((start, end) for start, end, _ in changes if start < end)
        return sum(gone.meets(*word) for word in self.words)

    def runs(self, n: int) -> Iterator[tuple[Span, ...]]:
        """Yield ``n`` free words that follow each other in one sentence, in random order."""
        words = self.passage.words
        for first in drawn_order(max(0, len(words) - n + 1), self.rng):
            start, end = words[first][0], words[first + n - 1][1]
            if self.is_free(start, end) and not self._is_cut(start, end):
                yield tuple(words[first : first + n])

    @cached_property
    def _ends_of_sentences(self) -> list[int]:
        return [end for _, end in self.passage.sentences]

    def _is_cut(self, start: int, end: int) -> bool:
        """Say whether a sentence ends within a span."""
        ends = self._ends_of_sentences
        place = bisect_left(ends, start + 1)
        return place < len(ends) and ends[place] < end

    @cached_property
    def _ends_of_words(self) -> list[int]:
        return [end for _, end in self.passage.words]

    def _widened(self, span: Span) -> Span:
        start, end = span
        words = self.passage.words
        first = bisect_left(self._ends_of_words, start)
        last = bisect_left(words, (end + 1, 0))
        if first >= last:
            return span
        return min(start, words[first][0]), max(end, words[last - 1][1])

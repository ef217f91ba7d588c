"""The text that an error is to be put into, and which of its places are still free."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from random import Random

from judgesmith.programs.benchmarking.taken_places import TakenPlaces
from judgesmith.programs.perturbing.case import Case, Change, drawn_order
from judgesmith.programs.perturbing.donors import Donors
from judgesmith.programs.perturbing.passage import Passage, Span
from judgesmith.signatures.injection import Target
from judgesmith.signatures.rated import RatedItem


class Room:
    """A text with errors in it, and the places where there are none yet.

    Parameters
    ----------
    target : Target
        The text and its errors.
    source : str
        What the text answers; empty where nothing is known.
    context : str or None
        What else was given with the source.
    rng : Random
        All draws come from it.
    donors : Donors or None
        Texts of other sources.

    Attributes
    ----------
    case : Case
        The text as the rules of ``judgesmith.programs.perturbing`` are given it, for one change.

    Notes
    -----
    A word that an error stands in or next to is taken as a whole: two slips in one word would be
    one error to whoever reads it.

    Examples
    --------
    >>> from judgesmith.signatures.injection import InjectedError
    >>> error = InjectedError(sub_aspect="names", kind="model", spans=((4, 5),), removed=("n",))
    >>> room = Room(Target(text="Ann met Bob.", errors=(error,)), rng=Random(0))
    >>> [room.shown(word) for word in room.words]
    ['Ann', 'Bob']
    """

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

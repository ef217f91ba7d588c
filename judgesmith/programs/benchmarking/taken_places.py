"""Places of a text that are taken, and whether another one keeps apart from all of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from judgesmith.programs.perturbing.case import Change
from judgesmith.programs.perturbing.passage import Span


class TakenPlaces:
    """Spans of a text that nothing else may reach into, looked up without looking at each.

    Parameters
    ----------
    spans : iterable of (int, int)
        In any order; they may overlap. An empty one is where something was left out.

    Examples
    --------
    >>> taken = TakenPlaces([(3, 6), (9, 9)])
    >>> [taken.meets(*span) for span in ((0, 3), (0, 4), (3, 3), (6, 9), (7, 8))]
    [False, True, True, True, False]
    >>> taken.is_met_by((6, 6, "s")), taken.is_met_by((6, 6, " So."))
    (True, False)
    """

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
        """Say whether a change meets a taken span.

        What is put in right beside one, and apart from it by a blank, does not.
        """
        start, end, put = change
        if start < end or not put or not self.meets(start, end):
            return self.meets(start, end)
        if start in self._points:
            return True
        place = bisect_left(self._ends, start)
        after = start == self._ends[place] and put[0].isspace()
        before = start == self._starts[place] and put[-1].isspace()
        return not (after or before)

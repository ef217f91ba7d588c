"""How far a run is, how fast it goes at the moment, and how long it will take."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from judgesmith.programs.judging.rows import usage_of
from judgesmith.programs.lm import Usage, lm_client_of
from judgesmith.signatures import Judgement, RatedItem

if TYPE_CHECKING:
    from judgesmith.programs.lm import AnyModel

_WINDOW = 15.0  # seconds that the rate is taken over
_STEP = 0.25  # seconds between two marks of it


class Pulse:
    """Counts rows as they are written; any thread may read it meanwhile.

    Parameters
    ----------
    lms : sequence of ClientModel or dspy.LM
        The models whose use is told of.
    n_expected : int or None
        Rows in all inputs; None where nobody knows.
    clock : callable
        Seconds that never go back.

    Attributes
    ----------
    n_judged, n_kept : int
        Rows judged now, and rows that an earlier run had written.
    unscored : Counter of str
        Rows without a score among those judged now, by why (``Reason``).
    counted : callable or None
        Returns what went to models where these are asked elsewhere, as by workers of a cluster;
        None takes it from ``lms``.

    Examples
    --------
    >>> seconds = iter([0.0, 2.0, 4.0, 4.0])
    >>> pulse = Pulse([], n_expected=10, clock=lambda: next(seconds))
    >>> item = RatedItem(response="r")
    >>> pulse.judged("rows.jsonl", 1, item, Judgement(score=1.0))
    >>> pulse.judged("rows.jsonl", 2, item, Judgement.unscored("cut off"))
    >>> pulse.n_judged, dict(pulse.unscored), pulse.rate
    (2, {'other': 1}, 0.5)
    """

    def __init__(
        self,
        lms: Sequence[AnyModel],
        *,
        n_expected: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lms = tuple({id(lm_client_of(lm) or lm): lm for lm in lms}.values())
        self.n_expected = n_expected
        self.n_judged = self.n_kept = 0
        self.unscored: Counter[str] = Counter()
        self.counted: Callable[[], Usage] | None = None
        self._clock = clock
        self._lock = threading.Lock()
        self.began = clock()
        self._marks: deque[tuple[float, int]] = deque([(self.began, 0)])

    def judged(self, file: str, row: int, item: RatedItem, judgement: Judgement) -> None:
        """Count a row that was judged."""
        now = self._clock()
        with self._lock:
            self.n_judged += 1
            if judgement.score is None:
                self.unscored[str(judgement.reason)] += 1
            if now - self._marks[-1][0] >= _STEP:
                self._marks.append((now, self.n_judged))
            self._forget(now)

    def kept(self, n_rows: int) -> None:
        """Count rows that are not judged again."""
        with self._lock:
            self.n_kept += n_rows

    @property
    def n_rows(self) -> int:
        """Rows that are written."""
        return self.n_judged + self.n_kept

    @property
    def seconds(self) -> float:
        """How long the run has been under way."""
        return self._clock() - self.began

    @property
    def rate(self) -> float:
        """Rows judged a second over the last seconds; 0 where none was."""
        now = self._clock()
        with self._lock:
            self._forget(now)
            begun, n_before = self._marks[0]
            seconds = now - begun
            return (self.n_judged - n_before) / seconds if seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """How long the rows to come will take at this rate; None where that is unknown."""
        if self.n_expected is None or (rate := self.rate) <= 0:
            return None
        return max(self.n_expected - self.n_rows, 0) / rate

    @property
    def usage(self) -> Usage | None:
        """What went to the models since they were made; None where one is not ours."""
        if self.counted is not None:
            return self.counted()
        return usage_of(*self.lms)

    def unscored_now(self) -> dict[str, int]:
        """Return the rows without a score, by why."""
        with self._lock:
            return dict(self.unscored)

    def _forget(self, now: float) -> None:
        while len(self._marks) > 1 and now - self._marks[0][0] > _WINDOW:
            self._marks.popleft()

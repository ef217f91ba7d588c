"""The accounts of one run: what it may still spend, what it has spent, and for how long it runs."""

import threading
import time
from dataclasses import replace

from judgesmith.programs.models.budget import Budget, Meter, Spent, check
from judgesmith.programs.models.ledger import Ledger
from judgesmith.programs.models.ledger_writes import Claim
from judgesmith.programs.models.prices import Price
from judgesmith.programs.models.reserving import Reservations
from judgesmith.programs.models.unrecorded import Unrecorded


class Accounts:
    """Counts and claims of one run, over the store that all processes of the run share.

    A run begins with its first claim; one that continues has been at work for as long as the
    store says.

    Parameters
    ----------
    store : Ledger or Unrecorded
        Where the run's spending is kept.
    run_id : str
        What it is kept under.
    budget : Budget
        Ceilings for the run.
    price : Price or None
        Dollars per million tokens; None means unknown.

    Attributes
    ----------
    meter : Meter
        What went through since the accounts were opened.
    sums : Reservations
        What requests may cost, and what those in flight hold back.
    """

    def __init__(
        self, store: Ledger | Unrecorded, run_id: str, budget: Budget, price: Price | None
    ) -> None:
        self.meter = Meter(priced=price is not None)
        self.sums = Reservations(self.meter, price, budget)
        self._store = store
        self._run_id = run_id
        self._budget = budget
        self._lock = threading.Lock()
        self._run: int | None = None
        self._before: int | None = None
        self._began = 0.0

    @property
    def spent(self) -> Spent:
        """What the run has spent, earlier and other processes included."""
        return self._store.spent(self._run_id)

    @property
    def run(self) -> int:
        """The number of the run in the store, which does not begin it."""
        return self._store.run(self._run_id)

    @property
    def seconds(self) -> float:
        """How long the run has been at work, earlier processes included; 0 before it begins."""
        return time.monotonic() - self._began if self._run is not None else 0.0

    def claim(self, identity: bytes, *, tokens: int, usd: float) -> Claim:
        """Return the claim to send one request of this run; the first begins the run.

        Parameters
        ----------
        identity : bytes
            Of the request.
        tokens, usd : int and float
            What it holds back until its answer is there.
        """
        if self._run is None or self._before is None:
            self._begin()
        assert self._run is not None
        return Claim(
            identity=identity,
            run=self._run,
            budget=self._budget,
            tokens=tokens,
            usd=usd,
            seconds=self.seconds,
        )

    def check_time(self, wait: float) -> None:
        """Refuse to wait, in seconds, for a moment at which nothing may be sent any more.

        Raises
        ------
        BudgetSpent
            If the run's time, or anything else it may spend, is over by then.
        """
        minutes = (self.seconds + wait) / 60.0
        check(self._budget, replace(self.spent, minutes=minutes))

    def is_earlier(self, identity: bytes) -> bool:
        """Say whether an answer was on record before the run began."""
        if self._before is None:
            self._begin()
        assert self._before is not None
        return self._store.has_among(identity, self._before)

    def finish(self, *, anyway: bool = False) -> None:
        """Note that the run came to its end, if it was begun here."""
        with self._lock:
            if self._before is not None or anyway:
                self._store.finish(self._run_id)
            self._before = None

    def _begin(self) -> None:
        with self._lock:
            if self._before is None:
                self._before = self._store.begin(self._run_id)
            if self._run is None:
                earlier = 60.0 * self.spent.minutes
                self._began = time.monotonic() - earlier
                self._run = self._store.run(self._run_id)

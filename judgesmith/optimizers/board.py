"""A board on which workers that run the same search share out what it asks, item by item.

It is kept in the Optuna study of the search, so that its workers meet wherever that is kept, and
a storage has one study per search. A worker claims an item by adding a trial under the item's key:
the storage numbers trials one after the other, and the first that is running or has a result is
the claim that counts. The claim of a dead worker is failed, which a storage lets only one of the
others do, and the item is free again. An item that is done ends as a failed trial, too, as
samplers do not learn from failed trials.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesmith.errors import file_faults
from judgesmith.optimizers.proposing import ITEM
from judgesmith.optimizers.studies import Kept
from judgesmith.programs.lm.cache.store import Owners, owners_beside
from judgesmith.programs.lm.limits import STOPPING

if TYPE_CHECKING:
    import optuna

Claims = dict[str, int]
"""What this worker is to do: the storage's number of the claim, by item."""

_FOUND = "found"
"""Attribute of an item that is done: what came of it."""

Work = Callable[[Sequence[str]], dict[str, Any]]
"""From items to what came of each, ready for JSON."""


class Board:
    """Items that are each done by one worker, and whose results are read by all.

    Parameters
    ----------
    kept : Kept
        Where the study of the search is.
    name : str
        Of the study.
    beside : Path or None
        A file of this machine. Workers that name the same one know at once when one of them has
        ended; others wait until its claims have not been renewed for ``patience`` seconds.
    poll : float
        Seconds between two looks at what others have done: at first, and four times that at most.
    beat, patience : float
        Seconds after which claims are renewed, and after which one that was not is a dead
        worker's. What counts is how long it stands still here, so that no clocks are compared.

    Examples
    --------
    >>> from judgesmith.optimizers.studies import kept_in
    >>> board = Board(kept_in(None), "squares")
    >>> board.results([["3", "4"]], lambda items: {one: int(one) ** 2 for one in items})
    {'3': 9, '4': 16}
    >>> board.results([["4"]], lambda items: 1 / 0)
    {'4': 16}
    """

    @file_faults()
    def __init__(
        self,
        kept: Kept,
        name: str,
        *,
        beside: Path | None = None,
        poll: float = 0.05,
        beat: float = 5.0,
        patience: float = 30.0,
    ) -> None:
        self._study = kept.study(name)
        self._storage = kept.storage
        self._id = kept.storage.get_study_id_from_name(name)
        self.poll, self.beat, self.patience = poll, beat, patience
        self._owners: Owners | None = None
        self._place = ""
        self._number = _drawn()
        if beside is not None:
            beside.parent.mkdir(parents=True, exist_ok=True)
            self._owners = owners_beside(beside)
            self._number = self._owners.number(_drawn)
            file = beside.with_name(beside.name + "-owners").stat()
            self._place = f"{socket.gethostname()} {file.st_dev} {file.st_ino}"
        self._seen: dict[int, tuple[int, float]] = {}

    def results(
        self, groups: Sequence[Sequence[str]], work: Work, *, most: int = 1
    ) -> dict[str, Any]:
        """Return what came of every item, done here or by others.

        Parameters
        ----------
        groups : sequence of sequence of str
            Items; those of one group go well together.
        work : callable
            Does items of one group. What it raises is raised here, and its items are free again.
        most : int
            Items that are claimed at a time.
        """
        for claims in self._turns(groups, most):
            with self._holding(claims):
                found = work(list(claims))
            for item, claim in claims.items():
                self._publish(claim, found[item])
        keys = [item for group in groups for item in group]
        standing = self._standing()
        return {item: standing[item].user_attrs[_FOUND] for item in keys}

    @contextmanager
    def alone(self, item: str) -> Iterator[None]:
        """Let one worker go through the block first, and the others when it has.

        A block that fails counts as not gone through.
        """
        claims = next(self._turns([[item]], 1), None)
        if claims is None:
            yield
            return
        with self._holding(claims):
            yield
        self._publish(claims[item], None)

    def _turns(self, groups: Sequence[Sequence[str]], most: int) -> Iterator[Claims]:
        """Yield claims of this worker until all items are done by somebody."""
        pause = self.poll
        with STOPPING.attended():
            while True:
                STOPPING.check()
                standing = self._standing()
                open_ = [[one for one in group if not _is_done(standing, one)] for group in groups]
                left = [group for group in open_ if group]
                if not left:
                    return
                claims = self._claimed(left, standing, most)
                if claims:
                    yield claims
                    pause = self.poll
                else:
                    time.sleep(pause)
                    pause = min(2 * pause, 4 * self.poll)

    def _standing(self) -> dict[str, optuna.trial.FrozenTrial]:
        """Return the trial that counts of every item: the first that is running or done."""
        from optuna.trial import TrialState

        found: dict[str, optuna.trial.FrozenTrial] = {}
        for trial in self._study.get_trials(deepcopy=False):
            said = trial.user_attrs
            if ITEM in said and (trial.state != TrialState.FAIL or _FOUND in said):
                found.setdefault(said[ITEM], trial)
        return found

    def _claimed(
        self,
        groups: Sequence[Sequence[str]],
        standing: dict[str, optuna.trial.FrozenTrial],
        most: int,
    ) -> Claims:
        """Return what could be claimed of the first group that has anything free."""
        # Workers begin at different places, so that they seldom want the same.
        first = self._number % len(groups)
        for group in (*groups[first:], *groups[:first]):
            free = [one for one in group if one not in standing or self._buried(standing[one])]
            if free:
                break
        else:
            return {}
        mine = {one: self._add(one) for one in free[:most]}
        won = self._standing()
        for item, (claim, mark) in mine.items():
            if item not in won or won[item].user_attrs.get("mark") != mark:
                self._fail(claim)
        return {
            item: claim
            for item, (claim, mark) in mine.items()
            if item in won and won[item].user_attrs.get("mark") == mark
        }

    def _add(self, item: str) -> tuple[int, str]:
        from optuna.trial import TrialState, create_trial

        mark = uuid.uuid4().hex
        said = {ITEM: item, "mark": mark, "place": self._place, "number": self._number, "beat": 0}
        trial = create_trial(state=TrialState.RUNNING, user_attrs=said)
        return self._storage.create_new_trial(self._id, trial), mark

    def _buried(self, trial: optuna.trial.FrozenTrial) -> bool:
        """Say whether a claim is a dead worker's, and free its item if so."""
        said = trial.user_attrs
        same_place = bool(self._place) and said["place"] == self._place
        dead = same_place and self._owners is not None and not self._owners.alive(said["number"])
        seen = self._seen.get(trial.number)
        if seen is None or seen[0] != said["beat"]:
            self._seen[trial.number] = seen = (said["beat"], time.monotonic())
        if dead or time.monotonic() - seen[1] > self.patience:
            number = trial.number
            self._fail(self._storage.get_trial_id_from_study_id_trial_number(self._id, number))
            return True
        return False

    def _fail(self, claim: int) -> None:
        from optuna.exceptions import UpdateFinishedTrialError
        from optuna.trial import TrialState

        with contextlib.suppress(UpdateFinishedTrialError):
            self._storage.set_trial_state_values(claim, TrialState.FAIL)

    def _publish(self, claim: int, found: Any) -> None:
        """Show what came of an item, unless others took it for abandoned: then theirs counts."""
        from optuna.exceptions import UpdateFinishedTrialError
        from optuna.trial import TrialState

        with contextlib.suppress(UpdateFinishedTrialError):
            self._storage.set_trial_user_attr(claim, _FOUND, found)
            self._storage.set_trial_state_values(claim, TrialState.FAIL)

    @contextmanager
    def _holding(self, claims: Claims) -> Iterator[None]:
        """Renew claims while the block runs, and free their items if it fails."""
        ended = threading.Event()

        def beat() -> None:
            n = 0
            while not ended.wait(self.beat):
                n += 1
                for claim in claims.values():
                    # A storage that is out of reach for a moment is no reason to stop working.
                    with contextlib.suppress(Exception):
                        self._storage.set_trial_user_attr(claim, "beat", n)

        thread = threading.Thread(target=beat, name="judgesmith-board", daemon=True)
        thread.start()
        try:
            yield
        except BaseException:
            for claim in claims.values():
                with contextlib.suppress(Exception):
                    self._fail(claim)
            raise
        finally:
            ended.set()
            thread.join()


def _is_done(standing: dict[str, optuna.trial.FrozenTrial], item: str) -> bool:
    return item in standing and standing[item].state.is_finished()


def _drawn() -> int:
    return uuid.uuid4().int >> 80

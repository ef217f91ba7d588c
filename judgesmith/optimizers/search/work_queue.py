"""Workers that run the same search share out what it asks, on a board."""

from __future__ import annotations

import hashlib
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.errors import file_faults
from judgesmith.optimizers.search.racing import OutOfBudget, WorkSharing
from judgesmith.optimizers.space.candidates import Candidates, JudgeOnRows, Said
from judgesmith.optimizers.space.proposing import ITEM
from judgesmith.optimizers.storage import StudyStorage
from judgesmith.programs.judging.runner import is_unread, read_rate_of
from judgesmith.programs.lm.cache.store import Owners, owners_beside
from judgesmith.programs.lm.limits import STOPPING
from judgesmith.signatures.judgement import CriterionScore, Judgement

if TYPE_CHECKING:
    import optuna


Claims = dict[str, int]  # what this worker is to do: the storage's number of the claim, by item
_FOUND = "found"  # attribute of an item that is done: what came of it
Work = Callable[[Sequence[str]], dict[str, Any]]  # from items to what came of each, ready for JSON


class WorkQueue:
    @file_faults()
    def __init__(
        self,
        kept: StudyStorage,
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
        for claims in self._turns(groups, most):
            with self._holding(claims):
                found = work(list(claims))
            for item, claim in claims.items():
                self._fail(claim, **{_FOUND: found[item]})
        keys = [item for group in groups for item in group]
        standing = self._standing()
        return {item: standing[item].user_attrs[_FOUND] for item in keys}

    @contextmanager
    def alone(self, item: str) -> Iterator[None]:
        """Let one worker go through the block first, and the others when it has."""
        claims = next(self._turns([[item]], 1), None)
        if claims is None:
            yield
            return
        with self._holding(claims):
            yield
        self._fail(claims[item], **{_FOUND: None})

    def _turns(self, groups: Sequence[Sequence[str]], most: int) -> Iterator[Claims]:
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
        claims = {}
        for item, (claim, mark) in mine.items():
            if item in won and won[item].user_attrs.get("mark") == mark:
                claims[item] = claim
            else:
                self._fail(claim)
        return claims

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

    def _fail(self, claim: int, **attributes: Any) -> None:
        """End a claim, unless others took it for abandoned."""
        from optuna.exceptions import UpdateFinishedTrialError
        from optuna.trial import TrialState

        with suppress(UpdateFinishedTrialError):
            for name, value in attributes.items():
                self._storage.set_trial_user_attr(claim, name, value)
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
                    with suppress(Exception):
                        self._storage.set_trial_user_attr(claim, "beat", n)

        thread = threading.Thread(target=beat, name="judgesmith-board", daemon=True)
        thread.start()
        try:
            yield
        except BaseException:
            for claim in claims.values():
                with suppress(Exception):
                    self._fail(claim)
            raise
        finally:
            ended.set()
            thread.join()


def _is_done(standing: dict[str, optuna.trial.FrozenTrial], item: str) -> bool:
    return item in standing and standing[item].state.is_finished()


def _drawn() -> int:
    return uuid.uuid4().int >> 80


ROWS = 8
"""Rows of an item at most, of which a worker claims as many as it judges at a time.

Small, so that workers end a look together; all must agree on it."""

_VERSIONS = "versions"  # where the board has what was said of a row's changed versions


@dataclass(frozen=True, eq=False)
class _Item:
    judge: JudgeOnRows
    rows: Sequence[int]

    @property
    def id(self) -> str:
        texts = "".join(self.judge.rows.items[row].key for row in self.rows)
        whole = f"{self.judge.known} {hashlib.sha256(texts.encode()).hexdigest()}"
        return hashlib.sha256(whole.encode()).hexdigest()[:24]


@dataclass(frozen=True, eq=False)
class SharedJudging(WorkSharing[JudgeOnRows]):
    board: WorkQueue
    candidates: Candidates

    def alone(self, what: str) -> AbstractContextManager[None]:
        return self.board.alone(what)

    def made(self, configurations: Sequence[Mapping[str, str]]) -> None:
        running = [self.candidates.on_pool(picked) for picked in configurations]
        rows = range(len(self.candidates.pool))
        self._share([(one, rows) for one in running if one is not None], words=True)

    def judged(self, candidates: Sequence[JudgeOnRows], rows: Sequence[int]) -> None:
        self._share([(one, rows) for one in candidates], words=False)

    def _share(self, wanted: Iterable[tuple[JudgeOnRows, Sequence[int]]], *, words: bool) -> None:
        groups: dict[str, list[_Item]] = {}
        for judge, rows in wanted:
            groups[judge.known] = [_Item(judge, part) for part in parted(judge.missing(rows))]
        items = {one.id: one for group in groups.values() for one in group}

        def work(ids: Sequence[str]) -> dict[str, Any]:
            parts = [items[one].rows for one in ids]
            judge = items[ids[0]].judge
            found, usd = judge.ask([row for part in parts for row in part])
            plain = [_plain_row(said, words=words) for said in found]
            results: dict[str, Any] = {}
            for id_, part in zip(ids, parts, strict=True):
                results[id_] = {"said": plain[: len(part)], "usd": list(usd[: len(part)])}
                plain, usd = plain[len(part) :], usd[len(part) :]
            return results

        most = max(1, self.candidates.asking.concurrency // ROWS)
        # What the budget did not reach is asked for in its turn, and then ends the search.
        with suppress(OutOfBudget):
            results = self.board.results(
                [[one.id for one in group] for group in groups.values()], work, most=most
            )
            for id_, one in items.items():
                _take(one, results[id_])


def parted(rows: Sequence[int]) -> list[Sequence[int]]:
    """Return rows in parts of ``ROWS`` at most, as equal as they can be."""
    if not rows:
        return []
    parts = np.array_split(np.asarray(rows), -(-len(rows) // ROWS))
    return [part.tolist() for part in parts]


def _take(item: _Item, result: Mapping[str, Any]) -> None:
    answered = [place for place, one in enumerate(result["said"]) if one is not None]
    said = [_row_of(result["said"][place]) for place in answered]
    usd = [result["usd"][place] for place in answered] if result["usd"] else ()
    item.judge.take([item.rows[place] for place in answered], said, usd)
    # A model that others could read is no garbage, however this worker's first prompts fare.
    readable = read_rate_of(item.judge.asking.lm)
    for one in (one for several in said for one in several):
        if not is_unread(one):
            readable.add(one)


def _plain_row(said: Said, *, words: bool) -> dict[str, Any] | None:
    """Return what is said of a row and its changed versions; None without an answer to each."""
    plain = [_plain(one, words=words) for one in said]
    if plain[0] is None or None in plain:
        return None
    return plain[0] if len(plain) == 1 else {**plain[0], _VERSIONS: plain[1:]}


def _row_of(plain: Mapping[str, Any]) -> tuple[Judgement, ...]:
    own = {name: value for name, value in plain.items() if name != _VERSIONS}
    return tuple(map(Judgement.model_validate, (own, *plain.get(_VERSIONS, ()))))


def _plain(judgement: Judgement, *, words: bool) -> dict[str, Any] | None:
    """Return a judgement for the board: without its words where only scores are compared."""
    if judgement.problem is not None and not judgement.calls:
        return None
    if not words:
        scores = {name: CriterionScore(score=one.score) for name, one in judgement.criteria.items()}
        judgement = judgement.model_copy(
            update={"explanation": "", "criteria": scores, "errors": ()}
        )
    code = {"reason"} if judgement.reason is None else None
    return judgement.model_dump(mode="json", exclude=code, exclude_defaults=True)

"""Where the memory of a search is kept: an Optuna study in memory, a file or a database."""

from __future__ import annotations

import fcntl
import os
import time
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from judgesmith.errors import InputError, JudgesmithError, file_faults
from judgesmith.optimizers.space.proposing import EXPECTED, ITEM

if TYPE_CHECKING:
    import optuna


_BLOCK = 1 << 16  # bytes read at a time, from the end

ENOUGH_TRIALS = 20  # with fewer trials nothing is said about what mattered


@file_faults()
def journal_storage(path: Path) -> optuna.storages.JournalStorage:
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    path.parent.mkdir(parents=True, exist_ok=True)
    lock: Any = JournalLock(path)
    try:
        lock.acquire()
    except OSError:
        if not path.exists():
            raise
        lock = None  # a file system without locks: Optuna's way is better than none
    else:
        lock.release()
    return JournalStorage(JournalFileBackend(str(path), lock_obj=cast("Any", lock)))


class JournalLock:
    r"""A lock on the journal itself, as Optuna's journals ask for one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    @file_faults()
    def acquire(self) -> bool:
        """Wait until no other process writes, and repair what the last one may have left."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            whole = _whole_lines(descriptor)
            if whole < os.fstat(descriptor).st_size:
                os.ftruncate(descriptor, whole)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _whole_lines(descriptor: int) -> int:
    end = os.fstat(descriptor).st_size
    if end == 0 or os.pread(descriptor, 1, end - 1) == b"\n":
        return end
    while end > 0:
        start = max(end - _BLOCK, 0)
        place = os.pread(descriptor, end - start, start).rfind(b"\n")
        if place >= 0:
            return start + place + 1
        end = start
    return 0


class StorageError(JudgesmithError, ConnectionError):
    """A database of searches that does not answer any more."""


@dataclass(frozen=True, eq=False)
class StudyStorage:
    storage: optuna.storages.BaseStorage

    def study(self, name: str, *, n_objectives: int = 1) -> optuna.Study:
        import optuna

        with quiet():
            return optuna.create_study(
                storage=self.storage,
                study_name=name,
                directions=["maximize"] * n_objectives,
                load_if_exists=True,
            )


def open_storage(storage: str | Path | None) -> StudyStorage:
    import optuna

    if storage is None:
        return StudyStorage(optuna.storages.InMemoryStorage())
    if isinstance(storage, Path) or "://" not in storage:
        return StudyStorage(journal_storage(Path(storage)))
    return StudyStorage(_database(storage))


def check_storage(url: str) -> None:
    """Refuse a database that cannot be used, without repeating what its address gives away."""
    import sqlalchemy.exc

    if "://" not in url:
        raise InputError(
            "a storage is the URL of a database, such as postgresql://host/name.",
            hint="leave it out to keep the study in a file beside the ledger.",
        )
    scheme = url.split("://", maxsplit=1)[0]
    try:
        _database(url)
        return
    except (ImportError, sqlalchemy.exc.NoSuchModuleError):
        remedy = "take a postgresql:// one."
        if scheme.startswith("postgresql"):
            remedy = "run pip install 'judgesmith[postgres]'."
        problem = f"there is no driver for {scheme} databases here; {remedy}"
    except Exception:  # every driver raises faults of its own, some of which tell the address
        problem = (
            f"the {scheme} database does not answer, or not as it should; check its address, and "
            "who may use it."
        )
    raise InputError(problem)


@contextmanager
def reachable() -> Iterator[None]:
    """Say of a database that is gone in the block that it is, and nothing of its address."""
    import optuna

    try:
        yield
    except optuna.exceptions.StorageInternalError:
        raise StorageError(
            "storage: the database does not answer as it should any more, and every answer is "
            "cached: make it answer, and give the same command again."
        ) from None  # what was raised may tell the address


def _database(url: str) -> optuna.storages.RDBStorage:
    """Return the storage in a database; its tables are made where there are none."""
    import optuna
    import sqlalchemy.exc

    expected = (
        optuna.exceptions.StorageInternalError,
        sqlalchemy.exc.IntegrityError,
        sqlalchemy.exc.ProgrammingError,
    )
    for pause in (0.2, 0.4, 0.8, 1.6, None):
        try:
            with quiet():
                # A connection that was idle for the length of a long judgement may be gone.
                kept = optuna.storages.RDBStorage(url, engine_kwargs={"pool_pre_ping": True})
            # With the storage, or at the latest with the process, its connections are closed.
            weakref.finalize(kept, kept.engine.dispose)
            return kept
        except expected:
            if pause is None:
                raise
            time.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


def importances(study: optuna.Study, objective: int = 0) -> dict[str, float]:
    import optuna

    trials = _with_values(study)
    if len(trials) < ENOUGH_TRIALS or len({one.values[objective] for one in trials}) == 1:
        return {}
    with quiet(), warnings.catch_warnings():
        study = optuna.create_study(directions=study.directions)
        study.add_trials(trials)
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        warnings.filterwarnings("ignore", "PedAnovaImportanceEvaluator computes", UserWarning)
        evaluator = optuna.importance.PedAnovaImportanceEvaluator()
        found = optuna.importance.get_param_importances(
            study,
            evaluator=evaluator,
            # The best of several values are those that are lowest with their sign turned.
            target=None
            if len(study.directions) == 1
            else lambda trial: -float(trial.values[objective]),
        )
    return dict(found)


def _with_values(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    from optuna.trial import TrialState, create_trial

    found = []
    for one in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED)):
        values = one.values if one.state == TrialState.COMPLETE else one.user_attrs.get(EXPECTED)
        if values is not None and ITEM not in one.user_attrs:
            found.append(
                create_trial(params=one.params, distributions=one.distributions, values=values)
            )
    return found


@contextmanager
def quiet() -> Iterator[None]:
    import optuna

    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(level)

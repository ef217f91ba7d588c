"""Where the memory of a search is kept: an Optuna study in memory, a file or a database."""

from __future__ import annotations

import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from judgesmith.errors import InputError, JudgesmithError
from judgesmith.optimizers.proposing import EXPECTED, ITEM

if TYPE_CHECKING:
    import optuna


class StorageError(JudgesmithError, ConnectionError):
    """A database of searches that does not answer any more."""


ENOUGH_TRIALS = 20
"""With fewer trials nothing is said about what mattered."""


@dataclass(frozen=True, eq=False)
class Kept:
    """Where studies are kept.

    Attributes
    ----------
    storage : optuna.storages.BaseStorage
        In memory, in a file or in a database.
    """

    storage: optuna.storages.BaseStorage

    def study(self, name: str, *, n_objectives: int = 1) -> optuna.Study:
        """Return the study of that name, to be maximised: new, or as it was left.

        Parameters
        ----------
        name : str
            What tells it from others in the same storage.
        n_objectives : int
            Values per trial.
        """
        import optuna

        with quiet():
            return optuna.create_study(
                storage=self.storage,
                study_name=name,
                directions=["maximize"] * n_objectives,
                load_if_exists=True,
            )


def kept_in(storage: str | Path | None) -> Kept:
    """Return where studies are kept.

    Parameters
    ----------
    storage : str, Path or None
        A file (an Optuna journal, whose folder is made), the URL of a database, or None for
        memory.
    """
    import optuna

    from judgesmith.optimizers.journals import journal_storage

    if storage is None:
        return Kept(optuna.storages.InMemoryStorage())
    if isinstance(storage, Path) or "://" not in storage:
        return Kept(journal_storage(Path(storage)))
    return Kept(_database(storage))


def study_of(storage: str | Path | None, name: str, *, n_objectives: int = 1) -> optuna.Study:
    """Return the study of that name: see ``kept_in`` and ``Kept.study``."""
    return kept_in(storage).study(name, n_objectives=n_objectives)


def check_storage(url: str) -> None:
    """Refuse a database that cannot be used, without repeating what its address gives away.

    Raises
    ------
    ValueError
        If the address is none, its driver is not installed, or nobody answers there.
    """
    import sqlalchemy.exc

    if "://" not in url:
        raise InputError(
            "a storage is the URL of a database, such as postgresql://host/name; leave it out to "
            "keep the study in a file beside the ledger."
        )
    scheme = url.split("://", maxsplit=1)[0]
    try:
        _database(url)
        return
    except (ImportError, sqlalchemy.exc.NoSuchModuleError):
        ours = scheme.startswith("postgresql")
        problem = f"there is no driver for {scheme} databases here; " + (
            "run pip install 'judgesmith[postgres]'." if ours else "take a postgresql:// one."
        )
    except Exception:  # every driver raises faults of its own, some of which tell the address
        problem = (
            f"the {scheme} database does not answer, or not as it should; check its address, and "
            "who may use it."
        )
    raise InputError(problem)


@contextmanager
def reachable() -> Iterator[None]:
    """Say of a database that is gone in the block that it is, and nothing of its address.

    Raises
    ------
    StorageError
        If it is.
    """
    import optuna

    try:
        yield
    except optuna.exceptions.StorageInternalError:
        raise StorageError(
            "storage: the database does not answer as it should any more, and every answer is on "
            "record: make it answer, and give the same command again."
        ) from None  # what was raised may tell the address


def _database(url: str) -> optuna.storages.RDBStorage:
    """Return the storage in a database; its tables are made where there are none.

    Two workers that come at the same moment make the same tables, and one of them is told so.
    """
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
    """Return how much each choice had to do with being among the best.

    Shares that sum to 1, largest first, by PED-ANOVA over the trials with a value in which a
    choice arose; empty with fewer than ``ENOUGH_TRIALS``, or where all are equal. A pruned trial
    counts with the value that it was expected to come to. Trials were
    proposed where the sampler hoped for more, so that this describes the search rather than the
    space.

    Parameters
    ----------
    study : optuna.Study
        Of a search that has ended.
    objective : int
        Place of the objective that the best are best on, where there are several.

    References
    ----------
    Watanabe, Bansal and Hutter (2023), "PED-ANOVA: Efficiently Quantifying Hyperparameter
    Importance in Arbitrary Subspaces", IJCAI. arXiv:2304.10255.
    """
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
            target=None if len(study.directions) == 1 else _turned(objective),
        )
    return dict(found)


def _with_values(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    """Return the trials of a study with a value, pruned ones as if they had come to theirs."""
    from optuna.trial import TrialState, create_trial

    found = []
    for one in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED)):
        values = one.values if one.state == TrialState.COMPLETE else one.user_attrs.get(EXPECTED)
        if values is not None and ITEM not in one.user_attrs:
            found.append(
                create_trial(params=one.params, distributions=one.distributions, values=values)
            )
    return found


def _turned(objective: int) -> Callable[[optuna.trial.FrozenTrial], float]:
    """Return one of several values with its sign turned: there the best are the lowest."""

    def value(trial: optuna.trial.FrozenTrial) -> float:
        return -float(trial.values[objective])

    return value


@contextmanager
def quiet() -> Iterator[None]:
    """Let Optuna say nothing of what goes as it should."""
    import optuna

    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(level)

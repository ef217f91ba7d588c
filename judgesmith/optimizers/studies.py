"""Where the memory of a search is kept: an Optuna study in memory, a file or a database."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import optuna

ENOUGH_TRIALS = 20
"""With fewer trials nothing is said about what mattered."""


def study_of(storage: str | Path | None, name: str, *, n_objectives: int = 1) -> optuna.Study:
    """Return the study of that name, to be maximised: new, or as it was left.

    Parameters
    ----------
    storage : str, Path or None
        A file (an Optuna journal, whose folder is made), the URL of a database, or None for
        memory.
    name : str
        What tells it from others in the same storage.
    n_objectives : int
        Values per trial.
    """
    import optuna
    from optuna.storages.journal import JournalFileBackend

    kept: Any = storage
    if isinstance(storage, Path) or (storage is not None and "://" not in storage):
        Path(storage).parent.mkdir(parents=True, exist_ok=True)
        kept = optuna.storages.JournalStorage(JournalFileBackend(str(storage)))
    with quiet():
        return optuna.create_study(
            storage=kept,
            study_name=name,
            directions=["maximize"] * n_objectives,
            load_if_exists=True,
        )


def check_storage(url: str) -> None:
    """Refuse a database that cannot be used, without repeating what its address gives away.

    Raises
    ------
    ValueError
        If the address is none, its driver is not installed, or nobody answers there.
    """
    import optuna

    if "://" not in url:
        raise ValueError(
            "a storage is the URL of a database, such as postgresql://host/name; without one the "
            "study is kept in a file beside the ledger."
        )
    try:
        with quiet():
            optuna.storages.RDBStorage(url)
    except Exception as fault:  # every driver raises faults of its own
        scheme = url.split("://", maxsplit=1)[0]
        raise ValueError(
            f"the {scheme} database cannot be used ({type(fault).__name__}); check its address, "
            "that it answers, and that its driver is installed."
        ) from None


def importances(study: optuna.Study, objective: int = 0) -> dict[str, float]:
    """Return how much each choice had to do with being among the best.

    Shares that sum to 1, largest first, by PED-ANOVA over the trials with a value in which a
    choice arose; empty with fewer than ``ENOUGH_TRIALS``. Trials were proposed where the sampler
    hoped for more, so that this describes the search rather than the space.

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
    from optuna.trial import TrialState

    if len(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))) < ENOUGH_TRIALS:
        return {}
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        evaluator = optuna.importance.PedAnovaImportanceEvaluator()
        found = optuna.importance.get_param_importances(
            study,
            evaluator=evaluator,
            target=None if len(study.directions) == 1 else _at(objective),
        )
    return dict(found)


def _at(objective: int) -> Callable[[optuna.trial.FrozenTrial], float]:
    def value(trial: optuna.trial.FrozenTrial) -> float:
        return float(trial.values[objective])

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

"""Where the memory of a search is kept: an Optuna study in memory, a file or a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import optuna


def study_of(storage: str | Path | None, name: str) -> optuna.Study:
    """Return the study of that name, to be maximised: new, or as it was left.

    Parameters
    ----------
    storage : str, Path or None
        A file (an Optuna journal, whose folder is made), the URL of a database, or None for
        memory.
    name : str
        What tells it from others in the same storage.
    """
    import optuna
    from optuna.storages.journal import JournalFileBackend

    kept: Any = storage
    if isinstance(storage, Path) or (storage is not None and "://" not in storage):
        Path(storage).parent.mkdir(parents=True, exist_ok=True)
        kept = optuna.storages.JournalStorage(JournalFileBackend(str(storage)))
    with quiet():
        return optuna.create_study(
            storage=kept, study_name=name, direction="maximize", load_if_exists=True
        )


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

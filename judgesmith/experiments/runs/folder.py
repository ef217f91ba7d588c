"""The folder of a run: plain files, each whole or not there, that say what is done."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, Self

from judgesmith.drafts import draft_beside, put, put_text, tidy_within, write_synced
from judgesmith.errors import ExistingFileError, file_faults
from judgesmith.experiments.run_folders import json_object_in, json_text
from judgesmith.experiments.runs.cell_result import changed, kept_object, kept_result, kept_scores
from judgesmith.experiments.runs.claims import is_anyone_at_work
from judgesmith.experiments.specs import Spec, cells_of
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import SavedPanel
from judgesmith.signatures.plain_data import json_line

SPEC_FILE = "spec.yaml"
LOG_FILE = "log.jsonl"
RESULT, SCORES, JUDGE, USAGE = "result.json", "scores.jsonl", "judge", "usage.json"
FAILED = "failed.json"
BOARD_FILES = tuple(f"leaderboard.{kind}" for kind in ("md", "csv", "json", "tex"))
SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKind:
    """What a folder has the run of: its name, the file that says so, and the files of its end."""

    name: str
    record: str
    other: str  # the run of another one, in a refusal
    files: tuple[str, ...]


EXPERIMENT = RunKind(
    name="experiment",
    record="run.json",
    other="the run of another specification",
    files=BOARD_FILES,
)


class AnyCell(Protocol):
    """What is made once: a cell of an experiment, or a row of an ablation."""

    @property
    def id(self) -> str: ...

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Made:
    """What a cell came to."""

    result: Mapping[str, Any]
    scores: Sequence[Mapping[str, Any]]
    saved: SavedJudge | SavedPanel | None
    usage: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFailure:
    """Why a cell came to nothing."""

    reason: str
    kind: str
    stamp: int


class RunFolder:
    """The folder of one run.

    A file names the run and its cells. What a cell came to stands under ``cells``, put there as a
    whole; a cell that failed has a file there that says why. ``run`` None asks no questions.
    """

    def __init__(self, path: Path, *, run: str | None = None, kind: RunKind = EXPERIMENT) -> None:
        self.path = path
        self.run = run
        self.kind = kind
        self.stated: Mapping[str, Any] = {}
        self._checked: tuple[int, int, int] | None = None

    @classmethod
    def of_spec(
        cls, path: str | Path, spec: Spec, *, text: str = "", overwrite: bool = False
    ) -> Self:
        """Return the folder of an experiment; see ``opened``."""
        return cls.opened(
            path,
            spec.fingerprint,
            name=spec.name,
            cells=cells_of(spec),
            text=text,
            overwrite=overwrite,
        )

    @classmethod
    @file_faults()
    def opened(
        cls,
        path: str | Path,
        run: str,
        *,
        name: str,
        cells: Iterable[AnyCell],
        kind: RunKind = EXPERIMENT,
        extra: Mapping[str, Any] | None = None,
        text: str | None = None,
        overwrite: bool = False,
        restart: bool = False,
    ) -> Self:
        """Return the folder of a run, which is made if it is not there.

        Parameters
        ----------
        path : str or Path
            In a folder that is there.
        run, name : str
            Fingerprint of what is run, and what it is called.
        cells : iterable of AnyCell
            What is to be made.
        extra : dict or None
            What else is stated of the run when it begins; a run that resumes keeps it.
        text : str or None
            The specification as given, which is kept next to the results.
        overwrite, restart : bool
            True takes everything but answers out that another run, or this run, has left there.

        Raises
        ------
        FileExistsError
            If the folder holds something else, or another run that may not be overwritten or that
            somebody is at work on.
        """
        place = Path(path).resolve()
        found = check_run(place, run, kind=kind, overwrite=overwrite)
        if found and (restart or found.get("run") != run):
            _clear(place, kind)
            found = {}
        place.mkdir(exist_ok=True)
        versions = [*other_versions(found), version("judgesmith")]
        content = {
            "schema": SCHEMA,
            "run": run,
            "name": name,
            "version": versions[-1],
            **({"versions": versions} if len(versions) > 1 else {}),
            **{key: found.get(key, value) for key, value in (extra or {}).items()},
            "cells": [cell.to_dict() for cell in cells],
        }
        folder = cls(place, run=run, kind=kind)
        folder.stated = content
        folder.write(kind.record, json_text(content))
        if text is not None:
            folder.write(SPEC_FILE, text)
        (place / "cells").mkdir(exist_ok=True)
        # All that can have been replaced here is the record of a failure.
        tidy_within(place / "cells", replaced=True)
        (place / "claims").mkdir(exist_ok=True)
        return folder

    @property
    def ledger(self) -> Path:
        """Where answers are kept."""
        return self.path / "ledger.sqlite"

    def place_of(self, cell: AnyCell) -> Path:
        """Return the folder of a cell."""
        return self.path / "cells" / cell.id

    def claim_of(self, cell: AnyCell) -> Path:
        """Return the file by which a cell is claimed."""
        return self.path / "claims" / cell.id

    def is_finished(self, cell: AnyCell) -> bool:
        """Say whether a cell need not be run again."""
        return (self.place_of(cell) / RESULT).is_file()

    def result(self, cell: AnyCell) -> dict[str, Any] | None:
        """Return what a cell came to, with what it took under ``usage``; None as long as nothing.

        Raises
        ------
        ValueError
            If a file was changed since.
        """
        place = self.place_of(cell) / RESULT
        if not place.is_file():
            return None
        usage = place.with_name(USAGE)
        return {
            **kept_result(place, schema=SCHEMA)[0],
            "usage": kept_object(usage) if usage.is_file() else None,
        }

    def scores(self, cell: AnyCell) -> list[dict[str, Any]]:
        """Return the rows of a finished cell.

        Raises
        ------
        ValueError
            If the file was changed since, is gone, or has other rows than the result states.
        """
        own = self.place_of(cell)
        rows = kept_result(own / RESULT, schema=SCHEMA)[1].rows
        place = own / SCORES
        if not place.is_file():
            raise changed(place, "the file is gone")
        return kept_scores(place, n_heldout=rows.heldout, n_unscored=rows.unscored)

    def failure(self, cell: AnyCell) -> CellFailure | None:
        """Return why a cell failed when it was last run; None where it did not."""
        place = self.place_of(cell) / FAILED
        try:
            stamp = place.stat().st_mtime_ns
            found = json.loads(place.read_text(encoding="utf-8"))
            return CellFailure(reason=str(found["reason"]), kind=str(found["kind"]), stamp=stamp)
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None

    def keep(self, cell: AnyCell, made: Made) -> None:
        """Put what a cell came to in its place, all of it at once."""
        self.check_own()
        with self._draft_of(cell) as draft:
            if made.saved is not None:
                made.saved.save(draft / JUDGE)
            write_synced(draft / SCORES, "".join(map(json_line, made.scores)))
            write_synced(draft / USAGE, json_text(made.usage))
            write_synced(draft / RESULT, json_text({"schema": SCHEMA, **made.result}))
            put(draft, self.place_of(cell))

    def fail(self, cell: AnyCell, reason: str, *, kind: str) -> None:
        """Keep why a cell came to nothing."""
        self.check_own()
        with self._draft_of(cell) as draft:
            content = {"schema": SCHEMA, "cell": cell.to_dict(), "kind": kind, "reason": reason}
            write_synced(draft / FAILED, json_text(content))
            put(draft, self.place_of(cell))

    def check_own(self) -> None:
        """Refuse to continue if the folder was given to another run meanwhile.

        Raises
        ------
        FileExistsError
            If it was.
        """
        if self.run is None:
            return
        # The file lists every cell: it is read again only where it was put there anew.
        mark = _mark(self.path / self.kind.record)
        if mark is None or mark != self._checked:
            check_run(self.path, self.run, kind=self.kind)
            self._checked = mark

    def _draft_of(self, cell: AnyCell) -> AbstractContextManager[Path]:
        """Make a folder to be put in a cell's place; not next to the other cells."""
        return draft_beside(self.path / cell.id, folder=True)

    @file_faults()
    def log(self, event: Mapping[str, Any]) -> None:
        """Add what happened, and when, to ``log.jsonl``: a line that no other worker's tears."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        line = json_line({"time": now, "worker": os.getpid(), **event}).encode()
        descriptor = os.open(
            self.path / LOG_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666
        )
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)

    @file_faults()
    def write(self, name: str, text: str) -> None:
        """Write a file of the run, unless it says just that."""
        place = self.path / name
        if place.is_file() and place.read_text(encoding="utf-8", errors="replace") == text:
            return
        put_text(place, text)


def check_run(
    folder: Path, run: str, *, kind: RunKind = EXPERIMENT, overwrite: bool = False
) -> dict[str, Any]:
    """Return what the first file of a run says, nothing where no run was begun.

    Raises
    ------
    FileExistsError
        If the folder holds something else, or another run that may not be overwritten or that
        somebody is at work on.
    """
    if not folder.exists() or _is_blank(folder, kind.record):
        return {}
    found = json_object_in(folder / kind.record)
    if found is None or found.get("schema") != SCHEMA or "cells" not in found:
        which = "" if found is None else " of this version"
        raise ExistingFileError(
            f"{folder} is there and holds no {kind.name}{which}.", hint="name another folder."
        )
    if found.get("run") == run:
        return found
    other = f"{folder} holds {kind.other} ({found.get('run')}, this is {run})"
    if not overwrite:
        raise ExistingFileError(
            f"{other}.", hint="name another folder, or replace it with --force."
        )
    if is_anyone_at_work(folder / "claims"):
        raise ExistingFileError(
            f"{other}, and a process is at work on it.",
            hint="wait for its end, or name another folder.",
        )
    return found


@file_faults()
def _is_blank(folder: Path, record: str) -> bool:
    """Say whether a folder is empty, but for what a killed process left of its first file."""
    drafts = f".{record}-"
    return folder.is_dir() and all(one.name.startswith(drafts) for one in folder.iterdir())


def other_versions(found: Mapping[str, Any]) -> list[str]:
    """Return the versions of Judgesmith, but for this one, that have worked on a run."""
    told = found.get("versions", [found.get("version")])
    known = [str(one)[:40] for one in (told if isinstance(told, list) else []) if one]
    return [one for one in dict.fromkeys(known) if one != version("judgesmith")]


def _mark(place: Path) -> tuple[int, int, int] | None:
    """Return what differs once a file was replaced; None where there is no such file."""
    try:
        found = place.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


@file_faults()
def _clear(folder: Path, kind: RunKind) -> None:
    """Take out what a run writes, but for the answers, and nothing else."""
    # Results first: what is left after a kill has none, and is made again.
    for result in (folder / "cells").glob(f"*/{RESULT}"):
        result.unlink()
    for name in ("cells", "searches", "claims"):
        if (folder / name).is_dir():
            shutil.rmtree(folder / name)
    for name in (*kind.files, LOG_FILE):
        (folder / name).unlink(missing_ok=True)

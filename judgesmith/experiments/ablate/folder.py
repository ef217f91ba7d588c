"""Where the rows of an ablation are kept: each one as soon as it is made, whole or not at all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from judgesmith.drafts import put_text
from judgesmith.errors import InputError, file_faults
from judgesmith.experiments.ablate.rows import BLOCKS, ROWS, PlannedRow
from judgesmith.experiments.run_folders import begun_in, json_text
from judgesmith.experiments.tables import Table
from judgesmith.programs.artifacts.saved import SavedJudge

RUN_FILE = "ablation.json"
TABLE_FILES = ("table.json", "table.csv", "table.md", "calls.csv")
SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCalls:
    """What it took to make a row."""

    new: int
    recorded: int


@dataclass(frozen=True, kw_only=True, eq=False)
class FinishedRow:
    """A row that need not be made again.

    ``calls``: None for models that do not count.
    """

    saved: SavedJudge
    heldout: tuple[tuple[str, float | None], ...]
    calls: RowCalls | None
    spent: int


class AblationFolder:
    """The folder of one run.

    ``ablation.json`` names the run. Under each block every finished row has a judge's folder and
    a file of the same name in ``.json``, which is written last and says that the row is whole.
    """

    def __init__(self, path: Path, *, spent: int) -> None:
        self.path = path
        self.spent = spent

    @classmethod
    @file_faults()
    def opened(cls, path: str | Path, run: str, *, spent: int = 0, overwrite: bool = False) -> Self:
        """Return the folder of a run, which is made if it is not there."""
        place = Path(path).resolve()
        found = check_ablation(place, run, overwrite=overwrite)
        if found and not overwrite:
            return cls(place, spent=int(found.get("spent", 0)))
        _clear(place)
        place.mkdir(exist_ok=True)
        put_text(place / RUN_FILE, json_text({"schema": SCHEMA, "run": run, "spent": spent}))
        return cls(place, spent=spent)

    @file_faults()
    def load(self, row: PlannedRow, run: str) -> FinishedRow | None:
        """Return a row that was finished before with these settings, or None."""
        record = self._record(row)
        if not record.is_file():
            return None
        saved = SavedJudge.load(self._judge(row))
        if saved.settings.get("run") != run:
            return None
        try:
            found = json.loads(record.read_text(encoding="utf-8"))
            calls = found["calls"]
            finished = FinishedRow(
                saved=saved,
                heldout=tuple((str(key), score) for key, score in found["heldout"]),
                calls=None if calls is None else RowCalls(**calls),
                spent=int(found["spent"]),
            )
            whole = found["schema"] == SCHEMA and found["judge"] == saved.fingerprint
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            whole = False
        if not whole:
            raise InputError(
                "not the record of the judge next to it. Delete this file: the row is made again "
                "from the cached answers.",
                at=record,
            )
        self.spent = max(self.spent, finished.spent)
        return finished

    @file_faults()
    def keep(self, row: PlannedRow, finished: FinishedRow) -> None:
        """Save a row: first its judge, then the record that says it is whole."""
        record = self._record(row)
        record.unlink(missing_ok=True)
        finished.saved.save(self._judge(row), overwrite=True)
        calls = finished.calls
        content = {
            "schema": SCHEMA,
            "judge": finished.saved.fingerprint,
            "calls": None if calls is None else asdict(calls),
            "spent": finished.spent,
            "heldout": finished.heldout,
        }
        record.parent.mkdir(exist_ok=True)
        put_text(record, json_text(content))
        self.spent = max(self.spent, finished.spent)

    def write(
        self,
        *,
        table: Mapping[str, Any],
        csv: str,
        markdown: str,
        calls: Table,
    ) -> None:
        """Write the table in its three forms, and what it took next to it."""
        texts = (json_text(table), csv, markdown, calls.csv())
        for name, text in zip(TABLE_FILES, texts, strict=True):
            put_text(self.path / name, text)

    def _judge(self, row: PlannedRow) -> Path:
        return self.path / row.block / row.name

    def _record(self, row: PlannedRow) -> Path:
        return self.path / row.block / f"{row.name}.json"


def check_ablation(folder: Path, run: str, *, overwrite: bool = False) -> dict[str, Any]:
    """Return what ``ablation.json`` in a folder says, nothing where there is no folder yet."""
    return begun_in(
        folder,
        run,
        record=RUN_FILE,
        schema=SCHEMA,
        what="ablation",
        other="the ablation of another run",
        overwrite=overwrite,
    )


@file_faults()
def _clear(folder: Path) -> None:
    """Take out what an ablation writes, and nothing else."""
    for block in BLOCKS:
        for name in ROWS:
            (folder / block / f"{name}.json").unlink(missing_ok=True)
            if (folder / block / name / "judge.json").is_file():
                shutil.rmtree(folder / block / name)
    for name in TABLE_FILES:
        (folder / name).unlink(missing_ok=True)

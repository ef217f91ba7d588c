"""Folders that a run writes as a whole: what one holds, and when another run may replace it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from judgesmith.errors import ExistingFileError, file_faults
from judgesmith.signatures.plain_data import json_line


def json_object_in(path: Path) -> dict[str, Any] | None:
    """Return the JSON object in a file; None if it cannot be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def json_text(content: object) -> str:
    """Return anything as JSON that people can read."""
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


@file_faults()
def check_folder(
    folder: Path,
    run: str,
    *,
    stated: Mapping[str, Any] | None,
    files: Collection[str],
    what: str,
    force: bool,
) -> None:
    """Refuse a folder that holds anything but ``what``, or another run's without ``force``."""
    if not folder.exists():
        return
    names = {one.name for one in folder.iterdir()} if folder.is_dir() else {""}
    if stated is None or names - set(files):
        raise ExistingFileError(
            f"{folder} is there and holds something else than {what}.", hint="name another folder."
        )
    if stated.get("run") != run and not force:
        raise ExistingFileError(
            f"{folder} holds {what} of another run ({stated.get('run')}, this is {run}).",
            hint="name another folder, or replace it with --force.",
        )


@file_faults()
def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows to a file of JSON lines, one after the other."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(map(json_line, rows))

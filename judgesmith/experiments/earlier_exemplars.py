"""Exemplars that an output file holds already: written again they may be, and never lost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judgesmith.errors import ExistingFileError, file_faults
from judgesmith.experiments.earlier_rows import WAY_OUT
from judgesmith.experiments.problems import shown


def check_own_exemplars(path: Path, *, judge: str, writer: str) -> None:
    """Refuse a file that holds anything else than exemplars of this judge by this writer.

    Parameters
    ----------
    path : Path
        A file that is there. An empty one is what a budget leaves that was spent at once.
    judge, writer : str
        The judge's fingerprint, and the model that writes for it.

    Raises
    ------
    FileExistsError
        At the first line that is something else; the message names it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "out.jsonl"
    >>> _ = path.write_text('{"judge": "3f", "writer": "offline", "level": 1}')
    >>> check_own_exemplars(path, judge="3f", writer="offline")
    """
    for _ in _own_rows(path, judge=judge, writer=writer):
        pass


def refuse_lost_exemplars(path: Path, draft: Path, *, judge: str, writer: str) -> None:
    """Refuse that exemplars be replaced by others or by none, or verdicts by missing ones.

    Parameters
    ----------
    path, draft : Path
        What is there, and what is to take its place.
    judge, writer : str
        As for ``check_own_exemplars``.

    Raises
    ------
    FileExistsError
        If the rows in ``draft`` would lose something that ``path`` has.
    """
    told = {"judge": judge, "writer": writer}
    known: dict[str, list[Any]] = {}
    for row in _own_rows(draft, **told):
        known.setdefault(_text_of(row), []).append(row.get("above"))
    earlier = list(_own_rows(path, **told))
    n_lost = 0
    for row in earlier:
        verdicts, verdict = known.get(_text_of(row), []), row.get("above")
        kept = verdict if verdict in verdicts else next(iter(verdicts), None)
        if not verdicts or verdict not in (None, kept):
            n_lost += 1
        else:
            verdicts.remove(kept)
    if n_lost:
        raise ExistingFileError(
            f"{path} holds {len(earlier)} exemplars, {n_lost} of which this run does not have, or "
            f"with another verdict.",
            hint=WAY_OUT,
        )


def _own_rows(path: Path, *, judge: str, writer: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a file; anything but exemplars of this judge by this writer is refused."""
    with file_faults(path), path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            found = row if isinstance(row, dict) else {}
            if (found.get("judge"), found.get("writer")) != (judge, writer):
                raise ExistingFileError(
                    f"{path}:{number}: expected an exemplar of this judge ({judge}) by {writer}; "
                    f"got {shown(line.rstrip())}.",
                    hint=WAY_OUT,
                )
            yield found


def _text_of(row: Mapping[str, Any]) -> str:
    """Return what tells one exemplar from another: its place and its words."""
    return json.dumps([row.get(name) for name in ("source_id", "criterion", "level", "text")])

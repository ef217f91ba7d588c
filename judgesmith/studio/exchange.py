"""The ratings of a project as a table with one rating a line, for spreadsheets and other raters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judgesmith.data import DataError
from judgesmith.data.formats.opening import open_rows
from judgesmith.data.sheets.cells import as_written, cell_of, write_cells
from judgesmith.errors import InputError
from judgesmith.signatures import RatedItem
from judgesmith.studio.project import Project
from judgesmith.studio.store import ADJUDICATED, StoredRating, check_state, rater_name

_NEEDED = ("key", "criterion", "rater", "state", "value")
_TEXTS = ("source_id", "system_id", "source", "context", "response")
_MORE = ("rationale", "chosen_by", "chance", "rubric", "labels")
COLUMNS = (*_NEEDED, *_MORE, "at", *_TEXTS)
IMPORTED = "imported"
"""How a row was chosen of which the table does not say it: it is no test row."""


@dataclass(frozen=True, kw_only=True)
class ImportCounts:
    """How many ratings of a table are new, changed, equal to what there was, or without a row."""

    new: int
    changed: int
    unchanged: int
    without_row: int


def write_ratings(project: Project, place: Path, *, overwrite: bool = False) -> int:
    """Write all present ratings as CSV without formulas, and return how many there are."""
    texts = {
        key: RatedItem.model_validate_json(item).model_dump(include=set(_TEXTS))
        for key, item in project.store.query(
            "SELECT key, item FROM data.items WHERE key IN (SELECT key FROM ratings)"
        )
    }
    lines = []
    for one in project.store.ratings():
        at = datetime.fromtimestamp(one.at, UTC).isoformat(timespec="seconds")
        row = {**texts.get(one.key, {}), **_cells(one), "at": at}
        lines.append([_text(row.get(name), cut=name in _TEXTS) for name in COLUMNS])
    write_cells(place, [COLUMNS, *lines], overwrite=overwrite)
    return len(lines)


def import_ratings(project: Project, place: str | Path) -> ImportCounts:
    """Add the ratings of a table that ``write_ratings`` wrote; nothing if one cannot be read."""
    raw = open_rows(place)
    now = {(one.rater, one.key, one.criterion): one for one in project.store.ratings()}
    keys = {key for (key,) in project.store.query("SELECT key FROM data.items")}
    wanted: dict[tuple[str, str, str], dict[str, Any]] = {}
    n = n_without = 0
    for number, row in raw.rows:
        n += 1
        try:
            rater, key, criterion, said = _read(project, row)
        except InputError as fault:
            raise InputError(fault, at=raw.where(number)) from None
        if key not in keys:
            n_without += 1
            continue
        old = now.get((rater, key, criterion))
        if old and all(_text(_cells(old)[name]) == _text(row.get(name)) for name in _SAME):
            continue
        wanted[rater, key, criterion] = said
    if raw.problems:
        raise DataError(raw.problems)
    with project.store.writing():
        for on, said in wanted.items():
            project.store.rate(*on, actor="owner", action="import", **said)
    n_new = sum(on not in now for on in wanted)
    return ImportCounts(
        new=n_new,
        changed=len(wanted) - n_new,
        unchanged=n - n_without - len(wanted),
        without_row=n_without,
    )


_SAME = ("state", "value", "rationale")


def _cells(one: StoredRating) -> dict[str, Any]:
    return {name: getattr(one, name) for name in (*_NEEDED, *_MORE)}


def _text(value: object, *, cut: bool = False) -> str:
    """Return a cell; one that is read from a table stays as it is."""
    text = "" if value is None else str(value)
    return cell_of(text) if cut else cell_of(as_written(text), longest=None)


def _read(project: Project, row: Mapping[str, Any]) -> tuple[str, str, str, dict[str, Any]]:
    """Return rater, key and criterion of a line, and what is said; refuse what cannot be one."""
    lacking = [name for name in _NEEDED if name not in row]
    if lacking:
        raise InputError(
            f"expected the columns {', '.join(_NEEDED)}; {', '.join(lacking)} is missing.",
            hint="give a table that 'judgesmith label export' wrote.",
        )
    given = {name: as_written(str(row.get(name) or "")) for name in (*_NEEDED, *_MORE)}
    rater, state, value = given["rater"].strip(), given["state"], given["value"] or None
    if rater != ADJUDICATED:
        rater = rater_name(rater)
    check_state(state, value)
    version = project.check_value(given["criterion"], value)
    try:
        chance = float(given["chance"].replace(",", ".")) if given["chance"] else None
    except ValueError:
        chance = 0.0
    if chance is not None and not 0 < chance <= 1:
        raise InputError(f"chance is above 0 and up to 1, or empty; got {given['chance'][:40]!r}.")
    said = {
        "value": value,
        "state": state,
        "rationale": given["rationale"],
        "chosen_by": given["chosen_by"] or IMPORTED,
        "chance": chance,
        "labels": given["labels"] or version,
    }
    return rater, given["key"], given["criterion"], said

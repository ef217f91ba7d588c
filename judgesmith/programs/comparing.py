"""What differs between two saved judges, as people read it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from judgesmith.programs.card import agreement_text, printable
from judgesmith.programs.saved_record import SavedRecord

_SHOWN = ("protocol", "model", "target", "human_scale", "rows", "agreement", "settings")
_HELD = ("kind", "weights", "calibration", "members")
"""What judges that hold others have instead of a protocol and a model."""

_PROVENANCE = "protocol.rubric.provenance"
_HASHES = ("run", "mark")  # they say that something differs, never what


def difference(first: SavedRecord, second: SavedRecord) -> list[str]:
    """Return one line per value that differs, and texts line by line; empty where none does.

    The protocol comes first. Agreement is compared as it is printed, to three decimals with its
    interval, and provenance by its single values. Rows seen, golden items and the search's history
    are not compared.
    """
    before, after = (_shown(one.model_dump(mode="json")) for one in (first, second))
    seen: dict[tuple[str, str], str] = {}
    lines = []
    for name in (*_HELD, *_SHOWN):
        if name not in before and name not in after:
            continue
        old, new = (
            dict(_flat(part[name], name)) if name in part else {} for part in (before, after)
        )
        found = []
        for path in dict.fromkeys([*old, *new]):
            values = old.get(path, _ABSENT), new.get(path, _ABSENT)
            if values[0] != values[1] and not all(map(_is_nothing, values)):
                found += _changed(path, *values, seen)
        if not found and _told(before.get(name)) != _told(after.get(name)):
            found.append(f"{name}: differs in nothing that is shown, such as further decimals")
        lines += found
    return lines


def _shown(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a saved judge that are compared, those of its members likewise."""
    found = {name: record[name] for name in (*_HELD, *_SHOWN) if name in record}
    if isinstance(members := found.get("members"), Mapping):
        found["members"] = {name: _shown(one) for name, one in members.items()}
    return found


class _Absent:
    def __repr__(self) -> str:
        return "(absent)"


_ABSENT = _Absent()


def _is_nothing(value: Any) -> bool:
    """Say whether a value is as good as none: what is not known may be left out or be null."""
    return value is _ABSENT or value is None or value == ""


def _told(value: Any) -> Any:
    """Return plain data without what is null."""
    if isinstance(value, Mapping):
        return {name: _told(part) for name, part in value.items() if part is not None}
    return value


class _Printed(str):
    """A number as it is printed."""

    __slots__ = ()


def _flat(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    agreement = ".agreement." in f".{path}"
    if path.endswith(_PROVENANCE):
        yield from _origin(value, path)
    elif agreement and _is_estimate(value):
        yield path, _Printed(agreement_text(value))
    elif agreement and isinstance(value, float):
        yield path, _Printed(f"{value:.3f}")
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from _flat(part, f"{path}.{name}")
    elif isinstance(value, list) and any(isinstance(part, Mapping) for part in value):
        if all(isinstance(part, Mapping) and "name" in part for part in value):
            yield path, [part["name"] for part in value]  # their order is shown to the model
        for place, part in enumerate(value):
            name = part.get("name", place) if isinstance(part, Mapping) else place
            rest = {k: v for k, v in part.items() if k != "name"} if name != place else part
            yield from _flat(rest, f"{path}[{name}]")
    else:
        yield path, value


def _is_estimate(value: Any) -> bool:
    """Say whether plain data is an estimate; a file may hold anything in its place."""
    if not isinstance(value, Mapping) or "value" not in value:
        return False
    numbers = (value.get(name) for name in ("value", "low", "high"))
    return all(one is None or isinstance(one, int | float) for one in numbers)


def _origin(provenance: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    """Yield the single values of a provenance; its lists are as long as the data they name."""
    for name, value in provenance.items():
        if name not in _HASHES and not isinstance(value, Mapping | list):
            yield f"{path}.{name}", value


def _changed(path: str, old: Any, new: Any, seen: dict[tuple[str, str], str]) -> list[str]:
    name = printable(path)
    if isinstance(old, str) and isinstance(new, str) and len(old) + len(new) > 100:
        # Every demonstration repeats the task and the criteria.
        if (old, new) in seen:
            return [f"{name}: as {seen[old, new]}"]
        seen[old, new] = name
        changes = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)
        lines = list(changes)[2:]
        if len(old.splitlines()) == len(new.splitlines()) == 1:
            lines = lines[1:]  # the place of the only line
        return [f"{name}:", *(f"    {line[:1]}{printable(line[1:])}" for line in lines)]
    texts = _short(_rounded(old)), _short(_rounded(new))
    if texts[0] == texts[1]:
        texts = _short(old), _short(new)
    return [f"{name}: {texts[0]} → {texts[1]}"]


def _rounded(value: Any) -> Any:
    """Return a number, or a list of them, to four significant digits."""
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _short(value: Any) -> str:
    if value is _ABSENT:
        return repr(value)
    if isinstance(value, _Printed):
        return str(value)
    text = printable(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= 200 else f"{text[:199]}…"

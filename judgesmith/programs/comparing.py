"""What differs between two saved judges, as people read it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from judgesmith.programs.card import printable
from judgesmith.programs.saved import SavedJudge

_SHOWN = ("model", "target", "human_scale", "protocol", "agreement", "rows", "settings")


def difference(first: SavedJudge, second: SavedJudge) -> list[str]:
    """Return one line per value that differs, and texts line by line; empty where none does.

    Rows seen, golden items and the search's history are not compared.
    """
    parts = (one.model_dump(mode="json", include=set(_SHOWN)) for one in (first, second))
    before, after = (dict(_flat({name: part[name] for name in _SHOWN})) for part in parts)
    lines = []
    for path in dict.fromkeys([*before, *after]):
        old, new = before.get(path, _ABSENT), after.get(path, _ABSENT)
        if old != new:
            lines += _changed(path, old, new)
    return lines


class _Absent:
    def __repr__(self) -> str:
        return "(absent)"


_ABSENT = _Absent()


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _flat(part, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and any(isinstance(part, Mapping) for part in value):
        if all(isinstance(part, Mapping) and "name" in part for part in value):
            yield path, [part["name"] for part in value]  # their order is shown to the model
        for place, part in enumerate(value):
            name = part.get("name", place) if isinstance(part, Mapping) else place
            yield from _flat(part, f"{path}[{name}]")
    else:
        yield path, value


def _changed(path: str, old: Any, new: Any) -> list[str]:
    long = isinstance(old, str) and isinstance(new, str) and len(old) + len(new) > 100
    if long:
        changes = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)
        return [f"{path}:", *(f"    {line[:1]}{printable(line[1:])}" for line in list(changes)[2:])]
    return [f"{printable(path)}: {_short(old)} → {_short(new)}"]


def _short(value: Any) -> str:
    if value is _ABSENT:
        return repr(value)
    text = printable(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= 200 else f"{text[:199]}…"

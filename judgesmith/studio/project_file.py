"""``judgesmith.yaml``: the data, the model and the budget of a project, said once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from judgesmith.errors import InputError, JudgesmithError, did_you_mean

PROJECT = "judgesmith.yaml"
_READING = ("positive", "missing", "decimal", "encoding", "sheet")
_BUDGET = {"calls": int, "tokens": int, "usd": float, "minutes": float}
_KEYS = (
    *("data", "map", "scale", "labels", *_READING, "target"),
    *("model", "api_base", "prices", "budget"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFile:
    """What a project file says."""

    path: Path
    named: bool  # by the user; else it supplies no address, and no model to be asked
    data: tuple[str, ...] = ()
    map: str | None = None
    scales: tuple[str, ...] = ()
    reading: Mapping[str, str] = field(default_factory=dict)
    target: tuple[str, ...] = ()
    model: str | None = None
    api_base: str | None = None
    prices: Mapping[str, str] = field(default_factory=dict)
    budget: Mapping[str, float] = field(default_factory=dict)

    def reads(self, files: Sequence[str]) -> bool:
        """Return whether the files are those of the project."""
        own = {Path(one).resolve() for one in self.data}
        return bool(own) and {Path(one).resolve() for one in files} <= own

    @property
    def scale(self) -> str | dict[str, str] | None:
        """The scale of all criteria, or one by criterion, as ``read_items`` takes them."""
        pairs = [one.rpartition("=") for one in self.scales]
        named = {name: scale for name, _, scale in pairs if name}
        return named or (pairs[0][2] if pairs else None)


def read_project(path: Path, *, named: bool) -> ProjectFile:
    """Return what the file says, or raise one error with the line and the key of the fault."""
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        said = yaml.safe_load(text)
    except yaml.MarkedYAMLError as fault:
        line = "" if fault.problem_mark is None else f", line {fault.problem_mark.line + 1}"
        raise InputError(f"{path}{line}: not YAML: {fault.problem}.", where=str(path)) from None
    except (UnicodeDecodeError, OSError, ValueError) as fault:
        raise InputError(f"cannot be read: {fault}.", at=path) from None
    if tree is None:
        return ProjectFile(path=path, named=named)
    if not isinstance(tree, yaml.MappingNode) or not isinstance(said, dict):
        raise InputError(
            f"{path}, line 1: expected KEY: VALUE lines with the keys {', '.join(_KEYS)}.",
            where=str(path),
        )
    lines = {str(key.value): key.start_mark.line + 1 for key, _ in tree.value}
    if len(lines) < len(tree.value):
        names = [str(key.value) for key, _ in tree.value]
        twice = next(one for one in names if names.count(one) > 1)
        _refuse(path, lines, twice, "is given twice; keep one")
    return _Reader(path, lines).project(said, named=named)


def _refuse(path: Path, lines: Mapping[str, int], key: str, why: str) -> NoReturn:
    place = f"{path}, line {lines.get(key, 1)}"
    raise InputError(f"{key!r} {why}.", at=place)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Checks the values of a project file by their keys."""

    path: Path
    lines: Mapping[str, int]

    def project(self, said: Mapping[Any, Any], *, named: bool) -> ProjectFile:
        for key in said:
            if key not in _KEYS:
                meant = did_you_mean(key, _KEYS) or f"the keys are {', '.join(_KEYS)}"
                _refuse(self.path, self.lines, str(key), f"is not a key; {meant.rstrip('.')}")
        if "scale" in said and "labels" in said:
            plain = [one for one in ("scale", "labels") if not isinstance(said[one], dict)]
            if plain:
                self.fail(plain[0], "is for all criteria; beside the other, name the criterion")
        return ProjectFile(
            path=self.path,
            named=named,
            data=tuple(self._place(one) for one in self._texts(said, "data")),
            map=self._map(said),
            scales=(*self._scales(said), *self._labels(said)),
            reading={name: ",".join(self._texts(said, name)) for name in _READING if name in said},
            target=self._texts(said, "target"),
            model=self._text(said, "model"),
            api_base=self._text(said, "api_base"),
            prices=self._prices(said),
            budget=self._budget(said),
        )

    def fail(self, key: str, why: str) -> NoReturn:
        _refuse(self.path, self.lines, key, why)

    def _place(self, name: str) -> str:
        if name in ("sample", "sample-verdicts", "-") or "://" in name or Path(name).is_absolute():
            return name
        return os.path.relpath(self.path.parent / name)

    def _text(self, said: Mapping[Any, Any], key: str) -> str | None:
        texts = self._texts(said, key)
        if len(texts) > 1:
            self.fail(key, "takes one value")
        return texts[0] if texts else None

    def _texts(self, said: Mapping[Any, Any], key: str) -> tuple[str, ...]:
        value = said.get(key)
        if value is None:
            return ()
        values = value if isinstance(value, list) else [value]
        if not values or not all(isinstance(one, str | int | float) for one in values):
            self.fail(key, f"takes a text or a list of texts; got {value!r}")
        return tuple(str(one) for one in values)

    def _map(self, said: Mapping[Any, Any]) -> str | None:
        from judgesmith.data.columns import column_map, written_pairs

        value = said.get("map")
        if value is None:
            return None
        if isinstance(value, dict):
            pairs = []
            for name, columns in value.items():
                several = columns if isinstance(columns, list) else [columns]
                pairs.append((str(name), [str(one) for one in several]))
            value = written_pairs(pairs)
        if not isinstance(value, str):
            self.fail("map", f"takes FIELD: COLUMN lines; got {value!r}")
        try:
            column_map(value)
        except JudgesmithError as fault:
            self.fail("map", f"cannot be used: {str(fault).rstrip('.')}")
        return value

    def _scales(self, said: Mapping[Any, Any]) -> tuple[str, ...]:
        from judgesmith.data.rows import as_scale

        value = said.get("scale")
        if value is None:
            return ()
        scales = value if isinstance(value, dict) else {"": value}
        for scale in scales.values():
            try:
                as_scale(scale)
            except JudgesmithError as fault:
                self.fail("scale", f"cannot be used: {str(fault).rstrip('.')}")
        return tuple(
            f"{f'{name}=' if name else ''}{as_scale(scale)}" for name, scale in scales.items()
        )

    def _labels(self, said: Mapping[Any, Any]) -> tuple[str, ...]:
        value = said.get("labels")
        if value is None:
            return ()
        groups = value if isinstance(value, dict) else {"": value}
        for labels in groups.values():
            # YAML reads no and yes as false and true.
            good = isinstance(labels, list) and all(isinstance(one, str) for one in labels)
            if not good or len(set(labels)) < max(2, len(labels)):
                self.fail(
                    "labels",
                    "takes a list of two or more different texts, worst first (quote 'no' and "
                    f"'yes'); got {labels!r}",
                )
        return tuple(
            f"{f'{name}=' if name else ''}{'|'.join(labels)}" for name, labels in groups.items()
        )

    def _prices(self, said: Mapping[Any, Any]) -> dict[str, str]:
        value = said.get("prices")
        if value is None:
            return {}
        prices = value if isinstance(value, dict) else {"": value}
        found = {
            str(name): ",".join(map(str, price)) if isinstance(price, list) else str(price)
            for name, price in prices.items()
        }
        from judgesmith.programs.lm import Price

        for price in found.values():
            try:
                Price.parse(price)
            except (JudgesmithError, ValueError) as fault:
                self.fail("prices", f"cannot be used: {str(fault).rstrip('.')}")
        return found

    def _budget(self, said: Mapping[Any, Any]) -> dict[str, float]:
        value = said.get("budget")
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.fail("budget", f"takes {', '.join(_BUDGET)} below it; got {value!r}")
        for name, number in value.items():
            if name not in _BUDGET:
                meant = did_you_mean(name, _BUDGET) or f"it has {', '.join(_BUDGET)}"
                self.fail("budget", f"has no limit {name!r}; {meant.rstrip('.')}")
            numbers = int if _BUDGET[name] is int else (int, float)
            if isinstance(number, bool) or not isinstance(number, numbers) or not number >= 0:
                self.fail("budget", f"takes a number of {name}, 0 or more; got {number!r}")
        return dict(value)

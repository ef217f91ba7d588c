"""From a file to a specification, or to every mistake in it at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ValidationError

from judgesmith.errors import InputError, file_faults
from judgesmith.experiments.specs.checking import check_combinations, check_parts, inherited
from judgesmith.experiments.specs.faults import Mistake, Origin, SpecError, faults_of
from judgesmith.experiments.specs.grid import cells_of
from judgesmith.experiments.specs.parts import (
    Combination,
    DataSpec,
    JudgeSpec,
    ModelSpec,
    OptimizerSpec,
    SpecBudget,
    SpecPart,
)
from judgesmith.experiments.specs.spec import Spec
from judgesmith.experiments.specs.templates import template_names, template_text
from judgesmith.signatures.plain_data import Place, read_placed_yaml

_SECTIONS: Mapping[str, SpecPart] = {
    "data": DataSpec(path="sample"),
    "judges": JudgeSpec(),
    "optimizers": OptimizerSpec(optimizer="none"),
    "models": ModelSpec(model="offline"),
}
"""What has entries by name, and what stands in for an entry that is wrong."""

_STAND_INS: Mapping[str, Any] = {
    "name": "…",
    "data": {"…": _SECTIONS["data"]},
    "judges": {"…": _SECTIONS["judges"]},
}
_NAMED_IN = {"data": "data", "target": "data", "seed": "seeds"}
_NAMED_IN |= {one: f"{one}s" for one in ("judge", "optimizer", "model")}
"""What is named of other parts, and in which part it stands."""

_AS_LISTS = ("optimizers", "models")
_MOST_ENTRIES = 1000
_MOST_BYTES = 1_000_000


@file_faults()
def read_spec(path: str | Path, *, models: Mapping[str, str | None] = MappingProxyType({})) -> Spec:
    """Return the specification in a file, or in a template of that name where there is no file.

    No data are read; see ``read_sets``. Files with rubrics, steps and questions are. ``models``
    are asked instead of its own; see ``spec_of``.

    Raises
    ------
    SpecError
        With every mistake in it.
    OSError
        If there is no such file, or it cannot be read.
    """
    place = Path(path)
    if str(path) in template_names() and not place.exists():
        return spec_of(template_text(str(path)), file=f"{path}.yaml", models=models)
    if place.stat().st_size > _MOST_BYTES:
        raise InputError(
            f"a specification has at most {_MOST_BYTES:,} bytes.",
            at=path,
            hint="name another file.",
        )
    try:
        text = place.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("no text in UTF-8; save it as such.", at=path) from None
    return spec_of(text, file=str(path), folder=str(place.parent), models=models)


def spec_of(
    text: str,
    *,
    file: str = "specification",
    folder: str = ".",
    models: Mapping[str, str | None] = MappingProxyType({}),
) -> Spec:
    r"""Return the specification that a text spells out.

    Parameters
    ----------
    text : str
        YAML.
    file, folder : str
        What messages call it, and what paths in it are relative to.
    models : dict of str to (str or None)
        Asked instead of its own, with the address of a server: entries under ``models`` by their
        names, or models by the providers' names.

    Raises
    ------
    SpecError
        With every mistake in it.

    Examples
    --------
    >>> text = "name: one\ndata: {answers: {path: sample}}\njudges: {plain: {judge: direkt}}"
    >>> spec_of(text)
    Traceback (most recent call last):
    ...
    judgesmith.experiments.specs.faults.SpecError: 1 mistake in the specification:
      specification:3: judges.plain.judge: there is no kind of judge 'direkt'; did you mean direct?
    """
    try:
        plain, lines = read_placed_yaml(text)
    except ValueError as fault:
        raise SpecError([_unread(file, str(fault))]) from None
    origin = Origin(file=file, folder=folder, lines=lines)
    if not isinstance(plain, dict):
        raise SpecError(
            [origin.mistake((), f"expected fields by name: {', '.join(_fields(Spec))}.")]
        )
    if models:
        own = plain.get("models")
        known = own if isinstance(own, dict) else {}
        plain["models"] = {
            name: (known.get(name) or {}) | ({} if address is None else {"api_base": address})
            for name, address in models.items()
        }
    reader = _Reader(origin)
    spec = reader.spec(plain)
    if reader.mistakes:
        found = {str(one): one for one in reader.mistakes}.values()
        raise SpecError(sorted(found, key=lambda one: int(one.where.rpartition(":")[2])))
    return spec


class _Reader:
    """Makes the parts of a specification; what is wrong is stood in for, to tell all of it."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.mistakes: list[Mistake] = []
        self.stood_in_for: set[Place] = set()
        self.origins: dict[Place, Mapping[str, str]] = {}

    def blame(self, place: Place, message: str) -> None:
        """Keep a mistake, unless it comes of what only stands in for something."""
        around = {place[:n] for n in range(1, len(place) + 1)}
        if place and place[0] in ("leave_out", "judges") and place[-1] in _NAMED_IN:
            around.add((_NAMED_IN[str(place[-1])],))
            if place[-1] == "target":
                around |= {one for one in self.stood_in_for if one[0] == "data"}
        if not around & self.stood_in_for:
            self.mistakes.append(self.origin.mistake(self._said_at(place), message))

    def _said_at(self, place: Place) -> Place:
        """Return where something stands that an entry takes from another."""
        by_field = self.origins.get(place[:2], {})
        if len(place) < 3 or place[2] not in by_field:
            return place
        return (place[0], by_field[str(place[2])], *place[2:])

    def spec(self, plain: Mapping[str, Any]) -> Spec:
        """Return the whole; it is of use only where there are no mistakes."""
        whole = {name: value for name, value in plain.items() if value is not None}
        if isinstance(whole.get("budget"), dict):
            whole["budget"] = self._budget(whole["budget"])
        for section in _SECTIONS:
            if section in whole:
                whole[section] = self._made(section, self._entries(section, whole[section]))
        if isinstance(whole.get("leave_out"), list):
            whole["leave_out"] = self._left_out(whole["leave_out"])
        spec = self._whole(whole)
        check_parts(spec, blame=self.blame)
        if not self.mistakes:
            try:
                cells = cells_of(spec)
            except ValueError as fault:
                self.blame(("leave_out",), str(fault))
            else:
                check_combinations(spec, cells, blame=self.blame)
        return spec

    def _entries(self, section: str, given: Any) -> dict[str, Any]:
        """Return the entries of a section by name; a list of names has entries that say nothing."""
        if isinstance(given, list) and 0 < len(given) <= _MOST_ENTRIES and section in _AS_LISTS:
            names: dict[str, Any] = {}
            wrong = False
            for number, name in enumerate(given):
                if not isinstance(name, str):
                    self.blame((section, number), "expected a name; write 'NAME: {…}' for more.")
                    wrong = True
                elif name in names:
                    self.blame((section, number), f"{name!r} stands twice; keep one of the two.")
                else:
                    names[name] = {}
            if wrong:
                self.stood_in_for.add((section,))
            return names
        if isinstance(given, dict) and 0 < len(given) <= _MOST_ENTRIES:
            return given
        self.blame((section,), f"expected entries by name; got {_kind(given)}.")
        self.stood_in_for.add((section,))
        return {}

    def _made(self, section: str, entries: Mapping[str, Any]) -> dict[str, SpecPart]:
        """Return the entries of a section."""
        plain: dict[str, Any] = {}
        for name, entry in entries.items():
            if entry is not None and not isinstance(entry, dict):
                self.blame((section, name), f"expected fields by name; got {_kind(entry)}.")
                self.stood_in_for.add((section, name))
            plain[name] = entry if isinstance(entry, dict) else {}
        whole, origins = inherited(plain, section=section, blame=self.blame)
        self.origins |= {(section, name): by_field for name, by_field in origins.items()}
        stand_in = _SECTIONS[section]
        made: dict[str, SpecPart] = {}
        for name in plain:
            made[name] = stand_in
            if name not in whole or (section, name) in self.stood_in_for:
                continue
            try:
                made[name] = type(stand_in).model_validate(whole[name])
            except ValidationError as fault:
                self._tell(fault, (section, name), type(stand_in))
                self.stood_in_for.add((section, name))
        for name, one in list(made.items()):
            if isinstance(one, JudgeSpec) and made.keys() >= set(one.panel):
                made.update(one.subset_panels(name))
        return made or {"…": stand_in}

    def _budget(self, given: dict[str, Any]) -> SpecBudget:
        try:
            return SpecBudget.model_validate(given)
        except ValidationError as fault:
            self._tell(fault, ("budget",), SpecBudget)
            return SpecBudget()

    def _left_out(self, given: list[Any]) -> list[Combination]:
        """Return the combinations that are left out."""
        made = []
        for number, one in enumerate(given):
            try:
                made.append(Combination.model_validate(one))
            except ValidationError as fault:
                self._tell(fault, ("leave_out", number), Combination)
                made.append(Combination(data=()))
        return made

    def _whole(self, plain: dict[str, Any]) -> Spec:
        """Return the specification of its parts; what is wrong around them is as usual in it."""
        plain["origin"] = self.origin
        try:
            return Spec.model_validate(plain)
        except ValidationError as fault:
            self._tell(fault, (), Spec)
            for first in {str(one["loc"][0]) for one in fault.errors()}:
                self.stood_in_for.add((first,))
                plain.pop(first, None)
            return Spec.model_validate({**_STAND_INS, **plain})

    def _tell(self, fault: ValidationError, around: Place, kind: type[BaseModel]) -> None:
        """Keep what pydantic says of the values around a place."""
        for inside, said in faults_of(fault, _fields(kind)):
            self.blame((*around, *inside), said)


def _fields(kind: type[BaseModel]) -> list[str]:
    extra = ["from"] if any(type(one) is kind for one in _SECTIONS.values()) else []
    return [*(name for name in kind.model_fields if name != "origin"), *extra]


def _kind(value: object) -> str:
    if value is None or value in ({}, []):
        return "nothing"
    if isinstance(value, dict) and len(value) > _MOST_ENTRIES:
        return f"{len(value):,} of them, of {_MOST_ENTRIES:,} at most"
    kinds = {list: "a list", dict: "fields by name", bool: "true or false", str: "a text"}
    return kinds.get(type(value), "a number")


def _unread(file: str, said: str) -> Mistake:
    """Return the mistake behind a text that is no YAML."""
    found = re.match(r"line (\d+): ", said)
    line = found[1] if found else "1"
    return Mistake(where=f"{file}:{line}", field="", message=said[found.end() :] if found else said)

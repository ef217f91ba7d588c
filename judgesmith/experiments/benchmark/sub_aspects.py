"""The sides of criteria in a file that people edit: names and definitions, by criterion."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from judgesmith.data.definitions import definition_fault
from judgesmith.data.problems import SHOWN, shown_value
from judgesmith.errors import InputError, file_faults
from judgesmith.experiments.compile.human_criteria import name_fault
from judgesmith.signatures.perturbation import SubAspect
from judgesmith.signatures.plain_data import read_yaml, write_yaml
from judgesmith.signatures.rubric import folded

_HEADING = """\
# Sides of every criterion, as name: what a good text does in this respect.
# Errors are put into texts by them: leave out, add or change what does not fit.
"""

_FORM = "sides as name: definition, one per line below the criterion"


def sub_aspects_yaml(sub_aspects: Iterable[SubAspect]) -> str:
    r"""Return sides as a file that people can edit and ``read_sub_aspects`` reads back the same."""
    plain: dict[str, dict[str, str]] = {}
    for one in sub_aspects:
        plain.setdefault(one.criterion, {})[one.name] = one.definition
    return _HEADING + write_yaml(plain)


@file_faults()
def read_sub_aspects(path: str | Path, criteria: Sequence[str]) -> tuple[SubAspect, ...]:
    """Return the sides that a file names."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError("expected a text file in UTF-8.", at=path) from None
    except OSError as fault:
        raise InputError(f"cannot read the sub-aspects: {fault.strerror}.", at=path) from None
    return sub_aspects_in(text, criteria, where=str(path))


def sub_aspects_in(text: str, criteria: Sequence[str], *, where: str) -> tuple[SubAspect, ...]:
    r"""Return the sides that a text names; see ``read_sub_aspects``."""
    try:
        plain = read_yaml(text)
    except ValueError as fault:
        raise InputError(fault, at=where) from None
    if not isinstance(plain, Mapping) or not plain:
        raise InputError(f"expected {_FORM}; got {shown_value(plain)}.", at=where)
    reading = _Reading({folded(name): name for name in criteria}, _lines_of(text), [])
    found = tuple(side for name, sides in plain.items() for side in reading.sides(name, sides))
    if reading.faults:
        more = len(reading.faults) - SHOWN
        said = [f"{where}: {one}" for one in reading.faults[:SHOWN]]
        listed = "\n".join([*said, f"and {more} more."] if more > 0 else said)
        raise InputError(listed, where=where)
    return found


@dataclass
class _Reading:
    """One file, and what is wrong with it."""

    criteria: Mapping[str, str]
    lines: Mapping[tuple[str, ...], int]
    faults: list[str]

    def sides(self, given: str, sides: Any) -> Iterator[SubAspect]:
        """Yield the usable sides of one criterion, and remember why others are not."""
        name = self.criteria.get(folded(given))
        if name is None:
            self._refuse([given], f"the data have no such criterion; {self._meant(given)}")
            return
        if isinstance(sides, list) and all(isinstance(one, str) for one in sides):
            several = [(one, None) for one in sides]
        elif isinstance(sides, Mapping):
            several = list(sides.items())
        else:
            self._refuse([given], f"expected {_FORM}; got {shown_value(sides)}.")
            return
        if not several:
            self._refuse([given], "names no side; name one, or leave the criterion out.")
        known: dict[str, str] = {}
        for side, definition in several:
            fault = self._fault(side, definition) or (
                f"the same as {known[folded(side)]!r}; every side needs a name of its own."
                if folded(side) in known
                else ""
            )
            if fault:
                self._refuse([given, side], fault)
                continue
            known[folded(side)] = side
            said = " ".join((definition or "").split())
            yield SubAspect(criterion=name, name=side, definition=said)

    def _fault(self, side: str, definition: Any) -> str:
        if fault := name_fault(side):
            return f"cannot be the name of a side: {fault.rstrip('.')}."
        if definition is not None and not isinstance(definition, str):
            return f"expected a definition in words; got {shown_value(definition)}."
        said = " ".join((definition or "").split())
        if said and (fault := definition_fault(side, said)):
            return f"its definition would be part of questions, but {fault}"
        return ""

    def _meant(self, given: str) -> str:
        near = difflib.get_close_matches(folded(given)[:80], self.criteria, n=1, cutoff=0.5)
        if near:
            return f"did you mean {self.criteria[near[0]]}?"
        return f"it has {', '.join(self.criteria.values()) or 'none'}."

    def _refuse(self, path: Sequence[str], fault: str) -> None:
        line = self.lines.get(tuple(path)) or self.lines.get((path[0],), 1)
        said = ", ".join(shown_value(one) for one in path)
        self.faults.append(f"line {line}: {said}: {fault}")


def _lines_of(text: str) -> dict[tuple[str, ...], int]:
    """Return on which line, from 1, each criterion and each of its sides stands."""
    found: dict[tuple[str, ...], int] = {}
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    for key, value in getattr(node, "value", ()):
        found[(str(key.value),)] = key.start_mark.line + 1
        for below in value.value if isinstance(value, yaml.CollectionNode) else ():
            side = below[0] if isinstance(below, tuple) else below
            found.setdefault((str(key.value), str(side.value)), side.start_mark.line + 1)
    return found

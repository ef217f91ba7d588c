"""The cells of a specification: one judge, made in one way, on one target of one set."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from judgesmith.errors import InputError
from judgesmith.experiments.specs.parts import TOGETHER
from judgesmith.experiments.specs.spec import Spec

MOST_CELLS = 100_000

_LONGEST = 100

_Way = tuple[str | None, str | None, int]
"""Optimizer, model and seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One thing to run, and what it is called.

    Attributes
    ----------
    id : str
        Readable, unique in its specification, and a name for a folder: at most 120 lower-case
        letters, digits, dots and dashes.
    data, target, judge : str
        By the names they have in the specification; ``target`` may be ``auto``, or several with
        commas between (see ``targets``).
    optimizer, model : str or None
        None for recorded scores, and for saved judges, which have a model where one is named for
        them. A panel has the optimizer of its members, and their model, but
        None where each of them has one of its own.
    seed : int
        Random seed; it also decides which rows are held out, so recorded scores
        have one, too.
    members : tuple of str
        Ids of the cells whose scores a panel combines, which come before it; else empty.
    """

    id: str
    data: str
    target: str
    judge: str
    optimizer: str | None
    model: str | None
    seed: int
    members: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[str, ...]:
        """What the judge is held against, as ``CompileSettings`` takes it; empty for ``auto``."""
        return () if self.target == "auto" else tuple(self.target.split(TOGETHER))

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {**asdict(self), "members": list(self.members)}


def cells_of(spec: Spec) -> tuple[Cell, ...]:
    """Return every cell, sets and targets outermost, each panel after its members.

    A panel is left out where one of its members is.

    Raises
    ------
    ValueError
        If all are left out, there are too many, or panels are made of each other.

    Examples
    --------
    >>> spec = Spec.model_validate({
    ...     "name": "two variants",
    ...     "data": {"answers": {"path": "sample"}},
    ...     "judges": {"fine": {}, "coarse": {"variant": "coarse"}},
    ...     "optimizers": {"none": {}},
    ...     "seeds": [0, 1],
    ... })
    >>> for cell in cells_of(spec):
    ...     print(cell.id)
    answers.auto.fine.none.offline.0
    answers.auto.fine.none.offline.1
    answers.auto.coarse.none.offline.0
    answers.auto.coarse.none.offline.1
    """
    _check_size(spec)
    taken: set[str] = set()
    found: list[Cell] = []
    absent = spec.absent
    for name, data in spec.data.items():
        for target in data.targets if name not in absent else ():
            made: dict[tuple[str, _Way], str] = {}
            for judge in _panels_last(spec):
                for way in _crossed(spec, judge):
                    where: dict[str, Any] = {"data": name, "target": target, "judge": judge}
                    where |= zip(("optimizer", "model", "seed"), way, strict=True)
                    if any(one.covers(where) for one in spec.leave_out):
                        continue
                    members = _members(spec, judge, way, made)
                    if members is None:
                        continue
                    cell = Cell(id=_id(where, taken), members=members, **where)
                    made[judge, way] = cell.id
                    found.append(cell)
    if not found:
        files = f", or make the files of {', '.join(sorted(absent))}" if absent else ""
        raise InputError("no cell is left to run.", hint=f"leave fewer of them out{files}.")
    return tuple(found)


def _panels_last(spec: Spec) -> Iterator[str]:
    """Yield judges in order, but every panel after its members."""
    done: set[str] = set()
    waiting = list(spec.judges)
    while waiting:
        ready = [name for name in waiting if done >= set(spec.judges[name].panel)]
        if not ready:
            raise InputError(
                f"the panels {', '.join(waiting)} are made of each other.", hint="take one out."
            )
        yield ready[0]
        done.add(ready[0])
        waiting.remove(ready[0])


def _crossed(spec: Spec, judge: str) -> Iterator[_Way]:
    """Yield with which optimizers, models and seeds a judge is run."""
    behind = [spec.judges[name] for name in _behind(spec, judge)]
    compiled = [one for one in behind if one.kind == "compiled"]
    optimizers: list[str | None] = list(spec.optimizers) if compiled else [None]
    own = spec.judges[judge].model
    if own is None and any(one.model is None for one in compiled):
        yield from product(optimizers, spec.models, spec.seeds)
    else:
        yield from product(optimizers, [own], spec.seeds)


def _behind(spec: Spec, judge: str) -> list[str]:
    """Return the judge itself, or of a panel the judges that it is made of in the end."""
    seen = {judge}
    waiting = [judge]
    found = []
    while waiting:
        name = waiting.pop()
        members = spec.judges[name].panel
        found += [] if members else [name]
        new = [one for one in dict.fromkeys(members) if one not in seen]
        seen |= set(new)
        waiting += new
    return found


def _check_size(spec: Spec) -> None:
    """Refuse a grid that is too large to run, before it fills the memory."""
    ways = len(spec.optimizers) * len(spec.models) * len(spec.seeds)
    n = len(spec.judges) * ways * sum(len(one.targets) for one in spec.data.values())
    if n > MOST_CELLS:
        raise InputError(
            f"these are up to {n:,} cells, and an experiment has at most {MOST_CELLS:,}.",
            hint="make several of it.",
        )


def _members(
    spec: Spec, judge: str, way: _Way, made: Mapping[tuple[str, _Way], str]
) -> tuple[str, ...] | None:
    """Return the cells that a panel is made of; None where one of them is left out."""
    optimizer, model, seed = way
    found = []
    for name in spec.judges[judge].panel:
        models = (model, spec.judges[name].model, None)
        ways = product((optimizer, None), models, (seed,))
        own = next((made[name, one] for one in ways if (name, one) in made), None)
        if own is None:
            return None
        found.append(own)
    return tuple(found)


def _id(where: Mapping[str, Any], taken: set[str]) -> str:
    """Return a name for a folder, with a hash where a slug alone would not tell cells apart."""
    slug = ".".join(_slug(str(one)) for one in where.values() if one is not None)
    short = slug[:_LONGEST].rstrip(".-")
    if short != slug or short in taken:
        short = f"{short}-{hashlib.sha256(repr(where).encode()).hexdigest()[:12]}"
    taken.add(short)
    return short


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.") or "x"

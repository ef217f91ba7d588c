"""What the rows of a set say that its criteria mean: the field ``definitions``."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from judgesmith.data.items import DEFINITIONS, DataSet
from judgesmith.data.problems import shown_value
from judgesmith.data.rows import as_mapping
from judgesmith.data.targets import meant_by
from judgesmith.errors import InputError
from judgesmith.signatures.rubric import Criterion

LONGEST = 1000
"""Characters of a definition at most: it is part of every question, outside any fence."""


@dataclass(frozen=True, kw_only=True)
class Definitions:
    """What rows say about the meaning of criteria."""

    criteria: dict[str, Criterion]
    notes: tuple[str, ...]


def definitions_in(dataset: DataSet, wanted: Sequence[str]) -> Definitions:
    """Return the first definition that rows state of each criterion in ``wanted``, and notes."""
    read = _Reading(dataset)
    criteria = {}
    for name in wanted:
        several = read.texts.get(name, {})
        if several:
            text, where = next(iter(several.items()))
            criteria[name] = defined_criterion(name, text, where=where)
    return Definitions(criteria=criteria, notes=tuple(read.notes(wanted)))


def defined_criterion(name: str, text: str, *, where: str) -> Criterion:
    """Return a criterion with a definition that somebody wrote into the data."""
    fault = definition_fault(name, text)
    if not fault:
        return Criterion(name=name, definition=text)
    raise InputError(
        f"the definition of {shown_value(name)} would be part of every question, but {fault} "
        f"Change it under {DEFINITIONS!r}, or define the criterion in a rubric (--rubric).",
        at=where,
    )


def definition_fault(name: str, text: str) -> str:
    """Return in a sentence why a text cannot stand in a question as what a name means; or ""."""
    odd = unprintable(text)
    if len(text) > LONGEST:
        return f"it has {len(text):,} characters, and {LONGEST:,} are the most."
    if odd:
        return f"it holds {odd!r}, which cannot be printed."
    try:
        Criterion(name=name, definition=text)
    except ValidationError as error:
        return error.errors()[0]["msg"].removeprefix("Value error, ")
    return ""


def unprintable(text: str) -> str:
    r"""Return the first character that ends lines, steers terminals or is half of one, or ""."""
    steering = ("Cc", "Cs", "Zl", "Zp")
    return next((one for one in text if unicodedata.category(one) in steering), "")


@dataclass
class _Reading:
    """Every definition in the rows, by criterion, with the row where each first stands."""

    dataset: DataSet
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    no_texts: list[str] = field(default_factory=list)
    strangers: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known: dict[str, str | None] = {}
        for where, stated in self._stated():
            mapping = as_mapping(stated)
            if mapping is None:
                self.unread.append(where)
                continue
            for key, text in mapping.items():
                if text is None:  # Parquet fills up with these
                    continue
                if not isinstance(text, str):
                    self.no_texts.append(where)
                    continue
                name = str(key)
                if name not in known:
                    known[name] = self._criterion(name)
                meant, plain = known[name], " ".join(text.split())
                if meant is not None and plain:
                    self.texts.setdefault(meant, {}).setdefault(plain, where)

    def _stated(self) -> Iterator[tuple[str, object]]:
        """Yield what stands in each row that has anything there."""
        places = self.dataset.places
        for index, item in enumerate(self.dataset):
            stated = item.extra.get(DEFINITIONS)
            if stated is not None and stated == stated and stated != "":
                yield f"row {places[index] if places else index + 1}", stated

    def _criterion(self, name: str) -> str | None:
        try:
            meant = meant_by(name, self.dataset.criteria)
        except ValueError:
            meant = None
        if meant is None:
            self.strangers[shown_value(name)] = None
        return meant

    def notes(self, wanted: Sequence[str]) -> Iterator[str]:
        for name in wanted:
            several = self.texts.get(name, {})
            if len(several) > 1:
                yield (
                    f"the rows define {name} in {len(several)} ways; the first counts, that of "
                    f"{next(iter(several.values()))}."
                )
        for found, what in (
            (self.unread, "is no mapping of criteria to texts"),
            (self.no_texts, "holds what is no text"),
        ):
            rows = list(dict.fromkeys(found))
            if rows:
                n = f"{len(rows)} row{'s' * (len(rows) > 1)}"
                yield f"{DEFINITIONS!r} {what} in {n} (first {rows[0]}); that was not read."
        if self.strangers:
            names = list(self.strangers)
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            yield f"{DEFINITIONS!r} defines {', '.join(names[:5])}{more}, which has no ratings."

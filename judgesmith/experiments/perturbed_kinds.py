"""What rows say of how their text was changed, in whatever words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from judgesmith.programs.perturbing import PERTURBATIONS
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Degree, Level, Method, Perturbation

DEFAULT_LEVEL: Level = "word"
"""The level of a change whose row says none that is known."""

_LEVELS: Mapping[str, Level] = {"character": "character", "word": "word", "sentence": "sentence"}
_LEVEL_OF: Mapping[str, Level] = {way.kind: way.level for way in PERTURBATIONS.values()}
_DEGREES: Mapping[str, Degree] = {"minor": "minor", "major": "major"}
_METHODS: Mapping[str, Method] = {"rule": "rule", "model": "model"}
_NOTHING = ("", "none", "original", "null")
_LONGEST = 40
_KIND = re.compile(r"[a-z][a-z0-9_]*")


def is_original(item: RatedItem) -> bool:
    """Say whether nothing was changed in a row: it states no perturbation.

    Examples
    --------
    >>> rows = [RatedItem(response="", extra={"perturbation": p}) for p in (None, "none", "swap")]
    >>> [is_original(row) for row in rows]
    [True, True, False]
    """
    stated = item.extra.get("perturbation")
    return stated is None or str(stated).strip().casefold() in _NOTHING


class KindReader:
    """Reads what was done to the texts of rows, in the words of :class:`Perturbation`.

    Parameters
    ----------
    versions : iterable of RatedItem
        All rows that state a perturbation: names are made from all of them together.
    levels : mapping of str to Level
        By name of a perturbation, or by what stands in ``level``.

    Notes
    -----
    A perturbation whose name is no identifier is called like its ``system_id``, if each one of the
    data has its own in several rows; else by its own words, joined by underscores and cut to 40
    characters. Where no row states ``lowers``, a perturbation of the catalogue is what it is there;
    one whose every version is a reference of its row is a control, as a reference is not damage.

    Examples
    --------
    >>> row = RatedItem(system_id="id7", response="r", extra={"perturbation": "Swap a word"})
    >>> KindReader([row], {}).kind_of(row).kind, KindReader([row, row], {}).kind_of(row).kind
    ('swap_a_word', 'id7')
    """

    def __init__(self, versions: Iterable[RatedItem], levels: Mapping[str, Level]) -> None:
        self._levels = levels
        self._unknown: dict[str, None] = {}
        rows: defaultdict[str, list[RatedItem]] = defaultdict(list)
        for item in versions:
            rows[_stated(item)].append(item)
        self._names = dict(_named(rows))
        self._references = {
            stated
            for stated, items in rows.items()
            if all(item.response in item.references for item in items)
        }

    def kind_of(self, item: RatedItem) -> Perturbation:
        """Return what was done to the text of a row."""
        stated = _stated(item)
        extra = item.extra
        degree = _DEGREES.get(str(extra.get("degree")))
        kind = self._names[stated]
        name = kind if degree is None else f"{kind}/{degree}"
        return Perturbation(
            kind=kind,
            level=self._level(name, kind, extra.get("level")),
            degree=degree,
            method=_METHODS.get(str(extra.get("method")), "rule"),
            lowers=self._lowers(extra, name, stated),
        )

    def _level(self, name: str, kind: str, stated: object) -> Level:
        words = "" if stated is None else str(stated).strip()
        for key in (name, kind, words):
            if key in self._levels:
                return self._levels[key]
        known = _LEVELS.get(words.casefold()) or _LEVEL_OF.get(kind)
        if known is None:
            self._unknown[words or "nothing"] = None
        return known or DEFAULT_LEVEL

    def _lowers(self, extra: Mapping[str, Any], name: str, stated: str) -> bool:
        if extra.get("lowers") is not None:
            return str(extra["lowers"]).casefold() not in ("false", "0", "no")
        if name in PERTURBATIONS:
            return PERTURBATIONS[name].lowers
        return stated not in self._references

    @property
    def notes(self) -> Iterator[str]:
        """Say what was assumed, in sentences for people."""
        if self._unknown:
            words = ", ".join(list(self._unknown)[:5]) + ", …" * (len(self._unknown) > 5)
            yield (
                f"level says {words}, which is neither character, word nor sentence; taken as "
                f"{DEFAULT_LEVEL}."
            )
        names = [self._names[stated] for stated in self._references]
        if names:
            yield f"{', '.join(sorted(names))}: references of their rows, taken as a control."


def _stated(item: RatedItem) -> str:
    return str(item.extra.get("perturbation")).strip()


def _named(rows: Mapping[str, list[RatedItem]]) -> Iterator[tuple[str, str]]:
    """Yield what rows state with the name that it gets, no two the same."""
    systems = {stated: {item.system_id for item in items} for stated, items in rows.items()}
    of_systems = {next(iter(names)) for names in systems.values()}
    apart = len(of_systems) == len(rows) and all(len(names) == 1 for names in systems.values())
    # Where each perturbation occurs once, a system id of its own says nothing of it.
    apart = apart and sum(map(len, rows.values())) > len(rows)
    taken: set[str] = set()
    for stated in sorted(rows, key=lambda one: not _KIND.fullmatch(one)):
        own = stated
        if not _KIND.fullmatch(stated):
            system = next(iter(systems[stated]))
            own = _slug(system if apart and system else stated)
        name, number = own, 1
        while name in taken:
            number += 1
            name = f"{own}_{number}"
        taken.add(name)
        yield stated, name


def _slug(words: str) -> str:
    """Return words as an identifier.

    Examples
    --------
    >>> _slug("Intrinsic Entity Error"), _slug("2 swaps"), _slug("?")
    ('intrinsic_entity_error', 'kind_2_swaps', 'kind')
    """
    joined = "_".join(re.findall(r"[a-z0-9]+", words.casefold()))
    if not joined[:1].isalpha():
        joined = f"kind_{joined}".rstrip("_")
    if len(joined) <= _LONGEST:
        return joined
    return joined[: _LONGEST + 1].rpartition("_")[0] or joined[:_LONGEST]

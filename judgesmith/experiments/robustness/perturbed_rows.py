"""A perturbed set as rows of rated text, and back from rows that say it in words of their own."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from judgesmith.data.items import DataSet
from judgesmith.errors import InputError
from judgesmith.experiments.robustness.perturbed_set import PerturbedSet
from judgesmith.programs.perturbing import PERTURBATIONS
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Degree, Edit, Level, Method, Perturbation

__all__ = ["PerturbedSet", "edits_of", "get_perturbed", "is_perturbed", "rows_of"]

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
    """Say whether nothing was changed in a row: it states no perturbation."""
    stated = item.extra.get("perturbation")
    return stated is None or str(stated).strip().casefold() in _NOTHING


class KindReader:
    """Reads what was done to the texts of rows, in the words of :class:`Perturbation`.

    A perturbation whose name is no identifier is called like its ``system_id``, if each one of the
    data has its own in several rows; else by its own words, joined by underscores and cut to 40
    characters. Where no row states ``lowers``, a perturbation of the catalogue is what it is
    there; one whose every version is a reference of its row is a control, as a reference is not
    damage.
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
    joined = "_".join(re.findall(r"[a-z0-9]+", words.casefold()))
    if not joined[:1].isalpha():
        joined = f"kind_{joined}".rstrip("_")
    if len(joined) <= _LONGEST:
        return joined
    return joined[: _LONGEST + 1].rpartition("_")[0] or joined[:_LONGEST]


_ORIGINAL_SYSTEMS = ("original", "reference")
_UNCHECKED = "not verified where it comes from (pert_check is false)"
_SAME = "the same text as the original"
_NO_VERSION = "no version in the data"

_ORDER = {name: place for place, name in enumerate(PERTURBATIONS)}

_Id = tuple[str, str]


def rows_of(perturbed: PerturbedSet) -> Iterator[dict[str, Any]]:
    """Yield the set as rows of rated text: each original, then its versions."""
    for place, original in enumerate(perturbed.originals):
        for item in (original, *(row[place] for row in perturbed.versions)):
            if item is not None:
                yield _row(item)


def _row(item: RatedItem) -> dict[str, Any]:
    return {
        "source_id": item.source_id,
        "system_id": item.system_id,
        "source": item.source,
        "context": item.context,
        "response": item.response,
        "references": list(item.references),
        "human": {name: list(ratings) for name, ratings in item.human.items()},
        "scale": {name: [scale.low, scale.high] for name, scale in item.scale.items()},
        **item.extra,
    }


def edits_of(item: RatedItem) -> tuple[Edit, ...]:
    """Return the edits that a row states, or none where it states none that can be read."""
    given = item.extra.get("edits")
    try:
        return tuple(
            Edit(start=start, end=end, text=text)
            for start, end, text in (given if isinstance(given, list) else [])
        )
    except (TypeError, ValueError):
        return ()


def is_perturbed(dataset: DataSet) -> bool:
    """Say whether rows of the data state how they were changed."""
    return any(not is_original(item) for item in dataset)


def get_perturbed(dataset: DataSet, *, levels: Mapping[str, Level] | None = None) -> PerturbedSet:
    """Return originals and versions from rows that say which they are.

    Parameters
    ----------
    dataset : DataSet
        Rows with a field ``perturbation``: as ``judgesmith discern perturb`` writes them, or of any
        other origin.
    levels : mapping of str to Level, optional
        By name of a perturbation, or by what stands in ``level``, what it changes: character,
        word or sentence. Anything else counts as word.

    Returns
    -------
    PerturbedSet
        Rows whose ``pert_check`` is false and texts that equal their original are left out and
        counted; so are versions of a source without an original, in the notes.

    Raises
    ------
    ValueError
        If no row states a perturbation, or a source has several originals and its versions do
        not say which is theirs.

    Notes
    -----
    The original of a version is the row of its source that its field ``original`` names, by
    ``system_id``. Where versions have no such field, it is the one row of the source that
    states no perturbation; of several, the one whose system is called original or reference.

    Examples
    --------
    >>> rows = [("original", "none", "A b."), ("x", "Lower case", "a b.")]
    >>> items = [
    ...     RatedItem(source_id="1", system_id=s, response=r, extra={"perturbation": p})
    ...     for s, p, r in rows
    ... ]
    >>> found = get_perturbed(DataSet(name="toy", items=tuple(items)))
    >>> [kind.name for kind in found.kinds], found.versions[0][0].response
    (['lower_case'], 'a b.')
    """
    if not is_perturbed(dataset):
        raise InputError(
            f"no row of {dataset.name} states a perturbation.",
            hint="make versions of its texts first, with judgesmith perturb.",
        )
    originals = _Originals(item for item in dataset if is_original(item))
    versions = [item for item in dataset if not is_original(item)]
    reader = KindReader(versions, levels or {})
    kinds: dict[str, Perturbation] = {}
    found: defaultdict[_Id, defaultdict[str, list[RatedItem]]]
    found = defaultdict(lambda: defaultdict(list))
    skipped: defaultdict[str, Counter[str]] = defaultdict(Counter)
    n_lost = 0
    for item in versions:
        name = kinds.setdefault((kind := reader.kind_of(item)).name, kind).name
        original = originals.of(item)
        reason = None if original is None else _unusable(item, original)
        if original is None:
            n_lost += 1
        elif reason:
            skipped[name][reason] += 1
            found[_id(original)][name]  # noted, so that it is not counted as missing, too
        else:
            found[_id(original)][name].append(item)
    kinds = dict(sorted(kinds.items(), key=lambda one: _ORDER.get(one[0], len(_ORDER))))
    rows = list(_aligned(originals.items, kinds, found, skipped))
    versions_by_kind = zip(*(own for _, own in rows), strict=True) if rows else [()] * len(kinds)
    return PerturbedSet(
        name=dataset.name,
        originals=tuple(original for original, _ in rows),
        kinds=tuple(kinds.values()),
        versions=tuple(tuple(row) for row in versions_by_kind),
        skipped={name: dict(counts) for name, counts in skipped.items()},
        notes=(
            *_notes(n_lost, originals.n_others, len(rows) - len(originals.items), reader),
            *_never(originals.items, kinds),
        ),
    )


def _aligned(
    originals: list[RatedItem],
    kinds: Mapping[str, Perturbation],
    found: Mapping[_Id, Mapping[str, list[RatedItem]]],
    skipped: defaultdict[str, Counter[str]],
) -> Iterator[tuple[RatedItem, tuple[RatedItem | None, ...]]]:
    """Yield each original with its versions, again where a kind has more than one of it."""
    for original in originals:
        own = found.get(_id(original), {})
        for name in kinds:
            if name not in own:
                skipped[name][_stated_reason(original, name)] += 1
        for turn in range(max([1, *(len(versions) for versions in own.values())])):
            yield (
                original,
                tuple(
                    versions[turn] if turn < len(versions := own.get(name, [])) else None
                    for name in kinds
                ),
            )


def _id(item: RatedItem) -> _Id:
    return item.source_id, item.system_id


def _unusable(item: RatedItem, original: RatedItem) -> str | None:
    if str(item.extra.get("pert_check", True)).casefold() == "false":
        return _UNCHECKED
    return _SAME if item.response == original.response else None


def _stated_reason(original: RatedItem, name: str) -> str:
    stated = original.extra.get("skipped")
    reason = stated.get(name) if isinstance(stated, Mapping) else None
    return reason if isinstance(reason, str) and reason else _NO_VERSION


class _Originals:
    """Rows without a change, the first of each id, and which of them a version is of."""

    def __init__(self, items: Iterable[RatedItem]) -> None:
        every = list(items)
        first = {_id(item): item for item in reversed(every)}
        self.n_others = sum(item.response != first[_id(item)].response for item in every)
        self.items = list(first.values())[::-1]
        self._by_id = {_id(item): item for item in self.items}
        self._by_source: defaultdict[str, list[RatedItem]] = defaultdict(list)
        for item in self.items:
            self._by_source[item.source_id].append(item)

    def of(self, version: RatedItem) -> RatedItem | None:
        """Return the original of a version, or None if it is not there."""
        named = version.extra.get("original")
        if isinstance(named, str):
            return self._by_id.get((version.source_id, named))
        own = self._by_source.get(version.source_id, [])
        if len(own) > 1:
            own = [item for item in own if item.system_id.casefold() in _ORIGINAL_SYSTEMS] or own
        if len(own) > 1:
            raise InputError(
                f"source {version.source_id!r} has {len(own)} rows without a perturbation, and its "
                "versions do not say which is theirs.",
                hint="name its system_id in a field 'original'.",
            )
        return own[0] if own else None


def _never(originals: list[RatedItem], kinds: Mapping[str, Perturbation]) -> Iterator[str]:
    """Say which changes no text has, as far as originals state why they have none."""
    stated = (item.extra.get("skipped") for item in originals)
    names = dict.fromkeys(str(n) for one in stated if isinstance(one, Mapping) for n in one)
    lacking = [name for name in names if name not in kinds]
    if lacking:
        yield f"no text could be changed by {', '.join(lacking[:10])}{', …' * (len(lacking) > 10)}."


def _notes(n_lost: int, n_others: int, n_again: int, reader: KindReader) -> Iterator[str]:
    if n_lost:
        yield (f"{n_lost} version{'s' * (n_lost > 1)} left out: the original is not in the data.")
    if n_others:
        yield (
            f"{n_others} original{'s' * (n_others > 1)} left out: another text of the same source "
            "has the same system_id; give each its own."
        )
    if n_again:
        yield (
            f"some kinds changed an original several times; {n_again} "
            f"more pair{'s' * (n_again > 1)} with the same original stand below it."
        )
    yield from reader.notes

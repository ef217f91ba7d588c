"""Originals and their changed versions, as one set or a part of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judgesmith.errors import InputError
from judgesmith.metrics.arrays import Seed, generator
from judgesmith.programs.perturbing.catalogue import GROUPS, perturbations_named
from judgesmith.results.base import Result
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbation, Perturbed, Skipped

ORIGINAL_LEVEL = "none"
"""What stands in the field ``level`` of a row in which nothing was changed."""


@dataclass(frozen=True, kw_only=True)
class PerturbedSet(Result):
    """Originals, and per perturbation the changed version of each.

    Attributes
    ----------
    name : str
        What it is called in reports.
    originals : tuple of RatedItem
        In order. One that several versions of a kind belong to stands there as often.
    kinds : tuple of Perturbation
        What was done, in order; no two of one name.
    versions : tuple of tuple of (RatedItem or None)
        By kind, aligned with ``originals``; None if missing.
    skipped : mapping of str to mapping of str to int
        By name of the perturbation: reasons why a version is not there, with how many.
    notes : tuple of str
        What was left out or assumed, in sentences for people.
    """

    name: str
    originals: tuple[RatedItem, ...]
    kinds: tuple[Perturbation, ...]
    versions: tuple[tuple[RatedItem | None, ...], ...]
    skipped: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def _rows(self) -> Iterator[dict[str, Any]]:
        for kind, versions in zip(self.kinds, self.versions, strict=True):
            for item in filter(None, versions):
                ids = {"source_id": item.source_id, "system_id": item.system_id}
                yield {"change": kind.name, **ids, "response": item.response}

    @property
    def n_versions(self) -> int:
        """How many changed texts there are."""
        return sum(one is not None for row in self.versions for one in row)


def perturbed_set(
    originals: Sequence[RatedItem],
    changed: Mapping[Perturbation, Sequence[Perturbed | Skipped]],
    *,
    name: str,
    notes: Sequence[str] = (),
) -> PerturbedSet:
    unnamed = sum(not item.system_id for item in originals)
    if unnamed:
        raise InputError(
            f"versions name their original by its system_id; got {unnamed} originals without one."
        )
    versions, skipped = [], dict[str, Mapping[str, int]]()
    for kind, outcomes in changed.items():
        pairs = list(zip(originals, outcomes, strict=True))
        versions.append(tuple(_version(item, kind, made) for item, made in pairs))
        skipped[kind.name] = dict(Counter(o.reason for o in outcomes if isinstance(o, Skipped)))
    return PerturbedSet(
        name=name,
        originals=tuple(
            _original(item, {kind: outcomes[place] for kind, outcomes in changed.items()})
            for place, item in enumerate(originals)
        ),
        kinds=tuple(changed),
        versions=tuple(versions),
        skipped=skipped,
        notes=tuple(notes),
    )


def _original(item: RatedItem, outcomes: Mapping[Perturbation, Perturbed | Skipped]) -> RatedItem:
    reasons = {kind.name: o.reason for kind, o in outcomes.items() if isinstance(o, Skipped)}
    said = {"perturbation": None, "level": ORIGINAL_LEVEL, "skipped": reasons}
    return item.model_copy(update={"extra": {**item.extra, **said}})


def _version(item: RatedItem, kind: Perturbation, made: Perturbed | Skipped) -> RatedItem | None:
    if isinstance(made, Skipped):
        return None
    said = {
        "perturbation": kind.kind,
        "level": kind.level,
        "degree": kind.degree,
        "method": kind.method,
        "lowers": kind.lowers,
        "original": item.system_id,
        "edits": [[edit.start, edit.end, edit.text] for edit in made.edits],
    }
    changed = {
        "system_id": f"{item.system_id}+{kind.name}",
        "response": made.text,
        "human": {},
        "extra": {**item.extra, **said},
    }
    return item.model_copy(update=changed)


def kinds_among(
    kinds: Sequence[Perturbation], names: Iterable[str], *, task: str | None = None
) -> tuple[Perturbation, ...]:
    """Return those of some kinds of change that are meant, each once, in the order of the names."""
    wanted = list(names)
    if not wanted:
        raise InputError("no perturbation is named.", hint="name at least one.")
    found = {name: [kind for kind in kinds if _is_meant(kind, name, task)] for name in wanted}
    unknown = [name for name, own in found.items() if not own]
    if unknown:
        raise InputError(
            f"no text was changed by {', '.join(unknown)}.",
            hint=f"name some of {', '.join(kind.name for kind in kinds)}.",
        )
    return tuple(dict.fromkeys(kind for own in found.values() for kind in own))


def _is_meant(kind: Perturbation, name: str, task: str | None) -> bool:
    if name in (kind.kind, kind.name) or name == "all":
        return True
    if name == "controls":
        return not kind.lowers
    return name in GROUPS and kind.name in {way.name for way in perturbations_named([name], task)}


def some_kinds(
    perturbed: PerturbedSet, names: Iterable[str], *, task: str | None = None
) -> PerturbedSet:
    """Return the set with the named kinds alone, in its own order; see ``kinds_among``."""
    meant = kinds_among(perturbed.kinds, names, task=task)
    wanted = [place for place, kind in enumerate(perturbed.kinds) if kind in meant]
    return replace(
        perturbed,
        kinds=tuple(perturbed.kinds[place] for place in wanted),
        versions=tuple(perturbed.versions[place] for place in wanted),
    )


def some_originals(perturbed: PerturbedSet, n: int, *, seed: Seed) -> PerturbedSet:
    """Return the set with ``n`` originals drawn at random; all if there are fewer."""
    rng = generator(seed)
    named = [(one.source_id, one.system_id) for one in perturbed.originals]
    different = list(dict.fromkeys(named))
    if len(different) <= n:
        return perturbed
    drawn = {different[place] for place in rng.choice(len(different), n, replace=False).tolist()}
    places = [place for place, name in enumerate(named) if name in drawn]
    originals = tuple(perturbed.originals[place] for place in places)
    versions = tuple(tuple(row[place] for place in places) for row in perturbed.versions)
    return replace(
        perturbed,
        originals=originals,
        versions=versions,
        skipped={
            kind.name: dict(Counter(_reasons(kind.name, originals, row)))
            for kind, row in zip(perturbed.kinds, versions, strict=True)
        },
    )


def _reasons(
    name: str, originals: Sequence[RatedItem], versions: Sequence[RatedItem | None]
) -> Iterator[str]:
    """Yield why originals have no version, as far as they say; each is counted once."""
    lacking: dict[tuple[str, str], RatedItem] = {}
    having = set()
    for original, version in zip(originals, versions, strict=True):
        known = original.source_id, original.system_id
        lacking.setdefault(known, original)
        if version is not None:
            having.add(known)
    for known, original in lacking.items():
        if known not in having:
            stated = original.extra.get("skipped")
            reason = stated.get(name) if isinstance(stated, Mapping) else None
            yield reason if isinstance(reason, str) and reason else "no version in the data"

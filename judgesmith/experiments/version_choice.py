"""A part of a perturbed set: some kinds of change, some originals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.perturbed_set import PerturbedSet
from judgesmith.programs.perturbing.catalogue import GROUPS, perturbations_named
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbation


def kinds_among(
    kinds: Sequence[Perturbation], names: Iterable[str], *, task: str | None = None
) -> tuple[Perturbation, ...]:
    """Return those of some kinds of change that are meant, each once, in the order of the names.

    Parameters
    ----------
    kinds : sequence of Perturbation
        What texts were changed by.
    names : iterable of str
        Each a kind with its degree (``reordering/minor``), a kind, which stands for all its
        degrees, or one of ``GROUPS``, which stands for whatever of it is among the kinds.
    task : str or None
        Whose kinds the group ``task`` has.

    Raises
    ------
    ValueError
        If no kind is called so, or nothing is named.

    Examples
    --------
    >>> kinds = [
    ...     Perturbation(kind="typos", level="character", degree="minor"),
    ...     Perturbation(kind="padding", level="character", lowers=False),
    ... ]
    >>> [kind.name for kind in kinds_among(kinds, ["controls", "typos"])]
    ['padding', 'typos/minor']
    """
    wanted = list(names)
    if not wanted:
        raise InputError("no change is named.", hint="name one at least.")
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


def some_originals(perturbed: PerturbedSet, n: int, *, rng: np.random.Generator) -> PerturbedSet:
    """Return the set with ``n`` originals drawn at random, in their order; all if there are fewer.

    Examples
    --------
    >>> from judgesmith.signatures import RatedItem
    >>> items = tuple(RatedItem(source_id=str(i), response="r") for i in range(9))
    >>> whole = PerturbedSet(name="toy", originals=items, kinds=(), versions=())
    >>> part = some_originals(whole, 3, rng=np.random.default_rng(0))
    >>> [item.source_id for item in part.originals]
    ['4', '5', '7']
    """
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

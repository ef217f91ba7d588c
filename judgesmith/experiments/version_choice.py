"""A part of a perturbed set: some kinds of change, some originals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from judgesmith.experiments.perturbed_set import PerturbedSet
from judgesmith.signatures.rated import RatedItem


def some_kinds(perturbed: PerturbedSet, names: Sequence[str]) -> PerturbedSet:
    """Return the set with the named kinds alone: a kind, or a kind and degree.

    Raises
    ------
    ValueError
        If the set has no such kind, or none is named.
    """
    if not names:
        raise ValueError("no change is named; name one at least.")
    known = {name for kind in perturbed.kinds for name in (kind.kind, kind.name)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"no text was changed by {', '.join(unknown)}; name some of "
            f"{', '.join(kind.name for kind in perturbed.kinds)}."
        )
    wanted = [
        place
        for place, kind in enumerate(perturbed.kinds)
        if kind.kind in names or kind.name in names
    ]
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
    """Yield why versions are not there, as far as their originals say."""
    for original, version in zip(originals, versions, strict=True):
        if version is None:
            stated = original.extra.get("skipped")
            reason = stated.get(name) if isinstance(stated, Mapping) else None
            yield reason if isinstance(reason, str) and reason else "no version in the data"

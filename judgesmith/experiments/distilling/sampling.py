"""Which outputs of which inputs are annotated, and on which criteria."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgesmith.experiments.distilling.overlap import KnownInputs
from judgesmith.experiments.distilling.settings import DistilSettings
from judgesmith.signatures.items import RatedItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """One output that is annotated.

    Attributes
    ----------
    item : RatedItem
        Input and output.
    source : int
        Which input it answers; equal for items that must stay together.
    criteria : tuple of str
        What it is annotated on, in the rubric's order; one empty name for the whole.
    split : str
        ``train`` or ``validation``.
    """

    item: RatedItem
    source: int
    criteria: tuple[str, ...]
    split: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What is annotated, and what was left out because a test has it.

    Attributes
    ----------
    outputs : tuple of Sampled
        In the order of the data.
    n_sources : int
        Inputs that they answer.
    n_shared : int
        Inputs left out because they are shared with what was to be excluded.
    """

    outputs: tuple[Sampled, ...]
    n_sources: int
    n_shared: int


def sample(
    items: Sequence[RatedItem],
    groups: NDArray[np.intp],
    criteria: Sequence[str],
    settings: DistilSettings,
    *,
    known: KnownInputs | None = None,
) -> Sample:
    """Draw outputs of every input, criteria of every output, and inputs for validation.

    What is drawn for an input depends on the seed and its texts alone, so that further rows change
    nothing for it, but for which inputs are for validation.

    Parameters
    ----------
    items : sequence of RatedItem
        All outputs there are.
    groups : array of int, shape (n_items,)
        One number per item, equal for those of one input: ``DataSet.groups``.
    criteria : sequence of str
        Names to draw from; none stands for the whole.
    settings : DistilSettings
        How many.
    known : KnownInputs or None
        Inputs to leave out, with all of their outputs.

    Examples
    --------
    >>> items = [RatedItem(source="s", response=one, system_id=one) for one in "abc"]
    >>> own = DistilSettings(outputs=2, aspects=1)
    >>> found = sample(items, np.zeros(3, dtype=int), ["wit", "tact"], own)
    >>> len(found.outputs), {len(one.criteria) for one in found.outputs}
    (2, {1})
    """
    members: dict[int, list[int]] = {}
    for at, group in enumerate(groups.tolist()):
        members.setdefault(group, []).append(at)
    shared = {
        group
        for group, own in members.items()
        if known is not None and any(items[at].source in known for at in own)
    }
    left = [group for group in members if group not in shared]
    held = _held(left, settings)
    names = tuple(criteria) or ("",)
    drawn = []
    for group in left:
        digest = hashlib.sha256("".join(sorted(items[at].key for at in members[group])).encode())
        rng = np.random.default_rng([settings.seed, int.from_bytes(digest.digest()[:8])])
        for at in _outputs([*members[group]], items, settings.outputs, rng):
            few = min(settings.aspects, len(names))
            picked = sorted(rng.choice(len(names), few, replace=False).tolist())
            one = Sampled(
                item=items[at],
                source=group,
                criteria=tuple(names[place] for place in picked),
                split="validation" if group in held else "train",
            )
            drawn.append((at, one))
    outputs = tuple(one for _, one in sorted(drawn, key=lambda pair: pair[0]))
    return Sample(outputs=outputs, n_sources=len(left), n_shared=len(shared))


def _held(groups: Sequence[int], settings: DistilSettings) -> frozenset[int]:
    """Return the inputs that are for validation: one at least of two, if any are to be."""
    if settings.validation == 0 or len(groups) < 2:
        return frozenset()
    n = min(max(round(settings.validation * len(groups)), 1), len(groups) - 1)
    order = np.random.default_rng(settings.seed).permutation(len(groups))
    return frozenset(groups[place] for place in order[:n].tolist())


def _outputs(
    places: list[int], items: Sequence[RatedItem], n: int, rng: np.random.Generator
) -> list[int]:
    """Return the places of up to ``n`` different texts, of as many different systems as can be."""
    order = [places[at] for at in rng.permutation(len(places)).tolist()]
    texts: set[str] = set()
    different = []
    for at in order:
        if items[at].key not in texts and items[at].response.strip():
            texts.add(items[at].key)
            different.append(at)
    systems: set[str] = set()
    first: list[int] = []
    rest: list[int] = []
    for at in different:
        system = items[at].system_id
        (rest if system and system in systems else first).append(at)
        systems.add(system)
    return [*first, *rest][:n]

"""Originals and their changed versions, as one set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from judgesmith.errors import InputError
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbation, Perturbed, Skipped

ORIGINAL_LEVEL = "none"
"""What stands in the field ``level`` of a row in which nothing was changed."""


@dataclass(frozen=True, kw_only=True)
class PerturbedSet:
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
        By kind, aligned with ``originals``; None where there is none.
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
    """Return the set of originals and what was made of each.

    Parameters
    ----------
    originals : sequence of RatedItem
        Whose responses were changed.
    changed : mapping of Perturbation to sequence of Perturbed or Skipped
        By perturbation, aligned with ``originals``.
    name : str
        What the set is called.
    notes : sequence of str
        What a reader should know of it.

    Raises
    ------
    ValueError
        If there is not one outcome per original, or an original has no system id.

    Examples
    --------
    >>> from judgesmith.signatures.perturbation import Edit
    >>> item = RatedItem(source_id="1", system_id="m", response="A day.")
    >>> way = Perturbation(kind="case_loss", level="character")
    >>> made = Perturbed(text="a day.", edits=(Edit(start=0, end=1, text="a"),))
    >>> found = perturbed_set([item], {way: [made]}, name="toy")
    >>> found.versions[0][0].system_id, found.versions[0][0].response
    ('m+case_loss', 'a day.')
    """
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

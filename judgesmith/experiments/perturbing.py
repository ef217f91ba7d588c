"""Texts of rated data and what became of each when it was changed, written as rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesmith.drafts import draft_beside, put
from judgesmith.errors import file_faults
from judgesmith.experiments.perturbed_rows import rows_of
from judgesmith.experiments.perturbed_set import PerturbedSet, perturbed_set
from judgesmith.programs.artifacts.record import as_loaded
from judgesmith.programs.perturbing import Amount, Donors
from judgesmith.programs.perturbing.catalogue import perturbations_named
from judgesmith.programs.perturbing.perturber import method_of, perturb_all
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbation

if TYPE_CHECKING:
    import dspy

USUAL = ("task", "controls")
"""What is made where nobody says which: the perturbations of the task, and all controls."""


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Which changes are made, and how much of each.

    Parameters
    ----------
    kinds : tuple of str
        Names, as for ``perturbations_named``.
    task : str or None
        Says which degrees and amounts are usual.
    amounts : mapping of str to (int or Every)
        How many places instead, by name of the perturbation.
    seed : int
        Of the rules.

    Examples
    --------
    >>> [way.name for way in Changes(kinds=("controls",)).perturbations]
    ['paraphrase', 'padding']
    """

    kinds: tuple[str, ...] = USUAL
    task: str | None = None
    amounts: Mapping[str, Amount] | None = None
    seed: int = 0

    @property
    def perturbations(self) -> tuple[Perturbation, ...]:
        """The changes, in the order of their names."""
        return perturbations_named(self.kinds, self.task)


def perturb_texts(
    originals: Sequence[RatedItem],
    changes: Changes,
    *,
    name: str,
    donors: Donors | None = None,
    lm: dspy.LM | None = None,
    concurrency: int = 32,
    progress: Callable[[int], None] | None = None,
) -> PerturbedSet:
    """Return texts with their changed versions.

    Parameters
    ----------
    originals : sequence of RatedItem
        Whose responses are changed; each with a system id, as ``originals_of`` gives them.
    changes : Changes
        What is done.
    name : str
        What the set is called.
    donors : Donors or None
        Texts of other sources; None takes the originals.
    lm : dspy.LM or None
        What is asked for the changes whose method is ``model``. Without one, and with the offline
        model, rules make them: the set's notes say so, and so do its perturbations.
    concurrency : int
        Versions that the model is asked for at the same time.
    progress : callable or None
        Told the number of texts finished since it was last told.

    Raises
    ------
    ValueError
        If a perturbation is unknown, or an original has no system id.
    ModelError, LedgerError
        If the model cannot be asked at all, or the ledger not used.

    Examples
    --------
    >>> items = [RatedItem(source_id="1", system_id="m", response="It rained. We left.")]
    >>> found = perturb_texts(items, Changes(kinds=("reordering", "repetition")), name="toy")
    >>> [row[0] and row[0].response for row in found.versions]
    ['We left. It rained.', None, 'It rained. We left. We left.']
    >>> found.skipped["reordering/major"]
    {'fewer than 3 sentences': 1}
    """
    ways = changes.perturbations
    told: dict[str, None] = {}
    made = perturb_all(
        originals,
        ways,
        lm,
        task=changes.task,
        amounts=changes.amounts,
        donors=Donors(originals) if donors is None else donors,
        seed=changes.seed,
        concurrency=concurrency,
        progress=progress,
        told=lambda sentence: told.setdefault(sentence),
    )
    outcomes = [own for _, own in made]
    changed = {
        way.model_copy(update={"method": method_of(way, lm)}): [own[place] for own in outcomes]
        for place, way in enumerate(ways)
    }
    return perturbed_set(originals, changed, name=name, notes=tuple(told))


@file_faults()
def write_perturbed(perturbed: PerturbedSet, output: str | Path) -> None:
    """Write a perturbed set to a file of JSON lines, whole or not at all.

    Parameters
    ----------
    perturbed : PerturbedSet
        What is written: each original, then its versions.
    output : str or Path
        Where; what is there is replaced.
    """
    place = Path(output)
    with draft_beside(place) as draft:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            for row in rows_of(perturbed):
                file.write(json.dumps(as_loaded(row), default=str) + "\n")
        put(draft, place)


def summary_of(perturbed: PerturbedSet) -> dict[str, Any]:
    """Return how many texts were changed by what, and why others were not, ready for JSON.

    Examples
    --------
    >>> items = [RatedItem(source_id="1", system_id="m", response="It rained.")]
    >>> found = perturb_texts(items, Changes(kinds=("repetition", "number_swap")), name="toy")
    >>> summary_of(found)["kinds"]["number_swap"]["skipped"]
    {'no number in digits': 1}
    """
    rows = zip(perturbed.kinds, perturbed.versions, strict=True)
    return {
        "originals": len(perturbed.originals),
        "versions": perturbed.n_versions,
        "kinds": {
            kind.name: {
                "level": kind.level,
                "method": kind.method,
                "lowers": kind.lowers,
                "versions": sum(one is not None for one in versions),
                "skipped": dict(perturbed.skipped.get(kind.name, {})),
            }
            for kind, versions in rows
        },
    }

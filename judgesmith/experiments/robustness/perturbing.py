"""Texts that can be changed, and what became of each when it was, written as rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from judgesmith.data.items import DataSet
from judgesmith.drafts import draft_beside, put
from judgesmith.errors import file_faults
from judgesmith.experiments.robustness.perturbed_rows import is_original, rows_of
from judgesmith.experiments.robustness.perturbed_set import PerturbedSet, perturbed_set
from judgesmith.programs.artifacts.record import as_loaded
from judgesmith.programs.perturbing import Amount, Donors
from judgesmith.programs.perturbing.catalogue import perturbations_named
from judgesmith.programs.perturbing.orders import FactsCheck
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.programs.perturbing.perturber import method_of, perturb_all
from judgesmith.results.progress import OnProgress, shows_progress
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbation

if TYPE_CHECKING:
    import dspy

USUAL = ("task", "controls")
"""The default kinds: the perturbations of the task, and all controls."""


@dataclass(frozen=True, kw_only=True)
class PerturbationConfig:
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
    check : {"words", "model"}
        How it is seen that a model's paraphrase, or a sentence that it repeats in other words,
        states the same facts: by names, numbers, negations and shared words, which refuses nearly
        half of people's paraphrases, or by asking the model itself, which costs a call more.

    Examples
    --------
    >>> [way.name for way in PerturbationConfig(kinds=("controls",)).perturbations]
    ['paraphrase', 'padding']
    """

    kinds: tuple[str, ...] = USUAL
    task: str | None = None
    amounts: Mapping[str, Amount] | None = None
    seed: int = 0
    check: FactsCheck = "words"

    @property
    def perturbations(self) -> tuple[Perturbation, ...]:
        """The changes, in the order of their names."""
        return perturbations_named(self.kinds, self.task)


@shows_progress
def perturb_texts(
    originals: Sequence[RatedItem],
    changes: PerturbationConfig,
    *,
    name: str,
    donors: Donors | None = None,
    lm: dspy.LM | None = None,
    concurrency: int = 32,
    on_progress: OnProgress | None = None,
    progress: bool = True,
) -> PerturbedSet:
    """Return texts with their changed versions.

    Parameters
    ----------
    originals : sequence of RatedItem
        Whose responses are changed; each with a system id, as ``get_originals`` gives them.
    changes : PerturbationConfig
        What is done.
    name : str
        What the set is called.
    donors : Donors or None
        Texts of other sources; None takes the originals.
    lm : dspy.LM or None
        The model for the changes whose method is ``model``. Without one, and with the offline
        model, rules make them: the set's notes say so, and so do its perturbations.
    concurrency : int
        Versions that the model is asked for at the same time.
    on_progress : callable or None
        Told of every ``ProgressEvent``.
    progress : bool
        Whether a terminal or a notebook shows a bar, where ``on_progress`` is None.

    Raises
    ------
    ValueError
        If a perturbation is unknown, or an original has no system id.
    ModelError, CacheError
        If the model cannot be asked at all, or the ledger not used.

    Examples
    --------
    >>> items = [RatedItem(source_id="1", system_id="m", response="It rained. We left.")]
    >>> changes = PerturbationConfig(kinds=("reordering", "repetition"))
    >>> found = perturb_texts(items, changes, name="toy")
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
        check=changes.check,
        concurrency=concurrency,
        on_progress=on_progress,
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


def perturbation_summary(perturbed: PerturbedSet) -> dict[str, Any]:
    """Return how many texts were changed by what, and why others were not, ready for JSON."""
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


Which = Literal["references", "responses"]

MIN_CHARACTERS: Final[Mapping[str, int]] = MappingProxyType(
    {"question_answering": 151, "translation": 301}
)
"""By task: how long a text must be so that its major changes fit (Yuan et al., 2024)."""

_SAID = ("perturbation", "level", "degree", "method", "lowers", "original", "edits", "skipped")


@dataclass(frozen=True, kw_only=True)
class Originals:
    """Texts to be changed."""

    items: tuple[RatedItem, ...]
    which: Which
    left_out: Mapping[str, int]
    n_short: int = 0

    def sample(self, n: int, *, rng: np.random.Generator) -> Originals:
        """Return ``n`` of the texts at random, in their order; all if there are fewer."""
        if n >= len(self.items):
            return self
        drawn = np.sort(rng.choice(len(self.items), n, replace=False))
        return replace(self, items=tuple(self.items[index] for index in drawn))


def get_originals(
    dataset: DataSet, which: Which | None = None, *, min_characters: int = 0
) -> Originals:
    """Return the texts of a data set that can be changed.

    Parameters
    ----------
    dataset : DataSet
        Of rows that are changed versions already, only the originals are taken.
    which : {"references", "responses"} or None
        Of each source one reference, or every response. None takes references where any row has
        one.
    min_characters : int
        Shorter texts are left out.

    Notes
    -----
    Of several references of a source the one with the most sentences is taken, of several of
    those the longest, then the first. It is judged as a response, so that it is no reference of
    itself; other references stay. Of other fields those stay that all rows of the source share.

    Examples
    --------
    >>> row = RatedItem(source_id="1", source="s", response="r", references=("One.", "One. Two."))
    >>> found = get_originals(DataSet(name="toy", items=(row, row)))
    >>> [(item.system_id, item.response, item.references) for item in found.items]
    [('reference', 'One. Two.', ('One.',))]
    """
    rows = [item for item in dataset if is_original(item)]
    left_out = Counter({"a changed version already": len(dataset) - len(rows)})
    if which is None:
        which = "references" if any(item.references for item in rows) else "responses"
    short = f"fewer than {min_characters} characters"
    items: list[RatedItem] = []
    for item in _references(rows, left_out) if which == "references" else _responses(rows):
        if not item.response.strip():
            left_out["an empty text"] += 1
        elif len(item.response) < min_characters:
            left_out[short] += 1
        else:
            items.append(item)
    return Originals(
        items=tuple(items), which=which, left_out=dict(+left_out), n_short=left_out[short]
    )


def _references(rows: Iterable[RatedItem], left_out: Counter[str]) -> Iterator[RatedItem]:
    """Yield one reference per source, as a response."""
    sources: dict[tuple[str, str, str | None], list[RatedItem]] = {}
    for item in rows:
        sources.setdefault((item.source_id, item.source, item.context), []).append(item)
    counts: Counter[str] = Counter()
    for (source_id, _, _), own in sources.items():
        texts = list(dict.fromkeys(text for item in own for text in item.references))
        if not texts:
            left_out["a source without a reference"] += 1
            continue
        text = max(texts, key=lambda text: (len(Passage(text).sentences), len(text)))
        counts[source_id] += 1
        yield own[0].model_copy(
            update={
                "system_id": _numbered("reference", counts[source_id]),
                "response": text,
                "references": tuple(other for other in texts if other != text),
                "human": {},
                "extra": _shared(own),
            }
        )


def _responses(rows: Iterable[RatedItem]) -> Iterator[RatedItem]:
    """Yield each response, under a system id of its own."""
    counts: Counter[tuple[str, str]] = Counter()
    for item in rows:
        system = item.system_id or "response"
        counts[item.source_id, system] += 1
        name = _numbered(system, counts[item.source_id, system])
        yield item.model_copy(update={"system_id": name, "extra": _shared([item])})


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}#{number}"


def _shared(rows: Sequence[RatedItem]) -> dict[str, object]:
    """Return the further fields that are the same in all rows, none of which tells of changes."""
    first, *others = rows
    return {
        name: value
        for name, value in first.extra.items()
        if name not in _SAID and all(other.extra.get(name) == value for other in others)
    }

"""Which texts of rated data are changed: references or responses, long enough, a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

import numpy as np

from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.perturbed_kinds import is_original
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures.items import RatedItem

Which = Literal["references", "responses"]

MIN_CHARACTERS: Final[Mapping[str, int]] = MappingProxyType(
    {"question_answering": 151, "translation": 301}
)
"""By task: how long a text must be so that its major changes fit (Yuan et al., 2024)."""

_SAID = ("perturbation", "level", "degree", "method", "lowers", "original", "edits", "skipped")


@dataclass(frozen=True, kw_only=True)
class Originals:
    """Texts to be changed.

    Attributes
    ----------
    items : tuple of RatedItem
        Each with a system id that is its own among those of its source.
    which : {"references", "responses"}
        What they are.
    left_out : mapping of str to int
        Reasons why others are not among them, with how many.
    n_short : int
        How many of these are shorter than asked for.
    """

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


def originals_of(
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
    >>> found = originals_of(DataSet(name="toy", items=(row, row)))
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

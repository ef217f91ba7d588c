"""What a benchmark is made from: the sources of rated data, each with what is known of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgesmith.experiments.dataset import DataSet
from judgesmith.signatures.items import RatedItem


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkSource:
    """One source of rated data.

    Attributes
    ----------
    id : str
        That of the data, or a number where it has none; differs from all others.
    first : RatedItem
        The first row about it, whose source and context count, with the references of all rows.
    indices : tuple of int
        Its rows in the data.
    """

    id: str
    first: RatedItem
    indices: tuple[int, ...]

    @property
    def task(self) -> str | None:
        """What the row says was asked for, such as ``summarization``, or None."""
        task = self.first.extra.get("task")
        return task if isinstance(task, str) and task else None


def sources_of(dataset: DataSet) -> tuple[BenchmarkSource, ...]:
    """Return the sources of rated data, in the order of their first rows.

    Examples
    --------
    >>> rows = [("1", "x", "A."), ("2", "y", "B."), ("1", "x", "C.")]
    >>> items = tuple(
    ...     RatedItem(source_id=i, source=s, response="r", references=(t,)) for i, s, t in rows
    ... )
    >>> [(one.id, one.indices) for one in sources_of(DataSet(name="toy", items=items))]
    [('1', (0, 2)), ('2', (1,))]
    >>> sources_of(DataSet(name="toy", items=items))[0].first.references
    ('A.', 'C.')
    """
    rows: dict[int, list[int]] = {}
    for index, group in enumerate(dataset.groups.tolist()):
        rows.setdefault(group, []).append(index)
    found: dict[str, BenchmarkSource] = {}
    for number, indices in enumerate(rows.values(), start=1):
        first = dataset[indices[0]]
        name = first.source_id or f"source-{number}"
        while name in found:
            name += "'"
        references = dict.fromkeys(text for index in indices for text in dataset[index].references)
        item = first.model_copy(update={"source_id": name, "references": tuple(references)})
        found[name] = BenchmarkSource(id=name, first=item, indices=tuple(indices))
    return tuple(found.values())


def drawn_sources(
    sources: tuple[BenchmarkSource, ...], n: int | None, *, rng: np.random.Generator
) -> tuple[BenchmarkSource, ...]:
    """Return ``n`` of the sources at random, in their order; all where there are no more."""
    if n is None or n >= len(sources):
        return sources
    return tuple(sources[place] for place in sorted(rng.permutation(len(sources))[:n].tolist()))

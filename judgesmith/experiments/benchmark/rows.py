"""Sources that a benchmark is made from, and its rows, with how each text came to be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from judgesmith.data.items import DEFINITIONS, PROVENANCE, DataSet
from judgesmith.experiments.benchmark.settings import Perspective
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Target
from judgesmith.signatures.rubric import Criterion
from judgesmith.signatures.scale import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkSource:
    """One source of rated data."""

    id: str
    first: RatedItem
    indices: tuple[int, ...]

    @property
    def task(self) -> str | None:
        """What the row says was asked for, such as ``summarization``, or None."""
        task = self.first.extra.get("task")
        return task if isinstance(task, str) and task else None


def texts_by_source(dataset: DataSet) -> tuple[BenchmarkSource, ...]:
    """Return the sources of rated data, in the order of their first rows."""
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


@dataclass(frozen=True, kw_only=True)
class BenchmarkText:
    """One text of a benchmark, with its rating on one criterion."""

    source: BenchmarkSource
    criterion: Criterion
    target: Target
    reference: str
    rating: float
    scale: Scale  # that of the data, or from 0 to the number of steps
    more: Mapping[str, Any] = field(default_factory=dict)


def local_scale(steps: int) -> Scale:
    """Return the scale of sequences: what has no error has ``steps``, each error takes one."""
    return Scale(low=0, high=steps)


def rows_of_benchmark(
    texts: Iterable[BenchmarkText], perspective: Perspective, built_by: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield a row of rated data per text, without references: its own would give it away."""
    n_before: dict[tuple[str, str], int] = {}
    for one in texts:
        name = one.criterion.name
        number = n_before.get((one.source.id, name), 0)
        n_before[one.source.id, name] = number + 1
        first = one.source.first
        task = {} if one.source.task is None else {"task": one.source.task}
        yield {
            "source_id": one.source.id,
            "system_id": f"{name}-{number}",
            "source": first.source,
            "context": first.context,
            "response": one.target.text,
            "references": [],
            "human": {name: [one.rating]},
            "scale": {name: [one.scale.low, one.scale.high]},
            **task,
            DEFINITIONS: {name: one.criterion.definition},
            PROVENANCE: {
                "perspective": perspective,
                "criterion": name,
                "reference": one.reference,
                "n_errors": one.target.n_errors,
                "errors": [error.model_dump(mode="json") for error in one.target.errors],
                **one.more,
                "built_by": dict(built_by),
            },
        }

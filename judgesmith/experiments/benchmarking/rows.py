"""The rows of a benchmark: rated data like any other, with how each text came to be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from judgesmith.experiments.benchmarking.settings import Perspective
from judgesmith.experiments.benchmarking.sources import BenchmarkSource
from judgesmith.experiments.dataset import DEFINITIONS
from judgesmith.signatures.perturbation import Target
from judgesmith.signatures.rubric import Criterion
from judgesmith.signatures.scale import Scale

PROVENANCE = "provenance"
"""The field of a row that says how its text came to be."""


@dataclass(frozen=True, kw_only=True)
class BenchmarkText:
    """One text of a benchmark, with its rating on one criterion.

    Attributes
    ----------
    source : BenchmarkSource
        What it is about.
    criterion : Criterion
        What it is rated on.
    target : Target
        The text, and the errors in it.
    reference : str
        Id of the good text that it was made from.
    rating : float
        In points of ``scale``.
    scale : Scale
        That of the data, or from 0 to the number of steps.
    more : dict of str to JSON
        What else there is to say of it: ``step`` of a sequence, or the rating it was ``aimed`` at
        and the ``value`` of the one that it has.
    """

    source: BenchmarkSource
    criterion: Criterion
    target: Target
    reference: str
    rating: float
    scale: Scale
    more: Mapping[str, Any] = field(default_factory=dict)


def local_scale(steps: int) -> Scale:
    """Return the scale of sequences: what has no error has ``steps``, each error takes one.

    Examples
    --------
    >>> str(local_scale(15))
    '0..15'
    """
    return Scale(low=0, high=steps)


def rows_of_benchmark(
    texts: Iterable[BenchmarkText], perspective: Perspective, built_by: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield a row per text, in the canonical form of rated data.

    ``system_id`` is the criterion with a number that counts, from 0, the texts of that source
    and criterion. A row names no references: the one it was made from would give it away.

    Parameters
    ----------
    texts : iterable of BenchmarkText
        In the order in which they are to stand.
    perspective : {"global", "local"}
        What they are for.
    built_by : dict of str to str
        Models by role.

    Examples
    --------
    >>> from judgesmith.signatures.items import RatedItem
    >>> source = BenchmarkSource(id="1", first=RatedItem(source="s", response=""), indices=(0,))
    >>> text = BenchmarkText(
    ...     source=source, criterion=Criterion(name="fluency", definition="Is it fluent?"),
    ...     target=Target(text="It rained."), reference="given-1",
    ...     rating=2, scale=local_scale(2), more={"step": 0},
    ... )
    >>> row, = rows_of_benchmark([text], "local", {"injector": "rules"})
    >>> row["source_id"], row["system_id"], row["human"], row["scale"]
    ('1', 'fluency-0', {'fluency': [2]}, {'fluency': [0.0, 2.0]})
    >>> row["provenance"]["reference"], row["provenance"]["n_errors"], row["provenance"]["step"]
    ('given-1', 0, 0)
    """
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

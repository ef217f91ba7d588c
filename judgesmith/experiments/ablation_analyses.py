"""What an ablation tells besides its numbers: explanations, criteria side by side, equal rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.experiments.ablation_rows import BLOCKS, FULL, PEOPLES, Block
from judgesmith.metrics import PairedEstimate, agreement_difference
from judgesmith.metrics.correlation import Statistic
from judgesmith.optimizers import PredictionTable
from judgesmith.signatures import Rubric
from judgesmith.signatures.rubric import folded

CORRELATIONS: tuple[Statistic, ...] = ("pearson", "spearman", "kendall")

Tables = Mapping[tuple[Block, str], PredictionTable]
"""The rows held out as every judge scores them, by block and name."""

EXPLAINED = {FULL: "fine-without-explanations", "coarse": "coarse-without-explanations"}
"""Rows with explanations, and the same without."""

SIDES = {"inferred": FULL, "inferred without task": "without-task", "people's": PEOPLES}
"""Where criteria come from, and the row that was judged by them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ExplanationEffect:
    """What a variant gains by explaining itself, on the same rows.

    Attributes
    ----------
    block, variant : str
        Which rows are compared.
    gains : dict of str to PairedEstimate
        Agreement with explanations minus agreement without, by correlation.
    """

    block: Block
    variant: str
    gains: Mapping[Statistic, PairedEstimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionSides:
    """One criterion, and what it means to whom.

    Attributes
    ----------
    name : str
        As the first of the sides writes it.
    definitions : dict of str to str
        By side; a side that does not have the criterion is not in it.
    """

    name: str
    definitions: Mapping[str, str]


def difference(
    first: PredictionTable, second: PredictionTable, statistic: Statistic, *, seed: int
) -> PairedEstimate:
    """Return how much better ``first`` agrees, with the same resamples for every comparison."""
    return agreement_difference(
        first.human,
        first.predicted,
        second.predicted,
        sources=first.sources,
        systems=first.systems,
        statistic=statistic,
        level="dataset",
        rng=np.random.default_rng([seed, 13]),
    )


def explanation_effects(tables: Tables, *, seed: int) -> tuple[ExplanationEffect, ...]:
    """Return what explanations do to each variant that was judged with and without them."""
    return tuple(
        ExplanationEffect(
            block=block,
            variant=variant,
            gains={
                name: difference(tables[block, variant], tables[block, bare], name, seed=seed)
                for name in CORRELATIONS
            },
        )
        for block in BLOCKS
        for variant, bare in EXPLAINED.items()
        if {(block, variant), (block, bare)} <= set(tables)
    )


def criteria_side_by_side(rubrics: Mapping[str, Rubric]) -> tuple[CriterionSides, ...]:
    """Return the criteria of all sides, aligned by name in any case.

    Examples
    --------
    >>> found = criteria_side_by_side({
    ...     "inferred": Rubric(criteria=[{"name": "Fluency", "definition": "Reads well."}]),
    ...     "people's": Rubric(criteria=[{"name": "fluency", "definition": "No errors."}]),
    ... })
    >>> [(one.name, dict(one.definitions)) for one in found]
    [('Fluency', {'inferred': 'Reads well.', "people's": 'No errors.'})]
    """
    names: dict[str, str] = {}
    definitions: dict[str, dict[str, str]] = {}
    for side, rubric in rubrics.items():
        for criterion in rubric.criteria:
            own = folded(criterion.name)
            names.setdefault(own, criterion.name)
            definitions.setdefault(own, {})[side] = criterion.definition
    return tuple(CriterionSides(name=names[own], definitions=definitions[own]) for own in names)


def equal_rows(tables: Tables) -> tuple[tuple[Block, tuple[str, ...]], ...]:
    """Return, by block, the rows whose judges score every row held out alike, but for rounding."""
    groups: dict[tuple[Block, bytes], list[str]] = {}
    for (block, name), table in tables.items():
        scores = np.round(table.predicted, 9).tobytes()
        groups.setdefault((block, scores), []).append(name)
    return tuple((block, tuple(names)) for (block, _), names in groups.items() if len(names) > 1)


def plain_effects(effects: Iterable[ExplanationEffect]) -> list[dict[str, Any]]:
    """Return effects ready for JSON."""
    return [
        {
            "block": one.block,
            "variant": one.variant,
            **{name: gain.to_dict() for name, gain in one.gains.items()},
        }
        for one in effects
    ]


def plain_criteria(
    criteria: Sequence[CriterionSides], sides: Iterable[str]
) -> list[dict[str, str | None]]:
    """Return criteria ready for JSON, with None where a side does not have one."""
    names = list(sides)
    return [
        {"name": one.name, **{side: one.definitions.get(side) for side in names}}
        for one in criteria
    ]

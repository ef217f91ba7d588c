"""The rows of one compilation: to show, to choose by, to report on; no source in two of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.settings import CompileSettings
from judgesmith.experiments.targets import Targets
from judgesmith.optimizers import rated_example
from judgesmith.optimizers.rows import Rows, rows_of
from judgesmith.optimizers.splitting import pool_and_selection, split_by_source

if TYPE_CHECKING:
    import dspy


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """The rows of one compilation, by use: no source is in two of them."""

    pool: Rows | None
    selection: Rows
    heldout: Rows | None

    @property
    def tuning(self) -> list[Rows]:
        """All rows that something is learned from."""
        return [self.selection] if self.pool is None else [self.pool, self.selection]


def parts_of(dataset: DataSet, targets: Targets, settings: CompileSettings) -> Parts:
    """Return the rated rows to show, to choose by, and to report on.

    Raises
    ------
    ValueError
        If there are too few sources, or one part has only equal ratings.
    """
    rated = targets.rated
    groups = dataset.groups[rated]
    values = targets.values[rated]
    by_rows = settings.split_rows

    def rows(indices: np.ndarray) -> Rows | None:
        if not len(indices):
            return None
        chosen = rated[indices]
        examples = [
            rated_example(
                dataset[i], targets.values[i], targets.scale, group=int(dataset.groups[i])
            )
            for i in chosen.tolist()
        ]
        return rows_of(examples)

    split = split_by_source(
        groups,
        values,
        holdout=settings.holdout,
        rng=np.random.default_rng([settings.seed, 10]),
        rows=by_rows,
    )
    n_shown = settings.n_demonstrations if settings.optimizer != "none" else 0
    inner = pool_and_selection(
        groups[split.tuning],
        values[split.tuning],
        n_demonstrations=n_shown,
        rng=np.random.default_rng([settings.seed, 11]),
        rows=by_rows,
    )
    selection = rows(split.tuning[inner.selection])
    if selection is None:
        raise ValueError("no rated rows are left to choose by; rate more sources.")
    return Parts(
        pool=rows(split.tuning[inner.pool]), selection=selection, heldout=rows(split.heldout)
    )


def examples_of(rows: Rows) -> list[dspy.Example]:
    """Return rows as the DSPy examples that optimizers are given."""
    return [
        rated_example(item, points, rows.scale, group=group)
        for item, points, group in zip(rows.items, rows.human, rows.groups, strict=True)
    ]

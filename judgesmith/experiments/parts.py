"""The rows of one compilation: to show, to choose by, to report on; no source in two of them.

Where rows are split instead of sources, those to report on share sources with the others; a
source that is shown is not chosen by even then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judgesmith.experiments.chosen_targets import ChosenTargets
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.settings import CompileSettings
from judgesmith.optimizers import Agreement, rated_example
from judgesmith.optimizers.grammar import parse_objectives
from judgesmith.optimizers.rows import Rows, rows_of
from judgesmith.optimizers.several_objectives import SeveralObjectives
from judgesmith.optimizers.splitting import (
    IntArray,
    Split,
    pool_and_selection,
    split_by_source,
)

if TYPE_CHECKING:
    import dspy


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """The rows of one compilation, by use.

    Attributes
    ----------
    pool, selection, heldout : Rows or None
        To show, to choose by, to report on.
    heldout_places : array of int
        Where the rows held out stand in the data.
    n_known : int
        Rows that would have been held out by chance, if an earlier judge had not seen them or
        others of their sources.
    """

    pool: Rows | None
    selection: Rows
    heldout: Rows | None
    heldout_places: IntArray
    n_known: int = 0

    def counts(self, targets: ChosenTargets) -> dict[str, int]:
        """Return how many rows there are for what."""
        return {
            "train": 0 if self.pool is None else len(self.pool),
            "select": len(self.selection),
            "heldout": 0 if self.heldout is None else len(self.heldout),
            "unrated": targets.whole.n_unrated,
        }

    @property
    def tuning(self) -> list[Rows]:
        """All rows that something is learned from."""
        return [self.selection] if self.pool is None else [self.pool, self.selection]


def parts_of(
    dataset: DataSet,
    targets: ChosenTargets,
    settings: CompileSettings,
    known: frozenset[str] = frozenset(),
) -> Parts:
    """Return the rated rows to show, to choose by, and to report on.

    Parameters
    ----------
    dataset : DataSet
        Rated items.
    targets : ChosenTargets
        What people said of them.
    settings : CompileSettings
        How many are held out, and the seed.
    known : frozenset of str
        ``RatedItem.key`` of rows that an earlier judge was made from: they and their sources are
        not held out, as the judge to be made starts from that one.

    Raises
    ------
    ValueError
        If there are too few sources, the rows to choose by have only equal ratings, or the
        objective cannot be computed from such ratings.
    """
    whole = targets.whole
    rated = whole.rated
    groups = dataset.groups[rated]
    values = whole.values[rated]
    by_rows = settings.split_rows

    def rows(indices: np.ndarray) -> Rows | None:
        if not len(indices):
            return None
        chosen = rated[indices]
        examples = [
            rated_example(
                dataset[i],
                whole.values[i],
                whole.scale,
                group=int(dataset.groups[i]),
                criteria={
                    name: float(points[i])
                    for name, points in targets.criteria.items()
                    if not np.isnan(points[i])
                },
            )
            for i in chosen.tolist()
        ]
        return rows_of(examples, percent_of_max=settings.percent_of_max)

    split = split_by_source(
        groups,
        values,
        holdout=settings.holdout,
        rng=np.random.default_rng([settings.seed, 10]),
        rows=by_rows,
    )
    split, n_known = _without_known(
        split, np.asarray([dataset[i].key in known for i in rated.tolist()]), groups, rows=by_rows
    )
    inner = pool_and_selection(
        groups[split.tuning],
        values[split.tuning],
        n_demonstrations=settings.n_to_show,
        rng=np.random.default_rng([settings.seed, 11]),
    )
    selection = rows(split.tuning[inner.selection])
    if selection is None:
        raise ValueError("no rated rows are left to choose by; rate more sources.")
    if settings.optimizer != "none":
        selection.refuse_constant(targets.compared)  # here, before anything is asked
    parts = Parts(
        pool=rows(split.tuning[inner.pool]),
        selection=selection,
        heldout=rows(split.heldout),
        heldout_places=rated[split.heldout],
        n_known=n_known,
    )
    _check_objective(settings.objective, parts, targets)
    return parts


def _check_objective(text: str, parts: Parts, targets: ChosenTargets) -> None:
    """Refuse an objective that these ratings cannot tell judges apart by."""
    found = parse_objectives(text)
    for objective in found.each if isinstance(found, SeveralObjectives) else (found,):
        if isinstance(objective, Agreement):
            continue
        for part in (*parts.tuning, parts.heldout):
            if part is not None:
                value = objective.value(part.as_people_said(targets.compared))
                if part is parts.selection and np.isnan(value):
                    raise ValueError(
                        f"{objective} is undefined on the {len(part)} rows to choose by, even for "
                        "a judge that says what people say; adjacent and @sample need several "
                        "rated responses per source, @system several systems."
                    )


def _without_known(
    split: Split, known: NDArray[np.bool_], groups: NDArray[np.intp], *, rows: bool
) -> tuple[Split, int]:
    """Return the split with what is known moved to the rows to tune on, and how much was."""
    seen = known if rows else np.isin(groups, groups[known])
    moved = split.heldout[seen[split.heldout]]
    if not len(moved):
        return split, 0
    return Split(
        tuning=np.sort(np.concatenate([split.tuning, moved])),
        heldout=split.heldout[~seen[split.heldout]],
    ), len(moved)


def examples_of(rows: Rows) -> list[dspy.Example]:
    """Return rows as the DSPy examples that optimizers are given."""
    return [
        rated_example(
            item,
            rows.human[place],
            rows.scale,
            group=rows.groups[place],
            criteria={
                name: float(points[place])
                for name, points in rows.criteria.items()
                if not np.isnan(points[place])
            },
        )
        for place, item in enumerate(rows.items)
    ]

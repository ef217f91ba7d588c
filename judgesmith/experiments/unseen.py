"""Rated rows of sources that a judge has not seen: to learn what comes after it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.suggesting.marks import was_chosen
from judgesmith.experiments.targets import Targets
from judgesmith.optimizers import rated_example
from judgesmith.optimizers.rows import IntArray, Rows, Versions, rows_of, split_by_source


def unseen_places(dataset: DataSet, targets: Targets, known: frozenset[str]) -> IntArray:
    """Return where rated rows stand whose source nobody has seen.

    Parameters
    ----------
    dataset : DataSet
        Rated items.
    targets : Targets
        What people said of them.
    known : frozenset of str
        ``RatedItem.key`` of rows that a judge was made from.
    """
    seen = np.asarray([item.key in known for item in dataset], dtype=bool)
    rated = targets.rated
    return rated[~np.isin(dataset.groups[rated], dataset.groups[seen])]


def rated_rows(
    dataset: DataSet,
    targets: Targets,
    places: Sequence[int] | IntArray,
    versions: Sequence[Versions] = (),
) -> Rows:
    """Return the rated rows at ``places`` as optimizers work on them; at least one.

    ``versions`` are their changed versions, one entry per row, or none.
    """
    return rows_of(
        [
            rated_example(
                dataset[i],
                targets.values[i],
                targets.scale,
                group=int(dataset.groups[i]),
                versions=own,
            )
            for i, own in zip(map(int, places), versions or [()] * len(places), strict=True)
        ]
    )


def set_aside(
    dataset: DataSet, targets: Targets, *, share: float, seed: int
) -> tuple[DataSet, DataSet]:
    """Return the rows of most sources, and those of some that are kept for later.

    Parameters
    ----------
    dataset, targets
        Rated items, and what people said of them.
    share : float
        Of the sources with rated rows, how many are kept for later. Sources with rows that
        ``suggest`` chose are none of those: a calibration takes a random sample.
    seed : int
        Of the drawing.

    Raises
    ------
    ValueError
        If there is but one source.
    """
    rated = targets.rated
    chosen = np.asarray([was_chosen(item) for item in dataset], dtype=bool)
    rated = rated[~np.isin(dataset.groups[rated], dataset.groups[chosen])]
    split = split_by_source(
        dataset.groups[rated],
        targets.values[rated],
        holdout=share,
        rng=np.random.default_rng([seed, 14]),
    )
    later = np.isin(dataset.groups, dataset.groups[rated[split.heldout]])
    return dataset.subset(np.flatnonzero(~later)), dataset.subset(np.flatnonzero(later))

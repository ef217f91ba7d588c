"""The rows held out in a cell: who is on them, what people said, and what a judge said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.experiments.agreeing import oriented
from judgesmith.experiments.besides import besides
from judgesmith.experiments.chosen_versions import original_places
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.judged_rows import JudgedRows
from judgesmith.experiments.score_rows import value_in
from judgesmith.experiments.targets import Targets
from judgesmith.metrics.records import plain
from judgesmith.optimizers import PredictionTable
from judgesmith.optimizers.predictions import prediction_table
from judgesmith.optimizers.rows import split_by_source
from judgesmith.programs.judging.rows import score_row
from judgesmith.signatures import Judgement, Scale

Places = NDArray[np.intp]


def places_held_out(
    dataset: DataSet,
    targets: Targets,
    *,
    holdout: float,
    seed: int,
    rows: bool = False,
    originals: bool = False,
) -> Places:
    """Return where the rows stand that a compilation of this seed holds out.

    Parameters
    ----------
    dataset : DataSet
        Rated items.
    targets : Targets
        What people said of them.
    holdout : float
        Share of sources that are held out.
    seed : int
        Of the split.
    rows : bool
        Whether rows are split instead of sources.
    originals : bool
        Whether changed versions of other rows are left out.

    Examples
    --------
    >>> from judgesmith.experiments import read_items
    >>> from judgesmith.experiments.targets import targets_of
    >>> data = read_items("sample")
    >>> len(places_held_out(data, targets_of(data, "overall"), holdout=0.25, seed=0))
    40
    """
    rated = targets.rated
    if originals:
        rated = np.intersect1d(rated, original_places(dataset))
    split = split_by_source(
        dataset.groups[rated],
        targets.values[rated],
        holdout=holdout,
        rng=np.random.default_rng([seed, 10]),
        rows=rows,
    )
    found: Places = rated[split.heldout]
    return found


def table_held_out(
    dataset: DataSet, targets: Targets, places: Places, judgements: Sequence[Judgement]
) -> PredictionTable:
    """Return what a judge says of the rows held out beside what people said."""
    human = oriented(targets)[places]
    return prediction_table(
        judgements,
        human,
        sources=dataset.groups[places],
        systems=np.asarray([dataset[i].system_id for i in places.tolist()]),
        is_rated=not np.isnan(human).all(),
    )


def score_rows(
    dataset: DataSet,
    targets: Targets,
    places: Places,
    judgements: Sequence[Judgement],
    marks: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Return a row for each text held out, as ``score`` writes it, and where it stands.

    ``marks`` are the same for all of them: whose they are and what they are about.
    """
    human = oriented(targets)
    return [
        {
            **score_row(dataset[place], judgement),
            **marks,
            "human": plain(float(human[place])),
            "item": place,
            "group": int(dataset.groups[place]),
        }
        for place, judgement in zip(places.tolist(), judgements, strict=True)
    ]


def table_of_rows(rows: Sequence[Mapping[str, Any]]) -> PredictionTable:
    """Return the table of rows that ``score_rows`` made.

    Examples
    --------
    >>> row = {"score": None, "problem": "cut off", "human": 2.0, "group": 0, "system_id": "a"}
    >>> table_of_rows([row, row | {"score": 3.0, "problem": None}]).n_unscored
    1
    """
    return PredictionTable(
        predicted=_numbers(row["score"] for row in rows),
        human=_numbers(row["human"] for row in rows),
        sources=np.asarray([row["group"] for row in rows], dtype=np.intp),
        systems=np.asarray([str(row["system_id"]) for row in rows]),
        problems=tuple(value_in(row)[1] for row in rows),
    )


def beside_agreement(
    dataset: DataSet,
    targets: Targets,
    places: Places,
    table: PredictionTable,
    *,
    scale: Scale | None,
    ranks: bool,
    seed: int,
) -> dict[str, Any] | None:
    """Return what correlations do not tell of the rows held out, ready for JSON.

    ``scale`` is what the judge answers on, and ``ranks`` whether that is a place within a source.
    """
    rated = targets.rated
    own = np.searchsorted(rated, places)
    predicted = np.full(len(rated), np.nan)
    predicted[own] = table.predicted
    whole = JudgedRows(
        label="",
        judgements=(),
        scored_by="score",
        seen=np.zeros(len(rated), dtype=bool),
        knows_seen=True,
        table=PredictionTable(
            predicted=predicted,
            human=oriented(targets)[rated],
            sources=dataset.groups[rated],
            systems=np.asarray([dataset[i].system_id for i in rated.tolist()]),
        ),
        scale=scale,
        ranks=ranks,
    )
    rng = np.random.default_rng([seed, 12])
    found = besides(whole, own.tolist(), dataset, targets, rng=rng)
    return None if found is None else found.to_dict()


def _numbers(values: Any) -> NDArray[np.float64]:
    return np.asarray([np.nan if one is None else one for one in values], dtype=float)

"""The rows held out in a cell: what people, a judge or a panel said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from judgesmith.data.items import DataSet
from judgesmith.data.scores import value_in
from judgesmith.data.targets import FRACTION, Targets
from judgesmith.errors import InputError
from judgesmith.experiments.compile.split import first_split
from judgesmith.experiments.compile.versions import original_places
from judgesmith.experiments.evaluate.agreement import oriented
from judgesmith.experiments.evaluate.diagnostics import diagnostics_of
from judgesmith.experiments.evaluate.judged_rows import JudgedRows
from judgesmith.experiments.evaluate.label_verdicts import label_agreement, rates_line
from judgesmith.metrics.records import plain
from judgesmith.optimizers import PredictionTable
from judgesmith.optimizers.predictions import prediction_table
from judgesmith.programs.judging.rows import score_row
from judgesmith.signatures import Judgement, RatedItem, Scale

Places = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldOutRows:
    """The rows held out in a cell: a set, what people said of it, and where the rows stand."""

    dataset: DataSet
    targets: Targets
    places: Places

    @property
    def items(self) -> list[RatedItem]:
        return [self.dataset[place] for place in self.places.tolist()]


def places_held_out(
    dataset: DataSet,
    targets: Targets,
    *,
    holdout: float,
    seed: int,
    rows: bool = False,
    originals: bool = False,
) -> Places:
    """Return where the rows stand that a compilation of this seed holds out."""
    rated = targets.rated
    if originals:
        rated = np.intersect1d(rated, original_places(dataset))
    split = first_split(
        dataset.groups[rated], targets.values[rated], holdout=holdout, seed=seed, rows=rows
    )
    found: Places = rated[split.heldout]
    return found


def table_held_out(rows: HeldOutRows, judgements: Sequence[Judgement]) -> PredictionTable:
    """Return what a judge says of the rows held out beside what people said."""
    human = oriented(rows.targets)[rows.places]
    return prediction_table(
        judgements,
        human,
        sources=rows.dataset.groups[rows.places],
        systems=np.asarray([one.system_id for one in rows.items]),
        is_rated=not np.isnan(human).all(),
    )


def score_rows(
    rows: HeldOutRows, judgements: Sequence[Judgement], marks: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return a row for each text held out, as ``score`` writes it, and where it stands."""
    human = oriented(rows.targets)
    return [
        {
            **score_row(rows.dataset[place], judgement),
            **marks,
            "human": plain(float(human[place])),
            "item": place,
            "group": int(rows.dataset.groups[place]),
        }
        for place, judgement in zip(rows.places.tolist(), judgements, strict=True)
    ]


def table_of_rows(rows: Sequence[Mapping[str, Any]]) -> PredictionTable:
    """Return the table of rows that ``score_rows`` made."""
    return PredictionTable(
        predicted=np.asarray([row["score"] for row in rows], dtype=float),
        human=np.asarray([row["human"] for row in rows], dtype=float),
        sources=np.asarray([row["group"] for row in rows], dtype=np.intp),
        systems=np.asarray([str(row["system_id"]) for row in rows]),
        problems=tuple(value_in(row)[1] for row in rows),
    )


def beside_agreement(
    rows: HeldOutRows, table: PredictionTable, *, scale: Scale | None, ranks: bool, seed: int
) -> dict[str, Any] | None:
    """Return what correlations do not tell of the rows held out, ready for JSON."""
    dataset, targets = rows.dataset, rows.targets
    rated = targets.rated
    own = np.searchsorted(rated, rows.places)
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
    found = diagnostics_of(whole, own.tolist(), dataset, targets, rng=rng)
    return None if found is None else found.to_dict()


def labels_held_out(
    rows: HeldOutRows,
    judgements: Sequence[Judgement],
    table: PredictionTable,
    *,
    scale: Scale | None,
    seed: int,
    guidelines: tuple[str, ...] = (),
) -> dict[str, Any] | None:
    """Return how labels agree on the rows held out, ready for JSON, without texts."""
    judged = JudgedRows(
        label="",
        judgements=tuple(judgements),
        scored_by="score",
        seen=np.zeros(len(rows.places), dtype=bool),
        knows_seen=True,
        table=table,
        scale=scale,
        guidelines=guidelines,
    )
    found = label_agreement(
        judged,
        range(len(rows.places)),
        rows.dataset.subset(rows.places.tolist()),
        rows.targets.take(rows.places),
        rng=np.random.default_rng([seed, 12]),
    )
    if found is None:
        return None
    plain_form = found.to_dict()
    wrong = [*plain_form.pop("false_passes"), *plain_form.pop("false_fails")]
    kept = ("human", "judge", "probability", "criterion", "guideline")
    return {
        "said": rates_line(found),
        **plain_form,
        "wrong": [
            {"item": int(rows.places[one["row"]]), **{name: one[name] for name in kept}}
            for one in wrong
        ],
    }


def combined_scores(
    members: Mapping[str, Sequence[Mapping[str, Any]]],
    scales: Sequence[Sequence[float] | None],
    *,
    how: Literal["mean", "median"],
    places: Places,
    at_least: int | None = None,
) -> tuple[list[Judgement], Scale | None]:
    """Return what a panel says of the rows that all its members judged."""
    for name, rows in members.items():
        if [row["item"] for row in rows] != places.tolist():
            raise InputError(
                f"{name} was held against other rows than the panel.",
                hint="leave it out of the panel, or give all of them one objective.",
            )
    known = [one for one in scales if one is not None]
    if known and len(known) < len(scales):
        names = [name for name, one in zip(members, scales, strict=True) if one is None]
        raise InputError(
            f"the scale of the scores of {', '.join(names)} is unknown, and the others have a "
            "scale.",
            hint="make a panel of either kind.",
        )
    columns = [_column(rows, one) for rows, one in zip(members.values(), scales, strict=True)]
    table = np.column_stack(columns) if len(places) else np.empty((0, len(columns)))
    wanted = len(members) / 2 if at_least is None else at_least
    judged = []
    for row in table:
        given = row[~np.isnan(row)]
        if len(given) < wanted:
            judged.append(Judgement.unscored(f"{len(given)} of {len(row)} members gave a score"))
        else:
            judged.append(
                Judgement(score=float(np.mean(given) if how == "mean" else np.median(given)))
            )
    return judged, FRACTION if known else None


def _column(rows: Sequence[Mapping[str, Any]], scale: Sequence[float] | None) -> np.ndarray:
    values = np.asarray([row["score"] for row in rows], dtype=float)  # None is nan
    return values if scale is None else (values - scale[0]) / (scale[1] - scale[0])

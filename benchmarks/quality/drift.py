"""How often ``drift`` is right: false alarms, and shifts that were planted, offline.

For each set the offline judge scores all rows once. Its sources are divided at random into two
halves; some rows of one stand for those of compile time, some of the other for those of now. With
nothing planted, every drift is a false alarm. Then now's rows are changed: scores are raised by
half or by a quarter of their standard deviation; a tenth of the rows has no score; responses are
cut to half of their characters, and scored again; a tenth of the responses is German.

Cells are the shares of the draws in which anything had drifted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

import numpy as np

from benchmarks.harness import Row as TableRow
from benchmarks.harness import benchmark, rated
from judgesmith.experiments.monitor.drifting import drift_between
from judgesmith.experiments.monitor.snapshot import (
    NO,
    SCORE,
    SCORED,
    SnapshotRow,
    is_score,
    measured,
    snapshot_of,
)
from judgesmith.programs import ActiveCritic, score_batch

SETS = ("summeval", "topical_chat", "wiki_da", "openmeva_roc", "sfres")
SIZES = ((60, 60), (60, 300), (200, 200))
A_TENTH = 0.1
CUT = "responses cut to half"

Change = Callable[[list[SnapshotRow], np.random.Generator], list[SnapshotRow]]


def raised(by: float) -> Change:
    """Return what raises scores by so many of their standard deviations."""

    def change(rows: list[SnapshotRow], rng: np.random.Generator) -> list[SnapshotRow]:
        spread = np.std([row.numbers[SCORE] for row in rows if SCORE in row.numbers])
        return [
            row.model_copy(
                update={"numbers": row.numbers | {SCORE: row.numbers[SCORE] + by * spread}}
            )
            for row in rows
        ]

    return change


def unscored(rows: list[SnapshotRow], rng: np.random.Generator) -> list[SnapshotRow]:
    """Take the scores from a tenth of the rows."""
    return [
        row
        if rng.random() >= A_TENTH
        else row.model_copy(
            update={
                "numbers": {name: one for name, one in row.numbers.items() if not is_score(name)},
                "labels": row.labels | {SCORED: NO},
            }
        )
        for row in rows
    ]


def german(rows: list[SnapshotRow], rng: np.random.Generator) -> list[SnapshotRow]:
    """Call a tenth of the responses German."""
    label = {"response language": "German"}
    return [
        row if rng.random() >= A_TENTH else row.model_copy(update={"labels": row.labels | label})
        for row in rows
    ]


CHANGES: dict[str, Change] = {
    "nothing": lambda rows, rng: rows,
    "scores + 0.5 sd": raised(0.5),
    "scores + 0.25 sd": raised(0.25),
    "10% unscored": unscored,
    "10% German": german,
}


def shares(
    name: str, n_draws: int, n_sources: int | None
) -> dict[tuple[int, int], dict[str, float]]:
    """Return in which share of the draws anything had drifted, by sizes and by what was planted."""
    data = rated(name, n_sources)
    judge = ActiveCritic()
    items = list(data)
    halved = [
        one.model_copy(update={"response": one.response[: len(one.response) // 2]}) for one in items
    ]
    whole, cut = (
        [
            measured(item, found)
            for item, found in zip(texts, score_batch(judge, texts), strict=True)
        ]
        for texts in (items, halved)
    )
    sources = np.unique(data.groups)
    found: dict[tuple[int, int], dict[str, float]] = {}
    for n_before, n_now in SIZES:
        hits = dict.fromkeys((*CHANGES, CUT), 0)
        for draw in range(n_draws):
            rng = np.random.default_rng([draw, n_before, n_now])
            first = set(rng.permutation(sources)[: len(sources) // 2].tolist())
            mine = np.array([group in first for group in data.groups.tolist()])
            halves = [rng.permutation(np.flatnonzero(one)) for one in (mine, ~mine)]
            before = snapshot_of([whole[place] for place in halves[0][:n_before]])
            places = halves[1][:n_now]
            later = {
                name: change([whole[p] for p in places], rng) for name, change in CHANGES.items()
            }
            later[CUT] = [cut[place] for place in places]
            for planted, rows in later.items():
                hits[planted] += bool(drift_between(before, snapshot_of(rows)).drifted)
        found[n_before, n_now] = {planted: n / n_draws for planted, n in hits.items()}
    return found


@benchmark(
    quick={"draws": 1, "sets": ("topical_chat",), "sources": 20},
    formats=dict.fromkeys((*CHANGES, CUT), ".1%"),
)
def drift(
    *,
    draws: int = 100,
    sets: tuple[str, ...] = SETS,
    sources: Annotated[int | None, "of each set, or all"] = None,
) -> Iterator[TableRow]:
    """How often ``drift`` is right: false alarms, and shifts that were planted, offline."""
    for name in sets:
        for (n_before, n_now), found in shares(name, draws, sources).items():
            yield {"set": name, "rows before, now": f"{n_before}, {n_now}"} | found

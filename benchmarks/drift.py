"""How often ``drift`` is right: false alarms, and shifts that were planted, offline.

For each set the offline judge scores all rows once. Its sources are divided at random into two
halves; some rows of one stand for those of compile time, some of the other for those of now. With
nothing planted, every drift is a false alarm. Then now's rows are changed: scores are raised by
half or by a quarter of their standard deviation; a tenth of the rows has no score; responses are
cut to half of their characters, and scored again; a tenth of the responses is German.

Prints a Markdown table with the share of the draws in which anything had drifted. Run it as
``python benchmarks/drift.py [--draws 100] [--sets SET …]``.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from judgesmith.data import read_items
from judgesmith.experiments.monitor.drifting import drift_between
from judgesmith.experiments.monitor.snapshot import (
    NO,
    SCORE,
    SCORED,
    Row,
    is_score,
    measured,
    snapshot_of,
)
from judgesmith.programs import ActiveCritic, judge_items

SETS = ("summeval", "topical_chat", "wiki_da", "openmeva_roc", "sfres")
SIZES = ((60, 60), (60, 300), (200, 200))
A_TENTH = 0.1

Change = Callable[[list[Row], np.random.Generator], list[Row]]


def raised(by: float) -> Change:
    """Return what raises scores by so many of their standard deviations."""

    def change(rows: list[Row], rng: np.random.Generator) -> list[Row]:
        spread = np.std([row.numbers[SCORE] for row in rows if SCORE in row.numbers])
        return [
            row.model_copy(
                update={"numbers": row.numbers | {SCORE: row.numbers[SCORE] + by * spread}}
            )
            for row in rows
        ]

    return change


def unscored(rows: list[Row], rng: np.random.Generator) -> list[Row]:
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


def german(rows: list[Row], rng: np.random.Generator) -> list[Row]:
    """Call a tenth of the responses German."""
    label = {"response language": "German"}
    return [
        row if rng.random() >= A_TENTH else row.model_copy(update={"labels": row.labels | label})
        for row in rows
    ]


CHANGES: dict[str, Change] = {
    "nothing": lambda rows, rng: rows,
    "scores + .5 sd": raised(0.5),
    "scores + .25 sd": raised(0.25),
    "10 % unscored": unscored,
    "10 % German": german,
}


def shares(name: str, n_draws: int) -> dict[tuple[int, int], dict[str, float]]:
    """Return in which share of the draws anything had drifted, by sizes and by what was planted."""
    folder = Path(os.environ.get("JUDGESMITH_DATA", "../shared/data"))
    data = read_items(folder / f"{name}.jsonl.gz")
    judge = ActiveCritic()
    items = list(data)
    halved = [
        one.model_copy(update={"response": one.response[: len(one.response) // 2]}) for one in items
    ]
    whole, cut = (
        [
            measured(item, found)
            for item, found in zip(texts, judge_items(judge, texts), strict=True)
        ]
        for texts in (items, halved)
    )
    sources = np.unique(data.groups)
    found: dict[tuple[int, int], dict[str, float]] = {}
    for n_before, n_now in SIZES:
        hits = dict.fromkeys((*CHANGES, "responses cut to half"), 0)
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
            later["responses cut to half"] = [cut[place] for place in places]
            for planted, rows in later.items():
                hits[planted] += bool(drift_between(before, snapshot_of(rows)).drifted)
        found[n_before, n_now] = {planted: n / n_draws for planted, n in hits.items()}
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    options = parser.parse_args()
    heads = ("set", "rows before, now", *CHANGES, "responses cut to half")
    print("| " + " | ".join(heads) + " |")
    print("| " + " | ".join("---" for _ in heads) + " |", flush=True)
    for name in options.sets:
        for (n_before, n_now), row in shares(name, options.draws).items():
            cells = [
                name,
                f"{n_before}, {n_now}",
                *(f"{100 * row[one]:.1f} %" for one in heads[2:]),
            ]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

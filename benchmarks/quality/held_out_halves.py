"""How well the offline model agrees with people on sources that it was not compiled from.

A set is split in half by source, 20 times; ``compile_judge`` gets one half, with its defaults, and
the judge that it returns scores the other. Columns are the means over the splits of Pearson's and
Spearman's correlation over all held-out rows, uncompiled and compiled, the gain in each with its
95 % interval, and the smallest gain in Pearson of a split. An interval resamples sources, the same
ones for every split and both judges.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from benchmarks.harness import Row, benchmark, rated, seeds_of, spread
from benchmarks.search.stages import TARGETS, HeldOut, gains, scores
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.split import parts_of
from judgesmith.programs import ActiveCritic

BEFORE, AFTER = "uncompiled", "compiled"


def halved(name: str, seed: int, n_sources: int | None) -> HeldOut:
    """Compile from one half of the sources and score the other."""
    data = rated(name, n_sources)
    settings = CompileSettings(target=TARGETS[name], holdout=0.5, seed=seed)
    heldout = parts_of(data, chosen_targets(data, settings), settings).heldout
    assert heldout is not None
    judges = {
        BEFORE: ActiveCritic(settings.protocol),
        AFTER: compile_judge(data, settings).saved.program(),
    }
    return HeldOut(
        human=heldout.human,
        sources=heldout.groups.astype(int),
        stages={stage: scores(judge, heldout) for stage, judge in judges.items()},
    )


GAINS = ("gain in P", "gain in S")


@benchmark(
    quick={"sets": ("topical_chat",), "splits": "0", "sources": 12},
    formats=dict.fromkeys((*GAINS, "worst split"), "+.3f"),
)
def held_out_halves(
    *,
    splits: str = "0-19",
    sets: tuple[str, ...] = tuple(TARGETS),
    processes: int = 1,
    sources: Annotated[int | None, "of each set, or all"] = None,
) -> Iterator[Row]:
    """How well the offline model agrees with people on sources that it was not compiled from."""
    numbers = seeds_of(splits)
    found = spread(halved, [(name, n, sources) for name in sets for n in numbers], processes)
    for name in sets:
        runs = [next(found) for _ in numbers]
        row: Row = {"set": name, "splits": len(runs)}
        for stage in (BEFORE, AFTER):
            row[f"{stage} P"] = np.mean([run.agreement(stage, "pearson") for run in runs])
            row[f"{stage} S"] = np.mean([run.agreement(stage, "spearman") for run in runs])
        (row[GAINS[0]],) = gains(runs, [(AFTER, BEFORE)], "pearson")
        (row[GAINS[1]],) = gains(runs, [(AFTER, BEFORE)], "spearman")
        row["worst split"] = min(
            run.agreement(AFTER, "pearson") - run.agreement(BEFORE, "pearson") for run in runs
        )
        yield row

"""What it brings to choose a judge by what it notices, too: ``q + .5*d_min`` against ``q`` alone.

Per set and seed the offline model's judge is compiled twice by a search of the protocol, once for
each objective. Both then judge the same rows held out with all their changed versions: of the kinds
that the second search saw, and of kinds that neither saw. Kinds that no judge of the offline model
notices (lost capitals, unsupported additions) are left out of both: there is nothing to choose
there. Every pair is one line of a results file, and pairs that are there are not run again.

The columns are, as means over seeds, held-out Q, the lowest D over kinds that were seen, and the
lowest and the average D over kinds that were not; then the difference with its least and largest
value over seeds, and in how many of them it is above 0.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import fmean
from typing import Annotated, Any

from benchmarks.harness import Row, benchmark, kept, rated
from judgesmith.data import DataSet
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.split import parts_of
from judgesmith.optimizers import PredictionTable, parse_objective
from judgesmith.programs import score_batch

SEEN = (
    *("character_deletions", "character_typos", "word_deletions", "reordering"),
    *("punctuation_loss", "negation", "number_swap"),
)
UNSEEN = ("key_sentence_omission", "truncation", "repetition")
OBJECTIVES = ("q", "q + .5*d_min")
NUMBERS = ("q", "d_min", "unseen d_min", "unseen d_avg")


def compared(data: DataSet, *, seed: int, n_trials: int, versions: int) -> dict[str, Any]:
    """Return what both objectives come to on one set and seed, ready for JSON."""
    both = CompileSettings(
        objective=OBJECTIVES[1], kinds=SEEN, holdout_kinds=UNSEEN, versions=0, seed=seed
    )
    parts = parts_of(data, chosen_targets(data, both), both)
    held = parts.heldout
    assert held is not None
    assert parts.versions is not None
    found: dict[str, Any] = {"held": len(held)}
    for objective in OBJECTIVES:
        started = time.perf_counter()
        minds = {"kinds": SEEN, "holdout_kinds": UNSEEN, "versions": versions}
        settings = CompileSettings(
            optimizer="protocol",
            objective=objective,
            n_trials=n_trials,
            seed=seed,
            **(minds if objective != "q" else {}),
        )
        judge = compile_judge(data, settings).saved.program()
        table = held.judged(score_batch(judge, held.texts), judge_scale=judge.scale)
        seconds = round(time.perf_counter() - started, 1)
        found[objective] = numbers(table, parts.versions.unseen) | {"seconds": seconds}
    return found


def numbers(table: PredictionTable, unseen: tuple[Any, ...]) -> dict[str, float]:
    """Return Q, and what a judge notices of kinds that were chosen by and of others."""
    seen = table.of_kinds(kind for kind in table.kinds if kind not in unseen)
    others = table.of_kinds(unseen)
    tables = (("q", table), ("d_min", seen), ("d_min", others), ("d_avg", others))
    values = [parse_objective(name).value(one) for name, one in tables]
    return dict(zip(NUMBERS, values, strict=True))


def rows_of(name: str, found: list[dict[str, Any]]) -> Iterator[Row]:
    """Yield the rows of a set: one per objective, and one for the difference."""
    for objective in OBJECTIVES:
        means = {n: f"{fmean(one[objective][n] for one in found):.2f}" for n in NUMBERS}
        yield {"set": name, "objective": objective} | means
    row: Row = {"set": name, "objective": "difference"}
    for number in NUMBERS:
        gains = [one[OBJECTIVES[1]][number] - one[OBJECTIVES[0]][number] for one in found]
        n_above = sum(gain > 0 for gain in gains)
        span = f"{min(gains):+.2f} … {max(gains):+.2f}"
        row[number] = f"{fmean(gains):+.2f} ({span}; {n_above} of {len(gains)})"
    yield row


@benchmark(quick={"sets": ("topical_chat",), "seeds": 1, "trials": 1, "versions": 1, "sources": 9})
def discernment_objective(
    *,
    sets: tuple[str, ...] = ("qags_cnndm", "topical_chat"),
    seeds: Annotated[int, "how many, from 0"] = 5,
    trials: int = 8,
    versions: int = 3,
    results: Annotated[str | None, "file of runs that are not done again"] = None,
    sources: Annotated[int | None, "of each set, or all"] = None,
) -> Iterator[Row]:
    """What it brings to choose a judge by what it notices, too, against Q alone."""
    for name in sets:
        data = rated(name, sources)
        found = []
        for seed in range(seeds):
            given = {"n_trials": trials, "versions": versions, "seed": seed}
            key = {"set": name, "seed": seed, "trials": trials}
            found.append(kept(results, key, lambda given=given, data=data: compared(data, **given)))
        yield from rows_of(name, found)

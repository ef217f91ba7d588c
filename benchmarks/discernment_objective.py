"""What it brings to choose a judge by what it notices, too: ``q + .5*d_min`` against ``q`` alone.

Per set and seed the offline model's judge is compiled twice by a search of the protocol, once for
each objective. Both then judge the same rows held out with all their changed versions: of the kinds
that the second search saw, and of kinds that neither saw. Kinds that no judge of the offline model
notices (lost capitals, unsupported additions) are left out of both: there is nothing to choose
there. Every pair is one line of a results file, and pairs that are there are not run again:

    python benchmarks/discernment_objective.py --sets qags_cnndm wiki_da --seeds 5

Printed are, as means over seeds, held-out Q, the lowest D over kinds that were seen, and the lowest
and the average D over kinds that were not; then the difference with its least and largest value
over seeds, and in how many of them it is above 0.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from statistics import fmean
from typing import Any

from judgesmith.data import DataSet, read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.split import parts_of
from judgesmith.optimizers import PredictionTable, parse_objective
from judgesmith.programs import judge_items
from judgesmith.programs.families.ensemble.judges import scale_of

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
    found: dict[str, Any] = {"set": data.name, "seed": seed, "trials": n_trials, "held": len(held)}
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
        table = held.judged(judge_items(judge, held.texts), judge_scale=scale_of(judge))
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


def row_of(name: str, found: list[dict[str, Any]]) -> list[str]:
    """Return the lines of one set: a row per objective, and one for the difference."""
    lines = []
    for objective in OBJECTIVES:
        means = [fmean(one[objective][number] for one in found) for number in NUMBERS]
        lines.append(f"| {name} | {objective} | {' | '.join(f'{one:.2f}' for one in means)} |")
    cells = []
    for number in NUMBERS:
        gains = [one[OBJECTIVES[1]][number] - one[OBJECTIVES[0]][number] for one in found]
        n_above = sum(gain > 0 for gain in gains)
        span = f"{min(gains):+.2f} … {max(gains):+.2f}"
        cells.append(f"{fmean(gains):+.2f} ({span}; {n_above} of {len(gains)})")
    return [*lines, f"| {name} | difference | {' | '.join(cells)} |"]


def main() -> None:
    """Run what is missing of a results file, and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["qags_cnndm", "wiki_da"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--versions", type=int, default=3)
    parser.add_argument("--results", type=Path, default=Path("discernment_objective.jsonl"))
    given = parser.parse_args()
    folder = Path(os.environ.get("JUDGESMITH_DATA", "../shared/data"))
    results = given.results
    known = (
        [json.loads(one) for one in results.read_text().splitlines()] if results.exists() else []
    )
    settings = {"n_trials": given.trials, "versions": given.versions}
    for name in given.sets:
        data = read_items(str(folder / f"{name}.jsonl.gz"))
        for seed in range(given.seeds):
            if any((one["set"], one["seed"]) == (name, seed) for one in known):
                continue
            known.append(compared(data, seed=seed, **settings))
            with results.open("a") as file:
                file.write(json.dumps(known[-1]) + "\n")
    print(f"| set | objective | {' | '.join(NUMBERS)} |")
    print("| --- | --- | " + " | ".join("---" for _ in NUMBERS) + " |")
    for name in given.sets:
        print("\n".join(row_of(name, [one for one in known if one["set"] == name])))


if __name__ == "__main__":
    main()

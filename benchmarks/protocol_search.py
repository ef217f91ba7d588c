"""What a search of the whole protocol gains over one of demonstrations alone, and what it takes.

Per set and seed the offline model's judge is compiled twice, each time with a ledger of its own:
with ``--optimizer random`` (Active-Critic's 11 sets of demonstrations) and with ``--optimizer
protocol``. Both then judge the same rows held out. Every pair is one line of a results file, and
pairs that are there are not run again, so that the table can be made in pieces:

    python benchmarks/protocol_search.py --sets topical_chat sfres --seeds 2
    python benchmarks/protocol_search.py --sets topical_chat sfres --seeds 5

Printed are held-out Q as it was and compiled in both ways, the gain of the one over the other with
its interval over the sources of that split, and the calls of the two compilations.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from judgesmith.experiments import CompileSettings, compile_judge, read_items
from judgesmith.experiments.chosen_targets import chosen_targets
from judgesmith.experiments.estimating import estimate_run
from judgesmith.experiments.parts import parts_of
from judgesmith.optimizers import JudgedTable, parse_objective
from judgesmith.programs import judge_items
from judgesmith.programs.models import model, stack_of

WAYS = ("random", "protocol")


def compared(name: str, seed: int, n_trials: int) -> dict[str, Any]:
    """Return the result of one set and seed, ready for JSON."""
    folder = Path(os.environ.get("JUDGESMITH_DATA", "../shared/data"))
    data = read_items(str(folder / f"{name}.jsonl.gz"))
    objective = parse_objective("q")
    found: dict[str, Any] = {"set": name, "seed": seed, "trials": n_trials}
    tables: dict[str, JudgedTable] = {}
    for way in WAYS:
        trials = {"n_trials": n_trials} if way == "protocol" else {}
        settings = CompileSettings(optimizer=way, seed=seed, **trials)
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as kept:
            lm = model(ledger=Path(kept) / "ledger.sqlite")
            estimate = estimate_run(data, settings, lm)
            compiled = compile_judge(data, settings, lm=lm)
            usage = stack_of(lm).usage
            calls = usage.calls
            held = parts_of(data, chosen_targets(data, settings), settings).heldout
            judgements = judge_items(compiled.saved.program(), held.items, lm=lm)
        tables[way] = held.judged(judgements)
        of_search = [one for one in compiled.saved.history if one["stage"] == "protocol"]
        found |= {
            "rows": [compiled.saved.rows[part] for part in ("train", "select", "heldout")],
            "uncompiled": compiled.uncompiled["dataset"]["q"].value,
            way: {
                "q": compiled.heldout["dataset"]["q"].value,
                "optimism": compiled.objective.optimism,
                "calls": calls,
                "estimated": [estimate.expected_calls, estimate.calls],
                "seconds": round(time.perf_counter() - started, 1),
                "rows_raced": sum(one["n_rows"] for one in of_search),
                "tried": len(of_search),
            },
        }
    gain = objective.gain(tables["protocol"], tables["random"], rng=np.random.default_rng(seed))
    return found | {"gain": [gain.value, gain.low, gain.high]}


def row(name: str, found: list[dict[str, Any]]) -> str:
    """Return one line of the table: means over seeds, and every seed's gain with its interval."""
    qs = [fmean(one["uncompiled"] for one in found)]
    qs += [fmean(one[way]["q"] for one in found) for way in WAYS]
    calls = [round(fmean(one[way]["calls"] for one in found)) for way in WAYS]
    gains = "; ".join("{:+.3f} [{:+.3f}, {:+.3f}]".format(*one["gain"]) for one in found)
    mean = fmean(one["gain"][0] for one in found)
    cells = [name, len(found), *(f"{q:.3f}" for q in qs), f"{mean:+.3f}", *calls, gains]
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Run what is missing, and print the table of all that is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sets = ["summeval", "topical_chat", "sfres", "wiki_da"]
    parser.add_argument("--sets", nargs="+", default=sets, help="names of rated sets")
    parser.add_argument("--seeds", type=int, default=5, help="how many, from 0")
    parser.add_argument("--trials", type=int, default=30, help="configurations tried")
    parser.add_argument(
        "--results", type=Path, default=Path("protocol_search.jsonl"), help="file of results"
    )
    given = parser.parse_args()
    done: dict[tuple[str, int, int], dict[str, Any]] = {}
    if given.results.exists():
        for line in given.results.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            done[one["set"], one["seed"], one["trials"]] = one
    for name in given.sets:
        for seed in range(given.seeds):
            key = (name, seed, given.trials)
            if key not in done:
                done[key] = compared(*key)
                with given.results.open("a", encoding="utf-8") as results:
                    results.write(json.dumps(done[key]) + "\n")
    print("| set | seeds | uncompiled | random | protocol | gain | calls | calls | by seed |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in given.sets:
        print(row(name, [done[name, seed, given.trials] for seed in range(given.seeds)]))


if __name__ == "__main__":
    main()

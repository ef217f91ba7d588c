"""What a search of the whole protocol gains over one of demonstrations alone, and what it takes.

Per set and seed the offline model's judge is compiled twice, each time with a ledger of its own:
with ``--optimizer random`` (Active-Critic's 11 sets of demonstrations) and with ``--optimizer
protocol``. Both then judge the same rows held out. Every pair is one line of a results file, and
pairs that are there are not run again, so that the table can be made in pieces:

    python benchmarks/protocol_search.py --sets topical_chat sfres --seeds 2
    python benchmarks/protocol_search.py --sets topical_chat sfres --seeds 5

Printed are held-out Q as it was and compiled in both ways, the mean gain of the one over the other
with its interval over the sources of the set, in how many seeds the search replaced the judge as
it was, what its last leader gained on the rows it was chosen by and on others, the calls of the two
compilations, and by seed the gain with its interval over the sources of that split.
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
from stages import N_RESAMPLES, Run, mean_over_seeds

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.estimate import estimate_run
from judgesmith.experiments.compile.split import parts_of
from judgesmith.optimizers import PredictionTable, parse_objective
from judgesmith.programs import judge_items
from judgesmith.programs.lm import lm_client_of, model

WAYS = ("random", "protocol")


def compared(name: str, seed: int, n_trials: int) -> dict[str, Any]:
    """Return the result of one set and seed, ready for JSON."""
    folder = Path(os.environ.get("JUDGESMITH_DATA", "../shared/data"))
    data = read_items(str(folder / f"{name}.jsonl.gz"))
    objective = parse_objective("q")
    found: dict[str, Any] = {"set": name, "seed": seed, "trials": n_trials}
    tables: dict[str, PredictionTable] = {}
    for way in WAYS:
        trials = {"n_trials": n_trials} if way == "protocol" else {}
        settings = CompileSettings(optimizer=way, seed=seed, **trials)
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as kept:
            lm = model(ledger=Path(kept) / "ledger.sqlite")
            estimate = estimate_run(data, settings, lm)
            compiled = compile_judge(data, settings, lm=lm)
            usage = lm_client_of(lm).usage
            calls = usage.calls
            held = parts_of(data, chosen_targets(data, settings), settings).heldout
            judgements = judge_items(compiled.saved.program(), held.items, lm=lm)
        tables[way] = held.judged(judgements, judge_scale=compiled.saved.scale)
        confirmation = compiled.saved.agreement.plain.get("confirmation")
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
                "confirmation": confirmation,
            },
        }
    gain = objective.gain(tables["protocol"], tables["random"], rng=np.random.default_rng(seed))
    rows = {
        "sources": [int(one) for one in held.groups],
        "human": held.human.tolist(),
        **{way: [None if x != x else x for x in tables[way].predicted.tolist()] for way in WAYS},
    }
    return found | {"gain": [gain.value, gain.low, gain.high], "heldout": rows}


def run_of(one: dict[str, Any]) -> Run:
    """Return the rows held out of one set and seed, and what both judges said of them."""
    rows = one["heldout"]
    return Run(
        human=np.asarray(rows["human"]),
        sources=np.asarray(rows["sources"]),
        stages={way: np.asarray(rows[way], dtype=float) for way in WAYS},
        random=(),
        n_shown=0,
        rubric="",
        taken=False,
        seconds=0.0,
    )


def mean_gain(found: list[dict[str, Any]]) -> tuple[float, float, float]:
    """Return the mean over seeds of the gain in Q, with its 95 % interval.

    Seeds share the sources of a set: one resample of these is the same for all of them.
    """
    runs = [run_of(one) for one in found]
    present = np.unique(np.concatenate([run.sources for run in runs]))
    drawn = np.random.default_rng(0).choice(present, size=(N_RESAMPLES, len(present)))
    counts = np.asarray(
        [np.bincount(one, minlength=int(present.max()) + 1) for one in drawn], dtype=float
    )
    first, second = (mean_over_seeds(runs, way, counts) for way in ("protocol", "random"))
    low, high = np.nanquantile(first - second, [0.025, 0.975])
    return fmean(one["gain"][0] for one in found), float(low), float(high)


def promised(found: list[dict[str, Any]]) -> str:
    """Return the mean gain of the best candidates on the rows chosen by, and their p-values."""
    leaders = [one for run in found for one in run["protocol"]["confirmation"]["leaders"]]
    if not leaders:
        return "-"
    p_values = ", ".join(f"{one['p_value']:.3f}" for one in leaders)
    return f"{fmean(one['gain'] for one in leaders):+.3f}; p {p_values}"


def row(name: str, found: list[dict[str, Any]]) -> str:
    """Return one line of the table: means over seeds, and every seed's gain with its interval."""
    qs = [fmean(one["uncompiled"] for one in found)]
    qs += [fmean(one[way]["q"] for one in found) for way in WAYS]
    calls = [f"{round(fmean(one[way]['calls'] for one in found)):,}" for way in WAYS]
    gains = "; ".join("{:+.3f} [{:+.3f}, {:+.3f}]".format(*one["gain"]) for one in found)
    n_better = sum(one["protocol"]["confirmation"]["better"] for one in found)
    cells = [
        name,
        *(f"{q:.3f}" for q in qs),
        "{:+.3f} [{:+.3f}, {:+.3f}]".format(*mean_gain(found)),
        f"{n_better} of {len(found)}",
        promised(found),
        *calls,
        gains,
    ]
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
    heads = ("set", "uncompiled", *WAYS, "gain", "replaced", "promised")
    heads += (*(f"calls, {way}" for way in WAYS), "gain by seed")
    print(f"| {' | '.join(heads)} |")
    print("| --- " * len(heads) + "|")
    for name in given.sets:
        print(row(name, [done[name, seed, given.trials] for seed in range(given.seeds)]))


if __name__ == "__main__":
    main()

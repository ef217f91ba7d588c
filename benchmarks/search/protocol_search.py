"""What a search of the whole protocol gains over one of demonstrations alone, and what it takes.

Per set and seed the offline model's judge is compiled twice, each time with a ledger of its own:
with ``--optimizer random`` (Active-Critic's 11 sets of demonstrations) and with ``--optimizer
protocol``. Both then judge the same rows held out. Every pair is one line of a results file, and
pairs that are there are not run again, so that the table can be made in pieces.

The columns are held-out Q of the baseline and compiled in both ways, the mean gain of the one over
the other with its interval over the sources of the set, in how many seeds the search replaced the
judge as it was, what its last leader gained on the rows it was chosen by and on others, the calls
of the two compilations, and by seed the gain with its interval over the sources of that split.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import numpy as np

from benchmarks.harness import Row, benchmark, kept, rated
from benchmarks.search.stages import N_RESAMPLES, Run, mean_over_seeds
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.estimate import estimate_run
from judgesmith.experiments.compile.split import parts_of
from judgesmith.optimizers import PredictionTable, parse_objective
from judgesmith.programs import score_batch
from judgesmith.programs.lm import lm_client_of, model

WAYS = ("random", "protocol")


def compared(name: str, seed: int, n_trials: int, n_sources: int | None) -> dict[str, Any]:
    """Return the result of one set and seed, ready for JSON."""
    data = rated(name, n_sources)
    objective = parse_objective("q")
    found: dict[str, Any] = {}
    tables: dict[str, PredictionTable] = {}
    for way in WAYS:
        trials = {"n_trials": n_trials} if way == "protocol" else {}
        settings = CompileSettings(optimizer=way, seed=seed, **trials)
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            lm = model(ledger=Path(folder) / "ledger.sqlite")
            estimate = estimate_run(data, settings, lm)
            compiled = compile_judge(data, settings, lm=lm)
            usage = lm_client_of(lm).usage
            calls = usage.calls
            held = parts_of(data, chosen_targets(data, settings), settings).heldout
            judgements = score_batch(compiled.saved.program(), held.items, lm=lm)
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
    gain = objective.gain(tables["protocol"], tables["random"], seed=np.random.default_rng(seed))
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


def rows_of(name: str, found: list[dict[str, Any]]) -> Row:
    """Return the row of a set: means over seeds, and every seed's gain with its interval."""
    row: Row = {"set": name, "uncompiled": fmean(one["uncompiled"] for one in found)}
    row |= {way: fmean(one[way]["q"] for one in found) for way in WAYS}
    n_better = sum(one["protocol"]["confirmation"]["better"] for one in found)
    row |= {"gain": mean_gain(found), "replaced": f"{n_better} of {len(found)}"}
    row["promised"] = promised(found)
    row |= {f"calls, {way}": round(fmean(one[way]["calls"] for one in found)) for way in WAYS}
    gains = ("{:+.3f} [{:+.3f}, {:+.3f}]".format(*one["gain"]) for one in found)
    return row | {"gain by seed": "; ".join(gains)}


@benchmark(
    quick={"sets": ("topical_chat",), "seeds": 1, "trials": 2, "sources": 9},
    formats={"gain": "+.3f"},
)
def protocol_search(
    *,
    sets: tuple[str, ...] = ("summeval", "topical_chat", "sfres", "wiki_da"),
    seeds: Annotated[int, "how many, from 0"] = 5,
    trials: Annotated[int, "configurations tried"] = 30,
    results: Annotated[str | None, "file of runs that are not done again"] = None,
    sources: Annotated[int | None, "of each set, or all"] = None,
) -> Iterator[Row]:
    """What a search of the whole protocol gains over one of demonstrations, and what it takes."""
    for name in sets:
        keys = [{"set": name, "seed": seed, "trials": trials} for seed in range(seeds)]
        yield rows_of(
            name,
            [kept(results, key, lambda key=key: compared(*key.values(), sources)) for key in keys],
        )

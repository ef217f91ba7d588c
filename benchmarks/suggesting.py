"""What rows chosen by ``suggest`` are worth against random ones: simulated labelling, offline.

For each set and seed, 30 % of the sources are held out; the others are a pool that nobody has
rated. The judge begins as it is, with the general rubric. Twenty rows of the pool are chosen by
what it says and rated as people rated them, and its aggregation is learned from them; the judge
that comes out chooses the next 20, and then 40 more. Answers are asked for once, as a ledger would
keep them, so what is compared is the choice of rows alone. Q (Pearson + Spearman + Kendall's tau-b)
is over all rows held out, after 20, 40 and 80 labels.

Prints a Markdown table: Q with random rows, and how much more each strategy reaches on the same
splits, mean over seeds with its 95 % interval (t, paired). The interval is over splits and draws of
one set: it says nothing of other sets.

Run it as ``python benchmarks/suggesting.py [--sets SET …] [--seeds 0-19]
[--strategies NAME …]``.
"""

from __future__ import annotations

import argparse
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path

import numpy as np
from stages import TARGETS

from judgesmith.data import DataSet, read_items, targets_of
from judgesmith.data.rating_sheets import RANDOM
from judgesmith.data.targets import Targets
from judgesmith.experiments.compile.split import rated_rows
from judgesmith.experiments.labels.suggesting import STRATEGIES, Candidates, diverse, doubts_of
from judgesmith.metrics import q
from judgesmith.optimizers.fitting.aggregation import FitAggregation
from judgesmith.programs import ActiveCritic, judge_items
from judgesmith.programs.judging.scoring import aggregate
from judgesmith.signatures import Judgement
from judgesmith.signatures.config import Aggregation

BATCHES = (20, 20, 40)
HELD_OUT = 0.3
OTHERS = tuple(strategy for strategy in STRATEGIES if strategy != RANDOM)
DEFAULT_SETS = ("summeval", "openmeva_roc")
SETS = TARGETS | {
    "bagel": "overall",
    "newsroom": "mean",
    "opinsummeval": "mean",
    "simpeval_2022": "overall",
}


@lru_cache(maxsize=1)
def judged(name: str) -> tuple[DataSet, Targets, list[Judgement]]:
    """Return a set, what people said of it, and what the judge says before it learned anything."""
    folder = Path(os.environ.get("JUDGESMITH_DATA", "../shared/data"))
    data = read_items(folder / f"{name}.jsonl.gz")
    return data, targets_of(data, SETS[name]), judge_items(ActiveCritic(), data.items)


def labelled(name: str, seed: int, strategy: str) -> list[float]:
    """Return Q on the rows held out, before any label and after each batch."""
    warnings.simplefilter("ignore")
    data, targets, judgements = judged(name)
    sources = np.unique(data.groups[targets.rated])
    np.random.default_rng([seed, 1]).shuffle(sources)
    held = np.isin(data.groups, sources[: round(HELD_OUT * len(sources))])
    heldout = [int(place) for place in targets.rated if held[place]]
    pool = [int(place) for place in targets.rated if not held[place]]

    def scores(learned: Aggregation, places: list[int]) -> np.ndarray:
        texts = [(data[one].source, data[one].context, data[one].response) for one in places]
        found = [
            aggregate(learned, judgements[one], *text)
            for one, text in zip(places, texts, strict=True)
        ]
        return np.array([one.score for one in found], dtype=float)

    learned, rated = Aggregation(), list[int]()
    reached = [q(targets.values[heldout], scores(learned, heldout))]
    for n in BATCHES:
        rest = [place for place in pool if place not in set(rated)]
        candidates = Candidates(
            items=tuple(data[place] for place in rest),
            scores=scores(learned, rest),
            doubt=doubts_of([judgements[place] for place in rest]),
            sources=data.groups[rest],
        )
        order = STRATEGIES[strategy](candidates, n, np.random.default_rng([seed, 2, len(rated)]))
        if strategy != RANDOM:
            order = diverse(candidates, order, n, known=set(data.groups[rated].tolist()))
        rated += [rest[place] for place in order[:n]]
        fit = FitAggregation("q", lexical=True, seed=seed, confirm=None)
        learned = fit.choose(
            rated_rows(data, targets, rated), [judgements[place] for place in rated]
        )
        reached.append(q(targets.values[heldout], scores(learned, heldout)))
    return reached


def difference(values: np.ndarray) -> str:
    """Return the mean of paired differences with its interval."""
    from scipy.stats import t

    half = t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    mean = values.mean()
    return f"{mean:+.3f} [{mean - half:+.3f}, {mean + half:+.3f}]"


def rows_of(name: str, found: dict[str, np.ndarray]) -> list[str]:
    """Return the lines of the table for one set."""
    random = found[RANDOM]
    lines = []
    for place, n in enumerate(np.cumsum(BATCHES).tolist(), start=1):
        cells = [name, f"{random[:, 0].mean():.3f}", str(n), f"{random[:, place].mean():.3f}"]
        cells += [
            difference(reached[:, place] - random[:, place])
            for strategy, reached in found.items()
            if strategy != RANDOM
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=list(DEFAULT_SETS), choices=list(SETS))
    parser.add_argument("--seeds", default="0-19", help="FIRST-LAST")
    parser.add_argument("--strategies", nargs="*", default=list(OTHERS), choices=list(OTHERS))
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    first, last = map(int, options.seeds.split("-"))
    seeds = range(first, last + 1)
    others = options.strategies
    heads = ("set", "without labels", "labels", "random", *others)
    print("| " + " | ".join(heads) + " |")
    print("| " + " | ".join("---" for _ in heads) + " |", flush=True)
    with ProcessPoolExecutor(options.processes) as workers:
        for name in options.sets:
            waiting = {
                strategy: [workers.submit(labelled, name, seed, strategy) for seed in seeds]
                for strategy in (RANDOM, *others)
            }
            found = {
                strategy: np.array([one.result() for one in futures])
                for strategy, futures in waiting.items()
            }
            print("\n".join(rows_of(name, found)), flush=True)


if __name__ == "__main__":
    main()

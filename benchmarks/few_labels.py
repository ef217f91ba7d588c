"""What compiling does with 40 rated rows: how often it harms, on six rated sets, offline.

For each set, 40 rated rows are drawn 20 times; ``compile_judge`` gets them with its defaults, holds
30 % of their sources out, infers a rubric from the rest and tunes on it. The judge it returns and
the uncompiled one, which has the general rubric, then score all other rows of the set. Prints a
Markdown table of Q (Pearson + Spearman + Kendall's tau-b over these rows): the uncompiled judge,
the mean and the worst change, the share of draws that lost more than .05, and what was compiled.

Run it as ``python benchmarks/few_labels.py [--draws 20] [--sampling sources|rows]
[--criteria default|inferred|given] [--sets SET …]``: by default an inferred rubric competes with
the general one; ``inferred`` takes it in any case, ``given`` never.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from stages import TARGETS

from judgesmith.data import read_items
from judgesmith.data.targets import targets_of
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.metrics import q
from judgesmith.programs import ActiveCritic, judge_items

N_LABELS = 40
HARM = 0.05


@dataclass(frozen=True, kw_only=True)
class Draw:
    """One compilation from few labels.

    Attributes
    ----------
    before, after : float
        Q of the uncompiled and of the compiled judge on all other rows.
    kind : str
        What came back.
    seconds : float
        Of compiling.
    """

    before: float
    after: float
    kind: str
    seconds: float


def drawn(name: str, seed: int, sampling: str, criteria: str) -> Draw:
    """Compile from ``N_LABELS`` rows and score the others."""
    warnings.simplefilter("ignore")
    folder = Path(os.environ.get("JUDGESMITH_DATA", "../shared/data"))
    data = read_items(folder / f"{name}.jsonl.gz")
    targets = targets_of(data, TARGETS[name])
    rng = np.random.default_rng([seed, N_LABELS])
    order = rng.permutation(targets.rated)
    if sampling == "sources":
        # Whole sources in random order, as somebody would label them.
        groups = data.groups[order]
        first = {group: place for place, group in reversed(list(enumerate(groups.tolist())))}
        order = order[np.argsort([first[group] for group in groups.tolist()], kind="stable")]
    labelled, others = np.sort(order[:N_LABELS]), np.sort(order[N_LABELS:])
    start = time.perf_counter()
    settings = CompileSettings(
        target=TARGETS[name], seed=seed, criteria=None if criteria == "default" else criteria
    )
    found = compile_judge(data.subset(labelled.tolist()), settings)
    seconds = time.perf_counter() - start
    items = [data[place] for place in others.tolist()]
    after, before = (
        q(targets.values[others], [one.score for one in judge_items(judge, items)])
        for judge in (found.saved, ActiveCritic(settings.protocol))
    )
    protocol = found.saved.protocol
    kind = "with" if protocol.demonstrations else "without"
    kind = f"{protocol.aggregation.kind} {kind} demonstrations"
    return Draw(before=before, after=after, kind=kind, seconds=seconds)


def row_of(name: str, draws: list[Draw]) -> str:
    """Return one line of the table."""
    change = np.asarray([one.after - one.before for one in draws])
    kinds = Counter(one.kind for one in draws).most_common()
    cells = (
        name,
        f"{np.mean([one.before for one in draws]):.3f}",
        f"{change.mean():+.3f}",
        f"{change.min():+.3f}",
        f"{100 * np.mean(change < -HARM):.0f} %",
        f"{100 * np.mean(change > HARM):.0f} %",
        "; ".join(f"{count} {kind}" for kind, count in kinds),
        f"{np.mean([one.seconds for one in draws]):.1f} s",
    )
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--sampling", choices=("sources", "rows"), default="sources")
    parser.add_argument("--criteria", choices=("default", "inferred", "given"), default="default")
    parser.add_argument("--sets", nargs="*", default=list(TARGETS), choices=list(TARGETS))
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    heads = (
        "set",
        "uncompiled",
        "mean change",
        "worst",
        f"lost > {HARM}",
        f"won > {HARM}",
        "came back",
        "compile",
    )
    print("| " + " | ".join(heads) + " |")
    print("| " + " | ".join("---" for _ in heads) + " |", flush=True)
    with ProcessPoolExecutor(options.processes) as pool:
        waiting = {
            name: [
                pool.submit(drawn, name, seed, options.sampling, options.criteria)
                for seed in range(options.draws)
            ]
            for name in options.sets
        }
        for name, futures in waiting.items():
            print(row_of(name, [one.result() for one in futures]), flush=True)


if __name__ == "__main__":
    main()

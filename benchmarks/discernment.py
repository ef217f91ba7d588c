"""How well twelve metrics discern summaries that people made unfaithful, and what the tests take.

With ``$JUDGESMITH_DATA``, the recorded metrics on BUMP (99 summaries, each edited to have one of
seven kinds of error, as intended by the editor): a Markdown table of the lowest and the average
discernment of the kinds, the kind with the lowest, how many items that one needs, and in how many
kinds the metric prefers the unfaithful version. A kind of error is a perturbation of words, so the
average is over kinds.

With ``--speed``, milliseconds for the tests of 12 perturbations by 4 metrics by 100 items beside
SciPy's, and seconds for a whole report with 1,000 resamples.

    python benchmarks/discernment.py
    python benchmarks/discernment.py --speed
"""

import argparse
import gzip
import json
import os
import statistics
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from judgesmith.metrics import Estimate, discernment
from judgesmith.metrics.perturbations.report import resampled_log_p
from judgesmith.metrics.perturbations.wilcoxon import steps_between, wilcoxon_log_p


def rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a file."""
    folder = Path(os.environ.get("JUDGESMITH_DATA", "../shared/data"))
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def table() -> None:
    """Print how well each metric discerns."""
    kind_of = {
        (row["source_id"], row["system_id"]): row["intended_perturbation"]
        for row in rows("bump")
        if row["system_id"] != "reference"
    }
    kinds = sorted(set(kind_of.values()))
    items = sorted({source for source, _ in kind_of})
    scores: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    for row in rows("recorded/bump_metrics"):
        kind = kind_of.get((row["source_id"], row["system_id"]), "reference")
        scores[row["judge"]][row["source_id"], kind] = row["scores"][0]
    print("| metric | lowest D | average D | hardest kind | items it needs | prefers errors |")
    print("| --- | --- | --- | --- | --- | --- |")
    lines = []
    for judge, own in scores.items():
        found = discernment(
            [[own[item, "reference"]] for item in items],
            [[[own[item, kind]] for item in items] for kind in kinds],
            perturbations=kinds,
            levels=["word"] * len(kinds),
            metrics=["consistency"],
            rng=np.random.default_rng(0),
        )
        hardest = min(found.perturbations, key=lambda one: one.score.value)
        prefers = sum(one.prefers_damage for one in found.perturbations)
        needed = hardest.items_needed
        lines.append(
            (
                found.average.value,
                f"| {judge.removeprefix('metric:')} | {shown(found.lowest)} | "
                f"{shown(found.average)} | {hardest.name.removesuffix(' Error').lower()} | "
                f"{needed.n or f'over {needed.limit}'} | {prefers} of {len(kinds)} |",
            )
        )
    for _, line in sorted(lines, reverse=True):
        print(line)


def shown(estimate: Estimate) -> str:
    """Return a value with its interval."""
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def milliseconds(run: Callable[[], object], times: int = 50) -> float:
    """Return the median time of a call."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        run()
        taken.append(time.perf_counter() - began)
    return 1000 * statistics.median(taken)


def speed() -> None:
    """Print how long tests and a report take."""
    rng = np.random.default_rng(0)
    originals = np.clip(np.round(rng.normal(4, 1, size=(100, 4)) * 5) / 5, 1, 5)
    loss = np.linspace(0, 1, 12)[:, None, None] + rng.normal(size=(12, 100, 4))
    perturbed = np.clip(np.round((originals - loss) * 5) / 5, 1, 5)
    o, p = originals.T, np.swapaxes(perturbed, 1, 2)

    def one_by_one() -> None:
        for texts in p:
            for metric in range(4):
                stats.wilcoxon(o[metric], texts[metric], alternative="greater")

    calls: dict[str, Callable[[], object]] = {
        "48 tests, wilcoxon_log_p": lambda: wilcoxon_log_p(o, p),
        "48 tests, scipy.stats.wilcoxon(axis=-1)": lambda: stats.wilcoxon(
            np.broadcast_to(o, p.shape), p, axis=-1, alternative="greater"
        ),
        "48 tests, scipy.stats.wilcoxon one by one": one_by_one,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, run in calls.items():
            print(f"{name:45} {milliseconds(run):9.2f} ms")
    steps = steps_between(o, p)
    resample = milliseconds(lambda: resampled_log_p(steps, 1000, rng), times=5)
    print(f"{'1,000 resamples of them':45} {resample:9.0f} ms")
    report = milliseconds(
        lambda: discernment(
            originals,
            perturbed,
            perturbations=[str(place) for place in range(12)],
            levels=["character"] * 4 + ["word"] * 4 + ["sentence"] * 4,
            metrics=["coherence", "consistency", "fluency", "relevance"],
            rng=rng,
        ),
        times=3,
    )
    print(f"{'a report with 1,000 resamples':45} {report:9.0f} ms")


def main() -> None:
    """Print the table or the times."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--speed", action="store_true")
    if parser.parse_args().speed:
        speed()
    else:
        table()


if __name__ == "__main__":
    main()

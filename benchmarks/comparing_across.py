"""How often the offline comparator agrees with people across sources, and how fast it compares.

SummEval's sources are paired at random, each with one other, so that pairs of sources are
independent; of each, texts about one are compared with texts about the other. The share of pairs
in which the text that people rate higher wins, by the gap between their mean ratings; intervals
are over pairs of sources. Then calls per second of processor time, with every answer put on
record, where every text meets 25 anchors as in a benchmark, and how memory grows meanwhile.

    python benchmarks/comparing_across.py --data $JUDGESMITH_DATA
"""

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import judgesmith
from judgesmith.metrics.resampling import share_interval
from judgesmith.programs.benchmarking import CALLS_PER_PAIR, AcrossPair, Comparator
from judgesmith.programs.lm import model
from judgesmith.signatures import RatedItem
from judgesmith.signatures.rubric import Criterion

DEFINITIONS = {
    "coherence": "Is it a well-structured whole?",
    "consistency": "Is everything in it supported by the source?",
    "fluency": "Is every sentence well written?",
    "relevance": "Does it hold what matters in the source, and nothing else?",
}
GAPS = ((0.0, 1.0), (1.0, 2.0), (2.0, 4.0))
"""Above which and up to which gap of mean ratings."""


def drawn(
    items: list[RatedItem], n: int, rng: np.random.Generator
) -> Iterator[tuple[int, RatedItem, RatedItem]]:
    """Yield pairs of texts, ``n`` of each pair of sources, with the number of that pair."""
    of_source: dict[str, list[RatedItem]] = {}
    for item in items:
        of_source.setdefault(item.source_id, []).append(item)
    order = rng.permutation(list(of_source)).tolist()
    for number, (one, two) in enumerate(zip(order[::2], order[1::2], strict=False)):
        for _ in range(n):
            first, second = (of_source[name][rng.integers(16)] for name in (one, two))
            yield number, first, second


def agreement(items: list[RatedItem], name: str, n: int, rng: np.random.Generator) -> None:
    """Print a row by gap."""
    rows = list(drawn(items, n, rng))
    comparator = Comparator(Criterion(name=name, definition=DEFINITIONS[name]))
    answers = comparator.each(AcrossPair(one, two) for _, one, two in rows)
    said = np.array([found.sign for _, found in answers], dtype=float)
    lead = np.array([np.mean(a.human[name]) - np.mean(b.human[name]) for _, a, b in rows])
    numbers = np.array([number for number, *_ in rows])
    for low, high in GAPS:
        chosen = (np.abs(lead) > low) & (np.abs(lead) <= high)
        agrees = said[chosen] == np.sign(lead[chosen])
        found = share_interval(agrees, sources=numbers[chosen].tolist())
        print(
            f"| {name} | {low:g}-{high:g} | {int(chosen.sum()):,} | {found.value:.3f} "
            f"[{found.low:.3f}, {found.high:.3f}] | {np.mean(said[chosen] == 0):.3f} |"
        )


def speed(texts: list[RatedItem], anchors: list[RatedItem]) -> None:
    """Print what it takes to compare every text with every anchor."""
    with tempfile.TemporaryDirectory() as folder:
        lm = model("offline", ledger=Path(folder) / "ledger.sqlite")
        comparator = Comparator(Criterion(name="fluency", definition=DEFINITIONS["fluency"]), lm=lm)
        start = time.process_time()
        memory = [
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            for _ in comparator.each(AcrossPair(one, two) for one in texts for two in anchors)
        ]
        rate = CALLS_PER_PAIR * len(memory) / (time.process_time() - start)
    grown = memory[-1] - memory[len(memory) // 10]
    print(f"\n{rate:,.0f} calls per second of processor time in {len(memory):,} comparisons.")
    print(f"{grown:.0f} MB more than after the first tenth, for {len(texts)} texts.")


def main() -> None:
    """Print agreement, then speed and memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("JUDGESMITH_DATA"))
    parser.add_argument("--pairs", type=int, default=40, help="of each two sources")
    parser.add_argument("--texts", type=int, default=400, help="to compare with 25 anchors")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.data is None:
        parser.error("name the folder with --data, or set JUDGESMITH_DATA.")
    items = list(judgesmith.read(Path(options.data) / "summeval.jsonl.gz"))
    print("| criterion | gap | pairs | agrees | similar |\n| --- | --- | --- | --- | --- |")
    for name in DEFINITIONS:
        agreement(items, name, options.pairs, np.random.default_rng(options.seed))
    speed(items[: options.texts], items[-400::16])


if __name__ == "__main__":
    main()

"""How often the offline comparator agrees with people across sources, and how fast it compares.

SummEval's sources are paired at random, each with one other, so that pairs of sources are
independent; of each, texts about one are compared with texts about the other. The share of pairs
in which the text that people rate higher wins, by the gap between their mean ratings; intervals
are over pairs of sources. Then calls per second of processor time, with every answer put on
record, where every text meets 25 anchors as in a benchmark, and how memory grows meanwhile.
"""

import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np

from benchmarks.harness import Row, benchmark, rated
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


def agreement(items: list[RatedItem], name: str, n: int, rng: np.random.Generator) -> Iterator[Row]:
    """Yield a row by gap."""
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
        yield {
            "criterion": name,
            "gap": f"{low:g}-{high:g}",
            "pairs": int(chosen.sum()),
            "agrees": found,
            "similar": np.mean(said[chosen] == 0),
        }


def speed(texts: list[RatedItem], anchors: list[RatedItem]) -> Row:
    """Return what it takes to compare every text with every anchor."""
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
    row: Row = {"texts": len(texts), "comparisons": len(memory), "calls per s of CPU": round(rate)}
    return row | {"MB more than after a tenth": round(grown)}


@benchmark(quick={"pairs": 1, "texts": 10})
def comparing_across(
    *,
    pairs: Annotated[int, "of each two sources"] = 40,
    texts: Annotated[int, "to compare with 25 anchors"] = 400,
    seed: int = 0,
) -> Iterator[Row]:
    """How often the offline comparator agrees with people across sources, and how fast it is."""
    items = list(rated("summeval"))
    for name in DEFINITIONS:
        yield from agreement(items, name, pairs, np.random.default_rng(seed))
    yield speed(items[:texts], items[-400::16])

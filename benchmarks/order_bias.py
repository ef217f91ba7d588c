"""How often a recorded judge changes its mind when two texts change places, by their difference.

ChatGPT choosing between SummEval summaries in both orders (Shen et al. 2023): the share of pairs on
which the orders disagree, and of preferences that go to the text shown first, by the gap between
people's mean ratings of the two. Intervals are over sources; criteria are pooled unless named.

    python benchmarks/order_bias.py --data $JUDGESMITH_DATA
"""

import argparse
import gzip
import json
import os
from pathlib import Path

import numpy as np

from judgesmith.metrics import Estimate, preference_agreement
from judgesmith.metrics.pairs import order_consistency, preferences_from_scores

FILE = "recorded/summeval_h2h_chatgpt.jsonl.gz"
GAPS = ((0.0, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 2.0), (2.0, 4.0))
"""Above which and up to which gap of mean ratings; the first is no gap at all."""


def shown(found: Estimate) -> str:
    """Write an estimate."""
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def other(found: Estimate) -> str:
    """Write the share that an estimate leaves."""
    return f"{1 - found.value:.3f} [{1 - found.high:.3f}, {1 - found.low:.3f}]"


def main() -> None:
    """Print one row by gap and one by criterion."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("JUDGESMITH_DATA"))
    folder = parser.parse_args().data
    if folder is None:
        parser.error("name the folder with --data, or set JUDGESMITH_DATA.")
    pairs: dict[tuple[str, str, str], dict[str, float]] = {}
    with gzip.open(Path(folder) / FILE, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            key = row["criterion"], row["source_id"], row["system_id"]
            pair = pairs.setdefault(key, {})
            pair["swapped" if "swapped" in row["judge"] else "given"] = row["scores"][0]
            pair["first"], pair["second"] = row["human_means"]
    criteria, sources, _ = (np.array(part) for part in zip(*pairs, strict=True))
    given, swapped, first, second = (
        np.array([pair[name] for pair in pairs.values()], dtype=float)
        for name in ("given", "swapped", "first", "second")
    )
    gaps = np.abs(first - second)
    people = preferences_from_scores(first, second)

    def line(name: str, chosen: np.ndarray) -> None:
        orders = order_consistency(given[chosen], swapped[chosen], sources=sources[chosen])
        print(
            f"| {name} | {int(chosen.sum()):,} | {other(orders.consistent)} | "
            f"{shown(orders.flipped)} | {shown(orders.first_place)} | {agreed(chosen)} |"
        )

    def agreed(chosen: np.ndarray) -> str:
        decided = chosen & (people != 0.5)
        if not decided.any():
            return "– | –"
        found = [
            preference_agreement(people[kept], given[kept], sources=sources[kept])
            for kept in (decided, decided & (given == swapped))
        ]
        return " | ".join(shown(one.accuracy) for one in found)

    print(
        "| pairs | n | orders disagree | winner changes | first place wins | as people, one order "
        "| as people, where both orders agree |\n|---|---|---|---|---|---|---|"
    )
    for low, high in GAPS:
        name = "gap 0" if high == 0 else f"gap {low:g} to {high:g}"
        line(name, gaps == 0 if high == 0 else (gaps > low + 1e-9) & (gaps <= high + 1e-9))
    for criterion in sorted(set(criteria.tolist())):
        line(criterion, criteria == criterion)
    line("all", np.ones(len(gaps), dtype=bool))


if __name__ == "__main__":
    main()

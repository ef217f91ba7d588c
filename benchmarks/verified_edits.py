"""Which known edits would pass for what a language model was told to do: a table in Markdown.

``python benchmarks/verified_edits.py`` reads DEMETR below ``$JUDGESMITH_DATA``: translations that
people changed in 34 known ways. Each changed text is checked as if a model had answered with it to
each of three orders. An order's own kinds of edit should pass, and all others be refused; what
passes nonetheless is what verification cannot see.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections import Counter
from pathlib import Path

from judgesmith.programs.perturbing import PERTURBATIONS, Amount, Every
from judgesmith.programs.perturbing.orders import verified_change
from judgesmith.signatures.perturbation import Perturbation, Perturbed

ORDERS: dict[str, tuple[Perturbation, Amount]] = {
    "one invented name or number": (PERTURBATIONS["fictional_entities/minor"], 1),
    "one error of grammar": (PERTURBATIONS["grammatical_errors"], 1),
    "a paraphrase": (PERTURBATIONS["paraphrase"], Every()),
}


def passed(
    rows: list[dict[str, object]], most: int
) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """Return how many edits of each kind were tried, and how many passed for each order."""

    def source(row: dict[str, object]) -> tuple[object, ...]:
        return row["source_id"], row["lang"], row["data_source"]

    originals = {source(row): str(row["response"]) for row in rows if row["perturbation"] == "none"}
    tried: Counter[str] = Counter()
    found: Counter[tuple[str, str]] = Counter()
    for row in rows:
        kind = str(row["perturbation"])
        if kind == "none" or not row["pert_check"] or tried[kind] >= most:
            continue
        tried[kind] += 1
        for name, (way, amount) in ORDERS.items():
            made = verified_change(str(row["response"]), originals[source(row)], way, amount)
            found[kind, name] += isinstance(made, Perturbed)
    return tried, found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--most", type=int, default=1000, help="edits of each kind")
    options = parser.parse_args()
    path = Path(os.environ["JUDGESMITH_DATA"]) / "demetr.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    tried, found = passed(rows, options.most)
    print("| edit | n |", " | ".join(ORDERS), "|")
    print("| --- | --- |", " | ".join("---" for _ in ORDERS), "|")
    for kind, n in tried.items():
        shares = (f"{100 * found[kind, name] / n:.1f} %" for name in ORDERS)
        print(f"| {kind.partition(' (')[0][:70]} | {n} |", " | ".join(shares), "|")


if __name__ == "__main__":
    main()

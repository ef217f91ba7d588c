"""Which known edits would pass for what a language model was told to do: a table in Markdown.

DEMETR holds translations that people changed in 34 known ways. Each changed text is checked as if a
model had answered with it to each of three orders. An order's own kinds of edit should pass, and
all others be refused; what passes nonetheless is what verification cannot see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated

from benchmarks.harness import Row, benchmark, records
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


@benchmark(quick={"most": 3}, formats=dict.fromkeys(ORDERS, ".1%"))
def verified_edits(*, most: Annotated[int, "edits of each kind"] = 1000) -> Iterator[Row]:
    """Which known edits would pass for what a language model was told to do."""
    tried, found = passed(records("demetr"), most)
    for kind, n in tried.items():
        row: Row = {"edit": kind.partition(" (")[0][:70], "n": n}
        yield row | {name: found[kind, name] / n for name in ORDERS}

"""What is printed of a judge that says which of two texts has fewer errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgesmith.cli.agreement import estimate_text
from judgesmith.cli.preferred import print_order
from judgesmith.cli.printing import counted, say, say_wrapped, shortened
from judgesmith.cli.tables import print_table

if TYPE_CHECKING:
    from judgesmith.experiments.evaluate.perspectives.direct import DirectReport


def print_comparisons(found: DirectReport, *, name: str) -> None:
    """Print how often the text with fewer errors is preferred on the set called ``name``."""
    say(f"{found.label} on {name}: local perspective, two texts compared directly")
    for criterion, one in found.reports.items():
        rows = [
            [f"I({k})", str(estimate.n), estimate_text(estimate)]
            for k, estimate in one.apart.items()
        ]
        title = f"{shortened(criterion, 30)}: the text with fewer errors preferred"
        print_table(title, rows, header=["errors more", "pairs", "share"])
        print_order(one.order)
        say()
        votes = counted(one.n_samples, "answer")
        why = "".join(f"; {n} × {reason}" for reason, n in one.unscored.reasons.items())
        say_wrapped(
            f"{votes} in each order, and the relation with most of them counts: neither text in "
            f"{one.n_neither} of {counted(one.unscored.n_rows, 'pair')}, of which {one.unscored.n} "
            f"have no answer{why}"
        )

"""How ``judgesmith panel --subsets`` tells what every part of a panel would be worth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from judgesmith.cli.printing import say
from judgesmith.cli.tables import print_table

if TYPE_CHECKING:
    from judgesmith.experiments.panel.notes import SubsetAnalysis
    from judgesmith.programs.artifacts.saved_ensembles import SavedPanel

_MOST_SHOWN = 10


def subsets_summary(saved: SavedPanel) -> dict[str, Any]:
    """Return what a panel was told of its subsets, as it stands in ``--json``; nothing if not."""
    found = [
        {"members": one["members"], **one["values"]}
        for one in saved.history
        if one.get("stage") == "subset"
    ]
    return {"subsets": found} if found else {}


def say_subsets(found: SubsetAnalysis) -> None:
    """Print the best subsets, the whole panel, and mean and best by size."""
    statistics = list(found.whole.values)
    first = statistics[0]
    shown = [*found.subsets[:_MOST_SHOWN]]
    if found.whole not in shown:
        shown.append(found.whole)
    rows = [
        [
            f"{found.place_of(one)}. {', '.join(one.members)}",
            *(_shown(one.values[name]) for name in statistics),
        ]
        for one in shown
    ]
    title = (
        f"Subsets, by the plain {found.middle} of their members, on {found.n} rows; the best of "
        "many looks better than it is:"
    )
    print_table(title, rows, header=["members", *statistics])
    sizes = [
        f"{size}: {_shown(mean)}, best {_shown(best)}"
        for size, (mean, best) in found.by_size(first).items()
    ]
    say(f"\nmean {first} by number of members: {'; '.join(sizes)}")


def _shown(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.3f}"

"""How well twelve metrics discern summaries that people made unfaithful.

The recorded metrics on BUMP (99 summaries, each edited to have one of seven kinds of error, as
intended by the editor): the lowest and the average discernment of the kinds, the kind with the
lowest, how many items that one needs, and in how many kinds the metric prefers the unfaithful
version. A kind of error is a perturbation of words, so the average is over kinds.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Annotated

from benchmarks.harness import Row, benchmark, records
from judgesmith.metrics import discernment


@benchmark(quick={"most": 1}, formats={"lowest D": ".2f", "average D": ".2f"})
def discernment_bump(*, most: Annotated[int | None, "metrics"] = None) -> Iterator[Row]:
    """How well twelve metrics discern summaries that people made unfaithful."""
    found = list(rows(most))
    yield from sorted(found, key=lambda row: row["average D"].value, reverse=True)


def rows(most: int | None) -> Iterator[Row]:
    """Yield how well each metric discerns."""
    kind_of = {
        (row["source_id"], row["system_id"]): row["intended_perturbation"]
        for row in records("bump")
        if row["system_id"] != "reference"
    }
    kinds = sorted(set(kind_of.values()))
    items = sorted({source for source, _ in kind_of})
    scores: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    for row in records("recorded/bump_metrics"):
        kind = kind_of.get((row["source_id"], row["system_id"]), "reference")
        scores[row["judge"]][row["source_id"], kind] = row["scores"][0]
    for judge, own in list(scores.items())[:most]:
        found = discernment(
            [[own[item, "reference"]] for item in items],
            [[[own[item, kind]] for item in items] for kind in kinds],
            perturbations=kinds,
            levels=["word"] * len(kinds),
            metrics=["consistency"],
            seed=0,
        )
        hardest = min(found.perturbations, key=lambda one: one.score.value)
        prefers = sum(one.prefers_damage for one in found.perturbations)
        needed = hardest.items_needed
        yield {
            "metric": judge.removeprefix("metric:"),
            "lowest D": found.lowest,
            "average D": found.average,
            "hardest kind": hardest.name.removesuffix(" Error").lower(),
            "items it needs": str(needed.n or f"over {needed.limit}"),
            "prefers errors": f"{prefers} of {len(kinds)}",
        }

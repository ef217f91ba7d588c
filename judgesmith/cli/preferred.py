"""What ``judgesmith evaluate`` prints of preferences between two texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgesmith.cli.agreement import estimate_text, scored_by_text
from judgesmith.cli.printing import counted, say, say_wrapped
from judgesmith.cli.tables import print_table

if TYPE_CHECKING:
    from judgesmith.experiments.evaluate.preferring import PreferenceEvaluation
    from judgesmith.metrics.pairs import OrderConsistency

_SHOWN = {"given": "as given", "swapped": "swapped", "combined": "both orders"}


def print_preferences(found: PreferenceEvaluation, *, name: str) -> None:
    """Print how preferences agree with people's on the set called ``name``."""
    from judgesmith.experiments.evaluate.agreement import unscored_text
    from judgesmith.experiments.evaluate.preferring import ANSWERS, ranking_rows

    what = f"preferences between two texts{scored_by_text(found.scored_by)}"
    say_wrapped(f"{found.label} on {name}: {found.target}, {what}", hang=2)
    n, basis = found.unscored.n_rows, found.given.accuracy
    columns = found.by_order
    rows = [
        ["same as people", *(estimate_text(one.accuracy) for one in columns.values())],
        [
            "  without ties",
            *(estimate_text(one.accuracy_decided) for one in columns.values()),
        ],
    ]
    of = counted(basis.n_groups, "source")
    title = f"{counted(basis.n, 'pair')} of {of}, {basis.confidence:.0%} intervals over sources"
    print_table(title, rows, header=["", *(_SHOWN[one] for one in columns)])
    if found.order is not None:
        print_order(found.order)
    if found.rankings:
        strengths = [
            [
                str(system),
                *(
                    estimate_text(one.strength(system), signed=True)
                    for one in found.rankings.values()
                ),
            ]
            for system in (row["system"] for row in ranking_rows(found.rankings))
        ]
        print_table(
            "How strong each system is, in log-odds", strengths, header=["", *found.rankings]
        )
    counts = [
        [f"people: {people}", *map(str, row)]
        for people, row in zip(ANSWERS, found.given.confusion, strict=True)
    ]
    print_table("Which of the two is better", counts, header=["", *ANSWERS])
    say()
    say_wrapped(
        f"of the pairs, {unscored_text(found.unscored)}; people rated both texts alike in "
        f"{found.n_tied} ({found.n_tied / n:.0%}); {found.n_unrated} more have an unrated text"
    )


def print_order(order: OrderConsistency) -> None:
    """Print what happens to a judge's answers when two texts change places."""
    print_table(
        "When the two texts change places",
        [
            ["the answer is the same", estimate_text(order.consistent)],
            ["the other text wins", estimate_text(order.flipped)],
            ["preferences for the text shown first", estimate_text(order.first_place)],
        ],
    )

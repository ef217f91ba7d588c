"""What ``judgesmith evaluate`` prints besides correlations: one small table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgesmith.cli.agreement import estimate_text
from judgesmith.cli.printing import say_under
from judgesmith.cli.tables import print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgesmith.experiments.evaluate.besides import Besides
    from judgesmith.metrics.audits import ScaleUse
    from judgesmith.metrics.systems import SystemMean

_OFTEN = 0.05
"""A score that fewer rows have is the most used one by accident."""


def print_besides(title: str, found: Besides) -> None:
    """Print pairs, kappa, use of the scale and the bias for length, the judge beside people."""
    judge, people = found.judge_use, found.human_use
    rows = [
        ["pairs ordered as by people", estimate_text(found.pairs["dataset"]), ""],
        ["  within sources", estimate_text(found.pairs["sample"]), ""],
        *([f"kappa, {name}", estimate_text(one), ""] for name, one in found.kappa.items()),
        ["pairs that are tied", estimate_text(judge.tied_pairs), estimate_text(people.tied_pairs)],
        ["different scores", str(judge.n_used), str(people.n_used)],
        ["most used score", _most_used(judge), _most_used(people)],
        [
            "correlation with length",
            estimate_text(found.length.correlation, signed=True),
            estimate_text(found.length.human_correlation, signed=True),
        ],
        ["  slope, at equal ratings", estimate_text(found.length.slope, signed=True), ""],
    ]
    print_table(title, rows, header=["", "judge", "people"])
    without = found.pairs["sample"].n_undefined
    if without:
        say_under("within sources", f"{without} source{'s'[: without - 1]} without pairs")
    if found.no_kappa is not None:
        say_under("no kappa", found.no_kappa)


def print_systems(found: Sequence[SystemMean]) -> None:
    """Print what systems are rated on average, from ratings alone and with the judge's help."""
    rows = [
        [
            str(one.system),
            estimate_text(one.estimate),
            estimate_text(one.classical),
            str(one.n_rated),
            str(one.n_unrated),
        ]
        for one in found
    ]
    header = ["", "with the judge", "ratings alone", "rated", "unrated"]
    print_table("Mean rating of each system", rows, header=header)


def _most_used(use: ScaleUse) -> str:
    share = use.most_used_share.value
    return f"{use.most_used:.4g} ({share:.0%} of rows)" if share >= _OFTEN else "none often"

"""What each part of the method is worth, offline, on two sets: rows of ``experiment ablate``.

There is a table per set and block of rows: as in the paper, and with learned weights. Q and its
difference to the whole method, ``fine``, are over the rows held out, with 95 % intervals over
sources; *optimism* is how much higher Q is on the validation rows. *Theirs* are Pearson, Spearman
and Kendall that the authors of Active-Critic measured with Orca2-13B on rows split at random
(their Tables 1 and 4).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from benchmarks.harness import Row, benchmark, rated
from judgesmith.experiments import CompileSettings
from judgesmith.experiments import ablation as ablated
from judgesmith.programs.lm import model

TARGETS = {"summeval": "mean", "topical_chat": "overall"}
BLOCKS = {"paper": "as in the paper", "learned": "with learned weights"}
COARSE = {"summeval": "0.539 0.523 0.416", "topical_chat": "0.611 0.617 0.485"}
THEIRS = {
    "vanilla": {"summeval": "0.549 0.486 0.396", "topical_chat": "0.493 0.493 0.406"},
    "coarse": COARSE,
    "fine": {"summeval": "0.630 0.549 0.430", "topical_chat": "0.602 0.621 0.471"},
    "without-task": {"summeval": "0.583 0.483 0.355", "topical_chat": "0.495 0.506 0.421"},
    "without-criteria": {"summeval": "0.573 0.522 0.406", "topical_chat": "0.553 0.537 0.445"},
    "without-mcs": COARSE,
    "without-os": {"summeval": "0.611 0.513 0.391", "topical_chat": "0.564 0.562 0.446"},
}


@benchmark(
    quick={"sets": ("topical_chat",), "rows": ("coarse", "fine"), "rounds": 1, "sources": 12},
    formats={"Q minus fine": "+.3f", "optimism": "+.3f"},
)
def ablation(
    *,
    sets: tuple[str, ...] = tuple(TARGETS),
    rows: Annotated[tuple[str, ...], "all, unless named"] = (),
    rounds: Annotated[int, "of the search of demonstrations"] = 11,
    sources: Annotated[int | None, "of each set, or all"] = None,
) -> Iterator[Row]:
    """What each part of the method is worth, offline, on two sets."""
    for name in sets:
        settings = CompileSettings(target=TARGETS[name], holdout=0.75, n_rounds=rounds)
        with tempfile.TemporaryDirectory() as folder:
            lm = model("offline", ledger=Path(folder) / "ledger.sqlite")
            table = ablated(rated(name, sources), settings, lm=lm, rows=rows or None)
        equal = {(block, one) for block, names in table.equal if "fine" in names for one in names}
        for row in table.rows:
            found: Row = {f"{name}, {BLOCKS[row.block]}": f"`{row.name}`"}
            agreement = row.agreement
            for statistic in ("pearson", "spearman", "kendall"):
                found[statistic.title()] = agreement[statistic].value
            found["Q"] = agreement["q"]
            is_equal = (row.block, row.name) in equal and row.name != "fine"
            found["Q minus fine"] = "equal" if is_equal else row.difference
            theirs = THEIRS.get(row.name, {}).get(name)
            yield found | {"optimism": row.optimism, "new calls": row.new, "theirs": theirs}

"""What an ablation would ask and cost, before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from judgesmith.experiments.ablation_rows import (
    BLOCKS,
    chosen_rows,
    impossible_rows,
    planned_rows,
)
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.estimating import RunEstimate, estimate_run
from judgesmith.experiments.settings import CompileSettings

if TYPE_CHECKING:
    import dspy


def estimate_ablation(
    dataset: DataSet,
    settings: CompileSettings,
    lm: dspy.LM,
    *,
    rows: Iterable[str] | None = None,
) -> RunEstimate:
    """Return what ``ablation`` asks and costs with a ledger, which keeps the answers.

    Rows that differ in weights alone, or not at all, ask the same and are counted once. Whatever
    else rows share is counted for each of them, so that fewer calls are made.

    Raises
    ------
    ValueError
        Where the ablation itself would refuse settings, rows or data.

    Examples
    --------
    >>> from judgesmith.experiments.reading import read_items
    >>> from judgesmith.programs.lm import model
    >>> data, settings = read_items("sample"), CompileSettings()
    >>> names = ["coarse", "without-mcs"]
    >>> twice = estimate_ablation(data, settings, model(ledger=None), rows=names)
    >>> once = estimate_ablation(data, settings, model(ledger=None), rows=names[:1])
    >>> twice == once
    True
    """
    names = chosen_rows(rows)
    left_out = impossible_rows(dataset, names)
    plan = planned_rows(settings, [name for name in names if name not in left_out])
    distinct: list[CompileSettings] = []
    for row in plan:
        if row.block == BLOCKS[0] and row.settings not in distinct:
            distinct.append(row.settings)
    found = [estimate_run(dataset, one, lm) for one in distinct]
    costs = [one.cost_usd for one in found if one.cost_usd is not None]
    calls = sum(one.calls for one in found)
    unlisted = sum(one.calls_without_probabilities or one.calls for one in found)
    return RunEstimate(
        calls=calls,
        max_calls=sum(one.max_calls for one in found),
        input_tokens=sum(one.input_tokens for one in found),
        output_tokens=sum(one.output_tokens for one in found),
        cost_usd=sum(costs) if len(costs) == len(found) else None,
        calls_without_probabilities=unlisted if unlisted > calls else None,
    )

"""What a cell took: requests, tokens, dollars and time, and what a judgement takes on average."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.experiments.runs.results import NOTHING
from judgesmith.signatures import Judgement

if TYPE_CHECKING:
    from judgesmith.programs.lm import Usage


def taken(before: Usage | None, after: Usage | None, seconds: float) -> dict[str, Any]:
    """Return what went through the models between two moments."""
    if before is None or after is None:
        return {**dict.fromkeys(NOTHING), "seconds": round(seconds, 3)}
    tokens = after.input_tokens + after.output_tokens
    costs = (after.cost_usd, before.cost_usd)
    return {
        "calls": after.calls - before.calls,
        "recorded": after.hits - before.hits,
        "tokens": tokens - before.input_tokens - before.output_tokens,
        "usd": None if None in costs else float(costs[0] or 0.0) - float(costs[1] or 0.0),
        "seconds": round(seconds, 3),
    }


def per_item(judged: Sequence[Judgement], usd: Sequence[float]) -> dict[str, float | None]:
    """Return what a text takes on average, whether or not its answers were on record."""
    if not judged:
        return {"calls": None, "usd": None}
    cost: float | None = _mean(usd) if usd else None
    return {"calls": _mean([len(one.calls) for one in judged]), "usd": cost}


def _mean(values: Sequence[float]) -> float | None:
    """Return a mean as JSON holds it: None where a value is unknown."""
    mean = float(np.mean(values))
    return None if np.isnan(mean) else mean

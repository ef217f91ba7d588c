"""What it takes that saved judges judge items, such as a panel's, before anything is asked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from judgesmith.experiments.compile.compiling import MOST_ITEMS
from judgesmith.experiments.compile.estimate import RunEstimate
from judgesmith.experiments.compile.judging_estimate import (
    CHARACTERS_PER_TOKEN,
    AskedEffort,
    JudgingEffort,
    efforts_of_all,
    judging_efforts,
    supervising,
)
from judgesmith.experiments.panel.rows import PanelParts
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedPanel
from judgesmith.signatures.items import RatedItem

if TYPE_CHECKING:
    import dspy


def estimate_panel(
    panel: SavedPanel,
    parts: PanelParts,
    lms: Mapping[str, dspy.LM],
    lm: dspy.LM,
    *,
    texts: bool = True,
) -> RunEstimate:
    """Return what ``learn_panel`` asks: every member, of every row; a supervisor, of few texts."""
    efforts = efforts_of_all([panel], parts.items)
    kept = parts.texts if parts.heldout is None else parts.heldout.items
    if texts:
        efforts += supervising(panel, kept[:MOST_ITEMS])
    return _estimate(efforts, lms, lm)


def estimate_judging(
    judges: Iterable[AnySaved],
    items: Sequence[RatedItem],
    lms: Mapping[str, dspy.LM],
    lm: dspy.LM,
) -> RunEstimate:
    """Return what it takes that every judge judges every item; see ``estimate_panel``."""
    return _estimate(judging_efforts(list(judges), items), lms, lm)


def _estimate(
    efforts: Sequence[AskedEffort], lms: Mapping[str, dspy.LM], lm: dspy.LM
) -> RunEstimate:
    from judgesmith.programs.lm import lm_client_of

    total = JudgingEffort()
    n_in = n_out = 0
    cost: float | None = 0.0
    for one in efforts:
        effort = one.effort
        said = round(effort.characters / CHARACTERS_PER_TOKEN)
        answered = round(effort.answered)
        client = lm_client_of(one.own or lms.get(one.model, lm))
        price = None if client is None else client.price
        cost = None if cost is None or price is None else cost + price.usd(said, answered)
        total += effort
        n_in, n_out = n_in + said, n_out + answered
    calls, usual, unlisted = map(math.ceil, (total.calls, total.usual, total.unlisted))
    return RunEstimate(
        calls=calls,
        max_calls=math.ceil(total.most),
        input_tokens=n_in,
        output_tokens=n_out,
        cost_usd=cost,
        expected_calls=usual if usual < calls else None,
        calls_without_probabilities=unlisted if unlisted > calls else None,
    )

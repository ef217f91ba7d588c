"""What it takes that saved judges judge items, such as a panel's, before anything is asked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from judgesmith.experiments.estimating import RunEstimate
from judgesmith.experiments.judging_estimate import (
    CHARACTERS_PER_TOKEN,
    JudgingEffort,
    Lengths,
    judging_effort,
    sizes_of,
)
from judgesmith.experiments.panel_rows import PanelParts, PanelSettings
from judgesmith.programs.effort import ATTEMPTS_TO_READ
from judgesmith.programs.panel_aspects import n_aspects
from judgesmith.programs.saved_kinds import AnySaved, SavedPanel, saved_leaves, saved_panels
from judgesmith.signatures.panel_weights import PanelWeights
from judgesmith.signatures.rated import RatedItem

if TYPE_CHECKING:
    import dspy

MOST_GOLDEN = 5
"""Texts that a panel is asked about once more, errors merged, to be kept with it."""

_ERRORS = 3  # that a member is taken to find in a text, of each criterion
_CHARACTERS_PER_ERROR = 250
_TOKENS_PER_ERROR = 60


def estimate_panel(
    members: Mapping[str, AnySaved],
    parts: PanelParts,
    lms: Mapping[str, dspy.LM],
    lm: dspy.LM,
    settings: PanelSettings | None = None,
) -> RunEstimate:
    """Return what ``learn_panel`` asks: every member, of every row; a supervisor, of few texts.

    Parameters
    ----------
    members : dict of str to saved judge
        By name.
    parts : PanelParts
        The rows.
    lms : dict of str to dspy.LM
        By the name of the model that members were made with.
    lm : dspy.LM
        For members of other models.
    settings : PanelSettings or None
        Say who supervises; None is nobody.
    """
    settings = settings or PanelSettings()
    held = () if parts.heldout is None else parts.heldout.items
    efforts = _efforts(members.values(), (*parts.selection.items, *held))
    merging = settings.merging
    if "supervisor" in merging and settings.texts and held:
        weights = PanelWeights.equal({name: one.scale for name, one in members.items()})
        facts = {"target": parts.targets.name, "human_scale": parts.targets.scale}
        panel = SavedPanel(members=members, weights=weights, **merging, **facts)
        efforts += _supervising(panel, held[:MOST_GOLDEN])
    return _estimate(efforts, lms, lm)


def estimate_judging(
    judges: Iterable[AnySaved],
    items: Sequence[RatedItem],
    lms: Mapping[str, dspy.LM],
    lm: dspy.LM,
) -> RunEstimate:
    """Return what it takes that every judge judges every item; see ``estimate_panel``."""
    return _estimate(judging_efforts(list(judges), items), lms, lm)


def judging_efforts(
    judges: Sequence[AnySaved], items: Sequence[RatedItem]
) -> list[tuple[str, JudgingEffort]]:
    """Return what it takes that every judge judges every item, by the model that is asked."""
    merged = [
        one
        for judge in judges
        for panel in saved_panels(judge)
        for one in _supervising(panel, items)
    ]
    return _efforts(judges, items) + merged


def _efforts(
    judges: Iterable[AnySaved], items: Sequence[RatedItem]
) -> list[tuple[str, JudgingEffort]]:
    """Return what each judge that asks a model takes, and which model."""
    if not items:
        return []
    sizes, lengths = sizes_of(items), Lengths.of(items)
    return [
        (leaf.model, judging_effort(leaf.protocol, leaf.questions, sizes, lengths))
        for one in judges
        for leaf in saved_leaves(one)
    ]


def _supervising(panel: SavedPanel, items: Sequence[RatedItem]) -> list[tuple[str, JudgingEffort]]:
    """Return what the supervisor of a panel takes, as if every text had errors of every kind."""
    if panel.supervisor is None or not items:
        return []
    leaves = [leaf for name in panel.asked for leaf in saved_leaves(panel.members[name])]
    n = len(items) * n_aspects(leaf.protocol for leaf in leaves)
    said = len(panel.supervisor.question.as_text()) + Lengths.of(items).response
    said += len(panel.asked) * _ERRORS * _CHARACTERS_PER_ERROR
    return [
        (
            panel.supervisor.model,
            JudgingEffort(
                usual=n,
                calls=n,
                unlisted=n,
                most=n * ATTEMPTS_TO_READ,
                characters=n * said,
                answered=n * _ERRORS * _TOKENS_PER_ERROR,
            ),
        )
    ]


def _estimate(
    efforts: Sequence[tuple[str, JudgingEffort]], lms: Mapping[str, dspy.LM], lm: dspy.LM
) -> RunEstimate:
    from judgesmith.programs.models import stack_of

    total = JudgingEffort()
    n_in = n_out = 0
    cost: float | None = 0.0
    for model, effort in efforts:
        said = round(effort.characters / CHARACTERS_PER_TOKEN)
        answered = round(effort.answered)
        stack = stack_of(lms.get(model, lm))
        price = None if stack is None else stack.price
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

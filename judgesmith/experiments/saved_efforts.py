"""What it takes that saved judges judge items, by the model that is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judgesmith.experiments.judging_estimate import JudgingEffort, Lengths, judging_effort, sizes_of
from judgesmith.programs.effort import ATTEMPTS_TO_READ
from judgesmith.programs.panel_aspects import n_aspects
from judgesmith.programs.saved_kinds import AnySaved, SavedPanel, saved_leaves, saved_panels
from judgesmith.signatures.rated import RatedItem

_ERRORS = 3  # that a member is taken to find in a text, of each criterion
_CHARACTERS_PER_ERROR = 250
_TOKENS_PER_ERROR = 60


def judging_efforts(
    judges: Sequence[AnySaved], items: Sequence[RatedItem]
) -> list[tuple[str, JudgingEffort]]:
    """Return what it takes that every judge judges every item, by the model that is asked."""
    merged = [
        one
        for judge in judges
        for panel in saved_panels(judge)
        for one in supervising(panel, items)
    ]
    return efforts_of_all(judges, items) + merged


def efforts_of_all(
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


def supervising(panel: SavedPanel, items: Sequence[RatedItem]) -> list[tuple[str, JudgingEffort]]:
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

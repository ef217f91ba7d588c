"""What it takes that saved judges judge items, and which model is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgesmith.experiments.judging_estimate import JudgingEffort, Lengths, judging_effort, sizes_of
from judgesmith.programs.artifacts.saved_ensembles import (
    SUPERVISOR,
    AnySaved,
    SavedPanel,
    leaves_and_parts,
    saved_leaves,
    saved_panels,
)
from judgesmith.programs.families.ensemble.merging import n_aspects
from judgesmith.programs.judging.registry import ATTEMPTS_TO_READ
from judgesmith.signatures.items import RatedItem

if TYPE_CHECKING:
    from judgesmith.programs.lm import AnyModel


@dataclass(frozen=True, slots=True)
class AskedEffort:
    """What asking one model takes.

    Attributes
    ----------
    model : str
        What the judge that asks it was made with.
    effort : JudgingEffort
        What it takes.
    own : model or None
        What is asked instead, where a part of a panel was given a model of its own.
    """

    model: str
    effort: JudgingEffort
    own: AnyModel | None = None


_ERRORS = 3  # that a member is taken to find in a text, of each criterion
_CHARACTERS_PER_ERROR = 250
_TOKENS_PER_ERROR = 60


def judging_efforts(judges: Sequence[AnySaved], items: Sequence[RatedItem]) -> list[AskedEffort]:
    """Return what it takes that every judge judges every item, for each that asks a model."""
    merged = [
        one
        for judge in judges
        for panel in saved_panels(judge)
        for one in supervising(panel, items)
    ]
    return efforts_of_all(judges, items) + merged


def efforts_of_all(judges: Iterable[AnySaved], items: Sequence[RatedItem]) -> list[AskedEffort]:
    """Return what each judge that asks a model takes, and which model."""
    if not items:
        return []
    sizes, lengths = sizes_of(items), Lengths.of(items)
    return [
        AskedEffort(leaf.model, judging_effort(leaf.protocol, leaf.questions, sizes, lengths), own)
        for one in judges
        for leaf, own in leaves_and_parts(one)
    ]


def supervising(panel: SavedPanel, items: Sequence[RatedItem]) -> list[AskedEffort]:
    """Return what the supervisor of a panel takes, as if every text had errors of every kind."""
    if panel.supervisor is None or not items:
        return []
    leaves = [leaf for name in panel.asked for leaf in saved_leaves(panel.members[name])]
    n = len(items) * n_aspects(leaf.protocol for leaf in leaves)
    said = len(panel.supervisor.question.as_text()) + Lengths.of(items).response
    said += len(panel.asked) * _ERRORS * _CHARACTERS_PER_ERROR
    return [
        AskedEffort(
            panel.supervisor.model,
            JudgingEffort(
                usual=n,
                calls=n,
                unlisted=n,
                most=n * ATTEMPTS_TO_READ,
                characters=n * said,
                answered=n * _ERRORS * _TOKENS_PER_ERROR,
            ),
            panel.parts.get(SUPERVISOR),
        )
    ]

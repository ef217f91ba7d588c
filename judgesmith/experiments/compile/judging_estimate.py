"""What it takes that judges judge items: calls by question, and about how many tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

from judgesmith.programs.artifacts.saved_ensembles import (
    SUPERVISOR,
    AnySaved,
    SavedPanel,
    leaves_and_parts,
    saved_leaves,
    saved_panels,
)
from judgesmith.programs.families.ensemble.merging import n_aspects
from judgesmith.programs.judging.prompts import Template
from judgesmith.programs.judging.registry import ATTEMPTS_TO_READ, efforts_of, family_of
from judgesmith.programs.judging.runner import sources_of
from judgesmith.programs.judging.scoring import criteria_text
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import RatedItem

if TYPE_CHECKING:
    from judgesmith.programs.lm import AnyModel

TOKENS_PER_EXPLAINED_SCORE = 60
"""Two sentences and a number."""

CHARACTERS_PER_TOKEN = 4
"""What English text has on average in common tokenizers."""

LEAST_CACHED = 1024
"""Tokens that the beginning of a prompt has at least where OpenAI caches it."""


@dataclass(frozen=True, slots=True)
class MeanLengths:
    """How long texts are on average, in characters."""

    source: float
    response: float

    @classmethod
    def of(cls, items: Sequence[RatedItem]) -> Self:
        """Return the lengths of some items; at least one."""
        return cls(
            sum(len(one.source) + len(one.context or "") for one in items) / len(items),
            sum(len(one.response) for one in items) / len(items),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingEffort:
    """What judging takes."""

    usual: float = 0.0
    calls: float = 0.0
    unlisted: float = 0.0
    most: float = 0.0
    characters: float = 0.0
    answered: float = 0.0
    shared: float = 0.0

    def __add__(self, other: JudgingEffort) -> JudgingEffort:
        names = [one.name for one in fields(self)]
        return JudgingEffort(**{one: getattr(self, one) + getattr(other, one) for one in names})

    def __mul__(self, n: float) -> JudgingEffort:
        return JudgingEffort(**{one.name: getattr(self, one.name) * n for one in fields(self)})

    def __truediv__(self, n: float) -> JudgingEffort:
        return JudgingEffort(**{one.name: getattr(self, one.name) / n for one in fields(self)})


def judging_effort(
    protocol: JudgeConfig,
    templates: Mapping[str, Template],
    sizes: Sequence[int],
    lengths: MeanLengths,
) -> JudgingEffort:
    """Return what it takes that a judge judges the responses to some sources."""
    forms = family_of(protocol.judge).forms_of(protocol)
    found = JudgingEffort()
    for size in sorted(set(sizes)):
        for name, effort in efforts_of(protocol, size).items():
            template = templates[name]
            # A text is shown after a question that asks how likely it is, too.
            n_shown = max(1, len(set(forms[name].texts) - {"source", "context"}))
            texts = lengths.source + n_shown * lengths.response
            texts += _told_length(protocol) if "criterion" in forms[name].told else 0
            found += JudgingEffort(
                usual=effort.usual,
                calls=effort.calls,
                unlisted=effort.unlisted,
                most=effort.most,
                characters=effort.calls * (len(template.as_text()) + texts),
                answered=effort.calls * _answer_tokens(protocol, template, lengths),
                shared=effort.calls * _shared_length(template),
            ) * sizes.count(size)
    return found


def effort_per_text(
    protocol: JudgeConfig,
    templates: Mapping[str, Template],
    sizes: Sequence[int],
    lengths: MeanLengths,
) -> JudgingEffort:
    """Return the same for one text, of the source where it takes the most calls."""
    each = (judging_effort(protocol, templates, [size], lengths) / size for size in set(sizes))
    return max(each, key=lambda one: (one.calls, one.most))


def calls_per_text(protocol: JudgeConfig, sizes: Sequence[int]) -> float:
    """Return the calls that a text takes at most, if every answer can be read."""
    counts = (
        sum(one.calls for one in efforts_of(protocol, size).values()) / size for size in set(sizes)
    )
    return max(counts, default=family_of(protocol.judge).calls_of(protocol))


def sizes_of(items: Sequence[RatedItem]) -> list[int]:
    """Return how many responses each source has."""
    return [len(group) for group in sources_of(items)]


def _told_length(protocol: JudgeConfig) -> float:
    """Return how long a criterion is that is told anew in every question."""
    lines = criteria_text(protocol.rubric)
    n = len(protocol.rubric.criteria) if protocol.scores_criteria else 1
    return len(lines) / max(n, 1)


def _shared_length(template: Template) -> int:
    """Return how long the part is that all prompts begin with, 0 where it is short."""
    first = template.question[0] if template.question else ""
    found = sum(len(turn.text) for turn in template.turns)
    found += len(first) if isinstance(first, str) else 0
    return found if found >= LEAST_CACHED * CHARACTERS_PER_TOKEN else 0


def _answer_tokens(protocol: JudgeConfig, template: Template, lengths: MeanLengths) -> float:
    """Return about how many tokens an answer has."""
    if set(template.outputs.values()) == {"text"}:  # a text of the kind that is judged
        return lengths.response / CHARACTERS_PER_TOKEN
    n_scores = len(protocol.rubric.criteria) if "assessments" in template.outputs else 1
    return n_scores * TOKENS_PER_EXPLAINED_SCORE


@dataclass(frozen=True, slots=True)
class AskedEffort:
    """What asking one model takes."""

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
    sizes, lengths = sizes_of(items), MeanLengths.of(items)
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
    said = len(panel.supervisor.question.as_text()) + MeanLengths.of(items).response
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

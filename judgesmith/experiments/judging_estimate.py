"""What it takes that a judge judges items: calls by question, and about how many tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Self

from judgesmith.programs.judging.prompts import Template
from judgesmith.programs.judging.registry import efforts_of, family_of
from judgesmith.programs.judging.runner import sources_of
from judgesmith.programs.judging.scoring import criteria_text
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import RatedItem

TOKENS_PER_EXPLAINED_SCORE = 60
"""Two sentences and a number."""

CHARACTERS_PER_TOKEN = 4
"""What English text has on average in common tokenizers."""

LEAST_CACHED = 1024
"""Tokens that the beginning of a prompt has at least where OpenAI caches it."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long texts are on average, in characters.

    Attributes
    ----------
    source, response : float
        A source with its context, and a response.
    """

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
    """What judging takes.

    Attributes
    ----------
    usual, calls, unlisted, most : float
        Calls; see ``Effort``.
    characters : float
        Of what is asked in ``calls``.
    answered : float
        Tokens of what is answered.
    shared : float
        Characters, of those asked, that all questions of a kind begin with, where these are
        enough for servers that cache the beginnings of prompts.
    """

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
    lengths: Lengths,
) -> JudgingEffort:
    """Return what it takes that a judge judges the responses to some sources.

    Parameters
    ----------
    protocol : JudgeConfig
        The judge.
    templates : dict of str to Template
        Its questions.
    sizes : sequence of int
        Responses to each source; see ``sizes_of``.
    lengths : Lengths
        How long the texts are.
    """
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
    lengths: Lengths,
) -> JudgingEffort:
    """Return the same for one text, of the source where it takes the most calls."""
    each = (judging_effort(protocol, templates, [size], lengths) / size for size in set(sizes))
    return max(each, key=lambda one: (one.calls, one.most))


def calls_per_text(protocol: JudgeConfig, sizes: Sequence[int]) -> float:
    """Return the calls that a text takes at most, if every answer can be read.

    Examples
    --------
    >>> from judgesmith.signatures.family_configs import PairwiseConfig
    >>> calls_per_text(PairwiseConfig(), [6, 2])
    5.0
    """
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


def _answer_tokens(protocol: JudgeConfig, template: Template, lengths: Lengths) -> float:
    """Return about how many tokens an answer has."""
    if set(template.outputs.values()) == {"text"}:  # a text of the kind that is judged
        return lengths.response / CHARACTERS_PER_TOKEN
    n_scores = len(protocol.rubric.criteria) if "assessments" in template.outputs else 1
    return n_scores * TOKENS_PER_EXPLAINED_SCORE

"""What a run asks before it asks: calls by question, about how many tokens, and dollars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

from judgesmith.programs.artifacts.saved_ensembles import (
    SUPERVISOR,
    AnySaved,
    SavedPanel,
    SavedSupervisor,
    leaves_and_parts,
    saved_leaves,
    saved_panels,
)
from judgesmith.programs.families.ensemble.merging import n_aspects
from judgesmith.programs.judging.prompts import Template
from judgesmith.programs.judging.registry import (
    ATTEMPTS_TO_READ,
    Effort,
    family_of,
)
from judgesmith.programs.judging.runner import sources_of
from judgesmith.programs.judging.scoring import criteria_text
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import RatedItem

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.saved import SavedJudge
    from judgesmith.programs.families.pairwise import ResponsePair
    from judgesmith.programs.lm import AnyModel
    from judgesmith.programs.lm.budget import Price

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

    @classmethod
    def asked(cls, n: int, *, characters: float, answered: float) -> Self:
        """Return what ``n`` questions take that are no judgements, each with so many tokens."""
        most = ATTEMPTS_TO_READ * n
        return cls(
            usual=n, calls=n, unlisted=n, most=most, characters=characters, answered=answered * n
        )

    @property
    def tokens(self) -> tuple[int, int]:
        """About how many tokens are read and written."""
        return round(self.characters / CHARACTERS_PER_TOKEN), round(self.answered)

    def usd(self, price: Price | None) -> float | None:
        """Return what the tokens cost; None where the price is unknown."""
        return None if price is None else price.usd(*self.tokens)


def judging_effort(
    protocol: JudgeConfig,
    templates: Mapping[str, Template],
    sizes: Sequence[int],
    lengths: MeanLengths,
) -> JudgingEffort:
    """Return what it takes that a judge judges the responses to some sources."""
    found = JudgingEffort()
    for size in sorted(set(sizes)):
        asked = family_of(protocol.judge).efforts(protocol, size)
        found += asking_effort(protocol, templates, asked, lengths) * sizes.count(size)
    return found


def asking_effort(
    protocol: JudgeConfig,
    templates: Mapping[str, Template],
    asked: Mapping[str, Effort],
    lengths: MeanLengths,
) -> JudgingEffort:
    """Return what it takes to ask a judge's questions so often."""
    forms = family_of(protocol.judge).forms(protocol)
    found = JudgingEffort()
    for name, effort in asked.items():
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
        )
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
        sum(one.calls for one in family_of(protocol.judge).efforts(protocol, size).values()) / size
        for size in set(sizes)
    )
    return max(counts, default=family_of(protocol.judge).calls(protocol))


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
    n = n_aspects(leaf.protocol for leaf in leaves)
    effort = merging_effort(panel.supervisor, items, n_members=len(panel.asked), n_aspects=n)
    return [AskedEffort(panel.supervisor.model, effort, panel.parts.get(SUPERVISOR))]


def merging_effort(
    supervisor: SavedSupervisor, items: Sequence[RatedItem], *, n_members: int, n_aspects: int
) -> JudgingEffort:
    """Return what it takes that a supervisor merges the errors of every aspect of every text."""
    n = len(items) * n_aspects
    said = len(supervisor.question.as_text()) + MeanLengths.of(items).response
    said += n_members * _ERRORS * _CHARACTERS_PER_ERROR
    return JudgingEffort.asked(n, characters=n * said, answered=_ERRORS * _TOKENS_PER_ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEstimate:
    """How many calls a run makes, and about how many tokens and dollars they take."""

    calls: int  # at most, if every answer can be read; ``max_calls`` if each is asked again
    max_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None  # of these tokens; None where a price is unknown
    expected_calls: int | None = None
    calls_without_probabilities: int | None = None

    @classmethod
    def of(
        cls, effort: JudgingEffort, *, cost_usd: float | None, searched: bool = False
    ) -> RunEstimate:
        """Return the estimate of an effort; one that is ``searched`` always has expected calls."""
        calls, usual, unlisted = map(math.ceil, (effort.calls, effort.usual, effort.unlisted))
        read, written = effort.tokens
        return cls(
            calls=calls,
            max_calls=math.ceil(effort.most),
            input_tokens=read,
            output_tokens=written,
            cost_usd=cost_usd,
            expected_calls=usual if searched or usual < calls else None,
            calls_without_probabilities=unlisted if unlisted > calls else None,
        )

    @property
    def expected(self) -> int:
        """How many calls are usual."""
        return self.calls if self.expected_calls is None else self.expected_calls

    def __add__(self, other: RunEstimate) -> RunEstimate:
        usd = None
        if self.cost_usd is not None and other.cost_usd is not None:
            usd = self.cost_usd + other.cost_usd
        calls = self.calls + other.calls
        usual = self.expected + other.expected
        unlisted = sum(one.calls_without_probabilities or one.calls for one in (self, other))
        return RunEstimate(
            calls=calls,
            max_calls=self.max_calls + other.max_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=usd,
            expected_calls=usual if usual < calls else None,
            calls_without_probabilities=unlisted if unlisted > calls else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: under ``calls`` the expected number, with its bounds."""
        unlisted = self.calls_without_probabilities
        return {
            "calls": self.expected,
            "calls_at_most": self.calls,
            "max_calls": self.max_calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd,
            **({} if unlisted is None else {"calls_without_probabilities": unlisted}),
        }


NO_CALLS = RunEstimate(calls=0, max_calls=0, input_tokens=0, output_tokens=0, cost_usd=0.0)
"""What reading scores on file takes."""


def known_price(lm: AnyModel) -> Price | None:
    from judgesmith.programs.lm import lm_client_of

    client = lm_client_of(lm)
    return None if client is None else client.price


def estimate_asking(
    efforts: Sequence[AskedEffort], lms: Mapping[str, AnyModel], lm: AnyModel
) -> RunEstimate:
    """Return what asking several models takes: each its own, one of ``lms`` by name, or ``lm``."""
    total = sum((one.effort for one in efforts), JudgingEffort())
    costs = [one.effort.usd(known_price(one.own or lms.get(one.model, lm))) for one in efforts]
    known = [one for one in costs if one is not None]
    return RunEstimate.of(total, cost_usd=math.fsum(known) if len(known) == len(costs) else None)


def estimate_judging(
    judges: Iterable[AnySaved],
    items: Sequence[RatedItem],
    lms: Mapping[str, AnyModel],
    lm: AnyModel,
    *,
    often: int = 1,
) -> RunEstimate:
    """Return what it takes that every judge judges every item, ``often`` times."""
    efforts = judging_efforts(list(judges), items)
    asked = [AskedEffort(one.model, one.effort * often, one.own) for one in efforts]
    return estimate_asking(asked, lms, lm)


def estimate_comparing(
    judge: SavedJudge, pairs: Sequence[ResponsePair], lm: AnyModel, *, often: int = 1
) -> RunEstimate:
    """Return what it takes that a judge compares each pair in both orders, ``often`` times."""
    n = len(pairs)
    lengths = MeanLengths(
        sum(len(one.source) + len(one.context or "") for one in pairs) / n,
        sum(len(one.first) + len(one.second) for one in pairs) / (2 * n),
    )
    effort = judging_effort(judge.protocol, judge.questions, [2] * n, lengths) * often
    return estimate_asking([AskedEffort(judge.model, effort)], {}, lm)


def estimate_exemplars(judge: SavedJudge, items: Sequence[RatedItem], lm: AnyModel) -> RunEstimate:
    """Return what it takes to write the exemplars of every source, and to compare neighbours."""
    from judgesmith.programs.families.exemplar import ExemplarConfig, exemplar_efforts

    protocol = judge.protocol
    assert isinstance(protocol, ExemplarConfig)
    lengths = MeanLengths.of(items)
    asked = exemplar_efforts(protocol, 1)
    compared = {"compare": asked.pop("compare")}  # with all levels, and not with neighbours alone
    each = asking_effort(protocol, judge.questions, asked, lengths)
    share = (protocol.levels - 1) / protocol.levels
    each += asking_effort(protocol, judge.questions, compared, lengths) * share
    n = len({(one.source, one.context) for one in items})
    return estimate_asking([AskedEffort(judge.model, each * n)], {}, lm)

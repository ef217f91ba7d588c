"""The configuration of judges: what all share, the default judge, and lines by criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from pydantic import (
    Field,
    FiniteFloat,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from judgesmith.errors import InputError
from judgesmith.signatures.aggregation import Aggregation, Decision
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.items import Demonstration
from judgesmith.signatures.plain_data import FrozenModel, fingerprint_of, record_faults
from judgesmith.signatures.rubric import DEFAULT_RUBRIC, Criterion, Rubric
from judgesmith.signatures.scale import PERCENT, Scale, is_percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How answers are drawn: how many to a question, how warm, how long at most."""

    samples: int = 1
    temperature: float = 0.0
    max_tokens: int | None = None


class JudgeConfig(FrozenModel):
    """The configuration that all families share; each family adds its own fields."""

    by_criterion: ClassVar[tuple[str, ...]] = ()
    """Fields that hold a value for each of some criteria, and can be set for one by name."""

    given_alone: ClassVar[tuple[str, ...]] = ()
    """Fields on which others depend: an option of their own sets them, and no choice does."""

    scores_on_answers: ClassVar[bool] = False
    """Whether scores are on the scale of the answers where no weights were learned."""

    takes_any_labels: ClassVar[bool] = False
    """Whether answers may be three or more labels without an order."""

    judge: str
    rubric: Rubric = DEFAULT_RUBRIC
    answers: Scale = PERCENT
    instructions: Mapping[str, str] = Field(default_factory=dict)
    demonstrations: Mapping[str, tuple[Demonstration, ...]] = Field(default_factory=dict)
    nearest: int | None = Field(default=None, ge=1)
    samples: int = Field(default=1, ge=1, le=1000)
    reduction: Literal["mean", "median", "mode"] = "mean"
    weighting: Literal["none", "probabilities"] = "none"
    temperature: FiniteFloat = Field(default=0.0, ge=0.0, le=2.0)
    max_tokens: int | None = Field(default=None, ge=1)
    aggregation: Aggregation = Field(default_factory=Aggregation)

    @field_validator("answers")
    @classmethod
    def _can_be_answered_on(cls, answers: Scale) -> Scale:
        is_whole = answers.low.is_integer() and answers.high.is_integer()
        if not (is_whole and answers.higher_is_better and answers.high - answers.low <= 100):
            raise InputError(
                "answers must be on a scale of at most 101 whole points on which more is better; "
                f"got {answers}{'' if answers.higher_is_better else ', which counts faults'}."
            )
        if not answers.ordered and not cls.takes_any_labels:
            raise InputError(
                f"scores cannot order the labels {', '.join(answers.labels)}.",
                hint="take a verdict judge, or labels in an order (ordered).",
            )
        for label in answers.labels:
            if imitates_layout(label) or label != " ".join(label.split()) or not label:
                raise InputError(f"a label of a scale must be one line of text; got {label!r}.")
        return answers

    @model_validator(mode="after")
    def _has_the_criteria_it_weighs(self) -> Self:
        asked = self.scored_criteria
        if self.aggregation.kind == "mean" and not asked:
            raise InputError("the mean of the criteria needs criteria; this judge asks for none.")
        unknown = [name for name in self.aggregation.criteria if name not in asked]
        if unknown:
            raise InputError(
                f"the aggregation weighs {', '.join(unknown)}; this judge asks for "
                f"{', '.join(asked) or 'no criteria'}."
            )
        return self

    @model_serializer(mode="wrap")
    def _family_first(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write the family, then what is particular to it, then what all have."""
        found: dict[str, Any] = plain(self)
        shared = [name for name in JudgeConfig.model_fields if name != "judge"]
        own = [name for name in found if name not in JudgeConfig.model_fields]
        return {name: found[name] for name in ("judge", *own, *shared) if name in found}

    @property
    def sampling(self) -> Sampling:
        """How answers are drawn."""
        return Sampling(
            samples=self.samples, temperature=self.temperature, max_tokens=self.max_tokens
        )

    @property
    def scores_criteria(self) -> bool:
        """Whether the judge gives each criterion of its rubric a score of its own."""
        return False

    @property
    def scored_criteria(self) -> tuple[str, ...]:
        """Names of the criteria that the judge gives a score of their own."""
        return self.rubric.names if self.scores_criteria else ()

    @property
    def tells_rubric(self) -> bool:
        """Whether prompts contain task and criteria."""
        return True

    @property
    def own_score(self) -> str:
        """What the score is where nothing was learned, in words."""
        return "the model's own overall score"

    @property
    def deciding(self) -> Aggregation:
        """How a score comes about; it is a label where models answer by one that scores order."""
        own, answers = self.aggregation, self.answers
        if own.decision is None and own.kind != "linear" and answers.is_verdict and answers.ordered:
            return own.model_copy(update={"decision": Decision(scale=answers)})
        if self.scores_on_answers and own == Aggregation() and not is_percent(answers):
            return Aggregation(
                kind="linear",
                terms=("overall",),
                centers=(PERCENT.low,),
                spreads=(PERCENT.high,),
                weights=(answers.high - answers.low,),
                intercept=answers.low,
                scale=answers,
            )
        return own

    @property
    def scores_on(self) -> Scale:
        """What scores are measured in."""
        return self.deciding.scores_on

    @record_faults()
    def decided(self, sets: Mapping[str, Any]) -> Self:
        """Return the protocol with some parts set otherwise."""
        return type(self).model_validate({**dict(self), **sets})

    def for_own_rubric(self) -> Self:
        """Return the configuration without lines for criteria of other rubrics."""
        return self

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that change when any part of the protocol does."""
        return fingerprint_of(self.model_dump(mode="json"))


class WholeOrEachConfig(JudgeConfig):
    """A configuration with ``asks``: about each criterion, or about the whole."""

    asks: Literal["criteria", "overall"] = "criteria"

    @property
    def scores_criteria(self) -> bool:
        return self.asks == "criteria"

    @property
    def own_score(self) -> str:
        return "the mean of the criteria" if self.scores_criteria else super().own_score


__all__ = ["ActiveCriticConfig", "Aggregation", "Demonstration"]


class ActiveCriticConfig(JudgeConfig):
    """The configuration of an Active-Critic judge.

    Parameters
    ----------
    judge : str
        The family of judges that understands this protocol.
    variant : {"vanilla", "coarse", "fine"}
        Graded examples alone; task and criteria in one question with one overall score; or every
        criterion scored first, then the whole.
    criteria_calls : {"joint", "separate"}
        Whether the fine variant scores all criteria in one call or each in a call of its own.
    overall : {"asked", "mean"}
        Whether the fine variant asks for an overall score, or takes the mean of the criteria.
    explain : {"before", "after", "none"}
        Where explanations stand: before their scores, after them, or nowhere. The vanilla
        variant has none.
    rubric, answers, instructions, demonstrations, samples, temperature, max_tokens, aggregation
        As for judges of any family.

    Examples
    --------
    >>> ActiveCriticConfig().fingerprint == ActiveCriticConfig(variant="fine").fingerprint
    True
    """

    judge: str = "active-critic"
    variant: Literal["vanilla", "coarse", "fine"] = Field(
        default="fine",
        description="Prompt with graded examples alone (vanilla), with task and criteria in one "
        "question (coarse), or with a score per criterion before the overall score (fine).",
    )
    criteria_calls: Literal["joint", "separate"] = Field(
        default="joint", description="Score all criteria in one call, or each in its own call."
    )
    overall: Literal["asked", "mean"] = "asked"
    explain: Literal["before", "after", "none"] = Field(
        default="before", description="Explanations before their scores, after them, or none."
    )

    @model_validator(mode="after")
    def _parts_of_its_variant(self) -> Self:
        for name, usual in (("criteria_calls", "joint"), ("overall", "asked")):
            given = getattr(self, name)
            if self.variant != "fine" and given != usual:
                raise InputError(
                    f"{name}={given} needs the fine variant; the {self.variant} variant does not "
                    "score criteria."
                )
        return self

    @property
    def scores_criteria(self) -> bool:
        return self.variant == "fine"

    @property
    def tells_rubric(self) -> bool:
        return self.variant != "vanilla"

    @property
    def own_score(self) -> str:
        return "the mean of the criteria" if self.overall == "mean" else super().own_score

    def decided(self, sets: Mapping[str, Any]) -> Self:
        bare = {"criteria_calls": "joint", "overall": "asked"} if "variant" in sets else {}
        return super().decided({**bare, **sets})


MOST_STEPS = 12
_LONGEST_STEP = 600


def steps_key(criterion: Criterion) -> str:
    return f"{criterion.name}: {' '.join(criterion.definition.split())}"


def lines_for(
    criteria: Sequence[Criterion], lines: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Return those of several lines by criterion that are for one of ``criteria``."""
    keys = {key for one in criteria for key in (steps_key(one), one.name)}
    return {key: several for key, several in lines.items() if key in keys}


def check_steps(steps: tuple[str, ...], *, of: str) -> None:
    """Refuse steps that could not stand in a question, one per line."""
    if not 1 <= len(steps) <= MOST_STEPS:
        raise InputError(f"expected 1 to {MOST_STEPS} steps for {of[:60]}; got {len(steps)}.")
    for step in steps:
        is_line = 0 < len(step) <= _LONGEST_STEP and step == " ".join(step.split())
        if not is_line or imitates_layout(step):
            raise InputError(
                f"a step for {of[:60]} is one line of text, {_LONGEST_STEP} characters at most, "
                f"without markers of the prompt layout; got {step[:80]!r}."
            )


def check_questions_of(questions: tuple[str, ...], *, of: str) -> None:
    check_steps(questions, of=of)
    for one in questions:
        if not one.endswith(("?", "？", "؟")):
            raise InputError(
                f"a question for {of[:60]} must end with a question mark; got {one[:80]!r}."
            )


class InferenceSettings(FrozenModel):
    """The caps of task inference, and what it infers."""

    inference: Literal["batches", "single"] = Field(
        default="batches",
        description="Infer the criteria from mini-batches until they add no more, or from one "
        "batch.",
    )
    without: tuple[Literal["task", "criteria"], ...] = ()
    n_batches: int = Field(default=25, ge=1)
    batch_size: int = Field(default=5, ge=1)
    max_descriptions: int = Field(default=5, ge=1)
    max_criteria_sets: int = Field(default=5, ge=1)
    proposed: int = Field(default=10, ge=1)
    fewest: int = Field(default=4, ge=1)
    most: int = Field(default=10, ge=1)
    max_characters: int = Field(default=40_000, ge=1)
    temperature: FiniteFloat = Field(default=0.0, ge=0.0)
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _something_to_infer(self) -> Self:
        if {"task", "criteria"} <= set(self.without):
            raise InputError(
                "without task and criteria there is nothing to infer.", hint="leave one in."
            )
        if self.fewest > self.most:
            raise InputError(
                f"fewest must not exceed most; got {self.fewest} and {self.most} criteria."
            )
        return self

    @property
    def batches(self) -> int:
        return 1 if self.inference == "single" else self.n_batches

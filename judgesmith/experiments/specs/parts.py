"""The parts of a specification: rated sets, judges, optimizers, models, a budget.

Every field is called like the option of the command line that says the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from judgesmith.data.targets import Aggregate
from judgesmith.errors import InputError


def _spelled(value: Any) -> Any:
    """Return a number, as YAML reads ``samples: 3``, as the text that was written."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else value


def _joined(value: Any) -> Any:
    """Return targets with those that are to be agreed with together as one text."""
    if not isinstance(value, list | tuple):
        return value
    return [TOGETHER.join(one) if _is_texts(one) else one for one in value]


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _listed(value: Any) -> Any:
    """Return one text, or a list, as a tuple."""
    return (
        (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value
    )


TOGETHER = ", "
"""What stands between targets that one judge is to agree with, each by its own score."""

Text = Annotated[str, Field(min_length=1, max_length=2000)]
Name = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^\S(.*\S)?$")]
Names = Annotated[tuple[Name, ...], BeforeValidator(_listed)]
Targets = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=400)], ...],
    BeforeValidator(_joined),
    BeforeValidator(_listed),
]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_listed)]
Whole = Annotated[int, Field(strict=True, ge=0)]
Positive = Annotated[int, Field(strict=True, ge=1)]
Amount = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
Switch = Annotated[bool, Field(strict=True)]


class Part(BaseModel):
    """A part of a specification, which cannot be changed and takes no other field."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def said(self) -> frozenset[str]:
        """Fields that were given, and not left at what is usual."""
        return frozenset(self.model_fields_set)


class DataSpec(Part):
    """A rated set, and what judges are held against on it."""

    path: Text
    targets: Annotated[Targets, Field(min_length=1)] = ("auto",)
    map: Text | dict[str, Text | list[Text]] | None = None
    scale: Text | dict[str, Text] | None = None
    aggregate: Aggregate = "mean"
    task: (
        Literal["summarization", "story_completion", "question_answering", "translation"] | None
    ) = None
    kinds: Names = ()
    holdout_kinds: Names = ()
    versions: Whole = 1


Kind = Literal["compiled", "recorded", "panel", "saved"]

_OF_KINDS: Mapping[Kind, tuple[str, ...]] = {
    "recorded": ("recorded", "name", "criterion", "scale"),
    "panel": ("panel", "score", "at_least"),
    "saved": ("saved",),
}
_ALSO: Mapping[Kind, tuple[str, ...]] = {"saved": ("model",)}
"""Fields of a kind that compiled judges have, too."""

_WHAT: Mapping[Kind, str] = {
    "recorded": "scores on record are",
    "panel": "a panel is",
    "saved": "a saved judge is",
}


class JudgeSpec(Part):
    """A judge that is compiled or was saved, scores on record, or a panel of others."""

    judge: Name = "active-critic"
    variant: Literal["vanilla", "coarse", "fine"] = "fine"
    criteria_calls: Literal["joint", "separate"] = "joint"
    explain: Literal["before", "after", "none"] = "before"
    answer_tokens: Positive | None = None
    steps: Text | None = None
    questions: Text | None = None
    choose: dict[str, Annotated[Text, BeforeValidator(_spelled)]] = Field(default_factory=dict)
    rubric: Text | None = None
    criteria: Literal["inferred", "human", "general"] | None = None
    inference: Literal["batches", "single"] = "batches"
    without: Names = ()
    partial_demos: Switch = False
    lexical: Switch | None = None
    role: dict[str, Text] = Field(default_factory=dict)
    model: Name | None = None
    recorded: Text | None = None
    name: Text | None = None
    criterion: Name | None = None
    scale: Text | dict[str, Text] | None = None
    saved: Text | None = None
    panel: Names = ()
    score: Literal["mean", "median"] = "mean"
    at_least: Positive | None = None

    @property
    def kind(self) -> Kind:
        """What there is to do for it."""
        if self.saved:
            return "saved"
        return "recorded" if self.recorded else "panel" if self.panel else "compiled"

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> Self:
        own = (*_OF_KINDS.get(self.kind, ()), *_ALSO.get(self.kind, ()))
        others = [one for kind, names in _OF_KINDS.items() if kind != self.kind for one in names]
        foreign = [
            name
            for name in type(self).model_fields
            if name in self.said and (name in others or (own and name not in own))
        ]
        if not foreign:
            return self
        if own:
            raise InputError(
                f"{_WHAT[self.kind]} said by {', '.join(own)}, and nothing is compiled.",
                hint=f"leave {', '.join(foreign)} out.",
            )
        if foreign == ["panel"]:
            raise InputError("a panel has two judges or more; got none.")
        belongs = "recorded" if foreign[0] in _OF_KINDS["recorded"] else "panel"
        raise InputError(
            f"{foreign[0]} belongs to {belongs}.", hint=f"give {belongs}, or leave it out."
        )


class OptimizerSpec(Part):
    """What is searched for a judge, and how long."""

    optimizer: (
        Literal["random", "protocol", "reflective", "balanced", "miprov2", "simba", "none"] | None
    ) = None
    demonstrations: Whole = 3
    rounds: Positive = 11
    trials: Positive | None = None
    draws: Positive = 3
    screen: Switch = False
    vary_samples: Switch = False
    models: Texts = ()
    objective: Text | None = None


class ModelSpec(Part):
    """A model, and how it is asked. Keys come from the environment."""

    model: Text | None = None
    api_base: Text | None = None
    concurrency: Positive = 32
    price: Text | None = None
    rpm: Amount | None = None
    tpm: Amount | None = None


class Budget(Part):
    """What the whole run may take at most.

    Parameters
    ----------
    calls, tokens : int or None
        At least 1; None is without bound.
    usd, minutes : float or None
        Above 0.
    """

    calls: Positive | None = None
    tokens: Positive | None = None
    usd: Amount | None = None
    minutes: Amount | None = None


class Combination(Part):
    """Cells by their coordinates; what is not named is any."""

    data: Names = ()
    target: Targets = ()
    judge: Names = ()
    optimizer: Names = ()
    model: Names = ()
    seed: Annotated[
        tuple[Whole, ...], BeforeValidator(lambda one: (one,) if isinstance(one, int) else one)
    ] = ()

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.said:
            raise InputError(
                "a combination that names nothing is every cell.", hint="name a judge, say."
            )
        return self

    def covers(self, coordinates: Mapping[str, Any]) -> bool:
        """Say whether a cell is among those that this describes."""
        wanted = {name: getattr(self, name) for name in self.said}
        return all(not own or coordinates[name] in own for name, own in wanted.items())

"""The parts of a specification: datasets, judges, optimizers, models, a budget.

Every field is called like the option of the command line that says the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    create_model,
    model_validator,
)

from judgesmith.errors import InputError
from judgesmith.experiments.compile.fields import CompileFields
from judgesmith.signatures.aggregation import OutlierRule
from judgesmith.signatures.config import ActiveCriticConfig, InferenceSettings
from judgesmith.signatures.plain_data import DeclaredField, declared_fields

if TYPE_CHECKING:
    from judgesmith.experiments.compile.fields import Optimizer
    from judgesmith.signatures.items import Aggregate


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


class SpecPart(BaseModel):
    """A part of a specification, which cannot be changed and takes no other field."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def said(self) -> frozenset[str]:
        """Fields that were given, and not left at what is usual."""
        return frozenset(self.model_fields_set)

    def settings(self, model: type[BaseModel]) -> dict[str, Any]:
        """Return the fields that ``settings_fields`` took from ``model``, by their names there."""
        own = type(self).model_fields
        values = {
            one.name: getattr(self, one.option)
            for one in declared_fields(model, *model.model_fields)
            if one.option in own and own[one.option].description == one.help
        }
        return {name: value for name, value in values.items() if value is not None}


_Part = TypeVar("_Part", bound=SpecPart)


def settings_fields(
    model: type[BaseModel], *names: str, open_default: Collection[str] = ()
) -> Callable[[type[_Part]], type[_Part]]:
    """Return a class decorator that adds fields of a settings model under their option names."""

    def add(part: type[_Part]) -> type[_Part]:
        fields: dict[str, Any] = {}
        for one in declared_fields(model, *names):
            kind = _strict_type(one)
            default = None if one.name in open_default else one.default
            kind = kind if default is not None else kind | None
            fields[one.option] = (kind, Field(default=default, description=one.help))
        return create_model(
            part.__name__, __base__=part, __module__=part.__module__, __doc__=part.__doc__, **fields
        )

    return add


def _strict_type(field: DeclaredField) -> Any:
    if isinstance(field.kind, tuple):
        return Literal[field.kind]
    if field.kind is tuple:
        return Texts if field.name == "models" else Names
    if field.kind is dict:
        return dict[str, Text]
    if field.kind is str:
        return Text
    strict: dict[str, Any] = {"strict": True, **field.bounds}
    return Annotated[field.kind, Field(**strict)]


@settings_fields(
    CompileFields, "aggregate", "task", "kinds", "holdout_kinds", "versions", "expert_weights"
)
class DataSpec(SpecPart):
    """A rated set, and what judges are held against on it."""

    if TYPE_CHECKING:
        aggregate: Aggregate = "mean"
        holdout_kinds: tuple[str, ...] = ()
        expert_weights: str | None = None
    path: Text
    rows: Positive | None = None
    optional: Switch = False
    targets: Annotated[Targets, Field(min_length=1)] = ("auto",)
    map: Text | dict[str, Text | list[Text]] | None = None
    scale: Text | dict[str, Text] | None = None
    labels: Text | dict[str, Text] | None = None
    positive: Text | None = None
    missing: Text | None = None
    encoding: Text | None = None
    decimal: Literal[",", "."] | None = None
    sheet: Text | None = None


Kind = Literal["compiled", "recorded", "panel", "saved"]

SAME, BY_RULE = "same", "rule"
"""The model of a panel's members supervises, or none does."""

MOST_IN_SUBSETS = 10
"""Members of a panel whose subsets are judges, too: 1,013 of them."""

_OF_KINDS: Mapping[Kind, tuple[str, ...]] = {
    "recorded": ("recorded", "name", "criterion", "scale"),
    "panel": ("panel", "score", "at_least", "subsets", "supervisor", "outliers"),
    "saved": ("saved",),
}
_ALSO: Mapping[Kind, tuple[str, ...]] = {"saved": ("model",)}
"""Fields of a kind that compiled judges have, too."""

_WHAT: Mapping[Kind, str] = {
    "recorded": "recorded scores are",
    "panel": "a panel is",
    "saved": "a saved judge is",
}


@settings_fields(ActiveCriticConfig, "variant", "criteria_calls", "explain")
@settings_fields(InferenceSettings, "inference")
@settings_fields(CompileFields, "partial_demos", "lexical", "roles")
class JudgeSpec(SpecPart):
    """A judge that is compiled or was saved, recorded scores, or a panel of others."""

    if TYPE_CHECKING:
        role: dict[str, str] = {}
        inference: str = "batches"
        partial_demos: bool = False
    judge: Name = "active-critic"
    answer_tokens: Positive | None = None
    samples: Positive | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    steps: Text | None = None
    questions: Text | None = None
    format: Text | None = None
    choose: dict[str, Annotated[Text, BeforeValidator(_spelled)]] = Field(default_factory=dict)
    rubric: Text | None = None
    criteria: Literal["inferred", "human", "general"] | None = None
    without: Names = ()
    model: Name | None = None
    recorded: Text | None = None
    name: Text | None = None
    criterion: Name | None = None
    scale: Text | dict[str, Text] | None = None
    saved: Text | None = None
    panel: Names = ()
    score: Literal["mean", "median"] = "mean"
    at_least: Positive | None = None
    subsets: Switch = False
    supervisor: Text | None = None
    outliers: OutlierRule = "auto"

    @property
    def kind(self) -> Kind:
        """What there is to do for it."""
        if self.saved:
            return "saved"
        return "recorded" if self.recorded else "panel" if self.panel else "compiled"

    def subset_panels(self, name: str) -> dict[str, JudgeSpec]:
        """Return the smaller panels that ``subsets`` asks for, named by numbers of members."""
        if not self.subsets or len(self.panel) > MOST_IN_SUBSETS:
            return {}
        alone = self.model_copy(
            update={"subsets": False, "at_least": None, "supervisor": None, "outliers": "auto"}
        )
        numbers = range(1, len(self.panel) + 1)
        return {
            f"{name} {'+'.join(map(str, own))}": alone.model_copy(
                update={"panel": tuple(self.panel[at - 1] for at in own)}
            )
            for size in range(2, len(self.panel))
            for own in combinations(numbers, size)
        }

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


@settings_fields(
    CompileFields,
    *(
        "optimizer",
        "n_demonstrations",
        "n_rounds",
        "n_trials",
        "n_draws",
        "effort",
        "calls_per_item",
        "screen",
        "models",
    ),
    "objective",
    open_default=("optimizer", "n_trials", "objective"),
)
class OptimizerSpec(SpecPart):
    """What is searched for a judge, and how long."""

    if TYPE_CHECKING:
        optimizer: Optimizer | None = None
        models: tuple[str, ...] = ()
        objective: str | None = None
    vary_samples: Switch = False


class ModelSpec(SpecPart):
    """A model, and how it is asked. Keys come from the environment."""

    model: Text | None = None
    api_base: Text | None = None
    concurrency: Positive = 32
    price: Text | None = None
    rpm: Amount | None = None
    tpm: Amount | None = None


class SpecBudget(SpecPart):
    """What the whole run may take at most."""

    calls: Positive | None = None  # calls, tokens: at least 1; None is without bound
    tokens: Positive | None = None
    usd: Amount | None = None
    minutes: Amount | None = None


class Combination(SpecPart):
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

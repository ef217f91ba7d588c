"""The rows of an ablation: the whole method, and what is left without a part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from judgesmith.data.items import DataSet
from judgesmith.errors import InputError
from judgesmith.experiments.compile.ablating import without
from judgesmith.experiments.compile.human_criteria import human_rubric
from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.signatures import ActiveCriticConfig

Block = Literal["paper", "learned"]
"""``paper``: the judge's own score, as there. ``learned``: what learned weights make of it."""

BLOCKS: tuple[Block, ...] = get_args(Block)

FULL = "fine"
"""The row that has every part, which the others are compared with."""

PEOPLES = "without-criteria"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """What one row changes: parts that are left out, and choices that are made otherwise."""

    parts: tuple[str, ...] = ()
    protocol: Mapping[str, str]
    inference: Mapping[str, str]


def _changed(*parts: str, inference: str = "batches", **protocol: str) -> _Change:
    return _Change(parts=parts, protocol=protocol, inference={"inference": inference})


# In this order every row finds on record what it shares with those above it.
_CHANGES: Mapping[str, _Change] = {
    "vanilla": _changed(variant="vanilla"),
    "coarse": _changed(variant="coarse"),
    FULL: _changed(),
    "fine-without-explanations": _changed("explanations"),
    "fine-explanations-after": _changed(explain="after"),
    "coarse-without-explanations": _changed("explanations", variant="coarse"),
    "without-task": _changed("task"),
    PEOPLES: _changed("criteria"),
    "without-mcs": _changed("mcs"),
    "without-os": _changed("os"),
    "without-search": _changed("search"),
    "without-search-single-batch": _changed("search", inference="single"),
    "separate-calls": _changed(criteria_calls="separate"),
}

ROWS: tuple[str, ...] = tuple(_CHANGES)
"""The names of all rows, in the order in which they are made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRow:
    """A judge that is to be compiled."""

    block: Block
    name: str
    settings: CompileSettings

    @property
    def id(self) -> str:
        """What its folder is called."""
        return f"{self.block}.{self.name}"

    def to_dict(self) -> dict[str, Any]:
        """Return what tells it from the other rows, ready for JSON."""
        return {"id": self.id, "block": self.block, "row": self.name}


def planned_rows(settings: CompileSettings, names: Iterable[str] | None = None) -> list[PlannedRow]:
    """Return the rows to make, first those of the paper, then the same with learned weights."""
    chosen = chosen_rows(names)
    _refuse_less_than_all(settings)
    rows = []
    for block in BLOCKS:
        # The block decides about weights, and the paper's search is that of demonstrations.
        base = settings.model_copy(update={"learn_weights": True, "optimizer": "random"})
        base = without(base, ["weights"]) if block == "paper" else base
        rows += [
            PlannedRow(block=block, name=name, settings=_settings(name, base)) for name in chosen
        ]
    return rows


def chosen_rows(names: Iterable[str] | None) -> list[str]:
    """Return known rows in their fixed order; all of them for None."""
    if names is None:
        return list(ROWS)
    wanted = set(names)
    if unknown := sorted(wanted - set(ROWS)):
        raise InputError(f"the rows are {', '.join(ROWS)}; got {', '.join(unknown)}.")
    if not wanted:
        raise InputError("no row is named.", hint=f"choose from {', '.join(ROWS)}.")
    return [name for name in ROWS if name in wanted]


def impossible_rows(dataset: DataSet, names: Iterable[str]) -> dict[str, str]:
    """Return rows that these data do not allow, and why in one sentence."""
    if PEOPLES not in names:
        return {}
    try:
        human_rubric(dataset)
    except ValueError as fault:
        return {PEOPLES: " ".join(str(fault).split())}
    return {}


def _settings(name: str, base: CompileSettings) -> CompileSettings:
    change = _CHANGES[name]
    changes: dict[str, Any] = {
        "protocol": ActiveCriticConfig.model_validate({**dict(base.protocol), **change.protocol}),
        "inference": {**dict(base.inference), **change.inference},
        # What is inferred is looked at here, whether or not it is the best there is.
        "criteria": None if name == "vanilla" else "inferred",
    }
    return without(CompileSettings.model_validate({**dict(base), **changes}), change.parts)


def _refuse_less_than_all(settings: CompileSettings) -> None:
    """Refuse settings from which rows could not be told apart, or nothing could be reported."""
    usual = ActiveCriticConfig()
    own = settings.protocol
    names = ("variant", "criteria_calls", "overall", "explain", "rubric")
    same = isinstance(own, ActiveCriticConfig)
    differing = [name for name in names if same and getattr(own, name) != getattr(usual, name)]
    if not same:
        differing.append("judge")
    if settings.criteria not in (None, "inferred"):
        differing.append("criteria")
    if settings.inference.without or settings.inference.inference != "batches":
        differing.append("inference")
    if settings.optimizer != "random" and "optimizer" in settings.model_fields_set:
        differing.append("optimizer")
    if settings.calls_per_item is not None:
        differing.append("calls_per_item")
    if settings.earlier:
        differing.append("earlier")
    if differing:
        raise InputError(
            "an ablation starts from the whole method and leaves parts of it out by itself.",
            hint=f"leave {', '.join(differing)} as it is.",
        )
    if len(settings.target) > 1:
        raise InputError(
            f"an ablation has one target; got {', '.join(settings.target)}.",
            hint="name one of them.",
        )
    if not settings.holdout:
        raise InputError("rows are compared on rows held out.", hint="give holdout above 0.")

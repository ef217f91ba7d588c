"""The rows of an ablation: the whole method, and what is left of it without one part or another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from judgesmith.data.items import DataSet
from judgesmith.errors import InputError, did_you_mean
from judgesmith.experiments.compile.human_criteria import human_rubric
from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.programs.judging.registry import family_of
from judgesmith.signatures import ActiveCriticConfig
from judgesmith.signatures.config import JudgeConfig

Ablation = Literal[
    "explanations", "task", "criteria", "mcs", "os", "search", "weights", "confirmation"
]
"""A part that can be left out.

``explanations``: scores alone. ``task``: no description of the task; criteria come from
observations only. ``criteria``: those that people rated instead of inferred ones. ``mcs``: no
criteria scores, which is the coarse variant. ``os``: no overall question; the score is the mean
of the criteria. ``search``: no demonstrations. ``weights``: no learned combination of numbers.
``confirmation``: the best on the validation rows is taken, without a test.
"""

ABLATIONS: tuple[Ablation, ...] = get_args(Ablation)


def without(settings: CompileSettings, parts: Iterable[str]) -> CompileSettings:
    """Return ``settings`` with parts of the method left out."""
    left_out = tuple(dict.fromkeys(parts))
    unknown = [part for part in left_out if part not in ABLATIONS]
    if unknown:
        raise InputError(
            f"what can be left out is {', '.join(ABLATIONS)}; got {', '.join(unknown)}.",
            hint=did_you_mean(unknown[0], ABLATIONS),
        )
    own = settings.protocol
    lacking = [part for part in left_out if part not in _parts_of(own)]
    if lacking:
        raise InputError(
            f"a {own.judge} judge has no {', '.join(lacking)} to leave out; it has "
            f"{', '.join(_parts_of(own))}."
        )
    if {"mcs", "os"} <= set(left_out):
        raise InputError("without mcs and os nothing is scored.", hint="leave one of the two in.")
    protocol: dict[str, Any] = {}
    changes: dict[str, Any] = {}
    for part in left_out:
        match part:
            case "explanations":
                protocol["explain"] = "none"
            case "task":
                changes["inference"] = {**dict(settings.inference), "without": ("task",)}
            case "criteria":
                changes["criteria"] = "human"
                changes["target"] = settings.target or ("auto",)
            case "mcs":
                protocol["variant"] = "coarse"
            case "os":
                protocol["overall"] = "mean"
            case "search":
                changes["n_demonstrations"] = 0
            case "weights":
                changes["learn_weights"] = False
            case "confirmation":
                changes["confirm"] = None
    changes["protocol"] = type(own).model_validate({**dict(own), **protocol})
    return CompileSettings.model_validate({**dict(settings), **changes})


def _parts_of(protocol: JudgeConfig) -> list[Ablation]:
    """Return the parts of the method that judges of a family have."""
    fields = {"explanations": "explain", "mcs": "variant", "os": "overall"}
    found = [part for part in ABLATIONS if fields.get(part, "judge") in type(protocol).model_fields]
    if not family_of(protocol.judge).has_demonstrations:
        found.remove("search")
    return found


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


def planned_rows(settings: CompileSettings, names: Iterable[str] | None = None) -> list[PlannedRow]:
    """Return the rows to make, first those of the paper, then the same with learned weights."""
    chosen = chosen_rows(names)
    _refuse_less_than_all(settings)
    rows = []
    for block in BLOCKS:
        # The block decides about weights, whatever the settings say of them.
        base = settings.model_copy(update={"learn_weights": True})
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
    if settings.optimizer != "random":
        differing.append("optimizer")
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

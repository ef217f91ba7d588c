"""Parts of the method, and settings that leave some of them out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, get_args

from judgesmith.errors import InputError, did_you_mean
from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.programs.judging.registry import family_of
from judgesmith.signatures.config import JudgeConfig

Ablation = Literal[
    "explanations",
    "task",
    "criteria",
    "mcs",
    "os",
    "search",
    "weights",
    "confirmation",
    "rationales",
    "guidelines",
]
"""A part that can be left out.

``explanations``: scores alone. ``task``: no description of the task; criteria come from
observations only. ``criteria``: those that people rated instead of inferred ones. ``mcs``: no
criteria scores, which is the coarse variant. ``os``: no overall question; the score is the mean
of the criteria. ``search``: no demonstrations. ``weights``: no learned combination of numbers.
``confirmation``: the best on the validation rows is taken, without a test. ``rationales``: no words
of raters in demonstrations and to rewrites. ``guidelines``: none are inferred from raters' words.
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
                if settings.calls_per_item is not None:
                    raise InputError(
                        "several prompts are averaged by a search, and the search is left out.",
                        hint="leave calls_per_item out.",
                    )
                changes["n_demonstrations"] = 0
                if settings.optimizer == "effects":  # the search of no demonstrations is none
                    changes["optimizer"] = "random"
            case "weights":
                changes["learn_weights"] = False
            case "confirmation":
                changes["confirm"] = None
            case "rationales":
                changes["rationale_length"] = 0
            case "guidelines":
                changes["guidelines"] = 0
    changes["protocol"] = type(own).model_validate({**dict(own), **protocol})
    return CompileSettings.model_validate({**dict(settings), **changes})


def _parts_of(protocol: JudgeConfig) -> list[Ablation]:
    fields = {"explanations": "explain", "mcs": "variant", "os": "overall"}
    found = [part for part in ABLATIONS if fields.get(part, "judge") in type(protocol).model_fields]
    if not family_of(protocol.judge).has_demonstrations:
        found.remove("search")
    return found

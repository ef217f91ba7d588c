"""Leaving a part of the method out, to see what it is worth (Active-Critic, ablations)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, get_args

from judgesmith.errors import InputError
from judgesmith.experiments.settings import CompileSettings
from judgesmith.programs.judging.registry import family_of
from judgesmith.signatures.config import JudgeConfig

Ablation = Literal[
    "explanations", "task", "criteria", "mcs", "os", "search", "weights", "confirmation"
]
"""A part that can be left out.

``explanations``: scores alone. ``task``: no description of the task; criteria come from
observations only. ``criteria``: those that people rated instead of inferred ones. ``mcs``: no
criteria scores, which is the coarse variant. ``os``: no overall question; the score is the mean
of the criteria. ``search``: no demonstrations. ``weights``: no learned combination of numbers.
``confirmation``: the best on the rows to choose by is taken, whatever luck there is in that.
"""

ABLATIONS: tuple[Ablation, ...] = get_args(Ablation)


def without(settings: CompileSettings, parts: Iterable[str]) -> CompileSettings:
    """Return ``settings`` with parts of the method left out.

    Raises
    ------
    ValueError
        If a part is unknown, or what is left would be no judge.

    Examples
    --------
    >>> bare = without(CompileSettings(), ["mcs", "search"])
    >>> bare.protocol.variant, bare.n_demonstrations
    ('coarse', 0)
    """
    left_out = tuple(dict.fromkeys(parts))
    unknown = [part for part in left_out if part not in ABLATIONS]
    if unknown:
        raise InputError(
            f"what can be left out is {', '.join(ABLATIONS)}; got {', '.join(unknown)}."
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

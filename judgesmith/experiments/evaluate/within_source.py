"""Objectives and reports for a judge whose scores are ranks within a source."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from judgesmith.errors import InputError
from judgesmith.metrics import Estimate, PairedEstimate
from judgesmith.metrics.correlation import Level
from judgesmith.optimizers.objectives.combining import SeveralObjectives
from judgesmith.optimizers.objectives.grammar import AnyObjective, as_objectives
from judgesmith.results.base import Keyed

RANKS_NOTE = (
    "scores are ranks within a source: only figures within sources (sample) mean anything; those "
    "over all rows or systems compare ranks of different sources."
)
"""What a reader of reports should know of such a judge."""


LEVEL: Level = "sample"
"""The level of figures within sources."""

RANKED_OBJECTIVE = f"q@{LEVEL}"
"""The default objective of such a judge."""

_Any = TypeVar("_Any", bound=Estimate)
_Level = TypeVar("_Level", bound=str)
_Name = TypeVar("_Name", bound=str)


def only_within_sources(
    report: Mapping[_Level, Mapping[_Name, _Any]],
) -> dict[_Level, dict[_Name, _Any]]:
    """Return a report, or a gain, that is undefined but within sources."""
    return Keyed.of(
        {
            level: {name: one if level == LEVEL else undefined(one) for name, one in row.items()}
            for level, row in report.items()
        }
    )


def undefined(found: _Any) -> _Any:
    """Return an estimate without its numbers: only what they would have rested on."""
    paired = ("first", "second", "p_value") if isinstance(found, PairedEstimate) else ()
    nothing: dict[str, Any] = dict.fromkeys(("value", "low", "high", *paired), math.nan)
    return replace(found, **nothing)


class AcrossSourcesError(InputError):
    """A part of an objective compares sources; ``instead`` may stand in its place."""

    def __init__(self, fact: str, *, part: str, instead: str | None) -> None:
        super().__init__(f"{fact}.", hint=f"say {instead}." if instead else "leave it out.")
        self.fact, self.part, self.instead = fact, part, instead


def check_within_source(objective: AnyObjective | SeveralObjectives, *, judge: str) -> None:
    """Refuse an objective that compares scores of different sources."""
    for atom in as_objectives(objective).atoms:
        if atom.within_sources:
            continue
        if "versions" in atom.needs:
            raise InputError(
                f"scores of {judge} are ranks within a source, among which a changed version would "
                "stand beside its original.",
                hint=f"leave {atom} out.",
            )
        instead = f"{str(atom).partition('@')[0]}@sample" if atom.level else None
        fact = f"scores of {judge} are ranks within a source, and {atom} compares sources"
        raise AcrossSourcesError(fact, part=str(atom), instead=instead)

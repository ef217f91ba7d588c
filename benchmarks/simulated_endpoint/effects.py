"""What the parts of a judging prompt do to agreement, from published ablations.

``protocol_effects.json`` has the correlation of one 14B model with human ratings on three rated
sets, for a baseline prompt and for single changes of it. An effect is the change of Fisher's z of
that correlation, the mean over criteria and over Pearson, Spearman and Kendall.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

BASELINE = "baseline"
STATISTICS = ("pearson", "spearman", "kendall")


@dataclass(frozen=True, kw_only=True)
class MeasuredEffects:
    """The effects measured on one rated set.

    Attributes
    ----------
    level : float
        Fisher's z of the baseline prompt.
    changes : dict of str to float
        What a single change adds to it.
    typical : float
        The root mean square of the changes.
    """

    level: float
    changes: Mapping[str, float]
    typical: float


Arrangement = Literal["published", "shuffled", "reversed"]
"""Which options have the published effects: those that had them, others, or with another sign."""


def arranged(measured: MeasuredEffects, how: Arrangement, *, seed: int) -> MeasuredEffects:
    """Return effects as published, dealt out to other options, or turned around."""
    if how == "published":
        return measured
    names, values = list(measured.changes), list(measured.changes.values())
    if how == "reversed":
        return replace(measured, changes={name: -measured.changes[name] for name in names})
    random.Random(seed).shuffle(values)
    return replace(measured, changes=dict(zip(names, values, strict=True)))


@cache
def measured_effects(file: Path, name: str) -> MeasuredEffects:
    """Return the effects on a rated set."""
    measured = json.loads(file.read_text(encoding="utf-8"))["effects"][name]
    z = {
        change: float(
            np.mean([math.atanh(one[key]) for one in by_criterion.values() for key in STATISTICS])
        )
        for change, by_criterion in measured.items()
    }
    changes = {change: value - z[BASELINE] for change, value in z.items() if change != BASELINE}
    typical = math.sqrt(float(np.mean(np.square(list(changes.values())))))
    return MeasuredEffects(level=z[BASELINE], changes=changes, typical=typical)

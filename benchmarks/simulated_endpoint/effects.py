"""What the parts of a judging prompt do to agreement, from published ablations.

``protocol_effects.json`` has the correlation of one 14B model with human ratings on three rated
sets, for a baseline prompt and for single changes of it. An effect is the change of Fisher's z of
that correlation, the mean over criteria and over Pearson, Spearman and Kendall.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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

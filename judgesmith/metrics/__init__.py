"""Numbers from arrays: how well scores agree with people, and how sure we are of it.

Functions ending in ``_error`` are better when lower; every other one is better when higher.
Undefined is nan, never 0, and what was left out is counted.
"""

from judgesmith.metrics.alpha import krippendorff_alpha
from judgesmith.metrics.averaging import (
    RatedPart,
    averaged_interval,
    averaged_paired_interval,
)
from judgesmith.metrics.ceiling import HumanCeiling, human_ceiling
from judgesmith.metrics.correlation import kendall, pearson, q, spearman
from judgesmith.metrics.estimate import Estimate, PairedEstimate
from judgesmith.metrics.groupwise import Statistic
from judgesmith.metrics.intraclass import IntraclassCorrelation, intraclass_correlation
from judgesmith.metrics.levels import Level, LevelValue, agreement
from judgesmith.metrics.planning import labels_needed
from judgesmith.metrics.resampling import agreement_interval, paired_interval

__all__ = [
    "Estimate",
    "HumanCeiling",
    "IntraclassCorrelation",
    "Level",
    "LevelValue",
    "PairedEstimate",
    "RatedPart",
    "Statistic",
    "agreement",
    "agreement_interval",
    "averaged_interval",
    "averaged_paired_interval",
    "human_ceiling",
    "intraclass_correlation",
    "kendall",
    "krippendorff_alpha",
    "labels_needed",
    "paired_interval",
    "pearson",
    "q",
    "spearman",
]

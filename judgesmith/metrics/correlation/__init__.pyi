from judgesmith.metrics.correlation.coefficients import (
    Statistic,
    kendall,
    lins_ccc,
    pearson,
    q,
    spearman,
)
from judgesmith.metrics.correlation.levels import (
    Level,
    LevelValue,
    WorstPair,
    agreement,
    contributions,
    worst_pairs,
)
from judgesmith.metrics.resampling.draws import Resample
from judgesmith.metrics.resampling.intervals import (
    Method,
    RatedPart,
    agreement_difference,
    agreement_interval,
    mean_agreement_difference,
    mean_agreement_interval,
)

__all__ = [
    "Level",
    "LevelValue",
    "Method",
    "RatedPart",
    "Resample",
    "Statistic",
    "WorstPair",
    "agreement",
    "agreement_difference",
    "agreement_interval",
    "contributions",
    "kendall",
    "lins_ccc",
    "mean_agreement_difference",
    "mean_agreement_interval",
    "pearson",
    "q",
    "spearman",
    "worst_pairs",
]

from judgesmith.metrics.ratings.agreement import (
    ConfusionMatrix,
    confusion_matrix,
    macro_absolute_error,
    mean_absolute_error,
    modes,
    nearest_levels,
)
from judgesmith.metrics.ratings.alpha import Measurement, krippendorff_alpha
from judgesmith.metrics.ratings.intraclass import (
    IntraclassCorrelation,
    IntraclassModel,
    icc,
    icc_interval,
)
from judgesmith.metrics.ratings.kappa import (
    Weights,
    pairwise_kappa,
    weighted_kappa,
    weighted_kappa_difference,
    weighted_kappa_interval,
)
from judgesmith.metrics.ratings.raters import (
    HumanCeiling,
    RaterVsRest,
    human_ceiling,
    pairwise_rater_agreement,
    rater_vs_rest,
    raters_needed,
    spearman_brown,
)
from judgesmith.metrics.ratings.unanimity import (
    UnanimousCounts,
    unanimous_counts,
    unanimous_ratings,
)
from judgesmith.metrics.resampling.jackknife import krippendorff_alpha_interval
from judgesmith.metrics.resampling.shares import percent_agreement

__all__ = [
    "ConfusionMatrix",
    "HumanCeiling",
    "IntraclassCorrelation",
    "IntraclassModel",
    "Measurement",
    "RaterVsRest",
    "UnanimousCounts",
    "Weights",
    "confusion_matrix",
    "human_ceiling",
    "icc",
    "icc_interval",
    "krippendorff_alpha",
    "krippendorff_alpha_interval",
    "macro_absolute_error",
    "mean_absolute_error",
    "modes",
    "nearest_levels",
    "pairwise_kappa",
    "pairwise_rater_agreement",
    "percent_agreement",
    "rater_vs_rest",
    "raters_needed",
    "spearman_brown",
    "unanimous_counts",
    "unanimous_ratings",
    "weighted_kappa",
    "weighted_kappa_difference",
    "weighted_kappa_interval",
]

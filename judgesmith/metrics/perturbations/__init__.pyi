from judgesmith.metrics.perturbations.analysis import discernment, items_needed
from judgesmith.metrics.perturbations.report import (
    Discernment,
    ItemsNeeded,
    MetricTest,
    PerturbationDiscernment,
)
from judgesmith.metrics.perturbations.scores import (
    EXPERT_WEIGHTS,
    HarmonicForm,
    PerturbationLevel,
    average_discernment,
    discernment_score,
    harmonic_mean_log_p,
)
from judgesmith.metrics.perturbations.wilcoxon import (
    SignedRankTest,
    signed_rank_test,
    wilcoxon_log_p,
)

__all__ = [
    "EXPERT_WEIGHTS",
    "Discernment",
    "HarmonicForm",
    "ItemsNeeded",
    "MetricTest",
    "PerturbationDiscernment",
    "PerturbationLevel",
    "SignedRankTest",
    "average_discernment",
    "discernment",
    "discernment_score",
    "harmonic_mean_log_p",
    "items_needed",
    "signed_rank_test",
    "wilcoxon_log_p",
]

from judgesmith.metrics import audits as audits
from judgesmith.metrics import calibration as calibration
from judgesmith.metrics import comparing as comparing
from judgesmith.metrics import correlation as correlation
from judgesmith.metrics import pairs as pairs
from judgesmith.metrics import perturbations as perturbations
from judgesmith.metrics import ratings as ratings
from judgesmith.metrics import resampling as resampling
from judgesmith.metrics import spans as spans
from judgesmith.metrics import systems as systems
from judgesmith.metrics import verdicts as verdicts
from judgesmith.metrics.calibration.error import calibration_error
from judgesmith.metrics.calibration.fitting import isotonic_map
from judgesmith.metrics.comparing.significance import holm, permutation_test
from judgesmith.metrics.correlation.statistics import (
    kendall,
    kendall_difference,
    kendall_interval,
    pearson,
    pearson_difference,
    pearson_interval,
    q,
    q_difference,
    q_interval,
    spearman,
    spearman_difference,
    spearman_interval,
)
from judgesmith.metrics.pairs.preferences import preference_agreement
from judgesmith.metrics.pairs.ties import (
    tie_aware_accuracy,
    tie_aware_accuracy_difference,
    tie_aware_accuracy_interval,
)
from judgesmith.metrics.perturbations.analysis import discernment
from judgesmith.metrics.ratings.agreement import confusion_matrix, mean_absolute_error
from judgesmith.metrics.ratings.kappa import (
    weighted_kappa,
    weighted_kappa_difference,
    weighted_kappa_interval,
)
from judgesmith.metrics.ratings.raters import human_ceiling
from judgesmith.metrics.ratings.reliability import icc, krippendorff_alpha
from judgesmith.metrics.records import Estimate, PairedEstimate
from judgesmith.metrics.resampling.shares import percent_agreement
from judgesmith.metrics.verdicts.comparing import compare_verdicts
from judgesmith.metrics.verdicts.curves import average_precision, roc_auc, verdict_curves
from judgesmith.metrics.verdicts.estimation import dawid_skene, gwet_ac1
from judgesmith.metrics.verdicts.rates import corrected_rates
from judgesmith.metrics.verdicts.shares import (
    accuracy,
    balanced_accuracy,
    cohen_kappa,
    expected_cost,
    f1,
    labels_needed,
    macro_f1,
    mcc,
    npv,
    precision,
    tnr,
    tpr,
    verdict_agreement,
)

__all__ = [
    "Estimate",
    "PairedEstimate",
    "accuracy",
    "average_precision",
    "balanced_accuracy",
    "calibration_error",
    "cohen_kappa",
    "compare_verdicts",
    "confusion_matrix",
    "corrected_rates",
    "dawid_skene",
    "discernment",
    "expected_cost",
    "f1",
    "gwet_ac1",
    "holm",
    "human_ceiling",
    "icc",
    "isotonic_map",
    "kendall",
    "kendall_difference",
    "kendall_interval",
    "krippendorff_alpha",
    "labels_needed",
    "macro_f1",
    "mcc",
    "mean_absolute_error",
    "npv",
    "pearson",
    "pearson_difference",
    "pearson_interval",
    "percent_agreement",
    "permutation_test",
    "precision",
    "preference_agreement",
    "q",
    "q_difference",
    "q_interval",
    "roc_auc",
    "spearman",
    "spearman_difference",
    "spearman_interval",
    "tie_aware_accuracy",
    "tie_aware_accuracy_difference",
    "tie_aware_accuracy_interval",
    "tnr",
    "tpr",
    "verdict_agreement",
    "verdict_curves",
    "weighted_kappa",
    "weighted_kappa_difference",
    "weighted_kappa_interval",
]

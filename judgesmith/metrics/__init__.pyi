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
from judgesmith.metrics.audits.bias import length_bias
from judgesmith.metrics.calibration.error import calibration_error
from judgesmith.metrics.calibration.fitting import isotonic_map
from judgesmith.metrics.comparing.significance import holm, permutation_test
from judgesmith.metrics.correlation.coefficients import kendall, lins_ccc, pearson, q, spearman
from judgesmith.metrics.correlation.levels import agreement
from judgesmith.metrics.pairs.preferences import preference_agreement
from judgesmith.metrics.pairs.strengths import bradley_terry
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
from judgesmith.metrics.resampling.intervals import agreement_difference, agreement_interval
from judgesmith.metrics.resampling.shares import percent_agreement
from judgesmith.metrics.spans.matching import span_character_agreement
from judgesmith.metrics.systems.means import system_means

__all__ = [
    "Estimate",
    "PairedEstimate",
    "agreement",
    "agreement_difference",
    "agreement_interval",
    "bradley_terry",
    "calibration_error",
    "confusion_matrix",
    "discernment",
    "holm",
    "human_ceiling",
    "icc",
    "isotonic_map",
    "kendall",
    "krippendorff_alpha",
    "length_bias",
    "lins_ccc",
    "mean_absolute_error",
    "pearson",
    "percent_agreement",
    "permutation_test",
    "preference_agreement",
    "q",
    "span_character_agreement",
    "spearman",
    "system_means",
    "tie_aware_accuracy",
    "tie_aware_accuracy_difference",
    "tie_aware_accuracy_interval",
    "weighted_kappa",
    "weighted_kappa_difference",
    "weighted_kappa_interval",
]

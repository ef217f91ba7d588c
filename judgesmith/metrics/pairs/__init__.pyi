from judgesmith.metrics.pairs.errors import (
    AccuracyByErrors,
    PairLosses,
    accuracy_by_errors,
    comparisons_by_errors,
    pair_losses,
)
from judgesmith.metrics.pairs.ordering import AdjacentAccuracy, adjacent_accuracy
from judgesmith.metrics.pairs.preferences import (
    OrderConsistency,
    PreferenceAgreement,
    majority_preference,
    order_consistency,
    preference_agreement,
    preferences_from_scores,
)
from judgesmith.metrics.pairs.strengths import BradleyTerry, bradley_terry
from judgesmith.metrics.pairs.ties import (
    PairLevel,
    TieCalibration,
    calibrate_ties,
    tie_aware_accuracy,
    tie_aware_accuracy_difference,
    tie_aware_accuracy_interval,
)

__all__ = [
    "AccuracyByErrors",
    "AdjacentAccuracy",
    "BradleyTerry",
    "OrderConsistency",
    "PairLevel",
    "PairLosses",
    "PreferenceAgreement",
    "TieCalibration",
    "accuracy_by_errors",
    "adjacent_accuracy",
    "bradley_terry",
    "calibrate_ties",
    "comparisons_by_errors",
    "majority_preference",
    "order_consistency",
    "pair_losses",
    "preference_agreement",
    "preferences_from_scores",
    "tie_aware_accuracy",
    "tie_aware_accuracy_difference",
    "tie_aware_accuracy_interval",
]

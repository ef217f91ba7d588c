from judgesmith.metrics.audits.group_gap_report import GroupGap, GroupGaps
from judgesmith.metrics.audits.group_gaps import group_gaps
from judgesmith.metrics.audits.length_bias import LengthBias, length_bias
from judgesmith.metrics.audits.position import (
    PlaceEffects,
    PositionBias,
    place_effects,
    position_bias,
)
from judgesmith.metrics.audits.scale_use import ScaleUse, scale_use
from judgesmith.metrics.audits.self_preference import SelfPreference, self_preference
from judgesmith.metrics.calibration.abstention import (
    RiskCoverage,
    risk_coverage,
    risk_coverage_error,
)
from judgesmith.metrics.calibration.calibrating import affine_map, cross_calibrated, isotonic_map
from judgesmith.metrics.calibration.calibration_error import (
    CalibrationError,
    calibration_error,
    expected_calibration_error,
)
from judgesmith.metrics.calibration.certified_threshold import (
    CertifiedThreshold,
    certified_threshold,
)
from judgesmith.metrics.calibration.conformal import ConformalMargin, Covers, conformal_margin
from judgesmith.metrics.calibration.probability_error import (
    ProbabilityErrors,
    brier_error,
    probability_errors,
    ranked_probability_error,
)
from judgesmith.metrics.calibration.reliability_table import ReliabilityBin, reliability_table
from judgesmith.metrics.calibration.score_maps import AffineMap, IsotonicMap, ScoreMap
from judgesmith.metrics.comparing.multiplicity import benjamini_hochberg, holm
from judgesmith.metrics.comparing.permutation import Swap, permutation_test
from judgesmith.metrics.comparing.planning import labels_needed, sources_needed, sources_to_compare
from judgesmith.metrics.comparing.significance import Alternative, SignificanceTest
from judgesmith.metrics.comparing.williams import williams_of_correlations, williams_test
from judgesmith.metrics.correlations.contributions import contributions
from judgesmith.metrics.correlations.correlation import concordance, kendall, pearson, q, spearman
from judgesmith.metrics.correlations.groupwise import Statistic
from judgesmith.metrics.correlations.levels import Level, LevelValue, agreement
from judgesmith.metrics.correlations.worst_pairs import WorstPair, worst_pairs
from judgesmith.metrics.estimate import Estimate, PairedEstimate
from judgesmith.metrics.pairs.adjacent import AdjacentAccuracy, adjacent_accuracy
from judgesmith.metrics.pairs.bradley_terry import BradleyTerry, bradley_terry
from judgesmith.metrics.pairs.error_pairs import (
    AccuracyByErrors,
    accuracy_by_errors,
    comparisons_by_errors,
)
from judgesmith.metrics.pairs.pair_losses import PairLosses, pair_losses
from judgesmith.metrics.pairs.pair_votes import majority_preference, preferences_from_scores
from judgesmith.metrics.pairs.preferences import (
    OrderConsistency,
    PreferenceAgreement,
    order_consistency,
    preference_agreement,
)
from judgesmith.metrics.pairs.tie_accuracy import (
    tie_accuracy_difference,
    tie_accuracy_interval,
    tie_aware_accuracy,
)
from judgesmith.metrics.pairs.tie_calibration import TieCalibration, calibrate_ties
from judgesmith.metrics.pairs.tie_shares import PairLevel
from judgesmith.metrics.perturbations.discerning import discernment
from judgesmith.metrics.perturbations.discernment_power import items_needed
from judgesmith.metrics.perturbations.discernment_report import (
    Discernment,
    ItemsNeeded,
    MetricTest,
    PerturbationDiscernment,
)
from judgesmith.metrics.perturbations.discernment_scores import (
    PerturbationLevel,
    average_discernment,
    discernment_score,
)
from judgesmith.metrics.perturbations.expert_weights import EXPERT_WEIGHTS
from judgesmith.metrics.perturbations.harmonic import HarmonicForm, harmonic_mean_log_p
from judgesmith.metrics.perturbations.wilcoxon import (
    SignedRankTest,
    signed_rank_test,
    wilcoxon_log_p,
)
from judgesmith.metrics.ratings.absolute_error import macro_absolute_error, mean_absolute_error
from judgesmith.metrics.ratings.alpha import Measurement, krippendorff_alpha
from judgesmith.metrics.ratings.ceiling import HumanCeiling, human_ceiling
from judgesmith.metrics.ratings.confusion import ConfusionMatrix, confusion_matrix
from judgesmith.metrics.ratings.intraclass import (
    IntraclassCorrelation,
    IntraclassModel,
    intraclass_correlation,
)
from judgesmith.metrics.ratings.intraclass_ends import intraclass_interval
from judgesmith.metrics.ratings.kappa import Weights, weighted_kappa
from judgesmith.metrics.ratings.kappa_resampling import (
    kappa_interval,
    paired_kappa_interval,
    pairwise_kappa,
)
from judgesmith.metrics.ratings.one_level import modes, nearest_levels
from judgesmith.metrics.ratings.prophecy import raters_needed, spearman_brown
from judgesmith.metrics.ratings.rater_agreement import (
    RaterVsRest,
    pairwise_rater_agreement,
    rater_vs_rest,
)
from judgesmith.metrics.ratings.unanimity import (
    UnanimousCounts,
    unanimous_counts,
    unanimous_ratings,
)
from judgesmith.metrics.resampling.averaging import (
    Method,
    RatedPart,
    averaged_interval,
    averaged_paired_interval,
)
from judgesmith.metrics.resampling.drawn_units import Resample
from judgesmith.metrics.resampling.intervals import agreement_interval, paired_interval
from judgesmith.metrics.resampling.jackknife import alpha_interval, jackknife_interval
from judgesmith.metrics.resampling.shares import raw_agreement, share_interval
from judgesmith.metrics.shifts.distribution_shift import DistributionShift, distribution_shift
from judgesmith.metrics.shifts.effective_size import effective_size
from judgesmith.metrics.shifts.share_shift import ShareShift, share_shift
from judgesmith.metrics.spans.span_agreement import SpanAgreement
from judgesmith.metrics.spans.span_characters import span_character_agreement
from judgesmith.metrics.spans.span_difference import SpanStatistic, span_difference
from judgesmith.metrics.spans.span_matching import matched_span_agreement
from judgesmith.metrics.spans.span_side import Span
from judgesmith.metrics.systems.prediction_powered import (
    PredictionPoweredMean,
    prediction_powered_mean,
)
from judgesmith.metrics.systems.system_means import (
    SystemDifference,
    SystemMean,
    system_difference,
    system_means,
)

__all__ = [
    "EXPERT_WEIGHTS",
    "AccuracyByErrors",
    "AdjacentAccuracy",
    "AffineMap",
    "Alternative",
    "BradleyTerry",
    "CalibrationError",
    "CertifiedThreshold",
    "ConformalMargin",
    "ConfusionMatrix",
    "Covers",
    "Discernment",
    "DistributionShift",
    "Estimate",
    "GroupGap",
    "GroupGaps",
    "HarmonicForm",
    "HumanCeiling",
    "IntraclassCorrelation",
    "IntraclassModel",
    "IsotonicMap",
    "ItemsNeeded",
    "LengthBias",
    "Level",
    "LevelValue",
    "Measurement",
    "Method",
    "MetricTest",
    "OrderConsistency",
    "PairLevel",
    "PairLosses",
    "PairedEstimate",
    "PerturbationDiscernment",
    "PerturbationLevel",
    "PlaceEffects",
    "PositionBias",
    "PredictionPoweredMean",
    "PreferenceAgreement",
    "ProbabilityErrors",
    "RatedPart",
    "RaterVsRest",
    "ReliabilityBin",
    "Resample",
    "RiskCoverage",
    "ScaleUse",
    "ScoreMap",
    "SelfPreference",
    "ShareShift",
    "SignedRankTest",
    "SignificanceTest",
    "Span",
    "SpanAgreement",
    "SpanStatistic",
    "Statistic",
    "Swap",
    "SystemDifference",
    "SystemMean",
    "TieCalibration",
    "UnanimousCounts",
    "Weights",
    "WorstPair",
    "accuracy_by_errors",
    "adjacent_accuracy",
    "affine_map",
    "agreement",
    "agreement_interval",
    "alpha_interval",
    "average_discernment",
    "averaged_interval",
    "averaged_paired_interval",
    "benjamini_hochberg",
    "bradley_terry",
    "brier_error",
    "calibrate_ties",
    "calibration_error",
    "certified_threshold",
    "comparisons_by_errors",
    "concordance",
    "conformal_margin",
    "confusion_matrix",
    "contributions",
    "cross_calibrated",
    "discernment",
    "discernment_score",
    "distribution_shift",
    "effective_size",
    "expected_calibration_error",
    "group_gaps",
    "harmonic_mean_log_p",
    "holm",
    "human_ceiling",
    "intraclass_correlation",
    "intraclass_interval",
    "isotonic_map",
    "items_needed",
    "jackknife_interval",
    "kappa_interval",
    "kendall",
    "krippendorff_alpha",
    "labels_needed",
    "length_bias",
    "macro_absolute_error",
    "majority_preference",
    "matched_span_agreement",
    "mean_absolute_error",
    "modes",
    "nearest_levels",
    "order_consistency",
    "pair_losses",
    "paired_interval",
    "paired_kappa_interval",
    "pairwise_kappa",
    "pairwise_rater_agreement",
    "pearson",
    "permutation_test",
    "place_effects",
    "position_bias",
    "prediction_powered_mean",
    "preference_agreement",
    "preferences_from_scores",
    "probability_errors",
    "q",
    "ranked_probability_error",
    "rater_vs_rest",
    "raters_needed",
    "raw_agreement",
    "reliability_table",
    "risk_coverage",
    "risk_coverage_error",
    "scale_use",
    "self_preference",
    "share_interval",
    "share_shift",
    "signed_rank_test",
    "sources_needed",
    "sources_to_compare",
    "span_character_agreement",
    "span_difference",
    "spearman",
    "spearman_brown",
    "system_difference",
    "system_means",
    "tie_accuracy_difference",
    "tie_accuracy_interval",
    "tie_aware_accuracy",
    "unanimous_counts",
    "unanimous_ratings",
    "weighted_kappa",
    "wilcoxon_log_p",
    "williams_of_correlations",
    "williams_test",
    "worst_pairs",
]

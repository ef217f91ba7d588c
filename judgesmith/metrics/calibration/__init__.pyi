from judgesmith.metrics.calibration.abstention import (
    CertifiedThreshold,
    RiskCoverage,
    certified_threshold,
    risk_coverage,
    risk_coverage_error,
)
from judgesmith.metrics.calibration.conformal import ConformalMargin, Covers, conformal_margin
from judgesmith.metrics.calibration.error import (
    CalibrationError,
    ProbabilityErrors,
    ReliabilityBin,
    brier_error,
    calibration_error,
    expected_calibration_error,
    probability_errors,
    ranked_probability_error,
    reliability_table,
)
from judgesmith.metrics.calibration.fitting import (
    AffineMap,
    IsotonicMap,
    ScoreMap,
    affine_map,
    cross_calibrated,
    isotonic_map,
)

__all__ = [
    "AffineMap",
    "CalibrationError",
    "CertifiedThreshold",
    "ConformalMargin",
    "Covers",
    "IsotonicMap",
    "ProbabilityErrors",
    "ReliabilityBin",
    "RiskCoverage",
    "ScoreMap",
    "affine_map",
    "brier_error",
    "calibration_error",
    "certified_threshold",
    "conformal_margin",
    "cross_calibrated",
    "expected_calibration_error",
    "isotonic_map",
    "probability_errors",
    "ranked_probability_error",
    "reliability_table",
    "risk_coverage",
    "risk_coverage_error",
]

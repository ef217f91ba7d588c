from judgesmith.metrics.systems.means import (
    PredictionPoweredMean,
    SystemDifference,
    SystemMean,
    prediction_powered_mean,
    system_difference,
    system_means,
    system_ranks,
)

__all__ = [
    "PredictionPoweredMean",
    "SystemDifference",
    "SystemMean",
    "prediction_powered_mean",
    "system_difference",
    "system_means",
    "system_ranks",
]

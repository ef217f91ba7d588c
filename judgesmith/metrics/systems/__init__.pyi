from judgesmith.metrics.systems.means import (
    SystemDifference,
    SystemMean,
    system_difference,
    system_means,
)
from judgesmith.metrics.systems.prediction_powered import (
    PredictionPoweredMean,
    prediction_powered_mean,
)

__all__ = [
    "PredictionPoweredMean",
    "SystemDifference",
    "SystemMean",
    "prediction_powered_mean",
    "system_difference",
    "system_means",
]

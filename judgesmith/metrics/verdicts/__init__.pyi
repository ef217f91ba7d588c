from judgesmith.metrics.verdicts.rates import (
    PassRate,
    PassRateDifference,
    PassRates,
    corrected_rates,
)

__all__ = ["PassRate", "PassRateDifference", "PassRates", "corrected_rates"]

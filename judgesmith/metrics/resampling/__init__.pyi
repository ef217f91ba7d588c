from judgesmith.metrics.comparing.shifts import effective_size
from judgesmith.metrics.records import Estimate, PairedEstimate
from judgesmith.metrics.resampling.jackknife import jackknife_interval
from judgesmith.metrics.resampling.shares import share_interval

__all__ = ["Estimate", "PairedEstimate", "effective_size", "jackknife_interval", "share_interval"]

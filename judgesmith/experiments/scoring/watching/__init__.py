"""Who looks on while rows are scored: counts, a structured log, numbers for Prometheus."""

from judgesmith.experiments.scoring.watching.pulse import Pulse
from judgesmith.experiments.scoring.watching.run_log import RunLog, Watches

__all__ = ["Pulse", "RunLog", "Watches"]

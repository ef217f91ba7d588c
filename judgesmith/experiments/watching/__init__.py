"""Who looks on while rows are scored: counts, a structured log, numbers for Prometheus."""

from judgesmith.experiments.watching.pulse import Pulse
from judgesmith.experiments.watching.run_log import RunLog
from judgesmith.experiments.watching.several import Watches

__all__ = ["Pulse", "RunLog", "Watches"]

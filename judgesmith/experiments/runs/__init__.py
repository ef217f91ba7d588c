"""A run of a specification: its folder, its cells one by one, and what came out of them."""

from judgesmith.experiments.runs.folder import RunFolder, check_run
from judgesmith.experiments.runs.models import RunModels
from judgesmith.experiments.runs.running import Progressed, progressed, run_cells

__all__ = ["Progressed", "RunFolder", "RunModels", "check_run", "progressed", "run_cells"]

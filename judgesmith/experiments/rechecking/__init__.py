"""Whether a judge still says what it said: its golden items against the model of now."""

from judgesmith.experiments.rechecking.findings import Check, Recheck, RecheckedItem
from judgesmith.experiments.rechecking.rechecking import RecheckError, recheck_judge
from judgesmith.experiments.rechecking.rule import recheck_of
from judgesmith.experiments.rechecking.settings import RecheckSettings

__all__ = [
    "Check",
    "Recheck",
    "RecheckError",
    "RecheckSettings",
    "RecheckedItem",
    "recheck_judge",
    "recheck_of",
]

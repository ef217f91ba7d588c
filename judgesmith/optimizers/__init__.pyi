from judgesmith.optimizers.dspy_optimizers import DSPyOptimizer
from judgesmith.optimizers.effect_search import EffectSearch
from judgesmith.optimizers.fair import FairPromptSearch
from judgesmith.optimizers.fitting.aggregation import FitAggregation
from judgesmith.optimizers.fitting.calibrating import Calibrator
from judgesmith.optimizers.fitting.panels import PanelSelection
from judgesmith.optimizers.gepa import ReflectiveSearch
from judgesmith.optimizers.objectives.agreement import (
    AbsoluteError,
    Agreement,
    Kappa,
    NeighbourAccuracy,
    TieAccuracy,
)
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.combining import (
    Constrained,
    Constraint,
    ParetoFront,
    SeveralObjectives,
    WeightedSum,
)
from judgesmith.optimizers.objectives.discernment import (
    AverageDiscernment,
    FalseAlarms,
    LowestDiscernment,
)
from judgesmith.optimizers.objectives.functions import (
    CallsPerItem,
    DollarsPerItem,
    FunctionObjective,
    MetricObjective,
    ShareScored,
)
from judgesmith.optimizers.objectives.grammar import parse_objective, parse_objectives
from judgesmith.optimizers.objectives.verdicts import VerdictCost, VerdictRate
from judgesmith.optimizers.predictions import PredictionTable
from judgesmith.optimizers.protocol import ProtocolSearch
from judgesmith.optimizers.random_search import RandomDemonstrationSearch
from judgesmith.optimizers.rows import rated_example
from judgesmith.optimizers.search.effect_model import CrossFittedGain
from judgesmith.optimizers.search.racing import NoElimination, RacingRule, SuccessiveHalving
from judgesmith.optimizers.search.screening import ScreeningStage
from judgesmith.optimizers.trials import ImprovementTest, TrialRecord

__all__ = [
    "AbsoluteError",
    "Agreement",
    "AverageDiscernment",
    "Calibrator",
    "CallsPerItem",
    "Constrained",
    "Constraint",
    "CrossFittedGain",
    "DSPyOptimizer",
    "DollarsPerItem",
    "EffectSearch",
    "FairPromptSearch",
    "FalseAlarms",
    "FitAggregation",
    "FunctionObjective",
    "ImprovementTest",
    "Kappa",
    "LowestDiscernment",
    "MetricObjective",
    "NeighbourAccuracy",
    "NoElimination",
    "Objective",
    "PanelSelection",
    "ParetoFront",
    "PredictionTable",
    "ProtocolSearch",
    "RacingRule",
    "RandomDemonstrationSearch",
    "ReflectiveSearch",
    "ScreeningStage",
    "SeveralObjectives",
    "ShareScored",
    "SuccessiveHalving",
    "TieAccuracy",
    "TrialRecord",
    "VerdictCost",
    "VerdictRate",
    "WeightedSum",
    "parse_objective",
    "parse_objectives",
    "rated_example",
]

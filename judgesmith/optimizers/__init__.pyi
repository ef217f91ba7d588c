from judgesmith.optimizers.aggregation import FitAggregation
from judgesmith.optimizers.balanced_instructions import BalancedInstructions
from judgesmith.optimizers.bridged_search import BridgedSearch
from judgesmith.optimizers.calibrating import Calibrator
from judgesmith.optimizers.demonstrations import RandomDemonstrationSearch
from judgesmith.optimizers.eliminating import Halve, KeepAll, Race
from judgesmith.optimizers.family_test import Confirm
from judgesmith.optimizers.grammar import parse_objective, parse_objectives
from judgesmith.optimizers.objectives import Agreement, Objective
from judgesmith.optimizers.panel_selection import PanelSelection
from judgesmith.optimizers.protocol_search import ProtocolSearch
from judgesmith.optimizers.rated_examples import rated_example
from judgesmith.optimizers.reflective_search import ReflectiveSearch
from judgesmith.optimizers.screening import Screen
from judgesmith.optimizers.table import JudgedTable

__all__ = [
    "Agreement",
    "BalancedInstructions",
    "BridgedSearch",
    "Calibrator",
    "Confirm",
    "FitAggregation",
    "Halve",
    "JudgedTable",
    "KeepAll",
    "Objective",
    "PanelSelection",
    "ProtocolSearch",
    "Race",
    "RandomDemonstrationSearch",
    "ReflectiveSearch",
    "Screen",
    "parse_objective",
    "parse_objectives",
    "rated_example",
]

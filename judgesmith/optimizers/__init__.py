"""How a judge gets better: objectives over whole lists, and searches that make them larger."""

from judgesmith.optimizers.aggregation import FitAggregation
from judgesmith.optimizers.demonstrations import RandomDemonstrationSearch
from judgesmith.optimizers.objectives import Agreement, Objective, parse_objective
from judgesmith.optimizers.rows import rated_example
from judgesmith.optimizers.table import JudgedTable

__all__ = [
    "Agreement",
    "FitAggregation",
    "JudgedTable",
    "Objective",
    "RandomDemonstrationSearch",
    "parse_objective",
    "rated_example",
]

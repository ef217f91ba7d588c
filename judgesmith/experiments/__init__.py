"""What was run: rated data, compiling, evaluating, and how to say it."""

from judgesmith.experiments.compiling import Compiled, compile_judge
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.evaluating import Evaluation, evaluate_judge, evaluate_scores
from judgesmith.experiments.problems import DataError, Problem
from judgesmith.experiments.reading import read_items, stream_items
from judgesmith.experiments.score_files import read_scores
from judgesmith.experiments.settings import CompileSettings
from judgesmith.experiments.targets import Targets, targets_of

__all__ = [
    "CompileSettings",
    "Compiled",
    "DataError",
    "DataSet",
    "Evaluation",
    "Problem",
    "Targets",
    "compile_judge",
    "evaluate_judge",
    "evaluate_scores",
    "read_items",
    "read_scores",
    "stream_items",
    "targets_of",
]

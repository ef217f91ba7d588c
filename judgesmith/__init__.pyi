from judgesmith import data as data
from judgesmith import experiments as experiments
from judgesmith import metrics as metrics
from judgesmith import optimizers as optimizers
from judgesmith import programs as programs
from judgesmith import signatures as signatures
from judgesmith.data import DataError, DataSet
from judgesmith.data.reading import read_items as read
from judgesmith.data.score_files import read_scores
from judgesmith.errors import FileError, InputError, JudgesmithError, MissingExtraError
from judgesmith.experiments import CompileSettings
from judgesmith.experiments import compare_judges as compare
from judgesmith.experiments import compile_judge as compile  # noqa: A004
from judgesmith.experiments import evaluate_judge as evaluate
from judgesmith.experiments import infer_rubric as infer
from judgesmith.experiments.compile.split import to_examples
from judgesmith.optimizers import FitAggregation, RandomDemonstrationSearch
from judgesmith.programs import (
    ActiveCritic,
    Judge,
    SavedJudge,
    iter_scores,
    judge_family,
    score_batch,
    wrap,
)
from judgesmith.programs import load_judge as load
from judgesmith.programs.judging.metric import as_metric
from judgesmith.programs.lm import model
from judgesmith.results.progress import ProgressEvent
from judgesmith.signatures import (
    ActiveCriticConfig,
    Criterion,
    Judgement,
    RatedItem,
    Rubric,
    Scale,
    Untrusted,
    UntrustedOrNone,
)

__all__ = [
    "ActiveCritic",
    "ActiveCriticConfig",
    "CompileSettings",
    "Criterion",
    "DataError",
    "DataSet",
    "FileError",
    "FitAggregation",
    "InputError",
    "Judge",
    "Judgement",
    "JudgesmithError",
    "MissingExtraError",
    "ProgressEvent",
    "RandomDemonstrationSearch",
    "RatedItem",
    "Rubric",
    "SavedJudge",
    "Scale",
    "Untrusted",
    "UntrustedOrNone",
    "as_metric",
    "compare",
    "compile",
    "evaluate",
    "infer",
    "iter_scores",
    "judge_family",
    "load",
    "model",
    "read",
    "read_scores",
    "score_batch",
    "to_examples",
    "wrap",
]

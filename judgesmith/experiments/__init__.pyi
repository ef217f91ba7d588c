from judgesmith.experiments.ablate.report import AblationTable
from judgesmith.experiments.ablate.table import ablation
from judgesmith.experiments.benchmark.building import Benchmark, build_benchmark
from judgesmith.experiments.benchmark.settings import BenchmarkSettings
from judgesmith.experiments.compile.calibrating import calibrate_judge
from judgesmith.experiments.compile.compiling import CompileResult, compile_judge
from judgesmith.experiments.compile.inferring import InferenceResult, InferenceRun, infer_rubric
from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.experiments.evaluate.card import card_html
from judgesmith.experiments.evaluate.comparing import Comparison, compare_judges
from judgesmith.experiments.evaluate.describing import Description, describe
from judgesmith.experiments.evaluate.evaluating import Evaluation, evaluate_judge, evaluate_scores
from judgesmith.experiments.evaluate.perspectives.direct import DirectComparison, compare_directly
from judgesmith.experiments.evaluate.perspectives.perspectives import (
    perspective_of_judge,
    perspective_of_scores,
    recorded_by_criterion,
)
from judgesmith.experiments.evaluate.perspectives.report import PerspectiveReport
from judgesmith.experiments.evaluate.preferring import PreferenceEvaluation, evaluate_preferences
from judgesmith.experiments.labels.suggesting import Suggestions, suggest
from judgesmith.experiments.monitor.drifting import (
    DriftReport,
    drift_between,
    load_scores,
    reference_distribution,
)
from judgesmith.experiments.monitor.recheck_rule import RecheckSettings, RegressionReport
from judgesmith.experiments.monitor.rechecking import recheck_judge
from judgesmith.experiments.panel.panelling import LearnedPanel, learn_panel
from judgesmith.experiments.panel.rows import PanelSettings
from judgesmith.experiments.robustness.discerning import Discerned, discern
from judgesmith.experiments.robustness.perturbed_rows import get_perturbed
from judgesmith.experiments.robustness.perturbed_scores import recorded_versions, score_perturbed
from judgesmith.experiments.robustness.perturbed_set import PerturbedSet
from judgesmith.experiments.robustness.perturbing import (
    PerturbationConfig,
    get_originals,
    perturb_texts,
    write_perturbed,
)
from judgesmith.experiments.scoring import score_file, score_shards
from judgesmith.experiments.scoring.clusters import ClusterError, ray_judging, score_dataset

__all__ = [
    "AblationTable",
    "Benchmark",
    "BenchmarkSettings",
    "ClusterError",
    "Comparison",
    "CompileResult",
    "CompileSettings",
    "Description",
    "DirectComparison",
    "Discerned",
    "DriftReport",
    "Evaluation",
    "InferenceResult",
    "InferenceRun",
    "LearnedPanel",
    "PanelSettings",
    "PerspectiveReport",
    "PerturbationConfig",
    "PerturbedSet",
    "PreferenceEvaluation",
    "RecheckSettings",
    "RegressionReport",
    "Suggestions",
    "ablation",
    "build_benchmark",
    "calibrate_judge",
    "card_html",
    "compare_directly",
    "compare_judges",
    "compile_judge",
    "describe",
    "discern",
    "drift_between",
    "evaluate_judge",
    "evaluate_preferences",
    "evaluate_scores",
    "get_originals",
    "get_perturbed",
    "infer_rubric",
    "learn_panel",
    "load_scores",
    "perspective_of_judge",
    "perspective_of_scores",
    "perturb_texts",
    "ray_judging",
    "recheck_judge",
    "recorded_by_criterion",
    "recorded_versions",
    "reference_distribution",
    "score_dataset",
    "score_file",
    "score_perturbed",
    "score_shards",
    "suggest",
    "write_perturbed",
]

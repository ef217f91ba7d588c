from judgesmith.experiments.ablate.report import AblationTable
from judgesmith.experiments.ablate.table import ablation
from judgesmith.experiments.benchmark.building import Benchmark, build_benchmark
from judgesmith.experiments.benchmark.settings import BenchmarkSettings
from judgesmith.experiments.compile.calibrating import calibrate_judge
from judgesmith.experiments.compile.compiling import CompileResult, compile_judge
from judgesmith.experiments.compile.inferring import InferenceRun, Inferred, infer_rubric
from judgesmith.experiments.compile.settings import CompileSettings
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
from judgesmith.experiments.monitor.drifting import Drift, drift_between, gathered, known_before
from judgesmith.experiments.monitor.recheck_rule import Recheck, RecheckSettings
from judgesmith.experiments.monitor.rechecking import recheck_judge
from judgesmith.experiments.panel.panelling import LearnedPanel, learn_panel
from judgesmith.experiments.panel.rows import PanelSettings
from judgesmith.experiments.robustness.discerning import Discerned, discern
from judgesmith.experiments.robustness.perturbed_rows import versions_of
from judgesmith.experiments.robustness.perturbed_set import PerturbedSet
from judgesmith.experiments.robustness.perturbing import (
    Changes,
    originals_of,
    perturb_texts,
    write_perturbed,
)
from judgesmith.experiments.robustness.version_scores import judged_versions, recorded_versions
from judgesmith.experiments.scoring import score_file, score_shards
from judgesmith.experiments.scoring.clusters import ClusterError, ray_judging, score_dataset

__all__ = [
    "AblationTable",
    "Benchmark",
    "BenchmarkSettings",
    "Changes",
    "ClusterError",
    "Comparison",
    "CompileResult",
    "CompileSettings",
    "Description",
    "DirectComparison",
    "Discerned",
    "Drift",
    "Evaluation",
    "InferenceRun",
    "Inferred",
    "LearnedPanel",
    "PanelSettings",
    "PerspectiveReport",
    "PerturbedSet",
    "PreferenceEvaluation",
    "Recheck",
    "RecheckSettings",
    "Suggestions",
    "ablation",
    "build_benchmark",
    "calibrate_judge",
    "compare_directly",
    "compare_judges",
    "compile_judge",
    "describe",
    "discern",
    "drift_between",
    "evaluate_judge",
    "evaluate_preferences",
    "evaluate_scores",
    "gathered",
    "infer_rubric",
    "judged_versions",
    "known_before",
    "learn_panel",
    "originals_of",
    "perspective_of_judge",
    "perspective_of_scores",
    "perturb_texts",
    "ray_judging",
    "recheck_judge",
    "recorded_by_criterion",
    "recorded_versions",
    "score_dataset",
    "score_file",
    "score_shards",
    "suggest",
    "versions_of",
    "write_perturbed",
]

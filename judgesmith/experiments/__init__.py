"""What was run: rated data, compiling, evaluating, and how to say it.

Names are loaded when they are first used: reading data does not need a model.
"""

from typing import TYPE_CHECKING

from judgesmith.front_door import front_door

if TYPE_CHECKING:
    from judgesmith.experiments.ablation_report import AblationTable
    from judgesmith.experiments.ablation_table import ablation
    from judgesmith.experiments.benchmarking.building import Benchmark, build_benchmark
    from judgesmith.experiments.benchmarking.settings import BenchmarkSettings
    from judgesmith.experiments.calibrating import calibrate_judge
    from judgesmith.experiments.clusters import ClusterError, ray_judging, score_dataset
    from judgesmith.experiments.columns import ColumnMap
    from judgesmith.experiments.comparing import Comparison, compare_judges
    from judgesmith.experiments.compiling import Compiled, compile_judge
    from judgesmith.experiments.dataset import DataSet
    from judgesmith.experiments.describing import Description, describe
    from judgesmith.experiments.direct_comparison import DirectComparison, compare_directly
    from judgesmith.experiments.discerned import Discerned
    from judgesmith.experiments.discerning import discern
    from judgesmith.experiments.drifting.drifting import Drift, drift_between, known_before
    from judgesmith.experiments.drifting.gathering import gathered
    from judgesmith.experiments.evaluating import Evaluation, evaluate_judge, evaluate_scores
    from judgesmith.experiments.inferring import InferenceRun, Inferred, infer_rubric
    from judgesmith.experiments.originals import originals_of
    from judgesmith.experiments.panel_rows import PanelSettings
    from judgesmith.experiments.panelling import LearnedPanel, learn_panel
    from judgesmith.experiments.perspective_report import PerspectiveReport
    from judgesmith.experiments.perspectives import perspective_of_judge, perspective_of_scores
    from judgesmith.experiments.perturbed_rows import versions_of
    from judgesmith.experiments.perturbed_set import PerturbedSet
    from judgesmith.experiments.perturbing import Changes, perturb_texts, write_perturbed
    from judgesmith.experiments.preferring import PreferenceEvaluation, evaluate_preferences
    from judgesmith.experiments.problems import DataError, Problem
    from judgesmith.experiments.reading import read_items, stream_items
    from judgesmith.experiments.rechecking.findings import Recheck
    from judgesmith.experiments.rechecking.rechecking import recheck_judge
    from judgesmith.experiments.rechecking.settings import RecheckSettings
    from judgesmith.experiments.recorded_pairs import PairedAnswers
    from judgesmith.experiments.recorded_samples import recorded_by_criterion
    from judgesmith.experiments.score_files import read_recorded, read_scores
    from judgesmith.experiments.scoring import score_file, score_shards
    from judgesmith.experiments.settings import CompileSettings
    from judgesmith.experiments.suggesting.joining import read_together
    from judgesmith.experiments.suggesting.rating_sheet import write_rating_sheet
    from judgesmith.experiments.suggesting.suggesting import Suggestions, suggest
    from judgesmith.experiments.targets import Targets, targets_of
    from judgesmith.experiments.version_scores import judged_versions, recorded_versions

__all__ = [
    "AblationTable",
    "Benchmark",
    "BenchmarkSettings",
    "Changes",
    "ClusterError",
    "ColumnMap",
    "Comparison",
    "CompileSettings",
    "Compiled",
    "DataError",
    "DataSet",
    "Description",
    "DirectComparison",
    "Discerned",
    "Drift",
    "Evaluation",
    "InferenceRun",
    "Inferred",
    "LearnedPanel",
    "PairedAnswers",
    "PanelSettings",
    "PerspectiveReport",
    "PerturbedSet",
    "PreferenceEvaluation",
    "Problem",
    "Recheck",
    "RecheckSettings",
    "Suggestions",
    "Targets",
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
    "read_items",
    "read_recorded",
    "read_scores",
    "read_together",
    "recheck_judge",
    "recorded_by_criterion",
    "recorded_versions",
    "score_dataset",
    "score_file",
    "score_shards",
    "stream_items",
    "suggest",
    "targets_of",
    "versions_of",
    "write_perturbed",
    "write_rating_sheet",
]

__getattr__ = front_door(
    __name__,
    {
        "AblationTable": "judgesmith.experiments.ablation_report:AblationTable",
        "Benchmark": "judgesmith.experiments.benchmarking.building:Benchmark",
        "BenchmarkSettings": "judgesmith.experiments.benchmarking.settings:BenchmarkSettings",
        "Changes": "judgesmith.experiments.perturbing:Changes",
        "ClusterError": "judgesmith.experiments.clusters:ClusterError",
        "ColumnMap": "judgesmith.experiments.columns:ColumnMap",
        "Comparison": "judgesmith.experiments.comparing:Comparison",
        "CompileSettings": "judgesmith.experiments.settings:CompileSettings",
        "Compiled": "judgesmith.experiments.compiling:Compiled",
        "DataError": "judgesmith.experiments.problems:DataError",
        "DataSet": "judgesmith.experiments.dataset:DataSet",
        "Description": "judgesmith.experiments.describing:Description",
        "DirectComparison": "judgesmith.experiments.direct_comparison:DirectComparison",
        "Discerned": "judgesmith.experiments.discerned:Discerned",
        "Drift": "judgesmith.experiments.drifting.drifting:Drift",
        "Evaluation": "judgesmith.experiments.evaluating:Evaluation",
        "InferenceRun": "judgesmith.experiments.inferring:InferenceRun",
        "Inferred": "judgesmith.experiments.inferring:Inferred",
        "LearnedPanel": "judgesmith.experiments.panelling:LearnedPanel",
        "PairedAnswers": "judgesmith.experiments.recorded_pairs:PairedAnswers",
        "PanelSettings": "judgesmith.experiments.panel_rows:PanelSettings",
        "PerspectiveReport": "judgesmith.experiments.perspective_report:PerspectiveReport",
        "PerturbedSet": "judgesmith.experiments.perturbed_set:PerturbedSet",
        "PreferenceEvaluation": "judgesmith.experiments.preferring:PreferenceEvaluation",
        "Problem": "judgesmith.experiments.problems:Problem",
        "Recheck": "judgesmith.experiments.rechecking:Recheck",
        "RecheckSettings": "judgesmith.experiments.rechecking:RecheckSettings",
        "Suggestions": "judgesmith.experiments.suggesting.suggesting:Suggestions",
        "Targets": "judgesmith.experiments.targets:Targets",
        "ablation": "judgesmith.experiments.ablation_table:ablation",
        "build_benchmark": "judgesmith.experiments.benchmarking.building:build_benchmark",
        "calibrate_judge": "judgesmith.experiments.calibrating:calibrate_judge",
        "compare_directly": "judgesmith.experiments.direct_comparison:compare_directly",
        "compare_judges": "judgesmith.experiments.comparing:compare_judges",
        "compile_judge": "judgesmith.experiments.compiling:compile_judge",
        "describe": "judgesmith.experiments.describing:describe",
        "discern": "judgesmith.experiments.discerning:discern",
        "drift_between": "judgesmith.experiments.drifting.drifting:drift_between",
        "evaluate_judge": "judgesmith.experiments.evaluating:evaluate_judge",
        "evaluate_preferences": "judgesmith.experiments.preferring:evaluate_preferences",
        "evaluate_scores": "judgesmith.experiments.evaluating:evaluate_scores",
        "gathered": "judgesmith.experiments.drifting.gathering:gathered",
        "infer_rubric": "judgesmith.experiments.inferring:infer_rubric",
        "judged_versions": "judgesmith.experiments.version_scores:judged_versions",
        "known_before": "judgesmith.experiments.drifting.drifting:known_before",
        "learn_panel": "judgesmith.experiments.panelling:learn_panel",
        "originals_of": "judgesmith.experiments.originals:originals_of",
        "perspective_of_judge": "judgesmith.experiments.perspectives:perspective_of_judge",
        "perspective_of_scores": "judgesmith.experiments.perspectives:perspective_of_scores",
        "perturb_texts": "judgesmith.experiments.perturbing:perturb_texts",
        "ray_judging": "judgesmith.experiments.clusters:ray_judging",
        "read_items": "judgesmith.experiments.reading:read_items",
        "read_recorded": "judgesmith.experiments.score_files:read_recorded",
        "read_scores": "judgesmith.experiments.score_files:read_scores",
        "read_together": "judgesmith.experiments.suggesting.joining:read_together",
        "recheck_judge": "judgesmith.experiments.rechecking:recheck_judge",
        "recorded_by_criterion": "judgesmith.experiments.recorded_samples:recorded_by_criterion",
        "recorded_versions": "judgesmith.experiments.version_scores:recorded_versions",
        "score_dataset": "judgesmith.experiments.clusters:score_dataset",
        "score_file": "judgesmith.experiments.scoring:score_file",
        "score_shards": "judgesmith.experiments.scoring:score_shards",
        "stream_items": "judgesmith.experiments.reading:stream_items",
        "suggest": "judgesmith.experiments.suggesting.suggesting:suggest",
        "targets_of": "judgesmith.experiments.targets:targets_of",
        "versions_of": "judgesmith.experiments.perturbed_rows:versions_of",
        "write_perturbed": "judgesmith.experiments.perturbing:write_perturbed",
        "write_rating_sheet": "judgesmith.experiments.suggesting.rating_sheet:write_rating_sheet",
    },
)

from judgesmith.programs.artifacts.saved import SavedJudge, SavedJudgeError
from judgesmith.programs.artifacts.saved_ensembles import (
    SavedCalibrated,
    SavedPanel,
    load_judge,
    load_saved,
)
from judgesmith.programs.exporting.dspy_program import load_program
from judgesmith.programs.exporting.export import export_judge
from judgesmith.programs.exporting.inspect_scorer import inspect_scorer
from judgesmith.programs.exporting.mlflow_scorer import mlflow_scorer
from judgesmith.programs.families.ensemble.judges import Calibrated, Panel, PanelJudge, Supervisor
from judgesmith.programs.families.modules import (
    ActiveCritic,
    AnnotatorJudge,
    ChecklistJudge,
    DirectJudge,
    DistilledJudge,
    ExemplarJudge,
    ExplainEvalJudge,
    GEvalJudge,
    GPTScoreJudge,
    PairwiseJudge,
    PreferenceJudge,
    PromptFormatJudge,
    ReferenceJudge,
    VerdictJudge,
)
from judgesmith.programs.families.own import judge_family
from judgesmith.programs.families.pairwise import Preference, ResponsePair, prefer_each
from judgesmith.programs.families.wrapped import wrap
from judgesmith.programs.judging.adapter import FencedAdapter
from judgesmith.programs.judging.judge import Judge
from judgesmith.programs.judging.prompts import Template
from judgesmith.programs.judging.registry import (
    JudgeFamily,
    family_of,
    known_families,
    register_family,
    with_roles,
)
from judgesmith.programs.judging.runner import iter_scores, score_batch

__all__ = [
    "ActiveCritic",
    "AnnotatorJudge",
    "Calibrated",
    "ChecklistJudge",
    "DirectJudge",
    "DistilledJudge",
    "ExemplarJudge",
    "ExplainEvalJudge",
    "FencedAdapter",
    "GEvalJudge",
    "GPTScoreJudge",
    "Judge",
    "JudgeFamily",
    "PairwiseJudge",
    "Panel",
    "PanelJudge",
    "Preference",
    "PreferenceJudge",
    "PromptFormatJudge",
    "ReferenceJudge",
    "ResponsePair",
    "SavedCalibrated",
    "SavedJudge",
    "SavedJudgeError",
    "SavedPanel",
    "Supervisor",
    "Template",
    "VerdictJudge",
    "export_judge",
    "family_of",
    "inspect_scorer",
    "iter_scores",
    "judge_family",
    "known_families",
    "load_judge",
    "load_program",
    "load_saved",
    "mlflow_scorer",
    "prefer_each",
    "register_family",
    "score_batch",
    "with_roles",
    "wrap",
]

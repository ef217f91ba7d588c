from judgesmith.programs.active_critic import ActiveCritic
from judgesmith.programs.adapter import FencedAdapter
from judgesmith.programs.annotator import AnnotatorJudge
from judgesmith.programs.calibrated import Calibrated
from judgesmith.programs.direct import Direct
from judgesmith.programs.distilled import DistilledJudge
from judgesmith.programs.exemplar import ExemplarJudge
from judgesmith.programs.exporting.dspy_program import load_program
from judgesmith.programs.exporting.exporting import export_judge
from judgesmith.programs.exporting.inspect_scorer import inspect_scorer
from judgesmith.programs.exporting.mlflow_scorer import mlflow_scorer
from judgesmith.programs.families import family_of, known_families, register_family
from judgesmith.programs.family import Family
from judgesmith.programs.judge import Judge
from judgesmith.programs.pairs import Pairs, PreferenceJudge
from judgesmith.programs.panel import Panel
from judgesmith.programs.panel_judge import PanelJudge
from judgesmith.programs.preference import Preference
from judgesmith.programs.preferring import ResponsePair, prefer_each
from judgesmith.programs.reference import Reference
from judgesmith.programs.roles import with_roles
from judgesmith.programs.running import judge_each, judge_items
from judgesmith.programs.saved import SavedJudge, SavedJudgeError, load_judge
from judgesmith.programs.saved_kinds import SavedCalibrated, SavedPanel, load_saved
from judgesmith.programs.supervisor import Supervisor
from judgesmith.programs.templates import Template

__all__ = [
    "ActiveCritic",
    "AnnotatorJudge",
    "Calibrated",
    "Direct",
    "DistilledJudge",
    "ExemplarJudge",
    "Family",
    "FencedAdapter",
    "Judge",
    "Pairs",
    "Panel",
    "PanelJudge",
    "Preference",
    "PreferenceJudge",
    "Reference",
    "ResponsePair",
    "SavedCalibrated",
    "SavedJudge",
    "SavedJudgeError",
    "SavedPanel",
    "Supervisor",
    "Template",
    "export_judge",
    "family_of",
    "inspect_scorer",
    "judge_each",
    "judge_items",
    "known_families",
    "load_judge",
    "load_program",
    "load_saved",
    "mlflow_scorer",
    "prefer_each",
    "register_family",
    "with_roles",
]

"""Judgesmith compiles LLM judges that agree with people, and says how far to trust them.

Names are loaded when they are first used, so that importing the package costs nothing.

Examples
--------
>>> import judgesmith
>>> data = judgesmith.read("sample")
>>> settings = judgesmith.CompileSettings(n_rounds=2)
>>> compiled = judgesmith.compile(data, settings)
>>> judge = compiled.saved.program()
>>> verdict = judge(source=data[0].source, response=data[0].response)
>>> 1 <= verdict.score <= 5, verdict.problem
(True, None)
"""

from typing import TYPE_CHECKING

from judgesmith.front_door import front_door

if TYPE_CHECKING:
    from judgesmith.data import DataError, DataSet
    from judgesmith.data.reading import read_items as read
    from judgesmith.data.score_files import read_scores
    from judgesmith.errors import FileError, InputError, JudgesmithError, MissingExtraError
    from judgesmith.experiments import CompileSettings
    from judgesmith.experiments import compare_judges as compare
    from judgesmith.experiments import compile_judge as compile  # noqa: A004
    from judgesmith.experiments import evaluate_judge as evaluate
    from judgesmith.experiments import infer_rubric as infer
    from judgesmith.optimizers import FitAggregation, RandomDemonstrationSearch
    from judgesmith.programs import (
        ActiveCritic,
        Judge,
        SavedJudge,
        iter_scores,
        judge_family,
        score_batch,
    )
    from judgesmith.programs import load_judge as load
    from judgesmith.programs.lm import model
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
    "RandomDemonstrationSearch",
    "RatedItem",
    "Rubric",
    "SavedJudge",
    "Scale",
    "Untrusted",
    "UntrustedOrNone",
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
]

__getattr__ = front_door(
    __name__,
    {
        "ActiveCritic": "judgesmith.programs:ActiveCritic",
        "CompileSettings": "judgesmith.experiments:CompileSettings",
        "Criterion": "judgesmith.signatures:Criterion",
        "DataError": "judgesmith.data:DataError",
        "DataSet": "judgesmith.data:DataSet",
        "FileError": "judgesmith.errors:FileError",
        "FitAggregation": "judgesmith.optimizers:FitAggregation",
        "InputError": "judgesmith.errors:InputError",
        "Judge": "judgesmith.programs:Judge",
        "Judgement": "judgesmith.signatures:Judgement",
        "JudgesmithError": "judgesmith.errors:JudgesmithError",
        "MissingExtraError": "judgesmith.errors:MissingExtraError",
        "ActiveCriticConfig": "judgesmith.signatures:ActiveCriticConfig",
        "RandomDemonstrationSearch": "judgesmith.optimizers:RandomDemonstrationSearch",
        "RatedItem": "judgesmith.signatures:RatedItem",
        "Rubric": "judgesmith.signatures:Rubric",
        "SavedJudge": "judgesmith.programs:SavedJudge",
        "Scale": "judgesmith.signatures:Scale",
        "Untrusted": "judgesmith.signatures:Untrusted",
        "UntrustedOrNone": "judgesmith.signatures:UntrustedOrNone",
        "compare": "judgesmith.experiments:compare_judges",
        "compile": "judgesmith.experiments:compile_judge",
        "evaluate": "judgesmith.experiments:evaluate_judge",
        "infer": "judgesmith.experiments:infer_rubric",
        "iter_scores": "judgesmith.programs:iter_scores",
        "judge_family": "judgesmith.programs:judge_family",
        "score_batch": "judgesmith.programs:score_batch",
        "load": "judgesmith.programs:load_judge",
        "model": "judgesmith.programs.lm:model",
        "read": "judgesmith.data:read_items",
        "read_scores": "judgesmith.data:read_scores",
    },
)


def __dir__() -> list[str]:
    return __all__

"""Judges that ask for one score: ``direct`` alone, ``explain-eval`` with an explanation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from judgesmith.programs.judging.answers import Kind
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.registry import JudgeFamily
from judgesmith.programs.judging.scoring import whole_or_each
from judgesmith.signatures.config import WholeOrEachConfig
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.scale import Scale
from judgesmith.signatures.space import Space, asks_choices, field_choice, usual_choices


class DirectConfig(WholeOrEachConfig):
    """The configuration of a direct judge."""

    judge: Literal["direct"] = "direct"
    asks: Literal["overall", "criteria"] = "overall"


def direct_forms(protocol: DirectConfig) -> dict[str, QuestionForm]:
    form = QuestionForm(outputs=({"score": "points"},))
    return whole_or_each(protocol, form, whole="whole", each="one")


DIRECT = JudgeFamily(
    name="direct",
    about="asks for a score and nothing else, of the whole or of each criterion",
    protocol=DirectConfig,
    forms=direct_forms,
    questions="judgesmith.signatures.questions.direct:",
    judge="judgesmith.programs.families.modules:DirectJudge",
)


class ExplainEvalConfig(WholeOrEachConfig):
    """The configuration of a judge that explains its score."""

    judge: Literal["explain-eval"] = "explain-eval"
    explain: Literal["before", "after", "none"] = "before"
    answers: Scale = Scale(low=1, high=5)


def explain_eval_forms(protocol: ExplainEvalConfig) -> dict[str, QuestionForm]:
    outputs: dict[str, Kind] = {"score": "points"}
    if protocol.explain != "none":
        outputs["explanation"] = "text"
    form = QuestionForm(outputs=(outputs,))
    return whole_or_each(protocol, form, whole="analyse", each="analyse")


def explain_eval_space(
    protocol: ExplainEvalConfig, rubrics: Mapping[str, Rubric] | None = None
) -> Space:
    explain = field_choice(protocol, "explain", ("before", "after", "none"))
    return Space(choices=(*asks_choices(protocol, rubrics), explain, *usual_choices(protocol)))


EXPLAIN_EVAL = JudgeFamily(
    name="explain-eval",
    about="analyses and rates each criterion, or the whole, in words and a score",
    protocol=ExplainEvalConfig,
    forms=explain_eval_forms,
    questions="judgesmith.signatures.questions.explain_eval:",
    space=explain_eval_space,
    judge="judgesmith.programs.families.modules:ExplainEvalJudge",
)

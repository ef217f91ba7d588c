"""The questions of an Active-Critic judge: their names, what in them is fixed, and its wording.

Free of DSPy, as the steps are that ask them.
"""

from __future__ import annotations

from collections.abc import Mapping

from judgesmith.programs.question_forms import TEXTS, QuestionForm
from judgesmith.programs.templates import Kind
from judgesmith.signatures.answer_scale import level_of
from judgesmith.signatures.judgement import CriterionScore
from judgesmith.signatures.protocol import Protocol
from judgesmith.signatures.rubric import Criterion, Rubric
from judgesmith.signatures.scale import PERCENT, Scale


def question_names(protocol: Protocol) -> tuple[str, ...]:
    """Return the names of the judge's questions, in the order in which they are asked.

    Examples
    --------
    >>> question_names(Protocol(rubric={"criteria": {"brevity": "Is it short?"}}))
    ('assess', 'overall')
    >>> question_names(Protocol(criteria_calls="separate", overall="mean"))[-1]
    'assess_6'
    """
    if protocol.variant != "fine":
        return ("grade",) if protocol.variant == "vanilla" else ("rate",)
    last = ("overall",) if protocol.overall == "asked" else ()
    return (*assessing_names(protocol), *last)


def assessing_names(protocol: Protocol) -> tuple[str, ...]:
    """Return the names of the questions that score criteria: one in all, or one for each."""
    if protocol.variant != "fine":
        return ()
    if protocol.criteria_calls == "joint":
        return ("assess",)
    return tuple(f"assess_{place}" for place in range(1, len(protocol.rubric.criteria) + 1))


def critic_forms(protocol: Protocol) -> dict[str, QuestionForm]:
    """Return what each question of the judge must show and how it is read, in order."""
    return {name: _FORMS.get(name, QuestionForm()) for name in question_names(protocol)}


_ASSESSED: tuple[Kind, ...] = (
    "assessments",
    "assessments, score first",
    "assessments, score only",
)
_FORMS = {
    "assess": QuestionForm(outputs=tuple({"assessments": kind} for kind in _ASSESSED)),
    "overall": QuestionForm(texts=(*TEXTS, "assessments")),
}


def fixed_inputs(protocol: Protocol, question: str) -> dict[str, str]:
    """Return the inputs of a question that are the same for every item, by field."""
    if question == "grade":
        return {}
    rubric = protocol.rubric
    fixed = {"task": rubric.task} if rubric.task else {}
    if question in ("rate", "assess"):
        fixed["criteria"] = criteria_text(rubric, protocol.answers)
    elif question.startswith("assess_"):
        fixed["criterion"] = _criterion_line(
            rubric.criteria[int(question[7:]) - 1], protocol.answers
        )
    return fixed


def criteria_text(rubric: Rubric, answers: Scale = PERCENT) -> str:
    """Return the criteria as the model reads them, one per line.

    Examples
    --------
    >>> print(criteria_text(Rubric(criteria={"brevity": "Is it short?"})))
    brevity: Is it short?
    """
    return "\n".join(_criterion_line(one, answers) for one in rubric.criteria)


def assessments_text(criteria: Mapping[str, CriterionScore], answers: Scale = PERCENT) -> str:
    """Return scores and explanations as the overall question shows them, one line each.

    Examples
    --------
    >>> assessments_text({"brevity": CriterionScore(score=85, explanation="One sentence.")})
    '- brevity: 85. One sentence.'
    """
    return "\n".join(
        f"- {name}: no score."
        if one.score is None
        else f"- {name}: {_written(one.score, answers)}. {_one_line(one.explanation)}".rstrip()
        for name, one in criteria.items()
    )


def _written(percent: float, answers: Scale) -> str:
    level = level_of(percent, answers)
    return level if isinstance(level, str) else f"{level:g}"


def _criterion_line(criterion: Criterion, answers: Scale) -> str:
    names = answers.labels or (f"{answers.low:g}", f"{answers.high:g}")
    ends = [(names[0], criterion.worst), (names[-1], criterion.best)]
    meanings = [f"{points} means: {text}." for points, text in ends if text]
    return f"{criterion.name}: {_one_line(' '.join([criterion.definition, *meanings]))}"


def _one_line(text: str) -> str:
    return " ".join(text.split())

"""The questions of an Active-Critic judge: their names, what in them is fixed, and its wording.

Free of DSPy, as the steps are that ask them.
"""

from __future__ import annotations

from collections.abc import Mapping

from judgesmith.signatures.judgement import CriterionScore
from judgesmith.signatures.protocol import Protocol
from judgesmith.signatures.rubric import Criterion, Rubric


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


def fixed_inputs(protocol: Protocol, question: str) -> dict[str, str]:
    """Return the inputs of a question that are the same for every item, by field."""
    if question == "grade":
        return {}
    rubric = protocol.rubric
    fixed = {"task": rubric.task} if rubric.task else {}
    if question in ("rate", "assess"):
        fixed["criteria"] = criteria_text(rubric)
    elif question.startswith("assess_"):
        fixed["criterion"] = _criterion_line(rubric.criteria[int(question[7:]) - 1])
    return fixed


def criteria_text(rubric: Rubric) -> str:
    """Return the criteria as the model reads them, one per line.

    Examples
    --------
    >>> print(criteria_text(Rubric(criteria={"brevity": "Is it short?"})))
    brevity: Is it short?
    """
    return "\n".join(map(_criterion_line, rubric.criteria))


def assessments_text(criteria: Mapping[str, CriterionScore]) -> str:
    """Return scores and explanations as the overall question shows them, one line each.

    Examples
    --------
    >>> assessments_text({"brevity": CriterionScore(score=85, explanation="One sentence.")})
    '- brevity: 85. One sentence.'
    """
    return "\n".join(
        f"- {name}: no score."
        if one.score is None
        else f"- {name}: {one.score:g}. {_one_line(one.explanation)}".rstrip()
        for name, one in criteria.items()
    )


def _criterion_line(criterion: Criterion) -> str:
    ends = [("0", criterion.worst), ("100", criterion.best)]
    meanings = [f"{points} means: {text}." for points, text in ends if text]
    return f"{criterion.name}: {_one_line(' '.join([criterion.definition, *meanings]))}"


def _one_line(text: str) -> str:
    return " ".join(text.split())

"""The forms of Prometheus 2: absolute grading by a rubric of 1 to 5, and which of two is better.

Labels and the end of an answer are those that the models were trained on. Source: Kim et al.
(2024), "Prometheus 2", EMNLP, arXiv:2405.01535. All sentences are ours.
"""

from __future__ import annotations

from typing import Any

from judgesmith.programs.forms.marked_results import read_chosen, read_scored
from judgesmith.programs.forms.model_form import VERBATIM, ModelForm, one_line, register_form
from judgesmith.signatures.rubric import Criterion
from judgesmith.signatures.scale import PERCENT, Scale

FIVE = Scale(low=1, high=5)

_LEVELS = (
    "it is not met at all",
    "it is met in few respects",
    "it is met in part",
    "it is met but for small faults",
    "it is met in full",
)


def rubric_text(criterion: Criterion) -> str:
    """Return a criterion as a rubric with a description of each score from 1 to 5.

    Examples
    --------
    >>> print(rubric_text(Criterion(name="wit", definition="Is it funny?", best="one laughs")))
    [wit: Is it funny?]
    Score 1: it is not met at all
    Score 2: it is met in few respects
    Score 3: it is met in part
    Score 4: it is met but for small faults
    Score 5: one laughs
    """
    said = [" ".join(criterion.worst.split()), "", "", "", " ".join(criterion.best.split())]
    levels = [own or usual for own, usual in zip(said, _LEVELS, strict=True)]
    lines = [f"Score {points}: {text}" for points, text in enumerate(levels, start=1)]
    return "\n".join([f"[{one_line(criterion)}]", *lines])


def _scored(answer: str) -> dict[str, Any]:
    words, score = read_scored(answer, FIVE)
    return {"explanation": words, "score": score}


def _chosen(answer: str) -> dict[str, Any]:
    words, better = read_chosen(answer, ("A", "B"))
    return {"explanation": words, "better": better}


ABSOLUTE = register_form(
    ModelForm(
        name="prometheus-absolute",
        instructions=f"You examine a response by one rubric and say how well it meets it. "
        f"{VERBATIM}",
        layout="""###Task Description:
What was asked, a response to it, and a rubric that says what each score means are given below.
1. Give feedback on the response by this rubric alone.
2. Then give the score that the rubric describes it with, a whole number from 1 to 5.
3. Keep to the form "Feedback: (your feedback) [RESULT] (the whole number)".
4. Add nothing before the feedback and nothing after the number.

###The instruction to evaluate:
{task}

{source}

Further material:
{context}

###Response to evaluate:
{response}

###Score Rubrics:
{criterion}

###Feedback: """,
        answer="Feedback: {explanation} [RESULT] {score}",
        outside=frozenset({"source", "context", "response"}),
        outputs={"explanation": "text", "score": "points"},
        answers=FIVE,
        read=_scored,
        criterion=rubric_text,
    )
)

RELATIVE = register_form(
    ModelForm(
        name="prometheus-relative",
        instructions=f"You compare two responses by one rubric and say which of them meets it "
        f"better. {VERBATIM}",
        layout="""###Task Description:
What was asked, two responses to it, and a rubric are given below.
1. Give feedback that compares the two responses by this rubric alone.
2. Then name the better one, A or B.
3. Keep to the form "Feedback: (your feedback) [RESULT] (A or B)".
4. Add nothing before the feedback and nothing after the letter.

###Instruction:
{task}

{source}

Further material:
{context}

###Response A:
{response_a}

###Response B:
{response_b}

###Score Rubric:
{criterion}

###Feedback: """,
        answer="Feedback: {explanation} [RESULT] {better}",
        outside=frozenset({"source", "context", "response_a", "response_b"}),
        outputs={"explanation": "text", "better": "text"},
        answers=PERCENT,
        read=_chosen,
    )
)

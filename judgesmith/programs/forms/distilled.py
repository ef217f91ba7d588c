"""The form of models that learned from annotators: errors with their places, then 0 to 100.

Training data is written in it and the trained model is asked in it, so that both are the same
bytes. It has no rules and no steps: these the model has learned from examples. After Kartáč,
Lango and Dušek (2025), "OpeNLGauge: An Explainable Metric for NLG Evaluation with Open-Weights
LLMs", arXiv:2503.11858. All sentences are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.annotator_answers import errors_text, stated_in
from judgesmith.programs.forms.model_form import VERBATIM, ModelForm, register_form
from judgesmith.signatures.annotating import MOST_ERRORS
from judgesmith.signatures.judgement import ErrorSpan
from judgesmith.signatures.scale import PERCENT

_LAYOUT = """List the errors of an output in one respect, then grade it in that respect.

## Task
{task}

## Respect
{criterion}

## Input
{source}

## Further material
{context}

## Output
{response}

## Answer
List <most> errors at most, each with the words of the output that are wrong, a severity from 1 to
5 and an explanation. Then give an overall score, a whole number from 0 (worst) to 100 (best).
"""
_ANSWER = "Errors:\n{errors}\n\nOverall score: {score}"


def answer_in_form(errors: Sequence[ErrorSpan], score: int) -> str:
    r"""Return the answer that a model is to learn, as this form reads it.

    Parameters
    ----------
    errors : sequence of ErrorSpan
        All with a severity, in the order in which they are to be named.
    score : int
        0 to 100.

    Raises
    ------
    ValueError
        If an error has no severity.

    Examples
    --------
    >>> one = ErrorSpan(text="in 1998", start=0, end=7, severity=4, explanation="It was 1989.")
    >>> answer_in_form([one], 75).splitlines()[1:4]
    ['1. Location: "in 1998"', '   Severity: 4', '   Explanation: It was 1989.']
    >>> answer_in_form([], 100)
    'Errors:\nNo Error\n\nOverall score: 100'
    """
    lines = []
    for number, one in enumerate(errors, start=1):
        if one.severity is None:
            raise InputError(f"error {number} has no severity; leave the example out.")
        place = "none" if one.start is None else f'"{_line(one.text)}"'
        lines.append(f"{number}. Location: {place}")
        lines.append(f"   Severity: {int(one.severity + 0.5)}")
        lines.append(f"   Explanation: {_line(one.explanation)}")
    listed = "\n".join(lines) or "No Error"
    return _ANSWER.format(errors=listed, score=score)


def _line(text: str) -> str:
    return " ".join(text.split())


def _read(answer: str) -> dict[str, Any]:
    found = stated_in(answer, PERCENT)
    return {"errors": errors_text(found.errors), "score": found.score}


DISTILLED = register_form(
    ModelForm(
        name="distilled",
        instructions=f"You point at the errors of texts, and grade them. {VERBATIM}",
        layout=_LAYOUT.replace("<most>", str(MOST_ERRORS)),
        answer=_ANSWER,
        outside=frozenset({"source", "context", "response"}),
        outputs={"errors": "text", "score": "points"},
        answers=PERCENT,
        read=_read,
    )
)

"""The form of annotators: errors with place, reason and severity, then an overall score.

Plain text is asked for, because a strict syntax takes attention from the errors. After Kartáč,
Lango and Dušek (2025), "OpeNLGauge: An Explainable Metric for NLG Evaluation with Open-Weights
LLMs", arXiv:2503.11858. All sentences are ours. There is a form for each choice of what is shown
beside the response, in words and in numbers.
"""

from __future__ import annotations

import functools
from typing import Any

from judgesmith.programs.annotator_answers import stated_in
from judgesmith.programs.annotator_stated import errors_text
from judgesmith.programs.forms.model_form import VERBATIM, ModelForm, register_form
from judgesmith.signatures.annotating import LEVELS, MOST_ERRORS, POINTS, SHOWN, Shown
from judgesmith.signatures.scale import Scale

_BESIDE: dict[Shown, str] = {
    "source+context": """
## Source
{source}

## Further material
{context}
""",
    "source": """
## Source
{source}
""",
    "response": "",
}
_FIRST: dict[Shown, str] = {
    "source+context": "Read source and further material, then the response, and compare them.",
    "source": "Read the source, then the response, and compare them.",
    "response": "Read the response. You are shown nothing else, and need nothing else.",
}
_LAYOUT = """Find the errors of a response in one respect, and say how good it is in that respect.

## The task
{task}

## The respect
{criterion}

## How to proceed
1. <first>
2. Find every stretch of the response that is wrong in this respect. Say why, and how severe it is.
3. Give the response an overall score in this respect, for all of its errors together.
{rules}
<beside>
## Response
{response}

## Your answer
In plain text, in this form, with the errors in the order of the response. Name <most> errors at
most, the most severe. Where there is none, "Errors: No Error" stands in place of the list.

Errors:
1. Location: "the words that are wrong, copied from the response letter by letter; none if \
something is missing"
   Explanation: why they are wrong, in one or two sentences
   Severity: {grades}
2. Location: …

Score explanation: what decided the score, in one or two sentences
Overall score: <levels>
"""
_ANSWER = "Errors:\n{errors}\n\nScore explanation: {explanation}\nOverall score: {score}"


def form_for(shown: Shown, answers: Scale) -> str:
    """Return the name of the form that shows some texts and asks for some scale.

    Examples
    --------
    >>> form_for("source", POINTS)
    'annotator-source-points'
    """
    return f"annotator-{shown}-{'words' if answers.labels else 'points'}"


def _read(answer: str, *, answers: Scale) -> dict[str, Any]:
    found = stated_in(answer, answers)
    return {
        "errors": errors_text(found.errors),
        "explanation": found.explanation,
        "score": found.score,
    }


def _form(shown: Shown, answers: Scale) -> ModelForm:
    layout = _LAYOUT.replace("<first>", _FIRST[shown]).replace("<beside>", _BESIDE[shown])
    levels = ", ".join(answers.labels) or f"a whole number from {answers.low:g} to {answers.high:g}"
    outside = {"response": (), "source": ("source",), "source+context": ("source", "context")}
    return ModelForm(
        name=form_for(shown, answers),
        instructions="You look for errors in texts that were written to some task. You are exact: "
        f"what you call wrong can be found in the text, word for word. {VERBATIM}",
        layout=layout.replace("<most>", str(MOST_ERRORS)).replace("<levels>", levels),
        answer=_ANSWER,
        outside=frozenset(("response", *outside[shown])),
        outputs={"errors": "text", "explanation": "text", "score": "points"},
        answers=answers,
        read=functools.partial(_read, answers=answers),
    )


ANNOTATORS = tuple(
    register_form(_form(shown, answers)) for shown in SHOWN for answers in (LEVELS, POINTS)
)
"""All of them."""

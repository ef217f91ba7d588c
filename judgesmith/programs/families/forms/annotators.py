"""The forms of annotators: errors with place, reason and severity, then an overall score."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.families.steps.annotator_answers import errors_text, stated_in
from judgesmith.programs.judging.prompts import VERBATIM, ModelForm, register_form
from judgesmith.signatures.family_configs import LEVELS, MOST_ERRORS, POINTS, SHOWN, Shown
from judgesmith.signatures.judgement import ErrorSpan
from judgesmith.signatures.scale import PERCENT, Scale

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
<answer>"""
_IN_JSON = """\
One JSON object and nothing else, in this form, with the errors in the order of the response. Name
<most> errors at most, the most severe. Where there is none, the list is empty: [].

{"errors": [
  {"location": "the words that are wrong, copied from the response letter by letter; null if \
something is missing",
   "explanation": "why they are wrong, in one or two sentences",
   "severity": {grades}},
  …],
 "explanation": "what decided the score, in one or two sentences",
 "overall_score": <levels>}
"""
_IN_LINES = """\
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
_ANSWER_IN_JSON = '{"errors": {errors},\n "explanation": {explanation},\n "overall_score": {score}}'
_ANSWER_IN_LINES = "Errors:\n{errors}\n\nScore explanation: {explanation}\nOverall score: {score}"


def form_for(shown: Shown, answers: Scale) -> str:
    """Return the name of the form that shows some texts and asks for some scale."""
    return f"annotator-{shown}-{'words' if answers.labels else 'points'}"


def _read(answer: str, *, answers: Scale) -> dict[str, Any]:
    found = stated_in(answer, answers)
    return {
        "errors": errors_text(found.errors),
        "explanation": found.explanation,
        "score": found.score,
    }


def _form(shown: Shown, answers: Scale, *, in_lines: bool) -> ModelForm:
    levels = ", ".join(answers.labels) or f"a whole number from {answers.low:g} to {answers.high:g}"
    if answers.labels and not in_lines:
        levels = f'"one of {levels}"'
    layout = _LAYOUT.replace("<first>", _FIRST[shown]).replace("<beside>", _BESIDE[shown])
    layout = layout.replace("<answer>", _IN_LINES if in_lines else _IN_JSON)
    outside = {"response": (), "source": ("source",), "source+context": ("source", "context")}
    return ModelForm(
        name=form_for(shown, answers) + ("-plain" if in_lines else ""),
        instructions="You look for errors in texts that were written to some task. You are exact: "
        f"what you call wrong can be found in the text, word for word. {VERBATIM}",
        layout=layout.replace("<most>", str(MOST_ERRORS)).replace("<levels>", levels),
        answer=_ANSWER_IN_LINES if in_lines else _ANSWER_IN_JSON,
        outside=frozenset(("response", *outside[shown])),
        outputs={"errors": "text", "explanation": "text", "score": "points"},
        answers=answers,
        read=functools.partial(_read, answers=answers),
    )


ANNOTATORS = tuple(
    register_form(_form(shown, answers, in_lines=False))
    for shown in SHOWN
    for answers in (LEVELS, POINTS)
)
"""All of them. A saved judge that asks for plain text is read by the one of the same name."""

for _shown in SHOWN:
    for _answers in (LEVELS, POINTS):
        # By which the offline model knows the questions of judges that ask for plain text.
        register_form(_form(_shown, _answers, in_lines=True))


_DISTILLED_LAYOUT = """List the errors of an output in one respect, then grade it in that respect.

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
_DISTILLED_ANSWER = "Errors:\n{errors}\n\nOverall score: {score}"


def answer_in_form(errors: Sequence[ErrorSpan], score: int) -> str:
    r"""Return the answer that a model is to learn, as this form reads it."""
    lines = []
    for number, one in enumerate(errors, start=1):
        if one.severity is None:
            raise InputError(f"error {number} has no severity; leave the example out.")
        place = "none" if one.start is None else f'"{_line(one.text)}"'
        lines.append(f"{number}. Location: {place}")
        lines.append(f"   Severity: {int(one.severity + 0.5)}")
        lines.append(f"   Explanation: {_line(one.explanation)}")
    listed = "\n".join(lines) or "No Error"
    return _DISTILLED_ANSWER.format(errors=listed, score=score)


def _line(text: str) -> str:
    return " ".join(text.split())


def _read_distilled(answer: str) -> dict[str, Any]:
    found = stated_in(answer, PERCENT)
    return {"errors": errors_text(found.errors), "score": found.score}


DISTILLED = register_form(
    ModelForm(
        name="distilled",
        instructions=f"You point at the errors of texts, and grade them. {VERBATIM}",
        layout=_DISTILLED_LAYOUT.replace("<most>", str(MOST_ERRORS)),
        answer=_DISTILLED_ANSWER,
        outside=frozenset({"source", "context", "response"}),
        outputs={"errors": "text", "score": "points"},
        answers=PERCENT,
        read=_read_distilled,
    )
)

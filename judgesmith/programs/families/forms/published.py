"""The prompt formats of published judge models, and how their results are read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.judging.answers import read_record
from judgesmith.programs.judging.prompts import (
    VERBATIM,
    PromptFormat,
    criterion_line,
    register_prompt_format,
)
from judgesmith.signatures.rubric import Criterion
from judgesmith.signatures.scale import Scale, read_points

_OPENING = re.compile(r"\A[\s#*_]*+feedback\s*+:[*_]*+\s*", re.IGNORECASE)
_ENDING = re.compile(r"(?:\s|</s>|<\|\w+\|>)+\Z")
_HEADING = re.compile(r"^\s*(?:#{2,}|\[(?:BEGIN DATA|Query|INST)\])", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS = ("feedback", "analysis", "critique", "explanation")
_AROUND = " \t\r\n*_`\"'()[]<>.:"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultMark:
    """The mark between the explanation of an answer and its result."""

    name: str
    pattern: re.Pattern[str]
    closing: str = ""


RESULT = ResultMark(name="[RESULT]", pattern=re.compile(r"\[\s*+RESULT\s*+\]", re.IGNORECASE))
"""The mark of Prometheus."""


def read_scored(answer: str, scale: Scale, mark: ResultMark = RESULT) -> tuple[str, int]:
    """Return the words of an answer and its score, in whole points of ``scale``."""
    if not mark.pattern.search(answer) and (found := _in_json(answer, scale)):
        return found
    words, said = _parted(answer, mark)
    try:
        points = read_points(said, scale)
    except ValueError:
        points = None
    if points is None or not points.is_integer():
        raise InputError(
            f"expected a whole number from {scale.low:g} to {scale.high:g} after {mark.name}; got "
            f"{said[:80]!r}."
        )
    if not scale.low <= points <= scale.high:
        raise InputError(f"the model answered {points:g}, outside {scale}.")
    return words, int(points)


def _in_json(answer: str, scale: Scale) -> tuple[str, int] | None:
    """Return words and score of the one JSON object of an answer; None where it lacks one."""
    for words in _WORDS:
        for score in ("score", "rating"):
            found = read_record(answer, {words: str, score: int}, scale)
            if found is not None:
                points = found[score]
                if points != int(points) or not scale.low <= points <= scale.high:
                    raise InputError(f"the model answered {points:g}, outside {scale}.")
                return found[words], int(points)
    return None


def _parted(answer: str, mark: ResultMark) -> tuple[str, str]:
    text = _OPENING.sub("", _SURROGATE.sub("\ufffd", answer))
    text = _ENDING.sub("", text)
    marks = list(mark.pattern.finditer(text))
    if not marks:
        raise InputError(f"there is no {mark.name} in it: {text[:80]!r}.")
    if len(marks) > 1 and _HEADING.search(text, marks[0].end()):
        raise InputError("it continues with another question after its result.")
    said = text[marks[-1].end() :].strip()
    if mark.closing:
        said, closing, rest = said.partition(mark.closing)
        if not closing or rest.strip(_AROUND):
            raise InputError(
                f"expected {mark.closing} after the number, and nothing more; got "
                f"{(said + closing + rest)[:80]!r}."
            )
    return text[: marks[-1].start()].strip(), said.strip()


FIVE = Scale(low=1, high=5)

_LEVELS = (
    "it is not met at all",
    "it is met in few respects",
    "it is met in part",
    "it is met but for small faults",
    "it is met in full",
)


def rubric_text(criterion: Criterion) -> str:
    said = [" ".join(criterion.worst.split()), "", "", "", " ".join(criterion.best.split())]
    levels = [own or usual for own, usual in zip(said, _LEVELS, strict=True)]
    lines = [f"Score {points}: {text}" for points, text in enumerate(levels, start=1)]
    return "\n".join([f"[{criterion_line(criterion)}]", *lines])


def _scored(answer: str) -> dict[str, Any]:
    words, score = read_scored(answer, FIVE)
    return {"explanation": words, "score": score}


ABSOLUTE = register_prompt_format(
    PromptFormat(
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

_RATING = ResultMark(
    name="Rating:",
    pattern=re.compile(r"^[ \t*_]*+rating[ \t*_]*+[:：]", re.IGNORECASE | re.MULTILINE),
)


def _read(answer: str) -> dict[str, Any]:
    words, score = read_scored(answer, FIVE, _RATING)
    return {"explanation": words, "score": score}


THEMIS = register_prompt_format(
    PromptFormat(
        name="themis",
        instructions=f"You know what makes texts good or bad, and judge one by what you are told "
        f"alone. {VERBATIM}",
        layout="""###Instruction###
{task}
Judge the response below by the one criterion that follows, whatever else is good or bad in it.
Say in a few sentences what in the response bears on the criterion. Then end with a line that has
nothing but "Rating:" and a whole number: 1 where the criterion is not met at all, 5 where it is
met in full.

###Evaluation Criterion###
{criterion}

###Example###
Source:
{source}

Further material:
{context}

Response:
{response}

###Your Evaluation###
""",
        answer="{explanation}\nRating: {score}",
        outside=frozenset({"source", "context", "response"}),
        outputs={"explanation": "text", "score": "points"},
        answers=FIVE,
        read=_read,
    )
)


TEN = Scale(low=1, high=10)

_AUTO_J_RATING = ResultMark(
    name="Rating: [[",
    pattern=re.compile(
        r"[*_]{0,3}(?:\b(?:final|overall)\s++)?\brating[ \t*_]*+[:：][\s*_]*+\[\[", re.IGNORECASE
    ),
    closing="]]",
)


def _read_auto_j(answer: str) -> dict[str, Any]:
    words, score = read_scored(answer, TEN, _AUTO_J_RATING)
    return {"explanation": words, "score": score}


SINGLE = register_prompt_format(
    PromptFormat(
        name="auto-j-single",
        instructions=f"You say what is good and what is bad about a response, and grade it. "
        f"{VERBATIM}",
        layout="""A query and a response to it:

[BEGIN DATA]
***
[Query]: {task}

{source}

Further material:
{context}
***
[Response]: {response}
***
[END DATA]

What counts about the response:
{criterion}

Criticise the response by that. Close with a grade from 1, the worst, to 10, the best: a whole
number between double brackets, as in "Rating: [[7]]".""",
        answer="{explanation} Rating: [[{score}]]",
        outside=frozenset({"source", "context", "response"}),
        outputs={"explanation": "text", "score": "points"},
        answers=TEN,
        read=_read_auto_j,
    )
)

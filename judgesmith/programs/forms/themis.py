"""The form of Themis: one criterion, an analysis, and a rating from 1 to 5 on the last line.

Labels and the end of an answer are those that the model was trained on. Source: Hu et al. (2024),
"Themis: A Reference-free NLG Evaluation Language Model with Flexibility and Interpretability",
EMNLP, arXiv:2406.18365. All sentences are ours.
"""

from __future__ import annotations

import re
from typing import Any

from judgesmith.programs.forms.marked_results import ResultMark, read_scored
from judgesmith.programs.forms.model_form import VERBATIM, ModelForm, register_form
from judgesmith.signatures.scale import Scale

FIVE = Scale(low=1, high=5)

_RATING = ResultMark(
    name="Rating:",
    pattern=re.compile(r"^[ \t*_]*+rating[ \t*_]*+[:：]", re.IGNORECASE | re.MULTILINE),
)


def _read(answer: str) -> dict[str, Any]:
    words, score = read_scored(answer, FIVE, _RATING)
    return {"explanation": words, "score": score}


THEMIS = register_form(
    ModelForm(
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

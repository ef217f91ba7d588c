"""The GPTScore judge: the likelihood of the response, token by token.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from statistics import fmean
from typing import Any, Literal

from judgesmith.programs.judging.program import PromptRequest, RequestProgram, asked
from judgesmith.programs.judging.prompts import QuestionForm, Slot, Template, Turn
from judgesmith.programs.judging.registry import JudgeFamily
from judgesmith.programs.judging.scoring import (
    Answer,
    Asking,
    Once,
    criteria_text,
    each_scored,
    per_sample,
    place_of,
    whole_or_each,
)
from judgesmith.signatures.config import WholeOrEachConfig
from judgesmith.signatures.judgement import CriterionScore, Judgement, Reason
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Space, asks_choices


class GPTScoreConfig(WholeOrEachConfig):
    """The configuration of a GPTScore judge."""

    judge: Literal["gptscore"] = "gptscore"
    asks: Literal["overall", "criteria"] = "overall"
    samples: Literal[1] = 1
    weighting: Literal["none"] = "none"

    @property
    def own_score(self) -> str:
        by_criterion = " after each criterion, on average" if self.scores_criteria else ""
        return f"the likelihood of the response, by token{by_criterion}"


_FORM = QuestionForm(texts=("source", "context"), outputs=({},))
_OPENING = (
    "What follows are the notes for a piece of writing, and then the piece itself, which does what "
    "the notes ask for as well as anybody could. What stands between verbatim tags is material."
)


def gptscore_forms(protocol: GPTScoreConfig) -> dict[str, QuestionForm]:
    """Return the prompts after which the response is read: one, or one for each criterion."""
    return whole_or_each(protocol, _FORM, whole="likely", each="likely")


def gptscore_inputs(protocol: GPTScoreConfig, question: str) -> dict[str, str]:
    """Return task and criteria as far as a prompt names them."""
    rubric = protocol.rubric
    fixed = {"task": rubric.task} if rubric.task else {}
    lines = criteria_text(rubric)
    place = place_of(question)
    if place is not None:
        return {**fixed, "criteria": lines.split("\n")[place]}
    return {**fixed, "criteria": lines} if rubric.criteria else fixed


def gptscore_template(protocol: GPTScoreConfig, question: str) -> Template:
    """Return a prompt, rendered up to the item; it ends where the response begins."""
    told = gptscore_inputs(protocol, question)
    before = f"About: {told['task']}\n\n" if "task" in told else ""
    if "criteria" in told:
        before += f"What it is to be, by name and meaning:\n{told['criteria']}\n\n"
    return Template(
        predictor=question,
        turns=(Turn(role="system", text=_OPENING),),
        question=(
            f"{before}Source:\n",
            Slot(name="source", fenced=True),
            "\n\nFurther material:\n",
            Slot(name="context", fenced=True),
            "\n\nThe piece itself:\n",
        ),
        outputs={},
        answers=protocol.answers,
    )


@per_sample
def gptscore_steps(protocol: GPTScoreConfig, asking: Asking) -> Once:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement."""
    if not asking.texts["response"]:
        return Judgement.unscored(
            "an empty response has no tokens, and so no likelihood", reason=Reason.UNSUITABLE
        )

    def ask(part: Asking, question: str, about: str) -> RequestProgram[Answer]:
        return _likelihood(part, question)

    return (yield from each_scored(protocol, asking, gptscore_forms(protocol), ask))


def score_of(logprobs: Sequence[float]) -> CriterionScore:
    """Return the score that log-probabilities make, and their mean in words."""
    mean = fmean(logprobs)
    n = len(logprobs)
    words = f"mean log-probability {mean:.4f} of {n} token{'s' * (n > 1)}"
    return CriterionScore(score=100 * exp(mean), explanation=words)


def _likelihood(asking: Asking, question: str) -> RequestProgram[Answer]:
    texts = asking.texts
    ask = PromptRequest(
        predictor=question,
        inputs={"source": texts["source"], "context": texts["context"]},
        continuation=texts["response"],
    )

    def read(fields: Mapping[str, Any]) -> CriterionScore:
        return score_of(fields["logprobs"])

    return asked(ask, read, again=asking.again, calls=asking.calls)


def gptscore_space(protocol: GPTScoreConfig, rubrics: Mapping[str, Rubric] | None = None) -> Space:
    return Space(choices=asks_choices(protocol, rubrics))


GPTSCORE = JudgeFamily(
    name="gptscore",
    about="scores by how likely the model finds the response, token by token",
    protocol=GPTScoreConfig,
    forms=gptscore_forms,
    steps=gptscore_steps,
    inputs=gptscore_inputs,
    space=gptscore_space,
    judge="judgesmith.programs.families.modules:GPTScoreJudge",
    scores_texts=True,
)

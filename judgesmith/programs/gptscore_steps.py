"""The steps of a judge by likelihood: how likely the model finds the response, token by token.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from statistics import fmean
from typing import Any

from judgesmith.programs.critic_questions import criteria_text
from judgesmith.programs.judging import AnySteps, Ask, Steps, asked
from judgesmith.programs.question_forms import QuestionForm
from judgesmith.programs.sampled_steps import Asking, Once, sampled_steps
from judgesmith.programs.templates import Slot, Template, Turn
from judgesmith.programs.whole_or_each import Answer, each_scored, place_of, whole_or_each
from judgesmith.signatures.gptscore import GPTScoreProtocol
from judgesmith.signatures.judgement import CriterionScore, Judgement

_FORM = QuestionForm(texts=("source", "context"), outputs=({},))
_OPENING = (
    "What follows are the notes for a piece of writing, and then the piece itself, which does what "
    "the notes ask for as well as anybody could. What stands between verbatim tags is material."
)


def gptscore_forms(protocol: GPTScoreProtocol) -> dict[str, QuestionForm]:
    """Return the prompts after which the response is read: one, or one for each criterion.

    Examples
    --------
    >>> list(gptscore_forms(GPTScoreProtocol()))
    ['likely']
    >>> rubric = {"criteria": {"brevity": "Short?", "wit": "Funny?"}}
    >>> list(gptscore_forms(GPTScoreProtocol(asks="criteria", rubric=rubric)))
    ['likely_1', 'likely_2']
    """
    return whole_or_each(protocol, _FORM, whole="likely", each="likely")


def gptscore_inputs(protocol: GPTScoreProtocol, question: str) -> dict[str, str]:
    """Return task and criteria as far as a prompt names them."""
    rubric = protocol.rubric
    fixed = {"task": rubric.task} if rubric.task else {}
    lines = criteria_text(rubric)
    place = place_of(question)
    if place is not None:
        return {**fixed, "criteria": lines.split("\n")[place]}
    return {**fixed, "criteria": lines} if rubric.criteria else fixed


def gptscore_template(protocol: GPTScoreProtocol, question: str) -> Template:
    """Return a prompt, rendered up to the item; it ends where the response begins.

    Examples
    --------
    >>> print(gptscore_template(GPTScoreProtocol(rubric={"task": "Sum it up."}), "likely")
    ...     .as_text().partition("USER")[2].lstrip())
    About: Sum it up.
    <BLANKLINE>
    Source:
    {source}
    <BLANKLINE>
    Further material:
    {context}
    <BLANKLINE>
    The piece itself:
    <BLANKLINE>
    """
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


def gptscore_steps(
    protocol: GPTScoreProtocol, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement.

    A score is 100 times the geometric mean of the probabilities of the response's tokens, which is
    100·exp of their mean log-probability: from 0 to 100, and in the same order as that mean.

    Raises
    ------
    TypeError
        At the first step, if source or response is no text.

    References
    ----------
    Fu et al. (2024), "GPTScore: Evaluate as You Desire", NAACL, equation 1 with equal weights.
    arXiv:2302.04166.
    """

    def once(asking: Asking) -> Once:
        if not response:
            return Judgement.unscored("an empty response has no tokens, and so no likelihood")

        def ask(part: Asking, question: str, about: str) -> AnySteps[Answer]:
            return _likelihood(part, question)

        return (yield from each_scored(protocol, asking, gptscore_forms(protocol), ask))

    return sampled_steps(protocol, once, source=source, response=response, context=context)


def score_of(logprobs: Sequence[float]) -> CriterionScore:
    """Return the score that log-probabilities make, and their mean in words.

    Examples
    --------
    >>> score_of([-0.5, -1.5])
    CriterionScore(score=36.7879441171..., explanation='mean log-probability -1.0000 of 2 tokens')
    """
    mean = fmean(logprobs)
    n = len(logprobs)
    words = f"mean log-probability {mean:.4f} of {n} token{'s' * (n > 1)}"
    return CriterionScore(score=100 * exp(mean), explanation=words)


def _likelihood(asking: Asking, question: str) -> AnySteps[Answer]:
    texts = asking.texts
    ask = Ask(
        predictor=question,
        inputs={"source": texts["source"], "context": texts["context"]},
        continuation=texts["response"],
    )

    def read(fields: Mapping[str, Any]) -> CriterionScore:
        return score_of(fields["logprobs"])

    return asked(ask, read, again=asking.again, calls=asking.calls)

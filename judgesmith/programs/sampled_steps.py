"""What the judgements of most families have in common: samples, readable scores, one aggregation.

A family says in one function what it asks for one sample; the rest is here, free of DSPy.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeVar

from judgesmith.programs.aggregating import aggregate
from judgesmith.programs.judging import Ask, Calls, Reply, Steps, asked
from judgesmith.programs.templates import LEFT_OUT
from judgesmith.signatures.answer_scale import percent_of
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.judgement import CriterionScore, Judgement
from judgesmith.signatures.scale import Scale

Text = str | None
Value = TypeVar("Value")

Once = Generator[Ask, Reply, Judgement]
"""The judgement of one sample under way."""


def sampled_steps(
    protocol: JudgeProtocol,
    once: Callable[[Asking], Once],
    *,
    source: str,
    response: str,
    context: str | None = None,
) -> Steps:
    """Judge one response as often as ``protocol`` says, and make one judgement of it.

    Parameters
    ----------
    protocol : JudgeProtocol
        How many samples, and how the numbers become the score.
    once : callable
        Takes an ``Asking`` and returns the steps of one sample.
    source, response, context : str
        The item.

    Raises
    ------
    TypeError
        At the first step, if source or response is no text.
    """
    for name, text in (("source", source), ("response", response), ("context", context or "")):
        if not isinstance(text, str):
            raise TypeError(f"{name} must be a text; got {type(text).__name__}.")
        try:
            text.encode()
        except UnicodeEncodeError:
            return Judgement.unscored(
                f"the {name} holds half of a character (a lone surrogate), which no model can "
                "receive"
            )
    calls = Calls()
    texts: dict[str, Text] = {"source": source, "context": context, "response": response}
    found: list[Judgement] = []
    for sample in range(protocol.samples):
        asking = Asking(texts, sample=sample, again=protocol.samples + sample, calls=calls)
        found.append((yield from once(asking)))
    judgement = averaged(found, tuple(calls.made))
    return aggregate(protocol.aggregation, judgement, source, context, response)


@dataclass(frozen=True, slots=True)
class Asking:
    """How the questions about one item are asked, for one sample."""

    texts: Mapping[str, Text]
    sample: int
    again: int
    calls: Calls

    def of(
        self, question: str, read: Callable[[Mapping[str, Any]], Value], **more: str
    ) -> Generator[Ask, Reply, Value | str]:
        """Ask one question, and once more where the answer is of no use."""
        ask = Ask(predictor=question, inputs={**self.texts, **more}, sample=self.sample)
        return asked(ask, read, again=self.again, calls=self.calls)


def score_on(answers: Scale) -> Callable[[Mapping[str, Any]], CriterionScore]:
    """Return what reads one score, and its explanation if there is one, from an answer."""

    def read(fields: Mapping[str, Any]) -> CriterionScore:
        return CriterionScore(
            score=percent_of(fields["score"], answers),
            explanation=said(fields.get("explanation")),
        )

    return read


def said(explanation: Any) -> str:
    """Return an explanation; none where a model repeats that an example lacks one."""
    text = str(explanation or "")
    return "" if text.strip() == LEFT_OUT else text


def averaged(found: Sequence[Judgement], calls: tuple[str, ...]) -> Judgement:
    """Return the judgement that several samples make; words are those of the first with a score."""
    scored = [one for one in found if one.score is not None]
    if not scored:
        return found[0].model_copy(update={"calls": calls})
    if len(scored) == 1:
        return scored[0].model_copy(update={"calls": calls})
    raw = fmean(one.raw for one in scored if one.raw is not None)
    criteria = {}
    for name in scored[0].criteria:
        several = [one.criteria[name] for one in scored]
        given = [one for one in several if one.score is not None]
        points = [one.score for one in given if one.score is not None]
        criteria[name] = CriterionScore(
            score=fmean(points) if points else None, explanation=(given or several)[0].explanation
        )
    update = {"score": raw, "raw": raw, "criteria": criteria, "calls": calls}
    return scored[0].model_copy(update=update)

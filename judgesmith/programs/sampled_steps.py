"""What the judgements of most families have in common: samples, readable scores, one aggregation.

A family says in one function what it asks for one sample; the rest is here, free of DSPy.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median, multimode
from typing import Any, Literal, TypeVar

from judgesmith.programs.aggregating import aggregate
from judgesmith.programs.answer_probabilities import AnswerProbabilities
from judgesmith.programs.judging import AnySteps, Ask, Calls, ProbabilitiesOf, Reply, Steps, asked
from judgesmith.programs.templates import LEFT_OUT
from judgesmith.programs.together import together
from judgesmith.programs.weighing import OVERALL, criterion_term, joined_weighting, weighed
from judgesmith.signatures.answer_scale import levels_of, percent_of
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.judgement import CriterionScore, Judgement
from judgesmith.signatures.scale import Scale

Text = str | None
Value = TypeVar("Value")

Once = AnySteps[Judgement]
"""The judgement of one sample under way."""


def sampled_steps(
    protocol: JudgeProtocol,
    once: Callable[[Asking], Once],
    *,
    source: str,
    response: str,
    context: str | None = None,
    enough: Callable[[], bool] | None = None,
) -> Steps:
    """Judge one response as often as ``protocol`` says, and make one judgement of it.

    Samples are taken side by side, but for the first where it may be ``enough``.

    Parameters
    ----------
    protocol : JudgeProtocol
        How many samples, and how the numbers become the score.
    once : callable
        Takes an ``Asking`` and returns the steps of one sample.
    source, response, context : str
        The item.
    enough : callable or None
        Says after the first sample whether further ones could add nothing; None never does.

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
    texts: dict[str, Text] = {"source": source, "context": context, "response": response}
    levels = levels_of(protocol.answers) if protocol.weighting == "probabilities" else {}
    samples = [
        Asking(texts, sample=sample, again=protocol.samples + sample, calls=Calls(), levels=levels)
        for sample in range(protocol.samples)
    ]
    alone = len(samples) if enough is None else 1
    found = yield from together([_weighed_once(protocol, once, one) for one in samples[:alone]])
    if enough is not None and not enough():
        others = [_weighed_once(protocol, once, one) for one in samples[alone:]]
        found += yield from together(others)
    calls = tuple(call for one in samples for call in one.calls.made)
    asks_whole = any(OVERALL in one.asked_about for one in samples)
    judgement = reduced(found, calls, protocol.reduction, asks_whole=asks_whole)
    return aggregate(protocol.aggregation, judgement, source, context, response)


def _weighed_once(protocol: JudgeProtocol, once: Callable[[Asking], Once], asking: Asking) -> Once:
    judgement = yield from once(asking)
    if asking.levels:
        judgement = weighed(judgement, asking.probabilities, protocol.answers)
    return judgement


@dataclass(frozen=True, slots=True)
class Asking:
    """How the questions about one item are asked, for one sample.

    Attributes
    ----------
    texts : dict of str to str or None
        The item.
    sample, again : int
        Numbers of the first and the second attempt at each question.
    calls : Calls
        Where the calls are remembered.
    levels : dict of str to float
        The levels whose probabilities are wanted with each score; empty where none are.
    probabilities : dict of str to AnswerProbabilities
        Those that came, by ``overall`` and ``criterion:NAME``.
    asked_about : set of str
        What was asked for a score by itself: without ``overall`` that is the mean of the criteria.
    """

    texts: Mapping[str, Text]
    sample: int
    again: int
    calls: Calls
    levels: Mapping[str, float] = field(default_factory=dict)
    probabilities: dict[str, AnswerProbabilities] = field(default_factory=dict)
    asked_about: set[str] = field(default_factory=set)

    def of(
        self,
        question: str,
        read: Callable[[Mapping[str, Any]], Value],
        *,
        about: str = OVERALL,
        records: Sequence[str] = (),
        **more: str,
    ) -> Generator[Ask, Reply, Value | str]:
        """Ask one question for scores, and once more where the answer is of no use.

        Parameters
        ----------
        question : str
            The predictor.
        read : callable
            Takes the fields and returns a value, or raises ValueError with a sentence why not.
        about : str
            What the one score is of: ``overall``, or ``criterion:NAME``.
        records : sequence of str
            The criteria of an answer with several scores, of which ``read`` keeps the
            probabilities itself.
        **more
            Inputs beside the item's texts.
        """
        wanted = None
        if self.levels:
            field = "assessments" if records else "score"
            levels = tuple(self.levels)
            wanted = ProbabilitiesOf(field=field, answers=levels, records=tuple(records))
        if not records:
            self.asked_about.add(about)
        inputs = {**self.texts, **more}
        ask = Ask(predictor=question, inputs=inputs, sample=self.sample, probabilities=wanted)

        def reading(fields: Mapping[str, Any]) -> Value:
            value = read(fields)
            if not records:
                self.keep({"score": about})
            return value

        return asked(ask, reading, again=self.again, calls=self.calls)

    def each(self, courses: Sequence[Callable[[Asking], AnySteps[Value]]]) -> AnySteps[list[Value]]:
        """Take courses of questions side by side, and remember their calls course by course."""
        parts = [replace(self, calls=Calls()) for _ in courses]
        found = yield from together(
            [course(part) for course, part in zip(courses, parts, strict=True)]
        )
        for part in parts:
            self.calls.made.extend(part.calls.made)
        return found

    def keep(self, terms: Mapping[str, str]) -> None:
        """Keep the probabilities in the reply that is being read, by what their scores are of."""
        found = {} if self.calls.latest is None else self.calls.latest.probabilities
        self.probabilities.update({of: found[name] for name, of in terms.items() if name in found})


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


Reduction = Literal["mean", "median", "mode"]


def reduced(
    found: Sequence[Judgement],
    calls: tuple[str, ...],
    reduction: Reduction = "mean",
    *,
    asks_whole: bool = True,
) -> Judgement:
    """Return the judgement that several samples make.

    Words and errors are those of the sample nearest to the score, and of a criterion those of the
    sample nearest to its score, so that they speak of what the numbers say. Samples whose list of
    errors contradicts the score, as an empty one does where it is not the best, stand behind.
    The score of a judge that does not ask for one of the whole stays the mean of the criteria,
    after these were reduced.
    """
    scored = [one for one in found if one.score is not None]
    if not scored:
        return found[0].model_copy(update={"calls": calls})
    if len(scored) == 1:
        return scored[0].model_copy(update={"calls": calls})
    raw = one_of([one.raw for one in scored if one.raw is not None], reduction)
    criteria = {}
    chosen: dict[str, Judgement] = {}
    for name in scored[0].criteria:
        several = [one.criteria[name] for one in scored]
        points = [one.score for one in several if one.score is not None]
        score = one_of(points, reduction) if points else None
        lists = [any(error.criterion == name for error in one.errors) for one in scored]
        place = _nearest([one.score for one in several], score, lists)
        chosen[name] = scored[place]
        criteria[name] = CriterionScore(score=score, explanation=several[place].explanation)
    reduced_criteria = [one.score for one in criteria.values() if one.score is not None]
    if reduction != "mean" and reduced_criteria and not asks_whole:
        raw = fmean(reduced_criteria)
    how = joined_weighting([one.weighting for one in scored], lambda n: one_of(n, reduction))
    whole = scored[_nearest([one.raw for one in scored], raw, [bool(one.errors) for one in scored])]
    by_term = {"": whole, **{criterion_term(name): one for name, one in chosen.items()}}
    update = {
        "score": raw,
        "raw": raw,
        "criteria": criteria,
        "calls": calls,
        "weighting": how,
        "errors": tuple(
            error
            for term, one in by_term.items()
            for error in one.errors
            if (criterion_term(error.criterion) if error.criterion in chosen else "") == term
        ),
        "notes": tuple(
            note
            for term, one in by_term.items()
            for note in one.notes
            if (note.about if note.about in by_term else "") == term
        ),
    }
    return whole.model_copy(update=update)


_BEST = 100.0


def _nearest(scores: Sequence[float | None], score: float | None, errors: Sequence[bool]) -> int:
    """Return which of several scores is nearest to one, the worst of equals; 0 without any.

    Samples that have errors where the score is below the best, and none where it is the best,
    come before the others.
    """
    if score is None:
        return 0

    def distance(place: int) -> tuple[bool, float, float]:
        own = scores[place]
        assert own is not None
        return errors[place] != (score < _BEST), round(abs(own - score), 9), own

    given = [place for place, one in enumerate(scores) if one is not None]
    return min(given, key=distance) if given else 0


def one_of(scores: Sequence[float], reduction: Reduction) -> float:
    """Return what several scores come to.

    Examples
    --------
    >>> scores = [20, 80, 80, 60]
    >>> one_of(scores, "mean"), one_of(scores, "median"), one_of(scores, "mode")
    (60.0, 70.0, 80.0)
    >>> one_of([20, 80], "mode")
    50.0
    """
    if reduction == "median":
        return float(median(scores))
    return fmean(multimode(scores) if reduction == "mode" else scores)

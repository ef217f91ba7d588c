"""What the judgements of most families have in common: samples, whole or each, one score."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median, multimode
from typing import Any, Literal, TypeVar

from judgesmith.errors import InputError
from judgesmith.programs.features import FEATURE_INDEX, FeatureVector, lexical_features
from judgesmith.programs.judging.answers import LEFT_OUT
from judgesmith.programs.judging.logprobs import (
    OVERALL,
    AnswerProbabilities,
    criterion_term,
    joined_weighting,
    weighed,
)
from judgesmith.programs.judging.program import (
    Calls,
    JudgeProgram,
    ModelReply,
    ProbabilitiesOf,
    PromptRequest,
    RequestProgram,
    asked,
    gather,
)
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.signatures.config import Aggregation, JudgeConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Cause, CriterionScore, Judgement, Reason
from judgesmith.signatures.rubric import Criterion, Rubric
from judgesmith.signatures.scale import PERCENT, Scale, levels_of, percent_of


def aggregate(aggregation: Aggregation, judgement: Judgement, item: RatedItem) -> Judgement:
    """Return ``judgement`` with the score that ``aggregation`` makes of it."""
    if judgement.problem is not None:
        return judgement
    if aggregation.kind == "overall":
        return decided(aggregation, judgement)
    term = terms_of(judgement, item)
    try:
        if aggregation.kind == "mean":
            score = fmean(term(f"criterion:{name}") for name in judgement.criteria)
        else:
            score = aggregation.apply([term(name) for name in aggregation.terms])
    except ValueError as fault:
        missing = {"score": None, "problem": str(fault), "reason": Reason.UNREADABLE}
        return judgement.model_copy(update=missing)
    return decided(aggregation, judgement.model_copy(update={"score": score}))


def decided(aggregation: Aggregation, judgement: Judgement) -> Judgement:
    """Return a judgement with its label, and its score on the scale of the labels."""
    decision = aggregation.decision
    if decision is None or judgement.score is None:
        return judgement
    share = aggregation.scale.fraction(judgement.score)
    labels = decision.scale.labels
    update: dict[str, Any] = {
        "score": decision.scale.points(share),
        "label": decision.label(share),
    }
    if len(labels) == 2:
        update["probability"] = {labels[0]: 1 - share, labels[1]: share}
    elif set(judgement.probability) != set(labels):
        update["probability"] = {}
    if decision.is_unsure(share):
        unsure = Judgement.unscored(
            decision.unsure_text(f"{share:.2f}"), reason=Reason.LEFT_TO_PEOPLE
        )
        update |= {"score": None, "label": None}
        update |= {"problem": unsure.problem, "reason": unsure.reason}
    return judgement.model_copy(update=update)


def check_terms(aggregation: Aggregation) -> None:
    """Refuse an aggregation that weighs lexical features this version does not count."""
    parts = (term.partition(":") for term in aggregation.terms)
    unknown = [name for kind, _, name in parts if kind == "lexical" and name not in FEATURE_INDEX]
    if unknown:
        raise InputError(
            "the aggregation weighs lexical features that this version of judgesmith does not "
            f"count: {', '.join(unknown)}.",
            hint="compile the judge again.",
        )


def terms_of(judgement: Judgement, item: RatedItem) -> Callable[[str], float]:
    """Return a function from a term's name to its value for this judgement."""
    features: FeatureVector | None = None

    def term(name: str) -> float:
        nonlocal features
        kind, _, rest = name.partition(":")
        if kind == "overall":
            value = judgement.raw
        elif kind == "criterion":
            one = judgement.criteria.get(rest)
            value = None if one is None else one.score
        else:
            features = features or lexical_features(item.source, item.context, item.response)
            value = features[rest]
        if value is None:
            raise InputError(f"there is no number for {name}, which the judge needs.")
        return float(value)

    return term


Value = TypeVar("Value")

Once = RequestProgram[Judgement]
"""The judgement of one sample under way."""


def unsendable(texts: Mapping[str, str | None]) -> Cause | None:
    """Return why texts, by name, cannot be sent to a model; None where they can."""
    for name, text in texts.items():
        try:
            (text or "").encode()
        except UnicodeEncodeError:
            return Cause(
                Reason.UNSUITABLE,
                f"the {name} holds half of a character (a lone surrogate), which no model can "
                "receive",
            )
    return None


def sampled_steps(
    protocol: JudgeConfig,
    once: Callable[[Asking], Once],
    item: RatedItem,
) -> JudgeProgram:
    """Judge one response as often as ``protocol`` says, and make one judgement of it."""
    found = yield from drawn_steps(protocol, once, item)
    return aggregate(protocol.deciding, found, item)


def drawn_steps(
    protocol: JudgeConfig,
    once: Callable[[Asking], Once],
    item: RatedItem,
    *,
    enough: Callable[[], bool] | None = None,
    field: str = "score",
) -> JudgeProgram:
    """Return what several samples come to, before what was learned is made of it."""
    texts = {"source": item.source, "response": item.response, "context": item.context}
    if fault := unsendable(texts):
        return Judgement.unscored(fault)
    levels = levels_of(protocol.answers) if protocol.weighting == "probabilities" else {}
    samples = [
        Asking(
            item,
            sample=sample,
            again=protocol.samples + sample,
            calls=Calls(),
            levels=levels,
            answer=field,
        )
        for sample in range(protocol.samples)
    ]
    alone = len(samples) if enough is None else 1
    found = yield from gather([once(one) for one in samples[:alone]])
    if enough is not None and not enough():
        found += yield from gather([once(one) for one in samples[alone:]])
    if levels:
        drawn = zip(found, samples, strict=False)  # one sample may have been enough
        found = [weighed(one, of.probabilities, protocol.answers) for one, of in drawn]
    calls = tuple(call for one in samples for call in one.calls.made)
    asks_whole = any(OVERALL in one.asked_about for one in samples)
    return reduced(found, calls, protocol.reduction, asks_whole=asks_whole)


@dataclass(frozen=True, slots=True)
class Asking:
    """How the questions about one item are asked, for one sample."""

    item: RatedItem
    sample: int
    again: int
    calls: Calls
    levels: Mapping[str, float] = field(default_factory=dict)
    probabilities: dict[str, AnswerProbabilities] = field(default_factory=dict)
    asked_about: set[str] = field(default_factory=set)
    answer: str = "score"

    def of(
        self,
        question: str,
        read: Callable[[Mapping[str, Any]], Value],
        *,
        about: str = OVERALL,
        records: Sequence[str] = (),
        **more: str,
    ) -> Generator[PromptRequest, ModelReply, Value | Cause]:
        wanted = None
        if self.levels:
            name = "assessments" if records else self.answer
            levels = tuple(self.levels)
            wanted = ProbabilitiesOf(field=name, answers=levels, records=tuple(records))
        if not records:
            self.asked_about.add(about)
        inputs = {**self.item.texts, **more}
        ask = PromptRequest(
            predictor=question, inputs=inputs, sample=self.sample, probabilities=wanted
        )

        def reading(fields: Mapping[str, Any]) -> Value:
            value = read(fields)
            if not records:
                self.keep({self.answer: about})
            return value

        return asked(ask, reading, again=self.again, calls=self.calls)

    def each(
        self, courses: Sequence[Callable[[Asking], RequestProgram[Value]]]
    ) -> RequestProgram[list[Value]]:
        parts = [replace(self, calls=Calls()) for _ in courses]
        found = yield from gather(
            [course(part) for course, part in zip(courses, parts, strict=True)]
        )
        for part in parts:
            self.calls.made.extend(part.calls.made)
        return found

    def keep(self, terms: Mapping[str, str]) -> None:
        found = {} if self.calls.latest is None else self.calls.latest.probabilities
        self.probabilities.update({of: found[name] for name, of in terms.items() if name in found})


def score_on(
    answers: Scale, field: str = "score", words: str = "explanation"
) -> Callable[[Mapping[str, Any]], CriterionScore]:
    def read(fields: Mapping[str, Any]) -> CriterionScore:
        return CriterionScore(
            score=percent_of(fields[field], answers), explanation=said(fields.get(words))
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
    """Return which of several scores is nearest to one, the worst of equals; 0 without any."""
    if score is None:
        return 0

    def distance(place: int) -> tuple[bool, float, float]:
        own = scores[place]
        assert own is not None
        return errors[place] != (score < _BEST), round(abs(own - score), 9), own

    given = [place for place, one in enumerate(scores) if one is not None]
    return min(given, key=distance) if given else 0


def one_of(scores: Sequence[float], reduction: Reduction) -> float:
    if reduction == "median":
        return float(median(scores))
    return fmean(multimode(scores) if reduction == "mode" else scores)


def criteria_text(rubric: Rubric, answers: Scale = PERCENT) -> str:
    return "\n".join(_criterion_line(one, answers) for one in rubric.criteria)


def _criterion_line(criterion: Criterion, answers: Scale) -> str:
    names = answers.labels or (f"{answers.low:g}", f"{answers.high:g}")
    ends = [(names[0], criterion.worst if answers.ordered else ""), (names[-1], criterion.best)]
    meanings = [f"{points} means: {text}." for points, text in ends if text]
    return f"{criterion.name}: {' '.join(' '.join([criterion.definition, *meanings]).split())}"


Answer = CriterionScore | Cause
"""A score, or why it is missing."""


def whole_or_each(
    protocol: JudgeConfig, form: QuestionForm, *, whole: str, each: str
) -> dict[str, QuestionForm]:
    """Return a question called ``whole``, or one called ``each_N`` for every criterion."""
    if not protocol.scores_criteria:
        return {whole: form}
    return {f"{each}_{place}": form for place in range(1, len(protocol.rubric.criteria) + 1)}


def place_of(question: str) -> int | None:
    """Return which criterion a question is about, counted from 0; None for the whole."""
    place = question.rpartition("_")[2]
    return int(place) - 1 if place.isdecimal() else None


def told_rubric(rubric: Rubric) -> dict[str, str]:
    """Return the task and the guidelines of a rubric, by field, where there are some."""
    lines = "\n".join(f"- {one.text}" for one in rubric.guidelines)
    told = {"task": rubric.task, "guidelines": lines}
    return {name: text for name, text in told.items() if text}


def told_inputs(protocol: JudgeConfig, question: str) -> dict[str, str]:
    """Return the inputs of a question that are the same for every item, by field."""
    rubric = protocol.rubric
    fixed = told_rubric(rubric)
    lines = criteria_text(rubric, protocol.answers)
    place = place_of(question)
    if place is not None:
        return {**fixed, "criterion": lines.split("\n")[place]}
    return {**fixed, "criteria": lines} if rubric.criteria else fixed


def each_scored(
    protocol: JudgeConfig,
    asking: Asking,
    questions: Iterable[str],
    ask: Callable[[Asking, str, str], RequestProgram[Answer]] | None = None,
) -> Once:
    """Return the judgement of one sample: a score of the whole, or the mean of the criteria's."""
    if ask is None:

        def ask(part: Asking, question: str, about: str) -> RequestProgram[Answer]:
            return part.of(question, score_on(protocol.answers), about=about)

    if not protocol.scores_criteria:
        (question,) = questions
        return of_the_whole((yield from ask(asking, question, OVERALL)))
    names = protocol.rubric.names

    def scoring(name: str, question: str) -> Callable[[Asking], RequestProgram[Answer]]:
        return lambda part: ask(part, question, criterion_term(name))

    courses = [scoring(*one) for one in zip(names, questions, strict=True)]
    answers = yield from asking.each(courses)
    return of_criteria(dict(zip(names, answers, strict=True)))


def of_the_whole(answer: Answer) -> Judgement:
    if isinstance(answer, Cause):
        return Judgement.unscored(answer)
    return Judgement(score=answer.score, raw=answer.score, explanation=answer.explanation)


def of_criteria(answers: Mapping[str, Answer], *, some: str = "have none") -> Judgement:
    """Return the judgement that scores of all criteria make: their mean, if none is missing."""
    criteria = {
        name: CriterionScore.unscored(one) if isinstance(one, Cause) else one
        for name, one in answers.items()
    }
    causes = {name: one for name, one in answers.items() if isinstance(one, Cause)}
    for name, first in causes.items():
        why = f"the score is the mean of the criteria, of which some {some}: {name}: {first}"
        return Judgement.unscored(why, reason=first.reason, criteria=criteria)
    score = fmean(one.score for one in criteria.values() if one.score is not None)
    return Judgement(score=score, raw=score, criteria=criteria)

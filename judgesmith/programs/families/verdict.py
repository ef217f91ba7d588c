"""The judge that gives labels, such as pass and fail: a critique, then the verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, ClassVar, Literal, Self

from pydantic import field_validator, model_validator

from judgesmith.errors import InputError
from judgesmith.programs.families.pointwise import samples_counted
from judgesmith.programs.judging import scoring
from judgesmith.programs.judging.answers import Kind
from judgesmith.programs.judging.logprobs import (
    NOTHING,
    OVERALL,
    AnswerProbabilities,
    criterion_term,
)
from judgesmith.programs.judging.program import JudgeProgram, RequestProgram
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.registry import JudgeFamily
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Cause, CriterionScore, Judgement
from judgesmith.signatures.scale import NO_YES, Scale
from judgesmith.signatures.space import (
    Choice,
    Rubrics,
    Space,
    field_choice,
    rubric_choice,
    sampling_choices,
)

FAIL_PASS = Scale.of_labels("fail", "pass")

_Combine = Literal["all", "any", "mean"]
_COMBINED: dict[_Combine, Callable[[Sequence[float]], float]] = {
    "all": min,
    "any": max,
    "mean": fmean,
}
"""What the chances that criteria are met come to. The least certain one decides whether all are."""

_SCORES: dict[_Combine, str] = {
    "all": "the least certain of the criteria, all of which must be met",
    "any": "the most certain of the criteria, one of which must be met",
    "mean": "the mean of the criteria",
}


class VerdictConfig(JudgeConfig):
    """The configuration of a judge that gives labels.

    ``answers`` are the labels. ``asks`` is for one label of the whole, or for a yes or no to each
    criterion (``checks``), of which ``combine`` makes the label.
    """

    takes_any_labels: ClassVar[bool] = True
    judge: Literal["verdict"] = "verdict"
    asks: Literal["overall", "checks"] = "overall"
    combine: _Combine = "all"
    explain: Literal["before", "after", "none"] = "before"
    answers: Scale = FAIL_PASS
    weighting: Literal["none", "probabilities"] = "probabilities"

    @field_validator("answers")
    @classmethod
    def _are_labels(cls, answers: Scale) -> Scale:
        if not answers.labels:
            raise InputError(
                f"the answers of a verdict judge must be labels; got {answers}.",
                hint="write them worst first, as in fail|pass.",
            )
        ordered = answers.ordered and (answers.is_verdict or len(answers.labels) > 2)
        positive = answers.positive or answers.labels[-1]
        return Scale.of_labels(*answers.labels, positive=positive, ordered=ordered)

    @model_validator(mode="after")
    def _can_be_decided(self) -> Self:
        n = len(self.answers.labels)
        if self.asks == "checks" and n > 2:
            raise InputError(
                f"checks decide between two labels; there are {n}.", hint="let it ask overall."
            )
        if self.reduction != "mean" and n > 2:
            raise InputError(
                f"of {n} labels only the mean of samples has a meaning; got {self.reduction}."
            )
        return self

    @property
    def scores_criteria(self) -> bool:
        return self.asks == "checks"

    @property
    def own_score(self) -> str:
        if self.scores_criteria:
            return _SCORES[self.combine]
        if self.answers.ordered and len(self.answers.labels) > 2:
            return "the expected place among the labels"
        return f"the probability of {self.answers.positive}"

    @property
    def scores_on(self) -> Scale:
        return super().scores_on if self.answers.ordered else self.answers


def verdict_forms(protocol: VerdictConfig) -> dict[str, QuestionForm]:
    """Return the question about the whole, or one for each criterion."""
    outputs: dict[str, Kind] = {"verdict": "points"}
    if protocol.explain != "none":
        outputs["critique"] = "text"
    answers = NO_YES if protocol.scores_criteria else None
    form = QuestionForm(outputs=(outputs,), answers=answers)
    return scoring.whole_or_each(protocol, form, whole="decide", each="check")


def verdict_inputs(protocol: VerdictConfig, question: str) -> dict[str, str]:
    """Return task and criteria; what the ends of a checked criterion mean is said of no and yes."""
    if scoring.place_of(question) is None:
        return scoring.told_inputs(protocol, question)
    return scoring.told_inputs(protocol.model_copy(update={"answers": NO_YES}), question)


_Shares = Mapping[str, float]  # how likely each label is


def verdict_steps(protocol: VerdictConfig, item: RatedItem) -> JudgeProgram:
    drawn: list[_Shares] = []
    n_scored = 0

    def once(asking: scoring.Asking) -> scoring.Once:
        nonlocal n_scored
        if protocol.scores_criteria:
            found = yield from _checked_once(protocol, asking)
        else:
            found = yield from _decided_once(protocol, asking, drawn)
        n_scored += found.score is not None
        return found

    answers = NO_YES if protocol.scores_criteria else protocol.answers
    found = yield from scoring.drawn_steps(
        protocol.model_copy(update={"answers": answers}), once, item, field="verdict"
    )
    found = samples_counted(found, n_scored)
    labels = protocol.answers.labels
    if found.score is not None and len(labels) > 2:
        mean = {name: fmean(one.get(name, 0.0) for one in drawn) for name in labels}
        shares = {name: share if share > NOTHING else 0.0 for name, share in mean.items()}
        found = found.model_copy(update={"probability": shares})
    found = scoring.aggregate(protocol.deciding, found, item)
    return found if len(labels) == 2 else _labelled(protocol, found)


def _decided_once(
    protocol: VerdictConfig, asking: scoring.Asking, drawn: list[_Shares]
) -> scoring.Once:
    """Ask for a label, and note how likely each was; the one that is stated where none is known."""
    stated = ""
    plain = scoring.score_on(protocol.answers, "verdict", "critique")

    def read(fields: Mapping[str, Any]) -> CriterionScore:
        nonlocal stated
        stated = str(fields["verdict"])
        return plain(fields)

    (question,) = verdict_forms(protocol)
    answer = yield from asking.of(question, read)
    if not isinstance(answer, Cause):
        known = asking.probabilities.get(OVERALL)
        has_any = known is not None and known.mode == "probabilities"
        drawn.append(known.values if known is not None and has_any else {stated: 1.0})
    return scoring.of_the_whole(answer)


def _checked_once(protocol: VerdictConfig, asking: scoring.Asking) -> scoring.Once:
    """Ask for a yes or no to each criterion; the whole is what they come to together."""
    read = scoring.score_on(NO_YES, "verdict", "critique")

    def ask(part: scoring.Asking, question: str, about: str) -> RequestProgram[scoring.Answer]:
        return part.of(question, read, about=about)

    found = yield from scoring.each_scored(protocol, asking, verdict_forms(protocol), ask)
    combined = _COMBINED[protocol.combine]
    stated = [one.score for one in found.criteria.values() if one.score is not None]
    if found.score is None:
        return found
    asking.asked_about.add(OVERALL)  # it is no mean of what was asked
    known = [asking.probabilities.get(criterion_term(name)) for name in found.criteria]
    if asking.levels:
        asking.probabilities[OVERALL] = _together(known, stated, combined)
    words = "\n".join(
        f"{name}: {'yes' if one.score else 'no'}. {one.explanation}".rstrip()
        for name, one in found.criteria.items()
    )
    score = combined(stated)
    return found.model_copy(update={"score": score, "raw": score, "explanation": words})


def _together(
    known: Sequence[AnswerProbabilities | None],
    stated: Sequence[float],
    combined: Callable[[Sequence[float]], float],
) -> AnswerProbabilities:
    """Return how likely yes is to all together; an answer without chances counts as stated."""
    given = [one if one and one.mode == "probabilities" else None for one in known]
    if not any(given):
        reason = next((one.reason for one in known if one is not None), "no probabilities came")
        return AnswerProbabilities.none(reason)
    yes = combined(
        [
            one.values["yes"] if one else points / 100
            for one, points in zip(given, stated, strict=True)
        ]
    )
    mass = min(one.mass for one in given if one)
    return AnswerProbabilities(mode="probabilities", values={"no": 1 - yes, "yes": yes}, mass=mass)


def _labelled(protocol: VerdictConfig, found: Judgement) -> Judgement:
    """Return a judgement of three labels or more with the likeliest, unless one was learned."""
    learned, labels = protocol.aggregation, protocol.answers
    decided = labels.ordered and (learned.decision is not None or learned.kind == "linear")
    if found.score is None or decided:
        return found
    shares = found.probability
    update: dict[str, Any] = {"label": max(shares, key=shares.__getitem__)}
    if not labels.ordered:
        update["score"] = labels.points(learned.scale.fraction(found.score))
    return found.model_copy(update=update)


def verdict_space(protocol: VerdictConfig, rubrics: Rubrics = None) -> Space:
    several = len(protocol.answers.labels) > 2
    choices: list[Choice] = []
    if protocol.rubric.criteria and not several:
        choices.append(field_choice(protocol, "asks", ("overall", "checks")))
        choices.append(rubric_choice(protocol, rubrics))
        choices.append(field_choice(protocol, "combine", ("all", "mean", "any"), asks=("checks",)))
    elif protocol.rubric.criteria:
        choices.append(rubric_choice(protocol, rubrics))
    choices.append(field_choice(protocol, "explain", ("before", "after", "none")))
    samples, reduction = sampling_choices(protocol)
    choices += [samples] if several else [samples, reduction]
    choices.append(field_choice(protocol, "weighting", ("probabilities", "none"), samples=("1",)))
    return Space(choices=tuple(choices))


VERDICT = JudgeFamily(
    name="verdict",
    about="writes a critique and gives a label, such as pass or fail, with its probability",
    protocol=VerdictConfig,
    forms=verdict_forms,
    steps=verdict_steps,
    inputs=verdict_inputs,
    questions="judgesmith.signatures.questions.verdict:VERDICT",
    space=verdict_space,
    judge="judgesmith.programs.families.modules:VerdictJudge",
    has_demonstrations=True,
    is_portable=True,
)

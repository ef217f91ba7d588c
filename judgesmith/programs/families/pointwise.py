"""Judges that score one response: direct, explain-eval, G-Eval, checklist and GPTScore."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import exp
from statistics import fmean
from typing import Any, Literal, Self

from pydantic import field_validator, model_validator

from judgesmith.errors import InputError
from judgesmith.programs.judging import scoring
from judgesmith.programs.judging.answers import Kind
from judgesmith.programs.judging.logprobs import (
    OVERALL,
    AnswerProbabilities,
    criterion_term,
    weighed,
)
from judgesmith.programs.judging.program import JudgeProgram, PromptRequest, RequestProgram, asked
from judgesmith.programs.judging.prompts import QuestionForm, Slot, Template, Turn
from judgesmith.programs.judging.registry import JudgeFamily
from judgesmith.signatures.config import (
    JudgeConfig,
    WholeOrEachConfig,
    check_questions_of,
    check_steps,
    lines_for,
    steps_key,
)
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Cause, CriterionScore, Judgement, Reason
from judgesmith.signatures.rubric import Criterion
from judgesmith.signatures.scale import NO_YES, Scale
from judgesmith.signatures.space import (
    Rubrics,
    Space,
    answers_choice,
    asks_choices,
    field_choice,
    rubric_choice,
    sampling_choices,
    usual_choices,
)

_FORM = QuestionForm(outputs=({"score": "points"},))  # of questions that ask for a score alone


class DirectConfig(WholeOrEachConfig):
    """The configuration of a direct judge."""

    judge: Literal["direct"] = "direct"
    asks: Literal["overall", "criteria"] = "overall"


def direct_forms(protocol: DirectConfig) -> dict[str, QuestionForm]:
    return scoring.whole_or_each(protocol, _FORM, whole="whole", each="one")


DIRECT = JudgeFamily(
    name="direct",
    about="asks for a score and nothing else, of the whole or of each criterion",
    protocol=DirectConfig,
    forms=direct_forms,
    questions="judgesmith.signatures.questions.pointwise:DIRECT",
    judge="judgesmith.programs.families.modules:DirectJudge",
    is_portable=True,
)


class ExplainEvalConfig(WholeOrEachConfig):
    """The configuration of a judge that explains its score."""

    judge: Literal["explain-eval"] = "explain-eval"
    explain: Literal["before", "after", "none"] = "before"
    answers: Scale = Scale(low=1, high=5)


def explain_eval_forms(protocol: ExplainEvalConfig) -> dict[str, QuestionForm]:
    outputs: dict[str, Kind] = {"score": "points"}
    if protocol.explain != "none":
        outputs["explanation"] = "text"
    form = QuestionForm(outputs=(outputs,))
    return scoring.whole_or_each(protocol, form, whole="analyse", each="analyse")


def explain_eval_space(protocol: ExplainEvalConfig, rubrics: Rubrics = None) -> Space:
    explain = field_choice(protocol, "explain", ("before", "after", "none"))
    return Space(choices=(*asks_choices(protocol, rubrics), explain, *usual_choices(protocol)))


EXPLAIN_EVAL = JudgeFamily(
    name="explain-eval",
    about="analyses and rates each criterion, or the whole, in words and a score",
    protocol=ExplainEvalConfig,
    forms=explain_eval_forms,
    questions="judgesmith.signatures.questions.pointwise:EXPLAIN_EVAL",
    space=explain_eval_space,
    judge="judgesmith.programs.families.modules:ExplainEvalJudge",
    is_portable=True,
)


GENERAL_STEPS = (
    "Read the source, and note what a response to it has to do.",
    "Read the response from beginning to end.",
    "Collect what speaks for it and what speaks against it, by what is to be judged alone.",
    "Weigh both sides, the graver faults first, and settle on the score.",
)
"""What stands where a criterion has no steps of its own."""


class GEvalConfig(WholeOrEachConfig):
    """The configuration of a G-Eval judge."""

    judge: Literal["g-eval"] = "g-eval"
    plan: Literal["own", "general"] = "own"
    steps: Mapping[str, tuple[str, ...]] = {}
    answers: Scale = Scale(low=1, high=5)
    weighting: Literal["none", "probabilities"] = "probabilities"

    @field_validator("steps")
    @classmethod
    def _stand_on_lines(cls, steps: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
        for name, several in steps.items():
            check_steps(several, of=name)
        return steps

    def steps_for(self, criterion: Criterion) -> tuple[str, ...] | None:
        """Return the steps of a criterion; None where it has none of its own."""
        return self.steps.get(steps_key(criterion)) or self.steps.get(criterion.name)

    def for_own_rubric(self) -> Self:
        kept = lines_for(self.rubric.criteria, self.steps)
        if not self.rubric.criteria and "overall" in self.steps:
            kept["overall"] = self.steps["overall"]
        return self.model_copy(update={"steps": kept})


_Settled = dict[str, tuple[CriterionScore, AnswerProbabilities]]


def g_eval_forms(protocol: GEvalConfig) -> dict[str, QuestionForm]:
    """Return one question for each criterion, or one about the whole."""
    return scoring.whole_or_each(protocol, _FORM, whole="follow", each="follow")


def g_eval_inputs(protocol: GEvalConfig, question: str) -> dict[str, str]:
    place = scoring.place_of(question)
    if place is None:
        steps = _steps_of_all(protocol)
    else:
        criterion = protocol.rubric.criteria[place]
        own = protocol.steps_for(criterion) if protocol.plan == "own" else None
        steps = _numbered(own or GENERAL_STEPS)
    return {**scoring.told_inputs(protocol, question), "steps": steps}


def g_eval_steps(protocol: GEvalConfig, item: RatedItem) -> JudgeProgram:
    settled: _Settled = {}
    terms = [criterion_term(name) for name in protocol.scored_criteria] or [OVERALL]
    n_scored = 0

    def once(asking: scoring.Asking) -> scoring.Once:
        def ask(part: scoring.Asking, question: str, about: str) -> RequestProgram[scoring.Answer]:
            return _asked_until_settled(protocol, part, settled, question, about)

        nonlocal n_scored
        found = yield from scoring.each_scored(protocol, asking, g_eval_forms(protocol), ask)
        n_scored += found.score is not None
        return found

    judgement = yield from scoring.drawn_steps(
        protocol, once, item, enough=lambda: all(term in settled for term in terms)
    )
    judgement = samples_counted(_settled_alone(judgement, settled, protocol.answers), n_scored)
    return scoring.aggregate(protocol.deciding, judgement, item)


def _settled_alone(judgement: Judgement, settled: _Settled, answers: Scale) -> Judgement:
    criteria, how = dict(judgement.criteria), dict(judgement.weighting)
    raw = judgement.raw
    mixed = [one for one in settled if one in how and how[one].mode == "stated"]
    if judgement.problem is not None or not mixed:
        return judgement
    for term in mixed:
        answer, chances = settled[term]
        alone = weighed(scoring.of_the_whole(answer), {OVERALL: chances}, answers)
        how[term] = alone.weighting[OVERALL]
        if term == OVERALL:
            raw = alone.raw
        else:
            name = term.removeprefix(criterion_term(""))
            criteria[name] = criteria[name].model_copy(update={"score": alone.raw})
    if OVERALL not in settled:
        raw = fmean(one.score for one in criteria.values() if one.score is not None)
    update = {"criteria": criteria, "weighting": how, "raw": raw, "score": raw}
    return judgement.model_copy(update=update)


def samples_counted(judgement: Judgement, n: int) -> Judgement:
    if n < 2:
        return judgement
    how = {
        term: one.model_copy(update={"mode": "samples", "n": n}) if one.mode == "stated" else one
        for term, one in judgement.weighting.items()
    }
    return judgement.model_copy(update={"weighting": how})


def _asked_until_settled(
    protocol: GEvalConfig, asking: scoring.Asking, settled: _Settled, question: str, about: str
) -> RequestProgram[scoring.Answer]:
    """Ask for a score, unless an earlier answer came with probabilities, which stands."""
    if about in settled:
        answer, asking.probabilities[about] = settled[about]
        return answer
    found = yield from asking.of(question, scoring.score_on(protocol.answers), about=about)
    chances = asking.probabilities.get(about)
    if not isinstance(found, Cause) and chances is not None and chances.mode == "probabilities":
        settled.setdefault(about, (found, chances))
    return found


def _steps_of_all(protocol: GEvalConfig) -> str:
    """Return the steps of a question about the whole: those of its criteria, one after another."""
    own = protocol.plan == "own"
    named = {one.name: protocol.steps_for(one) for one in protocol.rubric.criteria if own}
    several = {name: steps for name, steps in named.items() if steps}
    if not several:
        return _numbered((protocol.steps.get(OVERALL) if own else None) or GENERAL_STEPS)
    return "\n".join(f"For {name}:\n{_numbered(steps)}" for name, steps in several.items())


def _numbered(steps: Sequence[str]) -> str:
    return "\n".join(f"{place}. {step}" for place, step in enumerate(steps, start=1))


SAMPLED = (1, 5, 20)
"""How many answers compete where probabilities are lacking; the paper takes 20, at 1."""


def g_eval_space(protocol: GEvalConfig, rubrics: Rubrics = None) -> Space:
    choices = (
        *asks_choices(protocol, rubrics),
        field_choice(protocol, "plan", ("own", "general")),
        answers_choice(protocol),
        field_choice(protocol, "weighting", ("probabilities", "none")),
        *sampling_choices(protocol, SAMPLED, warm=1.0),
    )
    return Space(choices=choices)


G_EVAL = JudgeFamily(
    name="g-eval",
    about="scores by evaluation steps that a model writes once, weighed by probabilities",
    protocol=GEvalConfig,
    forms=g_eval_forms,
    steps=g_eval_steps,
    inputs=g_eval_inputs,
    questions="judgesmith.signatures.questions.pointwise:G_EVAL",
    space=g_eval_space,
    judge="judgesmith.programs.families.modules:GEvalJudge",
    is_portable=True,
)


MOST_WRITTEN = 5  # questions per criterion that a model is asked for at most


class ChecklistConfig(JudgeConfig):
    """The configuration of a checklist judge."""

    judge: Literal["checklist"] = "checklist"
    plan: Literal["own", "rubric"] = "own"
    questions: Mapping[str, tuple[str, ...]] = {}
    answers: Scale = NO_YES
    weighting: Literal["none", "probabilities"] = "probabilities"

    @field_validator("questions")
    @classmethod
    def _are_questions(cls, given: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
        for name, several in given.items():
            check_questions_of(several, of=name)
        return given

    @model_validator(mode="after")
    def _asks_yes_or_no(self) -> Self:
        if self.answers != NO_YES:
            raise InputError(f"the answers of a checklist must be no and yes; got {self.answers}.")
        return self

    @property
    def scores_criteria(self) -> bool:
        return True

    @property
    def own_score(self) -> str:
        return "the mean of the criteria"

    def questions_for(self, criterion: Criterion) -> tuple[str, ...]:
        """Return the questions of a criterion, its definition where it has no questions."""
        own = self.questions.get(steps_key(criterion)) or self.questions.get(criterion.name)
        if own and self.plan == "own":
            return own
        said = " ".join(criterion.definition.split())
        return (said if said.endswith("?") else f"Does this hold for the response: {said}?",)

    def for_own_rubric(self) -> Self:
        kept = lines_for(self.rubric.criteria, self.questions)
        return self.model_copy(update={"questions": kept})


def asked_of(protocol: ChecklistConfig) -> Iterator[tuple[Criterion, dict[str, str]]]:
    for place, criterion in enumerate(protocol.rubric.criteria, start=1):
        several = enumerate(protocol.questions_for(criterion), start=1)
        yield criterion, {f"check_{place}_{number}": said for number, said in several}


def checklist_forms(protocol: ChecklistConfig) -> dict[str, QuestionForm]:
    return {name: _FORM for _, several in asked_of(protocol) for name in several}


def checklist_inputs(protocol: ChecklistConfig, question: str) -> dict[str, str]:
    said = {name: one for _, several in asked_of(protocol) for name, one in several.items()}
    return {**scoring.told_rubric(protocol.rubric), "question": said[question]}


def checklist_once(protocol: ChecklistConfig, asking: scoring.Asking) -> scoring.Once:
    def checking(predictor: str) -> Callable[[scoring.Asking], RequestProgram[scoring.Answer]]:
        return lambda part: part.of(predictor, scoring.score_on(protocol.answers), about=predictor)

    predictors = [name for _, questions in asked_of(protocol) for name in questions]
    replies = yield from asking.each([checking(one) for one in predictors])
    checked = dict(zip(predictors, replies, strict=True))
    answers: dict[str, scoring.Answer] = {}
    for criterion, questions in asked_of(protocol):
        points: list[float] = []
        said: list[str] = []
        chances: list[AnswerProbabilities] = []
        missing: Cause | None = None
        for predictor, question in questions.items():
            answer = checked[predictor]
            found = asking.probabilities.pop(predictor, None)
            if isinstance(answer, Cause):
                missing = missing or answer
                continue
            assert answer.score is not None
            points.append(answer.score)
            said.append(f"{question} {'Yes' if answer.score else 'No'}.")
            if found is not None:
                chances.append(found)
        if missing:
            answers[criterion.name] = missing
            continue
        if asking.levels:
            asking.probabilities[criterion_term(criterion.name)] = mean_chances(
                chances, len(points)
            )
        answers[criterion.name] = CriterionScore(score=fmean(points), explanation=" ".join(said))
    return scoring.of_criteria(answers, some="lack an answer")


def mean_chances(found: Sequence[AnswerProbabilities], n: int) -> AnswerProbabilities:
    """Return the mean probabilities of ``n`` answers; mode ``none`` if any answer lacks them."""
    without = [one for one in found if one.mode == "none"]
    mass = min((one.mass for one in found), default=0.0)
    if without or len(found) < n:
        reason = without[0].reason if without else "no probabilities came"
        n_without = n - len(found) + len(without)
        several = f"of {n_without} of {n} questions: " if n > 1 else ""
        return AnswerProbabilities.none(f"{several}{reason}", mass=mass)
    values = {name: fmean(one.values[name] for one in found) for name in found[0].values}
    return AnswerProbabilities(mode="probabilities", values=values, mass=mass)


def checklist_space(protocol: ChecklistConfig, rubrics: Rubrics = None) -> Space:
    choices = (
        rubric_choice(protocol, rubrics),
        field_choice(protocol, "plan", ("own", "rubric")),
        field_choice(protocol, "weighting", ("probabilities", "none")),
        *sampling_choices(protocol),
    )
    return Space(choices=choices)


CHECKLIST = JudgeFamily(
    name="checklist",
    about="asks yes-or-no questions about each criterion and takes the share of yes",
    protocol=ChecklistConfig,
    forms=checklist_forms,
    once=checklist_once,
    inputs=checklist_inputs,
    questions="judgesmith.signatures.questions.pointwise:CHECKLIST",
    space=checklist_space,
    judge="judgesmith.programs.families.modules:ChecklistJudge",
    is_portable=True,
)


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


_LIKELY = QuestionForm(texts=("source", "context"), outputs=({},))
_NOTES_AND_TEXT = (
    "What follows are the notes for a piece of writing, and then the piece itself, which does what "
    "the notes ask for as well as anybody could. What stands between verbatim tags is material."
)


def gptscore_forms(protocol: GPTScoreConfig) -> dict[str, QuestionForm]:
    """Return the prompts after which the response is read: one, or one for each criterion."""
    return scoring.whole_or_each(protocol, _LIKELY, whole="likely", each="likely")


def gptscore_inputs(protocol: GPTScoreConfig, question: str) -> dict[str, str]:
    """Return task and criteria as far as a prompt names them."""
    rubric = protocol.rubric
    fixed = {"task": rubric.task} if rubric.task else {}
    lines = scoring.criteria_text(rubric)
    place = scoring.place_of(question)
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
        turns=(Turn(role="system", text=_NOTES_AND_TEXT),),
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


def gptscore_once(protocol: GPTScoreConfig, asking: scoring.Asking) -> scoring.Once:
    if not asking.item.response:
        return Judgement.unscored(
            "an empty response has no tokens, and so no likelihood", reason=Reason.UNSUITABLE
        )

    def ask(part: scoring.Asking, question: str, about: str) -> RequestProgram[scoring.Answer]:
        return _likelihood(part, question)

    return (yield from scoring.each_scored(protocol, asking, gptscore_forms(protocol), ask))


def score_of(logprobs: Sequence[float]) -> CriterionScore:
    """Return the score that log-probabilities make, and their mean in words."""
    mean = fmean(logprobs)
    n = len(logprobs)
    words = f"mean log-probability {mean:.4f} of {n} token{'s' * (n > 1)}"
    return CriterionScore(score=100 * exp(mean), explanation=words)


def _likelihood(asking: scoring.Asking, question: str) -> RequestProgram[scoring.Answer]:
    item = asking.item
    ask = PromptRequest(
        predictor=question,
        inputs={"source": item.source, "context": item.context},
        continuation=item.response,
    )

    def read(fields: Mapping[str, Any]) -> CriterionScore:
        return score_of(fields["logprobs"])

    return asked(ask, read, again=asking.again, calls=asking.calls)


def gptscore_space(protocol: GPTScoreConfig, rubrics: Rubrics = None) -> Space:
    return Space(choices=asks_choices(protocol, rubrics))


GPTSCORE = JudgeFamily(
    name="gptscore",
    about="scores by how likely the model finds the response, token by token",
    protocol=GPTScoreConfig,
    forms=gptscore_forms,
    once=gptscore_once,
    inputs=gptscore_inputs,
    space=gptscore_space,
    judge="judgesmith.programs.families.modules:GPTScoreJudge",
    scores_texts=True,
)

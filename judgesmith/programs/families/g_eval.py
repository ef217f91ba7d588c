"""The G-Eval judge: it scores by evaluation steps, weighted by probabilities.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Literal, Self

from pydantic import field_validator

from judgesmith.programs.judging.logprobs import (
    OVERALL,
    AnswerProbabilities,
    criterion_term,
    weighed,
)
from judgesmith.programs.judging.program import JudgeProgram, RequestProgram
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.registry import JudgeFamily
from judgesmith.programs.judging.scoring import (
    Answer,
    Asking,
    Once,
    aggregate,
    each_scored,
    of_the_whole,
    place_of,
    sampled_steps,
    score_on,
    told_inputs,
    whole_or_each,
)
from judgesmith.signatures.aggregation import Aggregation
from judgesmith.signatures.config import WholeOrEachConfig, check_steps, lines_for, steps_key
from judgesmith.signatures.judgement import Cause, CriterionScore, Judgement
from judgesmith.signatures.rubric import Criterion, Rubric
from judgesmith.signatures.scale import Scale
from judgesmith.signatures.space import (
    Space,
    answers_choice,
    asks_choices,
    field_choice,
    sampling_choices,
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


_FORM = QuestionForm(outputs=({"score": "points"},))

_Settled = dict[str, tuple[CriterionScore, AnswerProbabilities]]


def g_eval_forms(protocol: GEvalConfig) -> dict[str, QuestionForm]:
    """Return one question for each criterion, or one about the whole."""
    return whole_or_each(protocol, _FORM, whole="follow", each="follow")


def g_eval_inputs(protocol: GEvalConfig, question: str) -> dict[str, str]:
    """Return the inputs of a question that are the same for every item, by field."""
    place = place_of(question)
    if place is None:
        steps = _steps_of_all(protocol)
    else:
        criterion = protocol.rubric.criteria[place]
        own = protocol.steps_for(criterion) if protocol.plan == "own" else None
        steps = _numbered(own or GENERAL_STEPS)
    return {**told_inputs(protocol, question), "steps": steps}


def g_eval_steps(
    protocol: GEvalConfig, *, source: str, response: str, context: str | None = None
) -> JudgeProgram:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement."""
    settled: _Settled = {}
    terms = (
        [criterion_term(name) for name in protocol.rubric.names]
        if protocol.scores_criteria
        else [OVERALL]
    )

    n_scored = 0

    def once(asking: Asking) -> Once:
        def ask(part: Asking, question: str, about: str) -> RequestProgram[Answer]:
            return _asked_until_settled(protocol, part, settled, question, about)

        nonlocal n_scored
        found = yield from each_scored(protocol, asking, g_eval_forms(protocol), ask)
        n_scored += found.score is not None
        return found

    judgement = yield from sampled_steps(
        protocol.model_copy(update={"aggregation": Aggregation()}),
        once,
        source=source,
        response=response,
        context=context,
        enough=lambda: all(term in settled for term in terms),
    )
    judgement = _counted(_settled_alone(judgement, settled, protocol.answers), n_scored)
    return aggregate(protocol.aggregation, judgement, source, context, response)


def _settled_alone(judgement: Judgement, settled: _Settled, answers: Scale) -> Judgement:
    criteria, how = dict(judgement.criteria), dict(judgement.weighting)
    raw = judgement.raw
    mixed = [one for one in settled if one in how and how[one].mode == "stated"]
    if judgement.problem is not None or not mixed:
        return judgement
    for term in mixed:
        answer, chances = settled[term]
        alone = weighed(of_the_whole(answer), {OVERALL: chances}, answers)
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


def _counted(judgement: Judgement, n: int) -> Judgement:
    if n < 2:
        return judgement
    how = {
        term: one.model_copy(update={"mode": "samples", "n": n}) if one.mode == "stated" else one
        for term, one in judgement.weighting.items()
    }
    return judgement.model_copy(update={"weighting": how})


def _asked_until_settled(
    protocol: GEvalConfig, asking: Asking, settled: _Settled, question: str, about: str
) -> RequestProgram[Answer]:
    """Ask for a score, unless an earlier answer came with probabilities, which stands."""
    if about in settled:
        answer, asking.probabilities[about] = settled[about]
        return answer
    found = yield from asking.of(question, score_on(protocol.answers), about=about)
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


def g_eval_space(protocol: GEvalConfig, rubrics: Mapping[str, Rubric] | None = None) -> Space:
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
    questions="judgesmith.signatures.questions.g_eval:",
    space=g_eval_space,
    judge="judgesmith.programs.families.modules:GEvalJudge",
)

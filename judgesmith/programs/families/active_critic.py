"""The Active-Critic judge: it scores the criteria first, then the whole (its stage 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.judging.answers import Kind, UnreadRecord
from judgesmith.programs.judging.logprobs import criterion_term
from judgesmith.programs.judging.program import RequestProgram
from judgesmith.programs.judging.prompts import TEXTS, QuestionForm
from judgesmith.programs.judging.registry import JudgeFamily
from judgesmith.programs.judging.scoring import (
    Answer,
    Asking,
    Once,
    criteria_text,
    said,
    score_on,
    told_rubric,
)
from judgesmith.signatures.config import ActiveCriticConfig
from judgesmith.signatures.judgement import Cause, CriterionScore, Judgement
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT, Scale, level_of, percent_of
from judgesmith.signatures.space import Rubrics, Space, field_choice, rubric_choice, usual_choices


def question_names(protocol: ActiveCriticConfig) -> tuple[str, ...]:
    if protocol.variant != "fine":
        return ("grade",) if protocol.variant == "vanilla" else ("rate",)
    last = ("overall",) if protocol.overall == "asked" else ()
    return (*assessing_names(protocol), *last)


def assessing_names(protocol: ActiveCriticConfig) -> tuple[str, ...]:
    """Return the names of the questions that score criteria: one in all, or one for each."""
    if protocol.variant != "fine":
        return ()
    if protocol.criteria_calls == "joint":
        return ("assess",)
    return tuple(f"assess_{place}" for place in range(1, len(protocol.rubric.criteria) + 1))


def critic_forms(protocol: ActiveCriticConfig) -> dict[str, QuestionForm]:
    """Return what each question of the judge must show and how it is read, in order."""
    return {name: _FORMS.get(name, QuestionForm()) for name in question_names(protocol)}


_ASSESSED: tuple[Kind, ...] = ("assessments", "assessments, score first", "assessments, score only")
_FORMS = {
    "assess": QuestionForm(outputs=tuple({"assessments": kind} for kind in _ASSESSED)),
    "overall": QuestionForm(texts=(*TEXTS, "assessments")),
}


def critic_inputs(protocol: ActiveCriticConfig, question: str) -> dict[str, str]:
    if question == "grade":
        return {}
    rubric = protocol.rubric
    fixed = told_rubric(rubric)
    if question in ("rate", "assess"):
        fixed["criteria"] = criteria_text(rubric, protocol.answers)
    elif question.startswith("assess_"):
        fixed["criterion"] = criteria_text(rubric, protocol.answers).split("\n")[
            int(question[7:]) - 1
        ]
    return fixed


def critic_once(protocol: ActiveCriticConfig, asking: Asking) -> Once:
    return _VARIANTS[protocol.variant](protocol, asking)


def _vanilla(protocol: ActiveCriticConfig, asking: Asking) -> Once:
    answer = yield from asking.of("grade", score_on(protocol.answers))
    if isinstance(answer, Cause):
        return Judgement.unscored(answer)
    return Judgement(score=answer.score, raw=answer.score)


def _coarse(protocol: ActiveCriticConfig, asking: Asking) -> Once:
    answer = yield from asking.of("rate", score_on(protocol.answers))
    if isinstance(answer, Cause):
        return Judgement.unscored(answer)
    return Judgement(score=answer.score, raw=answer.score, explanation=answer.explanation)


def _fine(protocol: ActiveCriticConfig, asking: Asking) -> Once:
    assess = _together if protocol.criteria_calls == "joint" else _one_by_one
    criteria, cause = yield from assess(protocol, asking)
    if cause is not None and all(one.score is None for one in criteria.values()):
        why = f"the criteria have no scores: {cause}"
        return Judgement.unscored(why, reason=cause.reason)
    if protocol.overall == "mean":
        return _mean(criteria, cause)
    shown = assessments_text(criteria, protocol.answers)
    answer = yield from asking.of("overall", score_on(protocol.answers), assessments=shown)
    if isinstance(answer, Cause):
        return Judgement.unscored(answer, criteria=criteria)
    return Judgement(
        score=answer.score, raw=answer.score, explanation=answer.explanation, criteria=criteria
    )


_VARIANTS = {"vanilla": _vanilla, "coarse": _coarse, "fine": _fine}

_Assessed = tuple[dict[str, CriterionScore], Cause | None]
"""Scores by criterion, and why some are missing; None where none is."""


def _together(protocol: ActiveCriticConfig, asking: Asking) -> RequestProgram[_Assessed]:
    """Score all criteria in one call; what two answers lack stays without a score."""
    names = protocol.rubric.names
    found: dict[str, CriterionScore] = {}

    def read(fields: Mapping[str, Any]) -> None:
        nonlocal found
        readable, faults = _by_criterion(fields, names, protocol.answers)
        if len(readable) >= len(found):
            found = readable
            asking.keep({name: criterion_term(name) for name in readable})
        if faults:
            raise InputError("; ".join(faults.values()))

    cause = yield from asking.of("assess", read, records=names)
    if cause is None:
        return found, None
    return {name: found.get(name) or CriterionScore.unscored(cause) for name in names}, cause


def _one_by_one(protocol: ActiveCriticConfig, asking: Asking) -> RequestProgram[_Assessed]:
    """Score every criterion in a call of its own, all at once."""
    criteria: dict[str, CriterionScore] = {}
    causes = []
    names = protocol.rubric.names

    def scoring(name: str, question: str) -> Callable[[Asking], RequestProgram[Answer]]:
        about = criterion_term(name)
        return lambda part: part.of(question, score_on(protocol.answers), about=about)

    questions = zip(names, assessing_names(protocol), strict=True)
    answers = yield from asking.each([scoring(*one) for one in questions])
    for name, answer in zip(names, answers, strict=True):
        if isinstance(answer, Cause):
            causes.append(replace(answer, text=f"{name}: {answer}"))
            answer = CriterionScore.unscored(answer)
        criteria[name] = answer
    if not causes:
        return criteria, None
    return criteria, replace(causes[0], text="; ".join(map(str, causes)))


def _mean(criteria: Mapping[str, CriterionScore], cause: Cause | None) -> Judgement:
    """Return the judgement without an overall question; it needs every criterion's score."""
    if cause is not None:
        why = f"the score is the mean of the criteria, of which some have none: {cause}"
        return Judgement.unscored(why, reason=cause.reason, criteria=criteria)
    scores = [one.score for one in criteria.values() if one.score is not None]
    words = [f"{name}: {one.explanation}" for name, one in criteria.items() if one.explanation]
    score = fmean(scores)
    return Judgement(score=score, raw=score, explanation="\n".join(words), criteria=criteria)


def _by_criterion(
    fields: Mapping[str, Any], names: Sequence[str], answers: Scale
) -> tuple[dict[str, CriterionScore], dict[str, str]]:
    """Return the criteria with a score, and why the others have none; others' names are extra."""
    wanted = {folded(name): name for name in names}
    found: dict[str, CriterionScore] = {}
    faults: dict[str, str] = {}
    for one in fields["assessments"]:
        name = wanted.get(folded(one.criterion))
        if name is None:
            continue
        if name in found or name in faults:
            found.pop(name, None)
            faults[name] = f"the criterion {name} is assessed twice"
            continue
        if isinstance(one, UnreadRecord):
            faults[name] = f"{name}: {one.problem.rstrip('.')}"
            continue
        try:
            score = percent_of(one.score, answers)
        except ValueError as fault:
            faults[name] = f"{name}: {str(fault).rstrip('.')}"
            continue
        found[name] = CriterionScore(score=score, explanation=said(getattr(one, "explanation", "")))
    missing = [name for name in names if name not in found and name not in faults]
    if missing:
        faults[missing[0]] = f"no assessment of {', '.join(missing)}"
    return {name: found[name] for name in names if name in found}, faults


def assessments_text(criteria: Mapping[str, CriterionScore], answers: Scale = PERCENT) -> str:
    """Return scores and explanations as the overall question shows them, one line each."""
    lines = []
    for name, one in criteria.items():
        points = "no score" if one.score is None else _written(one.score, answers)
        words = "" if one.score is None else " ".join(one.explanation.split())
        lines.append(f"- {name}: {points}. {words}".rstrip())
    return "\n".join(lines)


def _written(percent: float, answers: Scale) -> str:
    level = level_of(percent, answers)
    return level if isinstance(level, str) else f"{level:g}"


_WITH_RUBRIC = ("fine", "coarse")


def critic_space(protocol: ActiveCriticConfig, rubrics: Rubrics = None) -> Space:
    """Return the choices about a judge; what its protocol says is always the first option."""
    variants = ("fine", "coarse", "vanilla") if protocol.rubric.criteria else ("vanilla",)
    choices = [field_choice(protocol, "variant", variants)]
    if len(variants) > 1:
        choices += [
            rubric_choice(protocol, rubrics, variant=_WITH_RUBRIC),
            field_choice(protocol, "criteria_calls", ("joint", "separate"), variant=("fine",)),
            field_choice(protocol, "overall", ("asked", "mean"), variant=("fine",)),
            field_choice(protocol, "explain", ("before", "after", "none"), variant=_WITH_RUBRIC),
        ]
    return Space(choices=(*choices, *usual_choices(protocol)))


ACTIVE_CRITIC = JudgeFamily(
    name="active-critic",
    about="scores every criterion with an explanation, then weighs them into one score",
    protocol=ActiveCriticConfig,
    forms=critic_forms,
    once=critic_once,
    inputs=critic_inputs,
    questions="judgesmith.signatures.questions.active_critic:QUESTIONS",
    space=critic_space,
    judge="judgesmith.programs.families.modules:ActiveCritic",
    has_demonstrations=True,
    is_portable=True,
)

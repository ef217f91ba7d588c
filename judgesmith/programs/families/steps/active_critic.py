"""The steps of an Active-Critic judge: criteria first, then the whole (Active-Critic, stage 2).

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.judging.json_answers import UnreadRecord
from judgesmith.programs.judging.logprobs import criterion_term
from judgesmith.programs.judging.program import AnySteps, Steps
from judgesmith.programs.judging.scoring import (
    Asking,
    Once,
    assessing_names,
    assessments_text,
    said,
    sampled_steps,
    score_on,
)
from judgesmith.signatures.config import ActiveCriticConfig
from judgesmith.signatures.judgement import CriterionScore, Judgement
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import Scale, percent_of


def critic_steps(
    protocol: ActiveCriticConfig, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement."""

    def once(asking: Asking) -> Once:
        return _VARIANTS[protocol.variant](protocol, asking)

    return sampled_steps(protocol, once, source=source, response=response, context=context)


def _vanilla(protocol: ActiveCriticConfig, asking: Asking) -> Once:
    answer = yield from asking.of("grade", score_on(protocol.answers))
    if isinstance(answer, str):
        return Judgement.unscored(answer)
    return Judgement(score=answer.score, raw=answer.score)


def _coarse(protocol: ActiveCriticConfig, asking: Asking) -> Once:
    answer = yield from asking.of("rate", score_on(protocol.answers))
    if isinstance(answer, str):
        return Judgement.unscored(answer)
    return Judgement(score=answer.score, raw=answer.score, explanation=answer.explanation)


def _fine(protocol: ActiveCriticConfig, asking: Asking) -> Once:
    assess = _together if protocol.criteria_calls == "joint" else _one_by_one
    criteria, problem = yield from assess(protocol, asking)
    if all(one.score is None for one in criteria.values()):
        return Judgement.unscored(f"the criteria have no scores: {problem}")
    if protocol.overall == "mean":
        return _mean(criteria, problem)
    shown = assessments_text(criteria, protocol.answers)
    answer = yield from asking.of("overall", score_on(protocol.answers), assessments=shown)
    if isinstance(answer, str):
        return Judgement.unscored(answer, criteria=criteria)
    return Judgement(
        score=answer.score, raw=answer.score, explanation=answer.explanation, criteria=criteria
    )


_VARIANTS = {"vanilla": _vanilla, "coarse": _coarse, "fine": _fine}

_Assessed = tuple[dict[str, CriterionScore], str]
"""Scores by criterion, and why some are missing; empty where none is."""


def _together(protocol: ActiveCriticConfig, asking: Asking) -> AnySteps[_Assessed]:
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

    problem = (yield from asking.of("assess", read, records=names)) or ""
    return {name: found.get(name) or _without_score(problem) for name in names}, problem


def _one_by_one(protocol: ActiveCriticConfig, asking: Asking) -> AnySteps[_Assessed]:
    """Score every criterion in a call of its own, all at once."""
    criteria: dict[str, CriterionScore] = {}
    problems = []
    names = protocol.rubric.names

    def scoring(name: str, question: str) -> Callable[[Asking], AnySteps[CriterionScore | str]]:
        about = criterion_term(name)
        return lambda part: part.of(question, score_on(protocol.answers), about=about)

    questions = zip(names, assessing_names(protocol), strict=True)
    answers = yield from asking.each([scoring(*one) for one in questions])
    for name, answer in zip(names, answers, strict=True):
        if isinstance(answer, str):
            problems.append(f"{name}: {answer}")
            answer = _without_score(answer)
        criteria[name] = answer
    return criteria, "; ".join(problems)


def _mean(criteria: Mapping[str, CriterionScore], problem: str) -> Judgement:
    """Return the judgement without an overall question; it needs every criterion's score."""
    scores = [one.score for one in criteria.values() if one.score is not None]
    if len(scores) < len(criteria):
        reason = f"the score is the mean of the criteria, of which some have none: {problem}"
        return Judgement.unscored(reason, criteria=criteria)
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


def _without_score(problem: str) -> CriterionScore:
    return CriterionScore(score=None, explanation=f"no score: {problem}")

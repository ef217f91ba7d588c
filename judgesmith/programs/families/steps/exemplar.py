"""The steps of a judge by exemplars: compare with what is known to be good and bad."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ConfigDict, FiniteFloat

from judgesmith.errors import InputError
from judgesmith.programs.families.steps.exemplar_texts import (
    Compared,
    Comparisons,
    Exemplar,
    comparison_sum,
    comparisons,
    largest_sum,
    normalised,
    written_exemplars,
)
from judgesmith.programs.judging.executors import Askable, Asker
from judgesmith.programs.judging.logprobs import OVERALL, criterion_term
from judgesmith.programs.judging.program import AnySteps, Calls, Steps, together
from judgesmith.programs.judging.prompts import Kind, QuestionForm
from judgesmith.programs.judging.registry import ATTEMPTS_TO_READ, Effort
from judgesmith.programs.judging.scoring import (
    Asking,
    Once,
    criteria_text,
    of_criteria,
    of_the_whole,
    sampled_steps,
)
from judgesmith.signatures.family_configs import ExemplarConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import CriterionScore, Judgement, Weighting
from judgesmith.signatures.scale import PERCENT, Scale

WHOLE = "quality as a whole"
"""What the criterion is called where exemplars are of all things together."""

_ENDS = Scale.categorical("the worst", "the best")
_TEXT: tuple[Mapping[str, Kind], ...] = ({"exemplar": "text"},)


def exemplar_forms(protocol: ExemplarConfig) -> dict[str, QuestionForm]:
    """Return the questions of an exemplar judge, whatever it asks about."""
    texts = ("source", "context")
    told = ("criterion", "level")
    return {
        "end": QuestionForm(texts=texts, told=told, outputs=_TEXT, answers=PERCENT),
        "between": QuestionForm(
            texts=(*texts, "worse", "better"), told=told, outputs=_TEXT, answers=PERCENT
        ),
        "compare": QuestionForm(
            texts=(*texts, "first", "second"),
            told=("criterion",),
            outputs=({"verdict": "points"},),
            answers=protocol.words,
        ),
    }


def exemplar_inputs(protocol: ExemplarConfig, question: str) -> dict[str, str]:
    """Return the inputs of a question that are the same for every item, by field."""
    task = protocol.rubric.task
    fixed = {"task": task} if task else {}
    return fixed if question == "compare" else {**fixed, "manner": protocol.asked_manner}


def exemplar_calls(protocol: ExemplarConfig) -> int:
    """Return the calls of a text by itself: N exemplars and N comparisons for each criterion."""
    n_orders = 2 if protocol.order == "both" else 1
    n_drawn = protocol.n_sampled if protocol.verdicts == "samples" else 1
    n_criteria = len(protocol.rubric.criteria) if protocol.scores_criteria else 1
    return n_criteria * protocol.levels * (1 + n_orders * n_drawn)


def exemplar_efforts(protocol: ExemplarConfig, n_responses: int) -> dict[str, Effort]:
    """Return how often each question is asked for the responses to a source."""
    n_criteria = len(protocol.rubric.criteria) if protocol.scores_criteria else 1
    n_pairs = n_criteria * protocol.levels * (2 if protocol.order == "both" else 1) * n_responses
    sampled = protocol.n_sampled + (protocol.verdicts == "probabilities")
    n_compared = n_pairs if protocol.verdicts == "probabilities" else n_pairs * sampled

    def written(n: int) -> Effort:
        each = Effort.each(n * n_criteria * n_responses)
        return replace(each, usual=n * n_criteria)

    return {
        "end": written(2),
        "between": written(protocol.levels - 2),
        "compare": Effort(
            usual=n_compared,
            calls=n_compared,
            unlisted=n_pairs * sampled,
            most=ATTEMPTS_TO_READ * n_pairs * sampled,
        ),
    }


def criteria_lines(protocol: ExemplarConfig) -> dict[str, str]:
    """Return the criteria that exemplars are of, as the model reads them, by name."""
    rubric = protocol.rubric
    lines = criteria_text(rubric, _ENDS)
    if protocol.scores_criteria:
        return dict(zip(rubric.names, lines.split("\n"), strict=True))
    whole = f"{WHOLE}: How good is the response, all things taken together?"
    return {WHOLE: f"{whole}\nWhat counts in it:\n{lines}" if rubric.criteria else whole}


def exemplar_steps(
    protocol: ExemplarConfig, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement."""

    def once(asking: Asking) -> Once:
        return _judged(protocol, source, response, context, asking.calls)

    return sampled_steps(protocol, once, source=source, response=response, context=context)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    score: CriterionScore
    how: Weighting


def _judged(
    protocol: ExemplarConfig, source: str, response: str, context: str | None, calls: Calls
) -> Once:
    lines = criteria_lines(protocol)
    found = yield from together(
        [_one(protocol, line, source, response, context, calls) for line in lines.values()]
    )
    answers = [one if isinstance(one, str) else one.score for one in found]
    if protocol.scores_criteria:
        terms = [criterion_term(name) for name in lines]
        judgement = of_criteria(dict(zip(lines, answers, strict=True)))
    else:
        terms = [OVERALL]
        judgement = of_the_whole(*answers)
    scored = zip(terms, found, strict=True)
    how = {term: one.how for term, one in scored if not isinstance(one, str)}
    return judgement.model_copy(update={"weighting": how})


def _one(
    protocol: ExemplarConfig,
    line: str,
    source: str,
    response: str,
    context: str | None,
    calls: Calls,
) -> AnySteps[_Scored | str]:
    """Return the score on one criterion, or why there is none."""
    exemplars = yield from written_exemplars(
        protocol, line, source=source, context=context, calls=calls
    )
    if isinstance(exemplars, str):
        return exemplars
    others = [one.text for one in exemplars]
    found = yield from comparisons(
        protocol, line, response, others, source=source, context=context, calls=calls
    )
    return found if isinstance(found, str) else _scored(protocol, found, exemplars)


def _scored(
    protocol: ExemplarConfig, found: Comparisons, exemplars: tuple[Exemplar, ...]
) -> _Scored:
    def points(compared: tuple[Compared, ...]) -> tuple[float, float]:
        s = comparison_sum(compared, mirrored=protocol.mirrored)
        how = protocol.normalisation
        return s, normalised(s, protocol.levels, how, mirrored=protocol.mirrored)

    s, score = points(found.compared)
    return _Scored(
        score=CriterionScore(score=score, explanation=_said(s, found, exemplars)),
        how=Weighting(
            mode=found.mode,
            stated=points(found.stated)[1],
            mass=found.mass,
            reason=found.reason,
            n=found.n,
            sum=s,
        ),
    )


def _said(s: float, found: Comparisons, exemplars: tuple[Exemplar, ...]) -> str:
    """Return in words how the response compares with the exemplars."""
    by: dict[str, list[str]] = {"better than": [], "like": [], "worse than": []}
    for exemplar, one in zip(exemplars, found.compared, strict=True):
        alike = 1 - one.better - one.worse
        likeliest = max((one.better, "better than"), (one.worse, "worse than"), (alike, "like"))
        by[likeliest[1]].append(str(exemplar.level))
    parts = [f"{how} {', '.join(levels)}" for how, levels in by.items() if levels]
    flags = [f"that of level {one.level} is {_flagged(one)}" for one in exemplars if one.flags]
    noted = f" Of the exemplars, {'; '.join(flags)}." if flags else ""
    most = largest_sum(len(exemplars))
    return f"Of levels 1 to {len(exemplars)} {'; '.join(parts)} (sum {s:+.2f} of {most}).{noted}"


def _flagged(exemplar: Exemplar) -> str:
    """Return what is wrong with an exemplar: ``empty``, ``a copy of level 1``."""
    return ", ".join(f"a {one}" if one.startswith("copy") else one for one in exemplar.flags)


class Rung(BaseModel):
    """One exemplar, and how the judge places it against the one below."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    level: int
    text: str
    flags: tuple[str, ...] = ()
    above: FiniteFloat | None = None


class Ladder(BaseModel):
    """The exemplars of one source and criterion."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    criterion: str
    rungs: tuple[Rung, ...] = ()
    problem: str = ""


class LadderJudgement(Judgement):
    """What becomes of one source.

    Its ladders, and as the score how many neighbours are in order.
    """

    ladders: tuple[Ladder, ...] = ()


class LadderAsker(Asker):
    """Writes the exemplars of items' sources and compares neighbours; responses are not read."""

    def __init__(self, judge: Askable, lm: Any = None) -> None:
        if not isinstance(judge.protocol, ExemplarConfig):
            raise InputError(
                f"only exemplar judges write exemplars; this is one of the family "
                f"{judge.protocol.judge}."
            )
        self._protocol = judge.protocol
        self._asker = Asker.of(judge, lm)

    async def judge(self, item: RatedItem) -> Judgement:
        """Return the ladders of an item's source."""
        steps = ladder_steps(self._protocol, source=item.source, context=item.context)
        return await self._asker.taken(steps)

    async def aclose(self) -> None:
        """Let go of what belongs to the running event loop."""
        await self._asker.aclose()


def ladder_steps(
    protocol: ExemplarConfig, *, source: str, context: str | None = None
) -> AnySteps[LadderJudgement]:
    """Write the exemplars of one source for every criterion, and compare neighbours."""
    calls = Calls()
    courses = [
        _ladder(protocol, name, line, source, context, calls)
        for name, line in criteria_lines(protocol).items()
    ]
    ladders = tuple((yield from together(courses)))
    placed = [rung.above for one in ladders for rung in one.rungs if rung.above is not None]
    if not placed:
        reason = next((one.problem for one in ladders if one.problem), "there are no neighbours")
        return LadderJudgement(score=None, problem=reason, calls=tuple(calls.made), ladders=ladders)
    score = 100 * sum(one > 0 for one in placed) / len(placed)
    return LadderJudgement(score=score, calls=tuple(calls.made), ladders=ladders)


def _ladder(
    protocol: ExemplarConfig,
    name: str,
    line: str,
    source: str,
    context: str | None,
    calls: Calls,
) -> AnySteps[Ladder]:
    written = yield from written_exemplars(
        protocol, line, source=source, context=context, calls=calls
    )
    if isinstance(written, str):
        return Ladder(criterion=name, problem=written)
    pairs = zip(written[1:], written[:-1], strict=True)
    verdicts = yield from together(
        [
            comparisons(
                protocol,
                line,
                upper.text,
                [lower.text],
                source=source,
                context=context,
                calls=calls,
            )
            for upper, lower in pairs
        ]
    )
    found = [None if isinstance(one, str) else one.compared[0] for one in verdicts]
    above = [None, *(None if one is None else one.better - one.worse for one in found)]
    return Ladder(
        criterion=name,
        rungs=tuple(
            Rung(level=one.level, text=one.text, flags=one.flags, above=by)
            for one, by in zip(written, above, strict=True)
        ),
        problem=next((one for one in verdicts if isinstance(one, str)), ""),
    )

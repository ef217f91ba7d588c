"""The steps of a judge by synthetic exemplars: write them, compare with them, add up.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from judgesmith.programs.critic_questions import criteria_text
from judgesmith.programs.effort import ATTEMPTS_TO_READ, Effort
from judgesmith.programs.exemplar_comparing import Comparisons, comparisons
from judgesmith.programs.exemplar_scores import (
    Compared,
    comparison_sum,
    largest_sum,
    normalised,
)
from judgesmith.programs.exemplar_writing import Exemplar, written_exemplars
from judgesmith.programs.judging import AnySteps, Calls, Steps
from judgesmith.programs.question_forms import QuestionForm
from judgesmith.programs.sampled_steps import Asking, Once, sampled_steps
from judgesmith.programs.templates import Kind
from judgesmith.programs.together import together
from judgesmith.programs.weighing import OVERALL, criterion_term
from judgesmith.programs.whole_or_each import of_criteria, of_the_whole
from judgesmith.signatures.exemplars import ExemplarProtocol
from judgesmith.signatures.judgement import CriterionScore, Weighting
from judgesmith.signatures.scale import PERCENT, Scale

WHOLE = "quality as a whole"
"""What the criterion is called where exemplars are of all things together."""

_ENDS = Scale.categorical("the worst", "the best")
_TEXT: tuple[Mapping[str, Kind], ...] = ({"exemplar": "text"},)


def exemplar_forms(protocol: ExemplarProtocol) -> dict[str, QuestionForm]:
    """Return the questions of an exemplar judge, whatever it asks about.

    Examples
    --------
    >>> list(exemplar_forms(ExemplarProtocol()))
    ['end', 'between', 'compare']
    """
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


def exemplar_inputs(protocol: ExemplarProtocol, question: str) -> dict[str, str]:
    """Return the inputs of a question that are the same for every item, by field."""
    task = protocol.rubric.task
    fixed = {"task": task} if task else {}
    return fixed if question == "compare" else {**fixed, "manner": protocol.asked_manner}


def exemplar_calls(protocol: ExemplarProtocol) -> int:
    """Return the calls of a text by itself: N exemplars and N comparisons for each criterion.

    Exemplars of a source are written once, whatever is compared with them later; without
    log-probabilities every comparison is asked ``n_sampled`` times more.

    Examples
    --------
    >>> exemplar_calls(ExemplarProtocol()), exemplar_calls(ExemplarProtocol(order="both"))
    (10, 15)
    """
    n_orders = 2 if protocol.order == "both" else 1
    n_drawn = protocol.n_sampled if protocol.verdicts == "samples" else 1
    n_criteria = len(protocol.rubric.criteria) if protocol.scores_criteria else 1
    return n_criteria * protocol.levels * (1 + n_orders * n_drawn)


def exemplar_efforts(protocol: ExemplarProtocol, n_responses: int) -> dict[str, Effort]:
    """Return how often each question is asked for the responses to a source.

    As a rule exemplars are written once for all of them; without a ledger, for each. A comparison
    that comes without log-probabilities is drawn ``n_sampled`` times more.

    Examples
    --------
    >>> found = exemplar_efforts(ExemplarProtocol(), 6)
    >>> [one.usual for one in found.values()], [one.calls for one in found.values()]
    ([2, 3, 30], [12, 18, 30])
    >>> found["compare"].unlisted, found["compare"].most
    (180, 360)
    """
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


def criteria_lines(protocol: ExemplarProtocol) -> dict[str, str]:
    """Return the criteria that exemplars are of, as the model reads them, by name.

    Examples
    --------
    >>> rubric = {"criteria": {"wit": "Funny?"}}
    >>> criteria_lines(ExemplarProtocol(asks="criteria", rubric=rubric))
    {'wit': 'wit: Funny?'}
    >>> print(criteria_lines(ExemplarProtocol(rubric=rubric))["quality as a whole"])
    quality as a whole: How good is the response, all things taken together?
    What counts in it:
    wit: Funny?
    """
    rubric = protocol.rubric
    lines = criteria_text(rubric, _ENDS)
    if protocol.scores_criteria:
        return dict(zip(rubric.names, lines.split("\n"), strict=True))
    whole = f"{WHOLE}: How good is the response, all things taken together?"
    return {WHOLE: f"{whole}\nWhat counts in it:\n{lines}" if rubric.criteria else whole}


def exemplar_steps(
    protocol: ExemplarProtocol, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement.

    Raises
    ------
    TypeError
        At the first step, if source or response is no text.
    """

    def once(asking: Asking) -> Once:
        return _judged(protocol, source, response, context, asking.calls)

    return sampled_steps(protocol, once, source=source, response=response, context=context)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    score: CriterionScore
    how: Weighting


def _judged(
    protocol: ExemplarProtocol, source: str, response: str, context: str | None, calls: Calls
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
    protocol: ExemplarProtocol,
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
    protocol: ExemplarProtocol, found: Comparisons, exemplars: tuple[Exemplar, ...]
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

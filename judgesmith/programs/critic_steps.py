"""The steps of an Active-Critic judge: criteria first, then the whole (Active-Critic, stage 2).

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from statistics import fmean
from typing import Any

from judgesmith.programs.aggregating import aggregate
from judgesmith.programs.judging import Ask, Calls, Reply, Steps, asked
from judgesmith.signatures.judgement import Assessment, CriterionScore, Judgement
from judgesmith.signatures.protocol import Protocol
from judgesmith.signatures.rubric import Rubric, folded
from judgesmith.signatures.scale import PERCENT

Text = str | None


def critic_steps(
    protocol: Protocol, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement.

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
    judge_once = _vanilla if protocol.variant == "vanilla" else _fine
    found: list[Judgement] = []
    for sample in range(protocol.samples):
        again = protocol.samples + sample
        found.append((yield from judge_once(protocol.rubric, texts, sample, again, calls)))
    judgement = _averaged(found, tuple(calls.made))
    return aggregate(protocol.aggregation, judgement, source, context, response)


def criteria_text(rubric: Rubric) -> str:
    """Return the criteria as the model reads them, one per line.

    Examples
    --------
    >>> print(criteria_text(Rubric(criteria={"brevity": "Is it short?"})))
    brevity: Is it short?
    """
    lines = []
    for criterion in rubric.criteria:
        ends = [("0", criterion.worst), ("100", criterion.best)]
        meanings = [f"{points} means: {text}." for points, text in ends if text]
        lines.append(f"{criterion.name}: {_one_line(' '.join([criterion.definition, *meanings]))}")
    return "\n".join(lines)


def assessments_text(criteria: Mapping[str, CriterionScore]) -> str:
    """Return scores and explanations as the overall question shows them, one line each.

    Examples
    --------
    >>> assessments_text({"brevity": CriterionScore(score=85, explanation="One sentence.")})
    '- brevity: 85. One sentence.'
    """
    return "\n".join(
        f"- {name}: {'no score' if one.score is None else f'{one.score:g}'}. "
        f"{_one_line(one.explanation)}".rstrip()
        for name, one in criteria.items()
    )


def _vanilla(
    rubric: Rubric, texts: Mapping[str, Text], sample: int, again: int, calls: Calls
) -> Generator[Ask, Reply, Judgement]:
    ask = Ask(predictor="grade", inputs=texts, sample=sample)
    score = yield from asked(ask, _overall_score, again=again, calls=calls)
    if isinstance(score, str):
        return Judgement.unscored(score)
    return Judgement(score=score, raw=score)


def _fine(
    rubric: Rubric, texts: Mapping[str, Text], sample: int, again: int, calls: Calls
) -> Generator[Ask, Reply, Judgement]:
    ask = Ask(predictor="assess", inputs=texts, sample=sample)
    criteria = yield from asked(
        ask, lambda fields: _by_criterion(fields, rubric.names), again=again, calls=calls
    )
    if isinstance(criteria, str):
        return Judgement.unscored(f"the criteria have no scores: {criteria}")
    inputs = {**texts, "assessments": assessments_text(criteria)}
    ask = Ask(predictor="overall", inputs=inputs, sample=sample)
    answer = yield from asked(ask, _explained_score, again=again, calls=calls)
    if isinstance(answer, str):
        return Judgement.unscored(answer, criteria=criteria)
    score, explanation = answer
    return Judgement(score=score, raw=score, explanation=explanation, criteria=criteria)


def _overall_score(fields: Mapping[str, Any]) -> float:
    return _in_range(fields["score"])


def _explained_score(fields: Mapping[str, Any]) -> tuple[float, str]:
    return _in_range(fields["score"]), str(fields["explanation"])


def _by_criterion(fields: Mapping[str, Any], names: Sequence[str]) -> dict[str, CriterionScore]:
    wanted = {folded(name): name for name in names}
    given: dict[str, Assessment] = {}
    for one in fields["assessments"]:
        name = wanted.get(folded(one.criterion))
        if name in given:
            raise ValueError(f"the criterion {name} is assessed twice.")
        if name is not None:
            given[name] = one
    missing = [name for name in names if name not in given]
    if missing:
        raise ValueError(f"no assessment of {', '.join(missing)}.")
    found = {name: given[name] for name in names}
    return {
        name: CriterionScore(score=_in_range(one.score), explanation=one.explanation)
        for name, one in found.items()
    }


def _in_range(points: float) -> float:
    if points not in PERCENT:
        raise ValueError(f"the model answered {points:g}, outside {PERCENT}.")
    return float(points)


def _averaged(found: Sequence[Judgement], calls: tuple[str, ...]) -> Judgement:
    scored = [one for one in found if one.score is not None]
    if not scored:
        return found[0].model_copy(update={"calls": calls})
    if len(scored) == 1:
        return scored[0].model_copy(update={"calls": calls})
    raw = fmean(one.raw for one in scored if one.raw is not None)
    criteria = {
        name: CriterionScore(score=fmean(points), explanation=scored[0].criteria[name].explanation)
        for name in scored[0].criteria
        if (points := [s for one in scored if (s := one.criteria[name].score) is not None])
    }
    update = {"score": raw, "raw": raw, "criteria": criteria, "calls": calls}
    return scored[0].model_copy(update=update)


def _one_line(text: str) -> str:
    return " ".join(text.split())

"""A score that is the mean of all that a model might have given, weighed by their probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from judgesmith.programs.answer_probabilities import AnswerProbabilities
from judgesmith.signatures.answer_scale import levels_of
from judgesmith.signatures.judgement import CriterionScore, Judgement, Weighting
from judgesmith.signatures.scale import Scale

OVERALL = "overall"

_NOTHING = 1e-12  # points, which chances that are hardly told from 0 leave of the lowest level
_NOT_ASKED = AnswerProbabilities.none("no probabilities were asked for with this question")


def criterion_term(name: str) -> str:
    """Return what the score on a criterion is called beside the overall one."""
    return f"criterion:{name}"


def weighed(
    judgement: Judgement, found: Mapping[str, AnswerProbabilities], answers: Scale
) -> Judgement:
    """Return a judgement whose scores are weighed by probabilities, as far as there are any.

    A score of the whole that was not asked for is the mean of the criteria again.

    Parameters
    ----------
    judgement : Judgement
        Of one sample, with the scores that the model stated, on 0 to 100.
    found : dict of str to AnswerProbabilities
        Of the levels of the scale, by ``overall`` and ``criterion:NAME``.
    answers : Scale
        What the model answered on.

    References
    ----------
    Liu et al. (2023), "G-Eval", EMNLP, section 2. arXiv:2303.16634.

    Examples
    --------
    >>> chances = {"1": 0, "2": 0, "3": 0.5, "4": 0.5, "5": 0}
    >>> given = AnswerProbabilities(mode="probabilities", values=chances, mass=0.9)
    >>> judgement = Judgement(score=75, raw=75, criteria={"wit": {"score": 25}})
    >>> result = weighed(judgement, {"overall": given}, Scale(low=1, high=5))
    >>> result.score, result.criteria["wit"].score
    (62.5, 25.0)
    >>> [how.mode for how in result.weighting.values()]
    ['probabilities', 'stated']
    """
    how: dict[str, Weighting] = {}

    def score(term: str, stated: float) -> float:
        given = found.get(term, _NOT_ASKED)
        if given.mode == "none":
            how[term] = Weighting(
                mode="stated", stated=stated, mass=given.mass, reason=given.reason
            )
            return stated
        how[term] = Weighting(mode="probabilities", stated=stated, mass=given.mass)
        levels = levels_of(answers)
        points = sum(chance * levels[level] for level, chance in given.values.items())
        return points if points > _NOTHING else 0.0

    again = _rescored(judgement, score, asked=OVERALL in found)
    update = (
        {"weighting": how} if judgement.score is None else {"weighting": how, "score": again.raw}
    )
    return again.model_copy(update=update)


def as_stated(judgement: Judgement) -> Judgement:
    """Return a judgement with the scores that the model stated, whatever weighed them.

    Examples
    --------
    >>> how = {"overall": {"mode": "probabilities", "stated": 75, "mass": 1}}
    >>> as_stated(Judgement(score=62.5, raw=62.5, weighting=how)).raw
    75.0
    """
    how = judgement.weighting
    if not how:
        return judgement
    return _rescored(
        judgement,
        lambda term, now: how[term].stated if term in how else now,
        asked=OVERALL in how,
    )


def joined_weighting(
    several: Sequence[Mapping[str, Weighting]], reduce: Callable[[Sequence[float]], float]
) -> dict[str, Weighting]:
    """Return how scores of several samples came about; one that was stated makes all stated.

    Examples
    --------
    >>> by = [Weighting(mode="probabilities", stated=50, mass=0.9)]
    >>> by += [Weighting(mode="stated", stated=75, reason="no list")]
    >>> joined = joined_weighting([{"overall": one} for one in by], fmean)["overall"]
    >>> joined.mode, joined.stated, joined.reason
    ('stated', 62.5, 'in 1 of 2 samples: no list')
    """
    joined: dict[str, Weighting] = {}
    for term in dict.fromkeys(term for one in several for term in one):
        found = [one[term] for one in several if term in one]
        without = [one.reason for one in found if one.mode == "stated"]
        joined[term] = Weighting(
            mode="stated" if without else "probabilities",
            stated=reduce([one.stated for one in found]),
            mass=min(one.mass for one in found),
            reason=f"in {len(without)} of {len(found)} samples: {without[0]}" if without else "",
        )
    return joined


def _rescored(
    judgement: Judgement, score: Callable[[str, float], float], *, asked: bool
) -> Judgement:
    """Return a judgement with other numbers; one of the whole that was not asked is a mean."""
    raw = judgement.raw
    if raw is not None and asked:
        raw = score(OVERALL, raw)
    criteria = {
        name: one
        if one.score is None
        else CriterionScore(
            score=score(criterion_term(name), one.score), explanation=one.explanation
        )
        for name, one in judgement.criteria.items()
    }
    scores = [one.score for one in criteria.values() if one.score is not None]
    if raw is not None and scores and not asked:
        raw = fmean(scores)
    return judgement.model_copy(update={"criteria": criteria, "raw": raw})

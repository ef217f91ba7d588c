"""What a panel says of a response, made of what its members say."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field, FiniteFloat

from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.panel_weights import PanelWeights


class PanelJudgement(Judgement):
    """What a panel says of one response.

    Parameters
    ----------
    members : dict of str to (float or None)
        Score of every member that was asked, in points of its own scale.
    voice : str or None
        The heaviest member with a score: criteria, errors and explanation are its own.
    disagreement : float or None
        Standard deviation of the members' scores in points of the panel's scale, weighed; None
        where fewer than two have a score.
    """

    members: Mapping[str, FiniteFloat | None] = Field(default_factory=dict)
    voice: str | None = None
    disagreement: FiniteFloat | None = None


def panel_judgement(judgements: Mapping[str, Judgement], weights: PanelWeights) -> PanelJudgement:
    """Return the judgement that those of a panel's members make.

    Examples
    --------
    >>> from judgesmith.signatures import Scale
    >>> weights = PanelWeights.equal({"a": Scale(low=0, high=100), "b": Scale(low=1, high=5)})
    >>> panel_judgement({"a": Judgement(score=50), "b": Judgement(score=4)}, weights).score
    62.5
    """
    scores = {name: judgements[name].score for name in weights.asked}
    calls = tuple(call for name in weights.asked for call in judgements[name].calls)
    how = {
        f"{name}/{term}": one
        for name in weights.asked
        for term, one in judgements[name].weighting.items()
    }
    notes = tuple(
        note.model_copy(update={"about": f"{name}/{note.about}"})
        for name in weights.asked
        for note in judgements[name].notes
    )
    score = weights.apply(scores)
    if score is None:
        reasons = "; ".join(f"{name}: {judgements[name].problem}" for name in weights.asked)
        problem = f"no member of the panel gave a score: {reasons}"
        return PanelJudgement(score=None, problem=problem, calls=calls, members=scores, notes=notes)
    voice = next(name for name in weights.asked if scores[name] is not None)
    return PanelJudgement(
        score=score,
        explanation=judgements[voice].explanation,
        criteria=judgements[voice].criteria,
        errors=judgements[voice].errors,
        calls=calls,
        members=scores,
        voice=voice,
        disagreement=weights.disagreement(scores),
        weighting=how,
        notes=notes,
    )

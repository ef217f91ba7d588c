"""A judgement on the scale of people: how a calibration makes it of a judge's own."""

from __future__ import annotations

from statistics import pstdev

from pydantic import FiniteFloat

from judgesmith.programs.panel_judgement import PanelJudgement
from judgesmith.signatures.calibration import Calibration, Doubt
from judgesmith.signatures.judgement import Judgement


class CalibratedJudgement(Judgement):
    """A verdict on the scale of people, and how far to trust it.

    Parameters
    ----------
    low, high : float or None
        Ends of the interval that holds what people say as often as claimed; None where the judge
        gave no score.
    abstained : bool
        True where the judge has a score but leaves the text to people: ``score`` is None then and
        ``problem`` says why.
    doubt : float or None
        How unsure the judge is, in points; see ``Abstention``.
    uncalibrated : float or None
        The judge's score before, in points of its own scale.
    """

    low: FiniteFloat | None = None
    high: FiniteFloat | None = None
    abstained: bool = False
    doubt: FiniteFloat | None = None
    uncalibrated: FiniteFloat | None = None


def calibrated(judgement: Judgement, calibration: Calibration) -> CalibratedJudgement:
    """Return a judgement of a judge on the scale of people, or why it is left to them.

    Examples
    --------
    >>> learned = Calibration(
    ...     thresholds=(0, 100), values=(1, 5), scale="1..5", confidence=0.9, n_map=40,
    ...     n_sources_map=20, n_margin=4, n_sources_margin=4,
    ... )
    >>> found = calibrated(Judgement(score=75), learned)
    >>> found.score, found.low, found.high
    (4.0, 1.0, 5.0)
    """
    names = Judgement.model_fields
    kept = {name: getattr(judgement, name) for name in names}
    if judgement.score is None:
        return CalibratedJudgement(**kept)
    points = calibration.apply(judgement.score)
    low, high = calibration.interval(points)
    rule = calibration.abstention
    doubt = None if rule is None else doubt_of(judgement, rule.doubt)
    why_not = None if rule is None else rule.why_not(doubt)
    return CalibratedJudgement(
        **{**kept, "score": points if why_not is None else None, "problem": why_not},
        low=low,
        high=high,
        abstained=why_not is not None,
        doubt=doubt,
        uncalibrated=judgement.score,
    )


def doubt_of(judgement: Judgement, kind: Doubt) -> float | None:
    """Return how unsure a judge is of a score, None where nothing tells.

    Parameters
    ----------
    judgement : Judgement
        Before it is calibrated.
    kind : {"members", "criteria"}
        The disagreement of a panel, in points of its scale; or the standard deviation of the
        criteria's scores, on 0 to 100, where two or more have one.

    Examples
    --------
    >>> doubt_of(Judgement(score=5, criteria={"a": {"score": 40}, "b": {"score": 60}}), "criteria")
    10.0
    """
    if kind == "members":
        return judgement.disagreement if isinstance(judgement, PanelJudgement) else None
    scores = [one.score for one in judgement.criteria.values() if one.score is not None]
    return pstdev(scores) if len(scores) > 1 else None

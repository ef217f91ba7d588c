"""A judge whose scores are on the scale of people, with an interval, or left to people."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import pstdev
from typing import Any

from pydantic import FiniteFloat

from judgesmith.programs.holding import AnyJudge, JudgeOfJudges
from judgesmith.programs.panel import PanelJudgement
from judgesmith.signatures.calibration import Calibration, Doubt
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.scale import Scale


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


class Calibrated(JudgeOfJudges):
    """A judge with a calibration; what ``Calibrator`` returns.

    Parameters
    ----------
    judge : judge
        Any judge, also a ``Panel``.
    calibration : Calibration
        Learned on rows that nothing in the judge was learned from.

    Examples
    --------
    >>> from judgesmith.programs import ActiveCritic
    >>> learned = Calibration(
    ...     thresholds=(0, 100), values=(1, 5), scale="1..5", margin=0.8, confidence=0.9, n_map=40,
    ...     n_sources_map=20, n_margin=40, n_sources_margin=20,
    ... )
    >>> judge = Calibrated(ActiveCritic(), learned)
    >>> found = judge(source="The bridge opened on Monday.", response="It opened Monday.")
    >>> found.low <= found.score <= found.high, round(found.high - found.low, 6) <= 1.6
    (True, True)
    """

    def __init__(self, judge: AnyJudge, calibration: Calibration) -> None:
        super().__init__({"judge": judge})
        self._calibration = calibration

    @property
    def judge(self) -> AnyJudge:
        """The judge that is asked."""
        return self.members["judge"]

    @property
    def calibration(self) -> Calibration:
        """What was learned."""
        return self._calibration

    @property
    def scale(self) -> Scale:
        """What people rate on."""
        return self._calibration.scale

    @property
    def asked(self) -> tuple[str, ...]:
        """The one member."""
        return ("judge",)

    def combined(self, judgements: Mapping[str, Judgement]) -> CalibratedJudgement:
        """Return the judge's judgement, calibrated."""
        return calibrated(judgements["judge"], self._calibration)

    def settings(self) -> dict[str, Any]:
        """Return the calibration as plain data."""
        return self._calibration.model_dump(mode="json")

    def adopt(self, settings: Mapping[str, Any]) -> None:
        """Take over a calibration that ``settings`` returned."""
        self._calibration = Calibration.model_validate(settings)


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

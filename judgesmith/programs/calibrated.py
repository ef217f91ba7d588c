"""A judge whose scores are on the scale of people, with an interval, or left to people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgesmith.programs.calibrated_judgement import CalibratedJudgement, calibrated
from judgesmith.programs.holding import AnyJudge, JudgeOfJudges
from judgesmith.signatures.calibration import Calibration
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.scale import Scale


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

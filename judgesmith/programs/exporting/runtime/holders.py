"""Judges that hold judges: panels, and judges with a calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judgesmith.programs.calibrated_judgement import calibrated
from judgesmith.programs.exporting.runtime.asking import Asked
from judgesmith.programs.exporting.runtime.judges import Texts
from judgesmith.programs.panel_judgement import panel_judgement
from judgesmith.signatures.calibration import Calibration
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.panel_weights import PanelWeights


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelOf:
    """Several judges whose scores are standardised, weighed and put back on one scale."""

    members: Mapping[str, Any]
    weights: PanelWeights

    def judgement(self, texts: Texts, to: Asked) -> Judgement:
        """Return the judgement that the members' judgements make."""
        said = {name: one.judgement(texts, to) for name, one in self.members.items()}
        return panel_judgement(said, self.weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedOne:
    """A judge whose scores are put on the scale of people, with an interval, or left to them."""

    judge: Any
    calibration: Calibration

    def judgement(self, texts: Texts, to: Asked) -> Judgement:
        """Return the judge's judgement, calibrated."""
        return calibrated(self.judge.judgement(texts, to), self.calibration)

"""GPTScore: a response is as good as it is likely, after a prompt that asks for a good one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgesmith.programs.families.steps.gptscore import (
    gptscore_forms,
    gptscore_inputs,
    gptscore_template,
)
from judgesmith.programs.judging.choices import asks_choices
from judgesmith.programs.judging.judge import Judge, own_protocol
from judgesmith.programs.judging.prompts import Template
from judgesmith.signatures.config import GPTScoreConfig
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Space


class GPTScoreJudge(Judge):
    """Score by the likelihood of the response; the model writes nothing."""

    _settings: GPTScoreConfig

    def __init__(self, protocol: GPTScoreConfig | None = None, **choices: Any) -> None:
        own = own_protocol(GPTScoreConfig, protocol, choices)
        super().__init__(own)
        self._adopt(own)

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task and criteria as far as the prompt names them."""
        return gptscore_inputs(self._settings, predictor)

    def templates(self) -> dict[str, Template]:
        """Return every prompt, rendered up to the item, by its name."""
        own = self._settings
        return {name: gptscore_template(own, name) for name in gptscore_forms(own)}

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        return Space(choices=tuple(asks_choices(self._settings, rubrics)))

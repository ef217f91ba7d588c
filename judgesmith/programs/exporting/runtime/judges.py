"""A judge by itself: what it asks, in which steps, and what it says of a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from judgesmith.programs.answering import answered
from judgesmith.programs.exporting.runtime.asking import Asked, answering
from judgesmith.programs.exporting.runtime.questions import Template
from judgesmith.programs.judging import Steps
from judgesmith.programs.models.errors import (
    ModelError,
    TransientModelError,
    speaks_of_one_item,
)
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.judgement import Judgement

Texts = Mapping[str, str | None]
"""Source, context and response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneJudge:
    """A judge that asks a model itself.

    Attributes
    ----------
    model : str
        The model that it was compiled with, as its server calls it.
    protocol : JudgeProtocol
        Everything that was tuned and learned.
    steps : callable
        Takes the protocol and the texts, and returns the steps of a judgement.
    questions : dict of str to Template
        Every model call, up to the item.
    """

    model: str
    protocol: JudgeProtocol
    steps: Callable[..., Steps]
    questions: dict[str, Template]

    def judgement(self, texts: Texts, to: Asked) -> Judgement:
        """Return the judgement of one text, unscored where the model did not answer.

        Raises
        ------
        ModelError
            If the model cannot be asked at all, such as with a wrong key.
        """
        settings: dict[str, Any] = {
            "temperature": self.protocol.temperature,
            "max_tokens": self.protocol.max_tokens,
        }
        reply = answering(self.questions, to=to, model=self.model, settings=settings)
        try:
            return answered(self.steps(self.protocol, **texts), reply)
        except TransientModelError as fault:
            return Judgement.unscored(f"the model could not be reached: {fault}")
        except ModelError as fault:
            if not speaks_of_one_item(fault):
                raise
            return Judgement.unscored(f"the model refused the request: {fault}")

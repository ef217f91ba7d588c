"""GPTScore: a response is as good as it is likely, after a prompt that asks for a good one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgesmith.programs.choices import asks_choices
from judgesmith.programs.constructing import own_protocol
from judgesmith.programs.gptscore_steps import (
    gptscore_forms,
    gptscore_inputs,
    gptscore_steps,
    gptscore_template,
)
from judgesmith.programs.judge import Judge
from judgesmith.programs.judging import Steps
from judgesmith.programs.templates import Template
from judgesmith.signatures.gptscore import GPTScoreProtocol
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Space


class GPTScore(Judge):
    """Score by the likelihood of the response; the model writes nothing.

    Needs an endpoint that tells the log-probabilities of a text that it is shown; any other is
    refused before anything is judged. It has no predictors: there is no instruction to rewrite.

    Parameters
    ----------
    protocol : GPTScoreProtocol or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``asks="criteria"``.

    Raises
    ------
    ValueError
        If each criterion is to be scored and the rubric has none.

    References
    ----------
    Fu et al. (2024), "GPTScore: Evaluate as You Desire", NAACL. arXiv:2302.04166. The words of
    the prompts are our own.

    Examples
    --------
    >>> judge = GPTScore()
    >>> source = "The bridge opened on Monday."
    >>> near, far = (judge(source=source, response=text).score for text in (source, "Zyx qvb!"))
    >>> near > far
    True
    """

    _settings: GPTScoreProtocol

    def __init__(self, protocol: GPTScoreProtocol | None = None, **choices: Any) -> None:
        own = own_protocol(GPTScoreProtocol, protocol, choices)
        super().__init__(own)
        self._adopt(own)

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Return the judgement of one response, as a generator of questions."""
        return gptscore_steps(self._settings, source=source, response=response, context=context)

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

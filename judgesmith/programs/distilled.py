"""The judge that asks a model which learned from annotators, in the form of its training."""

from __future__ import annotations

from typing import Any

from judgesmith.programs.constructing import own_protocol
from judgesmith.programs.distilled_steps import distilled_steps
from judgesmith.programs.formed import Formed
from judgesmith.programs.judging import Steps
from judgesmith.signatures.distilled import DistilledProtocol


class DistilledJudge(Formed):
    """Ask a distilled model for errors with their places and a score from 0 to 100.

    Parameters
    ----------
    protocol : DistilledProtocol or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``rubric``.

    Raises
    ------
    ValueError
        If each criterion is to be scored and the rubric has none.

    References
    ----------
    Kartáč, Lango and Dušek (2025), "OpeNLGauge: An Explainable Metric for NLG Evaluation with
    Open-Weights LLMs", arXiv:2503.11858, on distillation. The words of the form are our own.

    Examples
    --------
    >>> judge = DistilledJudge(rubric={"criteria": {"faithfulness": "Is it true to the source?"}})
    >>> found = judge(source="Ann left Rome in May.", response="Then Bob left Rome.")
    >>> [(one.text, one.start, one.criterion) for one in found.errors]
    [('Bob', 5, 'faithfulness')]
    """

    _settings: DistilledProtocol

    def __init__(self, protocol: DistilledProtocol | None = None, **choices: Any) -> None:
        super().__init__(own_protocol(DistilledProtocol, protocol, choices))

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Return the judgement of one response, as a generator of questions."""
        return distilled_steps(self._settings, source=source, response=response, context=context)

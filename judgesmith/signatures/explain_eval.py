"""What a judge that analyses and rates asks, and what can be chosen about it."""

from __future__ import annotations

from typing import Literal

from judgesmith.signatures.scale import Scale
from judgesmith.signatures.whole_or_each import WholeOrEachProtocol

ENDS = ("as poor as such texts get", "as good as such texts get")
"""What the lowest and the highest score mean."""


class ExplainEvalProtocol(WholeOrEachProtocol):
    """The whole of a judge that analyses and rates, but its model.

    Parameters
    ----------
    judge : str
        Always ``explain-eval``.
    asks : {"criteria", "overall"}
        One question for each criterion, whose mean is the score, or one about the whole.
    explain : {"before", "after", "none"}
        Analyse, then rate; rate, then explain; or the score alone.
    rubric, answers, instructions, samples, weighting, temperature, max_tokens, aggregation
        See ``JudgeProtocol``.

    Examples
    --------
    >>> ExplainEvalProtocol(explain="after").own_score
    'the mean of the criteria'
    """

    judge: Literal["explain-eval"] = "explain-eval"
    explain: Literal["before", "after", "none"] = "before"
    answers: Scale = Scale(low=1, high=5)

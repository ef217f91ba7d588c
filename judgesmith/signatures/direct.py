"""What a direct judge asks, and what can be chosen about it."""

from __future__ import annotations

from typing import Literal

from judgesmith.signatures.whole_or_each import WholeOrEachProtocol

ENDS = ("as bad as can be", "as good as can be")
"""What the lowest and the highest score mean."""


class DirectProtocol(WholeOrEachProtocol):
    """The whole of a direct judge but its model.

    Parameters
    ----------
    judge : str
        Always ``direct``.
    asks : {"overall", "criteria"}
        One question about the whole, or one for each criterion, whose mean is the score.
    rubric, answers, instructions, demonstrations, samples, temperature, max_tokens, aggregation
        See ``JudgeProtocol``.

    Examples
    --------
    >>> DirectProtocol().scored_criteria
    ()
    >>> DirectProtocol(asks="criteria", rubric={"criteria": {"brevity": "Short?"}}).scored_criteria
    ('brevity',)
    """

    judge: Literal["direct"] = "direct"
    asks: Literal["overall", "criteria"] = "overall"

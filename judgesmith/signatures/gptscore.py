"""What a judge by likelihood shows before the response, and what can be chosen about it."""

from __future__ import annotations

from typing import Literal

from judgesmith.signatures.whole_or_each import WholeOrEachProtocol


class GPTScoreProtocol(WholeOrEachProtocol):
    """The whole of a judge by likelihood, but its model.

    Parameters
    ----------
    judge : str
        Always ``gptscore``.
    asks : {"overall", "criteria"}
        The response after one prompt that names all criteria, or after one for each of them, of
        which the mean is the score.
    samples, weighting, reduction, nearest
        Always as they are: the same text has the same likelihood each time.
    rubric, aggregation
        See ``JudgeProtocol``; the other parts play no role, as the model writes nothing.

    Examples
    --------
    >>> GPTScoreProtocol().own_score
    'the likelihood of the response, by token'
    """

    judge: Literal["gptscore"] = "gptscore"
    asks: Literal["overall", "criteria"] = "overall"
    samples: Literal[1] = 1
    weighting: Literal["none"] = "none"

    @property
    def own_score(self) -> str:
        """What the score is made of where nothing was learned."""
        by_criterion = " after each criterion, on average" if self.scores_criteria else ""
        return f"the likelihood of the response, by token{by_criterion}"

"""What families share that ask about the whole or about each criterion."""

from __future__ import annotations

from typing import Literal

from judgesmith.signatures.judge_protocol import JudgeProtocol


class WholeOrEachProtocol(JudgeProtocol):
    """The part of a protocol that says what is asked about.

    A subclass that asks about the whole unless it is told otherwise gives ``asks`` that default.

    Parameters
    ----------
    asks : {"criteria", "overall"}
        One question for each criterion, whose mean is the score, or one about the whole.

    Examples
    --------
    >>> WholeOrEachProtocol(judge="mine", asks="overall").scored_criteria
    ()
    """

    asks: Literal["criteria", "overall"] = "criteria"

    @property
    def scores_criteria(self) -> bool:
        """Whether the judge gives each criterion a score of its own."""
        return self.asks == "criteria"

    @property
    def own_score(self) -> str:
        """What the score is made of where nothing was learned."""
        return "the mean of the criteria" if self.scores_criteria else super().own_score

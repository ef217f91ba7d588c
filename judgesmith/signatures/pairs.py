"""What a judge that compares asks, and what can be chosen about it."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, FiniteFloat, model_validator

from judgesmith.errors import InputError
from judgesmith.signatures.aggregation import Aggregation
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.scale import Scale

PREFERENCES = Scale.categorical("B", "tie", "A")
"""What a comparison is answered with; the better the text that is shown first, the higher."""


class PairsProtocol(JudgeProtocol):
    """The whole of a judge that compares but its model.

    Parameters
    ----------
    judge : str
        Always ``pairs``.
    ranking : {"beam", "all"}
        How the responses to a source are ranked: by a merge sort that follows uncertain
        comparisons both ways, or by how each does against all others.
    beam : int
        Most rankings under way that a merge keeps, 1 to 64. With 1 no comparison is followed both
        ways, and it is a plain merge sort.
    doubt : float
        A comparison is uncertain where the probability that the first response is better is at
        most this far from one half, 0 to 0.5.
    answers : Scale
        Always ``PREFERENCES``.
    weighting : {"probabilities", "none"}
        Whether a comparison counts as how probable each answer was, where the model says so, or as
        the answer that it stated.
    rubric, instructions, demonstrations, samples, temperature, max_tokens, aggregation
        See ``JudgeProtocol``. Samples are asked for in each order. Nothing is learned of how ranks
        become scores: a rank says nothing about another source.

    Examples
    --------
    >>> PairsProtocol().ranking, PairsProtocol().weighting
    ('beam', 'probabilities')
    """

    judge: Literal["pairs"] = "pairs"
    ranking: Literal["beam", "all"] = "beam"
    beam: int = Field(default=8, ge=1, le=64)
    doubt: FiniteFloat = Field(default=0.1, ge=0.0, le=0.5)
    answers: Scale = PREFERENCES
    weighting: Literal["none", "probabilities"] = "probabilities"

    @model_validator(mode="after")
    def _compares(self) -> Self:
        if self.answers != PREFERENCES:
            raise InputError(
                f"a comparison is answered with {', '.join(reversed(PREFERENCES.labels))}; got "
                f"{self.answers}."
            )
        if self.aggregation != Aggregation():
            raise InputError(
                "ranks within a source become no points by weights; leave the aggregation as it is."
            )
        return self

    @property
    def own_score(self) -> str:
        """What the score is made of."""
        return "the rank among the responses to the same source"

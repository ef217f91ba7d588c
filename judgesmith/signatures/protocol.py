"""Everything about an Active-Critic judge that can be tuned, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import model_validator

from judgesmith.errors import InputError
from judgesmith.signatures.aggregation import Aggregation
from judgesmith.signatures.demonstration import Demonstration
from judgesmith.signatures.judge_protocol import JudgeProtocol

__all__ = ["Aggregation", "Demonstration", "Protocol"]


class Protocol(JudgeProtocol):
    """The whole of an Active-Critic judge but its model: read, edit, compare it, put it back.

    Parameters
    ----------
    judge : str
        The family of judges that understands this protocol.
    variant : {"vanilla", "coarse", "fine"}
        Graded examples alone; task and criteria in one question with one overall score; or every
        criterion scored first, then the whole.
    criteria_calls : {"joint", "separate"}
        Whether the fine variant scores all criteria in one call or each in a call of its own.
    overall : {"asked", "mean"}
        Whether the fine variant asks for an overall score, or takes the mean of the criteria.
    explain : {"before", "after", "none"}
        Where explanations stand: before their scores, after them, or nowhere. The vanilla
        variant has none.
    rubric, answers, instructions, demonstrations, samples, temperature, max_tokens, aggregation
        See ``JudgeProtocol``.

    Raises
    ------
    ValueError
        If a value is out of its range, parts of the fine variant are chosen for another one, or
        the aggregation needs criteria that are not asked for.

    Examples
    --------
    >>> Protocol().fingerprint == Protocol(variant="fine").fingerprint
    True
    """

    judge: str = "active-critic"
    variant: Literal["vanilla", "coarse", "fine"] = "fine"
    criteria_calls: Literal["joint", "separate"] = "joint"
    overall: Literal["asked", "mean"] = "asked"
    explain: Literal["before", "after", "none"] = "before"

    @model_validator(mode="after")
    def _parts_of_its_variant(self) -> Self:
        for name, usual in (("criteria_calls", "joint"), ("overall", "asked")):
            given = getattr(self, name)
            if self.variant != "fine" and given != usual:
                raise InputError(
                    f"{name}={given} is a part of the fine variant; the {self.variant} one scores "
                    "no criteria by themselves."
                )
        return self

    @property
    def scores_criteria(self) -> bool:
        """Whether the judge gives each criterion of its rubric a score of its own."""
        return self.variant == "fine"

    @property
    def tells_rubric(self) -> bool:
        """Whether the model is told anything of task and criteria."""
        return self.variant != "vanilla"

    @property
    def own_score(self) -> str:
        """What the score is where nothing was learned, in words."""
        return "the mean of the criteria" if self.overall == "mean" else super().own_score

    def decided(self, sets: Mapping[str, Any]) -> Self:
        """Return the protocol with some parts set otherwise.

        Another variant has parts of its own: those of the fine one are then as usual, unless
        they are set.
        """
        bare = {"criteria_calls": "joint", "overall": "asked"} if "variant" in sets else {}
        return super().decided({**bare, **sets})

"""What can be chosen about a judge that asks a model which learned to point at errors."""

from __future__ import annotations

from typing import ClassVar, Literal

from judgesmith.signatures.formed import FormProtocol
from judgesmith.signatures.scale import PERCENT, Scale


class DistilledProtocol(FormProtocol):
    """The whole of a judge that asks a distilled model but that model.

    Parameters
    ----------
    asks, rubric, instructions, samples, reduction, temperature, max_tokens, aggregation
        See ``FormProtocol``. Task and criteria are to be worded as in the training data.

    Examples
    --------
    >>> DistilledProtocol().answers.high
    100.0
    """

    form: ClassVar[str] = "distilled"
    judge: Literal["distilled"] = "distilled"
    answers: Scale = PERCENT

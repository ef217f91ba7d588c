"""Good answers to start a benchmark from: the text of one, and the request to write one."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Reference(BaseModel):
    """A good text for one source, from which worse ones are made.

    Parameters
    ----------
    id : str
        Names it among those of its source, such as ``given-1`` or ``written-3``.
    text : str
        What it says; never blank.
    quality : float, optional
        What a judge makes of it, from 0 to 1; None where none was asked or it gave no score.

    Examples
    --------
    >>> Reference(id="given-1", text="It rained all day.").quality is None
    True
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)
    quality: float | None = Field(default=None, ge=0, le=1)

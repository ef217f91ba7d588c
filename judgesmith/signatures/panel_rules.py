"""What a panel whose members point at errors does with scores and errors that stand apart."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

OutlierRule = Literal["auto", "deviation", "median", "none"]
"""How members whose score stands apart are told; see ``programs.panel_outliers``."""


class PanelRules(BaseModel):
    """How the errors that several judges list of one response become one list.

    Parameters
    ----------
    outliers : {"auto", "deviation", "median", "none"}
        Which members' errors are left out of the list, though their scores stay in the mean:
        those two standard deviations and one level from the mean, those two levels from the
        median of the others, or none. ``auto`` goes by deviation from six scores on, and by the
        median below, where a deviation of two is nearly out of reach.
    level : float, above 0 to 1
        What a level is, as a share of each member's scale: a quarter, as five levels have four
        steps between them.
    most : int
        Errors that are kept of one criterion, the most severe.
    readable : float, 0 to 1
        The share of the members asked that must have a score, or the panel has none.

    Examples
    --------
    >>> PanelRules().outliers, PanelRules(most=3).most
    ('auto', 3)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    outliers: OutlierRule = "auto"
    level: float = Field(default=0.25, gt=0.0, le=1.0)
    most: int = Field(default=8, ge=1)
    readable: float = Field(default=0.5, ge=0.0, le=1.0)

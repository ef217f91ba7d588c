"""What an audit of groups reports."""

from dataclasses import dataclass

from judgesmith.metrics.estimate import Estimate
from judgesmith.metrics.record import Record

__all__ = ["GroupGap", "GroupGaps"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupGap(Record):
    """How a judge treats one group.

    Attributes
    ----------
    group : object
        Its label.
    gap : Estimate
        Points that the judge gives the group above what it gives all groups for the same human
        score; below 0 it is put at a disadvantage.
    p_value : float
        Two-sided, for the hypothesis of no gap, not corrected for the number of groups.
    agreement : Estimate
        Correlation of judge and people over the rows of the group.
    """

    group: object
    gap: Estimate
    p_value: float
    agreement: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupGaps(Record):
    """How a judge treats all groups.

    Attributes
    ----------
    groups : tuple of GroupGap
        In order of first appearance.
    largest : Estimate
        The highest gap minus the lowest, in the judge's points. Chance alone makes it larger than
        0; its interval holds all such differences at once, and starts at 0 where chance suffices.
    p_value : float
        For the hypothesis that no group differs from another.
    slope : float
        Points of the judge for one of people, within groups.
    n_unscored : int
        Rows left out because the judge gave no score.
    """

    groups: tuple[GroupGap, ...]
    largest: Estimate
    p_value: float
    slope: float
    n_unscored: int

from judgesmith.metrics.audits.groups import GroupGap, GroupGaps, group_gaps
from judgesmith.metrics.audits.length import LengthBias, length_bias
from judgesmith.metrics.audits.own_family import SelfPreference, self_preference
from judgesmith.metrics.audits.position import (
    PlaceEffects,
    PositionBias,
    place_effects,
    position_bias,
)
from judgesmith.metrics.audits.scale import ScaleUse, scale_use

__all__ = [
    "GroupGap",
    "GroupGaps",
    "LengthBias",
    "PlaceEffects",
    "PositionBias",
    "ScaleUse",
    "SelfPreference",
    "group_gaps",
    "length_bias",
    "place_effects",
    "position_bias",
    "scale_use",
    "self_preference",
]

from judgesmith.metrics.audits.bias import (
    LengthBias,
    PlaceEffects,
    PositionBias,
    SelfPreference,
    length_bias,
    place_effects,
    position_bias,
    self_preference,
)
from judgesmith.metrics.audits.groups import GroupGap, GroupGaps, group_gaps
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

"""What can be counted about a response without understanding it."""

from judgesmith.programs.features.vector import (
    FEATURE_INDEX,
    FEATURE_NAMES,
    FeatureVector,
    lexical_features,
)

__all__ = ["FEATURE_INDEX", "FEATURE_NAMES", "FeatureVector", "lexical_features"]

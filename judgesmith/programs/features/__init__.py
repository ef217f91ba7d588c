"""What can be counted about a response without understanding it."""

from judgesmith.programs.features.vector import (
    CONTEXT_FEATURES,
    FEATURE_INDEX,
    FEATURE_NAMES,
    FeatureVector,
    lexical_features,
)

__all__ = [
    "CONTEXT_FEATURES",
    "FEATURE_INDEX",
    "FEATURE_NAMES",
    "FeatureVector",
    "lexical_features",
]

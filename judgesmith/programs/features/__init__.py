"""Lexical features of a response."""

from judgesmith.programs.features.vector import (
    CONTEXT_FEATURES,
    FEATURE_INDEX,
    FEATURE_NAMES,
    FeatureVector,
    lexical_features,
)

__all__ = ["CONTEXT_FEATURES", "FEATURE_INDEX", "FEATURE_NAMES", "FeatureVector"]
__all__ += ["lexical_features"]

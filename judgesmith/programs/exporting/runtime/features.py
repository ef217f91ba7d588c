"""Lexical features by name, as the package counts them."""

from __future__ import annotations

from collections.abc import Mapping

from judgesmith.programs.features.counting import counted

FeatureVector = Mapping[str, float]


def lexical_features(source: str, context: str | None, response: str) -> FeatureVector:
    """Return what is counted over a response, its source and its context."""
    return counted(source, context, response).features

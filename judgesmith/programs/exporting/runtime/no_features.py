"""Lexical features, which this judge does not weigh."""

from __future__ import annotations

FeatureVector = dict[str, float]


def lexical_features(source: str, context: str | None, response: str) -> FeatureVector:
    """Refuse to count what nobody weighs."""
    raise ValueError("lexical features are not counted here.")

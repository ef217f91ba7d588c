"""Lexical features, which this judge does not weigh."""

from __future__ import annotations

from judgesmith.errors import InputError

FeatureVector = dict[str, float]


def lexical_features(source: str, context: str | None, response: str) -> FeatureVector:
    """Refuse to count what nobody weighs."""
    raise InputError("lexical features are not counted here.")

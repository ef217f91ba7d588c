"""A clue: one countable fact as evidence for one facet of quality, with the reason why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Facet = Literal["support", "coverage", "richness", "fluency", "flow", "ease", "brevity"]
FACETS: tuple[Facet, ...] = (
    "support",
    "coverage",
    "richness",
    "fluency",
    "flow",
    "ease",
    "brevity",
)
"""Sides of quality that countable facts speak to, in the order of every vector of facets."""

Kind = Literal["summary", "collection", "rewriting", "dialogue", "data", "open"]
"""Kinds of task that need clues of their own."""


@dataclass(frozen=True, slots=True)
class Clue:
    """One feature as evidence for one facet.

    Attributes
    ----------
    feature : str
        A name of ``FEATURE_NAMES``.
    typical, spread : float
        What is usual, and a usual difference from it, in the unit of the feature.
    weight : float
        Positive where more is better. The heart of a facet weighs 1, what is only related .5,
        a hint .25.
    why : str
        The reason for the sign and the size.
    low, high : float
        How far from the typical value differences count, in spreads: a high of 0 means that
        the usual is enough, and more says nothing.
    """

    feature: str
    typical: float
    spread: float
    weight: float
    why: str
    low: float = -3.0
    high: float = 3.0

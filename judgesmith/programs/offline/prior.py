"""From features to facets of quality, and from facets to scores, before any example is seen."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp

import numpy as np
import numpy.typing as npt

from judgesmith.programs.features import (
    CONTEXT_FEATURES,
    FEATURE_INDEX,
    FEATURE_NAMES,
    FeatureVector,
)
from judgesmith.programs.offline.clue import FACETS, Facet, Kind
from judgesmith.programs.offline.clues import CLUES
from judgesmith.programs.offline.families import GENERAL, Family
from judgesmith.programs.offline.regression import Belief

Vector = npt.NDArray[np.float64]

KINDS: Mapping[str, Kind] = {
    "summary": "summary",
    "collection": "collection",
    "rewriting": "rewriting",
    "translation": "rewriting",
    "dialogue": "dialogue",
    "data": "data",
    "continuation": "open",
    "other": "open",
}
"""Which clues serve which form of task."""

_OF_CONTEXT = [FEATURE_INDEX[name] for name in CONTEXT_FEATURES]
_SOFT = 15.0


@dataclass(frozen=True, slots=True, eq=False)
class ClueTable:
    """The clues of one kind of task as matrices of shape (n_facets, n_features)."""

    typical: Vector
    spread: Vector
    weights: Vector
    low: Vector
    high: Vector

    def steps(self, values: Vector) -> Vector:
        """Return what each feature adds to each facet, shape (n_facets, n_features)."""
        steps = (values - self.typical) / self.spread
        np.minimum(steps, self.high, out=steps)
        np.maximum(steps, self.low, out=steps)
        steps *= self.weights
        return np.asarray(steps)


# Clues of one facet go together, so that their sum spreads wider than that of independent ones;
# the power of the divisor lies between 1/2 (independent) and 1 (the same thing said twice).
# Faults of the surface are rare, and one seldom brings another.
_TOGETHER: dict[Facet, float] = dict.fromkeys(FACETS, 0.75) | {"fluency": 0.5}


@functools.cache
def clue_table(kind: Kind) -> ClueTable:
    """Return the clues of ``kind``, their weights divided so that facets are comparable."""
    typical = np.zeros((len(FACETS), len(FEATURE_NAMES)))
    spread = np.ones_like(typical)
    weights, low, high = (np.zeros_like(typical) for _ in range(3))
    for row, facet in enumerate(FACETS):
        for clue in CLUES[kind][facet]:
            place = FEATURE_INDEX[clue.feature]
            typical[row, place], spread[row, place] = clue.typical, clue.spread
            weights[row, place] = clue.weight
            low[row, place], high[row, place] = clue.low, clue.high
    powers = np.array([[_TOGETHER[facet]] for facet in FACETS])
    weights /= np.abs(weights).sum(axis=1, keepdims=True) ** powers
    return ClueTable(typical, spread, weights, low, high)


# Every criterion of an item looks at the same steps; the cache need not outlive its questions.
@functools.lru_cache(maxsize=256)
def steps_of(features: FeatureVector) -> Vector:
    """Return what each feature adds to each facet, shape (n_facets, n_features)."""
    steps = clue_table(KINDS[features.form]).steps(features.values)
    if not features.with_context:
        # What is missing is no fact: it counts as the usual does, and nobody speaks of it.
        steps[:, _OF_CONTEXT] = 0.0
    steps.flags.writeable = False
    return steps


def facet_values(features: FeatureVector) -> Vector:
    """Return the facets of quality, shape (n_facets,): 0 is usual, 1 is clearly better."""
    return np.asarray(steps_of(features).sum(axis=1))


OVERALL: Mapping[Kind, Mapping[Facet, float]] = {
    # A summary is held against its source on every count; being about the right things and
    # being true come first.
    "summary": {"support": 0.25, "coverage": 0.25, "richness": 0.2, "fluency": 0.2, "flow": 0.2},
    # What many say cannot be checked word by word; the common ground and its particulars can.
    "collection": {
        "support": 0.2,
        "coverage": 0.3,
        "richness": 0.3,
        "fluency": 0.25,
        "flow": 0.15,
    },
    # A new wording must say the same, and be well said.
    "rewriting": {"support": 0.4, "fluency": 0.4, "flow": 0.2, "ease": 0.2},
    # A turn that says something particular, best from the given facts, is what people like.
    "dialogue": {"support": 0.25, "coverage": 0.1, "richness": 0.4, "fluency": 0.2, "flow": 0.2},
    # All values, no others, in sentences that no template shows through.
    "data": {"support": 0.2, "coverage": 0.3, "fluency": 0.3, "flow": 0.15, "brevity": 0.1},
    # With nothing to check against, the writing itself is what can be judged.
    "open": {"coverage": 0.2, "richness": 0.15, "fluency": 0.35, "flow": 0.3},
}
"""By kind of task, how much each facet counts for the whole beside the criteria."""

# Where a middling text stands, and how far one clear step of quality moves a score.
_MIDDLE = 60.0
_CRITERION_POINTS = 24.0
_OVERALL_POINTS = 13.0
# Half of the overall score comes from the assessments, half from the facts themselves.
_ASSESSED_SHARE = 0.5
# How unsure the hand-set numbers are, in points: people's scales sit anywhere within twenty-five
# points of ours, and a facet may well matter by four points more or less than thought. A single
# grade strays by twenty points from any formula over countable facts.
_LEVEL_DOUBT = 25.0
_FACET_DOUBT = 4.0
_ASSESSED_DOUBT = 0.15
_NOISE = 20.0


@functools.cache
def _shares(weights: tuple[tuple[Facet, float], ...]) -> Vector:
    found = np.zeros(len(FACETS))
    for facet, weight in weights:
        found[FACETS.index(facet)] = weight
    return found


def criterion_belief(family: Family) -> Belief:
    """Return what is believed about a criterion of ``family`` before any example.

    Terms are 1 and the facets of quality.
    """
    weights = _CRITERION_POINTS * _shares(tuple(family.weights.items()))
    doubts = np.array([_LEVEL_DOUBT, *(_FACET_DOUBT for _ in FACETS)])
    return Belief(mean=np.array([_MIDDLE, *weights]), covariance=np.diag(doubts**2), noise=_NOISE)


def overall_belief() -> Belief:
    """Return what is believed about overall quality before any example.

    Terms are 1, the mean of the assessments less the middle, the clues' own overall opinion
    (``opinion``), and the facets of quality, whose weights differ from that opinion's by a
    doubt centred on nothing.
    """
    mean = [_MIDDLE, _ASSESSED_SHARE, _OVERALL_POINTS, *(0.0 for _ in FACETS)]
    doubts = [_LEVEL_DOUBT, _ASSESSED_DOUBT, _FACET_DOUBT, *(_FACET_DOUBT for _ in FACETS)]
    return Belief(mean=np.array(mean), covariance=np.diag(np.array(doubts) ** 2), noise=_NOISE)


def criterion_terms(facets: Vector) -> Vector:
    """Return the terms of ``criterion_belief``, shape (1 + n_facets,)."""
    return np.array([1.0, *facets])


def overall_terms(features: FeatureVector, facets: Vector, assessed: float | None) -> Vector:
    """Return the terms of ``overall_belief``, shape (3 + n_facets,).

    ``assessed`` is the mean of the criteria's scores in points, or None to do without.
    """
    opinion = float(facets @ _shares(tuple(OVERALL[KINDS[features.form]].items())))
    if assessed is None:
        general = float(facets @ _shares(tuple(GENERAL.weights.items())))
        assessed = _MIDDLE + _CRITERION_POINTS * general
    return np.array([1.0, assessed - _MIDDLE, opinion, *facets])


def limited(points: float) -> float:
    """Return points kept within 0 to 100 by bending instead of cutting.

    Examples
    --------
    >>> limited(50.0), round(limited(120.0), 1), limited(-300.0) > 0
    (50.0, 98.5, True)
    """
    if points > 100 - _SOFT:
        return 100 - _SOFT * exp((100 - _SOFT - points) / _SOFT)
    if points < _SOFT:
        return _SOFT * exp((points - _SOFT) / _SOFT)
    return points

"""Further tests of two judges on the same rows: permutations, Williams, all p-values at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.experiments.agreeing import Gain
from judgesmith.metrics import PairedEstimate, holm, permutation_test, tie_aware_accuracy_difference
from judgesmith.metrics.comparing import SignificanceTest, Swap, williams_test
from judgesmith.metrics.correlation import Level, Statistic
from judgesmith.metrics.pairs import PairLevel
from judgesmith.metrics.records import plain
from judgesmith.optimizers.predictions import PredictionTable

PAIRS = "pairs"
"""What the share of pairs is called beside correlations."""

PAIR_LEVELS: tuple[PairLevel, ...] = ("dataset", "sample")


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparisonTests:
    """What other tests say of the differences in a :data:`Gain`.

    Attributes
    ----------
    pairs : dict of str to PairedEstimate
        By how much larger a share of pairs of rows the first orders, or ties, as people do: of all
        pairs (``dataset``), and of those within a source (``sample``).
    holm : dict of Level to dict of str to float
        The p-values of the intervals, those of ``pairs`` included, adjusted by Holm's method for
        being so many.
    permutation : dict of Level to dict of Statistic to SignificanceTest
        Scores change hands between the judges: could the two change places? Nothing is said of
        other systems.
    swap : {"both", "inputs"}
        What changes hands as a whole: scores of systems and of sources (PERM-BOTH), or those of
        sources alone (PERM-INPUT), where fewer than two systems are named.
    williams : dict of Level to SignificanceTest
        Williams' test of Pearson's correlation, over rows at dataset level, which it takes to be
        independent, and over the systems' means at system level.
    """

    pairs: Mapping[PairLevel, PairedEstimate]
    holm: Mapping[Level, Mapping[str, float]]
    permutation: Mapping[Level, Mapping[Statistic, SignificanceTest]]
    swap: Swap
    williams: Mapping[Level, SignificanceTest]

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {
            "pairs": {level: one.to_dict() for level, one in self.pairs.items()},
            "holm": {level: plain(row) for level, row in self.holm.items()},
            "swap": self.swap,
            "permutation": {
                level: {statistic: _numbers(one) for statistic, one in row.items()}
                for level, row in self.permutation.items()
            },
            "williams": {level: _numbers(one) for level, one in self.williams.items()},
        }


def comparison_tests(
    first: PredictionTable,
    second: PredictionTable,
    gain: Gain,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> ComparisonTests:
    """Return the tests of the differences in ``gain``, of the same rows.

    Parameters
    ----------
    first, second : PredictionTable
        The same rows, as either judge scores them.
    gain : Gain
        As ``gain_report`` returns it; the levels and statistics in it are tested.
    rng : Generator
        Draws the permutations.
    confidence : float, between 0 and 1
        Of the intervals of ``pairs``.
    """
    scored = np.flatnonzero(~(np.isnan(first.predicted) | np.isnan(second.predicted)))
    one, other = first.take(scored), second.take(scored)
    swap: Swap = "both" if len(np.unique(one.systems)) > 1 else "inputs"
    # The same permutations for every statistic: none depends on which others there are.
    seed = int(rng.integers(2**63))
    tested = {
        level: {
            statistic: permutation_test(
                one.human,
                one.predicted,
                other.predicted,
                sources=one.sources,
                systems=one.systems,
                statistic=statistic,
                level=level,
                swap=swap,
                rng=np.random.default_rng(seed),
            )
            for statistic in row
        }
        for level, row in gain.items()
    }
    williams: dict[Level, SignificanceTest] = {}
    if "dataset" in gain:
        williams["dataset"] = williams_test(one.human, one.predicted, other.predicted)
    if "system" in gain:
        williams["system"] = williams_test(*_system_means(one, other))
    pairs = {
        level: tie_aware_accuracy_difference(
            one.human,
            one.predicted,
            other.predicted,
            sources=one.sources.tolist(),
            level=level,
            confidence=confidence,
        ).reported()
        for level in PAIR_LEVELS
        if level in gain
    }
    return ComparisonTests(
        pairs=pairs, holm=_holm(gain, pairs), permutation=tested, swap=swap, williams=williams
    )


def _holm(gain: Gain, pairs: Mapping[PairLevel, PairedEstimate]) -> dict[Level, dict[str, float]]:
    """Return all p-values of a gain and of pairs, adjusted together."""
    given: dict[tuple[Level, str], float] = {
        (level, statistic): one.p_value
        for level, row in gain.items()
        for statistic, one in row.items()
    }
    given |= {(level, PAIRS): one.p_value for level, one in pairs.items()}
    found: dict[Level, dict[str, float]] = {level: {} for level in gain}
    for (level, name), p in zip(given, holm(list(given.values())).tolist(), strict=True):
        found[level][name] = p
    return found


def _system_means(first: PredictionTable, second: PredictionTable) -> list[np.ndarray]:
    """Return each system's mean by people, by the first, and by the second."""
    systems, codes = np.unique(first.systems, return_inverse=True)
    sizes = np.bincount(codes, minlength=len(systems))[codes]
    # Dividing first keeps sums of huge scores finite.
    return [
        np.bincount(codes, weights=values / sizes, minlength=len(systems))
        for values in (first.human, first.predicted, second.predicted)
    ]


def _numbers(test: SignificanceTest) -> dict[str, Any]:
    """Return the numbers of a test; what changes hands is told once, for all of them."""
    return {name: one for name, one in test.to_dict().items() if not isinstance(one, str)}

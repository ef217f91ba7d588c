"""Further tests of two judges on the same rows: permutations, Williams, all p-values at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from judgesmith.experiments.agreeing import Gain
from judgesmith.metrics import Level, Statistic
from judgesmith.metrics.multiplicity import holm
from judgesmith.metrics.permutation import Swap, permutation_test
from judgesmith.metrics.significance import SignificanceTest
from judgesmith.metrics.williams import williams_test
from judgesmith.optimizers.table import JudgedTable


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparisonTests:
    """What other tests say of the differences in a :data:`Gain`.

    Attributes
    ----------
    holm : dict of Level to dict of Statistic to float
        The p-values of the intervals, adjusted by Holm's method for being so many.
    permutation : dict of Level to dict of Statistic to SignificanceTest
        Scores change hands between the judges.
    swap : {"both", "inputs"}
        What changes hands as a whole: scores of systems and of sources (PERM-BOTH), or those of
        sources alone (PERM-INPUT), where fewer than two systems are named.
    williams : dict of Level to SignificanceTest
        Williams' test of Pearson's correlation, over rows at dataset level, which it takes to be
        independent, and over the systems' means at system level.
    """

    holm: Mapping[Level, Mapping[Statistic, float]]
    permutation: Mapping[Level, Mapping[Statistic, SignificanceTest]]
    swap: Swap
    williams: Mapping[Level, SignificanceTest]

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {
            "holm": {
                level: {statistic: _defined(p) for statistic, p in row.items()}
                for level, row in self.holm.items()
            },
            "swap": self.swap,
            "permutation": {
                level: {statistic: _plain(one) for statistic, one in row.items()}
                for level, row in self.permutation.items()
            },
            "williams": {level: _plain(one) for level, one in self.williams.items()},
        }


def comparison_tests(
    first: JudgedTable, second: JudgedTable, gain: Gain, *, rng: np.random.Generator
) -> ComparisonTests:
    """Return the tests of the differences in ``gain``, of the same rows.

    Parameters
    ----------
    first, second : JudgedTable
        The same rows, as either judge scores them.
    gain : Gain
        As ``gain_report`` returns it; what is in it is tested.
    rng : Generator
        Draws the permutations.
    """
    scored = np.flatnonzero(~(np.isnan(first.predicted) | np.isnan(second.predicted)))
    one, other = first.take(scored), second.take(scored)
    swap: Swap = "both" if len(np.unique(one.systems)) > 1 else "inputs"
    # The same permutations for every statistic: none depends on which others there are.
    seed = int(rng.integers(2**63))
    tested = {
        level: {
            statistic: permutation_test(
                one.predicted,
                other.predicted,
                one.human,
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
    williams: dict[Level, SignificanceTest] = {
        "dataset": williams_test(one.predicted, other.predicted, one.human),
        "system": williams_test(*_system_means(one, other)),
    }
    return ComparisonTests(holm=_holm(gain), permutation=tested, swap=swap, williams=williams)


def _holm(gain: Gain) -> dict[Level, dict[Statistic, float]]:
    """Return all p-values of a gain, adjusted together."""
    adjusted = holm([one.p_value for row in gain.values() for one in row.values()]).tolist()
    in_order = iter(adjusted)
    return {level: {statistic: next(in_order) for statistic in row} for level, row in gain.items()}


def _system_means(first: JudgedTable, second: JudgedTable) -> list[np.ndarray]:
    """Return each system's mean by the first, by the second, and by people."""
    systems, codes = np.unique(first.systems, return_inverse=True)
    sizes = np.bincount(codes, minlength=len(systems))
    return [
        np.bincount(codes, weights=values, minlength=len(systems)) / sizes
        for values in (first.predicted, second.predicted, first.human)
    ]


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


def _plain(test: SignificanceTest) -> dict[str, float | int | None]:
    return {
        name: _defined(value) if isinstance(value, float) else value
        for name, value in asdict(test).items()
    }

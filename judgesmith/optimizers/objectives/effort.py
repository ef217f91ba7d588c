"""Objectives that mind no agreement: how much is scored, and the calls or dollars that takes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics.arrays import IntArray
from judgesmith.metrics.resampling.draws import Counted, ratio_of_sums
from judgesmith.optimizers.objectives.base import TargetMean
from judgesmith.optimizers.predictions import FloatArray, PredictionTable

MOST_CALLS = 1000.0
"""No item is thought of as taking more, where a bound is needed."""

MOST_USD = 1000.0
"""Nor as costing more."""


class _PerRow(TargetMean):
    """The mean of a number that every row has, scored or not."""

    within_sources = True

    @abstractmethod
    def numbers(self, table: PredictionTable) -> FloatArray:
        """Return the number of each row."""

    def paired(
        self, first: PredictionTable, second: PredictionTable
    ) -> tuple[PredictionTable, PredictionTable]:
        """Return both tables as they are: rows without a score count, too."""
        return first, second

    def of_target(self, table: PredictionTable) -> float:
        """Return the mean, nan without rows."""
        return float(np.mean(self.numbers(table))) if table.n else float("nan")

    def counted_target(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it from each source's sums."""
        return ratio_of_sums(self.numbers(table), np.ones(table.n), sources, n_sources)


@dataclass(frozen=True)
class ShareScored(_PerRow):
    """Share of the rows that got a score.

    Examples
    --------
    >>> str(ShareScored())
    'scored'
    """

    needs = frozenset({"scores"})

    def __str__(self) -> str:
        """Return the objective as it is read."""
        return "scored"

    def numbers(self, table: PredictionTable) -> FloatArray:
        """Return 1 for a row with a score and 0 for one without."""
        return (~np.isnan(table.predicted)).astype(np.float64)


@dataclass(frozen=True)
class CallsPerItem(_PerRow):
    """Model calls per item, cached or not; lower is better.

    Examples
    --------
    >>> CallsPerItem().is_effort
    True
    """

    needs = frozenset({"calls"})
    lower_is_better = True
    bounds = (0.0, MOST_CALLS)

    def __str__(self) -> str:
        """Return the objective as it is read."""
        return "calls"

    def numbers(self, table: PredictionTable) -> FloatArray:
        """Return the calls of each row."""
        if table.n and not table.n_calls:
            raise InputError(
                "the calls behind these scores are unknown.",
                hint="leave calls out of the objective.",
            )
        return np.asarray(table.n_calls, dtype=np.float64)


@dataclass(frozen=True)
class DollarsPerItem(_PerRow):
    """United States dollars per item, as if nothing were cached; lower is better.

    Examples
    --------
    >>> sorted(DollarsPerItem().needs)
    ['usd']
    """

    needs = frozenset({"usd"})
    lower_is_better = True
    bounds = (0.0, MOST_USD)

    def __str__(self) -> str:
        """Return the objective as it is read."""
        return "usd"

    def numbers(self, table: PredictionTable) -> FloatArray:
        """Return the dollars of each row."""
        if table.n and not table.usd:
            raise InputError(
                "the cost of these scores is unknown.",
                hint="leave usd out of the objective, or search "
                "the protocol with a model whose price is known and with a ledger.",
            )
        return np.asarray(table.usd, dtype=np.float64)

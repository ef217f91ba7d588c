"""Objectives that mind no agreement: how much is scored, and the calls or dollars that takes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics.checks import IntArray
from judgesmith.optimizers.counted_objectives import TargetMean
from judgesmith.optimizers.source_counts import Counted, ratio_of_sums
from judgesmith.optimizers.table import FloatArray, JudgedTable

MOST_CALLS = 1000.0
"""No item is thought of as taking more, where a bound is needed."""

MOST_USD = 1000.0
"""Nor as costing more."""


class _PerRow(TargetMean):
    """The mean of a number that every row has, scored or not."""

    @abstractmethod
    def numbers(self, table: JudgedTable) -> FloatArray:
        """Return the number of each row."""

    def paired(self, first: JudgedTable, second: JudgedTable) -> tuple[JudgedTable, JudgedTable]:
        """Return both tables as they are: rows without a score count, too."""
        return first, second

    def of_target(self, table: JudgedTable) -> float:
        """Return the mean, nan without rows."""
        return float(np.mean(self.numbers(table))) if table.n else float("nan")

    def counted_target(self, table: JudgedTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it from each source's sums."""
        return ratio_of_sums(self.numbers(table), np.ones(table.n), sources, n_sources)


@dataclass(frozen=True)
class ShareScored(_PerRow):
    """Share of the rows that got a score.

    Examples
    --------
    >>> table = JudgedTable(
    ...     predicted=np.array([30.0, np.nan]), human=np.array([1.0, 2.0]),
    ...     sources=np.arange(2), systems=np.array(["a", "b"]),
    ... )
    >>> ShareScored().value(table)
    0.5
    """

    def __str__(self) -> str:
        """Return the objective as it is read."""
        return "scored"

    def numbers(self, table: JudgedTable) -> FloatArray:
        """Return 1 for a row with a score and 0 for one without."""
        return (~np.isnan(table.predicted)).astype(np.float64)


@dataclass(frozen=True)
class CallsPerItem(_PerRow):
    """Calls to a model per item, whether or not their answers are on record. Better when lower.

    Alone it is no aim: a sum subtracts it, as in ``q - .01*calls``.

    Examples
    --------
    >>> table = JudgedTable(
    ...     predicted=np.array([30.0, 20.0]), human=np.array([1.0, 2.0]),
    ...     sources=np.arange(2), systems=np.array(["a", "b"]), n_calls=(2, 3),
    ... )
    >>> CallsPerItem().value(table)
    2.5
    """

    lower_is_better = True
    is_effort = True
    bounds = (0.0, MOST_CALLS)

    def __str__(self) -> str:
        """Return the objective as it is read."""
        return "calls"

    def numbers(self, table: JudgedTable) -> FloatArray:
        """Return the calls of each row.

        Raises
        ------
        ValueError
            If the table does not say.
        """
        if table.n and not table.n_calls:
            raise InputError(
                "nobody counted the calls behind these scores; leave calls out of the objective."
            )
        return np.asarray(table.n_calls, dtype=np.float64)


@dataclass(frozen=True)
class DollarsPerItem(_PerRow):
    """United States dollars per item, whether or not its answers are on record. Lower is better.

    What its calls would cost if they were made now: the tokens of the answers at the prices in
    force. Known in a search of the protocol alone.

    Examples
    --------
    >>> table = JudgedTable(
    ...     predicted=np.array([30.0, 20.0]), human=np.array([1.0, 2.0]),
    ...     sources=np.arange(2), systems=np.array(["a", "b"]), usd=(0.01, 0.03),
    ... )
    >>> DollarsPerItem().value(table)
    0.02
    """

    lower_is_better = True
    is_effort = True
    bounds = (0.0, MOST_USD)

    def __str__(self) -> str:
        """Return the objective as it is read."""
        return "usd"

    def numbers(self, table: JudgedTable) -> FloatArray:
        """Return the dollars of each row.

        Raises
        ------
        ValueError
            If the table does not say.
        """
        if table.n and not table.usd:
            raise InputError(
                "nobody knows what these scores cost; leave usd out of the objective, or search "
                "the protocol with a model whose price is known and with a ledger."
            )
        return np.asarray(table.usd, dtype=np.float64)

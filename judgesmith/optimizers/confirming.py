"""Whether the best of many is better on rows that it was not chosen by.

Whoever is best of many on some rows looks better there than it is: what was luck of the draw is
not repeated on others. A winner is therefore held against the start on rows that decided nothing
before, and the start stays unless the difference there is more than a standard error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.errors import InputError
from judgesmith.optimizers.crossing import FEWEST_COMPARED, CrossedAgreement, Halves
from judgesmith.optimizers.demonstrations import ENOUGH_SCORED, rank_of
from judgesmith.optimizers.objectives import Objective
from judgesmith.optimizers.splitting import FloatArray, IntArray, split_by_source
from judgesmith.optimizers.table import JudgedTable, Labels

FEWEST_ROWS = 30
FEWEST_SOURCES = 10
"""With fewer rows or sources to confirm on, none are set aside: the choice is crossed instead."""

N_REPEATS = 10
"""How often sources are halved where a choice is crossed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """A winner on the rows it was chosen by and on others, beside the start on the same rows.

    Attributes
    ----------
    number : int
        Of the winner's trial.
    chosen, chosen_before : float
        The objective on the rows that the winner was chosen by: its own, and the start's.
    value, before : float
        The same on rows that it was not chosen by.
    standard_error : float
        Of the paired difference on the latter; nan where undefined.
    n_rows : int
        How many the latter are.
    crossed : bool
        Whether they are the same rows, halved many times: chosen on one half, judged on the other.
    passed : bool
        Whether the winner may replace the start.
    """

    number: int
    chosen: float
    chosen_before: float
    value: float
    before: float
    standard_error: float
    n_rows: int
    crossed: bool
    passed: bool

    @property
    def gain(self) -> float:
        """How much better the winner is on rows it was not chosen by."""
        return self.value - self.before

    @property
    def optimism(self) -> float:
        """How much of what was gained on the rows it was chosen by is not there on others.

        A difference of differences to the start, as some rows are easier than others.
        """
        return (self.chosen - self.chosen_before) - self.gain

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON: undefined is null."""
        found = {**asdict(self), "gain": self.gain, "optimism": self.optimism}
        return {name: None if one != one else one for name, one in found.items()}


@dataclass(frozen=True, slots=True)
class Confirm:
    """The rule by which the best of many replaces what a search started from.

    Parameters
    ----------
    share : float
        Share of the sources to choose by that are set aside to confirm on, from 0 to below 1. With
        0, or where that gives too few rows, all rows are chosen by and the choice is crossed.
    errors : float
        Standard errors that the paired difference on these rows must exceed.

    Raises
    ------
    ValueError
        If the share is none, or the errors are negative.

    References
    ----------
    Breiman et al. (1984), "Classification and Regression Trees", section 3.4.3, for the rule of
    one standard error. Cawley and Talbot (2010), "On Over-fitting in Model Selection and Subsequent
    Selection Bias in Performance Evaluation", JMLR 11, for what it is held against.
    """

    share: float = 1 / 3
    errors: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what is no share or no number of errors."""
        if not 0 <= self.share < 1:
            raise InputError(f"share is a share of sources from 0 to below 1; got {self.share}.")
        if not self.errors >= 0:
            raise InputError(f"errors must be zero or more standard errors; got {self.errors}.")

    def set_aside(self, groups: Labels, human: FloatArray, *, rng: np.random.Generator) -> IntArray:
        """Return the places of the rows to confirm on, in rising order; none where too few.

        Parameters
        ----------
        groups : array, shape (n_rows,)
            Rows of one source have equal labels and stay together.
        human : array, shape (n_rows,)
            What people said; both parts span its range. nan in all rows where nobody rated any.
        rng : Generator
            Draws them.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> Confirm().set_aside(np.arange(120), np.arange(120.0), rng=rng).shape
        (40,)
        >>> Confirm().set_aside(np.arange(60), np.arange(60.0), rng=rng).shape
        (0,)
        """
        none = np.arange(0, dtype=np.intp)
        if self.share == 0 or len(np.unique(groups)) < 2:
            return none
        aside = split_by_source(groups, human, holdout=self.share, rng=rng).heldout
        enough = len(aside) >= FEWEST_ROWS and len(np.unique(groups[aside])) >= FEWEST_SOURCES
        differ = np.isnan(human).all() or np.ptp(human[aside]) > 0
        return aside if enough and differ else none

    def on_others(
        self,
        objective: Objective,
        chosen: JudgedTable,
        start: JudgedTable,
        *,
        number: int,
        before: tuple[float, float],
        rng: np.random.Generator,
    ) -> Confirmation:
        """Return how a winner does on rows that were set aside.

        Parameters
        ----------
        objective : Objective
            What was made as large as possible.
        chosen, start : JudgedTable
            What either says of these rows.
        number : int
            Of the winner's trial.
        before : (float, float)
            The objective of either on the rows that the winner was chosen by.
        rng : Generator
            Draws resamples of sources.
        """
        gain = objective.gain(chosen, start, rng=rng)
        width = 2 * NormalDist().inv_cdf(0.5 + gain.confidence / 2)
        error = (gain.high - gain.low) / width
        values = objective.value(chosen), objective.value(start)
        return Confirmation(
            number=number,
            chosen=before[0],
            chosen_before=before[1],
            value=values[0],
            before=values[1],
            standard_error=error,
            n_rows=chosen.parts[0].n,
            crossed=False,
            passed=self._passes(*values, error) and is_scored(chosen, start),
        )

    def crossed(
        self,
        objective: Objective,
        tables: Sequence[JudgedTable],
        *,
        numbers: Sequence[int],
        rng: np.random.Generator,
    ) -> Confirmation | None:
        """Return how choosing the best does where rows are too few to set any aside.

        The rows are halved by source, ten times; who is best on one half is judged on the other,
        beside the start. The winner, best on all rows, passes if that is a standard error better:
        then it is the way of choosing that has shown its worth, with as many candidates. Who
        fell behind in a race is not among them, so that some luck may be left.

        Parameters
        ----------
        objective : Objective
            What was made as large as possible.
        tables : sequence of JudgedTable
            What the start, which comes first, and every candidate says of all rows.
        numbers : sequence of int
            Their trials.
        rng : Generator
            Halves.

        Returns
        -------
        Confirmation or None
            None where nobody is better than the start even on all rows, or there is one source.
        """
        best = _best(objective, tables, np.arange(tables[0].n))
        if best == 0 or len(np.unique(tables[0].sources)) < 2:
            return None
        halves = Halves.of(tables[0], n_folds=2, n_repeats=N_REPEATS, rng=rng)
        picked = [
            (inside, tables[_best(objective, tables, np.flatnonzero(parts != part))])
            for parts in halves.parts
            for part in np.unique(parts)
            if _can_compare(tables[0], inside := np.flatnonzero(parts == part))
        ]
        choosing = _over_halves(objective, picked, halves.blocks)
        start = _over_halves(objective, [(one, tables[0]) for one, _ in picked], halves.blocks)
        error = start.behind(choosing)[1]
        return Confirmation(
            number=numbers[best],
            chosen=objective.value(tables[best]),
            chosen_before=objective.value(tables[0]),
            value=choosing.value,
            before=start.value,
            standard_error=error,
            n_rows=tables[0].parts[0].n,
            crossed=True,
            passed=self._passes(choosing.value, start.value, error),
        )

    def _passes(self, value: float, before: float, error: float) -> bool:
        """Say whether a value is better by enough: any is better than an undefined one."""
        if math.isnan(value) or math.isnan(before):
            return not math.isnan(value)
        return value - before > self.errors * error


def is_scored(chosen: JudgedTable, start: JudgedTable) -> bool:
    """Say whether a winner leaves no more than 5 % of the rows without a score, or the start does.

    Examples
    --------
    >>> whole = JudgedTable(
    ...     predicted=np.arange(4.0), human=np.arange(4.0),
    ...     sources=np.arange(4), systems=np.array(["a"] * 4),
    ... )
    >>> is_scored(whole.predicting(np.array([0, 1, 2, np.nan])), whole)
    False
    """
    return chosen.least_scored >= ENOUGH_SCORED or start.least_scored < ENOUGH_SCORED


def _can_compare(table: JudgedTable, rows: IntArray) -> bool:
    differ = not table.is_rated or np.ptp(table.human[rows]) > 0
    return len(rows) >= FEWEST_COMPARED and bool(differ)


def _over_halves(
    objective: Objective, judged: Sequence[tuple[IntArray, JudgedTable]], blocks: IntArray
) -> CrossedAgreement:
    """Return the mean over halves of how whoever judges each does, and without each block."""

    def mean(used: NDArray[np.bool_]) -> float:
        values = []
        for rows, table in judged:
            left = rows[used[rows]]
            if _can_compare(table, left):
                values.append(objective.value(table.part(left)))
        return float(np.mean(values)) if values else math.nan

    without = [mean(blocks != block) for block in np.unique(blocks)]
    return CrossedAgreement(value=mean(np.ones(len(blocks), bool)), without=np.asarray(without))


def _best(objective: Objective, tables: Sequence[JudgedTable], rows: IntArray) -> int:
    """Return the place of the best on some rows; of equals the first."""
    ranks = []
    for table in tables:
        part = table.part(rows)
        ranks.append(rank_of(objective.value(part) if part.n else math.nan, part.least_scored))
    return max(range(len(ranks)), key=lambda place: ranks[place])

"""Who stays in a race: contenders judged on the same rows so far, compared with the best of them.

A contender that is plainly worse than the leader on part of the rows need not be judged on the
others. Three answers to when that is plain, behind one method.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.demonstrations import rank_of
from judgesmith.optimizers.objectives import Objective
from judgesmith.optimizers.table import JudgedTable


@dataclass(frozen=True, kw_only=True, eq=False)
class Look:
    """What is known of the contenders at one point of a race.

    Attributes
    ----------
    tables : sequence of JudgedTable
        One per contender that is still in it, all on the same rows.
    objective : Objective
        What is made as large as possible.
    number, n_looks : int
        Which look this is, from 1, and how many there will be, the last one at all rows.
    rng : Generator
        Draws resamples.
    """

    tables: Sequence[JudgedTable]
    objective: Objective
    number: int
    n_looks: int
    rng: np.random.Generator

    def ranking(self) -> list[int]:
        """Return the contenders' places in ``tables``, best first; of equals the first.

        Those that leave more than 5 % of the rows without a score come after all others, and
        an undefined objective after every defined one.
        """
        values = [self.objective.value(table) for table in self.tables]
        ranks = [
            rank_of(value, table.least_scored)
            for table, value in zip(self.tables, values, strict=True)
        ]
        return sorted(range(len(ranks)), key=lambda place: ranks[place], reverse=True)


class Elimination(Protocol):
    """Decides who stays in a race."""

    def __call__(self, look: Look) -> Sequence[int]:
        """Return the places in ``look.tables`` of those who stay, in rising order."""


@dataclass(frozen=True, slots=True)
class KeepAll:
    """Everybody is judged on all rows."""

    def __call__(self, look: Look) -> Sequence[int]:
        """Return all places."""
        return range(len(look.tables))


@dataclass(frozen=True, slots=True)
class Halve:
    """Successive halving: the better half goes on, on twice as many rows.

    References
    ----------
    Jamieson and Talwalkar (2016), "Non-stochastic Best Arm Identification and Hyperparameter
    Optimization", AISTATS.
    """

    def __call__(self, look: Look) -> Sequence[int]:
        """Return the places of the better half, at least one."""
        ranking = look.ranking()
        return sorted(ranking[: math.ceil(len(ranking) / 2)])


@dataclass(frozen=True, slots=True)
class Race:
    """Those go who are worse than the leader by more than chance explains.

    The paired difference to the leader is resampled over sources. Each contender is compared at
    every look but the last; ``risk`` is shared out among these looks (Bonferroni), so that a
    contender who is as good as the leader goes by mistake with at most that probability, in all
    looks together. It is not shared out among the contenders, and the leader is the best of
    several: what is lost is the search's effort, not its honesty, for which other rows are kept.

    Those go, too, whose agreement is undefined where the leader's is not, as they say the same of
    every row, and those that leave more than half of the rows without a score.

    Parameters
    ----------
    risk : float
        From 0 (nobody goes) to below 1. The default is generous, because who goes by mistake
        was close to the leader and costs little.
    """

    risk: float = 0.2

    def __post_init__(self) -> None:
        """Refuse what is no probability."""
        if not 0 <= self.risk < 1:
            raise InputError(f"risk must be from 0 to below 1; got {self.risk}.")

    def __call__(self, look: Look) -> Sequence[int]:
        """Return the places of those who may yet win."""
        ranking = look.ranking()
        leader = ranking[0]
        threshold = 2 * self.risk / max(look.n_looks - 1, 1)  # one-sided, of a two-sided p-value
        is_sound = [self._is_sound(look, table) for table in look.tables]
        staying = []
        for place, table in enumerate(look.tables):
            if place == leader:
                staying.append(place)
                continue
            if is_sound[leader] and not is_sound[place]:
                continue
            behind = look.objective.gain(look.tables[leader], table, rng=look.rng)
            if not (behind.value > 0 and behind.p_value <= threshold):
                staying.append(place)
        return staying

    def _is_sound(self, look: Look, table: JudgedTable) -> bool:
        enough = table.least_scored >= 0.5
        return enough and not math.isnan(look.objective.value(table))

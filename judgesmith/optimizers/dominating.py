"""Who stays in a race for several objectives: all but those that a member of the front beats.

There is no one leader then. A contender is held against every member of the present front, and
goes only where one of them is surely as good on every objective, and better on one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.eliminating import Elimination, KeepAll
from judgesmith.optimizers.objectives import Objective
from judgesmith.optimizers.several_objectives import SeveralObjectives, is_exact
from judgesmith.optimizers.table import JudgedTable


@dataclass(frozen=True, kw_only=True, eq=False)
class FrontLook:
    """What is known of contenders and of the present front at one point of a race.

    Attributes
    ----------
    members : sequence of JudgedTable
        What those on the front say of the rows so far.
    meets : sequence of bool
        Which of them meet all conditions on all rows.
    contenders : sequence of JudgedTable
        What contenders say of the same rows.
    objectives : SeveralObjectives
        What is made as large as possible.
    n_looks : int
        How many looks there will be, the last one at all rows.
    rng : Generator
        Draws resamples.
    """

    members: Sequence[JudgedTable]
    meets: Sequence[bool]
    contenders: Sequence[JudgedTable]
    objectives: SeveralObjectives
    n_looks: int
    rng: np.random.Generator


class FrontElimination(Protocol):
    """Decides who stays in a race for several objectives."""

    def __call__(self, look: FrontLook) -> Sequence[int]:
        """Return the places in ``look.contenders`` of those who stay, in rising order."""


@dataclass(frozen=True, slots=True)
class StayUnlessDominated:
    """Those go whom a member of the front beats by more than chance explains.

    A member beats a contender if it is surely as good on every objective and better on one:

    - on what is counted, such as calls, where its number is as good on the rows so far;
    - on everything else, where the paired difference, resampled over sources, is above zero at a
      one-sided level, or zero on every resample.

    The level is ``risk``, shared out among the looks but the last and among the members of the
    front (Bonferroni). It need not be shared out among the objectives: to go by mistake takes a
    mistake on each of those that the contender is better on. So one that no member beats goes by
    mistake with at most that probability.

    Under conditions a contender also goes where it surely misses more of them than a member does.
    A member that meets them on all rows beats whoever it beats without them, for one that is
    beaten and meets them is beaten all the same.

    Those go, too, that have an objective undefined, or more than half of the rows without a score.

    Parameters
    ----------
    risk : float
        From 0 (nobody is beaten) to below 1.
    """

    risk: float = 0.2

    def __call__(self, look: FrontLook) -> Sequence[int]:
        """Return the places of those who may yet be on the front."""
        if not look.members:
            return range(len(look.contenders))
        return [
            place
            for place, contender in enumerate(look.contenders)
            if _is_sound(look.objectives, contender)
            and not any(
                self._beats(look, member, contender, meets=meets)
                for member, meets in zip(look.members, look.meets, strict=True)
            )
        ]

    def _beats(
        self, look: FrontLook, member: JudgedTable, contender: JudgedTable, *, meets: bool
    ) -> bool:
        pairs = [
            # An aim that stands under no condition is the same twice.
            list(dict.fromkeys((told, aim) if meets else (told,)))
            for told, aim in zip(look.objectives.each, look.objectives.aims, strict=True)
        ]
        # Cheap first: where it is not as good on these rows, it is not surely so.
        if not all(any(_as_good(one, member, contender) for one in ways) for ways in pairs):
            return False
        better = False
        for ways in pairs:
            signs = [self._sign(look, one, member, contender) for one in ways]
            if max(signs) < 0:
                return False
            better = better or max(signs) > 0
        return better

    def _sign(
        self, look: FrontLook, objective: Objective, member: JudgedTable, contender: JudgedTable
    ) -> int:
        """Return 1 where the member is surely better, 0 where it is as good, -1 otherwise."""
        if is_exact(objective):
            apart = objective.value(member) - objective.value(contender)
            return -1 if math.isnan(apart) else int(np.sign(apart))
        gain = objective.gain(member, contender, rng=look.rng)
        if gain.value == gain.low == gain.high == 0:
            return 0
        n_tests = max(look.n_looks - 1, 1) * len(look.members)
        sure = gain.value > 0 and gain.p_value <= 2 * self.risk / n_tests  # one-sided of two
        return 1 if sure else -1


def front_elimination(elimination: Elimination) -> FrontElimination:
    """Return what corresponds to a way to eliminate by one objective.

    Raises
    ------
    ValueError
        If nothing does: halves of a ranking need one number to rank by.

    Examples
    --------
    >>> from judgesmith.optimizers import Race
    >>> front_elimination(Race(risk=0.1))
    StayUnlessDominated(risk=0.1)
    """
    if isinstance(elimination, KeepAll):
        return _StayAll()
    risk = getattr(elimination, "risk", None)
    if risk is None:
        raise InputError(
            f"several objectives are raced by Race or KeepAll, for they give no ranking; got "
            f"{elimination!r}."
        )
    return StayUnlessDominated(risk)


@dataclass(frozen=True, slots=True)
class _StayAll:
    """Everybody is judged on all rows."""

    def __call__(self, look: FrontLook) -> Sequence[int]:
        """Return all places."""
        return range(len(look.contenders))


def _as_good(objective: Objective, member: JudgedTable, contender: JudgedTable) -> bool:
    return objective.value(member) >= objective.value(contender)


def _is_sound(objectives: SeveralObjectives, table: JudgedTable) -> bool:
    enough = table.least_scored >= 0.5
    return enough and not any(map(math.isnan, objectives.values(table)))

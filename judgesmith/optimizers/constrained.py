"""Conditions that come before an aim: a judge that meets them is better than all that do not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.estimate import Estimate
from judgesmith.optimizers.combined import WeightedSum, written
from judgesmith.optimizers.counted_objectives import CountedObjective
from judgesmith.optimizers.source_counts import Counted
from judgesmith.optimizers.table import JudgedTable
from judgesmith.signatures.scale import shortest


@dataclass(frozen=True)
class Constraint:
    """A condition: a sum reaches a bound.

    Parameters
    ----------
    left : WeightedSum
        What is to be at least ``bound``.
    bound : float
        In the unit of the sum.

    Raises
    ------
    ValueError
        If the bound is not finite.

    Examples
    --------
    >>> from judgesmith.optimizers.objectives import Agreement
    >>> str(Constraint(WeightedSum(((1.0, Agreement("pearson")),)), 0.4))
    'pearson >= 0.4'
    """

    left: WeightedSum
    bound: float

    def __post_init__(self) -> None:
        """Refuse a bound that is none."""
        if not math.isfinite(self.bound):
            raise InputError(f"a bound is a finite number; got {self.bound:g}.")

    def __str__(self) -> str:
        """Return the condition as it is read: what is subtracted alone is bounded from above."""
        if self._from_above:
            turned = tuple((-weight, atom) for weight, atom in self.left.terms)
            return f"{written(turned)} <= {shortest(-self.bound)}"
        return f"{self.left} >= {shortest(self.bound)}"

    @property
    def _from_above(self) -> bool:
        return all(weight < 0 for weight, _ in self.left.terms)

    def met(self, table: JudgedTable) -> bool:
        """Say whether the condition is met; one that looks at something undefined is not."""
        return bool(self.violation_of(np.asarray(self.left.value(table))) == 0)

    def estimate(self, table: JudgedTable, *, rng: np.random.Generator) -> Estimate:
        """Return what stands left of the sign as it is read, with its interval."""
        found = self.left.estimate(table, rng=rng)
        if not self._from_above:
            return found
        return replace(found, value=-found.value, low=-found.high, high=-found.low)

    def violation_of(self, found: FloatArray) -> FloatArray:
        """Return by how much each value falls short, 0 where it does not, nan where it is nan.

        In parts of the bound where that is larger than 1 in size, so that a call too many does
        not outweigh all of kappa.
        """
        size = max(abs(self.bound), 1.0)
        short = (self.bound - found) / size
        # What differs by rounding alone is no violation; nan is not below anything, and stays.
        return np.where(short < 1e-12, 0.0, short)


@dataclass(frozen=True)
class Constrained(CountedObjective):
    """An aim under conditions: who meets them comes before all who do not.

    Among those that meet them the larger aim wins, among the others the smaller violation, added
    up over the conditions. ``value`` tells this order as one number for samplers: the aim where
    all conditions are met; otherwise the least the aim can be (as far as its terms are bounded),
    less the violation. It is nan where the aim or what a condition looks at is undefined: what
    cannot be shown to meet a condition never wins.

    ``estimate`` is of the aim alone. ``gain`` compares by ``value``, on every resample: its
    p-value says how sure it is that the first is the better choice, and its value jumps by the
    range of the aim where only one of the two meets the conditions.

    Parameters
    ----------
    aim : WeightedSum
        What is made as large as possible.
    constraints : tuple of Constraint
        One or more.

    References
    ----------
    Deb (2000), "An efficient constraint handling method for genetic algorithms", Computer
    Methods in Applied Mechanics and Engineering 186, for the order.
    """

    aim: WeightedSum
    constraints: tuple[Constraint, ...]

    def __post_init__(self) -> None:
        """Refuse an aim without conditions."""
        if not self.constraints:
            raise InputError("a constrained objective has one constraint or more; got none.")

    def __str__(self) -> str:
        """Return the objective as it is read."""
        return "; ".join(map(str, (self.aim, *self.constraints)))

    def violation(self, table: JudgedTable) -> float:
        """Return by how much the conditions are missed together: 0 where all are met."""
        return math.fsum(
            float(one.violation_of(np.asarray(one.left.value(table)))) for one in self.constraints
        )

    def value(self, table: JudgedTable) -> float:
        """Return what samplers are told: see above."""
        aim, violation = np.asarray([self.aim.value(table)]), np.asarray([self.violation(table)])
        return float(self._ordered(aim, violation)[0])

    def estimate(self, table: JudgedTable, *, rng: np.random.Generator) -> Estimate:
        """Return the aim with its interval, whether or not the conditions are met."""
        return self.aim.estimate(table, rng=rng)

    def counted(self, table: JudgedTable, sources: IntArray, n_sources: int) -> Counted:
        """Return ``value`` as a function of counts."""
        parts = [self.aim, *(one.left for one in self.constraints)]
        return self._of([part.counted(table, sources, n_sources) for part in parts])

    def counted_pair(
        self, first: JudgedTable, second: JudgedTable, sources: IntArray, n_sources: int
    ) -> tuple[Counted, Counted]:
        """Return ``value`` for two judges on what each term compares them on."""
        parts = [self.aim, *(one.left for one in self.constraints)]
        pairs = [part.counted_pair(first, second, sources, n_sources) for part in parts]
        return self._of([one for one, _ in pairs]), self._of([other for _, other in pairs])

    def _of(self, found: list[Counted]) -> Counted:
        aim, *lefts = found

        def told(of: Callable[[Counted], FloatArray]) -> FloatArray:
            missed = [
                one.violation_of(of(left))
                for one, left in zip(self.constraints, lefts, strict=True)
            ]
            return self._ordered(of(aim), np.sum(missed, axis=0))

        return Counted(
            value=float(told(lambda one: np.asarray([one.value]))[0]),
            of_counts=lambda counts: told(lambda one: one.of_counts(counts)),
            n_units=min(one.n_units for one in found),
            n_undefined=max(one.n_undefined for one in found),
        )

    def _ordered(self, aim: FloatArray, violation: FloatArray) -> FloatArray:
        least = self.aim.least
        met = np.maximum(aim, least)  # keeps nan
        return np.where(violation > 0, least - violation + 0 * aim, met + 0 * violation)

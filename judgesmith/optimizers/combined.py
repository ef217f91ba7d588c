"""Several numbers in one objective: weighted sums, and conditions that come before them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from judgesmith.metrics.averaged_units import AveragedUnits
from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.estimate import Estimate
from judgesmith.optimizers.counted_objectives import (
    Counted,
    CountedObjective,
    TargetMean,
    shared_rows,
)
from judgesmith.optimizers.objectives import Agreement, rated_parts
from judgesmith.optimizers.table import JudgedTable

Atom = Agreement | TargetMean


@dataclass(frozen=True)
class WeightedSum(CountedObjective):
    """A sum of numbers, each as often as its weight says.

    Terms are added in their own units: Q reaches from -3 to 3, kappa from -1 to 1, calls are
    counted. The interval draws the same sources for all terms.

    Parameters
    ----------
    terms : tuple of (float, Agreement or other atom)
        Weights, none of them 0, and what they weigh.

    Raises
    ------
    ValueError
        If there are no terms, a weight is 0 or not finite, or one would reward what is better
        when lower.

    Examples
    --------
    >>> table = JudgedTable(
    ...     predicted=np.array([10.0, 50.0, 90.0]), human=np.array([1.0, 3.0, 5.0]),
    ...     sources=np.arange(3), systems=np.array(["a"] * 3), n_calls=(2, 2, 2),
    ... )
    >>> from judgesmith.optimizers.effort_objectives import CallsPerItem
    >>> objective = WeightedSum(((1.0, Agreement("q")), (-0.01, CallsPerItem())))
    >>> str(objective), round(objective.value(table), 6)
    ('q - 0.01*calls', 2.98)
    """

    terms: tuple[tuple[float, Atom], ...]

    def __post_init__(self) -> None:
        """Refuse what has no say, or the wrong one."""
        if not self.terms:
            raise ValueError("a sum has one term or more; got none.")
        for weight, atom in self.terms:
            if not math.isfinite(weight) or weight == 0:
                raise ValueError(f"a weight is a finite number other than 0; got {weight:g}.")
            if weight > 0 and getattr(atom, "lower_is_better", False):
                raise ValueError(f"{atom} is better when lower; subtract it, as in q - .1*{atom}.")

    def __str__(self) -> str:
        """Return the sum as it is read."""
        return _written(self.terms)

    @property
    def least(self) -> float:
        """What the sum cannot fall below, as far as its terms are bounded."""
        return math.fsum(
            weight * _bounds(atom)[0 if weight > 0 else 1] for weight, atom in self.terms
        )

    def value(self, table: JudgedTable) -> float:
        """Return the sum, nan where any of its terms is undefined."""
        return math.fsum(weight * atom.value(table) for weight, atom in self.terms)

    def counted(self, table: JudgedTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it as a function of counts."""
        found = Counted.sum(
            [(weight, _counted(atom, table, sources, n_sources)) for weight, atom in self.terms]
        )
        return replace(found, value=self.value(table))

    def counted_pair(
        self, first: JudgedTable, second: JudgedTable, sources: IntArray, n_sources: int
    ) -> tuple[Counted, Counted]:
        """Return it for two judges, each term on the rows that it compares them on."""
        pairs = []
        for weight, atom in self.terms:
            tables = (
                shared_rows(first, second)
                if isinstance(atom, Agreement)
                else atom.paired(first, second)
            )
            pairs.append([(weight, _counted(atom, table, sources, n_sources)) for table in tables])
        return Counted.sum([pair[0] for pair in pairs]), Counted.sum([pair[1] for pair in pairs])


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
    >>> str(Constraint(WeightedSum(((1.0, Agreement("pearson")),)), 0.4))
    'pearson >= 0.4'
    """

    left: WeightedSum
    bound: float

    def __post_init__(self) -> None:
        """Refuse a bound that is none."""
        if not math.isfinite(self.bound):
            raise ValueError(f"a bound is a finite number; got {self.bound:g}.")

    def __str__(self) -> str:
        """Return the condition as it is read: what is subtracted alone is bounded from above."""
        if self._from_above:
            turned = tuple((-weight, atom) for weight, atom in self.left.terms)
            return f"{_written(turned)} <= {_shortest(-self.bound)}"
        return f"{self.left} >= {_shortest(self.bound)}"

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
            raise ValueError("a constrained objective has one constraint or more; got none.")

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


def _written(terms: tuple[tuple[float, Atom], ...]) -> str:
    text = ""
    for weight, atom in terms:
        sign = "-" if weight < 0 else "+" if text else ""
        times = "" if abs(weight) == 1 else f"{_shortest(abs(weight))}*"
        text += (f" {sign} " if text else sign) + f"{times}{atom}"
    return text


def _bounds(atom: Atom) -> tuple[float, float]:
    if isinstance(atom, Agreement):
        return (-3.0, 3.0) if atom.statistic == "q" else (-1.0, 1.0)
    return atom.bounds


def _counted(atom: Atom, table: JudgedTable, sources: IntArray, n_sources: int) -> Counted:
    if isinstance(atom, Agreement):
        return _counted_agreement(atom, table, sources)
    return atom.counted(table, sources, n_sources)


def _counted_agreement(atom: Agreement, table: JudgedTable, sources: IntArray) -> Counted:
    """Return a correlation as a function of counts; its own interval would draw the same."""
    scored = ~np.isnan(table.predicted)
    present = np.unique(sources[scored])
    if not present.size:
        return Counted(
            value=math.nan, of_counts=lambda counts: np.full(len(counts), np.nan), n_units=0
        )
    numbered = replace(table, sources=sources)
    units = AveragedUnits.of(rated_parts(numbered), atom.statistic, atom.level, "sources")
    return Counted(
        value=atom.value(table),
        of_counts=lambda counts: units(counts[:, present]),
        n_units=units.n_units,
        n_undefined=units.n_undefined,
    )


def _shortest(number: float) -> str:
    """Return the shortest text that reads as ``number`` again: 5 rather than 5.0."""
    return repr(float(number)).removesuffix(".0")

"""Several objectives at once: weighted, under constraints, or as a Pareto front."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.errors import InputError
from judgesmith.metrics.arrays import FloatArray, IntArray, Seed
from judgesmith.metrics.records import Estimate
from judgesmith.metrics.resampling.draws import Counted
from judgesmith.optimizers.objectives.base import Need, Objective, rated_terms_of
from judgesmith.optimizers.objectives.discernment import careful_p, moved_to
from judgesmith.optimizers.objectives.verdicts import Terms, rule_of, with_rule
from judgesmith.optimizers.predictions import PredictionTable
from judgesmith.signatures.scale import shortest


class Composite(Objective):
    @property
    @abstractmethod
    def atoms(self) -> tuple[Objective, ...]:
        """What the objective is put together from, conditions included."""

    @property
    def needs(self) -> frozenset[Need]:
        return needs_of(self.atoms)

    @property
    def within_sources(self) -> bool:
        return all(atom.within_sources for atom in self.atoms)


@dataclass(frozen=True)
class WeightedSum(Composite):
    """A weighted sum of objectives.

    Parameters
    ----------
    terms : tuple of (float, Objective)
        Finite weights and what they weigh. What is better when lower has a weight below 0,
        everything else one above 0.

    Examples
    --------
    >>> from judgesmith.optimizers import Agreement, CallsPerItem
    >>> str(WeightedSum(((1, Agreement("q")), (-0.01, CallsPerItem()))))
    'q - 0.01*calls'
    """

    terms: Terms

    def __post_init__(self) -> None:
        if not self.terms:
            raise InputError("a sum has one term or more; got none.")
        for weight, atom in self.terms:
            if not math.isfinite(weight) or weight == 0:
                raise InputError(f"a weight is a finite number other than 0; got {weight:g}.")
            if has_wrong_sign(weight, atom):
                lower = f"lower; subtract it, as in q - .1*{atom}."
                remedy = lower if weight > 0 else f"higher; add it, as in 2*{atom}."
                raise InputError(f"{atom} is better when {remedy}")
        if len(self.terms) > 1 and all(getattr(one, "rule", None) is None for _, one in self.terms):
            object.__setattr__(self, "terms", with_rule(self.terms, rule_of([self.terms])))

    def __str__(self) -> str:
        return written(self.terms)

    @property
    def bounds(self) -> tuple[float, float]:
        ends = [sorted(weight * end for end in atom.bounds) for weight, atom in self.terms]
        return math.fsum(low for low, _ in ends), math.fsum(high for _, high in ends)

    @property
    def atoms(self) -> tuple[Objective, ...]:
        return tuple(one for _, atom in self.terms for one in atom.atoms)

    def weighted(self) -> Terms:
        return self.terms

    def without(self, need: Need, instead: Objective) -> Objective:
        terms = tuple((weight, atom) for weight, atom in self.terms if need not in atom.needs)
        if len(terms) == len(self.terms):
            return self
        return WeightedSum(terms) if terms else instead

    def centred(self, value: float, resampled: FloatArray) -> FloatArray:
        return moved_to(value, resampled) if "versions" in self.needs else resampled

    def p_of_gain(self, value: float, resampled: FloatArray, n_units: int) -> float:
        if "versions" in self.needs:
            return careful_p(value, resampled, n_units)
        return super().p_of_gain(value, resampled, n_units)

    def value(self, table: PredictionTable) -> float:
        return math.fsum(weight * atom.value(table) for weight, atom in self.terms)

    def counted(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        return Counted.sum(
            [(weight, atom.counted(table, sources, n_sources)) for weight, atom in self.terms]
        )

    def counted_pair(
        self, first: PredictionTable, second: PredictionTable, sources: IntArray, n_sources: int
    ) -> tuple[Counted, Counted]:
        pairs = [
            (weight, atom.counted_pair(first, second, sources, n_sources))
            for weight, atom in self.terms
        ]
        one, other = (
            Counted.sum([(weight, pair[place]) for weight, pair in pairs]) for place in (0, 1)
        )
        return one, other

    def row_parts(self, table: PredictionTable) -> FloatArray:
        found = np.stack([weight * atom.row_parts(table) for weight, atom in self.terms])
        if np.isnan(found).all(axis=1).any():  # a sum is undefined where one of its terms is
            return np.full(found.shape[1], np.nan)
        return np.where(np.isnan(found).all(axis=0), np.nan, np.nansum(found, axis=0))

    def row_part(self, table: PredictionTable, row: int) -> float:
        terms = [weight * atom.row_part(table, row) for weight, atom in self.terms]
        given = [term for term in terms if not math.isnan(term)]
        return float(np.sum(given)) if given else math.nan


def needs_of(atoms: Iterable[Objective]) -> frozenset[Need]:
    return frozenset(need for atom in atoms for need in atom.needs)


def has_wrong_sign(weight: float, atom: Objective) -> bool:
    return (weight > 0) == atom.lower_is_better


def written(terms: Terms) -> str:
    text = ""
    for weight, atom in terms:
        sign = "-" if weight < 0 else "+" if text else ""
        times = "" if abs(weight) == 1 else f"{shortest(abs(weight))}*"
        text += (f" {sign} " if text else sign) + f"{times}{atom}"
    return text


@dataclass(frozen=True)
class Constraint:
    """A condition: an objective, or a sum of some, reaches a bound.

    Parameters
    ----------
    left : Objective
        What is bounded from below. What is better when lower is given as a sum, with a weight
        below 0 and the bound's sign turned.
    bound : float
        The least that it may be.

    Examples
    --------
    >>> from judgesmith.optimizers import CallsPerItem, Kappa
    >>> str(Constraint(Kappa(), 0.4))
    'kappa >= 0.4'
    >>> str(Constraint(WeightedSum(((-1, CallsPerItem()),)), -2))
    'calls <= 2'
    """

    left: Objective
    bound: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "left", WeightedSum(self.left.weighted()))
        if not math.isfinite(self.bound):
            raise InputError(f"a bound is a finite number; got {self.bound:g}.")

    def __str__(self) -> str:
        if self._from_above:
            turned = tuple((-weight, atom) for weight, atom in self.left.weighted())
            return f"{written(turned)} <= {shortest(-self.bound)}"
        return f"{self.left} >= {shortest(self.bound)}"

    @property
    def _from_above(self) -> bool:
        return all(weight < 0 for weight, _ in self.left.weighted())

    def met(self, table: PredictionTable) -> bool:
        """Say whether the condition is met; one that looks at something undefined is not."""
        return bool(self.violation_of(np.asarray(self.left.value(table))) == 0)

    def estimate(self, table: PredictionTable, *, seed: Seed) -> Estimate:
        """Return what stands left of the sign as it is read, with its interval."""
        found = self.left.estimate(table, seed=seed)
        if not self._from_above:
            return found
        return replace(found, value=-found.value, low=-found.high, high=-found.low)

    def violation_of(self, found: FloatArray) -> FloatArray:
        """Return by how much each value falls short, 0 where it does not, nan where it is nan."""
        size = max(abs(self.bound), 1.0)
        short = (self.bound - found) / size
        # What differs by rounding alone is no violation; nan is not below anything, and stays.
        return np.where(short < 1e-12, 0.0, short)


def by_one_threshold(
    aims: Sequence[Objective], constraints: Sequence[Constraint]
) -> tuple[tuple[WeightedSum, ...], tuple[Constraint, ...]]:
    """Return aims and conditions whose numbers of verdicts are of one threshold, for all alike."""
    floors = [(one.left.weighted(), one.bound) for one in constraints]
    rule = rule_of([one.weighted() for one in aims], floors)
    return (
        tuple(WeightedSum(with_rule(one.weighted(), rule)) for one in aims),
        tuple(Constraint(WeightedSum(with_rule(terms, rule)), bound) for terms, bound in floors),
    )


def violation_of(constraints: Iterable[Constraint], table: PredictionTable) -> float:
    return math.fsum(
        float(one.violation_of(np.asarray(one.left.value(table)))) for one in constraints
    )


@dataclass(frozen=True)
class Constrained(Composite):
    """An aim under conditions: a judge that meets them ranks above all that do not.

    Parameters
    ----------
    aim : Objective
        What counts among the judges that meet all conditions.
    constraints : tuple of Constraint
        One or more conditions; of judges that miss some, the one that misses least ranks first.

    Examples
    --------
    >>> from judgesmith.optimizers import Agreement, Kappa
    >>> str(Constrained(Agreement("q"), (Constraint(Kappa(), 0.4),)))
    'q; kappa >= 0.4'
    """

    aim: Objective
    constraints: tuple[Constraint, ...] = field()  # not the empty default of all objectives

    def __post_init__(self) -> None:
        object.__setattr__(self, "aim", WeightedSum(self.aim.weighted()))
        if not self.constraints:
            raise InputError("a constrained objective has one constraint or more; got none.")
        (aim,), constraints = by_one_threshold((self.aim,), self.constraints)
        object.__setattr__(self, "aim", aim)
        object.__setattr__(self, "constraints", constraints)

    def __str__(self) -> str:
        return "; ".join(map(str, (self.aim, *self.constraints)))

    @property
    def bounds(self) -> tuple[float, float]:
        """What it cannot exceed; below, violations have no end."""
        return -math.inf, self.aim.bounds[1]

    @property
    def atoms(self) -> tuple[Objective, ...]:
        return tuple(atom for part in self._parts for atom in part.atoms)

    def unconditional(self) -> Objective:
        return self.aim

    def without(self, need: Need, instead: Objective) -> Objective:
        kept = tuple(one for one in self.constraints if need not in one.left.needs)
        aim = self.aim.without(need, instead)
        return Constrained(aim, kept) if kept else aim

    def violation(self, table: PredictionTable) -> float:
        return violation_of(self.constraints, table)

    def row_parts(self, table: PredictionTable) -> FloatArray:
        return self.aim.row_parts(table)

    def row_part(self, table: PredictionTable, row: int) -> float:
        return self.aim.row_part(table, row)

    def value(self, table: PredictionTable) -> float:
        """Return what samplers are told: the aim, or less than it can be if a bound is missed."""
        aim, violation = np.asarray([self.aim.value(table)]), np.asarray([self.violation(table)])
        return float(self._ordered(aim, violation)[0])

    def estimate(self, table: PredictionTable, *, seed: Seed) -> Estimate:
        return self.aim.estimate(table, seed=seed)

    @property
    def _parts(self) -> list[Objective]:
        return [self.aim, *(one.left for one in self.constraints)]

    def counted(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        return self._of([part.counted(table, sources, n_sources) for part in self._parts])

    def counted_pair(
        self, first: PredictionTable, second: PredictionTable, sources: IntArray, n_sources: int
    ) -> tuple[Counted, Counted]:
        pairs = [part.counted_pair(first, second, sources, n_sources) for part in self._parts]
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
        least = self.aim.bounds[0]
        met = np.maximum(aim, least)  # keeps nan
        return np.where(violation > 0, least - violation + 0 * aim, met + 0 * violation)


@dataclass(frozen=True, kw_only=True, eq=False)
class ParetoFront:
    """Which of several candidates no other one beats.

    Parameters
    ----------
    names : tuple of str
        The objectives.
    values : array, shape (n_candidates, n_objectives)
        Larger is better; a candidate with nan is not on the front.
    violations : array, shape (n_candidates,), or None
        By how much each misses the conditions; only those that miss least are on the front.

    Attributes
    ----------
    places : tuple of int
        The candidates on the front, in rising order; of equal candidates all.
    knee : int or None
        The one farthest beyond the line between the ends of the front.

    Examples
    --------
    >>> front = ParetoFront(names=("q", "-calls"), values=np.array([[2, -3], [1, -1], [1, -2.0]]))
    >>> front.places
    (0, 1)
    """

    names: tuple[str, ...]
    values: FloatArray
    violations: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape[1] != len(self.names) or not self.names:
            raise InputError(
                f"values are one row per candidate and one column for each of {len(self.names)} "
                f"names; got shape {self.values.shape}."
            )
        if self.violations is not None and (
            self.violations.shape != self.values.shape[:1] or np.any(self.violations < 0)
        ):
            raise InputError("violations are one number per candidate, 0 or more.")

    @classmethod
    def of(cls, objectives: Sequence[Objective], tables: Sequence[PredictionTable]) -> ParetoFront:
        """Return the front of candidates that said what the tables hold, all of the same rows."""
        aims = [one.unconditional() for one in objectives]
        violations = [math.fsum(one.violation(table) for one in objectives) for table in tables]
        values = [[aim.value(table) for aim in aims] for table in tables]
        return cls(
            names=tuple(map(str, aims)),
            values=np.asarray(values, dtype=np.float64).reshape(len(tables), len(aims)),
            violations=np.asarray(violations) if any(o.constraints for o in objectives) else None,
        )

    @cached_property
    def places(self) -> tuple[int, ...]:
        missed = np.zeros(len(self.values)) if self.violations is None else self.violations
        defined = ~np.isnan(self.values).any(axis=1) & ~np.isnan(missed)
        if not defined.any():
            return ()
        among = np.flatnonzero(defined & (missed == missed[defined].min()))
        return tuple(among[_unbeaten(self.values[among])].tolist())

    @property
    def knee(self) -> int | None:
        if not self.places:
            return None
        own = self.values[list(self.places)]
        low, spread = own.min(axis=0), np.ptp(own, axis=0)
        share = (own - low) / np.where(spread > 0, spread, 1.0)
        beyond = np.round(share.sum(axis=1), 12)  # rounding must not decide between equals
        best = max(range(len(own)), key=lambda k: (beyond[k], *own[k].tolist(), -k))
        return self.places[best]

    def to_dict(self) -> dict[str, Any]:
        """Return the front ready for JSON: its candidates' places and values, and the knee."""
        return {
            "objectives": list(self.names),
            "front": [
                {"candidate": place, "values": self.values[place].tolist()} for place in self.places
            ],
            "knee": self.knee,
        }


def _unbeaten(values: FloatArray) -> NDArray[np.bool_]:
    kept = np.ones(len(values), dtype=bool)
    for row, own in enumerate(values):
        as_good = (values >= own).all(axis=1)
        kept[row] = not np.any(as_good & (values > own).any(axis=1))
    return kept


@dataclass(frozen=True)
class SeveralObjectives:
    """Aims that are not weighed against each other, under the same conditions.

    Parameters
    ----------
    aims : tuple of Objective
        Two or more, each named once.
    constraints : tuple of Constraint
        Conditions on all of them.

    Examples
    --------
    >>> from judgesmith.optimizers import Agreement, Kappa
    >>> str(SeveralObjectives((Agreement("q"), Kappa())))
    'q, kappa'
    """

    aims: tuple[Objective, ...]
    constraints: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        if len(self.aims) < 2:
            raise InputError(f"several objectives are two or more; got {len(self.aims)}.")
        twice = [name for name in self.names if self.names.count(name) > 1]
        if twice:
            raise InputError(f"every objective is named once; got {twice[0]} twice.")
        if any(hasattr(one, "rule") for one in self.atoms):
            aims, constraints = by_one_threshold(self.aims, self.constraints)
            object.__setattr__(self, "aims", aims)
            object.__setattr__(self, "constraints", constraints)

    def __str__(self) -> str:
        return "; ".join((", ".join(self.names), *map(str, self.constraints)))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(map(str, self.aims))

    @property
    def each(self) -> tuple[Objective, ...]:
        """Every aim as an objective of its own, under the conditions."""
        limits = self.constraints
        return tuple(Constrained(aim, limits) if limits else aim for aim in self.aims)

    @property
    def atoms(self) -> tuple[Objective, ...]:
        conditions = (one.left for one in self.constraints)
        return tuple(atom for one in (*self.aims, *conditions) for atom in one.atoms)

    @property
    def needs(self) -> frozenset[Need]:
        return needs_of(self.atoms)

    @property
    def rated_terms(self) -> tuple[str, ...]:
        return rated_terms_of(self.atoms)

    @property
    def identity(self) -> str:
        return str(self)

    @property
    def leading_place(self) -> int:
        """Place of the first aim that looks at scores; without one, of the first aim."""
        return next((place for place, aim in enumerate(self.aims) if not aim.is_effort), 0)

    @property
    def leading(self) -> Objective:
        """The aim at ``leading_place``, under the conditions."""
        return self.each[self.leading_place]

    def values(self, table: PredictionTable) -> tuple[float, ...]:
        """Return the aims on a table, nan where undefined."""
        return tuple(aim.value(table) for aim in self.aims)

    def violation(self, table: PredictionTable) -> float:
        """Return by how much the conditions are missed together: 0 where all are met."""
        return violation_of(self.constraints, table)

    def front(
        self, values: Sequence[Sequence[float]], violations: Sequence[float] = ()
    ) -> ParetoFront:
        """Return the front of candidates with these values and violations, all on the same rows."""
        return ParetoFront(
            names=self.names,
            values=np.asarray(values, dtype=np.float64).reshape(len(values), len(self.aims)),
            violations=np.asarray(violations) if self.constraints else None,
        )

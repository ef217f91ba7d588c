"""Several objectives that are not weighed against each other, and the front of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.errors import InputError
from judgesmith.metrics.arrays import FloatArray
from judgesmith.optimizers.objectives.base import Need, Objective
from judgesmith.optimizers.objectives.combining import (
    Constrained,
    Constraint,
    needs_of,
    violation_of,
)
from judgesmith.optimizers.predictions import PredictionTable


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

    Raises
    ------
    ValueError
        If shapes do not fit together, or a violation is below 0.

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
        """Refuse what does not fit together."""
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
        """Who is on the front, in rising order; of equal candidates all."""
        missed = np.zeros(len(self.values)) if self.violations is None else self.violations
        defined = ~np.isnan(self.values).any(axis=1) & ~np.isnan(missed)
        if not defined.any():
            return ()
        among = np.flatnonzero(defined & (missed == missed[defined].min()))
        return tuple(among[_unbeaten(self.values[among])].tolist())

    @property
    def knee(self) -> int | None:
        """Who is farthest beyond the line between the ends of the front; None on an empty one."""
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
    """Return for each row whether no other is as large everywhere and larger somewhere."""
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
        Two or more.
    constraints : tuple of Constraint
        Conditions on all of them.

    Raises
    ------
    ValueError
        If there are fewer than two aims, or one is named twice.

    Examples
    --------
    >>> from judgesmith.optimizers import Agreement, Kappa
    >>> str(SeveralObjectives((Agreement("q"), Kappa())))
    'q, kappa'
    """

    aims: tuple[Objective, ...]
    constraints: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what leaves nothing to choose between."""
        if len(self.aims) < 2:
            raise InputError(f"several objectives are two or more; got {len(self.aims)}.")
        twice = [name for name in self.names if self.names.count(name) > 1]
        if twice:
            raise InputError(f"every objective is named once; got {twice[0]} twice.")

    def __str__(self) -> str:
        """Return the objectives as they are read."""
        return "; ".join((", ".join(self.names), *map(str, self.constraints)))

    @property
    def names(self) -> tuple[str, ...]:
        """What the aims are called."""
        return tuple(map(str, self.aims))

    @property
    def each(self) -> tuple[Objective, ...]:
        """Every aim as an objective of its own, under the conditions."""
        return tuple(self._under_conditions(aim) for aim in self.aims)

    @property
    def atoms(self) -> tuple[Objective, ...]:
        """What the aims and the conditions are put together from."""
        conditions = (one.left for one in self.constraints)
        return tuple(atom for one in (*self.aims, *conditions) for atom in one.atoms)

    @property
    def needs(self) -> frozenset[Need]:
        """What the aims and the conditions look at."""
        return needs_of(self.atoms)

    @property
    def rated_terms(self) -> tuple[str, ...]:
        """What compares scores with human ratings."""
        return tuple(str(one) for one in self.atoms if "ratings" in one.needs)

    @property
    def identity(self) -> str:
        """What tells the objectives from others, in the names of studies."""
        return str(self)

    @property
    def leading_place(self) -> int:
        """Place of the first aim that looks at scores; without one, of the first aim."""
        looking = (place for place, aim in enumerate(self.aims) if not aim.is_effort)
        return next(looking, 0)

    @property
    def leading(self) -> Objective:
        """The first aim that looks at scores, under the conditions; without one, the first aim."""
        return self._under_conditions(self.aims[self.leading_place])

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

    def _under_conditions(self, aim: Objective) -> Objective:
        return Constrained(aim, self.constraints) if self.constraints else aim

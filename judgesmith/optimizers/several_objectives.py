"""Several objectives at once: what each is, what they ask for together, and who is on the front."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.combined import WeightedSum
from judgesmith.optimizers.constrained import Constrained, Constraint
from judgesmith.optimizers.counted_objectives import TargetMean
from judgesmith.optimizers.discernment_objectives import DiscernmentObjective, FalseAlarms
from judgesmith.optimizers.effort_objectives import ShareScored
from judgesmith.optimizers.objectives import Agreement, Objective
from judgesmith.optimizers.pareto import ParetoFront
from judgesmith.optimizers.table import JudgedTable

Aim = Agreement | TargetMean | DiscernmentObjective | WeightedSum


@dataclass(frozen=True)
class SeveralObjectives:
    """Aims that are not weighed against each other, under the same conditions.

    Parameters
    ----------
    aims : tuple of Agreement, other atom or WeightedSum
        Two or more, each made as large as possible.
    constraints : tuple of Constraint
        Conditions that come before all aims; may be none.

    Raises
    ------
    ValueError
        If there are fewer than two aims, or one twice.

    Examples
    --------
    >>> from judgesmith.optimizers.grammar import parse_objectives
    >>> several = parse_objectives("q, -calls; scored >= .95")
    >>> several.names, str(several.each[1])
    (('q', '-calls'), '-calls; scored >= 0.95')
    """

    aims: tuple[Aim, ...]
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
    def leading_place(self) -> int:
        """Place of the first aim that looks at scores; without one, of the first aim."""
        looking = (place for place, aim in enumerate(self.aims) if not is_exact(aim))
        return next(looking, 0)

    @property
    def leading(self) -> Objective:
        """The first aim that looks at scores, under the conditions; without one, the first aim.

        It is what decides where one number has to: how scores are learned to be aggregated.
        """
        return self._under_conditions(self.aims[self.leading_place])

    def values(self, table: JudgedTable) -> tuple[float, ...]:
        """Return the aims on a table, nan where undefined."""
        return tuple(aim.value(table) for aim in self.aims)

    def violation(self, table: JudgedTable) -> float:
        """Return by how much the conditions are missed together: 0 where all are met."""
        return math.fsum(
            float(one.violation_of(np.asarray(one.left.value(table)))) for one in self.constraints
        )

    def front(
        self, values: Sequence[Sequence[float]], violations: Sequence[float] = ()
    ) -> ParetoFront:
        """Return the front of candidates with these values and violations, all on the same rows."""
        return ParetoFront(
            names=self.names,
            values=np.asarray(values, dtype=np.float64).reshape(len(values), len(self.aims)),
            violations=np.asarray(violations) if self.constraints else None,
        )

    def _under_conditions(self, aim: Aim) -> Objective:
        if not self.constraints:
            return aim
        whole = aim if isinstance(aim, WeightedSum) else WeightedSum(((1.0, aim),))
        return Constrained(whole, self.constraints)


def atoms_of(objective: object) -> Iterator[object]:
    """Yield what an objective is put together from, conditions included.

    Examples
    --------
    >>> from judgesmith.optimizers.grammar import parse_objectives
    >>> [str(one) for one in atoms_of(parse_objectives("q, .5*scored - calls; usd <= .01"))]
    ['q', 'scored', 'calls', 'usd']
    """
    match objective:
        case SeveralObjectives():
            parts: Iterable[object] = (*objective.aims, *(c.left for c in objective.constraints))
        case Constrained():
            parts = (objective.aim, *(c.left for c in objective.constraints))
        case WeightedSum():
            parts = (atom for _, atom in objective.terms)
        case _:
            yield objective
            return
    for part in parts:
        yield from atoms_of(part)


def is_effort(atom: object) -> bool:
    """Say whether something is counted rather than estimated: what judging takes."""
    return bool(getattr(atom, "is_effort", False))


def is_exact(objective: Objective) -> bool:
    """Say whether an objective is counted rather than estimated: effort, whatever the scores.

    Examples
    --------
    >>> from judgesmith.optimizers.grammar import parse_objective
    >>> is_exact(parse_objective("-calls")), is_exact(parse_objective("q - .1*calls"))
    (True, False)
    """
    return all(map(is_effort, atoms_of(objective)))


def needs_versions(objective: object) -> bool:
    """Say whether an objective, or one of several, looks at changed versions of the rows.

    Examples
    --------
    >>> from judgesmith.optimizers.grammar import parse_objectives
    >>> [needs_versions(parse_objectives(one)) for one in ("q, -calls", "q; d_min >= 1", "d_avg")]
    [False, True, True]
    """
    return any(isinstance(one, DiscernmentObjective) for one in atoms_of(objective))


def needs_controls(objective: object) -> bool:
    """Say whether an objective looks at changes that must not lower a score.

    Examples
    --------
    >>> from judgesmith.optimizers.grammar import parse_objective
    >>> needs_controls(parse_objective("d_min; false_alarms <= 0"))
    True
    """
    return any(isinstance(one, FalseAlarms) for one in atoms_of(objective))


def rated_terms(objective: object) -> tuple[str, ...]:
    """Return what of an objective compares scores with people's.

    Examples
    --------
    >>> from judgesmith.optimizers.grammar import parse_objective
    >>> rated_terms(parse_objective("q + d_min - .1*mae; scored >= .9; kappa >= .2"))
    ('q', 'mae', 'kappa')
    """
    return tuple(
        str(one)
        for one in atoms_of(objective)
        if one is not None
        and not isinstance(one, DiscernmentObjective | ShareScored)
        and not is_effort(one)
    )

"""The judges that no other one beats on several objectives at once, and the one at the bend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.errors import InputError
from judgesmith.optimizers.constrained import Constrained
from judgesmith.optimizers.objectives import Objective
from judgesmith.optimizers.table import FloatArray, JudgedTable


@dataclass(frozen=True, kw_only=True, eq=False)
class ParetoFront:
    """Which of several candidates are worth a choice between them.

    A candidate beats another if it is as good on every objective and better on one. Who misses
    a condition is beaten by whoever misses less, whatever their values. A candidate with an
    undefined value is never on the front.

    Parameters
    ----------
    names : tuple of str
        What the objectives are called.
    values : array, shape (n_candidates, n_objectives)
        Larger is better; nan where undefined.
    violations : array, shape (n_candidates,), or None
        By how much each misses its conditions, 0 where it meets them; None: there are none.

    Raises
    ------
    ValueError
        If values, names and violations do not fit together, or a violation is negative.

    References
    ----------
    Deb (2000), "An efficient constraint handling method for genetic algorithms", for conditions.
    Das (1999), "On characterizing the 'knee' of the Pareto curve based on normal-boundary
    intersection", Structural Optimization 18, for the bend.

    Examples
    --------
    Agreement against (minus) calls: the last candidate is beaten by the second.

    >>> front = ParetoFront(
    ...     names=("q", "-calls"),
    ...     values=np.array([[1.0, -1.0], [1.8, -2.0], [2.0, -9.0], [1.7, -3.0]]),
    ... )
    >>> front.places, front.knee
    ((0, 1, 2), 1)
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
    def of(cls, objectives: Sequence[Objective], tables: Sequence[JudgedTable]) -> ParetoFront:
        """Return the front of candidates that said what the tables hold, all of the same rows.

        Of objectives with conditions the aims are compared, and violations add up.
        """
        aims = [one.aim if isinstance(one, Constrained) else one for one in objectives]
        conditional = [one for one in objectives if isinstance(one, Constrained)]
        violations = [math.fsum(one.violation(table) for one in conditional) for table in tables]
        values = [[aim.value(table) for aim in aims] for table in tables]
        return cls(
            names=tuple(map(str, aims)),
            values=np.asarray(values, dtype=np.float64).reshape(len(tables), len(aims)),
            violations=np.asarray(violations) if conditional else None,
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
        """Who is farthest beyond the line between the ends of the front; None on an empty one.

        Each objective is scaled to 0..1 over the front, so that units do not matter. With two
        objectives the ends then are (0, 1) and (1, 0), and the distance to the line between them
        grows with the sum of both; with more, the plane through all such corners takes the place
        of the line. Where nobody is beyond it, it is an end; of equals the better one on the
        first objective, then on the second and so on, then the earliest.
        """
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

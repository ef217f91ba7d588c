"""Several numbers in one objective, each as often as its weight says."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.comparing.shared_rows import with_sources_shared
from judgesmith.metrics.resampling.averaged_units import AveragedUnits
from judgesmith.optimizers.counted_objectives import CountedObjective, TargetMean, shared_rows
from judgesmith.optimizers.discernment_objectives import DiscernmentObjective, careful_p, moved_to
from judgesmith.optimizers.objectives import Agreement, rated_parts
from judgesmith.optimizers.source_counts import Counted
from judgesmith.optimizers.table import JudgedTable
from judgesmith.signatures.scale import shortest

Atom = Agreement | TargetMean | DiscernmentObjective


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
        when lower, or punish what is better when higher.

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
            raise InputError("a sum has one term or more; got none.")
        for weight, atom in self.terms:
            if not math.isfinite(weight) or weight == 0:
                raise InputError(f"a weight is a finite number other than 0; got {weight:g}.")
            if has_wrong_sign(weight, atom):
                remedy = (
                    f"lower; subtract it, as in q - .1*{atom}."
                    if weight > 0
                    else f"higher; add it, as in 2*{atom}."
                )
                raise InputError(f"{atom} is better when {remedy}")

    def __str__(self) -> str:
        """Return the sum as it is read."""
        return written(self.terms)

    @property
    def least(self) -> float:
        """What the sum cannot fall below, as far as its terms are bounded."""
        return math.fsum(
            weight * _bounds(atom)[0 if weight > 0 else 1] for weight, atom in self.terms
        )

    def centred(self, value: float, resampled: FloatArray) -> FloatArray:
        """Return resamples, moved to the value where discernment is in the sum."""
        return moved_to(value, resampled) if self._has_discernment else resampled

    def interval_of_gain(
        self, value: float, resampled: FloatArray, n_units: int
    ) -> tuple[float, float]:
        """Return the interval of a difference, shifted where discernment is in the sum."""
        return super().interval_of_gain(value, self.centred(value, resampled), n_units)

    def p_of_gain(self, value: float, resampled: FloatArray, n_units: int) -> float:
        """Return the p-value of a difference, the larger of two where discernment is in it."""
        if self._has_discernment:
            return careful_p(value, resampled, n_units)
        return super().p_of_gain(value, resampled, n_units)

    @property
    def _has_discernment(self) -> bool:
        return any(isinstance(atom, DiscernmentObjective) for _, atom in self.terms)

    def value(self, table: JudgedTable) -> float:
        """Return the sum, nan where any of its terms is undefined."""
        return math.fsum(weight * atom.value(table) for weight, atom in self.terms)

    def counted(self, table: JudgedTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it as a function of counts."""
        return Counted.sum(
            [(weight, _counted(atom, table, sources, n_sources)) for weight, atom in self.terms]
        )

    def counted_pair(
        self, first: JudgedTable, second: JudgedTable, sources: IntArray, n_sources: int
    ) -> tuple[Counted, Counted]:
        """Return it for two judges, each term on the rows that it compares them on."""
        pairs = []
        for weight, atom in self.terms:
            tables = (
                _compared(atom, first, second)
                if isinstance(atom, Agreement)
                else atom.paired(first, second)
            )
            pairs.append([(weight, _counted(atom, table, sources, n_sources)) for table in tables])
        return Counted.sum([pair[0] for pair in pairs]), Counted.sum([pair[1] for pair in pairs])


def has_wrong_sign(weight: float, atom: object) -> bool:
    """Return whether a weight rewards what is better when lower, or punishes the opposite."""
    return (weight > 0) == bool(getattr(atom, "lower_is_better", False))


def written(terms: tuple[tuple[float, Atom], ...]) -> str:
    """Return terms as they are read."""
    text = ""
    for weight, atom in terms:
        sign = "-" if weight < 0 else "+" if text else ""
        times = "" if abs(weight) == 1 else f"{shortest(abs(weight))}*"
        text += (f" {sign} " if text else sign) + f"{times}{atom}"
    return text


def _bounds(atom: Atom) -> tuple[float, float]:
    if isinstance(atom, Agreement):
        return (-3.0, 3.0) if atom.statistic == "q" else (-1.0, 1.0)
    return atom.bounds


def _compared(
    atom: Agreement, first: JudgedTable, second: JudgedTable
) -> tuple[JudgedTable, JudgedTable]:
    """Return what two judges are compared on: within sources, those where both have a value."""
    one, other = shared_rows(first, second)
    if atom.level != "sample":
        return one, other
    predicted = one.predicted.copy(), other.predicted.copy()
    labels = np.asarray(one.targets or ("",) * one.n)
    for target in dict.fromkeys(labels.tolist()):
        rows = np.flatnonzero(labels == target)
        kept = with_sources_shared(
            predicted[0][rows],
            predicted[1][rows],
            one.human[rows],
            sources=one.sources[rows],
            statistic=atom.statistic,
        )
        for scores, own in zip(predicted, kept, strict=True):
            scores[rows] = own
    return replace(one, predicted=predicted[0]), replace(other, predicted=predicted[1])


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

"""The mean agreement over several targets, as a function of what is drawn for all at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.checks import FloatArray, IntArray, label_list, paired_scores
from judgesmith.metrics.comparing.shared_rows import with_gaps_shared, with_sources_shared
from judgesmith.metrics.correlations.groupwise import Statistic, check_statistic
from judgesmith.metrics.correlations.levels import (
    Labels,
    Level,
    LevelValue,
    ScoredRows,
    level_value,
)
from judgesmith.metrics.resampling.drawn_units import OfUnits, Resample, check_resample, of_units

__all__ = ["AveragedUnits", "RatedPart", "scored_by_both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedPart:
    """Scores on one target beside what people said.

    Attributes
    ----------
    predicted : array-like, shape (n_rows,), in points of the judge's scale
        nan where an item is unscored; such rows are left out.
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with ``predicted``.
    sources, systems : sequence of labels, one per row
        Equal labels mean equal sources or systems, in all parts alike.
    """

    predicted: ArrayLike
    human: ArrayLike
    sources: Labels
    systems: Labels | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AveragedUnits:
    """The mean over parts as a function of how often each unit is drawn.

    Attributes
    ----------
    functions : sequence of (callable, sequence of int array)
        Each part's statistic, and for each kind of units those that the part has.
    values : sequence of LevelValue
        The parts' own values.
    sizes : tuple of int
        How many units of each kind there are in all parts together.
    n_units : int
        How many independent values the statistic rests on: of two kinds, the fewer.
    """

    functions: Sequence[tuple[OfUnits, Sequence[IntArray]]]
    values: Sequence[LevelValue]
    sizes: tuple[int, ...]
    n_units: int

    @classmethod
    def of(
        cls, parts: Sequence[RatedPart], statistic: Statistic, level: Level, resample: Resample
    ) -> "AveragedUnits":
        """Check the parts and prepare their statistics."""
        check_statistic(statistic)
        if not parts:
            raise ValueError("no parts to average over; give one per target.")
        check_resample(resample, has_systems=all(part.systems is not None for part in parts))
        if resample == "items" and len(parts) > 1:
            raise ValueError(
                f"items can be drawn from one part only; got {len(parts)}. Draw sources: equal "
                "labels say which are the same in several parts."
            )
        # Labels are read more than once.
        parts = [_with_lists(part) for part in parts]
        rows, scored = [], []
        for part in parts:
            p, h = paired_scores(part.predicted, part.human, allow_unscored=True)
            has = ~np.isnan(p)
            rows.append(
                ScoredRows.of(
                    p, h, sources=part.sources, systems=part.systems, level=level, scored=has
                )
            )
            scored.append(has)
        values = [level_value(one, statistic, level) for one in rows]
        kinds = [_Units.of([part.sources for part in parts], scored)]
        n_units = [
            value.n_groups - value.n_undefined if level == "sample" else len(present)
            for value, present in zip(values, kinds[0].present, strict=True)
        ]
        rows = [
            replace(one, sources=codes, n_sources=len(present))
            for one, codes, present in zip(rows, kinds[0].codes, kinds[0].present, strict=True)
        ]
        if resample in ("systems", "both"):
            systems = _Units.of(
                [() if part.systems is None else part.systems for part in parts], scored
            )
            rows = [
                replace(one, systems=codes, n_systems=len(present))
                for one, codes, present in zip(rows, systems.codes, systems.present, strict=True)
            ]
            kinds = [systems] if resample == "systems" else [*kinds, systems]
            own = [len(present) for present in systems.present]
            n_units = own if resample == "systems" else [*n_units, *own]
        if resample == "items":
            items = range(len(rows[0].sources))
            kinds, n_units = [_Units.of([items], [np.ones(len(items), bool)])], [len(items)]
        return cls(
            functions=[
                (of_units(one, statistic, level, resample), [kind.present[at] for kind in kinds])
                for at, one in enumerate(rows)
            ],
            values=values,
            sizes=tuple(kind.n for kind in kinds),
            n_units=min(n_units),
        )

    def __call__(self, *counts: FloatArray) -> FloatArray:
        """Return the mean for counts of shape (n_resamples, n_units), one array per kind."""
        found = [
            function(*(each[:, own] for each, own in zip(counts, present, strict=True)))
            for function, present in self.functions
        ]
        return np.asarray(np.mean(found, axis=0))

    @property
    def value(self) -> float:
        """The mean of the parts' own values."""
        return float(np.mean([one.value for one in self.values]))

    @property
    def n(self) -> int:
        """Scored rows of all parts."""
        return sum(one.n for one in self.values)

    @property
    def n_undefined(self) -> int:
        """Groups left out, of all parts."""
        return sum(one.n_undefined for one in self.values)


@dataclass(frozen=True, slots=True)
class _Units:
    """One kind of units in all parts.

    Attributes
    ----------
    codes : sequence of int array
        For each part the unit of each scored row, among those that the part has.
    present : sequence of int array
        For each part the units that it has, among all.
    n : int
        How many there are in all parts together.
    """

    codes: Sequence[IntArray]
    present: Sequence[IntArray]
    n: int

    @classmethod
    def of(cls, labels: Sequence[Labels], scored: Sequence[NDArray[np.bool_]]) -> "_Units":
        """Give the labels of scored rows numbers, alike in all parts."""
        kept = [
            [label for label, has in zip(own, rows, strict=True) if has]
            for own, rows in zip(labels, scored, strict=True)
        ]
        place_of = _places(label for own in kept for label in own)
        places = [np.asarray([place_of[label] for label in own], dtype=np.intp) for own in kept]
        found = [np.unique(own, return_inverse=True) for own in places]
        return cls([codes for _, codes in found], [present for present, _ in found], len(place_of))


def _places(labels: Iterable[Any]) -> dict[Any, int]:
    """Return each label's place: in sorted order, or as they come where they have no order."""
    known = dict.fromkeys(labels)
    try:
        ordered = sorted(known)
    except TypeError:
        ordered = list(known)
    return {label: place for place, label in enumerate(ordered)}


def scored_by_both(
    first: RatedPart, second: RatedPart, *, statistic: Statistic, level: Level
) -> tuple[RatedPart, RatedPart]:
    """Return the parts without rows that either leaves unscored, or sources it has no value on.

    Raises
    ------
    ValueError
        If the parts are not about the same rows.
    """
    first, second = _with_lists(first), _with_lists(second)
    for name in ("human", "sources", "systems"):
        if not _same(getattr(first, name), getattr(second, name)):
            raise ValueError(f"rows must pair up; {name} of one part differ between predictors.")
    p, q, h = with_gaps_shared(first.predicted, second.predicted, first.human)
    if level == "sample":
        p, q = with_sources_shared(p, q, h, sources=first.sources, statistic=statistic)
    return replace(first, predicted=p), replace(second, predicted=q)


def _with_lists(part: RatedPart) -> RatedPart:
    """Return the part with its labels as lists."""
    sources, systems = part.sources, part.systems
    return replace(
        part,
        sources=sources if isinstance(sources, list) else label_list(sources, name="sources"),
        systems=systems
        if systems is None or isinstance(systems, list)
        else label_list(systems, name="systems"),
    )


def _same(one: Iterable[Any] | None, other: Iterable[Any] | None) -> bool:
    """Say whether two lists, or two that are left out, hold the same."""
    if one is other:
        return True
    return one is not None and other is not None and list(one) == list(other)

"""Bootstrap intervals of statistics, of their means, and of differences between two judges."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    Seed,
    check_choice,
    in_order,
    label_list,
    paired_scores,
)
from judgesmith.metrics.comparing.significance import with_gaps_shared, with_sources_shared
from judgesmith.metrics.correlation.coefficients import Statistic
from judgesmith.metrics.correlation.levels import (
    Labels,
    Level,
    LevelValue,
    ScoredRows,
    check_sources,
    level_value,
)
from judgesmith.metrics.records import Estimate, PairedEstimate
from judgesmith.metrics.resampling.counted import of_units
from judgesmith.metrics.resampling.draws import (
    Counted,
    Interval,
    OfUnits,
    Resample,
    check_resample,
    checked_generator,
    difference_of,
    draws_of_units,
    estimate_of,
)
from judgesmith.metrics.resampling.jackknife import Bca, acceleration


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedPart:
    """Judge and human scores of one target.

    Attributes
    ----------
    human, judge : array-like, shape (n_rows,); nan in ``judge`` where unscored
    sources, systems : sequence of labels, one per row; equal labels are equal in all parts
    """

    judge: ArrayLike
    human: ArrayLike
    sources: Labels | None = None
    systems: Labels | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AveragedUnits:
    """The mean over parts as a function of how often each unit is drawn."""

    functions: Sequence[tuple[OfUnits, Sequence[IntArray]]]
    values: Sequence[LevelValue]
    sizes: tuple[int, ...]
    n_units: int
    n_left_out: int

    @classmethod
    def of(
        cls, parts: Sequence[RatedPart], statistic: Statistic, level: Level, resample: Resample
    ) -> "AveragedUnits":
        check_choice(statistic, Statistic, name="statistic")
        if not parts:
            raise ValueError("no parts to average over; give one per target.")
        check_resample(resample, has_systems=all(part.systems is not None for part in parts))
        if resample == "items" and len(parts) > 1:
            raise ValueError(
                f"items can be drawn from one part only; got {len(parts)}. Draw sources: equal "
                "labels say which are the same in several parts."
            )
        # Labels are read more than once.
        parts = [_with_lists(part, level) for part in parts]
        rows, scored = [], []
        for part in parts:
            h, p = paired_scores(part.human, part.judge, allow_unscored=True)
            has = ~np.isnan(p)
            rows.append(
                ScoredRows.of(
                    h, p, sources=part.sources, systems=part.systems, level=level, scored=has
                )
            )
            scored.append(has)
        values = [level_value(one, statistic, level) for one in rows]
        kinds = [_Units.of([part.sources or () for part in parts], scored)]
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
            n_left_out=sum(int(np.count_nonzero(~has)) for has in scored),
        )

    def __call__(self, *counts: FloatArray) -> FloatArray:
        """Return the mean for counts of shape (n_resamples, n_units), one array per kind."""
        found = [
            function(*(each[:, own] for each, own in zip(counts, present, strict=True)))
            for function, present in self.functions
        ]
        return np.asarray(np.mean(found, axis=0))

    @property
    def counted(self) -> Counted:
        """The mean of the parts' own values as a statistic of counts."""
        return Counted(
            value=float(np.mean([one.value for one in self.values])),
            of_counts=self,
            n_units=self.n_units,
            n_undefined=sum(one.n_undefined for one in self.values),
        )

    def shown(self, statistic: Statistic, level: Level, resample: Resample) -> dict[str, Any]:
        """Return counts and words that an estimate reports."""
        units = {"sources": "", "items": "rows", "systems": "systems"}
        return {
            "n": sum(one.n for one in self.values),
            "n_groups": min(self.sizes),
            "n_left_out": self.n_left_out,
            "statistic": statistic if level == "dataset" else f"{level}-level {statistic}",
            # Of sources, the estimate itself tells rows apart.
            "unit": units.get(resample, "sources and systems"),
        }


@dataclass(frozen=True, slots=True)
class _Units:
    """One kind of units in all parts."""

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
        ordered = in_order(dict.fromkeys(label for own in kept for label in own))
        place_of = {label: place for place, label in enumerate(ordered)}
        places = [np.asarray([place_of[label] for label in own], dtype=np.intp) for own in kept]
        found = [np.unique(own, return_inverse=True) for own in places]
        return cls([codes for _, codes in found], [present for present, _ in found], len(place_of))


def scored_by_both(
    first: RatedPart, second: RatedPart, *, statistic: Statistic, level: Level
) -> tuple[RatedPart, RatedPart]:
    """Return the parts without rows that either leaves unscored, or sources it has no value on."""
    first, second = _with_lists(first, level), _with_lists(second, level)
    for name in ("human", "sources", "systems"):
        if not _same(getattr(first, name), getattr(second, name)):
            raise ValueError(f"rows must pair up; {name} of one part differ between predictors.")
    h, p, q = with_gaps_shared(first.human, first.judge, second.judge)
    if level == "sample":
        p, q = with_sources_shared(h, p, q, sources=first.sources, statistic=statistic)
    return replace(first, judge=p), replace(second, judge=q)


def _with_lists(part: RatedPart, level: Level) -> RatedPart:
    check_sources(part.sources, level)
    sources = range(np.size(part.human)) if part.sources is None else part.sources
    systems = None if part.systems is None else label_list(part.systems, name="systems")
    return replace(part, sources=label_list(sources, name="sources"), systems=systems)


def _same(one: Iterable[Any] | None, other: Iterable[Any] | None) -> bool:
    if one is other:
        return True
    return one is not None and other is not None and list(one) == list(other)


Method = Literal["percentile", "bca"]


def mean_agreement_interval(
    parts: Sequence[RatedPart],
    *,
    statistic: Statistic = "pearson",
    level: Level = "dataset",
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
    resample: Resample = "sources",
    method: Method = "percentile",
) -> Estimate:
    """Return the mean agreement over parts, with an interval from joint resamples of sources.

    A resample draws the same sources (or systems) for each part, since parts share what is hard
    about a source. With few sources the interval covers less often than it claims.

    Parameters
    ----------
    parts : sequence of RatedPart, one per target
    statistic, level, seed, n_resamples, confidence, resample, method
        As for :func:`agreement_interval`; items are drawn from one part only.

    Returns
    -------
    Estimate
        ``n`` counts scored rows over all parts, ``n_groups`` units drawn in any of them. Undefined
        where the statistic is undefined on any part.

    Examples
    --------
    >>> human, sources = [1, 2, 3, 4, 5, 4, 3, 2], [0, 0, 1, 1, 2, 2, 3, 3]
    >>> parts = [
    ...     RatedPart(judge=[2, 2, 3, 5, 4, 4, 2, 2], human=human, sources=sources),
    ...     RatedPart(judge=[1, 2, 3, 4, 5, 4, 3, 2], human=human, sources=sources),
    ... ]
    >>> found = mean_agreement_interval(
    ...     parts, statistic="pearson", level="dataset", seed=0
    ... )
    >>> round(found.value, 2), found.n, found.n_groups
    (0.91, 16, 4)
    """
    rng = checked_generator(seed, n_resamples, confidence)
    check_choice(method, Method, name="method")
    average = AveragedUnits.of(parts, statistic, level, resample)
    return estimate_of(
        average.counted,
        draws_of_units(average.sizes, n_resamples, rng),
        confidence=confidence,
        interval=_bca(average, average.sizes, confidence)[0] if method == "bca" else None,
        **average.shown(statistic, level, resample),
    )


def _bca(
    statistic: OfUnits, sizes: tuple[int, ...], confidence: float
) -> tuple[Interval, Callable[[float, FloatArray, int], float]]:
    """Return the corrected interval and p-value of a value, its resamples and their units."""

    def corrected(value: float, resampled: FloatArray, n_units: int) -> Bca:
        slope = acceleration(statistic, sizes)
        return Bca.of(value, resampled, acceleration=slope, n_units=n_units)

    return (
        lambda *found: corrected(*found).interval(confidence),
        lambda *found: corrected(*found).p_value(),
    )


def mean_agreement_difference(
    first: Sequence[RatedPart],
    second: Sequence[RatedPart],
    *,
    statistic: Statistic = "pearson",
    level: Level = "dataset",
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
    resample: Resample = "sources",
    method: Method = "percentile",
) -> PairedEstimate:
    """Return the mean agreement of the first judge minus that of the second, over parts.

    Parameters
    ----------
    first, second : sequence of RatedPart
        The same rows and targets in the same order, as either judge scores them.
    statistic, level, seed, n_resamples, confidence, resample, method
        As for :func:`agreement_difference`.

    Examples
    --------
    >>> human, sources = [1, 2, 3, 4, 5, 4, 3, 2], [0, 0, 1, 1, 2, 2, 3, 3]
    >>> good = RatedPart(judge=[1, 2, 3, 4, 5, 4, 3, 2], human=human, sources=sources)
    >>> worse = RatedPart(judge=[2, 2, 3, 5, 4, 4, 2, 2], human=human, sources=sources)
    >>> found = mean_agreement_difference(
    ...     [good], [worse], statistic="pearson", level="dataset", seed=0
    ... )
    >>> round(found.value, 2), found.value == found.first - found.second
    (0.18, True)
    """
    rng = checked_generator(seed, n_resamples, confidence)
    check_choice(method, Method, name="method")
    if len(first) != len(second):
        raise ValueError(f"parts must pair up; got {len(first)} and {len(second)}.")
    check_choice(statistic, Statistic, name="statistic")
    shared = [
        scored_by_both(*pair, statistic=statistic, level=level)
        for pair in zip(first, second, strict=True)
    ]
    one, other = (
        AveragedUnits.of([pair[at] for pair in shared], statistic, level, resample) for at in (0, 1)
    )
    by_bca = _bca(lambda *counts: one(*counts) - other(*counts), one.sizes, confidence)
    interval, p_value = by_bca if method == "bca" else (None, None)
    return difference_of(
        one.counted,
        other.counted,
        draws_of_units(one.sizes, n_resamples, rng),
        confidence=confidence,
        interval=interval,
        p_value=p_value,
        **one.shown(statistic, level, resample),
    )


def agreement_interval(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels | None = None,
    statistic: Statistic = "pearson",
    level: Level = "dataset",
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
    resample: Resample = "sources",
    method: Method = "percentile",
) -> Estimate:
    """Return an agreement with a bootstrap interval.

    What is not drawn is taken as given: by default other systems, and raters always. At system
    level means of few rows are noisy, and near perfect agreement an interval there sits too low.

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,); nan (or None) in ``judge`` where unscored
    sources, systems : sequence of labels, one per row
        As for :func:`agreement`. If every source has one row, rows are resampled.
    statistic : {"pearson", "spearman", "kendall", "kendall_c", "concordance", "q"}
    level : {"system", "sample", "dataset"}
        At system level the systems' means are recomputed in every resample; at sample level
        the sources' own values are resampled.
    confidence, seed, n_resamples
        As in :mod:`judgesmith.metrics`: coverage, seed or generator, 20 resamples or more.
    resample : {"sources", "items", "systems", "both"}
        What is drawn with replacement. ``items``: single rows, as if they were independent.
        ``systems``: for claims about other systems on the same sources. ``both``: sources and
        systems independently; a row occurs as often as its source was drawn times its system. Such
        intervals are cautious: in simulations 96 % and more held the truth.
    method : {"percentile", "bca"}
        ``bca`` corrects for bias and skewness, with one computation per unit; at most 20,000 units.

    Returns
    -------
    Estimate
        ``n_groups`` counts the units drawn; with ``both`` the smaller of the numbers of sources and
        systems. Undefined resamples are left out. ``low`` and ``high`` are nan if these are more
        than 5 %, if ``value`` is undefined, or with fewer than two units (at sample level: two
        sources with a value); with ``bca`` also if all resamples lie on one side of the value, or
        leaving out one unit leaves nothing defined. An interval of no length is one that no
        resample left, as where agreement is perfect.

    References
    ----------
    Field and Welsh (2007), "Bootstrapping clustered data", JRSS B 69, for resampling sources.
    Hesterberg (2015), "What Teachers Should Know About the Bootstrap", American Statistician
    69, section 5, for the widening. Deutsch, Dror and Roth (2021), "A Statistical Analysis of
    Summarization Evaluation Metrics Using Resampling Methods", TACL 9, for ``systems`` and
    ``both``. Owen (2007), "The pigeonhole bootstrap", Annals of Applied Statistics 1, for why
    that is cautious. Efron (1987), "Better Bootstrap Confidence Intervals", JASA 82, for ``bca``.

    Examples
    --------
    >>> human = [1, 2, 3, 4, 5, 4, 3, 2, 1, 3, 5, 2]
    >>> judge = [2, 2, 3, 5, 4, 4, 2, 2, 1, 4, 5, 3]
    >>> found = agreement_interval(
    ...     human, judge, sources=[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
    ...     statistic="pearson", level="dataset", seed=0,
    ... )
    >>> round(found.value, 2), found.low < found.value < found.high, found.n_groups
    (0.86, True, 6)
    """
    part = RatedPart(judge=judge, human=human, sources=sources, systems=systems)
    return mean_agreement_interval(
        [part],
        statistic=statistic,
        level=level,
        seed=seed,
        n_resamples=n_resamples,
        confidence=confidence,
        resample=resample,
        method=method,
    )


def agreement_difference(
    human: ArrayLike,
    judge: ArrayLike,
    other: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels | None = None,
    statistic: Statistic = "pearson",
    level: Level = "dataset",
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
    resample: Resample = "sources",
    method: Method = "percentile",
) -> PairedEstimate:
    """Return the agreement of ``judge`` minus that of ``other`` on the same rows and resamples.

    The p-value inverts the interval: twice the smaller of ``(count + 1) / (n_resamples + 1)`` over
    resampled differences on either side of zero, with the same widening for few units. It is
    approximate below some 15 units, and holds for one comparison that was planned.

    Parameters
    ----------
    human, judge, other : array-like, shape (n_rows,)
        Rows that either judge leaves unscored (nan or None) are left out.
    sources, systems, statistic, level, seed, n_resamples, confidence, resample, method
        As for :func:`agreement_interval`.

    Returns
    -------
    PairedEstimate
        At sample level both are averaged over the sources where both are defined; ``n_undefined``
        counts the others. Undefined resamples as for :func:`agreement_interval`.

    Examples
    --------
    >>> human = [1, 2, 3, 4, 5, 4, 3, 2, 1, 3, 5, 2]
    >>> found = agreement_difference(
    ...     human, [2, 2, 3, 5, 4, 4, 2, 2, 1, 4, 5, 3], [3, 1, 3, 2, 2, 4, 1, 2, 3, 3, 4, 1],
    ...     sources=range(12), statistic="kendall", level="dataset",
    ... )
    >>> found.value == found.first - found.second, found.p_value < 0.2
    (True, True)
    """
    labels = None if sources is None else label_list(sources, name="sources")
    others = None if systems is None else label_list(systems, name="systems")
    parts = [
        RatedPart(judge=each, human=human, sources=labels, systems=others)
        for each in (judge, other)
    ]
    return mean_agreement_difference(
        parts[:1],
        parts[1:],
        statistic=statistic,
        level=level,
        seed=seed,
        n_resamples=n_resamples,
        confidence=confidence,
        resample=resample,
        method=method,
    )

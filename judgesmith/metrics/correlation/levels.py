"""Agreement with people at the three levels of meta-evaluation: system, sample, dataset."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import FloatArray, IntArray, group_codes, paired_scores
from judgesmith.metrics.correlation.coefficients import (
    Statistic,
    check_statistic,
    group_correlations,
)
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.records import Record

Level = Literal["system", "sample", "dataset"]
Labels = Sequence[object] | NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelValue(Record):
    """An agreement, and what it rests on.

    Attributes
    ----------
    value : float
        The statistic; nan if it is undefined.
    n : int
        Rows that entered, all of them scored.
    n_unscored : int
        Rows left out because ``judge`` was nan.
    n_groups : int
        Groups that the level looks at: systems, sources, or the one dataset.
    n_undefined : int
        Those among them left out of ``value`` because nothing could be computed: sources whose
        own correlation is undefined, systems without a scored row, the dataset itself.
    """

    value: float
    n: int
    n_unscored: int
    n_groups: int
    n_undefined: int


def check_sources(sources: Labels | None, level: str) -> None:
    """Refuse the sample level, which is about pairs of rows of one source, without sources."""
    if sources is None and level == "sample":
        raise ValueError("sample level needs sources=, one label per item; got None.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRows:
    """Checked rows of which only those with a score are left; groups keep their numbers."""

    judge: Column
    human: Column
    sources: IntArray
    systems: IntArray
    n_sources: int
    n_systems: int
    n_unscored: int

    @classmethod
    def of(
        cls,
        human: FloatArray,
        judge: FloatArray,
        *,
        sources: Labels | None,
        systems: Labels | None,
        level: Level,
        scored: NDArray[np.bool_],
    ) -> "ScoredRows":
        """Check the labels and keep the scored rows."""
        if level not in get_args(Level):
            raise ValueError(f"level must be one of {get_args(Level)}; got {level!r}.")
        check_sources(sources, level)
        n_rows = len(human)
        source_codes, n_sources = group_codes(sources, name="sources", n_items=n_rows)
        if systems is not None:
            system_codes, n_systems = group_codes(systems, name="systems", n_items=n_rows)
        elif level == "system":
            raise ValueError("system level needs systems=, one label per item; got None.")
        else:
            system_codes, n_systems = np.zeros(n_rows, np.int64), int(n_rows > 0)
        kept = slice(None) if scored.all() else scored
        return cls(
            judge=Column.of(judge[kept]),
            human=Column.of(human[kept]),
            sources=source_codes[kept],
            systems=system_codes[kept],
            n_sources=n_sources,
            n_systems=n_systems,
            n_unscored=int(n_rows - np.count_nonzero(scored)),
        )


def agreement(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels | None = None,
    statistic: Statistic = "pearson",
    level: Level = "dataset",
) -> LevelValue:
    """Return how well predicted scores agree with human ones at one level.

    ==========  ==================================================  ==========================
    level       value                                               also called
    ==========  ==================================================  ==========================
    `system`    correlation of the systems' mean scores             system-level, corpus-level
    `sample`    correlation across the systems of one source,       summary-, input-, turn-,
                averaged over sources                               segment-level (grouped)
    `dataset`   correlation over all rows, whatever their source    instance-, global-level,
                                                                    segment-level (no grouping)
    ==========  ==================================================  ==========================

    Parameters
    ----------
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with ``judge``.
    judge : array-like, shape (n_rows,), in points of the judge's scale
        nan (or None) where an item is unscored; such rows are left out and counted.
    sources, systems : sequence of labels, one per row
        What was responded to and who responded. Groups may differ in size. ``systems`` is
        needed at system level only.
    statistic : {"pearson", "spearman", "kendall", "kendall_c", "concordance", "q"}
        The correlation: as :func:`~judgesmith.metrics.kendall` has it, ``kendall`` is tau-b and
        ``kendall_c`` tau-c; ``q`` is the sum of the first three, taken group by group. For
        ``concordance`` predicted scores must be in points of the human scale.
    level : {"system", "sample", "dataset"}
        See the table.

    Returns
    -------
    LevelValue
        With ``value`` from -1 to 1 (``q``: -3 to 3), nan if undefined.

    Raises
    ------
    ValueError
        If rows do not pair up, a human score or a label is missing, a score is infinite, or
        the statistic or level is unknown.

    References
    ----------
    Louis and Nenkova (2013), "Automatically Assessing Machine Summary Content Without a Gold
    Standard", Computational Linguistics 39, compare the system and the input level.

    Examples
    --------
    Both sources are ordered as people order them, but one of them has only one score.

    >>> found = agreement(
    ...     [1, 2, 4, 3, 2, 1], [1, 2, 3, 5, 5, 5],
    ...     sources=["a", "a", "a", "b", "b", "b"], statistic="spearman", level="sample",
    ... )
    >>> found.value, found.n_groups, found.n_undefined
    (1.0, 2, 1)
    """
    check_statistic(statistic)
    h, p = paired_scores(human, judge, allow_unscored=True)
    rows = ScoredRows.of(h, p, sources=sources, systems=systems, level=level, scored=~np.isnan(p))
    return level_value(rows, statistic, level)


def level_value(rows: ScoredRows, statistic: Statistic, level: Level) -> LevelValue:
    """Compute one statistic at one level from checked rows."""
    x, y = rows.judge, rows.human
    n = len(x.codes)
    if level == "sample":
        values = group_correlations(statistic, x, y, rows.sources, rows.n_sources)
        value, n_groups = mean_defined(values), rows.n_sources
        n_undefined = int(np.count_nonzero(np.isnan(values)))
    elif level == "system":
        size = np.bincount(rows.systems, minlength=rows.n_systems)
        present = size > 0
        sums = (
            np.bincount(rows.systems, weights=column.values, minlength=rows.n_systems)
            for column in (x, y)
        )
        means = (
            Column.of(total[present] / size[present], column.exponent)
            for total, column in zip(sums, (x, y), strict=True)
        )
        n_groups, n_undefined = rows.n_systems, int(np.count_nonzero(~present))
        value = _all_rows(statistic, *means)
    else:
        value, n_groups, n_undefined = _all_rows(statistic, x, y), 1, 0
        n_undefined = int(np.isnan(value))
    return LevelValue(
        value=value, n=n, n_unscored=rows.n_unscored, n_groups=n_groups, n_undefined=n_undefined
    )


def mean_defined(values: FloatArray) -> float:
    """Return the mean of what is not nan, nan if nothing is left."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else float("nan")


def _all_rows(statistic: Statistic, x: Column, y: Column) -> float:
    """Return the correlation over all rows."""
    groups = np.zeros(len(x.codes), np.int64)
    return float(group_correlations(statistic, x, y, groups, 1)[0])

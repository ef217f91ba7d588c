"""Tie-aware accuracy of all scored rows, and what it is without each source in turn."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.agreeing_pairs import agreeing_pairs, check_tolerance, scaled_column
from judgesmith.metrics.checks import FloatArray, IntArray, group_codes
from judgesmith.metrics.column import Column
from judgesmith.metrics.levels import Labels, mean_defined

__all__ = ["PairLevel", "TieShare"]

PairLevel = Literal["sample", "dataset"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TieShare:
    """Accuracy at one level, also without each source in turn.

    Attributes
    ----------
    value : float
        A fraction from 0 to 1; nan if it is undefined.
    without : float array
        The same without each source that has a value (``dataset``: a scored row).
    n, n_groups, n_undefined : int
        As in an :class:`~judgesmith.metrics.Estimate`.
    """

    value: float
    without: FloatArray
    n: int
    n_groups: int
    n_undefined: int

    @classmethod
    def of(
        cls,
        predicted: FloatArray,
        human: FloatArray,
        sources: Labels,
        level: PairLevel,
        tolerance: float,
        scored: NDArray[np.bool_],
    ) -> "TieShare":
        """Check labels and settings, and count."""
        check_tolerance(tolerance)
        if level not in get_args(PairLevel):
            raise ValueError(f"level must be one of {get_args(PairLevel)}; got {level!r}.")
        codes, n_sources = group_codes(sources, name="sources", n_items=len(predicted))
        codes = codes[scored]
        size = np.bincount(codes, minlength=n_sources).astype(np.float64)
        judge, reach = scaled_column(predicted[scored], tolerance)
        people = Column.of(human[scored])
        within = _sums(agreeing_pairs(judge, reach, people, codes), codes, n_sources)
        n_undefined = 0
        if level == "sample":
            values = np.full(n_sources, np.nan)
            np.divide(within, size * (size - 1), out=values, where=size > 1)
            value, without = mean_defined(values), _means_without(values[~np.isnan(values)])
            n_undefined = int(np.count_nonzero(np.isnan(values)))
        else:
            everywhere = agreeing_pairs(judge, reach, people, np.zeros_like(codes))
            value, without = _all_pairs(_sums(everywhere, codes, n_sources), within, size)
        return cls(
            value=value,
            without=without,
            n=len(codes),
            n_groups=int(np.count_nonzero(size)),
            n_undefined=n_undefined,
        )


def _sums(counts: IntArray, groups: IntArray, n_groups: int) -> FloatArray:
    """Add up the counts of each group's rows."""
    return np.bincount(groups, weights=counts, minlength=n_groups).astype(np.float64)


def _means_without(values: FloatArray) -> FloatArray:
    """Return the mean without each of the values in turn."""
    if len(values) < 2:
        return np.full(len(values), np.nan)
    return np.asarray((values.sum() - values) / (len(values) - 1))


def _all_pairs(
    touching: FloatArray, within: FloatArray, size: FloatArray
) -> tuple[float, FloatArray]:
    """Return the share of all ordered pairs that agree, and the shares without each source."""
    agreeing, n = touching.sum(), size.sum()
    value = float(agreeing / (n * (n - 1))) if n > 1 else math.nan
    present = size > 0
    # A pair within a source is counted at both of its rows, one across sources at one of them.
    left = agreeing - 2 * touching[present] + within[present]
    n_left = n - size[present]
    without = np.full(len(left), np.nan)
    np.divide(left, n_left * (n_left - 1), out=without, where=n_left > 1)
    return value, without

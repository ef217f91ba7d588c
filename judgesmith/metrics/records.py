"""Records of results: estimates with intervals, ready for JSON."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self, cast

import numpy as np

from judgesmith.metrics.arrays import FloatArray
from judgesmith.results.base import Result

_LARGEST_SQUARED = 1e100


def squarable(scores: FloatArray, *, name: str) -> FloatArray:
    """Return ``scores`` if products of two of them are far from overflowing."""
    large = np.abs(scores) > _LARGEST_SQUARED
    if large.any():
        raise ValueError(
            f"{name} must be from -1e100 to 1e100, since scores are squared; got "
            f"{scores[large][0]} at index {np.flatnonzero(large)[0]}. Give them in other units."
        )
    return scores


def whole_number(value: int, *, name: str, least: int) -> int:
    """Return ``value`` if it is a whole number, ``least`` or more."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number, {least} or more; got {value!r}.")
    return int(value)


_REPR_ONLY = {"repr_only": True}


class Record(Result):
    """Base of all result records; ``_shown`` names fields and properties where not all count."""

    __slots__ = ()
    _shown: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, in order, ready for JSON: undefined is None."""
        found: dict[str, Any] = {}
        own = (one.name for one in fields(cast(Any, self)) if one.metadata != _REPR_ONLY)
        for name in self._shown or own:
            value = getattr(self, name)
            found[name] = plain(value)
            if isinstance(value, float) and math.isinf(value):
                found[f"{name}_is"] = self._in_words(value)
        return found

    def _in_words(self, infinite: float) -> str:
        """Say what an infinite number means."""
        return "infinite" if infinite > 0 else "minus infinite"


def plain(value: object) -> Any:
    """Return a value as JSON holds it: None for nan and infinite numbers, text for objects."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    return str(value)


FEWEST_GROUPS = 5
"""Independent units that an interval needs to be reported."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Estimate(Record):
    """A statistic with its interval and the data behind it.

    Attributes
    ----------
    value, low, high : float
        The statistic and the ends of its interval, in the unit of the statistic. nan is
        undefined: ``low`` and ``high`` together, where no interval can be given.
    confidence : float; nominal coverage of the interval, a fraction such as 0.95
    n : int; rows that entered, all of them scored
    n_groups : int
        Independent units among these rows, the ones that were resampled: sources, unless the
        function says otherwise.
    n_undefined : int
        Groups left out of ``value`` because nothing could be computed on them, counted as in
        :class:`~judgesmith.metrics.correlation.LevelValue`. Resamples are never counted here.
    statistic, unit : str
        The statistic and the unit of the interval, for ``repr`` only. Without ``unit`` the units
        are rows if there are as many groups as rows, and sources otherwise.
    n_left_out : int; rows that did not enter, such as unscored ones, for ``repr`` only

    Examples
    --------
    >>> found = Estimate(
    ...     value=0.5, low=float("nan"), high=float("nan"),
    ...     confidence=0.95, n=3, n_groups=1, n_undefined=0,
    ... )
    >>> found.to_dict()["low"] is None, found.to_dict()["reason"]
    (True, 'an interval needs 5 sources or more; got 1')

    ``repr`` prints the statistic, the unit and the number of rows:

    >>> Estimate(
    ...     value=0.5, low=0.3, high=0.68, confidence=0.95, n=30, n_groups=10, n_undefined=0,
    ...     statistic="pearson",
    ... )
    Estimate(pearson 0.5, 95% interval [0.3, 0.68] by sources, n=30 rows, 10 sources)
    """

    value: float
    low: float
    high: float
    confidence: float
    n: int
    n_groups: int
    n_undefined: int = 0
    statistic: str = field(default="", compare=False, metadata=_REPR_ONLY)
    unit: str = field(default="", compare=False, metadata=_REPR_ONLY)
    n_left_out: int = field(default=0, compare=False, metadata=_REPR_ONLY)

    @classmethod
    def of(cls, value: float, ends: tuple[float, float], confidence: float, **others: Any) -> Self:
        """Return the estimate of a value and the ends of its interval; ``others`` are fields."""
        low, high = map(float, ends)
        return cls(value=float(value), low=low, high=high, confidence=confidence, **others)

    def __repr__(self) -> str:
        unit = self.unit or ("rows" if self.n_groups == self.n else "sources")
        rows = "" if unit == "rows" else f", {self.n_groups} {unit}"
        undefined = f", {self.n_undefined} undefined" if self.n_undefined else ""
        left_out = f", {self.n_left_out} left out" if self.n_left_out else ""
        shown = self.reported()
        within = f"{100 * self.confidence:g}% interval [{self.low:.4g}, {self.high:.4g}] by {unit}"
        if math.isnan(shown.low):
            few = self.n_groups < FEWEST_GROUPS
            within = f"no interval: fewer than {FEWEST_GROUPS} {unit}" if few else "no interval"
        return (
            f"{type(self).__name__}({self.statistic or 'value'} {shown._in_short()}, {within}, "
            f"n={self.n} rows{rows}{undefined}{left_out})"
        )

    def _in_short(self) -> str:
        return "undefined" if math.isnan(self.value) else f"{self.value:.4g}"

    @property
    def has_few_groups(self) -> bool:
        """Whether there are too few groups to report an interval."""
        return self.n_groups < FEWEST_GROUPS and not math.isnan(self.value)

    def reported(self) -> Self:
        """Return the estimate as reports show it: without an interval over fewer than 5 groups."""
        return self._without_interval() if self.has_few_groups else self

    def _without_interval(self) -> Self:
        return replace(self, low=math.nan, high=math.nan)

    def to_dict(self) -> dict[str, Any]:
        """Return the reported fields by name, ready for JSON.

        Over fewer than 5 groups the interval, and the p-value of a difference, are None, and
        ``reason`` says why.
        """
        found = Record.to_dict(self.reported())
        if self.has_few_groups:
            found["reason"] = (
                f"an interval needs {FEWEST_GROUPS} sources or more; got {self.n_groups}"
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PairedEstimate(Estimate):
    """A difference between two predictors on the same rows.

    Attributes
    ----------
    first, second : float
        The statistic of either predictor; ``value`` is ``first - second``.
    p_value : float
        Two-sided, for the hypothesis of no difference; nan without an interval. It cannot be
        below ``2 / (n_resamples + 1)``, more with few groups, however large the difference;
        ``repr`` then writes ``p ≤``.
    least_p : float; the smallest p-value that these resamples could give, for ``repr`` only
    """

    first: float
    second: float
    p_value: float
    least_p: float = field(default=math.nan, compare=False, metadata=_REPR_ONLY)

    def _in_short(self) -> str:
        difference = f"difference {self.value:.4g} ({self.first:.4g} - {self.second:.4g})"
        relation = " ≤ " if self.p_value <= self.least_p else "="
        shown = f"{difference}, p{relation}{self.p_value:.4g}"
        return difference if math.isnan(self.p_value) else shown

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes 0 and the p-value is at most ``1 - confidence``.

        A difference over fewer than 5 groups is never clear: few units cannot show how far the
        difference may vary.

        Examples
        --------
        >>> known = dict(value=1.1, confidence=0.95, n=12, n_undefined=0, first=1.4, second=0.3)
        >>> PairedEstimate(low=0.7, high=1.1, p_value=0.273, n_groups=2, **known).is_clear
        False
        >>> PairedEstimate(low=0.7, high=1.6, p_value=0.002, n_groups=40, **known).is_clear
        True
        """
        leaves_out_zero = self.low > 0 or self.high < 0
        return leaves_out_zero and self.p_value <= 1 - self.confidence and not self.has_few_groups

    def _without_interval(self) -> Self:
        return replace(self, low=math.nan, high=math.nan, p_value=math.nan)

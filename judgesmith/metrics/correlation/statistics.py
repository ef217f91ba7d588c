"""Pearson, Spearman, Kendall, Lin and Q: the value, its interval, and the paired difference.

Each is :func:`~judgesmith.metrics.correlation.agreement` with the statistic in its name.
"""

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, Literal, Protocol

from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import Seed, paired_scores
from judgesmith.metrics.correlation.coefficients import Statistic, over_rows
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.correlation.levels import Labels, Level, agreement
from judgesmith.metrics.records import Estimate, PairedEstimate
from judgesmith.metrics.resampling.draws import Resample
from judgesmith.metrics.resampling.intervals import Method, agreement_difference, agreement_interval


def pearson(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels | None = None,
    level: Level = "dataset",
) -> float:
    """Return Pearson's product-moment correlation.

    Parameters
    ----------
    human, judge : array-like, shape (n_items,), without missing scores
    sources, systems, level
        As for :func:`~judgesmith.metrics.correlation.agreement`: over all rows by default.

    Returns
    -------
    float
        From -1 to 1; nan if a list is constant or there are fewer than two items.

    References
    ----------
    Pearson (1895), "Notes on regression and inheritance in the case of two parents".

    Examples
    --------
    >>> round(pearson([1, 2, 6], [1, 2, 3]), 3)
    0.945
    >>> pearson([1, 2, 6], [4, 4, 4])
    nan
    """
    return _plain("pearson", human, judge, sources, systems, level)


def spearman(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels | None = None,
    level: Level = "dataset",
) -> float:
    """Return Spearman's rank correlation: Pearson's of ranks, ties sharing their mean rank.

    Parameters
    ----------
    human, judge, sources, systems, level
        As for :func:`pearson`.

    Returns
    -------
    float
        As for :func:`pearson`.

    References
    ----------
    Spearman (1904), "The proof and measurement of association between two things".

    Examples
    --------
    >>> spearman([1, 2, 6], [1, 2, 3])
    1.0
    """
    return _plain("spearman", human, judge, sources, systems, level)


def kendall(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels | None = None,
    level: Level = "dataset",
    variant: Literal["b", "c"] = "b",
) -> float:
    """Return Kendall's tau: concordant minus discordant pairs, corrected for ties.

    Tau-b divides by the geometric mean of the numbers of pairs that each list orders. Tau-c
    divides by n² (m − 1) / 2m with m the smaller number of distinct scores.

    Parameters
    ----------
    human, judge, sources, systems, level
        As for :func:`pearson`.
    variant : {"b", "c"}; tau-b, or tau-c for lists with unequal numbers of distinct scores

    Returns
    -------
    float
        As for :func:`pearson`. With unequal numbers of ties, tau-b cannot reach 1; tau-c can, where
        the list with fewer distinct scores has each of them equally often.

    References
    ----------
    Kendall (1945), "The treatment of ties in ranking problems", Biometrika 33. Stuart (1953),
    Biometrika 40, for tau-c. Knight (1966), "A computer method for calculating Kendall's tau with
    ungrouped data", JASA 61, for counting.

    Examples
    --------
    >>> judge, people = [10, 20, 30, 40], [1, 1, 2, 2]
    >>> round(kendall(people, judge), 3), kendall(people, judge, variant="c")
    (0.816, 1.0)
    """
    if variant not in ("b", "c"):
        raise ValueError(f"variant must be 'b' or 'c'; got {variant!r}.")
    return _plain(
        "kendall" if variant == "b" else "kendall_c", human, judge, sources, systems, level
    )


def lins_ccc(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels | None = None,
    level: Level = "dataset",
) -> float:
    """Return Lin's concordance correlation: how close scores are to equal.

    ``2 cov / (var + var + (difference of means)²)``, with moments that divide by n: Pearson's
    correlation, lowered by every difference in mean or in spread.

    Parameters
    ----------
    human, judge : array-like, shape (n_items,), both in points of the human scale
    sources, systems, level
        As for :func:`pearson`.

    Returns
    -------
    float
        From -1 to 1, where 1 is equality; 0 if one list is constant; nan if both are constant at
        one value or there are fewer than two items.

    References
    ----------
    Lin (1989), "A concordance correlation coefficient to evaluate reproducibility", Biometrics
    45, 255-268.

    Examples
    --------
    >>> pearson([1, 2, 3, 4], [2, 3, 4, 5]), round(lins_ccc([1, 2, 3, 4], [2, 3, 4, 5]), 3)
    (1.0, 0.714)
    """
    return _plain("concordance", human, judge, sources, systems, level)


def q(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels | None = None,
    level: Level = "dataset",
) -> float:
    """Return Q: the sum of :func:`pearson`, :func:`spearman` and :func:`kendall`.

    Parameters
    ----------
    human, judge, sources, systems, level
        As for :func:`pearson`.

    Returns
    -------
    float
        From -3 to 3; nan if a list is constant or there are fewer than three items.

    References
    ----------
    Xu, Hu and Jiang (2024), "Large Language Models Are Active Critics in NLG Evaluation".

    Examples
    --------
    >>> round(q([1, 2, 2], [1, 2, 3]), 3)
    2.549
    """
    return _plain("q", human, judge, sources, systems, level)


def _plain(
    statistic: Statistic,
    human: ArrayLike,
    judge: ArrayLike,
    sources: Labels | None,
    systems: Labels | None,
    level: Level,
) -> float:
    """Return the value; refuse rows without a score, since a plain number cannot count them."""
    h, p = paired_scores(human, judge)
    if sources is None and systems is None and level == "dataset":
        return over_rows(statistic, Column.of(p), Column.of(h))
    return agreement(h, p, sources=sources, systems=systems, statistic=statistic, level=level).value


class _Interval(Protocol):
    def __call__(
        self,
        human: ArrayLike,
        judge: ArrayLike,
        *,
        sources: Labels | None = None,
        systems: Labels | None = None,
        level: Level = "dataset",
        confidence: float = 0.95,
        seed: Seed = 0,
        n_resamples: int = 1000,
        resample: Resample = "sources",
        method: Method = "percentile",
    ) -> Estimate: ...


class _Difference(Protocol):
    def __call__(
        self,
        human: ArrayLike,
        judge: ArrayLike,
        other: ArrayLike,
        *,
        sources: Labels | None = None,
        systems: Labels | None = None,
        level: Level = "dataset",
        confidence: float = 0.95,
        seed: Seed = 0,
        n_resamples: int = 1000,
        resample: Resample = "sources",
        method: Method = "percentile",
    ) -> PairedEstimate: ...


_INTERVAL = """Return :func:`{x}` with an interval.

    Parameters
    ----------
    human, judge, sources, systems, level, confidence, seed, n_resamples, resample, method
        As for :func:`~judgesmith.metrics.correlation.agreement_interval`, and so is the result.

    Examples
    --------
    >>> found = {x}_interval([1, 2, 3, 4, 5, 3], [1, 2, 3, 5, 4, 3])
    >>> found.low < found.value <= found.high, found.n
    (True, 6)
    """

_DIFFERENCE = """Return :func:`{x}` of ``judge`` minus that of ``other`` on the same rows.

    Parameters
    ----------
    human, judge, other, sources, systems, level, confidence, seed, n_resamples, resample, method
        As for :func:`~judgesmith.metrics.correlation.agreement_difference`, and so is the result.

    Examples
    --------
    >>> found = {x}_difference([1, 2, 3, 4, 5, 3], [1, 2, 3, 5, 4, 3], [3, 1, 2, 5, 3, 2])
    >>> found.first > found.second, found.n
    (True, 6)
    """


def _with(statistic: Statistic, of: Callable[..., Any], name: str, doc: str) -> Any:
    """Return ``of`` with its statistic fixed, under a name and with a docstring of its own."""

    def function(*scores: ArrayLike, **settings: Any) -> Any:
        try:
            own.bind(*scores, **settings)
        except TypeError as fault:
            raise TypeError(f"{name}() {_likely(fault, settings, list(own.parameters))}") from None
        return of(*scores, statistic=statistic, **settings)

    signature = inspect.signature(of)
    own = signature.replace(
        parameters=[one for one in signature.parameters.values() if one.name != "statistic"]
    )
    function.__signature__ = own  # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


_ELSEWHERE = {
    **dict.fromkeys(("groups", "group", "clusters", "cluster", "blocks", "documents"), "sources"),
    **dict.fromkeys(("rng", "random_state"), "seed"),
    **dict.fromkeys(("alpha", "confidence_level", "conf_level"), "confidence"),
    **dict.fromkeys(("n_boot", "n_bootstrap", "n_bootstraps"), "n_resamples"),
}
"""Names that arguments have in other libraries."""


def _likely(fault: TypeError, settings: Mapping[str, object], names: list[str]) -> str:
    """Return what is wrong with a call, and which argument was probably meant."""
    for given in settings:
        if given not in names:
            near = get_close_matches(_ELSEWHERE.get(given, given), names, 1)
            meant = f"; did you mean {near[0]}=?" if near else f"; it has {', '.join(names)}."
            return f"{fault}{meant}"
    return f"{fault}; it takes {', '.join(names)}."


def _interval_of(statistic: Statistic, x: str) -> _Interval:
    found: _Interval = _with(statistic, agreement_interval, f"{x}_interval", _INTERVAL.format(x=x))
    return found


def _difference_of(statistic: Statistic, x: str) -> _Difference:
    found: _Difference = _with(
        statistic, agreement_difference, f"{x}_difference", _DIFFERENCE.format(x=x)
    )
    return found


pearson_interval = _interval_of("pearson", "pearson")
pearson_difference = _difference_of("pearson", "pearson")
spearman_interval = _interval_of("spearman", "spearman")
spearman_difference = _difference_of("spearman", "spearman")
kendall_interval = _interval_of("kendall", "kendall")
kendall_difference = _difference_of("kendall", "kendall")
lins_ccc_interval = _interval_of("concordance", "lins_ccc")
lins_ccc_difference = _difference_of("concordance", "lins_ccc")
q_interval = _interval_of("q", "q")
q_difference = _difference_of("q", "q")

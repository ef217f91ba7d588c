"""How good each system is, by people, with a judge filling in where nobody rated.

One table holds all rows: the judge's scores everywhere, human scores where there are any.
"""

from dataclasses import asdict, dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    fraction,
    group_codes,
    label_list,
    score_vector,
)
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import PairedEstimate, Record, squarable
from judgesmith.metrics.systems.prediction_powered import (
    Part,
    PredictionPoweredMean,
    Rectified,
    check_weight,
    estimate_of,
    gain_of,
    powered_mean,
    rated_rows,
    rectified,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemMean(PredictionPoweredMean):
    """The mean human score of one system.

    Attributes
    ----------
    system : object
        Its label.
    """

    system: object


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemDifference(Record):
    """How much higher people score one system than another, with and without the judge.

    Attributes
    ----------
    estimate : PairedEstimate
        With the judge. ``first`` and ``second`` use one weight, the best for their difference, so
        they may differ a little from the systems' own means.
    classical : PairedEstimate
        From the ratings alone.
    weight, gain : float
        As in :class:`PredictionPoweredMean`.
    n_shared : int
        Sources on which both systems were rated: on these the difference is paired.
    n_unscored : int
        Rows of the two systems left out because the judge gave no score.
    """

    estimate: PairedEstimate
    classical: PairedEstimate
    weight: float
    gain: float
    n_shared: int
    n_unscored: int


def system_means(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels,
    weight: float | None = None,
    confidence: float = 0.95,
) -> list[SystemMean]:
    """Return every system's mean human score, from its ratings and the judge's other scores.

    Parameters
    ----------
    human : array-like, shape (n_rows,), in points of the human scale
        nan (or None) where a row is not rated. It must be chance which rows are.
    judge : array-like, shape (n_rows,), in points of the judge's scale
        nan (or None) where the judge gave no score; such rows are left out and counted.
    systems, sources : sequence of labels, one per row
        Without ``sources`` every row is a source of its own.
    weight, confidence
        As for :func:`~judgesmith.metrics.systems.prediction_powered_mean`; the weight is found for
        each system by itself.

    Returns
    -------
    list of SystemMean
        In order of first appearance. Of a system that nobody rated both values are nan: what the
        judge errs on other systems says nothing about this one. The intervals are not
        simultaneous, and to compare two systems :func:`system_difference` is sharper.

    Raises
    ------
    ValueError
        If scores and labels do not fit together, a score is infinite, or a setting is out of
        range.

    Examples
    --------
    >>> human = [4, 2, None, 3, 5, None, None, 1, 4, 3, None, 2]
    >>> judge = [4, 2, 4, 3, 5, 1, 3, 2, 4, 3, 5, 2]
    >>> for found in system_means(human, judge, systems=["new", "old"] * 6):
    ...     print(found.system, found.n_rated, found.n_unrated, round(found.estimate.value, 2))
    new 3 3 4.27
    old 5 1 2.07
    """
    h, p, codes, system_codes, known = _table(human, judge, systems, sources)
    check_weight(weight)
    fraction(confidence, name="confidence")
    found = []
    for system, code in known.items():
        own = system_codes == code
        mean = powered_mean(h[own], p[own], codes[own], weight=weight, confidence=confidence)
        given = {field.name: getattr(mean, field.name) for field in fields(mean)}
        found.append(SystemMean(system=system, **given))
    return found


def system_difference(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels,
    first: object,
    second: object,
    weight: float | None = None,
    confidence: float = 0.95,
) -> SystemDifference:
    """Return how much higher people score one system than another, and how sure that is.

    Both means are corrected by one weight and left without each source together, so what the two
    share on a source cancels: paired where both were rated on it, unpaired where only one was.

    Parameters
    ----------
    human, judge, systems, sources, weight, confidence
        As for :func:`system_means`; rows of other systems take no part.
    first, second : labels in ``systems``
        Which two.

    Returns
    -------
    SystemDifference
        ``value`` is ``first`` minus ``second``. Intervals and two-sided p-values are Student's,
        with Welch and Satterthwaite's degrees of freedom; nan if a system was rated on fewer than
        two sources or nothing varies. A p-value holds for one comparison that was planned.

    Raises
    ------
    ValueError
        As for :func:`system_means`; if ``first`` and ``second`` are one system or have no rows.

    Examples
    --------
    >>> human = [4, 3, None, None, 5, 3, 4, 2, None, None, 3, 3]
    >>> judge = [4, 3, 5, 3, 5, 2, 4, 2, 3, 3, 3, 3]
    >>> found = system_difference(
    ...     human, judge, first="new", second="old", systems=["new", "old"] * 6,
    ...     sources=[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
    ... )
    >>> found.classical.value, round(found.estimate.value, 2), found.n_shared
    (1.25, 1.15, 4)
    """
    h, p, codes, system_codes, known = _table(human, judge, systems, sources)
    check_weight(weight)
    fraction(confidence, name="confidence")
    for name, system in (("first", first), ("second", second)):
        if system not in known:
            raise ValueError(f"{name} must be one of the systems; no row has {system!r}.")
    if known[first] == known[second]:
        raise ValueError(f"first and second must be two systems; got {first!r} twice.")
    scored = ~np.isnan(p)
    parts = []
    for system in (first, second):
        own = scored & (system_codes == known[system])
        parts.append(Part(predicted=p[own], human=h[own], sources=codes[own]))
    signs = [1.0, -1.0]
    rated = [rated_rows(part) for part in parts]
    corrected, alone = rectified(parts, signs, weight), rectified(rated, signs, 0.0)
    either = np.isin(system_codes, [known[first], known[second]])
    return SystemDifference(
        estimate=_paired(corrected, sum(len(part.human) for part in parts), confidence),
        classical=_paired(alone, sum(len(part.human) for part in rated), confidence),
        weight=corrected.weight,
        gain=gain_of(corrected, alone),
        n_shared=len(np.intersect1d(rated[0].sources, rated[1].sources)),
        n_unscored=int(np.count_nonzero(either & ~scored)),
    )


def _table(
    human: ArrayLike, judge: ArrayLike, systems: Labels, sources: Labels | None
) -> tuple[FloatArray, FloatArray, IntArray, IntArray, dict[object, int]]:
    """Return scores, codes of sources and of systems, and the code of each system's label."""
    p = score_vector(judge, name="judge", allow_missing=True)
    h = score_vector(human, name="human", n_items=len(p), allow_missing=True)
    codes, _ = group_codes(sources, name="sources", n_items=len(p))
    labels = label_list(systems, name="systems")
    system_codes, _ = group_codes(labels, name="systems", n_items=len(p))
    known = {system: code for code, system in enumerate(dict.fromkeys(labels))}
    return squarable(h, name="human"), squarable(p, name="judge"), codes, system_codes, known


def _paired(found: Rectified, n: int, confidence: float) -> PairedEstimate:
    """Return a difference with interval and p-value."""
    from scipy.special import stdtr

    p_value = float("nan")
    if found.error > 0:
        p_value = float(2 * stdtr(found.freedom, -abs(found.value) / found.error))
    return PairedEstimate(
        **asdict(estimate_of(found, n, confidence)),
        first=found.means[0],
        second=found.means[1],
        p_value=p_value,
    )

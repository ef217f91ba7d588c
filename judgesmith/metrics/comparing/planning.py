"""Sample sizes for an agreement and for a difference of two judges."""

import math
from statistics import NormalDist

from judgesmith.metrics.arrays import fraction, number
from judgesmith.metrics.records import Estimate, PairedEstimate
from judgesmith.metrics.resampling.draws import widened_quantile

# No more sources than this are proposed: past it the answer is that it cannot be done.
_MOST_SOURCES = 10**9


def sample_size_pearson(
    half_width: float,
    correlation: float,
    *,
    cluster_size: float = 1.0,
    intraclass: float = 0.0,
    confidence: float = 0.95,
) -> int:
    """Return how many rated items give a Pearson correlation an interval of a given half width.

    The interval is Fisher's, ``tanh(artanh(r) -+ z / sqrt(n - 3))``. Its half width is at most
    ``h`` from ``n = 3 + (2 z / u)**2`` on, where
    ``u = artanh(h) + arsinh(h cosh(2 artanh(r)) / sqrt(1 - h**2))``. Items that come in clusters
    of ``m`` are worth less by the design effect ``1 + (m - 1) * intraclass``.

    Parameters
    ----------
    half_width : float, between 0 and 1
        Half the length of the interval, in units of the correlation.
    correlation : float, between -1 and 1; what is expected; 0 needs the most items
    cluster_size : float, at least 1; rated items per source
    intraclass : float, from 0 to 1
        How alike the items of one source are in the products of their standardised scores.
    confidence : float, between 0 and 1

    Returns
    -------
    int
        Rated items, at least 4. Exact for normal scores.

    References
    ----------
    Fisher (1921), "On the probable error of a coefficient of correlation deduced from a small
    sample", Metron 1. Kish (1965), "Survey Sampling", for the design effect.

    Examples
    --------
    >>> sample_size_pearson(0.05, 0.5)
    867
    >>> sample_size_pearson(0.05, 0.5, cluster_size=4, intraclass=0.1)
    1127
    """
    fraction(half_width, name="half_width")
    fraction(confidence, name="confidence")
    for name, value in {
        "correlation": correlation,
        "cluster_size": cluster_size,
        "intraclass": intraclass,
    }.items():
        number(value, name=name)
    if not -1 < correlation < 1:
        raise ValueError(f"correlation must be strictly between -1 and 1; got {correlation}.")
    if not (cluster_size >= 1 and math.isfinite(cluster_size)):
        raise ValueError(f"cluster_size must be at least 1 item per source; got {cluster_size}.")
    if not 0 <= intraclass <= 1:
        raise ValueError(f"intraclass must be from 0 to 1; got {intraclass}.")
    quantile = NormalDist().inv_cdf((1 + confidence) / 2)
    spread = math.cosh(2 * math.atanh(correlation)) / math.sqrt(1 - half_width**2)
    width = math.atanh(half_width) + math.asinh(half_width * spread)
    independent = max(4.0, 3 + (2 * quantile / width) ** 2)
    return math.ceil(independent * (1 + (cluster_size - 1) * intraclass))


def sources_needed(pilot: Estimate, half_width: float) -> int:
    """Return how many sources give the statistic of a pilot an interval of a given half width.

    The interval over ``K`` sources is ``w(K) / sqrt(K)`` times the spread of the pilot, where ``w``
    is the quantile, widened for few sources.

    Parameters
    ----------
    pilot : Estimate
        With an interval over sources, from
        :func:`~judgesmith.metrics.correlation.agreement_interval`. Below some 20 sources, or where
        ``systems`` or ``both`` were drawn, the answer is rough.
    half_width : float, above 0
        Half the length of the wanted interval, in the unit of the statistic.

    Returns
    -------
    int
        Sources in all, the pilot's included, 2 or more, each with as many rows as in the pilot.

    References
    ----------
    Cochran (1977), "Sampling Techniques", chapter 4, for sizes from a pilot.

    Examples
    --------
    >>> pilot = Estimate(
    ...     value=0.5, low=0.4, high=0.6, confidence=0.95, n=240, n_groups=40, n_undefined=0
    ... )
    >>> sources_needed(pilot, 0.05)
    150
    """
    spread = _spread(pilot)
    if not number(half_width, name="half_width") > 0:
        raise ValueError(f"half_width must be above 0, such as 0.05; got {half_width}.")
    return _fewest(pilot, spread, half_width, 0.0, f"a half width of {half_width}")


def sources_to_compare(
    pilot: PairedEstimate, *, difference: float | None = None, power: float = 0.8
) -> int:
    """Return how many sources a significant difference between two judges takes.

    The interval of the difference leaves out 0 with probability ``power`` if the difference is
    ``(w(K) + z) / sqrt(K)`` times the spread, ``w`` as for :func:`sources_needed` and ``z`` the
    normal quantile of ``power``.

    Parameters
    ----------
    pilot : PairedEstimate
        From :func:`~judgesmith.metrics.correlation.agreement_difference` over sources.
    difference : float or None, not 0
        The smallest difference worth finding, in the unit of the statistic; None takes the pilot's.
    power : float, between 0 and 1

    Returns
    -------
    int
        As for :func:`sources_needed`.

    References
    ----------
    Cohen (1988), "Statistical Power Analysis for the Behavioral Sciences", chapter 2.

    Examples
    --------
    >>> pilot = PairedEstimate(
    ...     value=0.1, low=-0.1, high=0.3, confidence=0.95, n=240, n_groups=40, n_undefined=0,
    ...     first=0.6, second=0.5, p_value=0.3,
    ... )
    >>> sources_to_compare(pilot), sources_to_compare(pilot, difference=0.05)
    (302, 1200)
    """
    if not isinstance(pilot, PairedEstimate):
        raise TypeError(
            "pilot must be a difference of two judges on the same rows, from agreement_difference; "
            f"got {type(pilot).__name__}."
        )
    spread = _spread(pilot)
    wished = abs(pilot.value if difference is None else number(difference, name="difference"))
    if not (wished > 0 and math.isfinite(wished)):
        raise ValueError(
            f"difference must be a number other than 0; got {difference}, with {pilot.value} in "
            "the pilot. No number of sources tells equally good judges apart."
        )
    surplus = NormalDist().inv_cdf(fraction(power, name="power"))
    return _fewest(pilot, spread, wished, surplus, f"a difference of {wished}")


def _spread(pilot: Estimate) -> float:
    """Return the standard deviation of what one source contributes."""
    if not isinstance(pilot, Estimate):
        raise TypeError(
            f"pilot must be an Estimate, such as agreement_interval gives; got {pilot!r}."
        )
    half = (pilot.high - pilot.low) / 2
    if not half > 0 or pilot.n_groups < 2:
        raise ValueError(
            "the pilot must have an interval of some length from two sources or more; got "
            f"{pilot.low} to {pilot.high} from {pilot.n_groups}. Rate more sources first."
        )
    return half * math.sqrt(pilot.n_groups) / -widened_quantile(pilot.n_groups, pilot.confidence)


def _fewest(pilot: Estimate, spread: float, distance: float, surplus: float, goal: str) -> int:
    """Return the least number of sources, 2 or more, whose interval and surplus are no longer."""

    def is_enough(n_sources: int) -> bool:
        quantile = -widened_quantile(n_sources, pilot.confidence)
        return (quantile + surplus) * spread <= distance * math.sqrt(n_sources)

    too_few, enough = 1, 2
    while not is_enough(enough):
        if enough > _MOST_SOURCES:
            raise ValueError(f"{goal} would take more than {_MOST_SOURCES} sources; ask for less.")
        too_few, enough = enough, 2 * enough
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if is_enough(middle) else (middle, enough)
    return enough

"""How many ratings to collect before an agreement is known well enough."""

import math
from statistics import NormalDist

from judgesmith.metrics.checks import fraction

__all__ = ["labels_needed"]


def labels_needed(
    half_width: float,
    correlation: float,
    *,
    confidence: float = 0.95,
    cluster_size: float = 1.0,
    intraclass: float = 0.0,
) -> int:
    """Return how many rated items pin a Pearson correlation down to a half width.

    The interval is Fisher's, ``tanh(artanh(r) -+ z / sqrt(n - 3))``. Its half width is at most
    ``h`` from ``n = 3 + (2 z / u)**2`` on, where
    ``u = artanh(h) + arsinh(h cosh(2 artanh(r)) / sqrt(1 - h**2))``. Items that come in clusters
    of ``m`` are worth less by the design effect ``1 + (m - 1) * intraclass``.

    Parameters
    ----------
    half_width : float, between 0 and 1
        Half the length of the interval, in units of the correlation.
    correlation : float, between -1 and 1
        What is expected; 0 is the most cautious, for it needs the most items.
    confidence : float, between 0 and 1
        Nominal coverage.
    cluster_size : float, at least 1
        Rated items per source.
    intraclass : float, from 0 to 1
        How alike the items of one source are in their contributions to the correlation (the
        products of standardised scores), not in the scores alone. 0 is not at all.

    Returns
    -------
    int
        Rated items, at least 4. Exact for normal scores; ratings on a few points need about
        as many.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    References
    ----------
    Fisher (1921), "On the probable error of a coefficient of correlation deduced from a small
    sample", Metron 1. Kish (1965), "Survey Sampling", for the design effect.

    Examples
    --------
    >>> labels_needed(0.05, 0.5)
    867
    >>> labels_needed(0.05, 0.5, cluster_size=4, intraclass=0.1)
    1127
    """
    fraction(half_width, name="half_width")
    fraction(confidence, name="confidence")
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

"""What the mean of more, or of fewer, ratings would be worth: the formula of Spearman and Brown."""

import math

from judgesmith.metrics.checks import fraction, number

__all__ = ["raters_needed", "spearman_brown"]


def spearman_brown(reliability: float, factor: float) -> float:
    """Return the reliability of the mean of ``factor`` times as many ratings.

    Raters who are added are taken to be like those there are, and to err independently.

    Parameters
    ----------
    reliability : float, at most 1
        Of what there is: of one rating, say, or of the mean of half of the ratings.
    factor : float, above 0
        How many times as many ratings; below 1 for fewer.

    Returns
    -------
    float
        ``factor * reliability / (1 + (factor - 1) * reliability)``, at most 1 and unbounded
        below; nan if ``reliability`` is nan or so negative that the formula has no value, at
        ``-1 / (factor - 1)`` or below.

    Raises
    ------
    ValueError
        If ``reliability`` is above 1 or ``factor`` is not positive or not finite.
    TypeError
        If one of them is no number.

    References
    ----------
    Spearman (1910), "Correlation calculated from faulty data", and Brown (1910), "Some
    experimental results in the correlation of mental abilities", British Journal of
    Psychology 3.

    Examples
    --------
    >>> spearman_brown(0.5, 3)
    0.75
    >>> round(spearman_brown(0.75, 1 / 3), 3)
    0.5
    """
    if number(reliability, name="reliability") > 1:
        raise ValueError(f"a reliability is at most 1; got {reliability}.")
    if not 0 < number(factor, name="factor") < math.inf:
        raise ValueError(f"factor must be a positive number, such as 2; got {factor}.")
    share = 1 + (factor - 1) * reliability
    # Rounding alone can lift it above 1.
    return min(factor * reliability / share, 1.0) if share > 0 else math.nan


def raters_needed(reliability: float, target: float) -> int:
    """Return how many ratings per item give their mean the reliability that is wanted.

    Parameters
    ----------
    reliability : float, above 0, at most 1
        Of one rating, such as ``intraclass_correlation(...).single``.
    target : float, between 0 and 1
        What the mean should have.

    Returns
    -------
    int
        The smallest number of ratings, 1 or more, whose mean reaches ``target``.

    Raises
    ------
    ValueError
        If ``reliability`` is nan, not above 0 or above 1 (no number of such raters would do), or
        ``target`` is not strictly between 0 and 1.
    TypeError
        If one of them is no number.

    References
    ----------
    As for :func:`spearman_brown`, solved for the factor.

    Examples
    --------
    >>> raters_needed(0.5, 0.75)
    3
    """
    if not 0 < number(reliability, name="reliability") <= 1:
        raise ValueError(
            f"reliability must be above 0 and at most 1; got {reliability}. No number of raters "
            "makes the mean of ratings reliable that have nothing in common."
        )
    fraction(target, name="target")
    factor = target / (1 - target) * (1 - reliability) / reliability
    if math.isinf(factor):
        raise ValueError(f"no number of raters can be told for a reliability of {reliability}.")
    # A whole number that rounding has lifted by a hair is still enough.
    return max(1, math.ceil(factor * (1 - 1e-12)))

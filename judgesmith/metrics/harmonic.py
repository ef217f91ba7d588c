"""One p-value from several that depend on each other: their harmonic mean, in logarithms."""

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, number_array

__all__ = ["HarmonicForm", "harmonic_mean_log_p", "shares_of_metrics"]

HarmonicForm = Literal["normalised", "printed"]

_TOLERANCE = 1e-6


def harmonic_mean_log_p(
    log_p: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    form: HarmonicForm = "normalised",
) -> FloatArray:
    """Return the logarithm of the harmonic mean of p-values.

    ``1 / sum(w / p)``, with weights ``w`` that sum to 1. The smallest p-values rule it, and it
    takes metrics that are alike without correction; read as a p-value it is slightly liberal (see
    ``benchmarks/discernment_size.py``).

    Parameters
    ----------
    log_p : array-like, shape (..., n_metrics), natural logarithms, at most 0
        nan where a test is undefined.
    weights : array-like, shape (n_metrics,) or broadcasting with ``log_p``
        Shares that say how much each metric counts; without them all count the same.
    form : {"normalised", "printed"}
        "printed" is ``1 / sum(1 / p)``, without weights: the mean divided by the number of
        metrics, as Yuan et al. print it. It is for comparison with their figures only, since it
        calls far too much significant.

    Returns
    -------
    ndarray, shape (...)
        Natural logarithms, at most 0; nan where a metric whose weight is not 0 is undefined.

    Raises
    ------
    ValueError
        If there is no metric, a logarithm is above 0, ``form`` is unknown or "printed" beside
        weights, or weights do not cover the metrics, are negative, or do not sum to 1 (within
        1e-6).

    References
    ----------
    Wilson (2019), "The harmonic mean p-value for combining dependent tests", PNAS 116. Yuan et al.
    (2024), "DHP Benchmark: Measuring Discernment Ability of LLM-as-a-Judge".

    Examples
    --------
    >>> p = [0.01, 0.5, 0.5, 0.5]
    >>> round(float(np.exp(harmonic_mean_log_p(np.log(p)))), 4)
    0.0377
    >>> round(float(np.exp(harmonic_mean_log_p(np.log(p), weights=[0.1, 0.9, 0, 0]))), 4)
    0.0847
    >>> round(float(np.exp(harmonic_mean_log_p(np.log(p), form="printed"))), 4)
    0.0094
    """
    if form not in get_args(HarmonicForm):
        raise ValueError(f"form must be 'normalised' or 'printed'; got {form!r}.")
    logs = number_array(log_p, name="log_p")
    if logs.ndim == 0 or logs.shape[-1] == 0:
        raise ValueError(f"log_p must have metrics on its last axis; got shape {logs.shape}.")
    if (logs > 0).any():
        raise ValueError(
            f"log_p must be natural logarithms of p-values, at most 0; got {np.nanmax(logs)}."
        )
    if weights is None:
        shares = np.full(logs.shape[-1], 1 / logs.shape[-1])
    elif form == "printed":
        raise ValueError("the printed form has no weights; drop weights= or form=.")
    else:
        shares = shares_of_metrics(weights, n_metrics=logs.shape[-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(shares > 0, np.log(shares) - logs, -np.inf)
    combined = np.minimum(0.0, -_log_sum_exp(terms))
    # Shares need not sum to 1 to the last digit, but p-values of 1 have a mean of 1.
    combined = np.where(np.all((logs == 0) | (shares == 0), axis=-1), 0.0, combined)
    return combined - math.log(logs.shape[-1]) if form == "printed" else combined


def shares_of_metrics(weights: ArrayLike, *, n_metrics: int) -> FloatArray:
    """Return weights of metrics as shares that sum to 1, last axis metrics.

    Raises
    ------
    ValueError
        If they do not cover the metrics, are negative or missing, or do not sum to 1 (within 1e-6).

    Examples
    --------
    >>> shares_of_metrics([0.4, 0.1, 0.5], n_metrics=3).tolist()
    [0.4, 0.1, 0.5]
    """
    given = number_array(weights, name="weights")
    if given.ndim == 0 or given.shape[-1] != n_metrics:
        raise ValueError(
            f"weights must cover the metrics, one for each of {n_metrics}; got shape {given.shape}."
        )
    if not (given >= 0).all():
        raise ValueError(f"weights must be 0 or more for every metric; got {given.tolist()}.")
    total = np.sum(given, axis=-1, keepdims=True)
    if not (np.abs(total - 1) <= _TOLERANCE).all():
        raise ValueError(
            f"weights must sum to 1 (within {_TOLERANCE}); got {np.ravel(total).tolist()}. Divide "
            "votes by how many there were."
        )
    return np.asarray(given / total)


def _log_sum_exp(terms: FloatArray) -> FloatArray:
    """Return log(sum(exp(terms))) over the last axis, where no sum overflows."""
    largest = np.max(terms, axis=-1, keepdims=True)
    # An infinite largest term (a p-value of 0) is the sum; taking it off would leave nan.
    shift = np.where(np.isinf(largest), 0.0, largest)
    with np.errstate(over="ignore"):
        return np.asarray(np.log(np.sum(np.exp(terms - shift), axis=-1)) + shift[..., 0])

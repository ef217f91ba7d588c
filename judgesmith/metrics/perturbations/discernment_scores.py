"""Discernment scores: what a combined p-value is called, and how perturbations are summed up."""

import math
from collections.abc import Iterable, Sequence
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, label_list, number_array

__all__ = [
    "PerturbationLevel",
    "average_discernment",
    "checked_perturbation_levels",
    "discernment_score",
    "level_shares",
]

PerturbationLevel = Literal["character", "word", "sentence"]

_LOG_LEVEL = math.log(0.05)


def discernment_score(log_p: ArrayLike) -> FloatArray:
    """Return ``D = log_0.05(p)``: 1 is a p-value of .05, 2 is .0025, 0 is 1.

    Parameters
    ----------
    log_p : array-like, shape (...), natural logarithms of p-values
        nan where undefined.

    Returns
    -------
    ndarray, shape (...)
        0 or more; nan where ``log_p`` is.

    Raises
    ------
    ValueError
        If a logarithm is above 0.

    References
    ----------
    Yuan et al. (2024), "DHP Benchmark: Measuring Discernment Ability of LLM-as-a-Judge".

    Examples
    --------
    >>> discernment_score(np.log([0.05, 0.0025, 1])).tolist()
    [1.0, 2.0, 0.0]
    """
    logs = number_array(log_p, name="log_p")
    if (logs > 0).any():
        raise ValueError(
            f"log_p must be natural logarithms of p-values, at most 0; got {np.nanmax(logs)}."
        )
    # Adding 0 makes the zero of a p-value of 1 a positive one.
    return np.asarray(logs / _LOG_LEVEL + 0.0)


def average_discernment(scores: ArrayLike, levels: Sequence[PerturbationLevel]) -> float:
    """Return the mean score, every level that occurs weighing the same.

    Perturbations of one level share its weight equally. Undefined scores are left out first, so a
    level of which nothing is left has no weight.

    Parameters
    ----------
    scores : array-like, shape (n_perturbations,)
        Discernment scores; nan where undefined.
    levels : sequence of {"character", "word", "sentence"}, one per perturbation
        What each perturbation changes.

    Returns
    -------
    float
        0 or more; nan if no score is defined.

    Raises
    ------
    ValueError
        If there is not one level per score or a level is unknown.

    References
    ----------
    Yuan et al. (2024), "DHP Benchmark", section 3.3.3.

    Examples
    --------
    >>> average_discernment([1, 3, 6, np.nan], ["character", "character", "word", "sentence"])
    4.0
    """
    given, levels = number_array(scores, name="scores"), checked_perturbation_levels(levels)
    if given.ndim != 1 or len(given) != len(levels):
        raise ValueError(
            f"scores must be a vector with one level each; got shape {given.shape} and "
            f"{len(levels)} levels."
        )
    defined = ~np.isnan(given)
    shares = level_shares([level for level, has in zip(levels, defined, strict=True) if has])
    return float(shares @ given[defined]) if defined.any() else math.nan


def level_shares(levels: Sequence[PerturbationLevel]) -> FloatArray:
    """Return how much each perturbation counts in the average; the shares sum to 1."""
    n_levels = len(set(levels))
    return np.array([1 / (n_levels * levels.count(level)) for level in levels])


def checked_perturbation_levels(levels: Iterable[object]) -> list[PerturbationLevel]:
    """Return levels, or say which one is none."""
    given = label_list(levels, name="levels")
    for place, level in enumerate(given):
        if level not in get_args(PerturbationLevel):
            raise ValueError(
                f"levels must be 'character', 'word' or 'sentence'; got {level!r} at index {place}."
            )
    return cast(list[PerturbationLevel], given)

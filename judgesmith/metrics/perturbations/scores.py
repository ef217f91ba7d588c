"""Discernment scores: one-sided p values weighted by experts and joined by the harmonic mean."""

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import FloatArray, label_list, number_array

Weights = Mapping[str, float]


def _task(*metrics: str, **kinds: Weights) -> Mapping[str, Weights]:
    """Return the share of each metric for each kind of perturbation, 0 where none is given."""
    shares = {kind: {each: own.get(each, 0.0) for each in metrics} for kind, own in kinds.items()}
    return MappingProxyType({kind: MappingProxyType(own) for kind, own in shares.items()})


_FLUENCY, _CONSISTENCY, _ANSWER = {"fluency": 1.0}, {"consistency": 1.0}, {"answer_quality": 1.0}
_ENDING = {"coherence": 0.5, "consistency": 0.5}

EXPERT_WEIGHTS: Final[Mapping[str, Mapping[str, Weights]]] = MappingProxyType(
    {
        "summarization": _task(
            *("coherence", "consistency", "fluency", "relevance"),
            character_deletions=_FLUENCY,
            character_typos=_FLUENCY,
            fictional_entities=_CONSISTENCY,
            grammatical_errors=_FLUENCY,
            reordering={"coherence": 1.0},
            rewriting={"relevance": 0.6, "coherence": 0.2, "fluency": 0.2},
        ),
        "story_completion": _task(
            *("coherence", "consistency", "fluency"),
            character_deletions=_FLUENCY,
            character_typos=_FLUENCY,
            fictional_entities=_CONSISTENCY,
            grammatical_errors=_FLUENCY,
            random_ending=_ENDING,
            wrong_ending=_ENDING,
        ),
        "question_answering": _task(
            "answer_quality",
            character_deletions=_ANSWER,
            character_typos=_ANSWER,
            fictional_entities=_ANSWER,
            grammatical_errors=_ANSWER,
            random_answer=_ANSWER,
        ),
        "dialogue": _task(
            *("coherence", "engagingness", "fluency", "groundedness"),
            character_deletions=_FLUENCY,
            character_typos=_FLUENCY,
            fictional_entities={"groundedness": 1.0},
            grammatical_errors=_FLUENCY,
            repetition={"engagingness": 0.5, "fluency": 0.5},
            random_response={"coherence": 0.5, "groundedness": 0.5},
        ),
        "translation": _task(
            *("accuracy", "fluency"),
            character_deletions={"fluency": 0.7, "accuracy": 0.3},
            character_typos={"fluency": 0.7, "accuracy": 0.3},
            word_deletions={"accuracy": 0.7, "fluency": 0.3},
            fictional_entities={"accuracy": 1.0},
            grammatical_errors=_FLUENCY,
        ),
    }
)
"""Shares by task, kind of perturbation and metric."""


HarmonicForm = Literal["normalised", "printed"]

_TOLERANCE = 1e-6


def harmonic_mean_log_p(
    log_p: ArrayLike, *, weights: ArrayLike | None = None, form: HarmonicForm = "normalised"
) -> FloatArray:
    """Return the logarithm of the harmonic mean of p-values.

    ``1 / sum(w / p)``, with weights ``w`` that sum to 1. Read as a p-value it is slightly liberal
    (benchmark ``discernment_size``).

    Parameters
    ----------
    log_p : array-like, shape (..., n_metrics), natural logarithms, at most 0
        nan where a test is undefined.
    weights : array-like, shape (n_metrics,) or broadcasting with ``log_p``
        Shares that say how much each metric counts; without them all count the same.
    form : {"normalised", "printed"}
        "printed" is ``1 / sum(1 / p)``, as Yuan et al. print it, without weights. It calls far too
        much significant: for comparison with their figures only.

    Returns
    -------
    ndarray, shape (...)
        Natural logarithms, at most 0; nan where a metric whose weight is not 0 is undefined.

    Raises
    ------
    ValueError
        If there is no metric, a logarithm is above 0, ``form`` is unknown or "printed" beside
        weights, or weights do not fit, are negative, or do not sum to 1 (within 1e-6).

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
    logs = _logs(log_p)
    if logs.ndim == 0 or logs.shape[-1] == 0:
        raise ValueError(f"log_p must have metrics on its last axis; got shape {logs.shape}.")
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


def _logs(log_p: ArrayLike) -> FloatArray:
    logs = number_array(log_p, name="log_p")
    if (logs > 0).any():
        raise ValueError(
            f"log_p must be natural logarithms of p-values, at most 0; got {np.nanmax(logs)}."
        )
    return logs


def shares_of_metrics(weights: ArrayLike, *, n_metrics: int) -> FloatArray:
    """Return weights of metrics as shares that sum to 1, last axis metrics."""
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


PerturbationLevel = Literal["character", "word", "sentence"]

_LOG_LEVEL = math.log(0.05)


def discernment_score(log_p: ArrayLike) -> FloatArray:
    """Return ``D = log_0.05(p)``: 1 is a p-value of .05, 2 is .0025, 0 is 1.

    Parameters
    ----------
    log_p : array-like, shape (...), natural logarithms of p-values, at most 0 or nan

    Returns
    -------
    ndarray, shape (...)
        0 or more; nan where ``log_p`` is.

    References
    ----------
    Yuan et al. (2024), "DHP Benchmark: Measuring Discernment Ability of LLM-as-a-Judge".

    Examples
    --------
    >>> discernment_score(np.log([0.05, 0.0025, 1])).tolist()
    [1.0, 2.0, 0.0]
    """
    logs = _logs(log_p)
    # Adding 0 makes the zero of a p-value of 1 a positive one.
    return np.asarray(logs / _LOG_LEVEL + 0.0)


def average_discernment(scores: ArrayLike, levels: Sequence[PerturbationLevel]) -> float:
    """Return the mean of defined scores, with equal weight for each level that occurs.

    Parameters
    ----------
    scores : array-like, shape (n_perturbations,); discernment scores; nan where undefined
    levels : sequence of {"character", "word", "sentence"}, one per perturbation

    Returns
    -------
    float
        0 or more; nan if no score is defined.

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

"""Whether a judge finds as many errors as people, and as bad ones, whatever the place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.experiments.errors_found import TextErrors, distinct_errors
from judgesmith.experiments.errors_severity import is_major
from judgesmith.metrics import Estimate, agreement_interval
from judgesmith.metrics.spans import SpanAgreement, matched_span_agreement

_MQM = {False: 1.0, True: 5.0}
"""What minor and major errors cost in MQM."""

_COUNTED = ("n_texts", "n_unscored", "found", "known", "found_major", "known_major")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCounts:
    """Agreement of two lists of errors for each text, without their places.

    Attributes
    ----------
    found, known : int
        Errors of either side; one that offends several criteria is one.
    found_major, known_major : int
        Of these, major ones.
    n_texts, n_unscored : int
        Texts compared, and those without an answer, left out.
    any_error, any_major : SpanAgreement
        Of texts with an error, and with a major one: precision, recall and F1.
    number : Estimate
        Spearman's correlation of the numbers of errors, over texts.
    cost : Estimate
        Spearman's correlation of their costs: 1 for a minor and 5 for a major error.
    """

    found: int
    known: int
    found_major: int
    known_major: int
    n_texts: int
    n_unscored: int
    any_error: SpanAgreement
    any_major: SpanAgreement
    number: Estimate
    cost: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON: undefined is None."""
        agreements = {"any_error": self.any_error, "any_major": self.any_major}
        estimates = {"number": self.number, "cost": self.cost}
        return {
            **{name: getattr(self, name) for name in _COUNTED},
            **{name: agreement_dict(one) for name, one in agreements.items()},
            **{name: one.to_dict() for name, one in estimates.items()},
        }


def agreement_dict(found: SpanAgreement) -> dict[str, Any]:
    """Return an agreement over all texts by name, ready for JSON, without the single texts."""
    plain = found.to_dict()
    del plain["of_texts"]
    return plain


def error_counts(
    texts: Sequence[TextErrors],
    known: Sequence[Sequence[float | None]],
    *,
    major: float,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> ErrorCounts:
    """Return how the errors of both sides compare in number and severity.

    Parameters
    ----------
    texts : sequence of TextErrors
        What a judge found.
    known : sequence of sequence of (float or None)
        The severities of what is wrong with each text; an empty one where nothing is.
    major : float
        Points from which an error is a major one.
    rng, n_resamples
        For the intervals, over sources.

    Examples
    --------
    >>> from judgesmith.signatures.judgement import ErrorSpan
    >>> from judgesmith.signatures.items import RatedItem
    >>> texts = [
    ...     TextErrors(item=RatedItem(source_id=name, response="a"), errors=errors)
    ...     for name, errors in (
    ...         ("1", ()), ("2", (ErrorSpan(text="a", severity=4),)), ("3", None)
    ...     )
    ... ]
    >>> found = error_counts(texts, [[], [4, 2], [1]], major=3, rng=np.random.default_rng(0))
    >>> found.found, found.known, found.n_unscored, found.any_error.f1.value
    (1, 2, 1, 1.0)
    """
    theirs = [[is_major(one, major=major) for one in errors] for errors in known]
    ours = [
        None
        if text.errors is None
        else [is_major(error.severity, major=major) for error in distinct_errors(text.errors)]
        for text in texts
    ]
    kept = [
        (found, errors) for found, errors in zip(ours, theirs, strict=True) if found is not None
    ]
    sources = [text.source for text in texts]

    def of_texts(counts: list[list[bool] | None], gold: list[list[bool]]) -> SpanAgreement:
        return matched_span_agreement(
            [_mark(any(one)) for one in gold],
            [None if one is None else _mark(any(one)) for one in counts],
            sources=sources,
            rng=rng,
            n_resamples=n_resamples,
        )

    def correlation(values: list[float], gold: list[float]) -> Estimate:
        return agreement_interval(
            gold,
            values,
            sources=sources,
            statistic="spearman",
            level="dataset",
            rng=rng,
            n_resamples=n_resamples,
        )

    return ErrorCounts(
        found=sum(len(one) for one, _ in kept),
        known=sum(len(one) for _, one in kept),
        found_major=sum(sum(one) for one, _ in kept),
        known_major=sum(sum(one) for _, one in kept),
        n_texts=len(kept),
        n_unscored=len(texts) - len(kept),
        any_error=of_texts(
            [None if one is None else [True] * len(one) for one in ours],
            [[True] * len(one) for one in theirs],
        ),
        any_major=of_texts(ours, theirs),
        number=correlation(
            [np.nan if one is None else float(len(one)) for one in ours],
            [float(len(one)) for one in theirs],
        ),
        cost=correlation(
            [np.nan if one is None else _cost(one) for one in ours], [_cost(one) for one in theirs]
        ),
    )


def _mark(there: bool) -> list[tuple[int, int]]:
    """Return the one place that all texts share, where something is there."""
    return [(0, 1)] if there else []


def _cost(errors: Sequence[bool]) -> float:
    return sum(_MQM[one] for one in errors)

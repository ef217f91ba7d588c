"""Several raters' labels to one: how each rater errs, and how likely each label then is."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.arrays import FloatArray, IntArray, Seed, fraction, in_order, is_missing
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.ratings.nominal import nominal_agreement
from judgesmith.metrics.records import Estimate, Record, whole_number
from judgesmith.metrics.verdicts.confusion import Classes, Values, class_codes

RaterTable = Iterable[Values] | NDArray[np.generic]
"""One row per item and one column per rater; nan or None where a rater gave no label."""

# What never occurred is that likely, so that one surprise does not rule a label out.
_LEAST = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class DawidSkene(Record):
    """How likely each label is on each item, and how each rater errs.

    Attributes
    ----------
    classes : tuple of labels; the order of everything below
    probabilities : tuple of tuples of float, shape (n_items, n_classes)
        nan where an item has no label.
    prior : tuple of float, shape (n_classes,); the share of items with each label
    raters : nested tuples of float, shape (n_raters, n_classes, n_classes)
        Rows are true labels, columns what the rater says of them; each row sums to 1.
    n_iterations, has_converged : int, bool
    """

    classes: tuple[object, ...]
    probabilities: tuple[tuple[float, ...], ...]
    prior: tuple[float, ...]
    raters: tuple[tuple[tuple[float, ...], ...], ...]
    n_iterations: int
    has_converged: bool


def dawid_skene(
    ratings: RaterTable,
    *,
    classes: Classes = None,
    tolerance: float = 1e-8,
    n_iterations: int = 1000,
) -> DawidSkene:
    """Return how likely each label is on each item, where each rater errs in a way of their own.

    Expectation and maximization from the shares of labels on each item on. The result is the same
    each time. With few items per rater, or raters who mostly err, it can be worse than a majority.

    Parameters
    ----------
    ratings : table of labels, shape (n_items, n_raters)
        Words, booleans or numbers, one column per rater; nan or None where missing.
    classes : sequence of labels, or None; None: those that occur, in order
    tolerance : float, between 0 and 1
        It has converged once no probability changes by more.
    n_iterations : int; at most so many are made

    References
    ----------
    Dawid and Skene (1979), "Maximum likelihood estimation of observer error-rates using the EM
    algorithm", Applied Statistics 28.

    Examples
    --------
    >>> found = dawid_skene([[1, 1, 1], [0, 0, 1], [0, 0, 0], [1, 1, None], [1, 1, 0]] * 4)
    >>> [[round(p, 2) for p in one] for one in found.probabilities[:2]], found.has_converged
    ([[0.0, 1.0], [1.0, 0.0]], True)
    """
    fraction(tolerance, name="tolerance")
    whole_number(n_iterations, name="n_iterations", least=1)
    codes, known = _coded(ratings, classes)
    n_classes = len(known)
    # One column of zeros and ones per rater and label.
    said = (codes[..., None] == np.arange(n_classes)).astype(np.float64)
    said = said.reshape(len(codes), codes.shape[1] * n_classes)
    rated = np.flatnonzero(said.any(axis=1))
    own = said[rated]
    votes = own.reshape(len(rated), codes.shape[1], n_classes).sum(axis=1)
    chances = votes / votes.sum(axis=1, keepdims=True)
    done, has_converged = 0, not rated.size
    while done < n_iterations and not has_converged:
        before, done = chances, done + 1
        likely = own @ np.log(_errors(own, before, n_classes)).reshape(own.shape[1], n_classes)
        likely += np.log(np.maximum(before.mean(axis=0), _LEAST))
        chances = np.exp(likely - likely.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        has_converged = bool(np.abs(chances - before).max() <= tolerance)
    probabilities = np.full((len(codes), n_classes), np.nan)
    probabilities[rated] = chances
    prior = chances.mean(axis=0) if rated.size else np.full(n_classes, np.nan)
    errors = _errors(own, chances, n_classes).transpose(0, 2, 1)
    return DawidSkene(
        classes=known,
        probabilities=tuple(map(tuple, probabilities.tolist())),
        prior=tuple(prior.tolist()),
        raters=tuple(tuple(map(tuple, one)) for one in errors.tolist()),
        n_iterations=done,
        has_converged=has_converged,
    )


def _errors(said: FloatArray, chances: FloatArray, n_classes: int) -> FloatArray:
    """Return how likely each rater says each label (second) of each true one (third)."""
    found = np.maximum((said.T @ chances).reshape(-1, *[max(n_classes, 1)] * 2), _LEAST)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _coded(ratings: RaterTable, classes: Classes) -> tuple[IntArray, tuple[object, ...]]:
    """Return the place of each label, -1 where missing, and the labels."""
    # A frame iterates over its columns.
    rows = ratings.to_numpy() if hasattr(ratings, "to_numpy") else ratings
    table = [list(row) for row in (rows.tolist() if isinstance(rows, np.ndarray) else rows)]
    widths = {len(row) for row in table}
    if len(widths) > 1:
        raise ValueError(f"ratings must have one column per rater; got rows of {sorted(widths)}.")
    given = [label for row in table for label in row if not is_missing(label)]
    known = tuple(in_order(set(given)) if classes is None else classes)
    codes = [class_codes(row, known, name="ratings") for row in table]
    return np.array(codes, np.int64).reshape(len(table), max(widths, default=0)), known


def gwet_ac1(
    ratings: RaterTable,
    *,
    sources: Labels | None = None,
    classes: Classes = None,
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> Estimate:
    """Return Gwet's AC1 of two or more raters: agreement beyond what guessing would give.

    It stays high where nearly all labels are the same, where kappa falls to 0.

    Parameters
    ----------
    ratings, classes
        As for :func:`dawid_skene`. Items with one label count only in the shares of labels.
    sources : sequence of labels, one per item, or None
    confidence, seed, n_resamples
        As in :mod:`judgesmith.metrics`: coverage, seed or generator, 20 resamples or more.

    Returns
    -------
    Estimate
        ``n`` counts items with two labels or more.

    References
    ----------
    Gwet (2008), "Computing inter-rater reliability and its variance in the presence of high
    agreement", British Journal of Mathematical and Statistical Psychology 61.

    Examples
    --------
    >>> round(gwet_ac1([[1, 1], [1, 1], [1, 1], [1, 0]] * 3).value, 3)
    0.68
    """
    codes, known = _coded(ratings, classes)
    # Where one label occurs, it is one of two.
    _, _, found = nominal_agreement(
        np.where(codes < 0, np.nan, codes),
        sources=sources,
        n_labels=max(len(known), 2),
        seed=seed,
        n_resamples=n_resamples,
        confidence=confidence,
    )
    return found

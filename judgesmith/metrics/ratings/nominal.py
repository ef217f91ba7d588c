"""Agreement of raters who give labels: Fleiss' kappa, Krippendorff's alpha, Gwet's AC1."""

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import FloatArray, Seed, group_codes, group_sums, rating_table, ratio
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate
from judgesmith.metrics.resampling.draws import estimates_of_sums


def nominal_agreement(
    ratings: ArrayLike,
    *,
    sources: Labels | None = None,
    n_labels: int,
    seed: Seed = 0,
    n_resamples: int = 1000,
    confidence: float = 0.95,
) -> tuple[Estimate, Estimate, Estimate]:
    """Return Fleiss' kappa, Krippendorff's nominal alpha and Gwet's AC1 of the same rows.

    Places of labels from 0 on, one column per rater, nan where missing. Rows with one label count
    in the shares of labels of the first and the last, as in Gwet's irrCAC, and in no pair.

    Gwet (2014), "Handbook of Inter-Rater Reliability", 4th edition, chapters 2 and 5.
    """
    table = rating_table(ratings)
    codes, n_sources = group_codes(sources, name="sources", n_items=len(table))
    given = np.stack([np.sum(table == place, axis=1) for place in range(n_labels)], axis=1)
    n = given.sum(axis=1)
    several = n > 1
    pairs = np.sum(given * (given - 1.0), axis=1)
    shares = ratio(given.astype(float), np.repeat(n[:, None], n_labels, axis=1), otherwise=0.0)
    paired = given * several[:, None]
    columns = [
        ratio(pairs, n * (n - 1.0), otherwise=0.0),
        several,
        ratio(pairs, n - 1.0, where=several, otherwise=0.0),
        n > 0,
        *shares.T,
        *paired.T,
    ]
    found = estimates_of_sums(
        group_sums(columns, codes, n_sources),
        lambda sums: _coefficients(sums, n_labels),
        n=int(np.sum(several)),
        seed=seed,
        n_resamples=n_resamples,
        confidence=confidence,
    )
    return found[0], found[1], found[2]


def _coefficients(sums: FloatArray, n_labels: int) -> FloatArray:
    """Return the three coefficients of each set of sums over rows."""
    same, n_several, same_pairs, n_rows = sums[:, :4].T
    shares = ratio(sums[:, 4 : 4 + n_labels], n_rows[:, None])
    counts = sums[:, 4 + n_labels :]
    n = counts.sum(axis=1)
    agreed = ratio(same, n_several)
    by_chance = np.sum(shares**2, axis=1)
    kappa = ratio(agreed - by_chance, 1 - by_chance)
    by_labels = (1 - by_chance) / (n_labels - 1)
    ac1 = ratio(agreed - by_labels, 1 - by_labels)
    expected = 1 - ratio(np.sum(counts * (counts - 1), axis=1), n * (n - 1))
    alpha = 1 - ratio(1 - ratio(same_pairs, n), expected)
    return np.stack([kappa, alpha, ac1], axis=1)

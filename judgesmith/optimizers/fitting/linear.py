"""Linear weights for rows that are alike within a source."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgesmith.optimizers.predictions import FloatArray, Labels
from judgesmith.optimizers.splitting import IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Whitening:
    """Makes rows independent that share a random deviation per source."""

    codes: IntArray
    sizes: FloatArray
    parts: FloatArray
    log_determinant: float

    @classmethod
    def of(cls, groups: Labels, share: float) -> Whitening:
        """Return the whitening of rows with these source labels."""
        codes = np.unique(groups, return_inverse=True)[1]
        sizes = np.bincount(codes).astype(float)
        inflation = 1 + share * sizes
        log_determinant = np.sum(np.log(inflation)) + np.log(np.sum(sizes / inflation))
        return cls(
            codes=codes,
            sizes=sizes,
            parts=1 - 1 / np.sqrt(inflation),
            log_determinant=float(log_determinant),
        )

    def centered(self, columns: FloatArray) -> FloatArray:
        """Return ``columns``, shape (n,) or (n, k), whitened and without the intercept."""
        one = self._white(np.ones((len(self.codes), 1)))
        white = self._white(columns.reshape(len(columns), -1))
        white = white - one @ (one.T @ white) / np.sum(one**2)
        return white.reshape(columns.shape)

    def _white(self, columns: FloatArray) -> FloatArray:
        sums = np.zeros((len(self.sizes), columns.shape[1]))
        np.add.at(sums, self.codes, columns)
        means = sums / self.sizes[:, None]
        return np.asarray(columns - (self.parts[:, None] * means)[self.codes])


LIMIT = 3.0
"""A term counts at most this many spreads from its center: one odd text cannot be worth more."""

USUAL_AGREEMENT = 0.4
"""Correlation with people that the model's own score is expected to have,"""

USUAL_ROWS = 40.0
"""as firmly as if this many rated rows had shown it."""

SHARES = (0.0, 0.02, 0.05, 0.1, 0.3)
"""What the terms of one kind may explain together, in units of what stays unexplained."""

NOTHING_FIRST = 2.0
"""That a kind of terms adds nothing is this many times as probable as each other share."""

SOURCE_SHARES = (0.0, 0.2, 0.8)
"""How far rows of one source may stray together, in units of what stays unexplained."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearFit:
    """Learned numbers of a linear map from terms to human points."""

    centers: FloatArray
    spreads: FloatArray
    weights: FloatArray
    intercept: float

    def predict(self, terms: FloatArray) -> FloatArray:
        """Return the map's value for every row of ``terms``, shape (n, n_terms)."""
        steps = np.clip((terms - self.centers) / self.spreads, -LIMIT, LIMIT)
        return np.asarray(steps @ self.weights + self.intercept)


def fit_ridge(
    terms: FloatArray, human: FloatArray, *, kinds: Sequence[str], groups: Labels
) -> LinearFit:
    """Return the weights that are to be expected after seeing what people said."""
    centers, spreads, steps = _standardised(terms)
    target = _halfway(human)
    prior_mean, widths, log_prior = _priors(kinds)
    evidence, weights = [], []
    for share in SOURCE_SHARES if len(np.unique(groups)) < len(human) else (0.0,):
        white = Whitening.of(groups, share)
        found = _posteriors(white, steps, target - steps @ prior_mean, widths)
        evidence.append(found[0] + log_prior)
        weights.append(found[1])
    averaged = prior_mean + _weighed(np.concatenate(evidence), np.concatenate(weights))
    averaged = np.where(spreads > 0, averaged, 0.0)
    back = float(np.mean((human - human.mean()) * target))
    mean_sum = float(np.mean(steps @ averaged))
    return LinearFit(
        centers=centers,
        spreads=np.where(spreads > 0, spreads, 1.0),
        weights=back * averaged,
        intercept=float(human.mean()) - back * mean_sum,
    )


def _posteriors(
    white: Whitening, steps: FloatArray, rest: FloatArray, widths: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return log evidence, shape (n_priors,), and mean weights, shape (n_priors, n_terms)."""
    x, y = white.centered(steps), white.centered(rest)
    moments = x.T @ y
    n = len(y)
    inner = widths[:, :, None] * (x.T @ x) * widths[:, None, :] + np.eye(x.shape[1])
    right = widths * moments
    solved = np.linalg.solve(inner, right[:, :, None])[:, :, 0]
    left_over = np.maximum(y @ y - np.sum(right * solved, axis=1), 1e-12 * n)
    log_determinant = np.linalg.slogdet(inner)[1]
    evidence = -0.5 * (log_determinant + white.log_determinant + (n - 1) * np.log(left_over))
    return evidence, widths * solved


def _priors(kinds: Sequence[str]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return prior mean by term, prior widths by prior and term, and log probability by prior."""
    labels = np.asarray(kinds)
    own = labels == "overall"
    others = [kind for kind in dict.fromkeys(kinds) if kind != "overall"]
    widths, log_prior = [], []
    for shares in itertools.product(SHARES, repeat=len(others)):
        variance = np.where(own, 1 / USUAL_ROWS, 0.0)
        for kind, share in zip(others, shares, strict=True):
            variance[labels == kind] = share / np.sum(labels == kind)
        widths.append(np.sqrt(variance))
        log_prior.append(np.log(NOTHING_FIRST) * shares.count(0.0))
    return np.where(own, USUAL_AGREEMENT, 0.0), np.asarray(widths), np.asarray(log_prior)


def _standardised(terms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return centers, spreads (0 for constant columns) and terms in spreads, within limits."""
    centers = terms.mean(axis=0)
    spreads = terms.std(axis=0)
    spreads = np.where(spreads <= 1e-9 * (1 + np.abs(centers)), 0.0, spreads)
    steps = (terms - centers) / np.where(spreads > 0, spreads, 1.0)
    return centers, spreads, np.where(spreads > 0, np.clip(steps, -LIMIT, LIMIT), 0.0)


def _halfway(human: FloatArray) -> FloatArray:
    """Return the mean of standardised points and standardised ranks, itself standardised."""
    values, codes, counts = np.unique(human, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts + 1) / 2)[codes]
    both = _standard(values[codes]) + _standard(ranks)
    return _standard(both)


def _standard(values: FloatArray) -> FloatArray:
    return np.asarray((values - values.mean()) / values.std())


def _weighed(evidence: FloatArray, weights: FloatArray) -> FloatArray:
    chances = np.exp(evidence - evidence.max())
    return np.asarray(chances @ weights / chances.sum())

"""Linear weights that lean on the model's own score and add to it only what the data supports.

A Bayesian linear regression. Before any rating is seen, the model's own overall score is taken
to agree with people about as well as judges usually do, and every other term to add nothing;
how much criteria and lexical features may add together is unknown. Instead of picking one
answer to that, fits under several are averaged, each weighed by how probable it makes the
ratings: few ratings move the score a little, many as far as they support.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgesmith.optimizers.sources import Whitening
from judgesmith.optimizers.table import FloatArray, Labels

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
    """Learned numbers of a linear map from terms to human points.

    Attributes
    ----------
    centers, spreads, weights : array, shape (n_terms,)
        Each term minus its center, over its spread, within ``LIMIT`` to either side, times its
        weight, is summed.
    intercept : float, in human points
        Added to the sum.
    """

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
    """Return the weights that are to be expected after seeing what people said.

    The mean of the posterior weights under every pair of prior widths (one from ``SHARES`` for
    each kind of terms but ``overall``, one from ``SOURCE_SHARES`` for what rows of one source
    share), weighed by the marginal likelihood. What is fitted is halfway between people's points
    and their ranks, so that neither few extreme ratings nor many equal ones decide alone; the
    result is put back in points.

    Parameters
    ----------
    terms : array, shape (n, n_terms)
        Constant columns get weight 0.
    human : array, shape (n,)
        Points to predict, not all equal.
    kinds : sequence of str, one per term
        Terms of one kind share a prior width; those of kind ``overall`` are the model's own.
    groups : array, shape (n,)
        Rows of one source have equal labels.

    References
    ----------
    MacKay (1992), "Bayesian Interpolation", Neural Computation 4, for the marginal likelihood;
    Hoeting et al. (1999), "Bayesian Model Averaging", Statistical Science 14, for averaging;
    priors and widths are ours.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> terms = rng.normal(size=(200, 2))
    >>> human = terms[:, 1] + rng.normal(size=200)
    >>> kinds = ["overall", "criterion"]
    >>> fit = fit_ridge(terms, human, kinds=kinds, groups=np.arange(200))
    >>> bool(abs(fit.weights[0]) < 0.2), bool(fit.weights[1] > 0.8)
    (True, True)
    """
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
    """Return log evidence, shape (n_priors,), and mean weights, shape (n_priors, n_terms).

    ``widths`` holds, by prior and term, the prior standard deviation of a weight in units of
    the noise's; with ``S`` the diagonal matrix of one row, the posterior precision is
    ``inv(S) (I + S X'X S) inv(S)``, which stays solvable where a width is 0. The noise's size
    and the intercept are integrated out under flat priors.
    """
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

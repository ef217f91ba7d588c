"""What the options of choices do to an objective, as far as noisy trials show.

A Bayesian model: the value of a configuration is a sum of what each of its options adds, of what
each pair of options adds, and of a rest that is its own. Trials that were judged on few rows count
for less, so that many rough values together say which options help.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgesmith.optimizers.splitting import IntArray
from judgesmith.optimizers.table import FloatArray
from judgesmith.signatures.space import Picked

SIGNALS = (1.0, 3.0, 10.0)
"""Variance among configurations, in units of the noise of a trial on all rows,"""

PAIRS = (0.0, 0.3)
"""the share of it that is due to pairs of options,"""

OWN = 0.05
"""and the share that is due to neither: what no other configuration tells about."""


def coded(configurations: Sequence[Picked], options: Mapping[str, Sequence[str]]) -> IntArray:
    """Return configurations as numbers of options, from 1; 0 where a choice does not arise.

    Parameters
    ----------
    configurations : sequence of dict of str to str
        The option of every choice that arises.
    options : dict of str to sequence of str
        The options of all choices, by name.

    Returns
    -------
    array, shape (n_configurations, n_choices)

    Examples
    --------
    >>> coded([{"a": "x"}, {"a": "y", "b": "z"}], {"a": ["x", "y"], "b": ["z"]}).tolist()
    [[1, 0], [2, 1]]
    """
    places = {name: {one: k for k, one in enumerate(ids, 1)} for name, ids in options.items()}
    rows = [
        [of[one[name]] if name in one else 0 for name, of in places.items()]
        for one in configurations
    ]
    return np.asarray(rows, dtype=np.intp).reshape(len(rows), len(places))


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """Trials to learn from.

    Attributes
    ----------
    codes : array, shape (n_trials, n_choices)
        Their configurations, see ``coded``.
    values : array, shape (n_trials,)
        What the objective came to, or would by what part of the rows shows.
    shares : array, shape (n_trials,)
        Of the rows, from above 0 to 1, that this was seen on.

    Examples
    --------
    Of 16 configurations those with the second option of the first choice were better.

    >>> codes = np.asarray(list(itertools.product((1, 2), repeat=4)))
    >>> seen = Evidence(codes=codes, values=1.0 * (codes[:, 0] == 2), shares=np.ones(16))
    >>> promised = seen.promised(codes, np.random.default_rng(0), caution=0)
    >>> bool(promised[8:].min() > promised[:8].max())
    True
    """

    codes: IntArray
    values: FloatArray
    shares: FloatArray

    def promised(
        self, candidates: IntArray, rng: np.random.Generator, *, caution: float = 0.5
    ) -> FloatArray:
        """Return what candidates may come to: expected, and a random part of what is unknown.

        Thompson sampling: the random part is drawn for all candidates together, as unsure as the
        trials leave it, times ``caution``. With 0 it is what is expected, with 1 a fair draw.
        Between, there is less exploring; a search has few trials.

        Parameters
        ----------
        candidates : array, shape (n_candidates, n_choices)
            Their codes, each configuration once.
        rng : Generator
            Draws the prior, by how probable it makes the trials, and the random part.
        caution : float
            Zero or more.

        References
        ----------
        Wilson et al. (2020), "Efficiently Sampling Functions from Gaussian Process Posteriors",
        ICML, for draws from the prior that are corrected by the trials. arXiv:2002.09309.
        """
        fits = [self._fit(signal, pairs) for signal in SIGNALS for pairs in PAIRS]
        log = np.asarray([one.log_evidence for one in fits])
        chances = np.exp(log - log.max())
        fit = fits[int(rng.choice(len(fits), p=chances / chances.sum()))]
        across = fit.signal * likeness(candidates, self.codes, fit.pairs)
        expected = fit.level + across @ fit.weights
        both = np.concatenate([candidates, self.codes])
        drawn = np.sqrt(fit.signal) * _drawn(both, fit.pairs, rng)
        ahead, behind = drawn[: len(candidates)], drawn[len(candidates) :]
        behind = behind + np.linalg.cholesky(self._noise()) @ rng.normal(size=len(self.values))
        missed = -(fit.inverse.sum(axis=0) @ behind) / fit.inverse.sum()
        apart = ahead + missed - across @ (fit.inverse @ (behind + missed))
        return np.asarray(expected + caution * fit.scale * apart)

    def _noise(self) -> FloatArray:
        """Return the noise's covariance, in units of its variance on all rows.

        Values on the same part of the rows are off together, too: what they were compared with
        was lucky or not on these rows. Trials on equally many rows have the same rows.
        """
        together = (self.shares[:, None] == self.shares) & (self.shares < 1)
        return np.asarray(np.diag(1 / self.shares) + together / self.shares)

    def _fit(self, signal: float, pairs: float) -> _Fit:
        n = len(self.values)
        total = signal * likeness(self.codes, self.codes, pairs) + self._noise()
        inverse = np.asarray(np.linalg.inv(total), dtype=np.float64)
        level = float(inverse.sum(axis=0) @ self.values / inverse.sum())
        weights = inverse @ (self.values - level)
        left = max(float((self.values - level) @ weights), 1e-12)
        # The noise's size and the level are integrated out under flat priors.
        log_evidence = -0.5 * (
            np.linalg.slogdet(total)[1] + np.log(inverse.sum()) + (n - 1) * np.log(left)
        )
        return _Fit(
            signal=signal,
            pairs=pairs,
            inverse=inverse,
            level=level,
            weights=weights,
            scale=float(np.sqrt(left / max(n - 1, 1))),
            log_evidence=float(log_evidence),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Fit:
    signal: float
    pairs: float
    inverse: FloatArray
    level: float
    weights: FloatArray
    scale: float
    log_evidence: float


def likeness(first: IntArray, second: IntArray, pairs: float) -> FloatArray:
    """Return how much configurations have in common, from 0, nothing, to 1, everything.

    Parameters
    ----------
    first, second : array, shape (n, n_choices) and (m, n_choices)
        Codes of configurations.
    pairs : float
        Share that is about pairs of choices.

    Returns
    -------
    array, shape (n, m)
    """
    n_choices = first.shape[1]
    same = (first[:, None, :] == second[None, :, :]).sum(axis=2)
    of_pairs = same * (same - 1) / max(n_choices * (n_choices - 1), 1)
    single = (1 - pairs - OWN) * same / n_choices
    return np.asarray(single + pairs * of_pairs + OWN * (same == n_choices))


def _drawn(codes: IntArray, pairs: float, rng: np.random.Generator) -> FloatArray:
    """Return random values, shape (n,), that covary as ``likeness`` says."""
    n_choices = codes.shape[1]
    size = int(codes.max()) + 1
    effects = rng.normal(size=(n_choices, size))
    total = np.sqrt((1 - pairs - OWN) / n_choices) * effects[np.arange(n_choices), codes].sum(1)
    both = list(itertools.combinations(range(n_choices), 2))
    if both and pairs:
        of_pairs = np.sqrt(pairs / len(both)) * rng.normal(size=(len(both), size, size))
        for (one, other), effect in zip(both, of_pairs, strict=True):
            total += effect[codes[:, one], codes[:, other]]
    _, which = np.unique(codes, axis=0, return_inverse=True)
    own = rng.normal(size=len(codes))
    return np.asarray(total + np.sqrt(OWN) * own[which.reshape(-1)])

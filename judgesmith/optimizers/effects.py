"""What the options of choices do to an objective, as far as noisy trials show.

A Bayesian model: the value of a configuration is a sum of what each of its options adds, of what
each pair of options adds, and of a rest that is its own. Trials that were judged on few rows count
for less, so that many rough values together say which options help.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgesmith.optimizers.splitting import IntArray
from judgesmith.optimizers.table import FloatArray
from judgesmith.signatures.space import Picked

SIGNALS = (1.0, 3.0, 10.0)
"""Variance among configurations, in units of the noise of a trial on all rows,"""

PAIRS = (0.2, 0.5)
"""the share of it that is due to pairs of options,"""

OWN = 0.1
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outlook:
    """What candidates may come to on all rows.

    Attributes
    ----------
    means, deviations : array, shape (n_candidates,)
        Expected, and how unsure that is: its standard deviation.
    """

    means: FloatArray
    deviations: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """Trials to learn from.

    Attributes
    ----------
    codes : array, shape (n_trials, n_choices)
        Their configurations, see ``coded``.
    values : array, shape (n_trials,)
        What the objective came to, or would by what part of the rows shows; nan where undefined,
        which counts as the worst that there is.
    shares : array, shape (n_trials,)
        Of the rows, from above 0 to 1, that this was seen on.

    Examples
    --------
    Of 16 configurations those with the second option of the first choice were better.

    >>> codes = np.asarray([[1 + (k >> j) % 2 for j in range(4)] for k in range(16)])
    >>> values = 1.0 * (codes[:, 0] == 2)
    >>> seen = Evidence(codes=codes[:12], values=values[:12], shares=np.ones(12))
    >>> means = seen.outlook(codes).means
    >>> bool(means[values == 1].min() > means[values == 0].max())
    True
    """

    codes: IntArray
    values: FloatArray
    shares: FloatArray

    def outlook(self, candidates: IntArray) -> Outlook:
        """Return what candidates may come to, averaged over what may be so of the model.

        Trials of fewer than two defined values say nothing: all means are equal then.

        Parameters
        ----------
        candidates : array, shape (n_candidates, n_choices)
            Their codes.

        References
        ----------
        Rasmussen and Williams (2006), "Gaussian Processes for Machine Learning", equations 2.25
        and 2.26, with the level and the size of the noise integrated out under flat priors.
        """
        defined = np.isfinite(self.values)
        if defined.sum() < 2:
            nothing = np.zeros(len(candidates))
            return Outlook(means=nothing, deviations=nothing)
        values = np.where(defined, self.values, self.values[defined].min())
        noise = self._noise()
        fits = [self._fit(values, noise, signal, pairs) for signal in SIGNALS for pairs in PAIRS]
        log = np.asarray([one.log_evidence for one in fits])
        chances = np.exp(log - log.max())
        chances /= chances.sum()
        means, variances = np.zeros((2, len(fits), len(candidates)))
        for place, fit in enumerate(fits):
            across = fit.signal * likeness(candidates, self.codes, fit.pairs)
            means[place] = fit.level + across @ fit.weights
            known = np.einsum("ij,ij->i", across @ fit.inverse, across)
            variances[place] = fit.scale**2 * np.maximum(fit.signal - known, 0)
        mean = chances @ means
        return Outlook(
            means=mean, deviations=np.sqrt(chances @ (variances + np.square(means - mean)))
        )

    def _noise(self) -> FloatArray:
        """Return the noise's covariance, in units of its variance on all rows.

        Values on the same part of the rows are off together, too: what they were compared with
        was lucky or not on these rows. Trials on equally many rows have the same rows.
        """
        together = (self.shares[:, None] == self.shares) & (self.shares < 1)
        return np.asarray(np.diag(1 / self.shares) + together / self.shares)

    def _fit(self, values: FloatArray, noise: FloatArray, signal: float, pairs: float) -> _Fit:
        n = len(values)
        total = signal * likeness(self.codes, self.codes, pairs) + noise
        inverse = np.asarray(np.linalg.inv(total), dtype=np.float64)
        level = float(inverse.sum(axis=0) @ values / inverse.sum())
        weights = inverse @ (values - level)
        left = max(float((values - level) @ weights), 1e-12)
        log_evidence = -0.5 * (
            np.linalg.slogdet(total)[1] + np.log(inverse.sum()) + (n - 1) * np.log(left)
        )
        return _Fit(
            signal=signal,
            pairs=pairs,
            inverse=inverse,
            level=level,
            weights=weights,
            scale=float(np.sqrt(left / (n - 1))),
            log_evidence=float(log_evidence),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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

    Examples
    --------
    Two of three choices are alike, and one of three pairs.

    >>> round(float(likeness(np.array([[1, 2, 3]]), np.array([[1, 2, 4]]), 0.3)[0, 0]), 3)
    0.5
    """
    n_choices = first.shape[1]
    same = (first[:, None, :] == second[None, :, :]).sum(axis=2)
    of_pairs = same * (same - 1) / max(n_choices * (n_choices - 1), 1)
    single = (1 - pairs - OWN) * same / n_choices
    return np.asarray(single + pairs * of_pairs + OWN * (same == n_choices))

"""What the options of a space add to an objective: a linear model that shrinks to its prior.

The gain of a configuration is the sum of the effects of its options and one of its own. Normal
priors around usual effects have a mixture of scales, which the data weigh.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from judgesmith.metrics.arrays import FloatArray, IntArray
from judgesmith.optimizers.trials import without_nan
from judgesmith.signatures.space import Picked

OPTION_SHARE, OWN_SHARE = 0.04, 0.03
"""Prior standard deviations of the effect of an option, and of a configuration's own effect, in
those of the gain of one row: about 1.8 for Q, where options of judging prompts add about .1."""

USUAL_EFFECTS: Mapping[tuple[str, str], float] = {
    ("answers", "1-10"): 0.02,
    ("demonstrations", "3"): 0.03,
    ("demonstrations", "5"): 0.02,
    ("explain", "none"): 0.015,
}
"""Prior means of effects in the same unit: rounded means over three datasets in published
ablations of one model's judging prompts. All other options have 0."""

FEWEST_COMMON = 10  # rows from which the correlation of two members' scores is taken

# How many times as large all effects may be, and how probable that is beforehand.
SCALES: Mapping[float, float] = {0.0: 0.2, 0.5: 0.3, 1.0: 0.3, 1.6: 0.2}

SHARED_NOISE = 0.5  # correlation of the errors of two gains on the same rows, by the baseline's
N_DRAWS = 400
ROWS_PER_BLOCK, MOST_BLOCKS = 24, 4


@dataclass(frozen=True, kw_only=True, eq=False)
class OptionEffects:
    """Which options configurations take, against the baseline, and what these usually add.

    The last column is the same for all configurations: what any change at all may add.
    """

    columns: FloatArray
    usual: FloatArray

    @classmethod
    def of(cls, configurations: Sequence[Picked], baseline: Picked) -> Self:
        options = sorted({one for picked in configurations for one in picked.items()})
        columns = np.zeros((len(configurations), len(options) + 1))
        for row, picked in enumerate(configurations):
            for place, (name, option) in enumerate(options):
                differs = (picked.get(name) == option) - float(baseline.get(name) == option)
                columns[row, place] = differs
        columns[:, -1] = 1.0
        return cls(
            columns=columns, usual=np.r_[[USUAL_EFFECTS.get(one, 0.0) for one in options], 0.0]
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ObservedGains:
    """Measured gains over the baseline, of the configurations at ``places``."""

    places: np.ndarray
    gains: FloatArray
    shared: FloatArray  # rows that two of them have in common
    noise: FloatArray  # deviation of one row's gain; near 0: answers as the baseline

    @property
    def unit(self) -> float:
        return float(np.sqrt(np.mean(self.noise**2)))

    @property
    def covariance(self) -> FloatArray:
        n = np.diag(self.shared)
        found = SHARED_NOISE * self.shared / np.outer(n, n)
        np.fill_diagonal(found, 1.0 / n)
        return np.asarray(np.outer(self.noise, self.noise) * found)


@dataclass(frozen=True, kw_only=True, eq=False)
class GainPosterior:
    mean: FloatArray
    sd: FloatArray
    draws: FloatArray

    @property
    def value_of_knowing(self) -> float:
        """How much better the choice would be expected to be, were all gains known."""
        best = np.maximum(self.draws.max(axis=1), 0.0).mean()
        return float(best - max(self.mean.max(), 0.0))


def gain_posterior(
    effects: OptionEffects, observed: ObservedGains, *, rng: np.random.Generator
) -> GainPosterior:
    columns = effects.columns
    n, n_columns = columns.shape
    n_observed = len(observed.places)
    own = np.zeros((n, n_observed))
    own[observed.places, np.arange(n_observed)] = 1.0
    whole = np.concatenate([columns, own], axis=1)
    design = whole[observed.places]
    usual = observed.unit * np.r_[effects.usual, np.zeros(n_observed)]
    shares = np.r_[np.full(n_columns - 1, OPTION_SHARE), np.full(1 + n_observed, OWN_SHARE)]
    fits = [
        _Fit.of(design, (scale * observed.unit * shares) ** 2, min(scale, 1.0) * usual, observed)
        for scale in SCALES
    ]
    evidence = np.asarray([fit.evidence for fit in fits]) + np.log(list(SCALES.values()))
    weights = np.exp(evidence - evidence.max())
    weights /= weights.sum()
    unseen = np.ones(n, dtype=bool)
    unseen[observed.places] = False
    means, squares, draws = np.zeros(n), np.zeros(n), []
    for weight, scale, fit in zip(weights, SCALES, fits, strict=True):
        alone = np.where(unseen, (scale * observed.unit * OWN_SHARE) ** 2, 0.0)
        mean = whole @ fit.center
        variance = np.sum((whole @ fit.covariance) * whole, axis=1) + alone
        means += weight * mean
        squares += weight * (np.maximum(variance, 0.0) + mean**2)
        n_drawn = round(N_DRAWS * float(weight))
        drawn = fit.drawn(n_drawn, observed, rng=rng) @ whole.T
        draws.append(drawn + rng.normal(size=(n_drawn, n)) * np.sqrt(alone))
    return GainPosterior(
        mean=means, sd=np.sqrt(np.maximum(squares - means**2, 0.0)), draws=np.concatenate(draws)
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Fit:
    design: FloatArray
    prior: FloatArray
    usual: FloatArray
    gain: FloatArray
    center: FloatArray
    covariance: FloatArray
    evidence: float

    @classmethod
    def of(
        cls, design: FloatArray, prior: FloatArray, usual: FloatArray, observed: ObservedGains
    ) -> Self:
        total = (design * prior) @ design.T + observed.covariance
        gain = np.linalg.solve(total, design * prior).T
        log_determinant = np.linalg.slogdet(total)[1]
        surprise = observed.gains - design @ usual
        return cls(
            design=design,
            prior=prior,
            usual=usual,
            gain=np.asarray(gain, dtype=np.float64),
            center=np.asarray(usual + gain @ surprise, dtype=np.float64),
            covariance=np.diag(prior) - gain @ (design * prior),
            evidence=float(-0.5 * (surprise @ np.linalg.solve(total, surprise) + log_determinant)),
        )

    def drawn(self, n: int, observed: ObservedGains, *, rng: np.random.Generator) -> FloatArray:
        """Return draws of the effects: prior draws, moved by what they would have shown."""
        effects = self.usual + rng.normal(size=(n, len(self.prior))) * np.sqrt(self.prior)
        errors = rng.normal(size=(n, len(observed.gains)))
        errors = errors @ np.linalg.cholesky(observed.covariance).T
        return np.asarray(
            effects + (observed.gains - effects @ self.design.T - errors) @ self.gain.T
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossFittedGain:
    """How much better the choice is on rows that it was not made on.

    Attributes
    ----------
    value, low, high : float
        The gain over the baseline, plus and minus 1.96 standard errors; nan where undefined. Too
        narrow where the baseline was replaced; test rows give a 95% interval.
    n_rows : int
        Rows that it is measured on.
    """

    value: float
    low: float
    high: float
    n_rows: int

    def to_dict(self) -> dict[str, Any]:
        return without_nan(asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class AverageGain:
    """What the mean of some members' standardised scores is expected to add, and how surely."""

    members: tuple[int, ...]
    gain: float
    error: float


def best_average(
    value: float, gains: FloatArray, errors: FloatArray, scores: FloatArray, *, most: int
) -> AverageGain | None:
    """Return the average of two or more members, up to ``most``, that is expected to add most.

    The mean of ``n`` scores that agree with people alike, and with each other by a correlation
    of ``r``, agrees sqrt(n / (1 + (n - 1) r)) times as well, exactly for Pearson's (Spearman 1910).
    The mean correlation of all pairs is taken: those that agree least are often the worst.
    """
    n = len(gains)
    if n < 2:
        return None
    common = scores[:, np.isfinite(scores).all(axis=0)]
    if common.shape[1] < FEWEST_COMMON:
        return None
    with np.errstate(invalid="ignore", divide="ignore"):  # of members with one answer for all
        pairs = np.asarray(np.corrcoef(common))
    among = max(float(np.nan_to_num(pairs, nan=1.0)[~np.eye(n, dtype=bool)].mean()), 0.0)
    found = []
    for size in range(2, min(most, n) + 1):
        chosen = np.argsort(-gains, kind="stable")[:size]
        sharper = math.sqrt(size / (1 + (size - 1) * among))
        found.append(
            AverageGain(
                members=tuple(chosen.tolist()),
                gain=float((value + gains[chosen].mean()) * sharper - value),
                error=float(np.linalg.norm(errors[chosen]) / size * sharper),
            )
        )
    return max(found, key=lambda one: one.gain)


def row_blocks(order: IntArray, groups: Any) -> list[list[int]]:
    names = list(dict.fromkeys(np.asarray(groups)[order].tolist()))
    n = min(MOST_BLOCKS, max(len(order) // ROWS_PER_BLOCK, 2), len(names))
    block_of = {name: place % n for place, name in enumerate(names)}
    found: list[list[int]] = [[] for _ in range(n)]
    for row in order.tolist():
        found[block_of[np.asarray(groups)[row].item()]].append(row)
    return [sorted(one) for one in found]

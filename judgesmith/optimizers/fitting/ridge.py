"""Weights of standardised terms, and of products of two of them, by Bayesian ridge regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from judgesmith.optimizers.fitting.cross_validation import LIMIT
from judgesmith.optimizers.predictions import FloatArray, Labels
from judgesmith.optimizers.rows import IntArray
from judgesmith.signatures.aggregation import Product
from judgesmith.signatures.config import Aggregation
from judgesmith.signatures.scale import Scale

USUAL_AGREEMENT = 0.4  # correlation with people that the model's own score is expected to have,
USUAL_ROWS = 40.0  # as firmly as if this many rated rows had shown it
SHARES = (0.0, 0.02, 0.1, 0.3, 1.0)  # what one kind may explain, by what stays unexplained
NOTHING_FIRST = 2.0  # that a kind adds nothing is so many times as probable as each other share
SOURCE_SHARES = (0.0, 0.2, 0.8)  # how far rows of one source may stray together, in the same units
PRODUCT = "product"


@dataclass(frozen=True, kw_only=True, eq=False)
class Basis:
    """Terms in standard steps from their centers, and products of two of them.

    Each term is multiplied with itself, since too much may be as bad as too little, and with the
    overall score, since what a text shows may count for more where the model likes it.
    """

    names: tuple[str, ...]
    centers: FloatArray
    spreads: FloatArray
    pairs: IntArray
    product_centers: FloatArray
    product_spreads: FloatArray

    @classmethod
    def of(cls, names: Sequence[str], columns: FloatArray) -> Basis:
        """Return the basis in which these columns, shape (n_rows, n_terms), are standard."""
        n = len(names) if len(names) > 1 else 0  # one score has its own order, and keeps it
        pairs = [(place, place) for place in range(n)]
        if n and names[0] == "overall":
            pairs += [(0, place) for place in range(1, n)]
        centers, spreads = _standards(columns)
        steps = _steps(columns, centers, spreads)
        first, second = np.asarray(pairs, dtype=int).reshape(-1, 2).T
        product_centers, product_spreads = _standards(steps[:, first] * steps[:, second])
        return cls(
            names=tuple(names),
            centers=centers,
            spreads=spreads,
            pairs=np.column_stack([first, second]),
            product_centers=product_centers,
            product_spreads=product_spreads,
        )

    @classmethod
    def learned(cls, own: Aggregation) -> Basis:
        """Return the basis of weights that a judge has."""
        places = {name: place for place, name in enumerate(own.terms)}
        pairs = [(places[one.first], places[one.second]) for one in own.products]
        return cls(
            names=own.terms,
            centers=np.asarray(own.centers),
            spreads=np.asarray(own.spreads),
            pairs=np.asarray(pairs, dtype=int).reshape(-1, 2),
            product_centers=np.asarray([one.center for one in own.products]),
            product_spreads=np.asarray([one.spread for one in own.products]),
        )

    @property
    def kinds(self) -> tuple[str, ...]:
        """What each step is: ``overall``, ``criterion``, ``lexical`` or ``product``."""
        return (*(name.partition(":")[0] for name in self.names), *[PRODUCT] * len(self.pairs))

    def steps(self, columns: FloatArray) -> FloatArray:
        """Return how far each term and product lies from its center, at most ``LIMIT``."""
        steps = _steps(columns, self.centers, self.spreads)
        first, second = self.pairs.T
        products = steps[:, first] * steps[:, second]
        more = _steps(products, self.product_centers, self.product_spreads)
        return np.hstack([steps, more])


def _standards(columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return means and standard deviations, 0 where a column does not vary."""
    centers, spreads = columns.mean(axis=0), columns.std(axis=0)
    return centers, np.where(spreads <= 1e-9 * (1 + np.abs(centers)), 0.0, spreads)


def _steps(columns: FloatArray, centers: FloatArray, spreads: FloatArray) -> FloatArray:
    steps = (columns - centers) / np.where(spreads > 0, spreads, 1.0)
    return np.where(spreads > 0, np.clip(steps, -LIMIT, LIMIT), 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearFit:
    """A weighted sum of the steps of a basis; ``weights`` is of terms, then of products."""

    basis: Basis
    weights: FloatArray
    intercept: float

    def predict(self, columns: FloatArray) -> FloatArray:
        return np.asarray(self.basis.steps(columns) @ self.weights + self.intercept)

    def aggregation(self, scale: Scale) -> Aggregation:
        """Return the sum of the terms and products that have a weight."""
        basis, n = self.basis, len(self.basis.names)
        multiplied = np.flatnonzero(self.weights[n:])
        used = np.union1d(np.flatnonzero(self.weights[:n]), basis.pairs[multiplied])
        products = [
            Product(
                first=basis.names[basis.pairs[one, 0]],
                second=basis.names[basis.pairs[one, 1]],
                center=basis.product_centers[one],
                spread=basis.product_spreads[one],
                weight=self.weights[n + one],
            )
            for one in multiplied
        ]
        return Aggregation(
            kind="linear",
            terms=tuple(basis.names[i] for i in used),
            centers=tuple(basis.centers[used].tolist()),
            spreads=tuple(basis.spreads[used].tolist()),
            weights=tuple(self.weights[used].tolist()),
            products=tuple(products),
            limit=LIMIT,
            intercept=self.intercept,
            scale=scale,
        )

    def shared_by(self, names: Sequence[str]) -> LinearFit:
        """Return what a sum of one mean gives to each of the terms that it is the mean of."""
        n, basis = len(names), self.basis
        centers, spreads = np.repeat(basis.centers, n), np.repeat(basis.spreads, n)
        shared = replace(basis, names=tuple(names), centers=centers, spreads=spreads)
        return replace(self, basis=shared, weights=np.repeat(self.weights / n, n))

    def in_steps_of(self, basis: Basis) -> LinearFit:
        """Return the same sum in the steps of a wider basis, limited where those are."""
        own, n = self.basis, len(self.basis.names)
        places = np.asarray([basis.names.index(name) for name in own.names])
        known = {pair: place for place, pair in enumerate(map(tuple, basis.pairs.tolist()))}
        # A step of ours is start + rate x a step of the other basis, where neither is limited.
        varied = np.where(own.spreads > 0, own.spreads, 1.0)
        start = np.where(own.spreads > 0, (basis.centers[places] - own.centers) / varied, 0.0)
        rate = np.where(own.spreads > 0, basis.spreads[places] / varied, 0.0)
        weights = np.zeros(len(basis.names) + len(basis.pairs))
        level = self.intercept + float(self.weights[:n] @ start)
        np.add.at(weights, places, self.weights[:n] * rate)
        for (i, j), center, spread, weight in zip(
            own.pairs.tolist(),
            own.product_centers,
            own.product_spreads,
            self.weights[n:],
            strict=True,
        ):
            if not weight:
                continue
            slope = weight / spread
            product = known[min(places[i], places[j]), max(places[i], places[j])]
            both = slope * rate[i] * rate[j]
            level += slope * (start[i] * start[j] - center) + both * basis.product_centers[product]
            weights[places[i]] += slope * rate[i] * start[j]
            weights[places[j]] += slope * rate[j] * start[i]
            weights[len(basis.names) + product] += both * basis.product_spreads[product]
        return LinearFit(basis=basis, weights=weights, intercept=level)


def fit_ridge(basis: Basis, steps: FloatArray, human: FloatArray, *, groups: Labels) -> LinearFit:
    """Return the weights that are to be expected after seeing what people said.

    Parameters
    ----------
    basis : Basis
        What ``steps``, shape (n_rows, n_terms + n_products), are the steps of.
    steps, human, groups
        Of the rows to learn from: their ratings, and the sources that they share.
    """
    target = _halfway(human)
    own = np.asarray(basis.kinds) == "overall"
    prior_mean = np.where(own, USUAL_AGREEMENT, 0.0)
    evidence, weights = [], []
    for share in SOURCE_SHARES if len(np.unique(groups)) < len(human) else (0.0,):
        white = Whitening.of(groups, share)
        found = posterior(white, steps, target - steps @ prior_mean, basis.kinds)
        evidence.append(found[0])
        weights.append(found[1])
    averaged = prior_mean + _chances(np.asarray(evidence)) @ np.asarray(weights)
    averaged = np.where(np.ptp(steps, axis=0) > 0, averaged, 0.0)
    back = float(np.mean((human - human.mean()) * target))
    mean_sum = float(np.mean(steps @ averaged))
    return LinearFit(
        basis=basis,
        weights=back * averaged,
        intercept=float(human.mean()) - back * mean_sum,
    )


def posterior(
    white: Whitening, steps: FloatArray, rest: FloatArray, kinds: Sequence[str]
) -> tuple[float, FloatArray]:
    """Return the log evidence of all priors together, and the mean weights, shape (n_steps,).

    A prior is a share for each kind but the overall score. The largest kind is eliminated first,
    once for each share, then the next largest from what remains, and so on.
    """
    x, y = white.centered(steps), white.centered(rest)
    n, labels = len(y), np.asarray(kinds)
    by_kind = [labels == kind for kind in dict.fromkeys(kinds)]
    left = np.arange(len(labels))
    products, moments = (x.T @ x)[None], (x.T @ y)[None]
    log_prior, log_determinant, explained = np.zeros((3, 1))
    solutions = []
    for places in sorted(by_kind, key=np.sum, reverse=True):
        own, n_places = labels[places][0] == "overall", int(places.sum())
        shares = np.asarray([1 / USUAL_ROWS] if own else SHARES)
        doubts = np.zeros(len(shares)) if own else np.log(np.where(shares, 1.0, NOTHING_FIRST))
        variances = (shares / n_places)[:, None, None]
        taken = places[left]
        kept, rows = products[:, ~taken][:, :, ~taken], products[:, taken]
        sides = np.concatenate([rows[:, :, ~taken], moments[:, taken, None]], axis=2)
        inner = variances * rows[:, None, :, taken] + np.eye(n_places)
        solved = variances * np.linalg.solve(inner, sides[:, None])
        less = np.swapaxes(sides, 1, 2)[:, None] @ solved
        log_prior = _flat(log_prior[:, None] + doubts)
        log_determinant = _flat(log_determinant[:, None] + np.linalg.slogdet(inner)[1])
        explained = _flat(explained[:, None] + less[..., -1, -1])
        products = _flat(kept[:, None] - less[..., :-1, :-1])
        moments = _flat(moments[:, None, ~taken] - less[..., :-1, -1])
        left = left[~taken]
        solutions.append((places, left, _flat(solved)))
    left_over = np.maximum(y @ y - explained, 1e-12 * n)
    log_determinant = log_determinant + white.log_determinant
    evidence = log_prior - 0.5 * (log_determinant + (n - 1) * np.log(left_over))

    # Back again: the sum over priors of their chance times their weights.
    chances = _chances(evidence)
    weights = np.zeros((len(evidence), len(labels)))
    for places, others, solved in reversed(solutions):
        chances = chances.reshape(len(solved), -1).sum(axis=1)
        weights = weights.reshape(len(solved), -1, len(labels)).sum(axis=1)
        shifts = solved[:, :, :-1] @ weights[:, others, None]
        weights[:, places] = chances[:, None] * solved[:, :, -1] - shifts[:, :, 0]
    largest = evidence.max()
    return float(largest + np.log(np.exp(evidence - largest).sum())), weights.sum(axis=0)


def _flat(values: FloatArray) -> FloatArray:
    return values.reshape(values.shape[0] * values.shape[1], *values.shape[2:])


def _halfway(human: FloatArray) -> FloatArray:
    """Return the mean of standardised points and standardised ranks, itself standardised."""
    values, codes, counts = np.unique(human, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts + 1) / 2)[codes]
    both = _standard(values[codes]) + _standard(ranks)
    return _standard(both)


def _standard(values: FloatArray) -> FloatArray:
    return np.asarray((values - values.mean()) / values.std())


def _chances(evidence: FloatArray) -> FloatArray:
    chances = np.exp(evidence - evidence.max())
    return np.asarray(chances / chances.sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class Whitening:
    codes: IntArray
    sizes: FloatArray
    parts: FloatArray
    log_determinant: float

    @classmethod
    def of(cls, groups: Labels, share: float) -> Whitening:
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
        one = self._white(np.ones((len(self.codes), 1)))
        white = self._white(columns.reshape(len(columns), -1))
        white = white - one @ (one.T @ white) / np.sum(one**2)
        return white.reshape(columns.shape)

    def _white(self, columns: FloatArray) -> FloatArray:
        sums = np.zeros((len(self.sizes), columns.shape[1]))
        np.add.at(sums, self.codes, columns)
        means = sums / self.sizes[:, None]
        return np.asarray(columns - (self.parts[:, None] * means)[self.codes])

"""Combining the scores of several judges: combiners, fitted and selected by cross-validation."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, Unpack

import dspy
import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.base import RowSettings, check_objective, rows_for
from judgesmith.optimizers.fitting.cross_validation import (
    FEWEST_ROWS,
    FEWEST_SOURCES,
    LIMIT,
    CrossValidatedFit,
    Way,
    no_scores,
)
from judgesmith.optimizers.objectives.grammar import AnyObjective
from judgesmith.optimizers.predictions import FloatArray, Labels
from judgesmith.optimizers.rows import IntArray, Rows, rows_from
from judgesmith.optimizers.space.demonstrations import shown_keys
from judgesmith.optimizers.trials import (
    ENOUGH_SCORED,
    rank_of,
)
from judgesmith.programs.features import FEATURE_NAMES
from judgesmith.programs.judging.judge import Judge, check_judge
from judgesmith.programs.judging.scoring import terms_of
from judgesmith.signatures.config import Aggregation
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.scale import PERCENT, Scale


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


USUAL_AGREEMENT = 0.4  # correlation with people that the model's own score is expected to have,
USUAL_ROWS = 40.0  # as firmly as if this many rated rows had shown it
SHARES = (0.0, 0.02, 0.05, 0.1, 0.3)  # what terms of one kind may explain of what stays unexplained
NOTHING_FIRST = 2.0  # that a kind adds nothing is so many times as probable as each other share
SOURCE_SHARES = (0.0, 0.2, 0.8)  # how far rows of one source may stray together, in the same units


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearFit:
    centers: FloatArray
    spreads: FloatArray
    weights: FloatArray
    intercept: float

    def predict(self, terms: FloatArray) -> FloatArray:
        steps = np.clip((terms - self.centers) / self.spreads, -LIMIT, LIMIT)
        return np.asarray(steps @ self.weights + self.intercept)

    def aggregation(self, names: Sequence[str], scale: Scale) -> Aggregation:
        """Return the sum of the terms that have a weight."""
        used = np.flatnonzero(self.weights)
        return Aggregation(
            kind="linear",
            terms=tuple(names[i] for i in used.tolist()),
            centers=tuple(self.centers[used].tolist()),
            spreads=tuple(self.spreads[used].tolist()),
            weights=tuple(self.weights[used].tolist()),
            limit=LIMIT,
            intercept=self.intercept,
            scale=scale,
        )


def fit_ridge(
    terms: FloatArray, human: FloatArray, *, kinds: Sequence[str], groups: Labels
) -> LinearFit:
    """Return the weights that are to be expected after seeing what people said."""
    centers, spreads, steps = _standardised(terms)
    target = _halfway(human)
    prior_mean, widths, log_prior = _priors(tuple(kinds))
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

    The most terms that are as wide as each other under every prior are eliminated first: once for
    each of their widths, which are few, and not once for each prior.
    """
    x, y = white.centered(steps), white.centered(rest)
    moments, products = x.T @ y, x.T @ x
    alike, others = _alike(widths.tobytes(), widths.shape[1])
    variances, of_prior = np.unique(widths[:, alike[0]] ** 2, return_inverse=True)
    inner = variances[:, None, None] * products[np.ix_(alike, alike)] + np.eye(len(alike))
    sides = np.column_stack([products[np.ix_(alike, others)], moments[alike]])
    solved = variances[:, None, None] * np.linalg.solve(inner, sides[None])
    log_determinants = np.linalg.slogdet(inner)[1]
    explained = solved[:, :, -1] @ moments[alike]

    remaining = np.column_stack([products[np.ix_(others, others)], moments[others]])
    remaining = (remaining - sides[:, :-1].T @ solved)[of_prior]
    wide = widths[:, others]
    inner = wide[:, :, None] * remaining[:, :, :-1] * wide[:, None, :] + np.eye(len(others))
    right = wide * remaining[:, :, -1]
    steady = np.linalg.solve(inner, right[:, :, None])[:, :, 0]
    explained = explained[of_prior] + np.sum(right * steady, axis=1)
    log_determinants = log_determinants[of_prior] + np.linalg.slogdet(inner)[1]

    n = len(y)
    left_over = np.maximum(y @ y - explained, 1e-12 * n)
    evidence = -0.5 * (log_determinants + white.log_determinant + (n - 1) * np.log(left_over))
    weights = np.empty_like(widths)
    weights[:, others] = wide * steady
    solved = solved[of_prior]
    weights[:, alike] = solved[:, :, -1] - np.einsum("pij,pj->pi", solved[:, :, :-1], wide * steady)
    return evidence, weights


@lru_cache(maxsize=64)
def _alike(widths: bytes, n_terms: int) -> tuple[list[int], list[int]]:
    """Return the places of the most terms with the same widths, and those of the others."""
    places: dict[bytes, list[int]] = {}
    for place, column in enumerate(np.frombuffer(widths).reshape(-1, n_terms).T):
        places.setdefault(column.tobytes(), []).append(place)
    most = max(places.values(), key=len)
    return most, [place for others in places.values() if others is not most for place in others]


@lru_cache(maxsize=64)
def _priors(kinds: tuple[str, ...]) -> tuple[FloatArray, FloatArray, FloatArray]:
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


CombinerName = Literal["own", "overall", "mean", "criteria", "lexical"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Combiner(Way):
    rows: Rows
    own: Aggregation | None = None

    @property
    def scale(self) -> Scale:
        if self.own is not None:
            return self.own.scale
        return PERCENT if self.name in ("overall", "mean") else self.rows.scale

    def fitted(self, inside: IntArray) -> Callable[[FloatArray], FloatArray]:
        own, scale = self.own, self.rows.scale
        if own is not None:
            return lambda terms: np.asarray([own.apply(row) for row in terms.tolist()], float)
        if self.name in ("overall", "mean"):
            return lambda terms: np.asarray(terms.mean(axis=1))
        if np.ptp(self.rows.human[inside]) == 0:
            return no_scores
        fit = self.linear(inside)
        return lambda terms: np.clip(fit.predict(terms), scale.low, scale.high)

    def aggregation(self) -> Aggregation:
        if self.own is not None:
            return self.own
        if self.name == "overall" or self.name == "mean":
            return Aggregation(kind=self.name)
        return self.linear(np.arange(len(self.rows))).aggregation(self.names, self.rows.scale)

    @cached_property
    def _fits(self) -> dict[bytes, LinearFit]:
        return {}

    def linear(self, inside: IntArray) -> LinearFit:
        """Return the weighted sum that predicts ratings; of own numbers it is their own."""
        rows = inside.tobytes()
        if rows not in self._fits:  # texts and their versions, and ways between, share a fit
            self._fits[rows] = self._fit(inside)
        return self._fits[rows]

    def _fit(self, inside: IntArray) -> LinearFit:
        own, columns = self.own, self.columns[inside]
        if own is not None:
            return LinearFit(
                centers=np.asarray(own.centers),
                spreads=np.asarray(own.spreads),
                weights=np.asarray(own.weights),
                intercept=own.intercept,
            )
        human, groups = self.rows.human[inside], self.rows.groups[inside]
        if self.name in ("overall", "mean"):
            mean = columns.mean(axis=1, keepdims=True)
            whole = fit_ridge(mean, human, kinds=["overall"], groups=groups)
            n = columns.shape[1]
            return LinearFit(
                centers=np.repeat(whole.centers, n),
                spreads=np.repeat(whole.spreads, n),
                weights=np.repeat(whole.weights / n, n),
                intercept=whole.intercept,
            )
        kinds = [name.partition(":")[0] for name in self.names]
        return fit_ridge(columns, human, kinds=kinds, groups=groups)


@dataclass(frozen=True, kw_only=True, eq=False)
class Between(Way):
    """A weighted sum on the way from one combiner to another."""

    first: Combiner
    taken: Combiner
    amount: float

    @property
    def scale(self) -> Scale:
        return self.first.rows.scale

    def fitted(self, inside: IntArray) -> Callable[[FloatArray], FloatArray]:
        if np.ptp(self.first.rows.human[inside]) == 0:
            return no_scores
        fit, scale = self.linear(inside), self.scale
        return lambda terms: np.clip(fit.predict(terms), scale.low, scale.high)

    def aggregation(self) -> Aggregation:
        return self.linear(np.arange(len(self.columns))).aggregation(self.names, self.scale)

    def linear(self, inside: IntArray) -> LinearFit:
        """Return the sum; a term is limited where the rows' own spread limits it."""
        centers, spreads, _ = _standardised(self.columns[inside])
        spreads = np.where(spreads > 0, spreads, 1.0)
        slopes, level = np.zeros(len(self.names)), 0.0
        for one, share in ((self.first, 1 - self.amount), (self.taken, self.amount)):
            fit = one.linear(inside)
            own = share * fit.weights / fit.spreads
            slopes[[self.names.index(name) for name in one.names]] += own
            level += share * fit.intercept - float(own @ fit.centers)
        return LinearFit(
            centers=centers,
            spreads=spreads,
            weights=slopes * spreads,
            intercept=level + float(slopes @ centers),
        )


def combiners_of(
    rows: Rows, judgements: Sequence[Judgement], *, own: Aggregation | None = None
) -> list[Combiner]:
    asked = judgements[0].criteria
    scored = [n for n in asked if all(_has(one, n) for one in judgements[: len(rows)])]
    criteria = [f"criterion:{name}" for name in scored]
    names = ("overall", *criteria, *(f"lexical:{name}" for name in FEATURE_NAMES))
    found = np.full((len(judgements), len(names)), np.nan)
    for place, (item, judgement) in enumerate(zip(rows.texts, judgements, strict=False)):
        term = terms_of(judgement, item)
        with suppress(ValueError) if place >= len(rows) else nullcontext():  # a version lacks one
            found[place] = [term(name) for name in names]
    changed = None
    if len(judgements) > len(rows):
        changed = np.full((*rows.versioned.shape, len(names)), np.nan)
        changed[rows.versioned] = found[len(rows) :]

    def combiner(
        name: CombinerName, places: Sequence[int], own: Aggregation | None = None
    ) -> Combiner:
        return Combiner(
            name=name,
            rows=rows,
            columns=found[: len(rows), places],
            names=tuple(names[place] for place in places),
            own=own,
            changed=None if changed is None else changed[:, :, places],
        )

    n_asked = 1 + len(criteria)
    combiners = []
    if (
        own is not None
        and own.kind == "linear"
        and (own.scale.low, own.scale.high) == (rows.scale.low, rows.scale.high)
        and set(own.terms) <= set(names)
    ):
        combiners.append(combiner("own", [names.index(name) for name in own.terms], own))
    combiners.append(combiner("overall", [0]))
    if criteria and len(criteria) == len(asked):
        combiners.append(combiner("mean", range(1, n_asked)))
    if criteria:
        combiners.append(combiner("criteria", range(n_asked)))
    return [*combiners, combiner("lexical", range(len(names)))]


def _has(judgement: Judgement, criterion: str) -> bool:
    one = judgement.criteria.get(criterion)
    return one is not None and one.score is not None


class FitAggregation(CrossValidatedFit):
    """Choose and fit how criteria, overall score and lexical features make one score.

    Four combiners compete, simplest first: the model's own overall score; the mean of its criteria;
    learned weights on both; learned weights with lexical features. Learned weights that the student
    has already compete before all others. The score moves from the first combiner towards the one
    with the best cross-validated agreement, as far as its gain is more than error: by
    1 - (standard error / gain)^2, and not at all below 0. Rows that the judge shows as
    demonstrations are left out.

    Parameters
    ----------
    objective : Objective, callable or str
        What the cross-validated predictions are compared by; ``metric`` is DSPy's word for it.
    lexical : bool
        Whether lexical features may enter. Where they may not, what they would add is reported.
    n_folds, n_repeats : int
        Of the cross-validation over sources.
    amount : float or None
        How far the score moves to the best combiner, from 0 to 1; None takes what the
        cross-validation supports.
    **shared
        As for ``JudgeOptimizer``.

    Attributes
    ----------
    trials_ : tuple of TrialRecord
        The combiners that competed, simplest first; set by ``compile``. Empty where there was too
        little to learn from.
    chosen_ : str
        The best one, or the first where the score does not move.
    amount_ : float
        How far the score moved to it, from 0 to 1.
    crossed_ : dict of str to float
        Of labels, what the judge says of each row when its weights are fitted on other sources, as
        a share of its scale, by key; a threshold is selected by it.

    References
    ----------
    Efron and Morris (1973), "Stein's estimation rule and its competitors", for the share of a
    squared gain that is not error; the standard error is that of a jackknife over sources.
    """

    def __init__(
        self,
        objective: AnyObjective = "q",
        *,
        lexical: bool = False,
        n_folds: int = 3,
        n_repeats: int = 10,
        metric: AnyObjective | None = None,
        amount: float | None = None,
        **shared: Unpack[RowSettings],
    ) -> None:
        super().__init__(objective, n_folds=n_folds, n_repeats=n_repeats, metric=metric, **shared)
        if amount is not None and not 0 <= amount <= 1:
            raise InputError(f"amount must be from 0 to 1, or None; got {amount}.")
        self.lexical = lexical
        self.amount = amount

    def compile(
        self,
        student: Judge,
        *,
        trainset: Sequence[dspy.Example],
        teacher: None = None,
        valset: None = None,
    ) -> Judge:
        """Return a copy of ``student`` with the chosen aggregation; takes no teacher or valset."""
        check_judge(student)
        if teacher is not None or valset is not None:
            raise InputError(
                "FitAggregation cross-validates within trainset.", hint="drop teacher, valset."
            )
        protocol = student.protocol
        rows = rows_from(trainset, self.scale).without(shown_keys(protocol.demonstrations))
        if not rows.is_rated:
            raise InputError("these rows have no ratings, and weights are learned from ratings.")
        rows = rows_for(self.objective, rows)
        check_objective(self.objective, rows, criteria=protocol.scored_criteria)
        raw = student.with_protocol(protocol.model_copy(update={"aggregation": Aggregation()}))
        judgements = self.judged(raw, rows)
        aggregation = self.choose(rows, judgements, own=protocol.aggregation)
        return student.with_protocol(protocol.model_copy(update={"aggregation": aggregation}))

    def choose(
        self, rows: Rows, judgements: Sequence[Judgement], *, own: Aggregation | None = None
    ) -> Aggregation:
        """Return the aggregation that raw judgements of rated rows support.

        Parameters
        ----------
        rows, judgements
            Rated rows and what the raw judge says of each; of each text (``rows.texts``), where
            the objective looks at changed versions.
        own : Aggregation or None
            Learned numbers that the judge has already: they compete first of all, and stay where
            there is too little to learn from.
        """
        own = own or Aggregation()
        scored = _places_to_learn_from(judgements[: len(rows)])
        judgements = rows.at(judgements, scored)
        rows = rows.take(scored)
        self.trials_ = ()
        self.crossed_: dict[str, float] = {}
        self.chosen_: str = "own" if own.kind == "linear" else own.kind
        self.amount_ = 0.0
        n_sources = len(np.unique(rows.groups))
        if len(rows) < FEWEST_ROWS or n_sources < FEWEST_SOURCES or np.ptp(rows.human) == 0:
            return own
        combiners = combiners_of(rows, judgements, own=own)
        table = rows.judged(judgements, judge_scale=PERCENT)
        allowed = [one.name for one in combiners if one.name != "lexical" or self.lexical]
        found = self._compared(table, combiners, part=2, allowed=allowed)
        best = max(allowed, key=lambda name: rank_of(found[name].value, 1.0))
        first, taken = combiners[0], next(one for one in combiners if one.name == best)
        if taken is not first:
            supported = amount_supported(*found[first.name].behind(found[best]))
            self.amount_ = supported if self.amount is None else self.amount
        way: Combiner | Between = first
        if self.amount_:
            self.chosen_ = best
            way = taken if self.amount_ == 1 else _between(combiners, taken, self.amount_)
        if rows.scale.is_verdict:
            points = self._folds(table, part=2).left_out(way.predictions)
            keys = (item.key for item in rows.items)
            self.crossed_ = {k: way.scale.fraction(x) for k, x in zip(keys, points, strict=True)}
        return way.aggregation()


def _between(combiners: Sequence[Combiner], taken: Combiner, amount: float) -> Between:
    widest = combiners[-1]  # has the terms of all others
    return Between(
        name=taken.name,
        names=widest.names,
        columns=widest.columns,
        changed=widest.changed,
        first=combiners[0],
        taken=taken,
        amount=amount,
    )


def amount_supported(gain: float, error: float) -> float:
    """Return the share of a squared gain that is more than its standard error explains, 0 to 1."""
    if math.isinf(gain):
        return 1.0  # before, nothing agreed at all
    return round(1 - (error / gain) ** 2, 2) if gain > error else 0.0


def _places_to_learn_from(judgements: Sequence[Judgement]) -> list[int]:
    """Return which judgements have a raw score and one for each criterion that can be weighed."""
    places = [place for place, one in enumerate(judgements) if one.raw is not None]
    n_scored = Counter(name for place in places for name in _scored(judgements[place]))
    weighed = {name for name, n in n_scored.items() if n >= ENOUGH_SCORED * len(places)}
    return [place for place in places if weighed <= _scored(judgements[place])]


def _scored(judgement: Judgement) -> set[str]:
    return {name for name, one in judgement.criteria.items() if one.score is not None}

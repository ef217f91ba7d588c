"""Combining the scores of several judges: combiners, fitted and selected by cross-validation."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Literal, Unpack

import dspy
import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.base import RowSettings, check_objective, rows_for
from judgesmith.optimizers.fitting.cross_validation import (
    FEWEST_ROWS,
    FEWEST_SOURCES,
    LIMIT,
    CrossValidatedAgreement,
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
    ConfirmationResult,
    ImprovementTest,
    TrialRecord,
    check_confirm,
    pseudo_values,
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
        fit = self._fit(inside)
        return lambda terms: np.clip(fit.predict(terms), scale.low, scale.high)

    def aggregation(self) -> Aggregation:
        if self.own is not None:
            return self.own
        if self.name == "overall" or self.name == "mean":
            return Aggregation(kind=self.name)
        fit = self._fit(np.arange(len(self.rows)))
        used = np.flatnonzero(fit.weights)
        return Aggregation(
            kind="linear",
            terms=tuple(self.names[i] for i in used.tolist()),
            centers=tuple(fit.centers[used].tolist()),
            spreads=tuple(fit.spreads[used].tolist()),
            weights=tuple(fit.weights[used].tolist()),
            limit=LIMIT,
            intercept=fit.intercept,
            scale=self.rows.scale,
        )

    def _fit(self, inside: IntArray) -> LinearFit:
        return fit_ridge(
            self.columns[inside],
            self.rows.human[inside],
            kinds=[name.partition(":")[0] for name in self.names],
            groups=self.rows.groups[inside],
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
    has already compete before all others. The simplest one within a standard error of the best, or
    else the best one, replaces the first if it passes (see ``ImprovementTest``), and is fitted on
    all rows. Rows that the judge shows as demonstrations are left out.

    Parameters
    ----------
    objective : Objective, callable or str
        What the cross-validated predictions are compared by; ``metric`` is DSPy's word for it.
    lexical : bool
        Whether lexical features may enter. Where they may not, what they would add is reported.
    n_folds, n_repeats : int
        Of the cross-validation over sources.
    confirm : ImprovementTest or None
        By what rule another combiner replaces the first, whose cross-validated gain is tested; None
        takes the simplest one within a standard error of the best.
    **shared
        As for ``JudgeOptimizer``.

    Attributes
    ----------
    trials_ : tuple of TrialRecord
        The combiners that competed, simplest first; set by ``compile``. Empty where there was too
        little to learn from.
    chosen_ : str
        The one taken.
    confirmation_ : ConfirmationResult or None
        Of the best combiner; its number is its place in ``trials_``. None where no other is better
        than the first, or without a rule.
    crossed_ : dict of str to float
        Of labels, what the one taken says of each row when it is fitted on other sources, as a
        share of its scale, by key; a threshold is selected by it.

    References
    ----------
    Breiman et al. (1984), "Classification and Regression Trees", section 3.4.3, for the rule of
    one standard error; here it is the error of the distance to the best, as combiners share rows.
    """

    def __init__(
        self,
        objective: AnyObjective = "q",
        *,
        lexical: bool = False,
        n_folds: int = 3,
        n_repeats: int = 10,
        metric: AnyObjective | None = None,
        confirm: ImprovementTest | None = ImprovementTest(),  # noqa: B008 - a frozen record
        **shared: Unpack[RowSettings],
    ) -> None:
        super().__init__(objective, n_folds=n_folds, n_repeats=n_repeats, metric=metric, **shared)
        check_confirm(confirm)
        self.lexical = lexical
        self.confirm = confirm

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
        self.confirmation_: ConfirmationResult | None = None
        self.crossed_: dict[str, float] = {}
        self.chosen_: str = "own" if own.kind == "linear" else own.kind
        n_sources = len(np.unique(rows.groups))
        if len(rows) < FEWEST_ROWS or n_sources < FEWEST_SOURCES or np.ptp(rows.human) == 0:
            return own
        combiners = combiners_of(rows, judgements, own=own)
        table = rows.judged(judgements, judge_scale=PERCENT)
        allowed = [one.name for one in combiners if one.name != "lexical" or self.lexical]
        found = self._compared(table, combiners, part=2, allowed=allowed)
        self.chosen_ = simplest_within_an_error(self.trials_)
        if self.confirm is not None:
            self.chosen_ = self._confirmed(self.confirm, found, n_rows=len(rows))
        taken = next(one for one in combiners if one.name == self.chosen_)
        if rows.scale.is_verdict:
            points = self._folds(table, part=2).left_out(taken.predictions)
            keys = (item.key for item in rows.items)
            self.crossed_ = {k: taken.scale.fraction(x) for k, x in zip(keys, points, strict=True)}
        return taken.aggregation()

    def _confirmed(
        self, rule: ImprovementTest, crossed: Mapping[str, CrossValidatedAgreement], *, n_rows: int
    ) -> str:
        """Return the simplest combiner within an error of the best, or the best, if it passes."""
        trials = self.trials_
        first = crossed[trials[0].name]
        others = [n for n, trial in enumerate(trials) if n and trial.allowed]
        ranks = {n: rank_of(trials[n].value, 1.0) for n in (0, *others)}
        preferred = next(n for n, trial in enumerate(trials) if trial.name == self.chosen_)
        ranks[preferred] = (True, math.inf)
        shares, values = {}, {}
        for n in others:
            own = crossed[trials[n].name]
            moved = own.without - first.without
            shares[n] = pseudo_values(own.value - first.value, moved)
            values[n] = own.value, first.value
        taken = self.confirmation_ = rule.decided(
            shares,
            ranks,
            values,
            dict.fromkeys(others, n_rows),
            rng=np.random.default_rng([self.seed, 6]),
        )
        return trials[taken.number if taken is not None and taken.passed else 0].name


def _places_to_learn_from(judgements: Sequence[Judgement]) -> list[int]:
    """Return which judgements have a raw score and one for each criterion that can be weighed."""
    places = [place for place, one in enumerate(judgements) if one.raw is not None]
    n_scored = Counter(name for place in places for name in _scored(judgements[place]))
    weighed = {name for name, n in n_scored.items() if n >= ENOUGH_SCORED * len(places)}
    return [place for place in places if weighed <= _scored(judgements[place])]


def _scored(judgement: Judgement) -> set[str]:
    return {name for name, one in judgement.criteria.items() if one.score is not None}


def simplest_within_an_error(trials: Sequence[TrialRecord]) -> str:
    """Return the first allowed combiner that is no more than a standard error behind the best."""
    near = (
        one.name
        for one in trials
        if one.allowed and not math.isnan(one.value) and not one.behind > one.standard_error
    )
    return next(near, trials[0].name)

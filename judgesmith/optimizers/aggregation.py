"""Learning how a judge's numbers become its score: the simplest way that the data supports."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy
import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.crossing import CrossedAgreement, Halves
from judgesmith.optimizers.demonstrations import ENOUGH_SCORED, rank_of
from judgesmith.optimizers.drawing import shown_keys
from judgesmith.optimizers.family_test import (
    Confirm,
    Confirmation,
    check_confirm,
    pseudo_values,
)
from judgesmith.optimizers.judge_optimizer import JudgeOptimizer
from judgesmith.optimizers.judge_search import check_objective, rows_for
from judgesmith.optimizers.objectives import AnyObjective, as_objective
from judgesmith.optimizers.rated_examples import rows_of
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.ways import Way, WayName, ways_of
from judgesmith.programs.judging.judge import Judge, check_judge
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.signatures.config import Aggregation
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.scale import PERCENT, Scale

FEWEST_ROWS = 20
FEWEST_SOURCES = 5
"""With fewer scored rows or sources nothing is learned: what the judge has stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregationTrial:
    """One way to aggregate and how well it predicts people it was not fitted on.

    Attributes
    ----------
    name : {"own", "overall", "mean", "criteria", "lexical"}
        See ``FitAggregation``.
    value : float
        Cross-validated objective, nan where undefined.
    behind : float
        How far it lies behind the best way that is allowed.
    standard_error : float
        Of that distance, by a jackknife over sources.
    allowed : bool
        False for a way that is only reported.
    """

    name: WayName
    value: float
    behind: float
    standard_error: float
    allowed: bool


class FitAggregation(JudgeOptimizer):
    """Choose and fit how criteria, overall score and lexical features make one score.

    Four ways compete, simplest first: the model's own overall score; the mean of its criteria;
    learned weights on both; learned weights with lexical features. Where the student has learned
    weights already, they compete before all others, as they are. Each is scored by
    cross-validation over sources. The simplest one within a standard error of the best, or else
    the best one, replaces the first if it passes (see ``Confirm``), and is fitted on all rows.
    Rows that the judge shows as demonstrations are left out.

    Parameters
    ----------
    objective : Objective, callable or str
        What the cross-validated predictions are compared by.
    lexical : bool
        Whether lexical features may enter. Where they may not, what they would add is reported.
    n_folds, n_repeats : int
        Of the cross-validation over sources. Of thirds, a fit sees two of three rows, and ways
        are compared on parts that are not too small; ten repeats average out how they are drawn.
    seed : int
        Of the folds.
    scale, lm, concurrency, progress
        As for ``JudgeOptimizer``.
    confirm : Confirm or None
        By what rule another way replaces the first, whose cross-validated gain is tested; None
        takes the simplest one within a standard error of the best.

    Attributes
    ----------
    trials_ : tuple of AggregationTrial
        The ways that competed, simplest first; set by ``compile``. Empty where there was too
        little to learn from.
    chosen_ : str
        The one taken.
    confirmation_ : Confirmation or None
        Of the best way; its number is its place in ``trials_``. None where none is better than the
        first, or without a rule.

    References
    ----------
    Breiman et al. (1984), "Classification and Regression Trees", section 3.4.3, for the rule of
    one standard error; here it is the error of the distance to the best, as ways share rows.
    """

    def __init__(
        self,
        objective: AnyObjective = "q",
        *,
        lexical: bool = False,
        n_folds: int = 3,
        n_repeats: int = 10,
        seed: int = 0,
        scale: Scale | None = None,
        lm: dspy.LM | None = None,
        concurrency: int = CONCURRENCY,
        progress: Callable[[int], None] | None = None,
        metric: Callable[..., Any] | None = None,
        confirm: Confirm | None = Confirm(),  # noqa: B008 - a frozen record
    ) -> None:
        super().__init__(seed=seed, scale=scale, lm=lm, concurrency=concurrency, progress=progress)
        check_confirm(confirm)
        if n_folds < 2 or n_repeats < 1:
            raise InputError(f"need 2 folds and 1 repeat or more; got {n_folds} and {n_repeats}.")
        self.objective = as_objective(objective, metric)
        self.lexical = lexical
        self.n_folds = n_folds
        self.n_repeats = n_repeats
        self.confirm = confirm

    def compile(
        self,
        student: Judge,
        *,
        trainset: Sequence[dspy.Example],
        teacher: dspy.Module | None = None,
        valset: Sequence[dspy.Example] | None = None,
    ) -> Judge:
        """Return a copy of ``student`` with the chosen aggregation; it is left as it was.

        Raises
        ------
        ValueError
            If there is a teacher or a valset: this optimizer validates within ``trainset``.
        """
        check_judge(student)
        if teacher is not None or valset is not None:
            raise InputError(
                "FitAggregation cross-validates within trainset; drop teacher, valset."
            )
        protocol = student.protocol
        rows = rows_of(trainset, self.scale).without(shown_keys(protocol.demonstrations))
        if not rows.is_rated:
            raise InputError("nobody rated these rows, and weights are learned from ratings.")
        rows = rows_for(self.objective, rows)
        check_objective(self.objective, rows, criteria=protocol.scored_criteria)
        raw = student.with_protocol(protocol.model_copy(update={"aggregation": Aggregation()}))
        judgements = self.judged(raw, rows)
        aggregation = self.choose(rows, judgements, own=protocol.aggregation)
        return student.with_protocol(protocol.model_copy(update={"aggregation": aggregation}))

    def choose(
        self,
        rows: Rows,
        judgements: Sequence[Judgement],
        *,
        own: Aggregation | None = None,
    ) -> Aggregation:
        """Return the aggregation that raw judgements of rated rows support.

        Parameters
        ----------
        rows, judgements
            Rated rows and what the raw judge says of them, one judgement per row; or per text
            (``rows.texts``), where the objective looks at changed versions.
        own : Aggregation or None
            Learned numbers that the judge has already: they compete first of all, and stay where
            there is too little to learn from. They may have been learned from some of the same
            rows, which flatters them.
        """
        own = own or Aggregation()
        scored = _places_to_learn_from(judgements[: len(rows)])
        judgements = rows.at(judgements, scored)
        rows = rows.take(scored)
        self.trials_: tuple[AggregationTrial, ...] = ()
        self.confirmation_: Confirmation | None = None
        self.chosen_: WayName = "own" if own.kind == "linear" else own.kind
        n_sources = len(np.unique(rows.groups))
        if len(rows) < FEWEST_ROWS or n_sources < FEWEST_SOURCES or np.ptp(rows.human) == 0:
            return own
        ways = ways_of(rows, judgements, own=own)
        self.trials_ = self._compared(rows, judgements, ways)
        return next(way for way in ways if way.name == self.chosen_).aggregation()

    def _compared(
        self, rows: Rows, judgements: Sequence[Judgement], ways: Sequence[Way]
    ) -> tuple[AggregationTrial, ...]:
        halves = Halves.of(
            rows.judged(judgements, judge_scale=PERCENT),
            n_folds=self.n_folds,
            n_repeats=self.n_repeats,
            rng=np.random.default_rng([self.seed, 2]),
        )
        found = {
            way.name: halves.agreement(
                way.predictions,
                self.objective,
                judge_scale=way.scale,
                of_versions=None if way.changed is None else way.predictions_of_versions,
            )
            for way in ways
        }
        allowed = [way.name for way in ways if way.name != "lexical" or self.lexical]
        best = max(allowed, key=lambda name: -math.inf if math.isnan(v := found[name].value) else v)
        trials = []
        for name, crossed in found.items():
            behind, error = crossed.behind(found[best])
            trials.append(
                AggregationTrial(
                    name=name,
                    value=crossed.value,
                    behind=behind,
                    standard_error=error,
                    allowed=name in allowed,
                )
            )
        self.chosen_ = simplest_within_an_error(trials)
        if self.confirm is not None:
            self.chosen_ = self._confirmed(self.confirm, trials, found, n_rows=len(rows))
        return tuple(trials)

    def _confirmed(
        self,
        rule: Confirm,
        trials: Sequence[AggregationTrial],
        crossed: Mapping[WayName, CrossedAgreement],
        *,
        n_rows: int,
    ) -> WayName:
        """Return the simplest way within an error of the best, or the best, if it passes."""
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
        self.confirmation_ = rule.decided(
            shares,
            ranks,
            values,
            dict.fromkeys(others, n_rows),
            rng=np.random.default_rng([self.seed, 6]),
        )
        taken = self.confirmation_
        return trials[taken.number if taken is not None and taken.passed else 0].name


def _places_to_learn_from(judgements: Sequence[Judgement]) -> list[int]:
    """Return which judgements have a raw score and one for each criterion that can be weighed.

    A criterion that is often without a score is none of those: weighing it would leave the judge
    itself without one.
    """
    places = [place for place, one in enumerate(judgements) if one.raw is not None]
    n_scored = Counter(name for place in places for name in _scored(judgements[place]))
    weighed = {name for name, n in n_scored.items() if n >= ENOUGH_SCORED * len(places)}
    return [place for place in places if weighed <= _scored(judgements[place])]


def _scored(judgement: Judgement) -> set[str]:
    return {name for name, one in judgement.criteria.items() if one.score is not None}


def simplest_within_an_error(trials: Sequence[AggregationTrial]) -> WayName:
    """Return the first allowed way that is no more than a standard error behind the best.

    A way whose value is undefined is never taken, unless all are: then the first. A distance
    whose error is undefined counts as within.
    """
    for trial in trials:
        if trial.allowed and not math.isnan(trial.value):
            beyond = trial.behind > trial.standard_error
            if not beyond:
                return trial.name
    return trials[0].name

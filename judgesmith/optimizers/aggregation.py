"""Learning how a judge's numbers become its score: the simplest way that the data supports."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import dspy
import numpy as np
from dspy.teleprompt import Teleprompter

from judgesmith.metrics import paired_interval
from judgesmith.optimizers.objectives import Agreement
from judgesmith.optimizers.ridge import LinearFit, fit_by_folds
from judgesmith.optimizers.rows import Rows, rows_of
from judgesmith.optimizers.splitting import folds_by_source
from judgesmith.optimizers.table import FloatArray, JudgedTable
from judgesmith.programs.aggregating import terms_of
from judgesmith.programs.features import FEATURE_NAMES
from judgesmith.programs.judge import Judge
from judgesmith.programs.running import CONCURRENCY, judge_items
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.protocol import Aggregation
from judgesmith.signatures.scale import Scale

FEWEST_ROWS = 10
FEWEST_SOURCES = 5
"""With fewer scored rows or sources nothing is learned: the model's own score stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregationTrial:
    """One way to aggregate and how well it predicts people it was not fitted on.

    Attributes
    ----------
    name : str
        ``overall``, ``mean``, ``criteria`` or ``lexical``.
    value : float
        Cross-validated objective, nan where undefined.
    behind : float
        How far it lies behind the best one.
    standard_error : float
        Of that distance, from resampled sources.
    allowed : bool
        False for a way that is only reported.
    """

    name: str
    value: float
    behind: float
    standard_error: float
    allowed: bool


class FitAggregation(Teleprompter):
    """Choose and fit how criteria, overall score and lexical features make one score.

    Four ways compete, simplest first: the model's own overall score; the mean of its criteria;
    learned weights on both; learned weights with lexical features. Each is scored by
    cross-validation over sources, and the simplest one within a standard error of the best is
    taken, fitted on all rows. Rows that the judge shows as demonstrations are left out.

    Parameters
    ----------
    objective : Agreement
        What the cross-validated predictions are compared by.
    lexical : bool
        Whether lexical features may enter. Where they may not, what they would add is reported.
    n_folds, n_repeats : int
        Of the cross-validation over sources.
    seed : int
        Of folds and resampling.
    scale, lm, concurrency, progress
        As in ``RandomDemonstrationSearch``.

    Attributes
    ----------
    trials_ : tuple of AggregationTrial
        The ways that competed, simplest first; set by ``compile``.
    chosen_ : str
        The one taken.
    """

    def __init__(
        self,
        objective: Agreement | None = None,
        *,
        lexical: bool = False,
        n_folds: int = 5,
        n_repeats: int = 3,
        seed: int = 0,
        scale: Scale | None = None,
        lm: dspy.LM | None = None,
        concurrency: int = CONCURRENCY,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__()
        if n_folds < 2 or n_repeats < 1:
            raise ValueError(f"need 2 folds and 1 repeat or more; got {n_folds} and {n_repeats}.")
        self.objective = objective or Agreement("q")
        self.lexical = lexical
        self.n_folds = n_folds
        self.n_repeats = n_repeats
        self.seed = seed
        self.scale = scale
        self.lm = lm
        self.concurrency = concurrency
        self.progress = progress

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
        if teacher is not None or valset is not None:
            raise ValueError(
                "FitAggregation cross-validates within trainset; drop teacher, valset."
            )
        protocol = student.protocol
        shown = [one.key for several in protocol.demonstrations.values() for one in several]
        rows = rows_of(trainset, self.scale).without(shown)
        raw = student.with_protocol(protocol.model_copy(update={"aggregation": Aggregation()}))
        judgements = judge_items(
            raw, rows.items, lm=self.lm, concurrency=self.concurrency, progress=self.progress
        )
        aggregation = self.choose(rows, judgements)
        return student.with_protocol(protocol.model_copy(update={"aggregation": aggregation}))

    def choose(self, rows: Rows, judgements: Sequence[Judgement]) -> Aggregation:
        """Return the aggregation that raw judgements of rated rows support."""
        scored = [place for place, one in enumerate(judgements) if one.raw is not None]
        rows, judgements = rows.take(scored), [judgements[place] for place in scored]
        self.trials_: tuple[AggregationTrial, ...] = ()
        self.chosen_ = "overall"
        n_groups = len(np.unique(rows.groups))
        if len(rows) < FEWEST_ROWS or n_groups < FEWEST_SOURCES or np.ptp(rows.human) == 0:
            return Aggregation()
        ways = self._ways(rows, judgements)
        predictions = {way.name: way.left_out(self._folds(rows)) for way in ways}
        values = {name: self._value(rows, one) for name, one in predictions.items()}
        allowed = [way.name for way in ways if way.allowed and not math.isnan(values[way.name])]
        if not allowed:
            return Aggregation()
        best = max(allowed, key=lambda name: values[name])
        trials = []
        for way in ways:
            behind, error = self._distance(rows, predictions[best], predictions[way.name])
            trials.append(
                AggregationTrial(
                    name=way.name,
                    value=values[way.name],
                    behind=behind,
                    standard_error=error,
                    allowed=way.allowed,
                )
            )
        self.trials_ = tuple(trials)
        self.chosen_ = next(
            one.name
            for one in trials
            if one.name in allowed and (one.name == best or one.behind <= one.standard_error)
        )
        chosen = next(way for way in ways if way.name == self.chosen_)
        return chosen.aggregation(self._folds(rows)[0])

    def _ways(self, rows: Rows, judgements: Sequence[Judgement]) -> list[_Way]:
        criteria = [f"criterion:{name}" for name in judgements[0].criteria]
        lexical = [f"lexical:{name}" for name in FEATURE_NAMES]
        names = ["overall", *criteria, *lexical]
        terms = np.asarray(
            [
                [term(name) for name in names]
                for item, one in zip(rows.items, judgements, strict=True)
                for term in [terms_of(one, item.source, item.context, item.response)]
            ]
        )
        n_criteria = 1 + len(criteria)
        ways = [_Way("overall", True, rows, terms[:, :1], names[:1])]
        if criteria:
            ways.append(_Way("mean", True, rows, terms[:, 1:n_criteria], names[1:n_criteria]))
            ways.append(_Way("criteria", True, rows, terms[:, :n_criteria], names[:n_criteria]))
        ways.append(_Way("lexical", self.lexical, rows, terms, names))
        return ways

    def _folds(self, rows: Rows) -> list[np.ndarray]:
        rng = np.random.default_rng([self.seed, 2])
        k = min(self.n_folds, len(np.unique(rows.groups)))
        return [folds_by_source(rows.groups, k, rng=rng) for _ in range(self.n_repeats)]

    def _value(self, rows: Rows, predictions: FloatArray) -> float:
        values = [self.objective.value(self._table(rows, one)) for one in predictions]
        return float(np.mean(values))

    def _distance(self, rows: Rows, best: FloatArray, other: FloatArray) -> tuple[float, float]:
        """Return how far ``other`` lies behind and the standard error of that distance."""
        found = paired_interval(
            best.mean(axis=0),
            other.mean(axis=0),
            rows.human,
            sources=rows.groups,
            systems=rows.systems,
            statistic=self.objective.statistic,
            level=self.objective.level,
            rng=np.random.default_rng([self.seed, 3]),
            n_resamples=400,
            confidence=ONE_STANDARD_ERROR,
        )
        return found.value, (found.high - found.low) / 2

    def _table(self, rows: Rows, predicted: FloatArray) -> JudgedTable:
        return JudgedTable(
            predicted=predicted, human=rows.human, sources=rows.groups, systems=rows.systems
        )


ONE_STANDARD_ERROR = math.erf(1 / math.sqrt(2))
"""Confidence of an interval that reaches one standard error to either side."""


@dataclass(frozen=True, eq=False)
class _Way:
    """One way to aggregate: its terms, and how it predicts rows it was not fitted on."""

    name: str
    allowed: bool
    rows: Rows
    terms: FloatArray
    names: Sequence[str]

    @property
    def learned(self) -> bool:
        return self.name in ("criteria", "lexical")

    @property
    def free(self) -> FloatArray:
        return np.asarray([name == "overall" for name in self.names])

    def left_out(self, repeats: Sequence[np.ndarray]) -> FloatArray:
        """Return predictions of rows by fits without them, shape (n_repeats, n)."""
        if not self.learned:
            plain = self.terms.mean(axis=1)
            return np.tile(plain, (len(repeats), 1))
        return np.asarray([self._left_out(folds) for folds in repeats])

    def _left_out(self, folds: np.ndarray) -> FloatArray:
        predicted = np.full(len(folds), np.nan)
        for fold in np.unique(folds):
            inside, outside = folds != fold, folds == fold
            fit = self._fit(inside, folds[inside])
            predicted[outside] = fit.predict(self.terms[outside])
        return predicted

    def _fit(self, inside: np.ndarray, folds: np.ndarray) -> LinearFit:
        return fit_by_folds(
            self.terms[inside], self.rows.human[inside], free=self.free, folds=folds
        )

    def aggregation(self, folds: np.ndarray) -> Aggregation:
        """Return the aggregation fitted on all rows."""
        if not self.learned:
            return Aggregation(kind="overall" if self.name == "overall" else "mean")
        fit = self._fit(np.ones(len(folds), dtype=bool), folds)
        used = np.flatnonzero(fit.weights).tolist()
        return Aggregation(
            kind="linear",
            terms=tuple(self.names[i] for i in used),
            centers=tuple(float(fit.centers[i]) for i in used),
            spreads=tuple(float(fit.spreads[i]) for i in used),
            weights=tuple(float(fit.weights[i]) for i in used),
            intercept=fit.intercept,
            scale=self.rows.scale,
        )

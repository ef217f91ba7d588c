"""Learning what a judge's scores are worth on the scale of people, and when to leave it to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, Unpack

import dspy
import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics import isotonic_map
from judgesmith.metrics.calibration import (
    ScoreMap,
    affine_map,
    certified_threshold,
    conformal_margin,
    cross_calibrated,
)
from judgesmith.optimizers.base import JudgeOptimizer, RowSettings
from judgesmith.optimizers.fitting.cross_validation import FEWEST_ROWS
from judgesmith.optimizers.predictions import FloatArray
from judgesmith.optimizers.rows import Rows, rows_from, split_by_source
from judgesmith.optimizers.space.demonstrations import shown_keys
from judgesmith.programs.families.ensemble.judges import (
    AnyJudge,
    Calibrated,
    CompositeJudge,
    leaves_of,
)
from judgesmith.programs.families.ensemble.members import calibrated, doubt_of
from judgesmith.programs.judging.judge import check_judge
from judgesmith.signatures.aggregation import Abstention, Calibration, Doubt
from judgesmith.signatures.judgement import Judgement

Shape = Literal["line", "curve", "auto"]

FEWEST_FOR_CURVE = 100  # with fewer rows a monotone curve follows chance, and a line is taken

N_FOLDS = 5

N_LIMITS = 5  # limits of doubt that are tried: few are tested more sharply, and rated rows are few


class Calibrator(JudgeOptimizer):
    """Put a judge on the scale of people, with intervals that hold as often as they claim.

    Learned on sources that nothing in the judge was learned from: a monotone way from its scores
    to people's, on one part of the sources; on the other part, how far people lie from where it
    leads (split conformal); and, if ``within`` is given, below which doubt a score may be kept.
    The promises of interval and abstention are made apart.

    Parameters
    ----------
    shape : {"line", "curve", "auto"}
        Of the way: a line, which changes no order; a curve, which makes ties; or the curve where
        there are 100 rows and, across folds, it comes closer to people.
    confidence : float
        Least chance that the interval of a text of a new source holds what people say.
    within : float or None
        Largest mean distance from people, in points, that kept scores may have; None keeps all.
    certainty : float
        Least chance, over the rows at hand, that ``within`` holds for texts of new sources.
    doubt : {"members", "criteria"} or None
        What tells how unsure the judge is; None is the members where there are any, else the
        criteria.
    share : float
        Of sources that the way is learned on, where no valset is given.
    **shared
        As for ``JudgeOptimizer``.

    Attributes
    ----------
    calibration_ : Calibration
        Set by ``compile``; the judge it returns has the same.

    References
    ----------
    See ``judgesmith.metrics.calibration.conformal_margin`` and ``certified_threshold``.
    """

    def __init__(
        self,
        *,
        shape: Shape = "auto",
        confidence: float = 0.9,
        within: float | None = None,
        certainty: float = 0.9,
        doubt: Doubt | None = None,
        share: float = 0.5,
        **shared: Unpack[RowSettings],
    ) -> None:
        super().__init__(**shared)
        for name, given in (("confidence", confidence), ("certainty", certainty), ("share", share)):
            if not 0 < given < 1:
                raise InputError(f"{name} must be between 0 and 1; got {given}.")
        if within is not None and not within > 0:
            raise InputError(f"within must be above 0 points; got {within}.")
        if shape not in ("line", "curve", "auto"):
            raise InputError(f"shape must be line, curve or auto; got {shape!r}.")
        self.shape = shape
        self.confidence = confidence
        self.within = within
        self.certainty = certainty
        self.doubt = doubt
        self.share = share

    def compile(
        self,
        student: AnyJudge,
        *,
        trainset: Sequence[dspy.Example],
        teacher: None = None,
        valset: Sequence[dspy.Example] | None = None,
    ) -> Calibrated:
        """Return ``student`` calibrated; it is unchanged.

        Parameters
        ----------
        student : judge
            Any judge. Its own calibration, if it has one, is learned anew.
        trainset, valset : sequence of dspy.Example
            Rated rows that nothing in the judge was learned from. With a valset, which must share
            no source with the trainset, the way is learned on the trainset and the promises on
            the valset; else sources are divided.
        """
        if not isinstance(student, CompositeJudge):
            check_judge(student)
        if teacher is not None:
            raise InputError("Calibrator learns from rated rows only.", hint="drop teacher.")
        judge = student.judge if isinstance(student, Calibrated) else student
        shown = {key for one in leaves_of(judge) for key in shown_keys(one.protocol.demonstrations)}
        rows = [rows_from(one, self.scale).without(shown) for one in (trainset, valset) if one]
        if len(rows) == 2:
            shared = set(rows[0].groups.tolist()) & set(rows[1].groups.tolist())
            if shared:
                raise InputError(
                    f"trainset and valset share {len(shared)} sources, such as "
                    f"{min(shared)!r}: intervals would promise too much. Divide by source."
                )
            first, second = rows
        elif rows:
            first, second = self.parts(rows[0])
        else:
            raise InputError("no rated items to learn from.", hint="give a non-empty trainset.")
        said = [self.judged(judge, one) for one in (first, second)]
        self.calibration_ = self.learned(first, said[0], second, said[1])
        return Calibrated(judge.deepcopy(), self.calibration_)

    def learned(
        self,
        first: Rows,
        first_said: Sequence[Judgement],
        second: Rows,
        second_said: Sequence[Judgement],
    ) -> Calibration:
        """Return the calibration: the way of the first rows, interval and abstention of others."""
        x, corners = self._way(first, first_said)
        plain = Calibration(
            thresholds=corners[0],
            values=corners[1],
            scale=first.scale,
            confidence=self.confidence,
            n_map=int(np.isfinite(x).sum()),
            n_sources_map=len(np.unique(first.groups[np.isfinite(x)])),
            n_margin=0,
            n_sources_margin=0,
        )
        points = np.asarray([calibrated(one, plain).score for one in second_said], float)
        found = conformal_margin(
            second.human, points, sources=second.groups, confidence=self.confidence
        )
        update = {
            "margin": None if math.isinf(found.margin) else found.margin,
            "n_margin": found.n,
            "n_sources_margin": found.n_groups,
            "abstention": self._abstention(second, second_said, points),
        }
        return plain.model_copy(update=update)

    def parts(self, rows: Rows) -> tuple[Rows, Rows]:
        parts = split_by_source(
            rows.groups,
            rows.human,
            holdout=1 - self.share,
            rng=np.random.default_rng([self.seed, 4]),
        )
        return rows.take(parts.tuning), rows.take(parts.heldout)

    def _way(
        self, rows: Rows, said: Sequence[Judgement]
    ) -> tuple[FloatArray, tuple[tuple[float, ...], tuple[float, ...]]]:
        x = np.asarray([one.score for one in said], float)
        scored = np.isfinite(x)
        n = int(scored.sum())
        if n < FEWEST_ROWS or np.ptp(x[scored]) == 0:
            what = "all have the same score" if n >= FEWEST_ROWS else "fewer have a score"
            raise InputError(
                f"calibration to the raters' scale needs {FEWEST_ROWS} scored rows that differ; of "
                f"{len(rows)} rows {what}.",
                hint="give more rated rows.",
            )
        x_scored, y = x[scored], rows.human[scored]
        ends = (rows.scale.low, rows.scale.high)
        line = partial(affine_map, bounds=ends)
        if self._curve_is_closer(x_scored, y, rows.groups[scored], line):
            curve = isotonic_map(y, x_scored)
            return x, (curve.thresholds, curve.values)
        fit = affine_map(y, x_scored)
        low, high = float(x_scored.min()), float(x_scored.max())
        if fit.slope <= 0:
            # A judge that orders texts the wrong way round says nothing: its mean does.
            return x, ((low,), (float(y.mean()),))
        # Beyond the scores seen the line goes on, up to the ends of people's scale.
        low = min(low, (ends[0] - fit.intercept) / fit.slope)
        high = max(high, (ends[1] - fit.intercept) / fit.slope)
        return x, ((low, high), tuple(fit.slope * at + fit.intercept for at in (low, high)))

    def _curve_is_closer(
        self,
        x: FloatArray,
        y: FloatArray,
        groups: np.ndarray,
        line: Callable[[FloatArray, FloatArray], ScoreMap],
    ) -> bool:
        n_folds = min(N_FOLDS, len(np.unique(groups)))
        if self.shape != "auto" or len(x) < FEWEST_FOR_CURVE or n_folds < 2:
            return self.shape == "curve"
        errors = []
        for fit in (line, isotonic_map):
            rng = np.random.default_rng([self.seed, 5])
            try:
                found = cross_calibrated(y, x, fit=fit, sources=groups, n_folds=n_folds, seed=rng)
            except ValueError:  # a part whose scores are all the same has no line
                return False
            errors.append(float(np.mean((found - y) ** 2)))
        return errors[1] < errors[0]

    def _abstention(
        self, rows: Rows, said: Sequence[Judgement], points: FloatArray
    ) -> Abstention | None:
        if self.within is None:
            return None
        largest = rows.scale.high - rows.scale.low
        kind, doubts = self._doubts(said)
        found = certified_threshold(
            np.abs(points - rows.human),
            certainty=-np.asarray(doubts, float),
            max_risk=self.within,
            largest_loss=largest,
            sources=rows.groups,
            n_candidates=N_LIMITS,
            seed=np.random.default_rng([self.seed, 6]),
            confidence=self.certainty,
        )
        keeps: Literal["all", "below", "none"] = "below"
        if math.isinf(found.threshold):
            keeps = "all" if found.threshold < 0 else "none"
        return Abstention(
            doubt=kind,
            keeps=keeps,
            limit=-found.threshold if keeps == "below" else None,
            wished=self.within,
            risk=None if math.isnan(found.risk) else found.risk,
            coverage=found.coverage,
            confidence=self.certainty,
            n=found.n,
            n_sources=found.n_groups,
        )

    def _doubts(self, said: Sequence[Judgement]) -> tuple[Doubt, list[float | None]]:
        """Return what tells how unsure the judge is, and what it tells of each judgement."""
        kinds: tuple[Doubt, ...] = (self.doubt,) if self.doubt else ("members", "criteria")
        for kind in kinds:
            doubts = [doubt_of(one, kind) for one in said]
            if any(one is not None for one in doubts):
                return kind, doubts
        raise InputError(
            "within needs something that tells how unsure the judge is; none of its "
            f"{len(said)} judgements has two {' or two '.join(kinds)} with a score.",
            hint="leave within "
            "out, or calibrate a panel of two members, or a judge that scores criteria.",
        )

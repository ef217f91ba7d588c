"""Learning how much each judge of a panel counts, and whether a panel is worth having at all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy
import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.aggregation import FEWEST_ROWS, FEWEST_SOURCES
from judgesmith.optimizers.crossing import Halves
from judgesmith.optimizers.drawing import shown_keys
from judgesmith.optimizers.judge_optimizer import JudgeOptimizer
from judgesmith.optimizers.judge_search import check_objective, rows_for
from judgesmith.optimizers.objectives import AnyObjective, as_objective
from judgesmith.optimizers.panel_ways import (
    PanelName,
    PanelWay,
    columns_of,
    columns_of_versions,
    unpredicted,
)
from judgesmith.optimizers.rated_examples import rows_of
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.several_objectives import atoms_of, is_effort
from judgesmith.optimizers.table import JudgedTable
from judgesmith.programs.families.ensemble.judges import Panel, leaves_of, scale_of
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.signatures.aggregation import PanelWeights
from judgesmith.signatures.scale import Scale

FEWEST_SCORED = 0.8
"""A member with a score on a smaller share of rows is not weighed: the rest may be easy ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelTrial:
    """One way to weigh the members, and how well it predicts people it was not fitted on.

    Attributes
    ----------
    name : {"own", "single", "equal", "greedy"}
        See ``PanelSelection``.
    value : float
        Cross-fitted objective, nan where undefined.
    optimism : float
        How much larger the objective is on the rows that weights were fitted on, on average;
        0 for weights that nothing was fitted for.
    behind, standard_error : float
        How far ``value`` lies behind the best one, and the error of that distance by a jackknife
        over sources.
    n_members : int
        Members asked, where the way is fitted on all rows.
    """

    name: PanelName
    value: float
    optimism: float
    behind: float
    standard_error: float
    n_members: int


class PanelSelection(JudgeOptimizer):
    """Learn the weights of a ``Panel`` by greedy ensemble selection.

    The student is the panel and what is compiled are its weights: an optimizer takes one program
    and returns a better copy, and a panel is one. Four ways compete: the student's own weights;
    the best single member; equal weights of standardised scores; and greedy selection with
    replacement. Each is fitted on half of the sources and valued on the other half, over and
    over, so that choosing among many members does not flatter itself; the way of the largest
    value, of equals the one with fewer members, is fitted on all rows. A panel that does not beat
    its best member comes back with that member alone.

    Parameters
    ----------
    objective : Objective, callable or str
        What is made as large as it can be, on whole lists of scores: nothing of calls or dollars.
        One of discernment alone, such as ``d_avg``, takes rows that nobody rated, too: then
        scores count as shares of the members' scales, on which the panel answers.
    n_rounds : int
        Most members that selection adds, repetitions counted.
    n_folds, n_repeats : int
        Of the cross-fitting over sources.
    seed : int
        Of the folds.
    scale, lm, concurrency, progress
        As for ``JudgeOptimizer``. Members with a model of their own are asked that.

    Attributes
    ----------
    trials_ : tuple of PanelTrial
        Set by ``compile``; empty where there was too little to learn from.
    chosen_ : str
        The way taken.
    unweighed_ : tuple of str
        Members that too few rows have a score of.

    References
    ----------
    Caruana, Niculescu-Mizil, Crew and Ksikes (2004), "Ensemble Selection from Libraries of
    Models", ICML. Cross-fitting by source, and the ways beside it, are ours.
    """

    def __init__(
        self,
        objective: AnyObjective = "q",
        *,
        n_rounds: int = 20,
        n_folds: int = 2,
        n_repeats: int = 10,
        seed: int = 0,
        scale: Scale | None = None,
        lm: dspy.LM | None = None,
        concurrency: int = CONCURRENCY,
        progress: Callable[[int], None] | None = None,
        metric: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(seed=seed, scale=scale, lm=lm, concurrency=concurrency, progress=progress)
        if n_rounds < 1:
            raise InputError(f"n_rounds must be 1 or more; got {n_rounds}.")
        if n_folds < 2 or n_repeats < 1:
            raise InputError(f"need 2 folds and 1 repeat or more; got {n_folds} and {n_repeats}.")
        self.objective = as_objective(objective, metric)
        effort = [str(one) for one in atoms_of(self.objective) if is_effort(one)]
        if effort:
            raise InputError(
                "weights are learned from scores, which do not tell how much judging takes; leave "
                f"{' and '.join(dict.fromkeys(effort))} out of the objective."
            )
        self.n_rounds = n_rounds
        self.n_folds = n_folds
        self.n_repeats = n_repeats

    def compile(
        self,
        student: Panel,
        *,
        trainset: Sequence[dspy.Example],
        teacher: dspy.Module | None = None,
        valset: Sequence[dspy.Example] | None = None,
    ) -> Panel:
        """Return a copy of ``student`` with the weights that rated rows support.

        Rows that a member shows as demonstrations are left out. Rows that members were compiled
        on flatter those members; give others.

        Raises
        ------
        TypeError
            If the student is no panel.
        ValueError
            If there is a teacher or a valset, or ``trainset`` holds nothing to learn from.
        """
        if not isinstance(student, Panel):
            raise TypeError(f"expected a Panel of judges; got {type(student).__name__}.")
        if teacher is not None or valset is not None:
            raise InputError("PanelSelection cross-fits within trainset; drop teacher and valset.")
        shown = {
            key for one in leaves_of(student) for key in shown_keys(one.protocol.demonstrations)
        }
        rows = rows_for(self.objective, rows_of(trainset, self.scale).without(shown))
        check_objective(self.objective, rows)
        scores = {}
        for name, member in student.members.items():
            scores[name] = [one.score for one in self.judged(member, rows)]
        scales = {name: scale_of(one) for name, one in student.members.items()}
        return student.with_weights(self.choose(rows, scores, own=student.weights, scales=scales))

    def choose(
        self,
        rows: Rows,
        scores: Mapping[str, Sequence[float | None]],
        *,
        own: PanelWeights | None = None,
        scales: Mapping[str, Scale] | None = None,
    ) -> PanelWeights:
        """Return the weights that recorded scores of rows support.

        Parameters
        ----------
        rows : Rows
            What people said, and changed versions where the objective looks at them.
        scores : dict of str to sequence of (float or None)
            By member, its score of every row, in points of its own scale; of every text
            (``rows.texts``) where rows have versions.
        own : PanelWeights or None
            Weights that the panel has: they compete, and stay where there is too little to learn
            from. None are equal ones of standardised scores.
        scales : dict of str to Scale, or None
            What members' scores are points of; read where nobody rated the rows.

        Raises
        ------
        ValueError
            If scores and rows do not pair up, there are no rows or members, or nobody rated the
            rows and the objective compares scores with people's, or scales are missing.
        """
        names = tuple(scores)
        rows = rows_for(self.objective, rows)
        if not rows.is_rated and not set(names) <= set(scales or {}):
            raise InputError("nobody rated these rows; give the scales of all members.")
        every = columns_of(list(scores.values()), len(rows.texts))
        table, changed = every[: len(rows)], columns_of_versions(every[len(rows) :], rows)
        shares = np.isfinite(table).mean(axis=0)
        able = tuple(np.flatnonzero(shares >= FEWEST_SCORED).tolist())
        self.unweighed_ = tuple(name for place, name in enumerate(names) if place not in able)
        self.trials_: tuple[PanelTrial, ...] = ()
        learned: tuple[PanelName, ...] = ("single", "equal", "greedy") if able else ()
        people = unpredicted(rows)
        given = () if rows.is_rated else tuple((scales or {})[name] for name in names)
        ways = [
            PanelWay(
                name=name,
                table=people,
                scores=table,
                changed=changed,
                names=names,
                able=able,
                objective=self.objective,
                n_rounds=self.n_rounds,
                own=own if name == "own" else None,
                scale=own.scale if name == "own" and own is not None else rows.scale,
                scales=given,
            )
            for name in (*(() if own is None else ("own",)), *learned)
        ]
        if not ways:
            raise InputError(
                f"no member has a score on {FEWEST_SCORED:.0%} of the rows: nothing can be weighed."
            )
        self.chosen_: PanelName = "equal" if own is None else "own"
        n_sources = len(np.unique(rows.groups))
        enough = len(rows) >= FEWEST_ROWS and n_sources >= FEWEST_SOURCES
        if enough and np.ptp(rows.human) != 0:  # nan where nobody rated any
            self.trials_ = self._compared(people, ways)
            self.chosen_ = _best(self.trials_)
        return next(way for way in ways if way.name == self.chosen_).weights()

    def _compared(self, people: JudgedTable, ways: Sequence[PanelWay]) -> tuple[PanelTrial, ...]:
        halves = Halves.of(
            people,
            n_folds=self.n_folds,
            n_repeats=self.n_repeats,
            rng=np.random.default_rng([self.seed, 3]),
        )
        crossed = [
            halves.agreement(
                way.predictions,
                self.objective,
                judge_scale=way.scale,
                of_versions=None if way.changed is None else way.predictions_of_versions,
            )
            for way in ways
        ]
        best = max(crossed, key=lambda one: -math.inf if math.isnan(one.value) else one.value)
        trials = []
        for way, one in zip(ways, crossed, strict=True):
            behind, error = one.behind(best)
            trials.append(
                PanelTrial(
                    name=way.name,
                    value=one.value,
                    optimism=way.optimism,
                    behind=behind,
                    standard_error=error,
                    n_members=len(way.weights().asked),
                )
            )
        return tuple(trials)


def _best(trials: Sequence[PanelTrial]) -> PanelName:
    """Return the way of the largest value, of equals the one with fewest members."""
    defined = [one for one in trials if not math.isnan(one.value)] or list(trials[:1])
    return max(defined, key=lambda one: (one.value, -one.n_members)).name

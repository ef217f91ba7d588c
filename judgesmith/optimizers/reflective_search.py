"""Evolution of a judge's texts by a model that reads where the judge contradicts people."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import Any, Unpack

import dspy

from judgesmith.errors import InputError
from judgesmith.optimizers.judge_optimizer import OFFLINE
from judgesmith.optimizers.judge_search import SearchSettings
from judgesmith.optimizers.objectives import AnyObjective
from judgesmith.optimizers.protocol_candidates import Asking
from judgesmith.optimizers.racing_search import OutOfBudget
from judgesmith.optimizers.rewrite_trial import RewriteTrial
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.splitting import ROWS_PER_DEMONSTRATION
from judgesmith.optimizers.text_evolution import TO_CHOOSE, TO_READ, TextEvolution
from judgesmith.optimizers.text_search import TextSearch
from judgesmith.programs.judging.ask_once import Rewriter
from judgesmith.programs.judging.executors import with_own_models
from judgesmith.programs.judging.judge import Judge
from judgesmith.programs.lm.limits import STOPPING

BATCH = 35
"""Rows that a rewrite is learned from: on 3, as GEPA usually takes, Q of one and the same judge
varies by 1.3 from draw to draw, on 35 by .2; and it is compared with its parent on the same."""


class ReflectiveSearch(TextSearch):
    """Rewrite instructions, task and criteria from what the judge got wrong; keep the best judge.

    In each round one text of a good judge is rewritten by a model that is shown pairs of responses
    that the judge orders otherwise than people do, and the rows that lower the objective most.
    The rewrite is judged on these same rows, and where the objective grows, on the rows to choose
    by. Which judge is rewritten next, and which of its texts, is up to the library ``gepa``:
    among the judges that are best on some row, one is drawn, and its texts take turns.

    What is asked for, the scale, demonstrations and aggregation stay as they are.

    Parameters
    ----------
    objective : Objective, callable or str
        What is made as large as possible over the whole list of predictions, such as ``q``.
    n_trials : int
        Rewrites that are asked for.
    batch : int
        Rows that a rewrite is learned from; of fewer rows, all.
    reflection_lm : dspy.LM or None
        The model that rewrites; None takes the one that judges. The offline model cannot.
    noted : callable or None
        Told of every trial as soon as it is known how well it did.
    **shared
        As for ``JudgeSearch``.

    Attributes
    ----------
    trials_ : tuple of RewriteTrial
        Everything that was tried, in order; set by ``compile``.
    complete_ : bool
        False where the budget ended the search.
    ended_ : str
        Why nothing was tried, in a sentence; empty where the search ran.

    References
    ----------
    Agrawal et al. (2025), "GEPA: Reflective Prompt Evolution Can Outperform Reinforcement
    Learning". arXiv:2507.19457.
    """

    taught_by = "learns from rated rows only"

    def __init__(
        self,
        objective: AnyObjective = "q",
        *,
        n_trials: int = 30,
        batch: int = BATCH,
        reflection_lm: dspy.LM | None = None,
        noted: Callable[[RewriteTrial], None] | None = None,
        **shared: Unpack[SearchSettings],
    ) -> None:
        super().__init__(objective, **shared)
        if n_trials < 1 or batch < 3:
            raise InputError(
                f"n_trials must be 1 or more and batch 3 or more; got {n_trials} and {batch}."
            )
        self.n_trials = n_trials
        self.batch = batch
        self.reflection_lm = reflection_lm
        self.noted = noted

    @property
    def n_demonstrations(self) -> int:
        """How many demonstrations would want as many rows to draw from as a rewrite reads."""
        return -(-self.batch // ROWS_PER_DEMONSTRATION)

    def _found(self, student: Judge, pool: Rows, selection: Rows) -> Judge:
        self.trials_: tuple[RewriteTrial, ...] = ()
        self.complete_, self.ended_ = True, ""
        self.taken_, self.confirmation_ = 0, None
        lm = with_own_models(student, self.lm)[1]
        writer = self.reflection_lm or lm
        if str(writer.model) == OFFLINE:
            self.ended_ = (
                "the offline model reads no instructions and writes none, so that no text was "
                "rewritten; name a language model to rewrite with."
            )
        elif len(pool) < 3:
            self.ended_ = f"{len(pool)} rows are too few to learn from, so no text was rewritten."
        if self.ended_:
            return student
        evolution = TextEvolution(
            student=student,
            rows={TO_READ: pool, TO_CHOOSE: selection},
            objective=self.objective,
            targets=self.targets,
            asking=Asking(lm=lm, concurrency=self.concurrency, progress=self.progress),
            rewriter=Rewriter(writer),
            n_rewrites=self.n_trials,
            noted=self.noted,
        )
        evolve(evolution, batch=self.batch, seed=self.seed)
        self.trials_ = tuple(evolution.trials)
        self.complete_ = not evolution.spent
        ranks = {number: self.trials_[number].rank for number in evolution.tables}
        return evolution.judge(self.taken(self.objective, evolution.tables, ranks))


def evolve(evolution: TextEvolution, *, batch: int, seed: int) -> None:
    """Let GEPA rewrite until there were enough rewrites, or the budget is spent.

    Raises
    ------
    ModelError, LedgerError
        If a model cannot be asked at all, or the ledger not used.
    Stopped
        If the process was asked to stop.
    """
    from gepa.api import optimize

    adapter: Any = evolution
    with STOPPING.attended(), contextlib.redirect_stdout(io.StringIO()):
        try:
            optimize(
                seed_candidate=evolution.start(),
                trainset=evolution.places(TO_READ),
                valset=evolution.places(TO_CHOOSE),
                adapter=adapter,
                reflection_minibatch_size=evolution.batch_size(batch),
                skip_perfect_score=False,
                acceptance_criterion=adapter,
                val_evaluation_policy=adapter,
                stop_callbacks=[evolution.done],
                logger=adapter,
                track_best_outputs=False,
                seed=seed,
            )
        except OutOfBudget:
            evolution.spent = True
    if evolution.fault is not None:
        raise evolution.fault

"""Optimizers of DSPy on our judges, by our objectives: MIPROv2, SIMBA and random search.

DSPy's optimizers want a score for every answer by itself. They are given what the answer adds to
the objective, and what they find is compared with the start by the objective itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

import dspy

from judgesmith.errors import InputError
from judgesmith.optimizers.bridged_candidates import BridgedTrial, Compared
from judgesmith.optimizers.bridged_rows import (
    SELECT,
    TRAIN,
    BridgedMetric,
    BridgedRows,
    judgement_of,
)
from judgesmith.optimizers.bridged_watch import Ended, Watch
from judgesmith.optimizers.demonstrations import ENOUGH_SCORED
from judgesmith.optimizers.dspy_runs import NAMES, DspyRun, Name, silent
from judgesmith.optimizers.judge_optimizer import OFFLINE
from judgesmith.optimizers.judge_search import SearchSettings
from judgesmith.optimizers.objectives import AnyObjective
from judgesmith.optimizers.protocol_candidates import Asking
from judgesmith.optimizers.racing_search import OutOfBudget
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.text_search import TextSearch
from judgesmith.programs.families.ensemble.judges import scale_of
from judgesmith.programs.judging.executors import with_own_models
from judgesmith.programs.judging.judge import Judge
from judgesmith.programs.lm.limits import STOPPING, Stopped
from judgesmith.signatures.judgement import Judgement

MOST_THREADS = 32


class BridgedSearch(TextSearch):
    """Run an optimizer of DSPy on a judge, and keep what is better by the objective.

    What DSPy is told of a single answer is its exact part in the objective, all other rows being
    answered as by the start (times the number of rows, so that the mean of the start's parts is
    the objective); an answer without a score is worth less than the worst of them, never 0.
    MIPROv2 compares candidates by the objective itself. Whatever DSPy makes of that, every judge
    that it would choose among is judged here on all rows to choose by, and the best of these is
    returned if it passes (see ``Confirm``), else the start.

    Demonstrations and instructions are taken over; fields and scale are not, as the judge is made
    anew. The offline model writes no instructions: with it, only demonstrations are searched.

    Parameters
    ----------
    optimizer : {"miprov2", "simba", "bootstrap"}
        ``bootstrap`` is BootstrapFewShotWithRandomSearch.
    objective : Objective, callable or str
        What is made as large as possible over the whole list of predictions, such as ``q``.
    settings : dict or None
        Of the optimizer, as DSPy names them, such as ``{"auto": "medium"}``.
    prompt_lm : dspy.LM or None
        The model that writes instructions; None takes the one that judges.
    noted : callable or None
        Told of every trial as soon as it is known how well it did.
    **shared
        As for ``JudgeSearch``.

    Attributes
    ----------
    trials_ : tuple of BridgedTrial
        The start, and what DSPy would choose among; set by ``compile``.
    complete_ : bool
        False where the budget ended the search.

    References
    ----------
    Opsahl-Ong et al. (2024), "Optimizing Instructions and Demonstrations for Multi-Stage Language
    Model Programs", EMNLP. arXiv:2406.11695. SIMBA: DSPy's documentation.
    """

    taught_by = "lets the student teach"

    def __init__(
        self,
        optimizer: Name,
        objective: AnyObjective = "q",
        *,
        settings: Mapping[str, Any] | None = None,
        prompt_lm: dspy.LM | None = None,
        noted: Callable[[BridgedTrial], None] | None = None,
        **shared: Unpack[SearchSettings],
    ) -> None:
        super().__init__(objective, **shared)
        if optimizer not in NAMES:
            raise InputError(f"optimizer must be one of {', '.join(NAMES)}; got {optimizer!r}.")
        ours = sorted({"metric", "num_threads", "prompt_model", "seed"} & set(settings or {}))
        if ours:
            raise InputError(f"{', '.join(ours)} is set by the bridge; leave it out of settings.")
        self.optimizer = optimizer
        self.settings = dict(settings or {})
        self.prompt_lm = prompt_lm
        self.noted = noted

    n_demonstrations = 4
    """What DSPy's optimizers show at most by default: says how large a pool is split off."""

    def _found(self, student: Judge, pool: Rows, selection: Rows) -> Judge:
        lm = with_own_models(student, self.lm)[1]
        asking = Asking(lm=lm, concurrency=self.concurrency, progress=self.progress)
        compared = Compared(
            start=student,
            selection=selection,
            asking=asking,
            objective=self.objective,
            targets=self.targets,
            noted=self.noted,
        )
        self.complete_ = True
        try:
            start = compared.add(student)
            own = asking.judged(student, pool)
            self._searched(student, lm, {TRAIN: (pool, own), SELECT: (selection, start)}, compared)
        except OutOfBudget:
            self.complete_ = False
        self.trials_ = tuple(compared.trials)
        ranks = {number: compared.trials[number].rank for number in compared.tables}
        return compared.judge(self.taken(self.objective, compared.tables, ranks))

    def _searched(
        self,
        student: Judge,
        lm: dspy.LM,
        judged: Mapping[str, tuple[Rows, Sequence[Judgement]]],
        compared: Compared,
    ) -> None:
        """Let DSPy search, then compare what it found.

        Raises
        ------
        OutOfBudget
            If the budget ended the search, or the comparison.
        """
        sets = {
            name: BridgedRows(
                name=name,
                rows=rows,
                objective=self.objective,
                targets=self.targets,
                start=said,
                judge_scale=scale_of(student),
            )
            for name, (rows, said) in judged.items()
        }
        watch = Watch(student, self.progress)
        writer = self.prompt_lm or lm
        n_threads = min(self.concurrency, MOST_THREADS)
        run = DspyRun(
            metric=BridgedMetric(sets=sets, heard=watch.heard),
            value=lambda answers: self._value(sets, answers),
            writer=None if str(writer.model) == OFFLINE else writer,
            n_threads=n_threads,
            seed=self.seed,
            labelled=len(student.named_predictors()) == 1,
            settings=self.settings,
        )
        adapter = dspy.ChatAdapter(use_json_adapter_fallback=False)
        callbacks = [*dspy.settings.get("callbacks", []), watch]
        found: list[Judge] = []
        train, select = (sets[name].examples(student) for name in (TRAIN, SELECT))
        with (
            STOPPING.attended(),
            silent(),
            dspy.context(
                lm=lm,
                adapter=adapter,
                callbacks=callbacks,
                num_threads=n_threads,
                max_errors=_NO_END,
            ),
        ):
            try:
                made = run(self.optimizer, student.with_protocol(student.protocol), train, select)
                others = getattr(made, "candidate_programs", None) or []
                found = [made, *(one["program"] for one in others)]
            except Ended:
                pass
            except Exception as fault:
                watch.note(fault)
                if not (watch.spent or watch.stopped or _EXHAUSTED in str(fault)):
                    raise
        if watch.stopped:
            raise Stopped("stopped before the search had ended.")
        for judge in (*found, *watch.judges()):
            compared.add(judge, heard=watch.answers, ask=not watch.spent)
        if watch.spent:
            raise OutOfBudget

    def _value(
        self, sets: Mapping[str, BridgedRows], answers: Sequence[tuple[dspy.Example, Any]]
    ) -> float:
        """Return the objective on a list of answers, above 0: DSPy takes a failure for 0."""
        rows = [int(str(example.row).rpartition(" ")[2]) for example, _ in answers]
        said = [
            judgement_of(answer) or Judgement.unscored("no answer came") for _, answer in answers
        ]
        table = (
            sets[SELECT]
            .rows.take(rows)
            .judged(said, self.targets, judge_scale=sets[SELECT].judge_scale)
        )
        if table.least_scored < ENOUGH_SCORED:
            return math.nan
        return self.objective.value(table) - _LEAST


_LEAST = -1000.0
"""Below every objective that anybody looks at, so that what DSPy counts as 0 is the worst."""


_EXHAUSTED = "No valid program found"
"""What MIPROv2 raises where it has judged everything that it could propose."""

_NO_END = 10**9
"""DSPy abandons what is under way after so many failures; here each is a failure by itself."""

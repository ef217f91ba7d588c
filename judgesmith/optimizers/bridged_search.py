"""Optimizers of DSPy on our judges, by our objectives: MIPROv2, SIMBA and random search.

DSPy's optimizers want a score for every answer by itself. They are given what the answer adds to
the objective, and what they find is compared with the start by the objective itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import dspy
from dspy.utils.callback import BaseCallback

from judgesmith.optimizers.bridged_candidates import BridgedTrial, Compared
from judgesmith.optimizers.bridged_rows import BridgedMetric, BridgedRows, judgement_of
from judgesmith.optimizers.demonstrations import (
    ENOUGH_SCORED,
    pool_and_selection_rows,
    refuse_unscored_targets,
)
from judgesmith.optimizers.drawing import shown_keys
from judgesmith.optimizers.dspy_runs import NAMES, DspyRun, Name, silent
from judgesmith.optimizers.judge_optimizer import JudgeOptimizer
from judgesmith.optimizers.objectives import Objective, as_objective
from judgesmith.optimizers.protocol_candidates import Asking
from judgesmith.optimizers.racing_search import OutOfBudget
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.table import SCORE
from judgesmith.programs.asking import current_lm
from judgesmith.programs.judge import Judge, check_judge
from judgesmith.programs.models import BudgetSpent
from judgesmith.programs.models.stopping import STOPPING, Stopped
from judgesmith.programs.running import CONCURRENCY
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.scale import Scale

TRAIN, SELECT = "train", "select"
OFFLINE = "offline"
MOST_THREADS = 32


class BridgedSearch(JudgeOptimizer):
    """Run an optimizer of DSPy on a judge, and keep what is better by the objective.

    What DSPy is told of a single answer is its exact part in the objective, all other rows being
    answered as by the start (times the number of rows, so that the mean of the start's parts is
    the objective); an answer without a score is worth less than the worst of them, never 0.
    MIPROv2 compares candidates by the objective itself. Whatever DSPy makes of that, every judge
    that it would choose among is judged here on all rows to choose by, and the best of these and
    the start is returned; the start wins ties.

    Demonstrations and instructions are taken over; fields and scale are not, as the judge is made
    anew. The offline model writes no instructions: with it, only demonstrations are searched.

    Parameters
    ----------
    optimizer : {"miprov2", "simba", "bootstrap"}
        ``bootstrap`` is BootstrapFewShotWithRandomSearch.
    objective : Objective or str
        What is made as large as possible over the whole list of predictions, such as ``q``.
    settings : dict or None
        Of the optimizer, as DSPy names them, such as ``{"auto": "medium"}``.
    prompt_lm : dspy.LM or None
        The model that writes instructions; None takes the one that judges.
    targets, percent_of_max, seed, scale, lm, concurrency, progress
        As for ``RandomDemonstrationSearch``.
    noted : callable or None
        Told of every trial as soon as it is known how well it did.

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

    def __init__(
        self,
        optimizer: Name,
        objective: Objective | str = "q",
        *,
        settings: Mapping[str, Any] | None = None,
        prompt_lm: dspy.LM | None = None,
        targets: Sequence[str] = (SCORE,),
        percent_of_max: bool = False,
        seed: int = 0,
        scale: Scale | None = None,
        lm: dspy.LM | None = None,
        concurrency: int = CONCURRENCY,
        progress: Callable[[int], None] | None = None,
        noted: Callable[[BridgedTrial], None] | None = None,
    ) -> None:
        super().__init__(seed=seed, scale=scale, lm=lm, concurrency=concurrency, progress=progress)
        if optimizer not in NAMES:
            raise ValueError(f"optimizer must be one of {', '.join(NAMES)}; got {optimizer!r}.")
        ours = sorted({"metric", "num_threads", "prompt_model", "seed"} & set(settings or {}))
        if ours:
            raise ValueError(f"{', '.join(ours)} is set by the bridge; leave it out of settings.")
        if not targets:
            raise ValueError("no targets to agree with; name score, or criteria.")
        self.optimizer = optimizer
        self.objective = as_objective(objective)
        self.settings = dict(settings or {})
        self.prompt_lm = prompt_lm
        self.targets = tuple(targets)
        self.percent_of_max = percent_of_max
        self.noted = noted

    n_demonstrations = 4
    """What DSPy's optimizers show at most by default: says how large a pool is split off."""

    def compile(
        self,
        student: Judge,
        *,
        trainset: Sequence[dspy.Example],
        teacher: None = None,
        valset: Sequence[dspy.Example] | None = None,
    ) -> Judge:
        """Return the best judge found; ``student`` is left as it was.

        Parameters
        ----------
        student : Judge
            It competes, and wins where nothing is better. Rows that it shows are not chosen by.
        trainset : sequence of dspy.Example
            Rows that may be shown and learned from. Without ``valset``, a part of them by source.
        teacher : None
            The student teaches.
        valset : sequence of dspy.Example or None
            Rows to choose by. They share no source with ``trainset``.

        Raises
        ------
        ValueError
            If there are too few rows, all scores are equal, rows to learn from and rows to choose
            by share a source, or the student scores no such target.
        """
        check_judge(student)
        if teacher is not None:
            raise ValueError("BridgedSearch lets the student teach; drop teacher=.")
        refuse_unscored_targets(student.protocol, self.targets)
        pool, selection = pool_and_selection_rows(
            trainset,
            valset,
            n_demonstrations=self.n_demonstrations,
            scale=self.scale,
            percent_of_max=self.percent_of_max,
            seed=self.seed,
            shown=shown_keys(student.protocol.demonstrations),
        )
        selection.refuse_constant(self.targets)
        lm = self.lm or current_lm()
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
        best = compared.best()
        return best.with_protocol(best.protocol)

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
                name=name, rows=rows, objective=self.objective, targets=self.targets, start=said
            )
            for name, (rows, said) in judged.items()
        }
        watch = _Watch(student, self.progress)
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
            except _Ended:
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
        table = sets[SELECT].rows.take(rows).judged(said, self.targets)
        if table.least_scored < ENOUGH_SCORED:
            return math.nan
        return self.objective.value(table) - _LEAST


_LEAST = -1000.0
"""Below every objective that anybody looks at, so that what DSPy counts as 0 is the worst."""


_EXHAUSTED = "No valid program found"
"""What MIPROv2 raises where it has judged everything that it could propose."""

_NO_END = 10**9
"""DSPy abandons what is under way after so many failures; here each is a failure by itself."""


class _Ended(BaseException):
    """Ends an optimizer of DSPy's, which takes every exception for the failure of one row."""


class _Watch(BaseCallback):
    """Sees every judge that DSPy asks, hears every answer, and notices why answers fail."""

    def __init__(self, student: Judge, progress: Callable[[int], None] | None) -> None:
        self.student = student
        self.progress = progress
        self.protocols: dict[str, Any] = {}
        self.answers: dict[str, dict[int, Judgement]] = {}
        self.spent = self.stopped = False

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Remember which judge is asked.

        Raises
        ------
        _Ended
            If there is no point in asking any more.
        """
        if self.spent or self.stopped:
            raise _Ended
        if isinstance(instance, Judge):
            protocol = instance.protocol
            self.protocols.setdefault(protocol.fingerprint, protocol)

    def on_module_end(
        self, call_id: str, outputs: Any, exception: BaseException | None = None
    ) -> None:
        """Notice why there is no answer."""
        if exception is not None:
            self.note(exception)
        elif self.progress is not None and outputs is not None and "protocol" in outputs:
            self.progress(1)

    def note(self, fault: BaseException | None) -> None:
        """Notice a fault that ends the search."""
        while fault is not None:
            self.spent = self.spent or isinstance(fault, BudgetSpent | OutOfBudget)
            self.stopped = self.stopped or isinstance(fault, Stopped)
            fault = fault.__cause__

    def heard(self, name: str, row: int, judge: str, judgement: Judgement) -> None:
        """Remember an answer about a row to choose by."""
        if name == SELECT:
            self.answers.setdefault(judge, {})[row] = judgement

    def judges(self) -> Iterator[Judge]:
        """Yield the judges that answered about every row that any judge answered about."""
        # Rows that were under way when the search was ended may still be answered meanwhile.
        n_answers = {judge: len(answers) for judge, answers in tuple(self.answers.items())}
        most = max(n_answers.values(), default=0)
        for judge, n in n_answers.items():
            if n == most and judge in self.protocols:
                yield self.student.with_protocol(self.protocols[judge])

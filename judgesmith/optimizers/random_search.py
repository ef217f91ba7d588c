"""Random search for the demonstrations that make a judge agree best (Active-Critic, stage 3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Unpack

import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.base import JudgeSearch, SearchSettings
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.grammar import AnyObjective, as_objective
from judgesmith.optimizers.predictions import PredictionTable
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.space.demonstrations import (
    Pool,
    ShowingConfig,
    Shown,
    demonstrated,
    demonstration_plan,
    has_runs,
    kept_runs,
    shown_keys,
)
from judgesmith.optimizers.trials import TrialRecord
from judgesmith.programs.judging.judge import Judge
from judgesmith.programs.judging.runner import was_not_asked
from judgesmith.results.progress import tell
from judgesmith.signatures.judgement import Judgement


class RandomDemonstrationSearch(JudgeSearch[Objective, Judge]):
    """Try random sets of demonstrations; keep the one whose scores agree best with people.

    All candidates are scored on the same rows, and no row is both shown and scored on. The
    judge without demonstrations is always among them.

    Parameters
    ----------
    n_demonstrations : int
        Shown per prompt.
    n_trials : int
        Sets tried, "none" and "labelled only" included; the student's own in addition.
    partial_demos : bool
        Whether a question about all criteria is shown labelled examples with the overall score
        alone, where people did not score every criterion.
    objective, **shared
        As for ``JudgeSearch``, which describes ``trials_`` and the other results, too.

    References
    ----------
    "Large Language Models Are Active Critics in NLG Evaluation", stage 3.

    Examples
    --------
    >>> import dspy
    >>> from judgesmith.programs import ActiveCritic
    >>> rows = [
    ...     dspy.Example(
    ...         source=f"Note {n}: the bridge opened.", response="It opened. " * score, score=score
    ...     ).with_inputs("source", "response")
    ...     for n, score in enumerate((1, 2, 3, 4, 5, 3, 2, 1))
    ... ]
    >>> search = RandomDemonstrationSearch(n_demonstrations=1, n_trials=2, scale="1..5")
    >>> judge = search.compile(ActiveCritic(variant="vanilla"), trainset=rows[:4], valset=rows[4:])
    >>> [trial.n_demonstrations for trial in search.trials_]
    [0, 1]
    """

    def __init__(
        self,
        objective: AnyObjective = "q",
        *,
        n_demonstrations: int = 3,
        n_trials: int = 11,
        partial_demos: bool = False,
        **shared: Unpack[SearchSettings],
    ) -> None:
        super().__init__(**shared)
        if n_demonstrations < 1 or n_trials < 1:
            raise InputError(
                "n_demonstrations and n_trials must be 1 or more; got "
                f"{n_demonstrations} and {n_trials}."
            )
        self.objective = as_objective(objective, self.metric)
        self.n_demonstrations = n_demonstrations
        self.n_trials = n_trials
        self.partial_demos = partial_demos

    def _n_shown(self, student: Judge) -> int:
        demonstrated(student.protocol)
        return self.n_demonstrations

    def _found(
        self, student: Judge, pool_rows: Rows, selection: Rows, teacher: Judge | None
    ) -> Judge:
        nothing_shown: dict[str, Any] = {"demonstrations": {}, "nearest": None}
        protocol = demonstrated(student.protocol).model_copy(update=nothing_shown)
        own = student.protocol.demonstrations
        runs = self._runs(teacher or student.with_protocol(protocol), protocol, pool_rows)
        pool = Pool(rows=pool_rows, runs=runs, partial_demos=self.partial_demos)
        self.complete_ = True
        trials: list[TrialRecord] = []
        found: dict[int, Judge] = {}
        tables: dict[str, PredictionTable] = {}
        for number, shown in enumerate(self._sets(pool, protocol, own)):
            nearest = student.protocol.nearest if shown == own else None
            update = {"demonstrations": shown, "nearest": nearest}
            candidate = student.with_protocol(protocol.model_copy(update=update))
            known = candidate.protocol.fingerprint
            if known not in tables:
                judgements = self.judged(candidate, selection)
                if any(map(was_not_asked, judgements)):
                    self.complete_ = False
                    break
                tables[known] = selection.judged(
                    judgements, self.targets, judge_scale=candidate.scale
                )
                found[number] = candidate
            else:  # drawn before, such as "labelled only" where no question can show such rows
                tell(self.on_progress, len(selection.texts))
            table = tables[known]
            kinds = [[one.kind for one in several] for several in shown.values()]
            trials.append(
                TrialRecord(
                    number=number,
                    n_rows=len(selection),
                    n_demonstrations=max(map(len, kinds), default=0),
                    n_bootstrapped=max((one.count("bootstrapped") for one in kinds), default=0),
                    keys=shown_keys(shown),
                    value=self.objective.value(table),
                    share_scored=table.least_scored,
                )
            )
            if self.on_trial is not None:
                self.on_trial(trials[-1])
        self.trials_ = tuple(trials)
        number = self.select_trial(
            self.objective,
            dict(zip(found, tables.values(), strict=True)),
            {number: trials[number].rank for number in found},
            start=1 if own else 0,  # without demonstrations comes first, the student's own next
        )
        return found.get(number, student.with_protocol(student.protocol))

    def _sets(self, pool: Pool, protocol: ShowingConfig, own: Shown) -> Iterator[Shown]:
        """Yield the sets to try: none, the student's own, labelled ones, then random ones."""
        rng = np.random.default_rng([self.seed, 1])
        n_shown = min(self.n_demonstrations, len(pool.rows))
        for n, n_bootstrapped in demonstration_plan(n_shown, self.n_trials, rng):
            yield pool.draw(protocol, n, n_bootstrapped, rng) if n else {}
            if not n and own:
                yield own

    def _runs(self, teacher: Judge, protocol: ShowingConfig, rows: Rows) -> dict[int, Judgement]:
        if not has_runs(protocol):
            return {}
        return kept_runs(rows, self.judged(teacher, rows), criteria=protocol.scored_criteria)

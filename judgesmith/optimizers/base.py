"""What searches for a better judge share: what they compare with people, and on which rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

import dspy
import numpy as np
from dspy.teleprompt import Teleprompter

from judgesmith.errors import InputError
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.pareto import SeveralObjectives
from judgesmith.optimizers.predictions import SCORE, PredictionTable
from judgesmith.optimizers.rows import Rows, rows_of
from judgesmith.optimizers.search.confirmation import (
    ConfirmationResult,
    HoldoutConfirmation,
    Rank,
    check_confirm,
    select_trial,
)
from judgesmith.optimizers.space.demonstrations import shown_keys
from judgesmith.optimizers.splitting import pool_and_selection
from judgesmith.programs.judging.executors import JudgeLike
from judgesmith.programs.judging.judge import Judge
from judgesmith.programs.judging.runner import CONCURRENCY, judge_items
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import Scale

OFFLINE = "offline"
"""The name of the model that reads no instructions and writes none."""


class JudgeOptimizer(Teleprompter):
    """An optimizer that judges rated rows.

    Parameters
    ----------
    seed : int
        Of all drawing.
    scale : Scale or None
        What the examples' scores are measured in; None reads it from them.
    lm : dspy.LM or None
        The model; None takes DSPy's current one.
    concurrency : int
        Requests under way at once.
    on_progress : callable or None
        Told how many items were finished since it was last told.
    """

    def __init__(
        self,
        *,
        seed: int,
        scale: Scale | None,
        lm: dspy.LM | None,
        concurrency: int,
        on_progress: Callable[[int], None] | None,
    ) -> None:
        super().__init__()
        self.seed = seed
        self.scale = scale
        self.lm = lm
        self.concurrency = concurrency
        self.on_progress = on_progress

    def judged(self, judge: JudgeLike, rows: Rows) -> list[Judgement]:
        """Return the judgement of every row, then of their changed versions, if they have some."""
        return judge_items(
            judge, rows.texts, lm=self.lm, concurrency=self.concurrency, progress=self.on_progress
        )


class SearchSettings(TypedDict, total=False):
    """The settings that every search has, see ``JudgeSearch``; each has a default."""

    targets: Sequence[str]
    percent_of_max: bool
    seed: int
    scale: Scale | None
    lm: dspy.LM | None
    concurrency: int
    on_progress: Callable[[int], None] | None
    metric: Callable[..., Any] | None
    confirm: HoldoutConfirmation | None


class JudgeSearch(JudgeOptimizer):
    """An optimizer that chooses a judge by how well it agrees with people on a set of rows.

    Parameters
    ----------
    targets : sequence of str
        What scores are compared with people on: ``score``, the judge's own, and criteria by
        name. The objective is its mean over them.
    percent_of_max : bool
        Whether scores are shown as a share of the highest point instead of the whole range.
    seed, scale, lm, concurrency, on_progress
        As for ``JudgeOptimizer``; by default 0, what the examples say, DSPy's current model, as
        many as are judged at the same time elsewhere, and nobody.
    metric : callable or None
        A metric of DSPy's kind, ``metric(example, prediction, trace=None) -> float``, instead of
        an objective: its mean over the scored rows is made as large as possible.
    confirm : HoldoutConfirmation or None
        By what rule the best of all replaces the student; None takes the best on the rows to
        choose by, which flatters it.

    Attributes
    ----------
    confirmation_ : ConfirmationResult or None
        Of the best candidate, set by ``compile``; None where none was better than the student.
    taken_ : int or None
        Number of the trial that was taken, mostly that of the student.

    Raises
    ------
    ValueError
        If there are no targets.
    """

    def __init__(
        self,
        *,
        targets: Sequence[str] = (SCORE,),
        percent_of_max: bool = False,
        seed: int = 0,
        scale: Scale | None = None,
        lm: dspy.LM | None = None,
        concurrency: int = CONCURRENCY,
        on_progress: Callable[[int], None] | None = None,
        metric: Callable[..., Any] | None = None,
        confirm: HoldoutConfirmation | None = HoldoutConfirmation(),  # noqa: B008 - a frozen record
    ) -> None:
        super().__init__(
            seed=seed, scale=scale, lm=lm, concurrency=concurrency, on_progress=on_progress
        )
        if not targets:
            raise InputError("no targets to agree with.", hint="name score, or criteria.")
        check_confirm(confirm)
        self.targets = tuple(targets)
        self.percent_of_max = percent_of_max
        self.metric = metric
        self.confirm = confirm
        self.confirmation_: ConfirmationResult | None = None
        self.taken_: int | None = None

    def select_trial(
        self,
        objective: Objective,
        tables: Mapping[int, PredictionTable],
        ranks: Mapping[int, Rank],
        *,
        start: int = 0,
        learned: bool = False,
    ) -> int:
        """Return the number of the trial to take, which is that of the student where none passes.

        Parameters
        ----------
        objective : Objective
            What is made as large as possible.
        tables : dict of int to PredictionTable
            What every one says of the rows to choose by, the student included if it was judged.
        ranks : dict of int to tuple
            Of the same: larger is better.
        start : int
            The student's number.
        learned : bool
            Whether trials were proposed by what earlier ones came to on these rows.
        """
        self.taken_, self.confirmation_ = select_trial(
            self.confirm,
            objective,
            {one: (table, tables[start]) for one, table in tables.items() if start in tables},
            ranks,
            start=start,
            learned=learned,
            seed=self.seed,
        )
        return self.taken_

    def parted(
        self,
        student: Judge,
        trainset: Sequence[dspy.Example],
        valset: Sequence[dspy.Example] | None,
        *,
        n_demonstrations: int,
        objective: Objective | SeveralObjectives | None = None,
    ) -> tuple[Rows, Rows]:
        """Return rows to learn from and rows to choose by, without those that a judge shows.

        Rows to choose by keep their changed versions where the objective looks at them.

        Raises
        ------
        ValueError
            If there are no versions where the objective needs some, there are too few rows, all
            scores are equal, both sets hold rows of one source, or the judge gives no score for a
            target.
        """
        refuse_unscored_targets(student.protocol, self.targets)
        pool, selection = pool_and_selection_rows(
            trainset,
            valset,
            n_demonstrations=n_demonstrations,
            scale=self.scale,
            percent_of_max=self.percent_of_max,
            seed=self.seed,
            shown=shown_keys(student.protocol.demonstrations),
        )
        selection.refuse_constant(self.targets)
        selection = rows_for(objective, selection)
        check_objective(
            objective, selection, self.targets, criteria=student.protocol.scored_criteria
        )
        return pool.without_versions(), selection


def check_objective(
    objective: Objective | SeveralObjectives | None,
    rows: Rows,
    targets: Sequence[str] = (SCORE,),
    *,
    criteria: Iterable[str] = (),
) -> None:
    """Refuse an objective that these rows cannot tell judges apart by, before a model is called."""
    if objective is None:
        return
    for one in objective.each:
        if not one.checked_on_ratings:
            continue
        if math.isnan(one.value(rows.as_people_said(targets, criteria=criteria))):
            raise InputError(
                f"the objective {one} is undefined on the {len(rows)} rows to choose by, even for "
                "a judge that repeats the human ratings."
            )


def rows_for(objective: Objective | SeveralObjectives | None, rows: Rows) -> Rows:
    """Return rows to choose by as an objective needs them: with changed versions, or without."""
    terms = () if objective is None else objective.rated_terms
    if terms and not rows.is_rated:
        raise InputError(
            f"nobody rated these rows, and {', '.join(terms)} compares scores with people's.",
            hint="leave it out of the objective, or rate them.",
        )
    if objective is None or "versions" not in objective.needs:
        return rows.without_versions()
    if not rows.kinds:
        raise InputError(
            f"the objective {objective} looks at changed versions of the rows to choose by, and "
            "they have none.",
            hint="give examples with versions (see rated_example).",
        )
    return rows


def pool_and_selection_rows(
    trainset: Sequence[dspy.Example],
    valset: Sequence[dspy.Example] | None,
    *,
    n_demonstrations: int,
    scale: Scale | None,
    percent_of_max: bool,
    seed: int,
    shown: Iterable[str] = (),
) -> tuple[Rows, Rows]:
    """Return rows to show and rows to choose by, which share no source and no text."""
    rows = rows_of(trainset, scale, percent_of_max=percent_of_max)
    if n_demonstrations and not rows.is_rated:
        raise InputError(
            "nobody rated these rows, so that none can be shown as a demonstration.",
            hint="ask for no demonstrations.",
        )
    if valset is None:
        parts = pool_and_selection(
            rows.groups,
            rows.levels,
            n_demonstrations=n_demonstrations,
            rng=np.random.default_rng([seed, 0]),
        )
        pool, selection = rows.take(parts.pool), rows.take(parts.selection)
    else:
        pool, selection = rows, rows_of(valset, scale)
        shared = set(rows.groups.tolist()) & set(selection.groups.tolist())
        if shared:
            raise InputError(
                f"{len(shared)} sources are in both trainset and valset, such as "
                f"{min(map(str, shared))!r}: a demonstration would help score itself."
            )
    selection = selection.without(shown)
    # The same text may be rated under two sources: it must not help score itself.
    return pool.without(item.key for item in selection.items), selection


def refuse_unscored_targets(protocol: JudgeConfig, targets: Sequence[str]) -> None:
    """Refuse targets that a judge gives no score for."""
    scored = protocol.scored_criteria
    known = {SCORE, *map(folded, scored)}
    unknown = [one for one in targets if one != SCORE and folded(one) not in known]
    if unknown:
        raise InputError(
            f"the judge gives no score for {', '.join(unknown)}; it scores the whole"
            + (f" and {', '.join(scored)}." if scored else " alone.")
        )

"""Search of the whole protocol: proposals of a sampler, raced against the best judge so far."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dspy
import numpy as np
from dspy.teleprompt import Teleprompter

from judgesmith.optimizers.demonstration_choices import RUNS, Drawer, N, demonstration_choices
from judgesmith.optimizers.demonstrations import pool_and_selection_rows
from judgesmith.optimizers.drawing import Pool, kept_runs, shown_keys
from judgesmith.optimizers.eliminating import Elimination, Race
from judgesmith.optimizers.objectives import Objective, as_objective
from judgesmith.optimizers.proposing import MakeSampler, Proposer, tpe
from judgesmith.optimizers.racing_search import (
    LOOKS,
    OutOfBudget,
    RacingSearch,
    stratified_order,
)
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.table import SCORE, JudgedTable
from judgesmith.programs.judge import Judge, check_judge
from judgesmith.programs.running import CONCURRENCY, NOT_ASKED, judge_items
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.scale import Scale
from judgesmith.signatures.space import Space

if TYPE_CHECKING:
    import optuna


class ProtocolSearch(Teleprompter):
    """Search variant, rubric, explanations, samples and demonstrations for the best agreement.

    In each round a sampler proposes configurations that were not tried yet. They and the best
    judge so far are judged on growing parts of the same rows; who falls behind is not judged
    further. The student as it was given is the first leader, so that the result is never worse
    on the rows it was chosen by.

    Parameters
    ----------
    objective : Objective or str
        What is made as large as possible over the whole list of predictions, such as ``q``.
    n_trials : int
        Configurations tried besides the student.
    batch : int
        How many are proposed at a time, and race each other.
    space : Space or None
        What may be chosen; None takes the student's own space, with ``rubrics``.
    rubrics : dict of str to Rubric, or None
        Rubrics that compete with the student's own.
    n_demonstrations, n_draws : int
        Demonstrations per prompt at most, 0 for none; how many sets of each kind compete.
    elimination : Elimination
        Who goes on in a race.
    looks : sequence of float
        Shares of the rows at which contenders are compared, rising to 1.
    sampler : callable
        From a seed to an Optuna sampler.
    storage : str, Path or None
        Where the study is kept: a file (an Optuna journal) or the URL of a database; None keeps
        it in memory. A search that is run again with the same storage goes on.
    targets, partial_demos, percent_of_max, seed, scale, lm, concurrency, progress
        As for ``RandomDemonstrationSearch``.

    Attributes
    ----------
    trials_ : tuple of RacedTrial
        Everything that was tried, in order; set by ``compile``.
    n_judged_ : int
        Rows that were judged in all; judging all trials on all rows would have been
        ``len(trials_) * n_rows``.
    study_ : optuna.Study
        What the sampler learned from.
    """

    def __init__(
        self,
        objective: Objective | str = "q",
        *,
        n_trials: int = 30,
        batch: int = 6,
        space: Space | None = None,
        rubrics: Mapping[str, Rubric] | None = None,
        n_demonstrations: int = 5,
        n_draws: int = 3,
        elimination: Elimination = Race(),  # noqa: B008 - a frozen record
        looks: Sequence[float] = LOOKS,
        sampler: MakeSampler = tpe,
        storage: str | Path | None = None,
        targets: Sequence[str] = (SCORE,),
        partial_demos: bool = False,
        percent_of_max: bool = False,
        seed: int = 0,
        scale: Scale | None = None,
        lm: dspy.LM | None = None,
        concurrency: int = CONCURRENCY,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__()
        if n_trials < 1 or batch < 1:
            raise ValueError(f"n_trials and batch must be 1 or more; got {n_trials} and {batch}.")
        if n_demonstrations < 0 or n_draws < 1:
            raise ValueError(
                "n_demonstrations must be 0 or more and n_draws 1 or more; got "
                f"{n_demonstrations} and {n_draws}."
            )
        if list(looks) != sorted(set(looks)) or not looks or looks[0] <= 0 or looks[-1] != 1:
            raise ValueError(f"looks rise from above 0 to 1; got {list(looks)}.")
        if not targets:
            raise ValueError("no targets to agree with; name score, or criteria.")
        self.objective = as_objective(objective)
        self.n_trials = n_trials
        self.batch = batch
        self.space = space
        self.rubrics = rubrics
        self.n_demonstrations = n_demonstrations
        self.n_draws = n_draws
        self.elimination = elimination
        self.looks = tuple(looks)
        self.sampler = sampler
        self.storage = storage
        self.targets = tuple(targets)
        self.partial_demos = partial_demos
        self.percent_of_max = percent_of_max
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
        teacher: Judge | None = None,
        valset: Sequence[dspy.Example] | None = None,
    ) -> Judge:
        """Return the best judge found; ``student`` is left as it was.

        Parameters
        ----------
        student : Judge
            The first leader.
        trainset : sequence of dspy.Example
            Rows that may be shown. Without ``valset``, a part of them by source.
        teacher : None
            Runs that are shown are the candidates' own.
        valset : sequence of dspy.Example or None
            Rows to choose by. They share no source with ``trainset``.

        Raises
        ------
        ValueError
            If there are too few rows, all scores are equal, rows to show and rows to choose by
            share a source, or a teacher was given.
        """
        check_judge(student)
        if teacher is not None:
            raise ValueError("ProtocolSearch shows the candidates' own runs; drop teacher.")
        pool, selection = pool_and_selection_rows(
            trainset,
            valset,
            n_demonstrations=self.n_demonstrations,
            scale=self.scale,
            percent_of_max=self.percent_of_max,
            seed=self.seed,
        )
        selection = selection.without(shown_keys(student.protocol.demonstrations))
        selection.refuse_constant(self.targets)
        candidates = _Candidates(self, student, pool, selection)
        study = _study(self.storage, candidates.name())
        search = RacingSearch(
            proposer=Proposer(
                study=study, space=candidates.space, sampler=self.sampler, seed=self.seed
            ),
            make=candidates.make,
            objective=self.objective,
            order=stratified_order(
                selection.human, selection.groups, np.random.default_rng([self.seed, 3])
            ),
            elimination=self.elimination,
            looks=self.looks,
            n_trials=self.n_trials,
            batch=self.batch,
            seed=self.seed,
        )
        best = search.run(_JudgeOnRows(student, candidates))
        self.trials_ = tuple(search.trials[number] for number in sorted(search.trials))
        self.n_judged_ = search.n_judged + candidates.n_runs
        self.study_ = study
        return best.judge.with_protocol(best.judge.protocol)


class _Candidates:
    """Makes the judges of configurations, and judges rows by them."""

    def __init__(
        self, settings: ProtocolSearch, student: Judge, pool: Rows, selection: Rows
    ) -> None:
        self.settings = settings
        self.student = student
        self.pool = pool
        self.selection = selection
        self.runs: dict[str, dict[int, Judgement]] = {}
        self.n_runs = 0
        self.of_judge = (
            student.space(settings.rubrics) if settings.space is None else settings.space
        )
        self.space = self.of_judge.extended(
            *demonstration_choices(
                len(pool), most=settings.n_demonstrations, n_draws=settings.n_draws
            )
        )

    def name(self) -> str:
        """Return what tells this search from every other in the same storage."""
        settings = self.settings
        rows = [[item.key for item in part.items] for part in (self.pool, self.selection)]
        human = [part.human.tolist() for part in (self.pool, self.selection)]
        of_search = [str(settings.objective), settings.seed, settings.batch, settings.targets]
        of_search += [settings.looks, repr(settings.elimination), settings.percent_of_max]
        whole = [self.space.model_dump(mode="json"), self.student.protocol.fingerprint]
        text = json.dumps([whole, of_search, rows, human], sort_keys=True)
        return f"protocol-{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    def make(self, picked: Mapping[str, str]) -> _JudgeOnRows:
        """Return the judge of a configuration, with its demonstrations."""
        of_judge = {name: option for name, option in picked.items() if name in self.of_judge.names}
        undecided = self.student.protocol.model_copy(update={"demonstrations": {}})
        bare = self.student.with_protocol(undecided).with_choices(of_judge, space=self.of_judge)
        protocol = bare.protocol
        if picked.get(N, "0") != "0":
            runs = {} if picked[RUNS] == "none" else self._runs(bare)
            pool = Pool(rows=self.pool, runs=runs, partial_demos=self.settings.partial_demos)
            shown = Drawer(pool, self.settings.seed).shown(protocol, picked)
            protocol = protocol.model_copy(update={"demonstrations": shown})
        return _JudgeOnRows(bare.with_protocol(protocol), self)

    def judged(self, judge: Judge, rows: Rows) -> list[Judgement]:
        """Return the judgement of every row.

        Raises
        ------
        OutOfBudget
            If the budget did not reach all of them.
        """
        settings = self.settings
        found = judge_items(
            judge,
            rows.items,
            lm=settings.lm,
            concurrency=settings.concurrency,
            progress=settings.progress,
        )
        if any((one.problem or "").startswith(NOT_ASKED) for one in found):
            raise OutOfBudget
        return found

    def _runs(self, bare: Judge) -> dict[int, Judgement]:
        """Return what a judge without demonstrations makes of the pool, asked once."""
        protocol = bare.protocol
        if protocol.variant == "vanilla":
            return {}
        if protocol.fingerprint not in self.runs:
            needed = protocol.rubric.names if protocol.variant == "fine" else ()
            judgements = self.judged(bare, self.pool)
            self.n_runs += len(judgements)
            self.runs[protocol.fingerprint] = kept_runs(self.pool, judgements, criteria=needed)
        return self.runs[protocol.fingerprint]


class _JudgeOnRows:
    """A judge as a candidate; what it said of a row is kept."""

    def __init__(self, judge: Judge, among: _Candidates) -> None:
        self.judge = judge
        self.among = among
        self.judgements: dict[int, Judgement] = {}

    def table(self, rows: Sequence[int]) -> JudgedTable:
        """Return what the judge says of these rows, asking about those that are new."""
        selection = self.among.selection
        missing = [row for row in rows if row not in self.judgements]
        if missing:
            found = self.among.judged(self.judge, selection.take(missing))
            self.judgements |= dict(zip(missing, found, strict=True))
        said = [self.judgements[row] for row in rows]
        return selection.take(rows).judged(said, self.among.settings.targets)


def _study(storage: str | Path | None, name: str) -> optuna.Study:
    """Return the study of that name, new or as it was left."""
    import optuna
    from optuna.storages.journal import JournalFileBackend

    kept: Any = storage
    if isinstance(storage, Path) or (storage is not None and "://" not in storage):
        kept = optuna.storages.JournalStorage(JournalFileBackend(str(storage)))
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        return optuna.create_study(
            storage=kept, study_name=name, direction="maximize", load_if_exists=True
        )
    finally:
        optuna.logging.set_verbosity(level)

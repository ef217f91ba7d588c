"""Search of the whole protocol: proposals of a sampler, raced against the best judge so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import dspy
import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics import Estimate
from judgesmith.optimizers.base import SearchSettings
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.combining import SeveralObjectives
from judgesmith.optimizers.objectives.grammar import AnyObjective, as_objectives
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.search.racing import (
    RUNGS,
    Elimination,
    FrontSearch,
    RacingRule,
    RacingSearch,
    front_elimination,
    stratified_order,
)
from judgesmith.optimizers.search.screening import ConfirmedSearch, ScreenedSearch, ScreeningStage
from judgesmith.optimizers.search.work_queue import SharedJudging, WorkQueue
from judgesmith.optimizers.space.candidates import Candidates, JudgeOnRows, SpaceSearch
from judgesmith.optimizers.space.proposing import (
    Proposer,
    SamplerGiven,
    identity_of,
    sampler_identity,
    tpe,
)
from judgesmith.optimizers.storage import open_storage, quiet, reachable
from judgesmith.programs.judging.executors import endpoint_of
from judgesmith.programs.judging.judge import Judge
from judgesmith.signatures.plain_data import fingerprint_of
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Picked, Space

if TYPE_CHECKING:
    import optuna


@dataclass(frozen=True, kw_only=True, eq=False)
class ParetoMember:
    number: int
    picked: Mapping[str, str]
    judge: Judge
    lm: dspy.LM
    values: Mapping[str, Estimate]
    n_calls: float
    is_knee: bool


def pareto_members(search: FrontSearch[JudgeOnRows], *, seed: int) -> tuple[ParetoMember, ...]:
    rows = sorted(search.order.tolist())
    several, knee = search.objectives, search.best
    found = []
    for one in search.members:
        table = one.candidate.table(rows)
        estimates = {
            name: aim.estimate(table, seed=np.random.default_rng([seed, 12]))
            for name, aim in zip(several.names, several.aims, strict=True)
        }
        found.append(
            ParetoMember(
                number=one.number,
                picked=dict(one.picked),
                judge=one.candidate.judge,
                lm=one.candidate.asking.lm,
                values=estimates,
                n_calls=float(np.mean(table.n_calls)),
                is_knee=one is knee,
            )
        )
    return tuple(found)


class ProtocolSearch(SpaceSearch[Objective | SeveralObjectives, Judge]):
    """Search variant, rubric, explanations, samples and demonstrations for the best agreement.

    In each round a sampler proposes configurations that were not tried yet. They and the best
    judge so far are judged on growing parts of the same rows; who falls behind is not judged
    further. The student as given is the first leader. The best replaces it only if the
    luck of so many does not explain its gain, see ``ImprovementTest``.

    Parameters
    ----------
    objective : Objective, SeveralObjectives, callable or str
        As for ``JudgeSearch``. Of several, such as ``q, -calls``, the front is searched, and the
        judge at its knee returned.
    n_trials : int
        Configurations tried, the student not counted.
    batch : int
        How many are proposed at a time, and race each other.
    space : Space or None
        What may be chosen; None takes the student's own space, with ``rubrics``.
    rubrics : dict of str to Rubric, or None
        Rubrics that compete with the student's own.
    fixed : sequence of str
        Choices that are not made: there the student stays as it is.
    first : sequence of dict of str to str
        Configurations that are tried before the sampler proposes any, where the space has them.
    n_demonstrations, n_demo_sets : int
        Demonstrations per prompt at most, 0 for none; how many sets of each kind compete.
    elimination : Elimination, ScreeningStage or optuna.pruners.BasePruner
        Who stays in a race. A pruner sees intermediate values by the number of rows. A
        ``ScreeningStage`` proposes all candidates, without a ``sampler``, and judges them on few
        rows first: ``n_trials=108, elimination=ScreeningStage()``.
    sampler : callable or optuna.samplers.BaseSampler
        From a seed to an Optuna sampler, or a sampler, whose own seed counts. With a storage,
        samplers that differ in their code or in what is bound to it have different studies.
    storage : str, Path or None
        Where the study is kept: a file (an Optuna journal) or the URL of a database; None keeps
        it in memory. A search that is run again with the same storage resumes. Where it is run
        several times at once, each process judges a part of the rows, and all find the same judge.
    beside : Path or None
        Where workers note that they are alive; None takes ``storage`` where that is a file.
    models : dict of str to dspy.LM, or None
        Models that compete with ``lm``, by name.
    partial_demos : bool
        As for ``RandomDemonstrationSearch``.
    **shared
        As for ``JudgeSearch``.

    Attributes
    ----------
    taken_ : int or None
        Number of the trial that was taken: 0 where the student stays, which is a usual outcome;
        None of a front.
    n_judged_ : int
        Rows that were judged in all, those whose runs may be shown included.
    space_, study_ : Space, optuna.Study
        What was chosen from, and what the sampler learned from.
    lm_ : dspy.LM
        The model that the judge was found with.
    front_ : tuple of ParetoMember
        The front of several objectives, in the order in which they were tried; empty for one.
    """

    refuses_teacher = "shows the candidates' own runs"

    def __init__(
        self,
        objective: AnyObjective | SeveralObjectives = "q",
        *,
        n_trials: int = 30,
        batch: int = 6,
        space: Space | None = None,
        rubrics: Mapping[str, Rubric] | None = None,
        fixed: Sequence[str] = (),
        first: Sequence[Picked] = (),
        n_demonstrations: int = 5,
        n_demo_sets: int = 3,
        elimination: Elimination | ScreeningStage | optuna.pruners.BasePruner = RacingRule(),  # noqa: B008
        sampler: SamplerGiven = tpe,
        storage: str | Path | None = None,
        beside: Path | None = None,
        models: Mapping[str, dspy.LM] | None = None,
        partial_demos: bool = False,
        **shared: Unpack[SearchSettings],
    ) -> None:
        super().__init__(
            space=space,
            fixed=fixed,
            n_demonstrations=n_demonstrations,
            n_demo_sets=n_demo_sets,
            rubrics=rubrics,
            models=models,
            partial_demos=partial_demos,
            **shared,
        )
        if n_trials < 1 or batch < 1:
            raise InputError(f"n_trials and batch must be 1 or more; got {n_trials} and {batch}.")
        self.objective = as_objectives(objective, self.metric)
        if len(self.objective.each) > 1:
            front_elimination(elimination)  # which refuses what cannot be
        if isinstance(elimination, ScreeningStage) and sampler is not tpe:
            raise InputError("a ScreeningStage proposes by itself.", hint="drop the sampler.")
        self.n_trials = n_trials
        self.batch = batch
        self.first = tuple(first)
        self.elimination = elimination
        self.sampler = sampler
        self.storage = storage
        in_file = storage is not None and "://" not in str(storage)
        self.beside = Path(str(storage)) if beside is None and in_file else beside

    def _found(self, student: Judge, pool: Rows, selection: Rows, teacher: Judge | None) -> Judge:
        candidates = self._candidates(student, pool, selection)
        with quiet(), reachable():
            kept, name = open_storage(self.storage), self._name(candidates)
            study = kept.study(name, n_objectives=len(self.objective.each))
            search = self._racing(candidates, study)
            if self.storage is not None:
                board = WorkQueue(kept, name, beside=self.beside)
                search.together = SharedJudging(board, candidates)
            best = search.run(candidates.start(), known=candidates.start_ids())
        self.trials_ = tuple(search.trials[number] for number in sorted(search.trials))
        self.complete_ = search.complete
        self.n_judged_ = candidates.n_judged
        self.space_ = candidates.space
        self.study_ = study
        self.lm_ = best.asking.lm
        self.front_: tuple[ParetoMember, ...] = ()
        if isinstance(search, FrontSearch):
            self.front_ = pareto_members(search, seed=self.seed)
        self.confirmation_, self.taken_ = None, None
        if isinstance(search, ConfirmedSearch):
            self.confirmation_, self.taken_ = search.confirmation, search.taken
        return best.judge.with_protocol(best.judge.protocol)

    def _racing(self, candidates: Candidates, study: optuna.Study) -> RacingSearch[JudgeOnRows]:
        selection, rng = candidates.selection, np.random.default_rng([self.seed, 3])
        shared: dict[str, Any] = {
            "proposer": Proposer(
                study=study,
                space=candidates.space,
                sampler=self.sampler,
                seed=self.seed,
                first=self._first(candidates.space),
            ),
            "make": candidates.make,
            "objective": self.objective.leading,
            "order": stratified_order(selection.levels, selection.groups, rng),
            "n_trials": self.n_trials,
            "batch": self.batch,
            "seed": self.seed,
            "on_trial": self.on_trial,
        }
        rule, several = self.elimination, self.objective
        if isinstance(rule, ScreeningStage):
            return ScreenedSearch(**shared, rule=self.confirm, screen=rule)
        if isinstance(several, SeveralObjectives):
            return FrontSearch(
                **shared, elimination=rule, objectives=several, dominance=front_elimination(rule)
            )
        return ConfirmedSearch(**shared, elimination=rule, rule=self.confirm)

    def _first(self, space: Space) -> list[dict[str, str]]:
        known = {one.name: one.ids for one in space.choices}
        kept = ({k: v for k, v in one.items() if v in known.get(k, ())} for one in self.first)
        return [one for one, asked in zip(kept, self.first, strict=True) if one == dict(asked)]

    def _name(self, candidates: Candidates) -> str:
        parts = (candidates.pool, candidates.selection)
        rows = [[item.key for item in part.items] for part in parts]
        human = [[part.human.tolist(), part.groups.tolist()] for part in parts]
        lm = candidates.asking.lm
        screen = self.elimination if isinstance(self.elimination, ScreeningStage) else None
        race = self.elimination if screen is None else RacingRule()
        named = repr if callable(race) else identity_of  # a pruner's text is its address
        whole: list[Any] = [
            candidates.space.model_dump(mode="json"),
            candidates.student.protocol.fingerprint,
            [self.objective.identity, self.seed, self.batch, self.targets, RUNGS],
            [repr(self.confirm), named(race), sampler_identity(self.sampler)],
            [self.partial_demos, self.percent_of_max, str(lm.model), endpoint_of(lm)],
            [dict(one) for one in self.first],
            [version("judgesmith"), rows, human],
            *([[name, endpoint_of(one)] for name, one in self.models.items()]),
            *([] if screen is None else [repr(screen)]),
        ]
        if kinds := candidates.selection.kinds:
            versions = candidates.selection.versions
            keys = [[one and one.key for one in several] for several in versions]
            whole.append([[kind.model_dump(mode="json") for kind in kinds], keys])
        return f"protocol-{fingerprint_of(whole)}"

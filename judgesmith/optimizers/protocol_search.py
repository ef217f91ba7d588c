"""Search of the whole protocol: proposals of a sampler, raced against the best judge so far."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dspy
import numpy as np
from dspy.teleprompt import Teleprompter

from judgesmith.optimizers.demonstration_choices import (
    NAMES,
    Drawer,
    demonstration_choices,
)
from judgesmith.optimizers.demonstrations import ENOUGH_SCORED, pool_and_selection_rows
from judgesmith.optimizers.drawing import Pool, kept_runs, shown_keys
from judgesmith.optimizers.eliminating import Elimination, Look, Race
from judgesmith.optimizers.objectives import Objective, as_objective
from judgesmith.optimizers.proposing import MakeSampler, Proposer, configuration_id, tpe
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.splitting import IntArray
from judgesmith.optimizers.table import SCORE, JudgedTable
from judgesmith.programs.judge import Judge, check_judge
from judgesmith.programs.running import CONCURRENCY, NOT_ASKED, judge_items
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.scale import Scale
from judgesmith.signatures.space import Space

if TYPE_CHECKING:
    import optuna

LOOKS = (0.15, 0.3, 0.6, 1.0)
"""Shares of the rows at which contenders are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolTrial:
    """One configuration, how far it got, and how well it did.

    Attributes
    ----------
    number : int
        From 0, the student as it was given.
    picked : dict of str to str
        The option of every choice that arises; empty for the student.
    value : float
        The objective on the rows it was judged on, nan where undefined.
    n_rows : int
        How many these were.
    share_scored : float
        Fraction of these rows that got a score, on the target with the smallest.
    """

    number: int
    picked: Mapping[str, str]
    value: float
    n_rows: int
    share_scored: float

    @property
    def rank(self) -> tuple[bool, float]:
        """Larger is better, among trials on the same rows."""
        value = -math.inf if math.isnan(self.value) else self.value
        return (self.share_scored >= ENOUGH_SCORED, value)


class OutOfBudget(Exception):  # noqa: N818 - says what happened
    """The budget left rows of a contender unasked."""


@dataclass(kw_only=True, eq=False)
class _Contender:
    """A judge in the race, and what it said so far."""

    number: int
    picked: Mapping[str, str]
    judge: Judge
    trial: int | None = None
    judgements: dict[int, Judgement] = field(default_factory=dict)


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
    trials_ : tuple of ProtocolTrial
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
        return _Search(self, student, pool, selection).run()


class _Search:
    """One search under way."""

    def __init__(
        self, settings: ProtocolSearch, student: Judge, pool: Rows, selection: Rows
    ) -> None:
        self.settings = settings
        self.student = student
        self.pool = pool
        self.selection = selection
        self.order = _stratified_order(selection, np.random.default_rng([settings.seed, 3]))
        self.trials: dict[int, ProtocolTrial] = {}
        self.runs: dict[str, dict[int, Judgement]] = {}
        self.n_judged = 0
        own = student.space(settings.rubrics) if settings.space is None else settings.space
        choices = demonstration_choices(
            len(pool), most=settings.n_demonstrations, n_draws=settings.n_draws
        )
        self.judge_space = own
        self.space = own.extended(*choices)

    def run(self) -> Judge:
        """Return the best judge, and leave what was tried on the optimizer."""
        settings = self.settings
        study = _study(settings.storage, self._name())
        proposer = Proposer(
            study=study, space=self.space, sampler=settings.sampler, seed=settings.seed
        )
        leader = _Contender(number=0, picked={}, judge=self.student)
        tried: set[str] = set()
        try:
            self._judge_on(leader, len(self.order))
            self._note(leader)
            for first in range(0, settings.n_trials, settings.batch):
                batch = list(self._proposed(proposer, first, tried))
                if not batch:
                    break
                leader = self._raced(leader, batch, proposer)
        except OutOfBudget:
            pass
        settings.trials_ = tuple(self.trials[number] for number in sorted(self.trials))
        settings.n_judged_ = self.n_judged
        settings.study_ = study
        return leader.judge.with_protocol(leader.judge.protocol)

    def _name(self) -> str:
        """Return what tells this search from every other in the same storage."""
        settings = self.settings
        rows = [[item.key for item in part.items] for part in (self.pool, self.selection)]
        human = [part.human.tolist() for part in (self.pool, self.selection)]
        of_search = [str(settings.objective), settings.seed, settings.batch, settings.targets]
        of_search += [settings.looks, repr(settings.elimination), settings.percent_of_max]
        whole = [self.space.model_dump(mode="json"), self.student.protocol.fingerprint]
        text = json.dumps([whole, of_search, rows, human], sort_keys=True)
        return f"protocol-{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    def _proposed(self, proposer: Proposer, first: int, tried: set[str]) -> Iterator[_Contender]:
        last = min(first + self.settings.batch, self.settings.n_trials)
        for k in range(first, last):
            found = proposer.propose(k, tried)
            if found is None:
                return
            trial, picked = found
            tried.add(configuration_id(picked))
            yield _Contender(number=k + 1, picked=picked, judge=self._judge(picked), trial=trial)

    def _judge(self, picked: Mapping[str, str]) -> Judge:
        """Return the judge of a configuration, with its demonstrations."""
        of_judge = {name: option for name, option in picked.items() if name not in NAMES}
        bare = self.student.with_protocol(
            self.student.protocol.model_copy(update={"demonstrations": {}})
        ).with_choices(of_judge, space=self.judge_space)
        if picked.get(NAMES[0], "0") == "0":
            return bare
        protocol = bare.protocol
        drawer = Drawer(
            Pool(
                rows=self.pool,
                runs=self._runs(bare) if picked["demonstrations.runs"] != "none" else {},
                partial_demos=self.settings.partial_demos,
            ),
            self.settings.seed,
        )
        shown = drawer.shown(protocol, picked)
        return bare.with_protocol(protocol.model_copy(update={"demonstrations": shown}))

    def _runs(self, bare: Judge) -> dict[int, Judgement]:
        """Return what a judge without demonstrations makes of the pool, asked once."""
        protocol = bare.protocol
        if protocol.variant == "vanilla":
            return {}
        if protocol.fingerprint not in self.runs:
            needed = protocol.rubric.names if protocol.variant == "fine" else ()
            judgements = self._judged(bare, self.pool)
            self.runs[protocol.fingerprint] = kept_runs(self.pool, judgements, criteria=needed)
        return self.runs[protocol.fingerprint]

    def _raced(
        self, leader: _Contender, batch: Sequence[_Contender], proposer: Proposer
    ) -> _Contender:
        """Judge a batch as far as its members keep up with the best; return the new leader."""
        looks = sorted(
            {max(math.ceil(share * len(self.order)), 1) for share in self.settings.looks}
        )
        field = [leader, *batch]
        told: dict[int, float] = {}
        for number, n_rows in enumerate(looks, start=1):
            for one in field[1:]:
                self._judge_on(one, n_rows)
            tables = [self._table(one, n_rows) for one in field]
            look = Look(
                tables=tables,
                objective=self.settings.objective,
                number=number,
                n_looks=len(looks),
                rng=np.random.default_rng([self.settings.seed, 4, batch[0].number, number]),
            )
            stay = set(look.ranking()[:1]) | {0}
            if number < len(looks):
                stay |= set(self.settings.elimination(look))
            else:
                stay = set(range(len(field)))
            own = self.settings.objective.value(tables[0])
            for place, one in enumerate(field[1:], start=1):
                # What a contender would come to on all rows, if it kept its distance to the
                # leader: values on few rows alone cannot be compared with values on others.
                apart = self.settings.objective.value(tables[place]) - own
                told[one.number] = self.trials[leader.number].value + apart
            field = [one for place, one in enumerate(field) if place in stay]
        for one in batch:
            self._note(one)
            if one.trial is not None:
                proposer.tell(one.trial, told[one.number])
        whole = [one for one in field if len(one.judgements) == len(self.order)]
        return max(whole, key=lambda one: self.trials[one.number].rank)

    def _judge_on(self, one: _Contender, n_rows: int) -> None:
        """Have a contender judge the first rows of the order, as far as it has not."""
        missing = [row for row in self.order[:n_rows].tolist() if row not in one.judgements]
        if missing:
            found = self._judged(one.judge, self.selection.take(missing))
            one.judgements |= dict(zip(missing, found, strict=True))

    def _judged(self, judge: Judge, rows: Rows) -> list[Judgement]:
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
        self.n_judged += len(found)
        return found

    def _table(self, one: _Contender, n_rows: int) -> JudgedTable:
        """Return a contender's table, without the rows that its demonstrations show."""
        rows = np.sort(self.order[:n_rows]).tolist()
        chosen = self.selection.take(rows)
        return chosen.judged([one.judgements[row] for row in rows], self.settings.targets)

    def _note(self, one: _Contender) -> None:
        table = self._table_of_all(one)
        self.trials[one.number] = ProtocolTrial(
            number=one.number,
            picked=dict(one.picked),
            value=self.settings.objective.value(table),
            n_rows=len(one.judgements),
            share_scored=min(part.share_scored for part in table.parts),
        )

    def _table_of_all(self, one: _Contender) -> JudgedTable:
        return self._table(one, len(one.judgements))


def _stratified_order(rows: Rows, rng: np.random.Generator) -> IntArray:
    """Return the rows in an order whose every beginning spans the range of human scores.

    Whole sources follow each other at random within strata of their mean score: the first rows of
    the order are a small copy of all of them.
    """
    names, codes = np.unique(rows.groups, return_inverse=True)
    sizes = np.bincount(codes)
    means = np.bincount(codes, weights=rows.human) / sizes
    ranked = np.lexsort((rng.permutation(len(names)), means))
    # Every k-th source of the ranking first, then those between: a van der Corput order.
    place = np.argsort([_reversed_bits(n) for n in range(len(names))], kind="stable")
    order_of = np.empty(len(names))
    order_of[ranked[place]] = np.arange(len(names))
    return np.asarray(np.argsort(order_of[codes], kind="stable"), dtype=np.intp)


def _reversed_bits(n: int) -> float:
    value, share = 0.0, 0.5
    while n:
        value += share * (n & 1)
        n >>= 1
        share /= 2
    return value


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

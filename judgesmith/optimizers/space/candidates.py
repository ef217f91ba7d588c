"""The choices that are searched, and a judge with some of them picked, on the rows at hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import dspy

from judgesmith.errors import InputError, did_you_mean
from judgesmith.optimizers.base import Aim, Found, JudgeSearch, SearchSettings
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.combining import SeveralObjectives
from judgesmith.optimizers.predictions import SCORE, PredictionTable
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.search.racing import OutOfBudget
from judgesmith.optimizers.space.demonstrations import (
    CHOSEN,
    NAMES,
    NEAREST,
    RUNS,
    Drawer,
    N,
    OnlyIf,
    Pool,
    demonstrated,
    demonstration_choices,
    kept_runs,
)
from judgesmith.optimizers.space.proposing import configuration_id
from judgesmith.programs.judging.executors import with_own_models
from judgesmith.programs.judging.judge import Judge, own_settings
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.judging.rows import knows_costs, usd_of
from judgesmith.programs.judging.runner import read_rate_of, score_batch, was_not_asked
from judgesmith.results.progress import OnProgress
from judgesmith.signatures.config import ActiveCriticConfig, JudgeConfig
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rubric import Rubric, folded
from judgesmith.signatures.space import Choice, Option, Space, with_labels

MODEL = "model"  # the name of the choice; its options' ids are names of models


def with_models(space: Space, own: str, others: Iterable[str]) -> Space:
    ids = (own, *others)
    if len(ids) == 1:
        return space
    choice = Choice(name=MODEL, options=tuple(Option(id=one) for one in ids))
    return Space(choices=(choice, *space.choices))


def check_models(
    lm: dspy.LM, models: Mapping[str, dspy.LM], objective: Objective | SeveralObjectives
) -> None:
    own = str(lm.model)
    if own in models:
        raise InputError(f"{own} competes with itself.", hint="name every model once.")
    if "usd" not in objective.needs:
        return
    for name, one in {own: lm, **models}.items():
        if not knows_costs(one):
            raise InputError(
                f"the objective {objective} needs to know what answers of {name} cost: that takes "
                "its price (--price IN,OUT) and a ledger.",
                hint="leave usd out, or give both.",
            )


def check_fixed(fixed: Sequence[str], protocol: JudgeConfig, more: Iterable[str] = ()) -> None:
    """Refuse names of choices that no search has for such a judge."""
    kind = type(protocol)
    own = [*dict.fromkeys((*more, *_names(protocol), *_names(kind.model_validate({}))))]
    # What is set and never searched stays as it is, too.
    others = (*own_settings(protocol), *_names(ActiveCriticConfig()), *NAMES, MODEL)
    known = [*dict.fromkeys((*own, *others))]
    own += NAMES if family_of(protocol.judge).has_demonstrations else ()
    for name in fixed:
        if name not in known and str(name).partition(".")[0] not in protocol.by_criterion:
            raise InputError(
                f"fixed names choices of the search, and there is no {str(name)[:80]!r}.",
                hint=did_you_mean(name, known) or f"give some of {', '.join(own)}.",
            )


def _names(protocol: JudgeConfig) -> tuple[str, ...]:
    names: tuple[str, ...] = family_of(protocol.judge).space(protocol, None).names
    return names


def without_fixed(space: Space, fixed: Sequence[str]) -> Space:
    """Return a space in which some choices are not made: there a judge stays as it is."""
    return space.without(*fixed, *(NAMES if N in fixed else ()))


Said = Sequence[Judgement]
"""What a judge says of a row: of the row itself, then of its changed versions."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AskedHow:
    lm: dspy.LM
    concurrency: int
    on_progress: OnProgress | None
    competes: bool = False

    def judged(self, judge: Judge, rows: Rows) -> list[Judgement]:
        with read_rate_of(self.lm).forgiving() if self.competes else nullcontext():
            found = score_batch(
                judge,
                rows.texts,
                lm=self.lm,
                concurrency=self.concurrency,
                on_progress=self.on_progress,
            )
        if any(map(was_not_asked, found)):
            raise OutOfBudget
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """Makes the judges of configurations; equal judges are one and the same."""

    student: Judge
    space: Space
    pool: Rows
    selection: Rows
    targets: tuple[str, ...]
    partial_demos: bool
    seed: int
    asking: AskedHow
    models: Mapping[str, dspy.LM] = field(default_factory=dict)
    costs: bool = False
    runs: dict[str, dict[int, Judgement]] = field(default_factory=dict)
    made: dict[str, JudgeOnRows] = field(default_factory=dict)
    running: dict[str, JudgeOnRows] = field(default_factory=dict)

    @property
    def of_judge(self) -> Space:
        others = {*NAMES, *([MODEL] if self.models else [])}
        return Space(choices=tuple(one for one in self.space.choices if one.name not in others))

    def start(self) -> JudgeOnRows:
        return self._on_rows(self.student)

    def start_ids(self) -> list[str]:
        """Return the configuration that is the student, if there is one in the space."""
        shows_none = {N: "0"} if N in self.space.names else {}
        if shows_none and "0" not in next(one for one in self.space.choices if one.name == N).ids:
            return []
        picked = self.space.complete(shows_none)
        is_it = self._bare(picked).protocol == self.student.protocol
        return [configuration_id(picked)] if is_it else []

    def make(self, picked: Mapping[str, str]) -> JudgeOnRows:
        bare = self._bare(picked)
        model = picked.get(MODEL, "")
        if picked.get(N, "0") == "0":
            return self._on_rows(bare, model)
        pool = Pool(rows=self.pool, runs=self._runs(picked), partial_demos=self.partial_demos)
        shown = Drawer(pool, self.seed).shown(demonstrated(bare.protocol), picked)
        nearest = int(picked[N]) if shown and picked.get(CHOSEN) == NEAREST else None
        update = {"demonstrations": shown, "nearest": nearest}
        protocol = bare.protocol.model_copy(update=update)
        return self._on_rows(bare.with_protocol(protocol), model)

    def _bare(self, picked: Mapping[str, str]) -> Judge:
        nothing_shown: dict[str, Any] = {"demonstrations": {}, "nearest": None}
        undecided = self.student.protocol.model_copy(update=nothing_shown)
        own = self.of_judge
        chosen = {name: picked[name] for name in picked if name in own.names}
        return self.student.with_protocol(undecided).with_choices(chosen, space=own)

    def _on_rows(self, judge: Judge, model: str = "", *, on_pool: bool = False) -> JudgeOnRows:
        known = judge.protocol.fingerprint
        asking = self.asking
        if model in self.models:
            known = f"{known} {model}"
            asking = replace(asking, lm=self.models[model], competes=True)
        made, rows = (self.running, self.pool) if on_pool else (self.made, self.selection)
        if known not in made:
            made[known] = JudgeOnRows(known, judge, self, asking, rows)
        return made[known]

    def on_pool(self, picked: Mapping[str, str]) -> JudgeOnRows | None:
        """Return the judge whose runs on the training rows are shown, if any are."""
        bare = self._bare(picked)
        shows_runs = picked.get(N, "0") != "0" and picked.get(RUNS, "none") != "none"
        if not (shows_runs and bare.protocol.tells_rubric):
            return None
        return self._on_rows(bare, picked.get(MODEL, ""), on_pool=True)

    def _runs(self, picked: Mapping[str, str]) -> Mapping[int, Judgement]:
        """Return what a judge without demonstrations makes of the pool, asked once."""
        running = self.on_pool(picked)
        if running is None:
            return {}
        if running.known not in self.runs:
            judgements = running.judged(range(len(self.pool)))
            criteria = running.judge.protocol.scored_criteria
            self.runs[running.known] = kept_runs(self.pool, judgements, criteria=criteria)
        return self.runs[running.known]

    @property
    def n_judged(self) -> int:
        of_selection = sum(len(one.judgements) for one in self.made.values())
        return of_selection + len(self.runs) * len(self.pool)


class JudgeOnRows:
    """A judge as a candidate; what it said of a row is kept."""

    def __init__(
        self, known: str, judge: Judge, among: Candidates, asking: AskedHow, rows: Rows
    ) -> None:
        self.known = known
        self.judge = judge
        self.among = among
        self.asking = asking
        self.rows = rows
        self.judgements: dict[int, Judgement] = {}
        self.of_versions: dict[int, Sequence[Judgement]] = {}
        self.usd: dict[int, float] = {}

    def table(self, rows: Sequence[int]) -> PredictionTable:
        said = self.judged(rows)
        usd = [self.usd[row] for row in rows] if self.among.costs else ()
        said += [one for row in rows for one in self.of_versions[row]]
        return self.rows.take(rows).judged(
            said, self.among.targets, judge_scale=self.judge.scale, usd=usd
        )

    def judged(self, rows: Sequence[int]) -> list[Judgement]:
        missing = self.missing(rows)
        if missing:
            self.take(missing, *self.ask(missing))
        return [self.judgements[row] for row in rows]

    def missing(self, rows: Sequence[int]) -> list[int]:
        return [row for row in rows if row not in self.judgements]

    def ask(self, rows: Sequence[int]) -> tuple[list[Said], Sequence[float]]:
        asked = self.rows.take(rows)
        found = self.asking.judged(self.judge, asked)
        own = found[: len(asked)]
        said: list[Said] = [asked.at(found, [place]) for place in range(len(asked))]
        return said, usd_of(own, self.asking.lm) if self.among.costs else ()

    def take(self, rows: Sequence[int], found: Sequence[Said], usd: Sequence[float] = ()) -> None:
        self.judgements |= {row: said[0] for row, said in zip(rows, found, strict=True)}
        self.of_versions |= {row: said[1:] for row, said in zip(rows, found, strict=True)}
        if self.among.costs:
            self.usd |= dict(zip(rows, usd, strict=True))


class SpaceSearch(JudgeSearch[Aim, Found]):
    def __init__(
        self,
        *,
        space: Space | None,
        fixed: Sequence[str],
        n_demonstrations: int,
        n_demo_sets: int,
        rubrics: Mapping[str, Rubric] | None = None,
        models: Mapping[str, dspy.LM] | None = None,
        partial_demos: bool = False,
        **shared: Unpack[SearchSettings],
    ) -> None:
        super().__init__(**shared)
        if n_demonstrations < 0 or n_demo_sets < 1:
            raise InputError(
                "n_demonstrations must be 0 or more and n_demo_sets 1 or more; got "
                f"{n_demonstrations} and {n_demo_sets}."
            )
        self.space = space
        self.fixed = tuple(fixed)
        self.n_demonstrations = n_demonstrations
        self.n_demo_sets = n_demo_sets
        self.rubrics = rubrics
        self.models = dict(models or {})
        self.partial_demos = partial_demos

    def _n_shown(self, student: Judge) -> int:
        check_models(with_own_models(student, self.lm)[1], self.models, self.objective)
        check_fixed(self.fixed, student.protocol, () if self.space is None else self.space.names)
        return self.n_demonstrations if shows_examples(student) else 0

    def _candidates(
        self, student: Judge, pool: Rows, selection: Rows, *, leave: Sequence[str] = ()
    ) -> Candidates:
        """Return the judges of the space, without the choices to ``leave`` where none is given."""
        lm = with_own_models(student, self.lm)[1]
        space = self.space
        if space is None:
            space = judge_space(student, self.rubrics, self.targets)
            space = with_labels(space, selection.scale)
        sizes = {"most": self.n_demonstrations, "n_demo_sets": self.n_demo_sets}
        space = without_fixed(space, self.fixed)
        space = with_demonstrations(space, student, len(pool), **sizes)
        if self.space is None:
            space = space.without(*(name for name in leave if name in space.names))
        space = with_models(space, str(lm.model), self.models)
        return Candidates(
            student=student,
            space=without_fixed(space, self.fixed),
            pool=pool,
            selection=selection,
            targets=self.targets,
            partial_demos=self.partial_demos,
            seed=self.seed,
            asking=AskedHow(lm=lm, concurrency=self.concurrency, on_progress=self.on_progress),
            models=self.models,
            costs="usd" in self.objective.needs,
        )


def judge_space(
    student: Judge, rubrics: Mapping[str, Rubric] | None, targets: Sequence[str]
) -> Space:
    wanted = {folded(one) for one in targets if one != SCORE}
    if not wanted:
        return student.space(rubrics)
    having = {
        name: one
        for name, one in (rubrics or {}).items()
        if wanted <= {folded(criterion) for criterion in one.names}
    }
    return student.space(having).without("variant")


def shows_examples(student: Judge) -> bool:
    return family_of(student.protocol.judge).has_demonstrations


def with_demonstrations(
    space: Space, student: Judge, n_rows: int, *, most: int, n_demo_sets: int
) -> Space:
    """Return a space with the choices about demonstrations from a pool of ``n_rows`` rows."""
    if not shows_examples(student):
        return space
    variants = next((one.ids for one in space.choices if one.name == "variant"), ())
    having_runs = tuple(one for one in variants if one != "vanilla")
    only_if: OnlyIf | None = {"variant": having_runs} if having_runs else None
    if not variants and student.protocol.tells_rubric:
        only_if = {}
    choices = demonstration_choices(
        n_rows, most=most, n_demo_sets=n_demo_sets, with_runs_if=only_if
    )
    return space.extended(*(one for one in choices if one.name not in space.names))

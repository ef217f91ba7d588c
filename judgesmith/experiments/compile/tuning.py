"""Making one judge better: which optimizers run on which rows, by one objective or by several."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.compile.searching import (
    SearchFiles,
    SearchLog,
    SearchProgress,
    balanced_notes,
    bridged_notes,
    confirmation_of,
    confirmation_record,
    effect_notes,
    fitted_winner,
    outcome_note,
    plain_trial,
    rewrite_notes,
    search_notes,
    searched,
    weights_note,
    weights_record,
)
from judgesmith.experiments.compile.settings import CompileSettings, threshold_rule
from judgesmith.experiments.compile.split import Parts, examples_of
from judgesmith.experiments.evaluate.agreement import agreement_report
from judgesmith.front_door import at
from judgesmith.metrics.records import plain
from judgesmith.optimizers import (
    DSPyOptimizer,
    EffectSearch,
    FairPromptSearch,
    FitAggregation,
    PredictionTable,
    RandomDemonstrationSearch,
    ReflectiveSearch,
)
from judgesmith.optimizers.base import OFFLINE
from judgesmith.optimizers.dspy_optimizers import DEMONSTRATIONS
from judgesmith.optimizers.fitting.deciding import trade_off, with_decision
from judgesmith.optimizers.fitting.panels import equal_weights
from judgesmith.optimizers.objectives.agreement import Agreement
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.protocol import ParetoMember, ProtocolSearch
from judgesmith.optimizers.rows import Rows, rows_from
from judgesmith.optimizers.search.screening import ScreeningStage
from judgesmith.optimizers.space.candidates import MODEL
from judgesmith.optimizers.space.demonstrations import N, shown_keys
from judgesmith.optimizers.storage import importances
from judgesmith.optimizers.trials import (
    ENOUGH_SCORED,
    ConfirmationResult,
    ImprovementTest,
    TrialRecord,
    rank_of,
    select_trial,
)
from judgesmith.programs import Judge, score_batch
from judgesmith.programs.artifacts.saved import FrontMember
from judgesmith.programs.families.ensemble.judges import Panel, leaves_of
from judgesmith.programs.judging.executors import calls_per_item, endpoint_of
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.judging.rows import usd_of
from judgesmith.programs.judging.runner import was_not_asked
from judgesmith.results.progress import OnProgress, ProgressEvent, staged
from judgesmith.signatures import Judgement

if TYPE_CHECKING:
    import dspy


def check_searched(settings: CompileSettings) -> None:
    """Refuse objectives and models that only a search of the protocol can mind."""
    objective = settings.aims
    if settings.screen and len(objective.each) > 1:
        raise InputError(
            f"several objectives ({objective}) have a front, and a search that screens (--screen) "
            "looks for the best by one.",
            hint="name one.",
        )
    if settings.optimizer == "protocol":
        return
    if "versions" in objective.needs and not settings.search.minds_versions:
        raise InputError(
            f"texts are learned from single rows, and {objective} looks at changed versions of "
            "all.",
            hint="leave discernment out, or search demonstrations or the protocol (--optimizer "
            "effects, random or protocol).",
        )
    if len(objective.each) > 1:
        raise InputError(
            f"several objectives ({objective}) have a front only in a search of the protocol "
            f"(--optimizer protocol), and this is --optimizer {settings.optimizer}.",
            hint="name one.",
        )
    if "usd" in objective.needs:
        raise InputError(
            f"what judgements cost ({objective}) is known only in a search of the protocol "
            f"(--optimizer protocol), and this is --optimizer {settings.optimizer}.",
            hint="leave usd out.",
        )


def check_calls_per_item(settings: CompileSettings, targets: Sequence[str]) -> None:
    """Refuse calls per item for what is not averaged, or fewer than the judge takes already."""
    if settings.calls_per_item is None:
        return
    if len(targets) > 1:
        raise InputError(
            f"several prompts are averaged for one target, and these are {', '.join(targets)}.",
            hint="name one, or leave calls_per_item out.",
        )
    own = settings.protocol
    if family_of(own.judge).ranks:
        raise InputError(
            f"a {own.judge} judge ranks the responses to a source, and ranks are not averaged.",
            hint="leave calls_per_item out.",
        )
    needed = calls_per_item(family_of(own.judge).judge_of(own).as_if_prepared()[0])
    if settings.calls_per_item < needed:
        raise InputError(
            f"this judge takes {needed} calls per item before the search; got "
            f"{settings.calls_per_item}.",
            hint=f"give {needed} or more, or a judge that asks less.",
        )


def endpoints_of(lm: dspy.LM, models: Mapping[str, dspy.LM]) -> str:
    """Return where answers come from, of all models that compete, without secrets."""
    return " ".join(map(endpoint_of, (lm, *models.values())))


def deciding_objective(settings: CompileSettings) -> Objective:
    """Return the objective by which scores are learned to be aggregated."""
    return settings.aims.leading.without("usd", instead=Agreement("q"))


def each_objective(settings: CompileSettings) -> tuple[Objective, ...]:
    """Return every objective, the one that scores are aggregated by first."""
    objective = settings.aims
    first = str(objective.leading)
    return tuple(sorted(objective.each, key=lambda one: str(one) != first))


def saved_front(
    found: Sequence[ParetoMember],
    work: Tuning,
    *,
    judge: Judge,
    selection: Mapping[str, Any],
    seed: Sequence[int],
) -> tuple[FrontMember, ...]:
    """Return a front as it is saved: each judge with learned aggregation, ready to be taken."""
    members = []
    for one in found:
        own: Judge = judge
        agreement: Mapping[str, Any] | None = selection
        if not one.is_knee:
            own, agreement = _finished(one, work, seed)
        members.append(
            FrontMember(
                number=one.number,
                picked=dict(one.picked),
                model=str(one.lm.model),
                calls=one.n_calls,
                values={name: value.to_dict() for name, value in one.values.items()},
                knee=one.is_knee,
                agreement={"selection": agreement},
                protocol=own.protocol,
                questions=own.templates(),
            )
        )
    return tuple(members)


def _finished(
    one: ParetoMember, work: Tuning, seed: Sequence[int]
) -> tuple[Judge, Mapping[str, Any] | None]:
    """Return a member with its aggregation, and its agreement on the validation rows."""
    own = replace(work, lm=one.lm, history=[], notes=[], crossed={})
    judge = own.decided(own.aggregated(one.judge)).for_own_rubric()
    rows = work.parts.selection.without(shown_keys(judge.protocol.demonstrations))
    table = rows.judged(own.judged(judge, rows, "front"), judge_scale=judge.scale)
    work.complete = work.complete and own.complete
    if table.n_unscored == table.n or not table.is_rated:
        return judge, None
    return judge, plain(agreement_report(table, rng=np.random.default_rng(list(seed))))


def importance_entries(search: ProtocolSearch) -> list[dict[str, Any]]:
    """Return how much each choice had to do with being among the best, for the history."""
    names = search.objective.names
    found = ((name, importances(search.study_, place)) for place, name in enumerate(names))
    return [
        {"stage": "importances", "objective": name, "shares": shares}
        for name, shares in found
        if shares
    ]


def front_notes(found: Sequence[ParetoMember], trials: Sequence[TrialRecord] = ()) -> list[str]:
    """Return what a reader should know of a front, in sentences."""
    if not found:
        return _nobody_note([one for one in trials if one.values])
    knee = next((one for one in found if one.is_knee), None)
    numbers = ", ".join(str(one.number) for one in found)
    if knee is None or len(found) == 1:
        return [f"candidate {numbers} is at least as good as all others on every objective."]
    values = ", ".join(f"{name} {one.value:.4g}" for name, one in knee.values.items())
    return [
        f"the Pareto front has {len(found)} judges, candidates {numbers}; selected candidate "
        f"{knee.number}, at its knee ({values} on the validation rows). 'judgesmith show' lists "
        "them, 'judgesmith compile take' saves another one without a call."
    ]


def _nobody_note(trials: Sequence[TrialRecord]) -> list[str]:
    """Return why a front is empty; nothing where nothing was tried."""
    if not trials:
        return []
    whole = [one for one in trials if one.n_rows == trials[0].n_rows]
    enough = [one for one in whole if one.share_scored >= ENOUGH_SCORED]
    why = []
    if n := len(whole) - len(enough):
        why.append(
            f"{n} of {len(whole)} left more than {1 - ENOUGH_SCORED:.0%} of the rows without a "
            f"score (the baseline: {1 - trials[0].share_scored:.0%})"
        )
    undefined = [
        name for name in trials[0].values if any(math.isnan(one.values[name]) for one in enough)
    ]
    if undefined:
        why.append(f"{', '.join(undefined)} is undefined for {len(enough)} of {len(whole)}")
    reasons = " and ".join(why) or "none could be compared with the others"
    return [
        "no judge is on the front, so the baseline is kept and there is no other judge to take: of "
        f"the judges that were judged on all validation rows, {reasons}. A judge on the front "
        f"gives a score to {ENOUGH_SCORED:.0%} of the rows, and has a value on every objective."
    ]


_INFERRED = "inferred"
"""The id of an inferred rubric among those that compete; ``own`` is the general one."""

SCREENED_BATCH = 12
"""How many are proposed at a time where every candidate is judged on few rows first."""

RISK_PER_LEVEL = 4
"""Chance that the judge which a search of effects takes is no better, per level of tests: 20%."""


@dataclass(kw_only=True)
class Tuning:
    """Asks the model on behalf of one compilation and keeps account of it."""

    settings: CompileSettings
    parts: Parts
    targets: tuple[str, ...]  # the judge's score, or criteria that scores are compared on
    lm: Any  # the model that judges; a search may choose another
    concurrency: int
    on_progress: OnProgress | None
    models: Mapping[str, Any] = field(default_factory=dict)
    baseline: Judge | None = None  # the judge before any rating was read
    front: tuple[ParetoMember, ...] = ()
    files: SearchFiles = field(default_factory=SearchFiles)
    history: list[Mapping[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    complete: bool = True
    # few-shot rows as scored, where a budget may have ended before them
    pool: PredictionTable | None = None
    confirmation: Mapping[str, Any] | None = None
    # scores from folds that did not teach them, by row
    crossed: Mapping[str, float] = field(default_factory=dict)
    trade_off: tuple[tuple[float, float, float], ...] = ()
    of_optuna: Mapping[str, Any] = field(default_factory=dict)  # sampler and pruner that were given
    study: Any = None

    def judged(self, judge: Judge, rows: Rows, stage: str, *, lm: Any = None) -> list[Judgement]:
        """Return the judgement of every row, by ``lm`` where another model is meant."""
        tell = self.tell(stage, len(rows.texts))
        found = score_batch(
            judge, rows.texts, lm=lm or self.lm, concurrency=self.concurrency, on_progress=tell
        )
        if any(map(was_not_asked, found)):
            self.complete = False
        return found

    def usd(self, judgements: Sequence[Judgement], *, lm: Any = None) -> tuple[float, ...]:
        """Return the cost of judgements if the objective uses it, else nothing."""
        minds = "usd" in self.settings.aims.needs
        return usd_of(judgements, lm or self.lm) if minds else ()

    def optimized(self, judge: Judge) -> Judge | Panel:
        if self.settings.search.build is None:
            return self.decided(judge)
        found = at(self.settings.search.build)(self, judge)
        if isinstance(found, Panel):
            return self._averaged(found)
        return self.decided(self.aggregated(found))

    def decided(self, judge: Judge, *, lm: Any = None) -> Judge:
        """Return a judge of labels with its threshold, learned on rows that it does not show."""
        if not (self.parts.selection.scale.is_verdict and self.parts.selection.scale.ordered):
            return judge
        shown = shown_keys(judge.protocol.demonstrations)
        rows = rows_from(
            [one for part in self.parts.tuning for one in examples_of(part.without_versions())]
        ).without(shown)
        said = self.judged(judge, rows, "threshold", lm=lm)[: len(rows)]
        crossed = self.crossed if lm is None else {}
        shares = [
            math.nan if one.score is None else crossed.get(key, judge.scale.fraction(one.score))
            for one, key in zip(said, (item.key for item in rows.items), strict=True)
        ]
        found, notes = with_decision(
            judge,
            rows,
            np.asarray(shares),
            threshold_rule(self.settings),
            abstain=self.settings.abstain if lm is None else None,
            seed=self.settings.seed,
        )
        if lm is None:
            self.notes += notes
            self.trade_off = trade_off(rows, np.asarray(shares))
        return found

    def with_demonstrations(self, judge: Judge) -> Judge:
        settings, pool, selection = self.settings, self.parts.pool, self.parts.selection
        if pool is None:
            return judge
        search = RandomDemonstrationSearch(
            **self._common("demonstrations", settings.n_rounds * len(selection.texts) + len(pool)),
            n_demonstrations=settings.n_demonstrations,
            n_trials=settings.n_rounds,
            targets=self.targets,
            partial_demos=settings.partial_demos,
            percent_of_max=settings.percent_of_max,
        )
        best = search.compile(judge, trainset=examples_of(pool), valset=examples_of(selection))
        if settings.n_demonstrations > len(pool):
            self.notes.append(
                f"{len(pool)} rated rows may be shown, so no prompt shows the "
                f"{settings.n_demonstrations} that were asked for; the others are validation rows."
            )
        n_tried, n_planned = len(search.trials_), settings.n_rounds
        n_planned += bool(judge.protocol.demonstrations)  # its own compete, too
        if n_tried < n_planned:
            self.complete = False
            self.notes.append(
                f"the budget ended after {n_tried} of {n_planned} sets of demonstrations."
            )
        self.history += [_trial("demonstrations", trial) for trial in search.trials_]
        if search.trials_:
            found = search.confirmation_
            what = "" if found is None else _shown_text(search.trials_[found.number])
            self.notes.append(outcome_note(found, str(search.objective), what=what))
        self.confirmation = confirmation_record(
            search.confirmation_, taken=search.taken_, chosen_on=len(selection)
        )
        return best

    def with_reflection(self, start: Judge) -> Judge:
        """Return the judge with the texts that were rewritten after wrong scores."""
        search = ReflectiveSearch(n_trials=self.settings.n_trials, **self._for_texts())
        judge = self._compared(search, start)
        self.notes += [search.ended_] if search.ended_ else rewrite_notes(search)
        return judge

    def with_dspy(self, start: Judge) -> Judge:
        name: Any = self.settings.optimizer
        shown = dict.fromkeys(DEMONSTRATIONS[name], self.settings.n_demonstrations)
        search = DSPyOptimizer(name, settings=shown, **self._for_texts())
        judge = self._compared(search, start)
        self.notes += bridged_notes(search)
        return judge

    def with_even_answers(self, start: Judge) -> Judge:
        """Return the judge whose instructions spread the answers evenly."""
        given = self._for_texts()
        told = ("seed", "lm", "concurrency", "on_progress", "on_trial")
        search = FairPromptSearch(**{name: given[name] for name in told})
        assert self.parts.pool is not None  # as this search learns from some rows
        judge = search.compile(start, trainset=examples_of(self.parts.pool))
        self._record(search, "balanced")
        self.notes += balanced_notes(search)
        if judge.protocol == start.protocol:
            return judge
        return self._kept_when_rated(judge, start)

    def _for_texts(self) -> dict[str, Any]:
        """Return what every search of texts is given."""
        log = None
        if self.files.log is not None:
            log = SearchLog(path=self.files.log, lm=self.lm, stage=self.settings.optimizer)
        return {
            **self._common(self.settings.optimizer, None),
            "targets": self.targets,
            "on_trial": log,
            "percent_of_max": self.settings.percent_of_max,
        }

    def _compared(self, search: ReflectiveSearch | DSPyOptimizer, start: Judge) -> Judge:
        """Return the judge that a search found to agree better on the validation rows."""
        assert self.parts.pool is not None  # as these searches learn from some rows
        pool, selection = examples_of(self.parts.pool), examples_of(self.parts.selection)
        judge = search.compile(start, trainset=pool, valset=selection)
        self._record(search, self.settings.optimizer)
        self.confirmation = confirmation_record(
            search.confirmation_, taken=search.taken_, chosen_on=len(self.parts.selection)
        )
        return judge

    def _record(self, search: Any, stage: str) -> None:
        """Keep the trials of a search, and whether the budget let it end."""
        self.complete = self.complete and search.complete_
        self.history += [_trial(stage, trial) for trial in search.trials_]

    def _kept_when_rated(self, winner: Judge, start: Judge) -> Judge:
        """Return a judge that was chosen without ratings, if it agrees better with them."""
        stages = "even answers", "baseline"
        _, number, found = self.held(start, winner, stages=stages)
        self.notes.append(outcome_note(found, str(deciding_objective(self.settings))))
        self.confirmation = confirmation_record(
            found, taken=number, chosen_on=len(self.parts.selection)
        )
        return winner if number else start

    def held(
        self, start: Judge, other: Judge, *, stages: tuple[str, str]
    ) -> tuple[list[PredictionTable], int, ConfirmationResult | None]:
        """Return what two judges say of validation rows, which one is taken (0 or 1), and why."""
        objective, rows = deciding_objective(self.settings), self.parts.selection
        tables = [
            rows.judged(self.judged(judge, rows, stage), self.targets, judge_scale=judge.scale)
            for judge, stage in zip((start, other), stages, strict=True)
        ]
        ranks = {n: rank_of(objective.value(one), one.least_scored) for n, one in enumerate(tables)}
        number, found = select_trial(
            self.confirm,
            objective,
            {1: (tables[1], tables[0])},
            ranks,
            seed=self.settings.seed,
        )
        return tables, number, found

    def _averaged(self, found: Panel) -> Panel:
        """Return a panel whose members have learned aggregations, weighed alike."""
        shown = (shown_keys(one.protocol.demonstrations) for one in leaves_of(found))
        rows = self.parts.selection.without(frozenset[str]().union(*shown))
        members, scores, tests = {}, {}, {}
        for name, one in zip(found.members, leaves_of(found), strict=True):
            own = replace(self, history=[], notes=[], confirmation=None)
            members[name] = judge = own.aggregated(one).for_own_rubric()
            said = own.judged(judge, rows, "averaging")
            scores[name] = rows.judged(said, judge_scale=judge.scale).predicted
            self.complete, self.pool = self.complete and own.complete, own.pool or self.pool
            self.history += [{**entry, "member": name} for entry in own.history]
            self.notes += [f"{name}: {note}" for note in own.notes]
            tests[name] = (own.confirmation or {}).get("aggregation")
        self.confirmation = {**(self.confirmation or {}), "aggregation_by_member": tests}
        return Panel(members, equal_weights(scores, rows.human, rows.scale))

    def with_effects(self, start: Judge) -> Judge | Panel:
        """Return the judge, or several to average, that a search of effects found."""
        settings, rule = self.settings, self.settings.confirm
        search = EffectSearch(
            effort=settings.effort,
            risk=0.5 if rule is None else min(RISK_PER_LEVEL * rule.level, 0.5),
            calls_per_item=settings.calls_per_item,
            n_demo_sets=settings.n_draws,
            n_demonstrations=settings.n_demonstrations if self.parts.pool is not None else 0,
            fixed=tuple(dict.fromkeys((*settings.fixed, "weighting"))),
            targets=self.targets,
            percent_of_max=settings.percent_of_max,
            on_trial=self._on_trial("effects", None),
            **self._common("effects", None),
        )
        best = searched(search, start, self.parts)
        self._record(search, "effects")
        self.notes += effect_notes(search)
        record = confirmation_record(None, taken=search.taken_, chosen_on=len(self.parts.selection))
        self.confirmation = {
            **record,
            "better": search.views_ != (0,),
            **({"averaged": list(search.views_)} if len(search.views_) > 1 else {}),
            "expected": search.expected_,
            "cross_fitted": None if search.gain_ is None else search.gain_.to_dict(),
        }
        if search.taken_ and self.settings.learn_weights:
            kept = self._kept_when_weighed(best, start, [self.parts.selection], self.lm)
            if kept is start:
                self.confirmation |= {"expected": 0.0, "cross_fitted": None}
            return kept
        return best

    def with_protocol(self, start: Judge) -> Judge:
        """Return what a search of the protocol found, begun at the baseline if rubrics compete."""
        settings = self.settings
        competing = settings.rubrics_compete
        student = self.baseline if competing else start
        assert student is not None  # as every compilation has a baseline by now
        inferred = [{"rubric": _INFERRED, N: "0"}, {"rubric": _INFERRED}] if competing else []
        screened: dict[str, Any] = {}
        if settings.screen:
            screened = {"elimination": ScreeningStage(), "batch": SCREENED_BATCH}
        search = ProtocolSearch(
            n_trials=settings.n_trials,
            n_demo_sets=settings.n_draws,
            n_demonstrations=settings.n_demonstrations if self.parts.pool is not None else 0,
            rubrics={_INFERRED: start.protocol.rubric} if competing else {},
            fixed=settings.fixed,
            first=(*inferred, {}, *({MODEL: name} for name in settings.models)),
            targets=self.targets,
            partial_demos=settings.partial_demos,
            percent_of_max=settings.percent_of_max,
            storage=self.files.storage,
            beside=self.files.log,
            on_trial=self._on_trial("protocol", settings.n_trials),
            models=self.models,
            **{**screened, **self.of_optuna},
            **{**self._common("protocol", None), "objective": settings.objective},
        )
        best = searched(search, student, self.parts)
        self._record(search, "protocol")
        self.notes += [*search_notes(search), *front_notes(search.front_, search.trials_)]
        started_with, self.lm, self.front = self.lm, search.lm_, search.front_
        self.study = search.study_
        self.history += importance_entries(search)
        self.confirmation = confirmation_of(search)
        if search.taken_ and self.settings.learn_weights:
            return self._kept_when_weighed(best, student, self.parts.tuning, started_with)
        return best

    def _kept_when_weighed(
        self, winner: Judge, start: Judge, tuning: Sequence[Rows], lm: Any
    ) -> Judge:
        """Return the winner, or the start where that is better with learned weights."""
        found = fitted_winner(
            winner,
            start,
            tuning,
            fit_winner=self._fit(None),
            fit_start=self._fit(None, lm=lm),
        )
        if found is None:
            return winner
        self.confirmation = {**(self.confirmation or {}), "weighed": found.to_dict()}
        if not found.worse:
            return winner
        self.notes.append(found.note(str(deciding_objective(self.settings))))
        self.confirmation |= {"better": False, "taken": 0}
        self.lm = lm
        return start

    def _on_trial(self, stage: str, n_trials: int | None) -> Callable[[TrialRecord], None]:
        """Return what is told of every trial of a search."""
        listeners: list[Callable[[TrialRecord], None]] = []
        if self.files.log is not None:
            others = tuple(self.models.values())
            listeners.append(SearchLog(path=self.files.log, lm=self.lm, others=others, stage=stage))
        on_progress = self.on_progress
        if on_progress is not None:
            listeners.append(
                SearchProgress(
                    lm=self.lm,
                    n_trials=n_trials,
                    objective=str(deciding_objective(self.settings)),
                    told=lambda text: on_progress(ProgressEvent(stage=stage, n=0, text=text)),
                )
            )

        def on_trial(trial: TrialRecord) -> None:
            for listener in listeners:
                listener(trial)

        return on_trial

    def aggregated(self, judge: Judge) -> Judge:
        """Return a judge with learned aggregation, unless the settings leave it as it is."""
        if not self.settings.learn_weights:
            return judge
        n_items = sum(len(rows.texts) for rows in self.parts.tuning)
        fit = self._fit(n_items)
        rated = [one for rows in self.parts.tuning for one in examples_of(rows)]
        fitted = fit.compile(judge, trainset=rated)
        self.history += [_trial("aggregation", trial) for trial in fit.trials_]
        self.notes += _lexical_note(fit)
        self.crossed = fit.crossed_
        if fit.trials_:
            weights = weights_record(fit.trials_, fit.amount_)
            self.confirmation = {**(self.confirmation or {}), "aggregation": weights}
            self.notes += weights_note(fit.trials_, fit.amount_, str(fit.objective))
        if self._limited and self.parts.pool is not None:
            # Whether the budget let the fit see the pool: its answers are on record if it did.
            unshown = self.parts.pool.without(shown_keys(judge.protocol.demonstrations))
            self.pool = unshown.judged(
                self.judged(judge, unshown, "aggregation"), judge_scale=judge.scale
            )
        return fitted

    def _fit(self, n_items: int | None, *, lm: Any = None) -> FitAggregation:
        common = self._common("aggregation", n_items)
        if common["objective"].of_verdicts:
            # What thresholds make of few rows is mostly luck; what orders them well has good ones.
            common["objective"] = Agreement("q")
        amount = 1.0 if common.pop("confirm") is None else None
        return FitAggregation(
            **{**common, "lm": lm or self.lm}, lexical=self._lexical, amount=amount
        )

    def _common(self, stage: str, n_items: int | None) -> dict[str, Any]:
        return {
            "objective": deciding_objective(self.settings),
            "lm": self.lm,
            "concurrency": self.concurrency,
            "seed": self.settings.seed,
            "on_progress": self.tell(stage, n_items),
            "confirm": self.confirm,
        }

    @property
    def confirm(self) -> ImprovementTest | None:
        """The rule for one choice; rubrics that compete before have half of its level."""
        rule, settings = self.settings.confirm, self.settings
        if rule is None or not settings.rubrics_compete or settings.optimizer == "protocol":
            return rule
        return ImprovementTest(level=rule.level / 2)

    @property
    def _limited(self) -> bool:
        from judgesmith.programs.lm import Budget, lm_client_of

        client = lm_client_of(self.lm)
        return client is not None and client.budget != Budget()

    @property
    def _lexical(self) -> bool:
        chosen = self.settings.lexical
        return str(self.lm.model) == OFFLINE if chosen is None else chosen

    def tell(self, stage: str, total: int | None) -> OnProgress | None:
        """Return what is told of the progress of one stage."""
        return staged(self.on_progress, stage, total)


def _trial(stage: str, trial: Any) -> dict[str, Any]:
    return {"stage": stage, **plain_trial(trial, stage)}


def _shown_text(trial: TrialRecord) -> str:
    """Return in a few words what set of demonstrations a trial was of."""
    return f"of {trial.n_demonstrations} demonstrations"


def _lexical_note(fit: FitAggregation) -> list[str]:
    by_name = {trial.name: trial for trial in fit.trials_}
    lexical = by_name.get("lexical")
    if lexical is None or lexical.allowed:
        return []
    add = lexical.value - by_name[fit.chosen_].value
    return [
        f"lexical features would change the cross-validated {fit.objective} by {add:+.3f}; "
        "allow them with --lexical."
    ]

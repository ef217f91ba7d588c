"""Compiling a judge: split, search, fit, then report on rows that nothing was learned from.

A budget may end all this early. What was found until then is reported and can be saved, marked
as incomplete, so that the same run again resumes from the cached responses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from judgesmith.data.items import DataSet
from judgesmith.data.reading import READ_OPTIONS, SourceGiven, as_dataset
from judgesmith.data.targets import Targets
from judgesmith.errors import InputError
from judgesmith.experiments.compile.chosen_targets import ChosenTargets, chosen_targets
from judgesmith.experiments.compile.inferring import offline_notes
from judgesmith.experiments.compile.notes import (
    ObjectiveReport,
    VerdictReport,
    criteria_notes,
    known_note,
    length_note,
    notes_on,
    nothing_scored,
    objective_report,
    reported_objective,
    taught_note,
    versions_notes,
)
from judgesmith.experiments.compile.searching import SearchFiles
from judgesmith.experiments.compile.settings import (
    CompileSettings,
    check_role_models,
    instead_of_guess,
    optuna_objects,
    settings_for_labels,
    settings_without_labels,
    without_equal_ratings,
)
from judgesmith.experiments.compile.split import Parts, parts_of
from judgesmith.experiments.compile.starting import (
    better_start,
    guided_start,
    prepared_judges,
    start_of,
    starting_from,
)
from judgesmith.experiments.compile.tuning import (
    Tuning,
    check_calls_per_item,
    check_searched,
    each_objective,
    endpoints_of,
    saved_front,
)
from judgesmith.experiments.compile.versions import (
    DiscernmentReport,
    discernment_report,
    unnoticed_note,
)
from judgesmith.experiments.evaluate.agreement import (
    CriterionReports,
    Gain,
    Report,
    Unscored,
    agreement_report,
    criterion_reports,
    optimism,
    paired_reports,
    unscored,
)
from judgesmith.experiments.evaluate.placing import furthest_first
from judgesmith.experiments.monitor.recheck_rule import drawn_golden
from judgesmith.experiments.monitor.snapshot import reference_of
from judgesmith.front_door import public
from judgesmith.metrics.records import plain
from judgesmith.optimizers import Agreement, Objective, PredictionTable
from judgesmith.optimizers.fair import refuse_many_answers
from judgesmith.optimizers.fitting.deciding import threshold_of
from judgesmith.optimizers.predictions import SCORE
from judgesmith.optimizers.rows import IntArray, Rows
from judgesmith.optimizers.space.demonstrations import shown_keys
from judgesmith.programs.artifacts.card import rows_that_taught
from judgesmith.programs.artifacts.saved import FrontMember, SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedCalibrated, SavedPanel
from judgesmith.programs.artifacts.test_rows import JudgedRow
from judgesmith.programs.families.ensemble.judges import AnyJudge, Panel, leaves_of
from judgesmith.programs.families.ensemble.members import calibrated
from judgesmith.programs.judging.executors import no_judge
from judgesmith.programs.judging.judge import Judge
from judgesmith.programs.judging.registry import family_of, with_roles
from judgesmith.programs.judging.rows import usd_of
from judgesmith.results.base import Listed, Result
from judgesmith.results.charts import Charts, row_charts, search_charts
from judgesmith.results.progress import OnProgress, shows_progress
from judgesmith.signatures import Judgement, RatedItem

if TYPE_CHECKING:
    import dspy
    import optuna

    from judgesmith.optimizers.space.proposing import SamplerGiven
    from judgesmith.programs.lm import AnyModel


@dataclass(frozen=True, kw_only=True, eq=False)
class CompileResult(
    Result,
    report="judgesmith.cli.judge.compiled:report",
    shows=("verdicts", "gain.dataset", "heldout.dataset", "uncompiled.dataset"),
):
    """A compiled judge and how well it agrees with people.

    Attributes
    ----------
    saved : SavedJudge or SavedPanel
        The judge as plain data; ``judge`` is the module, ``save(folder)`` keeps it. A panel where
        several prompts are averaged.
    uncompiled, heldout : Report or None
        Agreement on the rows held out, before and after; None without such rows, or ratings. Both
        and ``gain`` are on the rows that the judge scored before and after.
    gain : Gain or None
        Their paired difference.
    selection : Report or None
        Agreement of the judge on the validation rows; None if they are unrated.
    objective : ObjectiveReport
        What the search made as large as it could; over several targets, the mean over them. Of
        several objectives the first that looks at scores.
    objectives : tuple of ObjectiveReport
        All of several objectives, this one first; empty where there is one.
    by_criterion : dict of str to CriterionReports
        Agreement by criterion on the rows held out, ``uncompiled`` and ``heldout``, where the
        judge scores criteria that people rated.
    examples : tuple of (RatedItem, float, Judgement)
        A good and a bad response with the human rating (nan if missing) and what the judge
        says.
    discernment : DiscernmentReport or None
        How well it detects changes of texts; None if the objective does not use them.
    verdicts : VerdictReport or None
        What it passes and stops on the rows held out; None where people gave ratings.
    unscored : Unscored
        Of the validation rows and the held-out rows.
    notes : tuple of str
        What a reader should know, in sentences.
    targets : Targets
        The ratings to agree with.
    heldout_places : array of int
        Places of the test rows in the dataset; empty where nothing is held out.
    heldout_judgements : tuple of Judgement
        Judgements of the compiled judge on these rows.
    complete : bool
        False where the budget ended before everything was asked. The same run with a larger
        budget resumes from there; ``saved.settings["complete"]`` says so too.
    heldout_rows : tuple of JudgedRow
        The same as the judge's folder keeps them; see ``rows_of``.
    study : optuna.Study
        The search of ``optimizer="protocol"``; AttributeError after another optimizer.
    """

    # Any stands for the rare case (a panel; None without test rows): users need not narrow.
    saved: SavedJudge | Any
    uncompiled: Report | Any
    heldout: Report | Any
    gain: Gain | Any
    selection: Report | None
    objective: ObjectiveReport
    objectives: tuple[ObjectiveReport, ...]
    by_criterion: Mapping[str, CriterionReports]
    examples: tuple[tuple[RatedItem, float, Judgement], ...]
    unscored: Unscored
    notes: tuple[str, ...]
    targets: Targets
    heldout_places: IntArray
    heldout_judgements: tuple[Judgement, ...]
    complete: bool
    discernment: DiscernmentReport | None = None
    verdicts: VerdictReport | None = None
    data: str = ""
    heldout_rows: tuple[JudgedRow, ...] = ()
    _study: optuna.Study | None = field(default=None, repr=False)

    @property
    def study(self) -> optuna.Study:
        """The search as Optuna keeps it; there is one of the protocol alone."""
        if self._study is None:
            raise AttributeError(
                f"optimizer={self.saved.settings['optimizer']!r} makes no study of Optuna; give "
                'optimizer="protocol". Trials of every optimizer are in result.saved.history',
                name="study",
            )
        return self._study

    if not TYPE_CHECKING:

        def __call__(self, *texts: object, **named: object) -> None:
            self._guess("()", TypeError, "is no judge")

    def charts(self) -> Charts:
        """Return the charts by name: intervals, the rows held out, and the search."""
        found = super().charts()
        if len(self.heldout_judgements):
            human = self.targets.values[self.heldout_places]
            scores = [one.score for one in self.heldout_judgements]
            found |= row_charts(human, scores, title=f"{self.saved.target}, test rows")
        trials = [one for one in self.saved.history if one.get("stage") != "aggregation"]
        return found | search_charts(trials)

    @property
    def judge(self) -> AnyJudge:
        """The compiled judge, a ``dspy.Module``."""
        return self.saved.program()

    def save(self, folder: str | Path, *, overwrite: bool = False) -> Path:
        """Save the judge in a folder that ``judgesmith.load`` reads, and return the folder."""
        return self.saved.save(folder, overwrite=overwrite, rows=self.rows_of(self.saved))

    def to_html(self) -> str:
        """Return the judge's card as a page of one file, as ``card_html`` does of a folder."""
        from judgesmith.experiments.evaluate.card import card_page

        return card_page(self.saved, self.rows_of(self.saved))

    def rows_of(self, saved: AnySaved) -> list[JudgedRow]:
        """Return the test rows as this judge, or one calibrated from it, scores them."""
        rows = self.heldout_rows
        if isinstance(saved, SavedCalibrated):
            said = zip(rows, self.heldout_judgements, strict=True)
            rows = tuple(row.saying(calibrated(one, saved.calibration)) for row, one in said)
        return furthest_first(rows)


@public("judgesmith.compile", (*CompileSettings.model_fields, *READ_OPTIONS))
@shows_progress
def compile_judge(
    dataset: DataSet | SourceGiven,
    settings: CompileSettings | Mapping[str, Any] | None = None,
    *,
    earlier: SavedJudge | None = None,
    lm: AnyModel | str | None = None,
    models: Mapping[str, dspy.LM] | None = None,
    roles: Mapping[str, dspy.LM] | None = None,
    concurrency: int = 32,
    on_progress: OnProgress | None = None,
    progress: bool = True,
    files: SearchFiles | None = None,
    sampler: SamplerGiven | None = None,
    pruner: optuna.pruners.BasePruner | None = None,
    **choices: Any,
) -> CompileResult:
    """Return a judge that agrees with the ratings in ``dataset`` as well as the search can make it.

    Parameters
    ----------
    dataset : DataSet, or what ``judgesmith.read`` reads
        Rated items.
    settings : CompileSettings, mapping or None
        None takes the defaults.
    earlier : SavedJudge or None
        A judge to start from: its rubric stays, its demonstrations and learned numbers compete
        with new ones, and no source that it was made from is held out. See ``starting_from``.
    lm : dspy.LM, str or None
        The model, or its name; None takes DSPy's current one, or the offline model.
    models : dict of str to dspy.LM, or None
        The models that compete with it, by the names in ``settings.models``. One budget holds for
        all where they share a ledger and a ``run_id``.
    roles : dict of str to dspy.LM, or None
        The models that do other work than judging, by the roles in ``settings.roles``.
    concurrency : int
        Requests under way at once.
    on_progress : callable or None
        Told of every ``ProgressEvent``.
    progress : bool
        Whether a terminal or a notebook shows a bar, where ``on_progress`` is None.
    files : SearchFiles or None
        Where a search of the protocol is kept; None keeps it in memory.
    sampler, pruner : Optuna sampler, Optuna pruner, or None
        What proposes and ends trials with ``optimizer="protocol"``, in the place of TPE and of
        ``RacingRule``; see ``ProtocolSearch``.
    **choices
        Fields of ``CompileSettings``, which win over ``settings``; ``judge`` may also be a judge,
        such as one that ``judgesmith.wrap`` made, and ``optimizer`` a sampler of Optuna. For data
        that is not read yet also what ``judgesmith.read`` takes, such as ``scale="1..5"``.

    Raises
    ------
    ValueError
        If the data holds too little to learn from; the message says what is missing.
    NothingScoredError
        If no validation row got a score: the budget was too small, or no answer readable.
    ModelError, CacheError
        If the model cannot be asked at all, or the ledger not used.

    Examples
    --------
    >>> found = compile_judge("sample", n_rounds=2)
    >>> found.saved.target, found.heldout["dataset"]["q"].n, found.complete
    ('overall', 48, True)
    """
    from judgesmith.programs.judging.executors import lm_or_current

    models, roles = models or {}, roles or {}
    if hasattr(optimizer := choices.get("optimizer"), "sample_relative"):  # one of Optuna's
        choices["optimizer"], sampler = "protocol", sampler or optimizer
    settings, reading = _given(settings, choices)
    lm = lm_or_current(lm)
    dataset = without_equal_ratings(as_dataset(dataset, "compile", **reading), settings)
    settings = _checked(dataset, settings, earlier, models, roles)
    targets = chosen_targets(dataset, settings)
    settings = settings_for_labels(settings, targets.whole)
    check_calls_per_item(settings, targets.compared)
    known = frozenset() if earlier is None else earlier.seen_keys
    work = Tuning(
        settings=settings,
        parts=parts_of(dataset, targets, settings, known),
        targets=targets.compared,
        lm=lm,
        concurrency=concurrency,
        on_progress=on_progress,
        files=files or SearchFiles(),
        models=models,
        of_optuna=optuna_objects(settings, sampler, pruner),
    )
    first_lm = work.lm
    baseline, judge = _searched(work, dataset, targets, roles)
    report = _Report.of(work, dataset, targets, baseline, judge, baseline_lm=first_lm)
    run = settings.fingerprint(
        dataset, str(first_lm.model), endpoints_of(first_lm, {**models, **roles})
    )
    saved = report.artifact(run=run, known=known)
    asked = (work.lm, *roles.values())
    return report.result(saved.with_models({str(one.model): one for one in asked}), dataset.name)


def _given(
    settings: CompileSettings | Mapping[str, Any] | None, choices: Mapping[str, Any]
) -> tuple[CompileSettings, dict[str, Any]]:
    """Return the settings, and how to read the data."""
    reading = {name: choices[name] for name in READ_OPTIONS if name in choices}
    if not isinstance(settings, CompileSettings | Mapping | None):
        raise TypeError(
            "judgesmith.compile(data, settings): expected CompileSettings or a mapping; got "
            f"{type(settings).__name__}."
        )
    if isinstance(settings, CompileSettings):
        if len(reading) == len(choices):
            return settings, reading
        settings = {name: getattr(settings, name) for name in settings.model_fields_set}
    chosen = {name: value for name, value in choices.items() if name not in reading}
    if isinstance(judge := chosen.get("judge"), Judge):
        chosen |= {"judge": judge.protocol.judge, "protocol": judge.protocol}
    elif not isinstance(judge, str | None):
        raise no_judge(judge, "judgesmith.compile", "a judge, or the name of a family")
    try:
        return CompileSettings(**{**(settings or {}), **chosen}), reading
    except InputError as fault:
        raise InputError(fault, at="judgesmith.compile", hint=instead_of_guess(**chosen)) from None


def _checked(
    dataset: DataSet,
    settings: CompileSettings,
    earlier: SavedJudge | None,
    models: Mapping[str, dspy.LM],
    roles: Mapping[str, dspy.LM],
) -> CompileSettings:
    """Return the settings for these rows, or refuse what does not fit them."""
    if settings.optimizer == "balanced":
        own = settings.protocol if earlier is None else earlier.protocol
        refuse_many_answers(family_of(own.judge).judge_of(own))
    _check_models(settings, models)
    if earlier is not None:
        settings = starting_from(earlier, settings)
    settings = settings_without_labels(dataset, settings)
    check_searched(settings)
    check_role_models(settings, roles)
    return settings


def _searched(
    work: Tuning,
    dataset: DataSet,
    targets: ChosenTargets,
    roles: Mapping[str, dspy.LM],
) -> tuple[Judge, Judge | Panel]:
    """Return the baseline and the best judge that the search finds."""
    settings = work.settings
    baseline, start = start_of(dataset, targets, work)
    unasked = {**work.parts.counts(targets), "unscored": 0}
    baseline, start = prepared_judges(
        work, baseline, start, rows=unasked, target=targets.whole.name
    )
    if roles:
        baseline, start = with_roles(baseline, roles), with_roles(start, roles)
    if settings.rubrics_compete and settings.optimizer != "protocol":
        start = better_start(work, baseline, start)
    start = guided_start(work, dataset, targets, start)
    first_lm = work.lm
    work.baseline = baseline
    found = work.optimized(start)
    baseline = work.decided(baseline, lm=first_lm)
    return baseline, found.for_own_rubric() if isinstance(found, Judge) else found


@dataclass(kw_only=True, eq=False)
class _Report:
    """Agreement of the baseline and the compiled judge, on validation and test rows."""

    work: Tuning
    targets: ChosenTargets
    judge: Judge | Panel
    validation: Rows
    tables: list[PredictionTable]
    selection: Report | None
    compared: PredictionTable
    uncompiled: Report | None = None
    heldout: Report | None = None
    gain: Gain | None = None
    heldout_compared: tuple[PredictionTable, PredictionTable] | None = None
    by_criterion: dict[str, CriterionReports] = field(default_factory=dict)
    judgements: list[Judgement] = field(default_factory=list)
    heldout_judgements: tuple[Judgement, ...] = ()
    discernment: DiscernmentReport | None = None
    verdicts: VerdictReport | None = None
    objectives: tuple[ObjectiveReport, ...] = ()
    front: tuple[FrontMember, ...] = ()
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        work: Tuning,
        dataset: DataSet,
        targets: ChosenTargets,
        baseline: Judge,
        judge: Judge | Panel,
        *,
        baseline_lm: dspy.LM,
    ) -> Self:
        shown = (shown_keys(one.protocol.demonstrations) for one in leaves_of(judge))
        parts = work.parts
        validation = parts.selection.without(frozenset[str]().union(*shown))
        judged = work.judged(judge, validation, "selection rows")
        least = threshold_of(judge)
        table = validation.judged(judged, judge_scale=judge.scale, threshold=least)
        if table.n_unscored == table.n:
            rows = parts.counts(targets)
            rows["unscored"] = table.n + rows["heldout"]
            raise nothing_scored(work, table, rows=rows, target=targets.whole.name)
        report = cls(
            work=work,
            targets=targets,
            judge=judge,
            validation=validation,
            tables=[table],
            selection=agreement_report(table, rng=_rng(work)) if table.is_rated else None,
            compared=validation.judged(
                judged,
                targets.compared,
                judge_scale=judge.scale,
                usd=work.usd(judged),
                threshold=least,
            ),
            judgements=judged[: len(validation)],
        )
        if parts.heldout is not None:
            report._add_heldout(dataset, parts.heldout, baseline, baseline_lm)
        report._add_discernment()
        report.objectives = tuple(map(report._objective, each_objective(work.settings)))
        if isinstance(judge, Judge):
            report.front = saved_front(
                work.front,
                work,
                judge=judge,
                selection=plain(report.selection) or {},
                seed=_seed(work),
            )
        report._add_notes(baseline)
        return report

    def _add_heldout(
        self, dataset: DataSet, heldout: Rows, baseline: Judge, baseline_lm: dspy.LM
    ) -> None:
        work, targets = self.work, self.targets
        before = work.judged(baseline, heldout, "held-out rows, uncompiled", lm=baseline_lm)
        after = work.judged(self.judge, heldout, "held-out rows")
        scales: list[dict[str, Any]] = [
            {"judge_scale": one.scale, "threshold": threshold_of(one)}
            for one in (baseline, self.judge)
        ]
        first, second = heldout.judged(before, **scales[0]), heldout.judged(after, **scales[1])
        self.tables.append(second)
        if targets.is_rated:
            reports = paired_reports(second, first, rng=lambda: _rng(work))
            self.heldout, self.uncompiled, self.gain = reports.first, reports.second, reports.gain
        usd = work.usd(before, lm=baseline_lm), work.usd(after)
        self.heldout_compared = (
            heldout.judged(before, targets.compared, usd=usd[0], **scales[0]),
            heldout.judged(after, targets.compared, usd=usd[1], **scales[1]),
        )
        if scales[1]["threshold"] is not None and isinstance(self.judge, Judge):
            self.verdicts = VerdictReport.of(
                first, second, self.judge, trade_off=work.trade_off, seed=_seed(work)
            )
        before, after = before[: len(heldout)], after[: len(heldout)]
        self.heldout_judgements = tuple(after)
        self.judgements = [*self.judgements, *after]
        for name, judgements in (("uncompiled", before), ("heldout", after)):
            self.by_criterion[name] = criterion_reports(
                dataset,
                self.work.parts.heldout_places.tolist(),
                judgements,
                aggregate=work.settings.aggregate,
                rng=_rng(work),
            )

    def _add_discernment(self) -> None:
        if self.work.parts.versions is None:
            return
        self.discernment = discernment_report(
            self.work.parts.versions,
            self.targets.compared,
            selection=self.compared,
            heldout=self.heldout_compared,
            seed=_seed(self.work),
        )
        if self.heldout_compared is not None:  # the search maximized these kinds and no others
            first, second = (table.of_kinds(self.compared.kinds) for table in self.heldout_compared)
            self.heldout_compared = first, second

    def _objective(self, aim: Objective) -> ObjectiveReport:
        by_score = self.targets.compared == (SCORE,)
        if isinstance(aim, Agreement) and by_score and self.selection is not None:
            return reported_objective(
                aim,
                selection=self.selection,
                uncompiled=self.uncompiled,
                heldout=self.heldout,
                gain=self.gain,
            )
        return objective_report(
            aim,
            self.targets.compared,
            selection=self.compared,
            heldout=self.heldout_compared,
            seed=_seed(self.work),
        )

    def _add_notes(self, baseline: Judge) -> None:
        work, parts, settings = self.work, self.work.parts, self.work.settings
        items = [item for part in parts.tuning for item in part.items]
        self.notes = [
            *([] if self.verdicts is None else [self.verdicts.headline]),
            *work.notes,
            *notes_on(
                settings,
                self.judge,
                baseline,
                self.tables,
                self.objectives[0],
                complete=work.complete,
            ),
            *criteria_notes(self.judgements, self.by_criterion.get("heldout")),
            *versions_notes(parts, rated=self.targets.is_rated),
            *unnoticed_note(self.discernment, settings.aims),
            *taught_note(self._taught, parts.heldout),
            *length_note(parts.heldout, self.heldout_judgements),
            *known_note(parts),
            *offline_notes(items, str(work.lm.model), inferred=False),
        ]

    @property
    def _human_labels(self) -> list[str | None] | None:
        """People's labels of the rows held out; None where they gave ratings."""
        heldout, scale = self.work.parts.heldout, self.targets.whole.scale
        if heldout is None or not scale.is_verdict:
            return None
        return [
            None if one != one else scale.labels[int(one - scale.low)]
            for one in heldout.human.tolist()
        ]

    @property
    def _taught(self) -> frozenset[str]:
        taught = (rows_that_taught(one.protocol.rubric) for one in leaves_of(self.judge))
        return frozenset[str]().union(*taught)

    @property
    def examples(self) -> tuple[tuple[RatedItem, float, Judgement], ...]:
        heldout, told = self.work.parts.heldout, self.heldout_judgements
        scores = {place: one.score for place, one in enumerate(told) if one.score is not None}
        if heldout is None or not scores:
            return ()
        order = sorted(scores, key=lambda place: (-scores[place], place))
        ends = dict.fromkeys((order[0], order[-1]))
        return tuple((heldout.items[i], float(heldout.human[i]), told[i]) for i in ends)

    def result(self, saved: SavedJudge | SavedPanel, data: str) -> CompileResult:
        """Return what the compilation came to, with what was saved of it."""
        return CompileResult(
            saved=saved,
            **{name: self._with_objectives(name) for name in ("uncompiled", "heldout", "gain")},
            selection=self.selection,
            objective=self.objectives[0],
            objectives=self.objectives if len(self.objectives) > 1 else (),
            by_criterion=self.by_criterion,
            examples=self.examples,
            unscored=unscored(*self.tables),
            notes=tuple(dict.fromkeys(self.notes)),
            targets=self.targets.whole,
            heldout_places=self.work.parts.heldout_places,
            heldout_judgements=Listed(self.heldout_judgements),
            complete=self.work.complete,
            discernment=self.discernment,
            verdicts=self.verdicts,
            data=data,
            heldout_rows=Listed(self._judged_rows()),
            _study=self.work.study,
        )

    def _with_objectives(self, part: str) -> Any:
        """Return a report on test rows in which the objectives are found by name, too."""
        report = getattr(self, part)
        if report is not None and "dataset" in report:
            also = {one.name: getattr(one, part) for one in self.objectives}
            report["dataset"].also = also
        return report

    def _judged_rows(self) -> Sequence[JudgedRow]:
        heldout, work = self.work.parts.heldout, self.work
        if heldout is None:
            return ()
        cost = usd_of(self.heldout_judgements, work.lm)
        told, human, groups = (
            self.heldout_judgements,
            heldout.human.tolist(),
            heldout.groups.tolist(),
        )
        said = zip(heldout.items, told, human, groups, cost or [None] * len(told), strict=True)
        target = self.targets.whole.name
        rows = [
            JudgedRow.of(item, one, human=rated, target=target, group=group, usd=usd)
            for item, one, rated, group, usd in said
        ]
        return rows if work.settings.texts else [row.without_texts for row in rows]

    def artifact(self, *, run: str, known: frozenset[str]) -> SavedJudge | SavedPanel:
        """Return the judge as plain data, with what is known of it."""
        work, parts, targets = self.work, self.work.parts, self.targets
        settings, heldout = work.settings, parts.heldout
        rows = parts.counts(targets)
        rows["unscored"] = sum(table.n_unscored for table in self.tables)
        objectives = self.objectives if len(self.objectives) > 1 else ()
        heldout_items = () if heldout is None else heldout.items
        keeps_texts = heldout is not None and settings.texts
        known_of_it: dict[str, Any] = {
            "agreement": {
                "uncompiled": plain(self.uncompiled),
                "selection": plain(self.selection),
                "heldout": plain(self.heldout),
                "gain": plain(self.gain),
                "optimism": None
                if self.selection is None
                else optimism(self.selection, self.heldout),
                "objective": self.objectives[0].to_dict(),
                "criteria": {name: one.to_dict() for name, one in self.by_criterion.items()},
                **({"objectives": [one.to_dict() for one in objectives]} if objectives else {}),
                **({"confirmation": work.confirmation} if work.confirmation else {}),
                **({} if self.discernment is None else {"discernment": self.discernment.to_dict()}),
                **({} if self.verdicts is None else {"verdicts": self.verdicts.to_dict()}),
            },
            "rows": rows,
            "seen": {
                "train": () if parts.pool is None else _keys(parts.pool),
                "select": _keys(parts.selection),
                **_seen_besides(parts, rubric=self._taught, earlier=known),
            },
            "golden": drawn_golden(heldout_items, self.heldout_judgements, self._human_labels)
            if keeps_texts
            else (),
            "history": tuple(work.history),
            "settings": {
                **settings.model_dump(mode="json", exclude={"protocol"}),
                "run": run,
                "compared": targets.compared,
                "complete": work.complete,
            },
            "reference": reference_of([*self.validation.items, *heldout_items], self.judgements),
        }
        if isinstance(self.judge, Judge):
            return self._alone(self.judge, front=self.front, **known_of_it)
        members = {
            name: self._alone(one)
            for name, one in zip(self.judge.members, leaves_of(self.judge), strict=True)
        }
        return SavedPanel(
            members=members,
            weights=self.judge.weights,
            target=targets.whole.name,
            human_scale=targets.whole.scale,
            **known_of_it,
        )

    def _alone(self, judge: Judge, **known_of_it: Any) -> SavedJudge:
        """Return one judge as plain data."""
        target = self.targets.whole
        return SavedJudge(
            protocol=judge.protocol,
            questions=judge.templates(),
            model=str(self.work.lm.model),
            roles=self.work.settings.roles,
            target=target.name,
            human_scale=target.scale,
            **known_of_it,
        )


def _seed(work: Tuning) -> list[int]:
    return [work.settings.seed, 12]


def _rng(work: Tuning) -> np.random.Generator:
    """Return the same resamples for every report: equal predictions have equal intervals."""
    return np.random.default_rng(_seed(work))


def _check_models(settings: CompileSettings, models: Mapping[str, dspy.LM]) -> None:
    if set(models) != set(settings.models):
        raise InputError(
            f"the models that compete are those of the settings ({_listed(settings.models)}); got "
            f"{_listed(models)}."
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _seen_besides(parts: Parts, **others: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Return rows that were seen otherwise than as demonstrations or validation rows."""
    tuned = {item.key for part in parts.tuning for item in part.items}
    return {use: tuple(sorted(keys - tuned)) for use, keys in others.items() if keys - tuned}


def _keys(rows: Rows) -> tuple[str, ...]:
    return tuple(sorted({item.key for item in rows.items}))

"""How well a judge, or a file of scores, agrees with people on a rated set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from judgesmith.data.items import DataSet
from judgesmith.data.reading import READ_OPTIONS, SourceGiven, as_dataset
from judgesmith.data.score_files import Scores
from judgesmith.data.scores import other_models, stated_notes
from judgesmith.data.targets import Targets, targets_of
from judgesmith.experiments.evaluate.agreement import (
    CriterionReports,
    Report,
    Unscored,
    agreement_report,
    criterion_reports,
    oriented,
    unscored,
)
from judgesmith.experiments.evaluate.diagnostics import Diagnostics, diagnostics_of
from judgesmith.experiments.evaluate.judged_rows import (
    JudgedRows,
    JudgeGiven,
    as_judge,
    rows_of_judge,
    rows_of_scores,
)
from judgesmith.experiments.evaluate.label_verdicts import LabelAgreement, label_agreement
from judgesmith.experiments.evaluate.within_source import only_within_sources
from judgesmith.front_door import public
from judgesmith.metrics.arrays import Seed, fraction, generator
from judgesmith.metrics.records import plain
from judgesmith.metrics.systems import SystemMean, system_means, system_ranks
from judgesmith.optimizers.predictions import PredictionTable
from judgesmith.results.base import Result
from judgesmith.results.charts import Charts, confusion, row_charts
from judgesmith.results.progress import OnProgress, shows_progress
from judgesmith.signatures.items import Aggregate
from judgesmith.signatures.scale import Scale

if TYPE_CHECKING:
    from judgesmith.programs.lm import AnyModel

RowsUsed = Literal["unseen", "all"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation(
    Result,
    report="judgesmith.cli.trust.evaluate:report",
    shows=("labels.tpr", "labels.tnr", "unseen.dataset", "seen.dataset"),
):
    """Agreement with people, on rows the judge has seen and on others apart.

    Attributes
    ----------
    label, target : str
        What was evaluated, and against which ratings.
    unseen, seen : Report or None
        On rows that the judge was not made from, and on those it was; None without such rows.
        All rows of scores on file are under ``unseen``, and ``knows_seen`` is False.
    unscored : Unscored
        Rows without a score among all rated ones.
    n_unseen, n_seen, n_unrated : int
        Rated rows of either kind, and unrated rows.
    scored_by : str
        What was compared with the target: the judge's ``score``; its score on the ``criterion``
        that the target is called like; or, of scores on file that are on another criterion, its
        name.
    by_criterion : CriterionReports
        Agreement on each criterion that the judge scores and people rated.
    criteria_on : {"unseen", "all"}
        The rows behind ``by_criterion`` and ``besides``: all of them where none is known to be
        unseen.
    besides : Diagnostics or None
        What correlations do not tell; None where no row has a score.
    knows_seen : bool
        Whether the rows the judge was made from are known: of scores on file they are not.
    ranks : bool
        Whether scores are known to be ranks within a source: what compares sources is undefined.
    stated : tuple of str
        A sentence on models that were asked instead of the judge's own, and one on scores that
        probabilities were to weigh and did not; empty without such.
    systems : tuple of SystemMean
        The mean rating of every system, with and without the scores of unrated rows;
        empty where there are none of these, or the scores are of another criterion.
    system_ranks : tuple of (int, int)
        Of each of them the best and the worst rank that is left open; empty from 51 systems on.
    labels : LabelAgreement or None
        TPR, TNR and the rows labelled wrongly, where people gave labels such as pass and fail and
        the judge gives labels, too, or scores on a known scale; on the rows of ``criteria_on``.
    data : str
        The name of the rated data.
    rows : PredictionTable or None
        The rating and the score of each row of ``criteria_on``.
    """

    label: str
    target: str
    unseen: Report | None
    seen: Report | None
    unscored: Unscored
    n_unseen: int
    n_seen: int
    n_unrated: int
    scored_by: str = "score"
    by_criterion: CriterionReports = field(default_factory=CriterionReports)
    criteria_on: RowsUsed = "unseen"
    besides: Diagnostics | None = None
    knows_seen: bool = True
    ranks: bool = False
    stated: tuple[str, ...] = ()
    systems: tuple[SystemMean, ...] = ()
    system_ranks: tuple[tuple[int, int], ...] = ()
    labels: LabelAgreement | None = None
    data: str = ""
    rows: PredictionTable | None = field(default=None, repr=False)

    def _systems(self) -> list[dict[str, Any]]:
        told = [one.to_dict() for one in self.systems]
        ranks = [{"ranks": list(one)} for one in self.system_ranks] or [{}] * len(told)
        return [{**one, **rank} for one, rank in zip(told, ranks, strict=True)]

    @property
    def criteria(self) -> Mapping[str, Report]:
        """Agreement on each criterion, at dataset level."""
        return self.by_criterion.reports

    def charts(self) -> Charts:
        """Return the charts by name: intervals, and where rows are known their scores."""
        found = super().charts()
        if self.rows is not None:
            found |= row_charts(self.rows.human, self.rows.predicted, title=self.label)
        levels = self.besides and self.besides.confusion
        if self.labels is not None:
            names, counts = self.labels.labels, self.labels.confusion
            found["confusion"] = lambda: confusion(names, counts, title=self.label)
        elif levels:
            named = [f"{one:g}" for one in levels.levels]
            found["confusion"] = lambda: confusion(named, levels.counts, title=self.label)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON; nothing is called held out that may be seen."""
        known = self.knows_seen
        return {
            "judge": self.label,
            "target": self.target,
            "scored_by": self.scored_by,
            "rows": {
                "unseen": self.n_unseen if known else None,
                "seen": self.n_seen if known else None,
                "unknown": 0 if known else self.n_unseen,
                "unscored": self.unscored.n,
                "unrated": self.n_unrated,
            },
            **self.unscored.to_dict(),
            "heldout": plain(self.unseen) if known else None,
            "seen": plain(self.seen),
            "unknown": None if known else plain(self.unseen),
            "criteria_on": self.criteria_on,
            "criteria": self.by_criterion.to_dict(),
            "criteria_unscored": {name: one.n for name, one in self.by_criterion.unscored.items()},
            "criteria_left_out": dict(self.by_criterion.left_out),
            "besides": None if self.besides is None else self.besides.to_dict(),
            **({"systems": self._systems()} if self.systems else {}),
            **({"labels": self.labels.to_dict()} if self.labels is not None else {}),
        }


MOST_RANKED = 50  # systems: every two of them are compared


@public("judgesmith.evaluate", READ_OPTIONS)
@shows_progress
def evaluate_judge(
    judge: JudgeGiven,
    dataset: DataSet | SourceGiven,
    targets: Targets | None = None,
    *,
    aggregate: Aggregate = "mean",
    lm: AnyModel | str | None = None,
    seed: Seed = 0,
    confidence: float = 0.95,
    label: str = "judge",
    concurrency: int = 32,
    on_progress: OnProgress | None = None,
    progress: bool = True,
    **reading: Any,
) -> Evaluation:
    """Judge every rated row and report the agreement, rows the judge was made from apart.

    Judges answer that more is better. Where people counted faults (``higher_is_better`` is
    False), their counts are turned round, so that a good judge agrees positively.

    Parameters
    ----------
    judge : Judge, CompositeJudge, a saved one, its folder, or a CompileResult
        One that was saved knows which rows it was compiled from; of another all rows count as
        unseen.
    dataset : DataSet, or what ``judgesmith.read`` reads
        Rated items.
    targets : Targets or None
        Which ratings count; None takes what the judge was compiled for, or the set's own default.
        Where they are called like one of the judge's criteria, and not like what it was compiled
        for, its score on that criterion is compared.
    aggregate : {"mean", "median", "mode", "unanimous"}
        How several ratings become one value on the criteria, and on the target of None.
    lm : model, str or None
        The model, or its name; None takes DSPy's current one, or the offline model.
    seed : int or numpy.random.Generator
        Draws the intervals.
    confidence : float, between 0 and 1
        Nominal coverage of the intervals.
    label : str
        What the judge is called in the report.
    concurrency : int
        Requests under way at once.
    on_progress : callable or None
        Told of every ``ProgressEvent``.
    progress : bool
        Whether a terminal or a notebook shows a bar, where ``on_progress`` is None.
    **reading
        For data that is not read yet what ``judgesmith.read`` takes, such as ``scale="1..5"``.

    Raises
    ------
    ValueError
        If the target is unrated.

    Examples
    --------
    >>> from judgesmith.data.reading import read_items
    >>> from judgesmith.programs import ActiveCritic
    >>> found = evaluate_judge(ActiveCritic(), read_items("sample"), seed=0)
    >>> found.target, found.n_unseen, found.seen is None
    ('overall', 160, True)
    """
    rng = generator(seed)
    fraction(confidence, name="confidence")
    judge, dataset = as_judge(judge, "evaluate"), as_dataset(dataset, "evaluate", **reading)
    own = getattr(judge, "target", None)
    if targets is None:
        targets = targets_of(dataset, own or "auto", aggregate)
        own = targets.name
    found = rows_of_judge(
        judge,
        dataset,
        targets,
        own=own,
        lm=lm,
        label=label,
        concurrency=concurrency,
        on_progress=on_progress,
    )
    on: RowsUsed = "all" if found.seen.all() else "unseen"
    return _evaluation(
        found,
        dataset,
        targets,
        criteria_on=on,
        aggregate=aggregate,
        rng=rng,
        confidence=confidence,
    )


def evaluate_scores(
    scores: Scores,
    dataset: DataSet,
    targets: Targets,
    *,
    answers: Scale | None = None,
    aggregate: Aggregate = "mean",
    seed: Seed = 0,
    confidence: float = 0.95,
) -> Evaluation:
    """Report the agreement of scores that are already there.

    As ``evaluate_judge``. Rows that do not say what their judge was compiled for are compared by
    their score, whatever the target. Scores on file count as more is better.

    Parameters
    ----------
    scores : Scores
        From ``read_scores``.
    dataset : DataSet
        The rated items that they are for.
    targets : Targets
        What people said, from ``targets_of``.
    answers : Scale or None
        What the scores are points of; with None there is no kappa and no concordance.
    aggregate : {"mean", "median", "mode", "unanimous"}
        How several ratings become one value on the criteria.
    seed : int or numpy.random.Generator
        Draws the intervals.
    confidence : float, between 0 and 1
        Nominal coverage of the intervals.

    Returns
    -------
    Evaluation
        Agreement over all rows, of which none counts as one the judge was made from, and by
        criterion.
    """
    rng = generator(seed)
    fraction(confidence, name="confidence")
    found = rows_of_scores(scores, dataset, targets, answers=answers)
    evaluation = _evaluation(
        found,
        dataset,
        targets,
        criteria_on="all",
        aggregate=aggregate,
        rng=rng,
        confidence=confidence,
    )
    whole = found.scored_by == "score" and not found.ranks
    if not whole:
        return evaluation
    judge = np.asarray(scores.values, dtype=np.float64)
    if not np.any(np.isnan(targets.values) & ~np.isnan(judge)):
        return evaluation  # no scores of unrated rows help to find what systems are rated
    where: dict[str, Any] = {
        "sources": dataset.groups.tolist(),
        "systems": [item.system_id for item in dataset.items],
        "confidence": confidence,
    }
    turned = judge if targets.scale.higher_is_better else -judge
    means = tuple(system_means(targets.values, turned, **where))
    few = len(means) <= MOST_RANKED
    ranks = system_ranks(oriented(targets), judge, **where) if few else {}
    return replace(evaluation, systems=means, system_ranks=tuple(ranks.values()))


def _evaluation(
    judged: JudgedRows,
    dataset: DataSet,
    targets: Targets,
    *,
    criteria_on: RowsUsed,
    aggregate: Aggregate,
    rng: np.random.Generator,
    confidence: float,
) -> Evaluation:
    table, seen = judged.table, judged.seen
    rows = np.flatnonzero(~seen if criteria_on == "unseen" else np.ones(len(seen), dtype=bool))
    unseen_report = _report(judged, ~seen, rng, confidence)
    seen_report = _report(judged, seen, rng, confidence)
    by_criterion = criterion_reports(
        dataset,
        targets.rated[rows].tolist(),
        [judged.judgements[i] for i in rows.tolist()],
        aggregate=aggregate,
        rng=rng,
        confidence=confidence,
    )
    return Evaluation(
        label=judged.label,
        target=targets.name,
        unseen=unseen_report,
        seen=seen_report,
        unscored=unscored(table),
        n_unseen=int(np.sum(~seen)),
        n_seen=int(np.sum(seen)),
        n_unrated=targets.n_unrated,
        scored_by=judged.scored_by,
        by_criterion=by_criterion,
        criteria_on=criteria_on,
        besides=diagnostics_of(
            judged, rows.tolist(), dataset, targets, rng=rng, confidence=confidence
        ),
        labels=label_agreement(
            judged, rows.tolist(), dataset, targets, rng=rng, confidence=confidence
        )
        if targets.is_verdict
        else None,
        knows_seen=judged.knows_seen,
        ranks=judged.ranks,
        data=dataset.name,
        rows=table.take(rows),
        stated=(*other_models(judged.judgements), *stated_notes(judged.judgements)),
    )


def _report(
    judged: JudgedRows, chosen: np.ndarray, rng: np.random.Generator, confidence: float
) -> Report | None:
    if not chosen.any():
        return None
    table = judged.table.take(np.flatnonzero(chosen))
    report = agreement_report(table, rng=rng, confidence=confidence)
    return only_within_sources(report) if judged.ranks else report

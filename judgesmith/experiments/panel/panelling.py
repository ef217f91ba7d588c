"""A panel of saved judges: weights learned on rows that no member has seen, and what it costs.

The mean or median of all members needs no ratings; where there are ratings, its agreement with
them is reported.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from judgesmith.data.items import DataSet
from judgesmith.errors import InputError
from judgesmith.experiments.compile.versions import DiscernmentReport, discernment_report
from judgesmith.experiments.evaluate.agreement import (
    Gain,
    PairedReports,
    Report,
    agreement_report,
    optimism,
    paired_reports,
)
from judgesmith.experiments.monitor.recheck_rule import MOST_ITEMS, drawn_golden
from judgesmith.experiments.panel.notes import (
    SubsetAnalysis,
    panel_notes,
    subset_analysis,
    unreported_notes,
)
from judgesmith.experiments.panel.rows import PanelParts, PanelSettings, panel_parts, panel_to_learn
from judgesmith.experiments.scoring.estimates import (
    RunEstimate,
    efforts_of_all,
    estimate_asking,
    supervising,
)
from judgesmith.metrics.records import plain
from judgesmith.optimizers import PanelSelection
from judgesmith.optimizers.fitting.cross_validation import FEWEST_ROWS
from judgesmith.optimizers.predictions import SCORE, PredictionTable
from judgesmith.optimizers.rows import Rows
from judgesmith.programs import score_batch
from judgesmith.programs.artifacts.record import GoldenItem, SavedAgreement
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedPanel
from judgesmith.programs.families.ensemble.members import PanelJudgement
from judgesmith.programs.judging.runner import was_not_asked
from judgesmith.results.base import Result
from judgesmith.results.progress import OnProgress, shows_progress, staged
from judgesmith.signatures.aggregation import PanelWeights
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement

if TYPE_CHECKING:
    import dspy


def estimate_panel(
    panel: SavedPanel,
    parts: PanelParts,
    lms: Mapping[str, dspy.LM],
    lm: dspy.LM,
    *,
    texts: bool = True,
) -> RunEstimate:
    """Return what ``learn_panel`` asks: every member, of every row; a supervisor, of few texts."""
    efforts = efforts_of_all([panel], parts.items)
    kept = parts.texts if parts.heldout is None else parts.heldout.items
    if texts:
        efforts += supervising(panel, kept[:MOST_ITEMS])
    return estimate_asking(efforts, lms, lm)


Scores = Mapping[str, Sequence[float | None]]
"""Every member's score of every row, then of their versions, in points of its own scale."""


class TooFewJudgedError(InputError):
    """The budget ended before there was anything to weigh; a larger one resumes from here."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedPanel(
    Result,
    report="judgesmith.cli.judge.panel:report",
    shows=("gain.dataset", "heldout.dataset", "selection.dataset"),
):
    """A panel and how well it agrees with people.

    Attributes
    ----------
    saved : SavedPanel
        The panel as plain data; ``saved.program()`` is the module.
    best : str or None
        The member that agrees best on the rows that weights were learned from, of those with
        enough scores to be weighed; None where ratings are too few or missing.
    best_member, heldout : Report or None
        Agreement of that member, and of the panel, on the rows held out that both score.
    gain : Gain or None
        The panel minus that member.
    selection : Report or None
        Agreement of the panel on the rows its weights were learned from; None likewise.
    discernment : DiscernmentReport or None
        How well the panel detects changes of texts, next to that member; None where the objective
        does not look at them.
    subsets : SubsetAnalysis or None
        Of all subsets of the members, on the rows held out if there are any.
    notes : tuple of str
        What a reader should know, in sentences.
    """

    saved: SavedPanel
    best: str | None
    best_member: Report | None
    heldout: Report | None
    gain: Gain | Any  # None without test rows
    selection: Report | None
    subsets: SubsetAnalysis | None
    notes: tuple[str, ...]
    discernment: DiscernmentReport | None = None
    data: str = ""


@shows_progress
def learn_panel(
    members: Mapping[str, AnySaved],
    dataset: DataSet,
    settings: PanelSettings | None = None,
    *,
    lm: dspy.LM | None = None,
    lms: Mapping[str, dspy.LM] | None = None,
    own: Mapping[str, dspy.LM] | None = None,
    run: str = "",
    concurrency: int = 32,
    on_progress: OnProgress | None = None,
    progress: bool = True,
) -> LearnedPanel:
    """Return a panel of saved judges with learned weights, and how well it agrees with people.

    Parameters
    ----------
    members : dict of str to saved judge
        By name, two at least.
    dataset : DataSet
        Rated items. Rows of sources that any member was made from are left out. A mean or median
        of all members takes unrated items, too: a few are judged and kept. So does an
        objective of discernment alone, such as ``d_avg``.
    settings : PanelSettings or None
        None takes the defaults.
    lm : dspy.LM or None
        What members ask; None takes DSPy's current model, or the offline model.
    lms : dict of str to dspy.LM, or None
        By name, for members that were made with that model, and for the supervisor.
    own : dict of str to dspy.LM, or None
        By part (a member's name, or ``supervisor``), for those that ask a model of their own,
        whatever ``lms`` say: two servers may serve models of one name. What is saved does not tell.
    run : str
        What the saved panel says of the run that made it.
    concurrency : int
        Requests under way at once.
    on_progress : callable or None
        Told of every ``ProgressEvent``.
    progress : bool
        Whether a terminal or a notebook shows a bar, where ``on_progress`` is None.

    Raises
    ------
    ValueError
        As ``panel_parts``, if the objective looks at calls or dollars, if ``own`` names no part, or
        if no row got a score.

    Examples
    --------
    >>> import judgesmith
    >>> data = judgesmith.read("sample")
    >>> start = judgesmith.CompileSettings(criteria="given", optimizer="none", holdout=0.6)
    >>> vanilla = judgesmith.ActiveCriticConfig(variant="vanilla")
    >>> plain = start.model_copy(update={"protocol": vanilla})
    >>> made = {"fine": start, "grades": plain}
    >>> members = {name: judgesmith.compile(data, one).saved for name, one in made.items()}
    >>> found = learn_panel(members, data)
    >>> found.saved.rows["select"], found.saved.rows["heldout"], found.saved.rows["known"]
    (68, 28, 64)
    """
    settings = settings or PanelSettings()
    parts = panel_parts(members, dataset, settings)
    learner = PanelSelection(settings.objective, n_rounds=settings.n_rounds, seed=settings.seed)
    panel = panel_to_learn(members, parts, settings).with_models(lms or {}).with_parts(own or {})
    # Scores do not depend on how errors are merged, which may take calls.
    unmerged = panel.model_copy(update={"rules": None, "supervisor": None})
    asking = _Asking(unmerged, lm, concurrency, on_progress)
    if parts.selection is None:
        return replace(_unreported(asking, panel, parts, settings, run), data=dataset.name)
    learned = learner if settings.score == "learned" else None
    chosen = _Chosen.of(asking, panel, parts.selection, learner, learned=learned is not None)
    final = panel.model_copy(update={"weights": chosen.weights})
    held = None
    if parts.heldout is not None:
        held = _Held.of(asking, chosen, panel, parts.heldout, seed=settings.seed)
    discernment = None
    if parts.versions is not None:
        discernment = discernment_report(
            parts.versions,
            (SCORE,),
            selection=chosen.table,
            heldout=None if held is None else (held.before, held.after),
            seed=[settings.seed, 12],
            before="best_member",
        )
    subsets = _subsets(
        settings,
        *((chosen.rows, chosen.scores) if held is None else (held.rows, held.scores)),
        members,
    )
    selection, heldout, best_member, gain = chosen.report(settings.seed), None, None, None
    if held is not None and held.reports is not None:
        heldout, best_member, gain = held.reports.first, held.reports.second, held.reports.gain
    golden: tuple[GoldenItem, ...] = ()
    if held is not None and settings.texts:
        golden = _golden(final, held.rows, held.judged(chosen.weights), lm, concurrency)
    saved = final.model_copy(
        update={
            "agreement": SavedAgreement.model_validate(
                {
                    "best_member": plain(best_member),
                    "selection": plain(selection),
                    "heldout": plain(heldout),
                    "gain": plain(gain),
                    "optimism": None if selection is None else optimism(selection, heldout),
                    **({} if discernment is None else {"discernment": discernment.to_dict()}),
                }
            ),
            "rows": _counts(
                parts,
                unscored=chosen.n_unscored + (0 if held is None else held.n_unscored),
            ),
            "seen": {"select": tuple(sorted({item.key for item in parts.selection.items}))},
            "golden": golden,
            "history": tuple(_history(learned, subsets)),
            "settings": _noted(settings, run, asking, best=chosen.best),
        }
    )
    return LearnedPanel(
        saved=_checked(saved),
        data=dataset.name,
        best=chosen.best,
        best_member=best_member,
        heldout=heldout,
        gain=gain,
        selection=selection,
        subsets=subsets,
        notes=tuple(
            panel_notes(
                learned,
                chosen.weights,
                chosen.best,
                parts,
                gain,
                subsets,
                discernment,
                objective=settings.objective,
                complete=asking.complete,
            )
        ),
        discernment=discernment,
    )


def _counts(parts: PanelParts, *, unscored: int) -> dict[str, int]:
    return {
        "train": 0,
        "select": 0 if parts.selection is None else len(parts.selection),
        "heldout": 0 if parts.heldout is None else len(parts.heldout),
        "unrated": parts.n_unrated,
        "unscored": unscored,
        "known": parts.n_known,
    }


def _noted(settings: PanelSettings, run: str, asking: _Asking, *, best: str | None) -> Any:
    return {
        **settings.model_dump(mode="json"),
        "run": run,
        "complete": asking.complete,
        "best_member": best,
    }


@dataclass(frozen=True, kw_only=True, eq=False)
class _Chosen:
    """The weights, the best member, and the rows that selected both."""

    weights: PanelWeights
    best: str
    rows: Rows
    scores: Scores
    n_unscored: int
    table: PredictionTable

    @classmethod
    def of(
        cls,
        asking: _Asking,
        panel: SavedPanel,
        selection: Rows,
        learner: PanelSelection,
        *,
        learned: bool,
    ) -> Self:
        rows, scores = asking.judged(selection, "rows to learn from")
        if not asking.complete and len(rows) < FEWEST_ROWS:
            raise TooFewJudgedError(
                f"the budget ended when {len(rows)} of {len(selection)} rows to learn from were "
                f"judged, and weights need {FEWEST_ROWS}; a larger budget resumes from here."
            )
        scales = {name: one.scale for name, one in panel.members.items()}
        weights = learner.choose(rows, scores, scales=scales) if learned else panel.weights
        # With few scores, on the easy rows perhaps, anybody may look best.
        values = {
            name: learner.objective.value(
                rows.judged(_judgements(one), judge_scale=panel.members[name].scale)
            )
            for name, one in scores.items()
            if not learned or name not in learner.unweighed_
        }
        best = max(values, key=lambda name: -math.inf if math.isnan(values[name]) else values[name])
        table = rows.judged(_combined(weights, scores), judge_scale=weights.scale)
        return cls(
            weights=weights,
            best=best,
            rows=rows,
            scores=scores,
            n_unscored=table.n_unscored + len(selection) - len(rows),
            table=table,
        )

    def report(self, seed: int) -> Report | None:
        rng = np.random.default_rng([seed, 12])
        return agreement_report(self.table, rng=rng) if self.table.is_rated else None


@dataclass(frozen=True, kw_only=True, eq=False)
class _Held:
    """The panel and its best member on the rows held out; reports where these are rated."""

    rows: Rows
    scores: Scores
    before: PredictionTable
    after: PredictionTable
    reports: PairedReports | None
    n_unscored: int

    @classmethod
    def of(
        cls, asking: _Asking, chosen: _Chosen, panel: SavedPanel, heldout: Rows, *, seed: int
    ) -> Self:
        rows, scores = asking.judged(heldout, "held-out rows")
        weights, best = chosen.weights, chosen.best
        after = rows.judged(_combined(weights, scores), judge_scale=weights.scale)
        before = rows.judged(_judgements(scores[best]), judge_scale=panel.members[best].scale)
        reports = None
        if chosen.table.is_rated:
            reports = paired_reports(after, before, rng=lambda: np.random.default_rng([seed, 12]))
        return cls(
            rows=rows,
            scores=scores,
            before=before,
            after=after,
            reports=reports,
            n_unscored=after.n_unscored + len(heldout) - len(rows),
        )

    def judged(self, weights: PanelWeights) -> list[Judgement]:
        return _combined(weights, self.scores)[: len(self.rows)]


def _unreported(
    asking: _Asking, panel: SavedPanel, parts: PanelParts, settings: PanelSettings, run: str
) -> LearnedPanel:
    """Return the mean or median of all members, of whose agreement with people nothing is known."""
    said = asking.said(panel, parts.texts, "texts to keep") if parts.texts else []
    reports = ("best_member", "selection", "heldout", "gain", "optimism")
    saved = panel.model_copy(
        update={
            "agreement": SavedAgreement.model_validate(dict.fromkeys(reports)),
            "rows": _counts(parts, unscored=sum(one.score is None for one in said)),
            "golden": drawn_golden(parts.texts, said),
            "settings": _noted(settings, run, asking, best=None),
        }
    )
    return LearnedPanel(
        saved=_checked(saved),
        best=None,
        best_member=None,
        heldout=None,
        gain=None,
        selection=None,
        subsets=None,
        notes=tuple(unreported_notes(settings.middle, parts, complete=asking.complete)),
    )


def _checked(saved: SavedPanel) -> SavedPanel:
    """Return what was put together, checked like what is read."""
    return SavedPanel.model_validate(saved.model_dump())


@dataclass
class _Asking:
    panel: SavedPanel
    lm: dspy.LM | None
    concurrency: int
    on_progress: OnProgress | None
    complete: bool = True

    def judged(self, rows: Rows, stage: str) -> tuple[Rows, Scores]:
        """Return the rows that the budget reached, and every member's score of each."""
        found = self.said(self.panel, rows.texts, stage)
        places = range(len(rows))
        reached = [
            place for place in places if not any(map(was_not_asked, rows.at(found, [place])))
        ]
        answers = rows.at(found, reached)
        said = [one.members if isinstance(one, PanelJudgement) else {} for one in answers]
        scores = {name: [one.get(name) for one in said] for name in self.panel.members}
        return rows.take(reached), scores

    def said(self, panel: SavedPanel, items: Sequence[RatedItem], stage: str) -> list[Judgement]:
        """Return what a panel says of every item, as far as the budget reaches."""
        tell = staged(self.on_progress, stage, len(items))
        found = score_batch(
            panel, items, lm=self.lm, concurrency=self.concurrency, on_progress=tell
        )
        self.complete = self.complete and not any(map(was_not_asked, found))
        return found


def _judgements(scores: Sequence[float | None]) -> list[Judgement]:
    return [
        Judgement.unscored("no score") if one is None else Judgement(score=one) for one in scores
    ]


def _combined(weights: PanelWeights, scores: Scores) -> list[Judgement]:
    n_texts = len(next(iter(scores.values())))  # of every member there are as many
    by_row = [{name: given[text] for name, given in scores.items()} for text in range(n_texts)]
    return _judgements([weights.apply(one) for one in by_row])


def _golden(
    panel: SavedPanel,
    rows: Rows,
    judgements: Sequence[Judgement],
    lm: dspy.LM | None,
    concurrency: int,
) -> tuple[GoldenItem, ...]:
    """Return a few texts with what the panel says of them, words and all."""
    items = [one.item for one in drawn_golden(rows.items, judgements)]
    said = score_batch(panel, items, lm=lm, concurrency=concurrency)
    return tuple(
        GoldenItem.of(item, found)
        for item, found in zip(items, said, strict=True)
        if found.score is not None
    )


def _trial(trial: Any) -> dict[str, Any]:
    names = ("name", "value", "optimism", "behind", "standard_error", "n_members")
    return {"stage": "panel", **{name: getattr(trial, name) for name in names}}


def _history(
    learner: PanelSelection | None, subsets: SubsetAnalysis | None
) -> Iterator[dict[str, Any]]:
    for one in () if learner is None else learner.trials_:
        yield _trial(one)
    for subset in () if subsets is None else subsets.subsets:
        yield {"stage": "subset", **subset.to_dict()}


def _subsets(
    settings: PanelSettings, rows: Rows, scores: Scores, members: Mapping[str, AnySaved]
) -> SubsetAnalysis | None:
    """Return what every subset of the members is worth, if that was asked for."""
    if not settings.subsets:
        return None
    scales = {name: one.scale for name, one in members.items()}
    of_rows = {name: one[: len(rows)] for name, one in scores.items()}
    return subset_analysis(rows, of_rows, scales, middle=settings.middle)

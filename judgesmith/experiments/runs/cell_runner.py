"""A cell of an experiment: how its judge is compiled, loaded or combined, and its result."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.data.items import DataSet
from judgesmith.data.rows import given_scales
from judgesmith.data.score_files import Scores, recorded_among
from judgesmith.data.scores import Placed, placed_rows
from judgesmith.data.targets import targets_of
from judgesmith.errors import FileError, InputError, file_faults
from judgesmith.experiments.compile.compiling import CompileResult, compile_judge
from judgesmith.experiments.compile.searching import SearchFiles
from judgesmith.experiments.compile.settings import without_equal_ratings
from judgesmith.experiments.compile.split import unseen_places
from judgesmith.experiments.compile.tuning import endpoints_of
from judgesmith.experiments.evaluate.agreement import (
    agreement_report,
    criterion_reports,
    judged_criteria,
    unscored,
)
from judgesmith.experiments.evaluate.judged_rows import guidelines_of, rows_of_scores
from judgesmith.experiments.evaluate.perspectives.perspectives import perspective_of_scores
from judgesmith.experiments.panel.rows import PanelSettings
from judgesmith.experiments.runs.folder import JUDGE, AnyCell, Made, RunFolder
from judgesmith.experiments.runs.heldout import (
    HeldOutRows,
    beside_agreement,
    combined_scores,
    labels_held_out,
    places_held_out,
    score_rows,
    table_held_out,
)
from judgesmith.experiments.runs.models import RunModels
from judgesmith.experiments.scoring.estimates import (
    AskedEffort,
    RunEstimate,
    estimate_asking,
    estimate_judging,
    merging_effort,
)
from judgesmith.experiments.specs import Cell, Spec, cells_of, settings_of
from judgesmith.experiments.specs.parts import BY_RULE
from judgesmith.experiments.specs.settings import said_plainly
from judgesmith.metrics.records import plain
from judgesmith.optimizers.predictions import on_criterion
from judgesmith.programs import score_batch
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedPanel, load_saved
from judgesmith.programs.judging.rows import usage_of, usd_of
from judgesmith.programs.judging.runner import judges_sources, was_not_asked
from judgesmith.results.progress import OnProgress, staged
from judgesmith.signatures import Judgement, Scale
from judgesmith.signatures.aggregation import PanelWeights
from judgesmith.signatures.items import Aggregate
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.lm import Usage


def perspectives_held_out(
    names: Sequence[str],
    rows: HeldOutRows,
    judged: Sequence[Judgement],
    *,
    scale: Scale | None,
    aggregate: Aggregate | None,
    seed: int,
) -> dict[str, dict[str, Any]]:
    """Return what either perspective tells of the rows held out, by its name, ready for JSON."""
    subset = rows.dataset.subset(rows.places.tolist())
    values = np.asarray([one.score for one in judged], float)  # None is nan
    scores = Scores(
        values=values,
        problems=tuple(one.cause for one in judged),
        label="judge",
        criterion=None,
        n_unused=0,
        samples=tuple((float(value),) for value in values),
    )
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        try:
            report = perspective_of_scores(
                {"": scores},
                subset,
                perspective="global" if name == "global" else "local",
                target=rows.targets.name,
                aggregate=aggregate,
                answers=scale,
                seed=np.random.default_rng([seed, 12]),
            )
        except ValueError as fault:
            found[name] = {"perspective": name, "problem": said_plainly(fault)}
        else:
            found[name] = report.to_dict()
    return found


NOTHING: Mapping[str, Any] = {"calls": 0, "recorded": 0, "tokens": 0, "usd": 0.0, "seconds": 0.0}
"""What a cell takes that asks no model."""

UNKNOWN: Mapping[str, float | None] = {"calls": None, "usd": None}
"""What a judgement takes if unknown."""

_AGREEMENT = ("uncompiled", "selection", "heldout", "gain", "optimism", "objective", "criteria")


@dataclass(frozen=True, kw_only=True, eq=False)
class Judged:
    """Whose judgements are held against people, and what else is known of them."""

    name: str
    scale: Scale | None
    agreement: Mapping[str, Any] | None = None  # None: worked out on test rows
    rows: Mapping[str, int] = field(default_factory=dict)
    ranks: bool = False
    notes: Sequence[str] = ()
    per_item: Mapping[str, float | None] = field(default_factory=lambda: UNKNOWN)
    saved: SavedJudge | SavedPanel | None = None
    usage: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


def held_against(
    cell: AnyCell,
    rows: HeldOutRows,
    judgements: Sequence[Judgement],
    judged: Judged,
    *,
    run: str,
    seed: int,
    perspectives: Sequence[str] = (),
    aggregate: Aggregate | None = None,
) -> Made:
    table, targets = table_held_out(rows, judgements), rows.targets
    agreement = dict(judged.agreement or dict.fromkeys(_AGREEMENT))
    is_rated = bool(len(rows.places)) and table.is_rated
    if judged.agreement is None and is_rated:
        rng = np.random.default_rng([seed, 12])
        agreement["heldout"] = plain(agreement_report(table, rng=rng))
    if is_rated:
        agreement["criteria"] = _by_criterion(
            rows, judgements, agreement["criteria"], aggregate=aggregate or "mean", seed=seed
        )
    missing, scale = unscored(table), judged.scale
    marks = {"judge": judged.name, "target": targets.name, "run": run}
    besides, seen, labels = None, {}, None
    if is_rated:
        besides = beside_agreement(rows, table, scale=scale, ranks=judged.ranks, seed=seed)
        if targets.is_verdict and not judged.ranks:
            said = () if judged.saved is None else guidelines_of(judged.saved)
            labels = labels_held_out(
                rows, judgements, table, scale=scale, seed=seed, guidelines=said
            )
        seen = perspectives_held_out(
            perspectives, rows, judgements, scale=scale, aggregate=aggregate, seed=seed
        )
    counts = {"train": 0, "select": 0, "unrated": targets.n_unrated} | dict(judged.rows)
    result = {
        "cell": cell.to_dict(),
        "target": targets.name,
        "human_scale": str(targets.scale),
        "scale": None if scale is None else [scale.low, scale.high],
        "rows": counts | {"heldout": len(rows.places), "unscored": missing.n},
        "problems": dict(missing.reasons),
        "agreement": agreement,
        "besides": besides,
        **({"labels": labels} if labels is not None else {}),
        "perspectives": seen,
        "per_item": dict(judged.per_item),
        "judge": judged.name,
        "model": None if judged.saved is None else judged.saved.model,
        "notes": list(judged.notes),
    }
    return Made(
        result=result,
        scores=score_rows(rows, judgements, marks),
        saved=judged.saved,
        usage=judged.usage,
    )


def _by_criterion(
    rows: HeldOutRows,
    judgements: Sequence[Judgement],
    known: Mapping[str, Any] | None,
    *,
    aggregate: Aggregate,
    seed: int,
) -> dict[str, Any] | None:
    """Return agreement by criterion, within sources, too; papers print either."""
    given = (known or {}).get("heldout") or {}
    found = criterion_reports(
        rows.dataset,
        rows.places.tolist(),
        judgements,
        aggregate=aggregate,
        rng=np.random.default_rng([seed, 12]),
        levels=("sample",) if given else ("dataset", "sample"),
    ).to_dict()
    if not found:
        return None if known is None else dict(known)
    heldout = {name: {**given.get(name, {}), **report} for name, report in found.items()}
    return {**(known or {}), "heldout": {**given, **heldout}}


def judged_by_compiled(
    found: CompileResult, lm: dspy.LM, usage: Mapping[str, Any]
) -> Judged | None:
    """Return whose judgements a compilation reports; None where the budget ended too early."""
    judged = found.heldout_judgements
    if not found.complete or any(map(was_not_asked, judged)):
        return None
    return Judged(
        name=found.saved.fingerprint,
        agreement=found.saved.agreement.plain,
        rows={name: found.saved.rows[name] for name in ("train", "select", "unrated")},
        scale=found.saved.scale,
        ranks=judges_sources(found.saved),
        notes=found.notes,
        per_item=per_item(judged, usd_of(judged, lm)),
        saved=found.saved,
        usage=usage,
    )


def model_usage(before: Usage | None, after: Usage | None, seconds: float) -> dict[str, Any]:
    """Return what went through the models between two moments."""
    if before is None or after is None:
        return {**dict.fromkeys(NOTHING), "seconds": round(seconds, 3)}
    tokens = after.input_tokens + after.output_tokens
    costs = (after.cost_usd, before.cost_usd)
    return {
        "calls": after.calls - before.calls,
        "recorded": after.hits - before.hits,
        "tokens": tokens - before.input_tokens - before.output_tokens,
        "usd": None if None in costs else float(costs[0] or 0.0) - float(costs[1] or 0.0),
        "seconds": round(seconds, 3),
    }


def per_item(judged: Sequence[Judgement], usd: Sequence[float]) -> dict[str, float | None]:
    """Return what a text takes on average, whether or not its answers were cached."""
    if not judged:
        return {"calls": None, "usd": None}
    cost: float | None = _mean(usd) if usd else None
    return {"calls": _mean([len(one.calls) for one in judged]), "usd": cost}


def _mean(values: Sequence[float]) -> float | None:
    """Return a mean as JSON holds it: None where a value is unknown."""
    mean = float(np.mean(values))
    return None if np.isnan(mean) else mean


def answers_behind(rows: Sequence[Placed], scores: Scores) -> float | None:
    """Return how many answers a cached judgement rests on, on average."""
    own = [
        row.get("outputs")
        for _, row in rows
        if row.get("judge") == scores.label and row.get("criterion") == scores.criterion
    ]
    counts = [len(one) for one in own if isinstance(one, list)]
    return fmean(counts) if counts and len(counts) == len(own) and all(counts) else None


_CONCURRENCY = 32


def judged_by_saved(
    spec: Spec,
    cell: Cell,
    rows: HeldOutRows,
    models: RunModels,
) -> tuple[list[Judgement], Judged] | None:
    """Return what a saved judge says of the rows held out, and whose judgements these are."""
    saved = models.saved(cell.judge)
    _refuse_seen(saved, rows, cell)
    bound, lms = models.bound(saved, cell)
    concurrency = _CONCURRENCY if cell.model is None else spec.models[cell.model].concurrency
    before, begun = usage_of(*models.made), time.monotonic()
    judged = list(score_batch(bound, rows.items, lm=lms[0], concurrency=concurrency))
    usage = model_usage(before, usage_of(*models.made), time.monotonic() - begun)
    if any(map(was_not_asked, judged)):
        return None
    # Which of several models a call went to, a judgement does not say.
    costs = per_item(judged, usd_of(judged, lms[0]) if len(set(map(id, lms))) == 1 else ())
    scale = saved.scale
    target = rows.targets.name
    is_its_own = folded(saved.target) == folded(target)
    if not is_its_own and folded(target) in judged_criteria(judged):
        judged, scale = list(on_criterion(judged, target)), PERCENT
    return judged, Judged(
        name=saved.fingerprint,
        scale=scale,
        rows={name: saved.rows.get(name, 0) for name in ("train", "select")},
        ranks=judges_sources(saved),
        per_item=costs,
        saved=saved if isinstance(saved, SavedJudge) else None,
        usage=usage,
    )


def estimate_saved(spec: Spec, cell: Cell, dataset: DataSet, models: RunModels) -> RunEstimate:
    """Return what a saved judge would ask of the rows held out, and what that would cost."""
    saved = models.saved(cell.judge)
    targets = targets_of(dataset, cell.target, spec.data[cell.data].aggregate)
    places = places_held_out(
        dataset, targets, holdout=spec.holdout, seed=cell.seed, rows=spec.split_rows
    )
    items = [dataset[i] for i in places.tolist()]
    saved, lms = models.bound(saved, cell)
    by_name = {str(lm.model): lm for lm in lms}
    return estimate_judging([saved], items, by_name, lms[0])


def estimate_supervised(
    spec: Spec, cell: Cell, dataset: DataSet, models: RunModels
) -> RunEstimate | None:
    """Return what the supervisor of a panel would be asked: of every criterion of every row."""
    named = models.supervisor(cell)
    if named is None:
        return None
    targets = targets_of(dataset, cell.target, spec.data[cell.data].aggregate)
    places = places_held_out(
        dataset, targets, holdout=spec.holdout, seed=cell.seed, rows=spec.split_rows
    )
    items = [dataset[i] for i in places.tolist()]
    effort = merging_effort(
        PanelSettings(supervisor=named).merging["supervisor"],
        items,
        n_members=len(cell.members),
        n_aspects=len(dataset.criteria),
    )
    lm = models.named(named)
    return estimate_asking([AskedEffort(named, effort)], {named: lm}, lm)


def _refuse_seen(saved: AnySaved, rows: HeldOutRows, cell: Cell) -> None:
    """Refuse rows that the judge knows: it would agree with people better than with new texts."""
    unseen = set(unseen_places(rows.dataset, rows.targets, saved.seen_keys).tolist())
    known = sum(place not in unseen for place in rows.places.tolist())
    if known:
        raise InputError(
            f"the judge {saved.fingerprint} was made from the sources of {known} of the "
            f"{len(rows.places)} rows that seed {cell.seed} holds out, which says nothing of other "
            "texts.",
            hint="leave this cell out, or name data that it has not seen.",
        )


class CellMaker:
    """Makes the cells of a run, one at a time."""

    def __init__(
        self,
        spec: Spec,
        sets: Mapping[str, DataSet],
        models: RunModels,
        folder: RunFolder,
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        self.spec = spec
        self.sets = sets
        self.models = models
        self.folder = folder
        self.on_progress = on_progress
        self._recorded: dict[str, tuple[str, list[Placed]]] = {}
        cells = cells_of(spec)
        self._by_id = {one.id: one for one in cells}
        self._originals = _where_versions_count(spec, cells)

    def made(self, cell: Cell) -> Made | None:
        """Return what a cell comes to; None where the budget ended before it was whole."""
        makers = {
            "compiled": self._from_compile,
            "recorded": self._from_recorded,
            "panel": self._from_members,
            "saved": self._from_saved,
        }
        return makers[self.spec.judges[cell.judge].kind](cell)

    # -- a judge is compiled ---------------------------------------------------------------

    def _from_compile(self, cell: Cell) -> Made | None:
        assert cell.model is not None  # as of every compiled cell
        settings = settings_of(self.spec, cell)
        dataset = without_equal_ratings(self.sets[cell.data], settings)
        lm = self.models.of(cell)
        competing = self.models.competing(cell, settings)
        roles = self.models.roles(cell, settings)
        files = None
        if settings.search.resumes:
            endpoints = endpoints_of(lm, {**competing, **roles})
            own_run = settings.fingerprint(dataset, str(lm.model), endpoints)
            files = self._search_files(cell, own_run)
        concurrency = self.spec.models[cell.model].concurrency
        before, begun = usage_of(*self.models.made), time.monotonic()
        found = compile_judge(
            dataset,
            settings,
            lm=lm,
            models=competing,
            roles=roles,
            concurrency=concurrency,
            on_progress=self.on_progress,
            files=files,
        )
        usage = model_usage(before, usage_of(*self.models.made), time.monotonic() - begun)
        every = {str(one.model): one for one in self.models.made}
        judged = judged_by_compiled(found, every.get(found.saved.model, lm), usage)
        if judged is None:
            return None
        rows = HeldOutRows(dataset=dataset, targets=found.targets, places=found.heldout_places)
        return self._held_against(cell, rows, found.heldout_judgements, judged)

    @file_faults()
    def _search_files(self, cell: Cell, run: str) -> SearchFiles:
        folder = self.folder.path / "searches"
        folder.mkdir(exist_ok=True)
        journal, log = (folder / f"{cell.id}.{run}.{kind}" for kind in ("journal", "jsonl"))
        return SearchFiles(storage=journal, log=log)

    # -- a saved judge judges --------------------------------------------------------------

    def _from_saved(self, cell: Cell) -> Made | None:
        rows = self._rows(cell)
        found = judged_by_saved(self.spec, cell, rows, self.models)
        return None if found is None else self._held_against(cell, rows, *found)

    # -- recorded scores are read ---------------------------------------------------------

    def _from_recorded(self, cell: Cell) -> Made:
        judge = self.spec.judges[cell.judge]
        assert judge.recorded is not None  # which is what makes it recorded
        rows = self._rows(cell)
        dataset, targets = rows.dataset, rows.targets
        name, recorded = self._recorded_rows(judge.recorded)
        own_scale = given_scales(judge.scale).of(targets.name, None)
        scores = recorded_among(
            recorded,
            dataset,
            judge=judge.name,
            criterion=judge.criterion,
            target=targets.name,
            name=name,
            hint="name",
        )
        if not isinstance(scores, Scores):
            raise InputError(
                f"{scores.label} compares two responses and scores none.",
                at=judge.recorded,
                hint="name a judge that scores.",
            )
        found = rows_of_scores(scores, dataset, targets, answers=own_scale)
        own = np.searchsorted(targets.rated, rows.places).tolist()
        values, causes = found.table.predicted, found.table.problems
        judged = [
            found.judgements[i].model_copy(
                update={
                    "score": None if np.isnan(values[i]) else float(values[i]),
                    "problem": None if causes[i] is None else causes[i].text,
                    "reason": None if causes[i] is None else causes[i].reason,
                }
            )
            for i in own
        ]
        costs = {"calls": answers_behind(recorded, scores), "usd": None}
        by = Judged(name=scores.label, scale=found.scale, per_item=costs)
        return self._held_against(cell, rows, judged, by)

    def _recorded_rows(self, path: str) -> tuple[str, list[Placed]]:
        if path not in self._recorded:
            name, rows = placed_rows(self.spec.place(path))
            self._recorded[path] = name, list(rows)
        return self._recorded[path]

    # -- a panel is put together -----------------------------------------------------------

    def _from_members(self, cell: Cell) -> Made | None:
        rows = self._rows(cell)
        members = [self._by_id[name] for name in cell.members]
        results = [self.folder.result(one) for one in members]
        scores = [self.folder.scores(one) for one in members]
        assert all(results)  # their turn came before
        known = [one for one in results if one is not None]
        judged, scale = combined_scores(
            dict(zip(cell.members, scores, strict=True)),
            [one["scale"] for one in known],
            how=self.spec.judges[cell.judge].score,
            places=rows.places,
            at_least=self.spec.judges[cell.judge].at_least,
        )
        if self.spec.judges[cell.judge].supervisor is not None:
            return self._supervised(cell, rows)
        costs = {
            name: None if None in values else sum(one for one in values if one is not None)
            for name in ("calls", "usd")
            for values in [[one["per_item"][name] for one in known]]
        }
        by = Judged(name=cell.judge, scale=scale, per_item=costs)
        return self._held_against(cell, rows, judged, by)

    def _supervised(self, cell: Cell, rows: HeldOutRows) -> Made | None:
        """Have the errors of all members merged: their own answers are there already."""
        judge = self.spec.judges[cell.judge]
        members: dict[str, AnySaved] = {}
        for number, name in enumerate(cell.members, 1):
            own = self._by_id[name]
            short = re.sub(r"\W+", "-", own.judge, flags=re.ASCII).strip("-")[:40] or "member"
            short = f"{short}-{number}" if short in members else short
            members[short] = load_saved(self.folder.place_of(own) / JUDGE)
        settings = PanelSettings(
            score=judge.score,
            supervisor=self.models.supervisor(cell) or BY_RULE,
            outliers=judge.outliers,
        )
        merging = settings.merging
        if judge.at_least is not None:
            readable = judge.at_least / len(members)
            merging["rules"] = merging["rules"].model_copy(update={"readable": readable})
        panel = SavedPanel(
            members=members,
            weights=PanelWeights.equal(
                {name: one.scale for name, one in members.items()}, settings.middle
            ),
            target=rows.targets.name,
            human_scale=rows.targets.scale,
            **merging,
        )
        lms = {name: self.models.named(name) for name in panel.models}
        first = next(iter(lms.values()))
        before, begun = usage_of(*self.models.made), time.monotonic()
        tell = staged(self.on_progress, "held-out rows, supervised", len(rows.items))
        judged = score_batch(
            panel.with_models(lms), rows.items, lm=first, concurrency=_CONCURRENCY, on_progress=tell
        )
        usage = model_usage(before, usage_of(*self.models.made), time.monotonic() - begun)
        if any(map(was_not_asked, judged)):
            return None
        costs = per_item(judged, usd_of(judged, first) if len(lms) == 1 else ())
        by = Judged(name=cell.judge, scale=panel.scale, per_item=costs, usage=usage)
        return self._held_against(cell, rows, judged, by)

    def _held_against(
        self, cell: Cell, rows: HeldOutRows, judgements: Sequence[Judgement], judged: Judged
    ) -> Made:
        data = self.spec.data[cell.data]
        return held_against(
            cell,
            rows,
            judgements,
            judged,
            run=self.spec.fingerprint,
            seed=cell.seed,
            perspectives=self.spec.perspectives,
            aggregate=data.aggregate if "aggregate" in data.said else None,
        )

    def _rows(self, cell: Cell) -> HeldOutRows:
        """Return the rows held out, where nothing is compiled."""
        dataset = self.sets[cell.data]
        spec = self.spec
        targets = targets_of(dataset, cell.target, spec.data[cell.data].aggregate)
        places = places_held_out(
            dataset,
            targets,
            holdout=spec.holdout,
            seed=cell.seed,
            rows=spec.split_rows,
            originals=(cell.data, cell.target) in self._originals,
        )
        return HeldOutRows(dataset=dataset, targets=targets, places=places)


def _where_versions_count(spec: Spec, cells: Sequence[Cell]) -> set[tuple[str, str]]:
    """Return sets and targets of which changed versions are not held out as rows of their own."""
    found = set()
    for cell in cells:
        if spec.judges[cell.judge].kind == "compiled" and (cell.data, cell.target) not in found:
            try:
                minds = settings_of(spec, cell).minds_versions
            except (InputError, FileError):
                continue  # which is told where that cell is run
            if minds:
                found.add((cell.data, cell.target))
    return found

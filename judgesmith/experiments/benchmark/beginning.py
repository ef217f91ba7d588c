"""What a benchmark starts from: criteria with their sides, and good texts for every source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.data.columns import OVERALL
from judgesmith.data.items import DataSet
from judgesmith.data.problems import SHOWN, shown_value
from judgesmith.data.targets import UselessTargetError, targets_of
from judgesmith.errors import InputError
from judgesmith.experiments.benchmark.anchor_texts import texts_looked_at
from judgesmith.experiments.benchmark.models import BenchmarkModels, refuse_unfinished
from judgesmith.experiments.benchmark.plan import Plan
from judgesmith.experiments.benchmark.rows import BenchmarkSource, drawn_sources, texts_by_source
from judgesmith.experiments.benchmark.settings import (
    BenchmarkSettings,
    Dropped,
    no_criterion_left,
    rating_levels,
)
from judgesmith.experiments.compile.human_criteria import human_rubric
from judgesmith.metrics.anchors import without_anchor
from judgesmith.programs.benchmarking import (
    FoundReferences,
    infer_sub_aspects,
    references_for,
    write_references,
)
from judgesmith.programs.judging.executors import endpoint_of
from judgesmith.programs.perturbing.catalogue import Donors
from judgesmith.results.progress import OnProgress, staged
from judgesmith.signatures.perturbation import SubAspect
from judgesmith.signatures.rubric import Rubric

GOOD = 0.75
"""How far up the scale a response stands at least, as a fraction."""


def best_responses(
    dataset: DataSet, sources: Sequence[Sequence[int]]
) -> tuple[tuple[str, ...], ...]:
    """Return the good responses to each source that has no references."""
    lacking = [
        not any(t.strip() for row in rows for t in dataset[row].references) for rows in sources
    ]
    if not any(lacking):
        return ((),) * len(sources)
    try:
        values = targets_of(dataset).fractions
    except UselessTargetError:
        return ((),) * len(sources)

    def best(rows: Sequence[int]) -> tuple[str, ...]:
        good = [row for row in rows if values[row] >= GOOD]
        return tuple(dataset[row].response for row in sorted(good, key=lambda row: -values[row]))

    return tuple(best(rows) if lacks else () for rows, lacks in zip(sources, lacking, strict=True))


@dataclass(frozen=True, kw_only=True)
class Start:
    """What is known before any model is asked."""

    dataset: DataSet
    settings: BenchmarkSettings
    rubric: Rubric
    sources: tuple[BenchmarkSource, ...]
    sub_aspects: tuple[SubAspect, ...]
    dropped: tuple[Dropped, ...]
    responses: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]

    @property
    def unnamed(self) -> Rubric:
        """The criteria without given sides."""
        given = {one.criterion for one in self.sub_aspects}
        rest = tuple(one for one in self.rubric.criteria if one.name not in given)
        return Rubric(task=self.rubric.task, criteria=rest)

    def fingerprint(self, models: BenchmarkModels) -> str:
        """Return twelve hex digits that tell a benchmark of these models from others."""
        asked = {role: f"{lm.model} {endpoint_of(lm)}" for role, lm in models.by_role.items()}
        rubric = self.rubric.to_yaml()
        return self.settings.fingerprint(self.dataset.digest, asked, self.sub_aspects, rubric)


def benchmark_start(
    dataset: DataSet,
    settings: BenchmarkSettings,
    *,
    rubric: Rubric | None = None,
    sub_aspects: Sequence[SubAspect] = (),
) -> Start:
    if not dataset.criteria:
        raise _nothing_rated(dataset)
    names = settings.criteria
    if names is None and dataset.criteria == (OVERALL,):
        names = (OVERALL,)
    found = human_rubric(dataset, names=names, rubric=rubric)
    every = texts_by_source(dataset)
    if settings.perspective == "global" and len(every) < 2:
        raise InputError(
            f"{dataset.name} has rated data about one source only, and a global benchmark "
            "compares texts with anchors that are about another one.",
            hint="give texts about more sources, or take --perspective local.",
        )
    dropped = _without_anchors(dataset, settings, found.rubric.names)
    criteria = tuple(
        one
        for one in found.rubric.criteria
        if one.name not in {without.criterion for without in dropped}
    )
    if not criteria:
        raise no_criterion_left(dropped)
    rng = np.random.default_rng([settings.seed, 0])
    sources = drawn_sources(every, settings.n_sources, rng=rng)
    responses = best_responses(dataset, [one.indices for one in sources])
    n_found_good = sum(map(bool, responses))
    if not (settings.n_written or n_found_good or any(one.first.references for one in sources)):
        raise InputError(
            f"no row of {dataset.name} has a reference to start from, nor a response that raters "
            "found good; have texts written with --candidates N."
        )
    good = f"{n_found_good} source{'s have' if n_found_good > 1 else ' has'} no reference: "
    good += f"responses rated {GOOD:.0%} of the scale or more stand in."
    notes = [*dataset.notes, *found.notes, *([good] if n_found_good else [])]
    notes += [one.sentence for one in dropped]
    if len(every) < (settings.n_sources or 0):
        notes.append(f"{settings.n_sources} sources are asked for, and there are {len(every)}.")
    unused = {one.criterion: None for one in sub_aspects if one.criterion not in found.rubric.names}
    if unused:
        notes.append(
            f"sides are given of {', '.join(unused)}, none of the criteria here; left out."
        )
    tasks = {one.task for one in sources if one.task}
    task = found.rubric.task or (next(iter(tasks)) if len(tasks) == 1 else "")
    return Start(
        dataset=dataset,
        settings=settings,
        rubric=(kept := Rubric(task=task, criteria=criteria)),
        sources=sources,
        sub_aspects=tuple(one for one in sub_aspects if one.criterion in kept.names),
        dropped=dropped,
        responses=responses,
        notes=tuple(notes),
    )


def _without_anchors(
    dataset: DataSet, settings: BenchmarkSettings, names: Sequence[str]
) -> tuple[Dropped, ...]:
    """Return the criteria on which no text could anchor some rating, whatever the rater says."""
    if settings.perspective == "local":
        return ()
    dropped = []
    for name in names:
        levels = rating_levels(name, dataset.scales.get(name))
        looked_at = texts_looked_at(dataset, name, levels, settings.n_anchors)
        missing = without_anchor([dataset[index].human[name] for index in looked_at], levels)
        if missing:
            dropped.append(Dropped(criterion=name, why="no_human_rating", ratings=missing))
    return tuple(dropped)


def _nothing_rated(dataset: DataSet) -> InputError:
    """Return the error that there are no ratings, with the columns that could hold some."""
    columns = list(dataset[0].extra) if len(dataset) else []
    named = ", ".join(map(shown_value, columns[:SHOWN])) + (", …" if len(columns) > SHOWN else "")
    unread = f"; not read as ratings: {named}" if columns else ""
    return InputError(
        f"nothing is rated in {dataset.name}, and a benchmark is built from ratings{unread}.",
        hint="say which columns hold ratings, and on what scale: --map fluency=COLUMN "
        "--scale fluency=1..5.",
    )


def plan_of(
    start: Start, models: BenchmarkModels, *, on_progress: OnProgress | None = None
) -> tuple[Plan, dict[str, Any]]:
    """Return what all further steps work with, and what the report says of the references."""
    notes = dict.fromkeys(start.notes)
    sub_aspects = list(start.sub_aspects)
    if start.unnamed.criteria:
        with models.step("criteria taken apart", "injector") as lm:
            sub_aspects += infer_sub_aspects(
                start.unnamed, lm, concurrency=models.concurrency, told=notes.setdefault
            )
    found = _references(start, models, on_progress)
    by_source = dict(zip((one.id for one in start.sources), found.by_item, strict=True))
    kept = tuple(one for one in start.sources if by_source[one.id])
    if not kept:
        reasons = ", ".join(f"{n} × {reason}" for reason, n in found.dropped.items())
        raise InputError(
            f"no source has a text to start from: {reasons}.", hint="give other references."
        )
    references = {one.id: by_source[one.id] for one in kept}
    plan = Plan(
        dataset=start.dataset,
        settings=start.settings,
        sources=kept,
        references=references,
        criteria=start.rubric.criteria,
        task=start.rubric.task,
        sub_aspects={
            name: tuple(one for one in sub_aspects if one.criterion == name)
            for name in start.rubric.names
        },
        models=models,
        donors=Donors(
            one.first.model_copy(update={"response": each.text})
            for one in kept
            for each in references[one.id]
        ),
        on_progress=on_progress,
        notes=notes,
    )
    told = {
        "candidates": found.n_candidates,
        "chosen": sum(map(len, references.values())),
        "dropped": dict(found.dropped),
        "sources_without": found.n_without,
        "problems": list(map(str, found.causes)),
    }
    return plan, told


def _references(
    start: Start, models: BenchmarkModels, on_progress: OnProgress | None
) -> FoundReferences:
    """Return good texts for all sources, from the data and from the writer."""
    settings, items = start.settings, [one.first for one in start.sources]
    written: Sequence[Any] = ()
    if settings.n_written:
        with models.step("references written", "writer") as lm:
            written = write_references(
                items,
                start.rubric,
                settings.n_written,
                lm,
                concurrency=models.concurrency,
                on_progress=staged(on_progress, "references written"),
            )
        refuse_unfinished(one.cause for several in written for one in several)
    with models.step("references rated", "rater") as lm:
        found = references_for(
            items,
            start.rubric,
            settings.n_references,
            lm,
            responses=start.responses,
            written=written,
            concurrency=models.concurrency,
            on_progress=staged(on_progress, "references rated"),
        )
    refuse_unfinished(found.causes)
    return found

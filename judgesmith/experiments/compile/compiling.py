"""Compiling a judge: split, search, fit, then report on rows that nothing was learned from.

A budget may end all this early. What was found until then is reported and can be saved, marked
as incomplete, so that the same run again goes on from the answers on record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judgesmith.data.items import DataSet, check_dataset
from judgesmith.errors import InputError
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.inferring import offline_notes
from judgesmith.experiments.compile.notes import (
    ObjectiveReport,
    criteria_notes,
    known_note,
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
    settings_without_labels,
)
from judgesmith.experiments.compile.split import Parts, parts_of
from judgesmith.experiments.compile.starting import (
    better_start,
    prepared_judges,
    start_of,
    starting_from,
)
from judgesmith.experiments.compile.tuning import (
    Progress,
    Tuning,
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
    plain,
    unscored,
)
from judgesmith.experiments.monitor.snapshot import reference_of
from judgesmith.optimizers import Agreement, Objective, PredictionTable
from judgesmith.optimizers.fair import refuse_many_answers
from judgesmith.optimizers.predictions import SCORE
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.space.demonstrations import shown_keys
from judgesmith.programs.artifacts.card import rows_that_taught
from judgesmith.programs.artifacts.saved import GoldenItem, SavedJudge
from judgesmith.programs.judging.registry import family_of, with_roles
from judgesmith.signatures import Judgement, RatedItem

if TYPE_CHECKING:
    import dspy

MOST_ITEMS = 20
"""The 95 % interval of an average change reaches .47 standard deviations to either side with 20
items, and 1.24 with 5. They were judged anyway, so that keeping them asks nothing."""

MOST_LETTERS = 400_000
"""Characters of all their texts together, past the first five: a judge is a file to keep in git."""


def golden_items(
    items: Sequence[RatedItem], judgements: Sequence[Judgement]
) -> tuple[GoldenItem, ...]:
    """Return scored items from the best to the worst, at even steps, as a sample of all.

    Neither end is favoured. The best of many is partly lucky and comes out lower when it is asked
    again; of items at even steps as many were lucky as were not.
    """
    scored = [place for place, one in enumerate(judgements) if one.score is not None]
    ordered = sorted(scored, key=lambda place: (-(judgements[place].score or 0.0), place))
    n = min(MOST_ITEMS, len(ordered))
    even = [ordered[(2 * step + 1) * len(ordered) // (2 * n)] for step in range(n)]
    if sum(map(_letters, (items[place] for place in even))) > MOST_LETTERS:
        # What is left is spread over the scores as well, not the best ones alone.
        few = min(5, n)
        even = [ordered[(2 * step + 1) * len(ordered) // (2 * few)] for step in range(few)]
    return tuple(GoldenItem.of(items[place], judgements[place]) for place in even)


def _letters(item: RatedItem) -> int:
    return sum(map(len, (item.source, item.context or "", item.response, *item.references)))


def good_and_bad(
    rows: Rows, judgements: Sequence[Judgement]
) -> list[tuple[RatedItem, float, Judgement]]:
    """Return scored rows: best and worst first, then ones in between, five at most."""
    scored = [place for place, one in enumerate(judgements) if one.score is not None]
    ordered = sorted(scored, key=lambda place: (-(judgements[place].score or 0.0), place))
    if not ordered:
        return []
    places = [0, len(ordered) - 1, len(ordered) // 2, len(ordered) // 4, 3 * len(ordered) // 4]
    chosen = list(dict.fromkeys(ordered[place] for place in places))
    return [(rows.items[i], float(rows.human[i]), judgements[i]) for i in chosen]


@dataclass(frozen=True, kw_only=True, eq=False)
class Compiled:
    """A compiled judge and how well it agrees with people.

    Attributes
    ----------
    saved : SavedJudge
        The judge as plain data; ``saved.program()`` is the module.
    uncompiled, heldout : Report or None
        Agreement on the rows held out, before and after; None without such rows, or ratings. Both
        and ``gain`` are on the rows that the judge scored before and after.
    gain : Gain or None
        Their paired difference.
    selection : Report or None
        Agreement of the judge on the rows it was chosen by; None where nobody rated any.
    objective : ObjectiveReport
        What the search made as large as it could; over several targets, the mean over them. Of
        several objectives the first that looks at scores.
    objectives : tuple of ObjectiveReport
        All of several objectives, this one first; empty where there is one.
    by_criterion : dict of str to CriterionReports
        Agreement by criterion on the rows held out, ``uncompiled`` and ``heldout``, where the
        judge scores criteria that people rated.
    examples : tuple of (RatedItem, float, Judgement)
        A good and a bad response with what people said (nan where nobody did) and what the judge
        says.
    discernment : DiscernmentReport or None
        How well it notices changes of texts; None where the objective does not look at them.
    unscored : Unscored
        Of the rows that it was chosen by and those held out.
    notes : tuple of str
        What a reader should know, in sentences.
    complete : bool
        False where the budget ended before everything was asked. The same run with a larger
        budget goes on from there; ``saved.settings["complete"]`` says so too.
    """

    saved: SavedJudge
    uncompiled: Report | None
    heldout: Report | None
    gain: Gain | None
    selection: Report | None
    objective: ObjectiveReport
    objectives: tuple[ObjectiveReport, ...]
    by_criterion: Mapping[str, CriterionReports]
    examples: tuple[tuple[RatedItem, float, Judgement], ...]
    unscored: Unscored
    notes: tuple[str, ...]
    complete: bool
    discernment: DiscernmentReport | None = None


def compile_judge(
    dataset: DataSet,
    settings: CompileSettings | None = None,
    *,
    earlier: SavedJudge | None = None,
    lm: dspy.LM | None = None,
    models: Mapping[str, dspy.LM] | None = None,
    roles: Mapping[str, dspy.LM] | None = None,
    concurrency: int = 32,
    progress: Progress | None = None,
    files: SearchFiles | None = None,
) -> Compiled:
    """Return a judge that agrees with the ratings in ``dataset`` as well as the search can make it.

    Parameters
    ----------
    dataset : DataSet
        Rated items.
    settings : CompileSettings or None
        None takes the defaults.
    earlier : SavedJudge or None
        A judge to start from: its rubric stays, its demonstrations and learned numbers compete
        with new ones, and no source that it was made from is held out. See ``starting_from``.
    lm : dspy.LM or None
        The model; None takes DSPy's current one, or the offline model.
    models : dict of str to dspy.LM, or None
        The models that compete with it, by the names in ``settings.models``. One budget holds for
        all where they share a ledger and a ``run_id``.
    roles : dict of str to dspy.LM, or None
        The models that do other work than judging, by the roles in ``settings.roles``.
    concurrency : int
        Requests under way at once.
    progress : callable or None
        See ``Progress``.
    files : SearchFiles or None
        Where a search of the protocol is kept; None keeps it in memory.

    Raises
    ------
    ValueError
        If the data holds too little to learn from; the message says what is missing.
    NothingScoredError
        If no row to choose by got a score: the budget was too small, or no answer readable.
    ModelError, LedgerError
        If the model cannot be asked at all, or the ledger not used.

    Examples
    --------
    >>> from judgesmith.data import read_items
    >>> found = compile_judge(read_items("sample"), CompileSettings(n_rounds=2))
    >>> found.saved.target, found.heldout["dataset"]["q"].n, found.complete
    ('overall', 48, True)
    """
    from judgesmith.programs.judging.executors import current_lm

    check_dataset(dataset)
    settings = settings or CompileSettings()
    if settings.optimizer == "balanced":
        own = settings.protocol if earlier is None else earlier.protocol
        refuse_many_answers(family_of(own.judge).judge_of(own))
    _check_models(settings, models or {})
    known: frozenset[str] = frozenset()
    if earlier is not None:
        settings, known = starting_from(earlier, settings), earlier.seen_keys
    settings = settings_without_labels(dataset, settings)
    check_searched(settings)
    roles = roles or {}
    check_role_models(settings, roles)
    lm = lm or current_lm()
    targets = chosen_targets(dataset, settings)
    parts = parts_of(dataset, targets, settings, known)
    work = Tuning(
        settings=settings,
        targets=targets.compared,
        lm=lm,
        concurrency=concurrency,
        progress=progress,
        files=files or SearchFiles(),
        models=models or {},
    )
    bare, start = start_of(dataset, targets, work, parts)
    unasked = {**parts.counts(targets), "unscored": 0}
    bare, start = prepared_judges(work, bare, start, rows=unasked, target=targets.whole.name)
    if roles:
        bare, start = with_roles(bare, roles), with_roles(start, roles)
    if settings.rubrics_compete and settings.optimizer != "protocol":
        start = better_start(work, parts, bare, start)
    judge = work.optimized(start, parts, bare=bare).for_own_rubric()
    chosen_by = parts.selection.without(shown_keys(judge.protocol.demonstrations))
    rows = parts.counts(targets)
    judged = work.judged(judge, chosen_by, "selection rows")
    selection = chosen_by.judged(judged, judge_scale=judge.scale)
    tables = [selection]
    if selection.n_unscored == selection.n:
        rows["unscored"] = selection.n + rows["heldout"]
        raise nothing_scored(work, selection, rows=rows, target=targets.whole.name)

    def rng() -> np.random.Generator:
        # The same resamples for every report: equal predictions have equal intervals.
        return np.random.default_rng([settings.seed, 12])

    def agreeing(table: PredictionTable) -> Report | None:
        return agreement_report(table, rng=rng()) if table.is_rated else None

    selection_report = agreeing(selection)
    uncompiled = heldout = gain = compared = None
    by_criterion: dict[str, CriterionReports] = {}
    shown: list[tuple[RatedItem, float, Judgement]] = []
    golden: tuple[GoldenItem, ...] = ()
    held_judgements: list[Judgement] = []
    if parts.heldout is not None:
        before = work.judged(bare, parts.heldout, "held-out rows, uncompiled", lm=lm)
        after = work.judged(judge, parts.heldout, "held-out rows")
        scales = bare.scale, judge.scale
        first, second = (
            parts.heldout.judged(said, judge_scale=own)
            for said, own in zip((before, after), scales, strict=True)
        )
        tables.append(second)
        if targets.is_rated:
            reports = paired_reports(second, first, rng=rng)
            heldout, uncompiled, gain = reports.first, reports.second, reports.gain
        compared = (
            parts.heldout.judged(
                before, targets.compared, judge_scale=scales[0], usd=work.usd(before, lm=lm)
            ),
            parts.heldout.judged(
                after, targets.compared, judge_scale=scales[1], usd=work.usd(after)
            ),
        )
        before, after = before[: len(parts.heldout)], after[: len(parts.heldout)]
        held_judgements, shown = after, good_and_bad(parts.heldout, after)
        golden = golden_items(parts.heldout.items, after) if settings.texts else ()
        for name, judgements in (("uncompiled", before), ("heldout", after)):
            by_criterion[name] = criterion_reports(
                dataset,
                parts.heldout_places.tolist(),
                judgements,
                aggregate=settings.aggregate,
                rng=rng(),
            )
    told_by = chosen_by.judged(
        judged, targets.compared, judge_scale=judge.scale, usd=work.usd(judged)
    )
    discernment = None
    if parts.versions is not None:
        discernment = discernment_report(
            parts.versions,
            targets.compared,
            selection=told_by,
            heldout=compared,
            seed=[settings.seed, 12],
        )
        if compared is not None:  # what was chosen by, and nothing else, was made larger
            first, second = (table.of_kinds(told_by.kinds) for table in compared)
            compared = first, second

    def told(aim: Objective) -> ObjectiveReport:
        if (
            isinstance(aim, Agreement)
            and targets.compared == (SCORE,)
            and selection_report is not None
        ):
            return reported_objective(
                aim, selection=selection_report, uncompiled=uncompiled, heldout=heldout, gain=gain
            )
        seed = [settings.seed, 12]
        return objective_report(
            aim, targets.compared, selection=told_by, heldout=compared, seed=seed
        )

    objective, *further = (told(aim) for aim in each_objective(settings))
    front = saved_front(
        work.front,
        work,
        parts,
        judge=judge,
        selection=plain(selection_report) or {},
        seed=[settings.seed, 12],
    )
    objectives = (objective, *further) if further else ()
    rows["unscored"] = sum(table.n_unscored for table in tables)
    taught = rows_that_taught(judge.protocol.rubric)
    notes = [
        *work.notes,
        *notes_on(settings, judge, bare, tables, objective, complete=work.complete),
    ]
    own_judgements = [*judged[: len(chosen_by)], *held_judgements]
    notes += criteria_notes(own_judgements, by_criterion.get("heldout"))
    notes += versions_notes(parts, rated=targets.is_rated)
    notes += unnoticed_note(discernment, settings.aims)
    notes += taught_note(taught, parts.heldout)
    notes += known_note(parts)
    items = [item for part in parts.tuning for item in part.items]
    notes += offline_notes(items, str(work.lm.model), inferred=False)
    saved = SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model=str(work.lm.model),
        roles=settings.roles,
        target=targets.whole.name,
        human_scale=targets.whole.scale,
        agreement={
            "uncompiled": plain(uncompiled),
            "selection": plain(selection_report),
            "heldout": plain(heldout),
            "gain": plain(gain),
            "optimism": None if selection_report is None else optimism(selection_report, heldout),
            "objective": objective.to_dict(),
            "criteria": {name: one.to_dict() for name, one in by_criterion.items()},
            **({"objectives": [one.to_dict() for one in objectives]} if objectives else {}),
            **({"confirmation": work.confirmation} if work.confirmation else {}),
            **({} if discernment is None else {"discernment": discernment.to_dict()}),
        },
        rows=rows,
        seen={
            "train": () if parts.pool is None else _keys(parts.pool),
            "select": _keys(parts.selection),
            **_seen_besides(parts, rubric=taught, earlier=known),
        },
        golden=golden,
        history=tuple(work.history),
        settings={
            **settings.model_dump(mode="json", exclude={"protocol"}),
            "run": settings.fingerprint(
                dataset, str(lm.model), endpoints_of(lm, {**work.models, **roles})
            ),
            "compared": targets.compared,
            "complete": work.complete,
        },
        reference=reference_of(
            [*chosen_by.items, *(() if parts.heldout is None else parts.heldout.items)],
            own_judgements,
        ),
        front=front,
    )
    made = (work.lm, *roles.values())
    return Compiled(
        saved=saved.with_models({str(one.model): one for one in made}),
        uncompiled=uncompiled,
        heldout=heldout,
        gain=gain,
        selection=selection_report,
        objective=objective,
        objectives=objectives,
        by_criterion=by_criterion,
        examples=tuple(shown[:2]),
        unscored=unscored(*tables),
        notes=tuple(dict.fromkeys(notes)),
        complete=work.complete,
        discernment=discernment,
    )


def _check_models(settings: CompileSettings, models: Mapping[str, dspy.LM]) -> None:
    """Refuse models that are not those of the settings."""
    if set(models) != set(settings.models):
        raise InputError(
            f"the models that compete are those of the settings ({_listed(settings.models)}); got "
            f"{_listed(models)}."
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _seen_besides(parts: Parts, **others: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Return rows that were seen in other ways than by being shown or chosen by."""
    tuned = {item.key for part in parts.tuning for item in part.items}
    return {use: tuple(sorted(keys - tuned)) for use, keys in others.items() if keys - tuned}


def _keys(rows: Rows) -> tuple[str, ...]:
    return tuple(sorted({item.key for item in rows.items}))

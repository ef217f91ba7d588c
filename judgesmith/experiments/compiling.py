"""Compiling a judge: split, search, fit, then report on rows that nothing was learned from.

A budget may end all this early. What was found until then is reported and can be saved, marked
as incomplete, so that the same run again goes on from the answers on record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.experiments.agreeing import (
    Gain,
    Report,
    agreement_report,
    gain_report,
    plain,
    unscored,
    unscored_text,
)
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.parts import parts_of
from judgesmith.experiments.settings import CompileSettings
from judgesmith.experiments.targets import targets_of
from judgesmith.experiments.tuning import Progress, Tuning
from judgesmith.optimizers import JudgedTable
from judgesmith.optimizers.rows import Rows
from judgesmith.programs import ActiveCritic, Judge
from judgesmith.programs.readable import readable_of
from judgesmith.programs.saved import GoldenItem, SavedJudge
from judgesmith.signatures import Judgement, RatedItem, Rubric

if TYPE_CHECKING:
    import dspy


@dataclass(frozen=True, kw_only=True, eq=False)
class Compiled:
    """A compiled judge and how well it agrees with people.

    Attributes
    ----------
    saved : SavedJudge
        The judge as plain data; ``saved.program()`` is the module.
    uncompiled, heldout : Report or None
        Agreement on the rows held out, before and after; None without such rows.
    gain : Gain or None
        Their paired difference.
    selection : Report
        Agreement of the judge on the rows it was chosen by.
    examples : tuple of (RatedItem, float, Judgement)
        A good and a bad response with what people said and what the judge says.
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
    selection: Report
    examples: tuple[tuple[RatedItem, float, Judgement], ...]
    notes: tuple[str, ...]
    complete: bool


class NothingScoredError(ValueError):
    """No row to choose by got a score, so there is nothing to say about any judge.

    Attributes
    ----------
    spent : bool
        True where the budget ended before; not a fault then.
    rows : dict of str to int
        How many rows there are for what, and how many have no score.
    target : str
        What people rated.
    """

    def __init__(self, message: str, *, spent: bool, rows: Mapping[str, int], target: str) -> None:
        super().__init__(message)
        self.spent = spent
        self.rows = rows
        self.target = target


def compile_judge(
    dataset: DataSet,
    settings: CompileSettings | None = None,
    *,
    lm: dspy.LM | None = None,
    concurrency: int = 32,
    progress: Progress | None = None,
) -> Compiled:
    """Return a judge that agrees with the ratings in ``dataset`` as well as the search can make it.

    Parameters
    ----------
    dataset : DataSet
        Rated items.
    settings : CompileSettings or None
        None takes the defaults.
    lm : dspy.LM or None
        The model; None takes DSPy's current one, or the offline model.
    concurrency : int
        Items judged at the same time.
    progress : callable or None
        See ``Progress``.

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
    >>> from judgesmith.experiments import read_items
    >>> found = compile_judge(read_items("sample"), CompileSettings(n_rounds=2))
    >>> found.saved.target, found.heldout["dataset"]["q"].n, found.complete
    ('overall', 48, True)
    """
    from judgesmith.programs.asking import current_lm, endpoint_of

    settings = settings or CompileSettings()
    lm = lm or current_lm()
    targets = targets_of(dataset, settings.target, settings.aggregate)
    parts = parts_of(dataset, targets, settings)
    work = Tuning(settings=settings, lm=lm, concurrency=concurrency, progress=progress)
    bare = ActiveCritic(settings.protocol)
    judge = work.optimized(bare, parts)
    rows = {
        "train": 0 if parts.pool is None else len(parts.pool),
        "select": len(parts.selection),
        "heldout": 0 if parts.heldout is None else len(parts.heldout),
        "unrated": targets.n_unrated,
    }
    selection = work.table(judge, parts.selection, "selection rows")
    tables = [selection]
    if selection.n_unscored == selection.n:
        rows["unscored"] = selection.n + rows["heldout"]
        raise _nothing_scored(work, selection, rows=rows, target=targets.name)

    def rng() -> np.random.Generator:
        # The same resamples for every report: equal predictions have equal intervals.
        return np.random.default_rng([settings.seed, 12])

    selection_report = agreement_report(selection, rng=rng())
    uncompiled = heldout = gain = None
    shown: list[tuple[RatedItem, float, Judgement]] = []
    if parts.heldout is not None:
        before = work.table(bare, parts.heldout, "held-out rows, uncompiled")
        judgements = work.judged(judge, parts.heldout, "held-out rows")
        after = parts.heldout.judged(judgements)
        tables.append(after)
        uncompiled = agreement_report(before, rng=rng())
        heldout = agreement_report(after, rng=rng())
        gain = gain_report(after, before, rng=rng())
        shown = _good_and_bad(parts.heldout, judgements)
    rows["unscored"] = sum(table.n_unscored for table in tables)
    taught = rows_that_taught(judge.protocol.rubric)
    notes = [*work.notes, *_notes(settings, judge, bare, tables, work.complete)]
    notes += _taught_note(taught, parts.heldout)
    saved = SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model=str(lm.model),
        target=targets.name,
        human_scale=targets.scale,
        agreement={
            "uncompiled": plain(uncompiled),
            "selection": plain(selection_report),
            "heldout": plain(heldout),
            "gain": plain(gain),
            "optimism": _optimism(selection_report, heldout),
        },
        rows=rows,
        seen={
            "train": () if parts.pool is None else _keys(parts.pool),
            "select": _keys(parts.selection),
            **({"rubric": tuple(sorted(taught))} if taught else {}),
        },
        golden=tuple(
            GoldenItem(
                source=item.source, context=item.context, response=item.response, judgement=found
            )
            for item, _, found in (shown if settings.texts else [])
        ),
        history=tuple(work.history),
        settings={
            **settings.model_dump(mode="json", exclude={"protocol"}),
            "run": settings.fingerprint(dataset, str(lm.model), endpoint_of(lm)),
            "complete": work.complete,
        },
    )
    return Compiled(
        saved=saved,
        uncompiled=uncompiled,
        heldout=heldout,
        gain=gain,
        selection=selection_report,
        examples=tuple(shown[:2]),
        notes=tuple(notes),
        complete=work.complete,
    )


def _notes(
    settings: CompileSettings,
    judge: Judge,
    bare: Judge,
    tables: Sequence[JudgedTable],
    complete: bool,
) -> Iterator[str]:
    """Yield what a reader of the report should know, beside its numbers."""
    n_without = sum(table.n_unscored for table in tables)
    for table, where in zip(tables, ("to choose by", "held out"), strict=False):
        if table.n_unscored:
            yield f"of the rows {where}, {unscored_text(unscored(table))}."
    if n_without and complete:
        yield "rows without a score count in no agreement."
    if not complete:
        yield (
            "the budget is spent, so this judge is incomplete and its numbers rest on the rows "
            "that were judged; the same command with a larger budget continues."
        )
    if len(tables) == 1:
        yield "no rows were held out, so nothing is known about unseen texts."
    if settings.optimizer == "none":
        yield "nothing was searched: this is the judge as it was."
    elif judge.protocol == bare.protocol:
        tried = "was tried" if complete else "was tried before the budget ended"
        yield f"nothing that {tried} agreed better with people: this is the judge as it was."


def _nothing_scored(
    work: Tuning, selection: JudgedTable, *, rows: Mapping[str, int], target: str
) -> NothingScoredError:
    """Return why there is no judge: the first rows that were asked about come first."""
    whys = [f"of the rows to choose by, {unscored_text(unscored(selection))}"]
    if work.pool is not None and work.pool.n_unscored:
        whys.insert(0, f"of the rows to show, {unscored_text(unscored(work.pool))}")
    answers = readable_of(work.lm)
    if answers.nothing:
        whys.insert(
            0, f"nothing that the model answered could be read, for example: {answers.example}"
        )
    told = "; ".join(why.rstrip(".") for why in whys)
    return NothingScoredError(
        f"no row to choose by was judged, so there is no judge to report: {told}",
        spent=not (work.complete or answers.nothing),
        rows=rows,
        target=target,
    )


def rows_that_taught(rubric: Rubric) -> frozenset[str]:
    """Return ``RatedItem.key`` of every row that an inferred rubric was made from.

    Examples
    --------
    >>> learned = {"batches": [{"batch": 1, "rows": {"5f": "row 1", "a0": "row 2"}}]}
    >>> sorted(rows_that_taught(Rubric(provenance=learned)))
    ['5f', 'a0']
    """
    batches = rubric.provenance.get("batches")
    found: set[str] = set()
    for batch in batches if isinstance(batches, list) else []:
        # A rubric is a file that people edit; what has another shape names no rows.
        rows = batch.get("rows") if isinstance(batch, dict) else None
        found.update(rows if isinstance(rows, dict) else {})
    return frozenset(found)


def _taught_note(taught: frozenset[str], heldout: Rows | None) -> list[str]:
    n = 0 if heldout is None else sum(item.key in taught for item in heldout.items)
    if heldout is None or not n:
        return []
    return [
        f"the rubric was inferred from {n} of the {len(heldout)} rows held out, so their agreement "
        "is not that on unseen texts; infer it with the same target, seed and share held out."
    ]


def _keys(rows: Rows) -> tuple[str, ...]:
    return tuple(sorted({item.key for item in rows.items}))


def _optimism(selection: Report, heldout: Report | None) -> dict[str, dict[str, Any]] | None:
    """Return how much better the judge looks on the rows it was chosen by."""
    if heldout is None:
        return None
    return {
        level: {
            statistic: None
            if (gap := chosen.value - heldout[level][statistic].value) != gap
            else gap
            for statistic, chosen in row.items()
        }
        for level, row in selection.items()
    }


def _good_and_bad(
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

"""The search of the protocol within a compilation: what competes, what is kept, what is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgesmith.experiments.confirmation_notes import (
    confirmation_record,
    outcome_note,
)
from judgesmith.experiments.parts import Parts, examples_of
from judgesmith.experiments.settings import CompileSettings
from judgesmith.optimizers import ProtocolSearch
from judgesmith.optimizers.search.screening import ScreeningStage
from judgesmith.optimizers.space.candidates import MODEL
from judgesmith.optimizers.space.demonstrations import N
from judgesmith.optimizers.storage import importances
from judgesmith.programs import Judge
from judgesmith.signatures import Rubric

INFERRED = "inferred"
"""The id of an inferred rubric among those that compete; ``own`` is the general one."""

SCREENED_BATCH = 12
"""How many are proposed at a time where everybody is judged on few rows first."""

MOST_TOLD = 4
"""Of how many choices a note says how much they mattered."""


@dataclass(frozen=True, kw_only=True)
class SearchFiles:
    """Where a search is kept, so that it can be continued, watched and read.

    Attributes
    ----------
    storage : str, Path or None
        The study: see ``ProtocolSearch``.
    log : Path or None
        See ``SearchLog``.
    """

    storage: str | Path | None = None
    log: Path | None = None


def protocol_search(
    settings: CompileSettings,
    parts: Parts,
    *,
    rubrics: dict[str, Rubric],
    targets: Sequence[str],
    **given: Any,
) -> ProtocolSearch:
    """Return the search that these settings ask for, ready to compile."""
    started = [{"rubric": INFERRED, N: "0"}, {"rubric": INFERRED}] if rubrics else []
    others = [{MODEL: name} for name in settings.models]
    screened: dict[str, Any] = {}
    if settings.screen:
        screened = {"elimination": ScreeningStage(), "batch": SCREENED_BATCH}
    return ProtocolSearch(
        n_trials=settings.n_trials,
        n_demo_sets=settings.n_draws,
        n_demonstrations=settings.n_demonstrations if parts.pool is not None else 0,
        rubrics=rubrics,
        fixed=settings.fixed,
        first=(*started, {}, *others),
        targets=targets,
        partial_demos=settings.partial_demos,
        percent_of_max=settings.percent_of_max,
        **screened,
        **given,
    )


def searched(search: ProtocolSearch, student: Judge, parts: Parts) -> Judge:
    """Return the best judge that a search finds on the rows of a compilation."""
    selection = examples_of(parts.selection)
    if parts.pool is None:
        return search.compile(student, trainset=selection)
    return search.compile(student, trainset=examples_of(parts.pool), valset=selection)


def search_notes(search: ProtocolSearch) -> list[str]:
    """Return what a reader should know of a search that has ended, in sentences.

    Parameters
    ----------
    search : ProtocolSearch
        After ``compile``.
    """
    trials = search.trials_
    if not trials:
        return ["the budget ended before the judge as it was had been judged, so none was tried."]
    n_rows = trials[0].n_rows
    n_tried = len(trials) - 1
    n_kept = sum(one.n_rows == n_rows for one in trials[1:])
    n_raced = sum(one.n_rows for one in trials[1:])
    if not n_tried and not search.complete_:
        return [
            "the budget ended the search before anything was tried beside the judge as it was, "
            "which it keeps."
        ]
    told = [
        f"{n_tried} of {search.space_.size} configurations were tried beside the judge as it was, "
        f"and {n_kept} kept up to the end: they were judged on {n_raced} rows to choose by, where "
        f"all of them on all rows would have been {n_tried * n_rows}."
    ]
    if not search.complete_:
        told.append(
            f"the budget ended the search after {n_tried} of {search.n_trials} configurations."
        )
    told += _choice_notes(search)
    mattered = importances(search.study_)
    if mattered:
        first = list(mattered.items())[:MOST_TOLD]
        shares = ", ".join(f"{name} {share:.0%}" for name, share in first)
        told.append(f"what told the best from the others most was {shares}, by PED-ANOVA.")
    return told


def confirmation_of(search: ProtocolSearch) -> dict[str, Any] | None:
    """Return whether a search found better than it started from, ready for JSON.

    Parameters
    ----------
    search : ProtocolSearch
        After ``compile``.

    Returns
    -------
    dict or None
        See ``confirmation_record``; 0 is the judge as it was. None of a search for a front.
    """
    if search.taken_ is None:
        return None
    return confirmation_record(
        search.confirmation_,
        taken=search.taken_,
        chosen_on=search.trials_[0].n_rows if search.trials_ else 0,
    )


def _choice_notes(search: ProtocolSearch) -> list[str]:
    """Return what was taken and why."""
    if search.taken_ is None:
        return []
    trials = {one.number: one for one in search.trials_}
    found = search.confirmation_
    what = "" if found is None else _picked_text(trials[found.number].picked)
    return [outcome_note(found, _counted(search), what=what, better=_better(search))]


def _better(search: ProtocolSearch) -> str:
    """Return what a better judge would have done."""
    aims = search.objective
    return "noticed more" if "versions" in aims.needs and not aims.rated_terms else "agreed better"


def _counted(search: ProtocolSearch) -> str:
    """Return what values are of: under conditions not the aim alone, which reports tell."""
    conditions = search.objective.constraints
    return f"{search.objective}{', less what the conditions lack,' if conditions else ''}"


def _picked_text(picked: Any) -> str:
    return ", ".join(f"{name} {option}" for name, option in picked.items())

"""The search of the protocol within a compilation: what competes, what is kept, what is told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgesmith.experiments.parts import Parts, examples_of
from judgesmith.experiments.settings import CompileSettings
from judgesmith.optimizers import ProtocolSearch
from judgesmith.optimizers.competing_models import MODEL
from judgesmith.optimizers.confirming import Confirmation
from judgesmith.optimizers.constrained import Constrained
from judgesmith.optimizers.demonstration_choices import N
from judgesmith.optimizers.racing_search import RacedTrial
from judgesmith.optimizers.screening import Screen
from judgesmith.optimizers.several_objectives import needs_versions, rated_terms
from judgesmith.optimizers.studies import importances
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
        screened = {"screen": Screen(), "batch": SCREENED_BATCH}
    return ProtocolSearch(
        n_trials=settings.n_trials,
        n_draws=settings.n_draws,
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
            "which stays but for its aggregation."
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
        ``better`` and ``taken`` (0 is the judge as it was), ``chosen_on`` (rows), and under
        ``leaders`` every ``Confirmation``. None of a search for a front.
    """
    if search.taken_ is None:
        return None
    leaders = [one.to_dict() for one in search.confirmations_]
    if needs_versions(search.objective):  # which grows with the number of rows
        leaders = [{**one, "optimism": None} for one in leaders]
    return {
        "better": search.taken_ != 0,
        "taken": search.taken_,
        "chosen_on": search.trials_[0].n_rows if search.trials_ else 0,
        "leaders": leaders,
    }


def _choice_notes(search: ProtocolSearch) -> list[str]:
    """Return what was taken and why, on rows chosen by and on others."""
    if search.taken_ is None:
        return []
    trials = {one.number: one for one in search.trials_}
    first = trials[0]
    whole = [one for one in trials.values() if one.n_rows == first.n_rows]
    leader = max(whole, key=lambda one: (one.rank, -one.number))
    confirmed = {one.number: one for one in search.confirmations_}
    if search.taken_:
        shown = confirmed.get(search.taken_)
        told = [
            f"taken was number {search.taken_}: {_picked_text(trials[search.taken_].picked)}; "
            f"{_led(search, trials[search.taken_])}. The best of many looks better on these than "
            "it is."
        ]
    elif confirmed:
        shown = search.confirmations_[-1]
        told = [
            f"none of them {_better(search)} beyond a standard error on rows it was not chosen by, "
            "so the judge stays as it was but for its aggregation; that is a usual outcome with "
            f"few rows, or a judge that fits already. Number {shown.number} led with "
            f"{_led(search, trials[shown.number])}."
        ]
    elif leader.number:
        why = "all rows are of one source" if search.complete_ else "the budget ended before"
        return [
            f"number {leader.number} led with {_led(search, leader)}, but could not be held "
            f"against it on others: {why}. So the judge stays as it was but for its aggregation."
        ]
    else:
        return [
            f"none of them {_better(search)} on these rows, so the judge stays as it was but for "
            "its aggregation; that is a usual outcome with few rows, or a judge that fits already."
        ]
    if shown is None:
        return told
    grows = needs_versions(search.objective)
    return [*told, _confirmed_text(shown, _counted(search), grows=grows)]


def _better(search: ProtocolSearch) -> str:
    """Return what a better judge would have done."""
    rated = rated_terms(search.objective)
    return "agreed better" if rated or not needs_versions(search.objective) else "noticed more"


def _counted(search: ProtocolSearch) -> str:
    """Return what values are of: under conditions not the aim alone, which reports tell."""
    conditions = isinstance(search.objective, Constrained)
    return f"{search.objective}{', less what the conditions lack,' if conditions else ''}"


def _led(search: ProtocolSearch, trial: RacedTrial) -> str:
    """Return how well a trial did, beside the start, where it was chosen."""
    first = search.trials_[0]
    return (
        f"{_counted(search)} {_number(trial.value)} on the {first.n_rows} rows it was chosen by, "
        f"{_number(first.value)} as it was"
    )


def _confirmed_text(shown: Confirmation, objective: str, *, grows: bool) -> str:
    """Return how a winner did on rows that it was not chosen by, in one sentence.

    What grows with the number of rows cannot be held against what it was on more of them.
    """
    if shown.crossed:
        who = f"the best on one half of these {shown.n_rows} rows has, on the other half,"
    else:
        who = f"on {shown.n_rows} rows that were set aside, number {shown.number} has"
    gain, error = _number(shown.gain, "+.3f"), _number(shown.standard_error)
    promised = (
        f"; the rows it was chosen by had promised {_number(shown.optimism, '+.3f')} more"
        if not grows
        else "; discernment counts as on all rows that it was chosen by"
    )
    return (
        f"{who} {objective} {_number(shown.value)} where the judge as it was has "
        f"{_number(shown.before)} (difference {gain}, standard error {error}){promised}."
    )


def _picked_text(picked: Any) -> str:
    return ", ".join(f"{name} {option}" for name, option in picked.items())


def _number(value: float, form: str = ".3f") -> str:
    return "undefined" if math.isnan(value) else f"{value:{form}}"

"""The search of the protocol within a compilation: what competes, what is kept, what is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgesmith.experiments.parts import Parts, examples_of
from judgesmith.experiments.settings import CompileSettings
from judgesmith.optimizers import ProtocolSearch
from judgesmith.optimizers.competing_models import MODEL
from judgesmith.optimizers.demonstration_choices import N
from judgesmith.optimizers.studies import importances
from judgesmith.programs import Judge
from judgesmith.signatures import Rubric

INFERRED = "inferred"
"""The id of an inferred rubric among those that compete; ``own`` is the general one."""


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
    whole = [one for one in trials if one.n_rows == n_rows]
    best = max(whole, key=lambda one: one.rank)
    n_tried = len(trials) - 1
    n_kept = len(whole) - 1
    n_raced = sum(one.n_rows for one in trials[1:])
    told = [
        f"{n_tried} of {search.space_.size} configurations were tried beside the judge as it was, "
        f"and {n_kept} kept up to the end: they were judged on {n_raced} rows to choose by, where "
        f"all of them on all rows would have been {n_tried * n_rows}."
    ]
    if not search.complete_:
        told.append(
            f"the budget ended the search after {n_tried} of {search.n_trials} configurations."
        )
    if best.number == 0:
        told.append(
            "none of them agreed better on these rows, so the judge stays as it was but for its "
            "aggregation; that is a usual outcome with few rows, or a judge that fits already."
        )
    else:
        told.append(
            f"taken was number {best.number}: {_picked_text(best.picked)}; {search.objective} "
            f"{best.value:.3f} on these rows, {trials[0].value:.3f} as it was. The best of many "
            "looks better on the rows it was chosen by than it is: see the rows held out."
        )
    mattered = importances(search.study_)
    if mattered:
        first = list(mattered.items())[:MOST_TOLD]
        shares = ", ".join(f"{name} {share:.0%}" for name, share in first)
        told.append(f"what told the best from the others most was {shares}, by PED-ANOVA.")
    return told


def _picked_text(picked: Any) -> str:
    return ", ".join(f"{name} {option}" for name, option in picked.items())

"""Searches of a compilation that rewrite texts: reflection, balance, and DSPy's optimizers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgesmith.experiments.confirmation_notes import confirmation_record, outcome_note
from judgesmith.experiments.parts import Parts, examples_of
from judgesmith.experiments.search_log import plain_trial
from judgesmith.experiments.settings import CompileSettings
from judgesmith.optimizers import DSPyOptimizer, FairPromptSearch, ReflectiveSearch
from judgesmith.optimizers.dspy_optimizers import DEMONSTRATIONS
from judgesmith.optimizers.trials import TrialRecord
from judgesmith.programs import Judge


@dataclass(frozen=True, kw_only=True)
class TextsFound:
    """What a search has come to.

    Attributes
    ----------
    judge : Judge
        The best one.
    history : tuple of dict
        What was tried, oldest first, ready for JSON.
    notes : tuple of str
        What a reader should know, in sentences.
    confirmation : dict or None
        See ``confirmation_record``.
    complete : bool
        False where the budget ended the search.
    """

    judge: Judge
    history: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    confirmation: Mapping[str, Any] | None = None
    complete: bool = True


def text_search(settings: CompileSettings, start: Judge, parts: Parts, **given: Any) -> TextsFound:
    """Return what ``settings.optimizer`` makes of a judge on the rows of a compilation.

    Parameters
    ----------
    settings : CompileSettings
        Of the compilation.
    start : Judge
        Where the search starts from.
    parts : Parts
        The rows.
    **given
        Objective, targets, model, seed and what else the search is told.
    """
    if parts.pool is None:
        return TextsFound(judge=start, notes=("no rows are left to learn from, so nothing was.",))
    trials: Sequence[TrialRecord]
    given["percent_of_max"] = settings.percent_of_max
    found: ReflectiveSearch | DSPyOptimizer | None = None
    train, select = examples_of(parts.pool), examples_of(parts.selection)
    if settings.optimizer == "balanced":
        told = ("seed", "lm", "concurrency", "on_progress", "on_trial")
        balanced = FairPromptSearch(**{name: given[name] for name in told if name in given})
        judge = balanced.compile(start, trainset=train)
        notes, trials = balanced_notes(balanced), balanced.trials_
        complete = balanced.complete_
    elif settings.optimizer == "reflective":
        found = search = ReflectiveSearch(n_trials=settings.n_trials, **given)
        judge = search.compile(start, trainset=train, valset=select)
        notes = [search.ended_] if search.ended_ else rewrite_notes(search)
        trials = search.trials_
        complete = search.complete_
    else:
        name: Any = settings.optimizer
        shown = dict.fromkeys(DEMONSTRATIONS[name], settings.n_demonstrations)
        found = bridged = DSPyOptimizer(name, settings=shown, **given)
        judge = bridged.compile(start, trainset=train, valset=select)
        notes, trials, complete = bridged_notes(bridged), bridged.trials_, bridged.complete_
    return TextsFound(
        judge=judge,
        history=tuple(
            {"stage": settings.optimizer, **plain_trial(one, settings.optimizer)} for one in trials
        ),
        notes=tuple(notes),
        confirmation=None
        if found is None
        else confirmation_record(
            found.confirmation_, taken=found.taken_, chosen_on=len(parts.selection)
        ),
        complete=complete,
    )


def rewrite_notes(search: ReflectiveSearch) -> list[str]:
    """Return what a reader should know of a search by reflection that has ended."""
    trials = search.trials_
    if not trials or not trials[0].n_rows:
        return [_UNSTARTED]
    asked = list(trials[1:])
    refused = [one for one in asked if one.problem]
    whole = [one for one in asked if one.n_rows]
    told = [
        f"{len(asked)} rewrites were asked for: {len(refused)} were refused, "
        f"{len(asked) - len(refused) - len(whole)} did no better than their parent on the rows "
        f"they were learned from, and {len(whole)} were judged on the {trials[0].n_rows} rows to "
        "choose by."
    ]
    if refused:
        last = refused[-1]
        told.append(f"the last one refused was of {last.changed}: {last.problem}")
    if not search.complete_:
        told.append(f"the budget ended the search after {len(asked)} of {search.n_trials}.")
    return [*told, outcome_note(search.confirmation_, str(search.objective))]


def bridged_notes(search: DSPyOptimizer) -> list[str]:
    """Return what a reader should know of a search of DSPy's that has ended."""
    trials = search.trials_
    if not trials:
        return [_UNSTARTED]
    whole = [one for one in trials if one.n_rows]
    refused = [one for one in trials if one.problem]
    told = [
        f"DSPy's {search.optimizer} offered {len(trials) - 1} judges: {len(refused)} were refused, "
        f"and {len(whole) - 1} were compared with the judge as it was, on the {trials[0].n_rows} "
        "rows to choose by."
    ]
    if refused:
        told.append(f"the last one refused: {refused[-1].problem}")
    if not search.complete_:
        told.append("the budget ended the search.")
    return [*told, outcome_note(search.confirmation_, str(search.objective))]


def balanced_notes(search: FairPromptSearch) -> list[str]:
    """Return what a reader should know of a search for even answers that has ended."""
    trials = search.trials_
    if not trials:
        return [_UNSTARTED]
    tried = [one for one in trials[1:] if one.n_rows]
    better = [one for one in tried if one.value > one.before]
    told = [
        f"{len(tried)} wordings of instructions were tried on {trials[0].n_rows} texts without "
        f"their ratings, and {len(trials) - 1 - len(tried)} were refused; answers are "
        f"{-trials[0].value:.3f} from an even spread with the judge as it was"
        + (f", {-max(one.value for one in better):.3f} with the best." if better else ".")
    ]
    if not better:
        told.append("no wording spreads the answers more evenly, so the judge stays as it was.")
    if search.writes_by_rule_:
        told.append(
            "the wordings were made by rule: the offline model writes none, and does not read any, "
            "so that its answers are the same whatever the wording."
        )
    if not search.complete_:
        told.append("the budget ended the search.")
    return told


_UNSTARTED = "the budget ended before the judge as it was had been judged, so nothing was tried."

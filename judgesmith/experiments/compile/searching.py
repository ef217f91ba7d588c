"""The searches of a compilation: what competes, what is confirmed and kept, the log, the progress.

A search compares judges by their own scores, and the weights of their criteria are learned
afterwards: where that makes the baseline better than the winner, the winner is discarded.
"""

from __future__ import annotations

import fcntl
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import dspy

from judgesmith.drafts import for_its_owner
from judgesmith.errors import file_faults
from judgesmith.experiments.compile.split import Parts, examples_of
from judgesmith.optimizers import (
    DSPyOptimizer,
    EffectSearch,
    FairPromptSearch,
    FitAggregation,
    ProtocolSearch,
    ReflectiveSearch,
)
from judgesmith.optimizers.rows import Rows, rows_from
from judgesmith.optimizers.space.candidates import SpaceSearch
from judgesmith.optimizers.space.demonstrations import shown_keys
from judgesmith.optimizers.storage import importances
from judgesmith.optimizers.trials import ConfirmationResult, TrialRecord
from judgesmith.programs import Judge
from judgesmith.programs.artifacts.record import as_loaded
from judgesmith.programs.judging.rows import usage_of
from judgesmith.programs.judging.runner import was_not_asked
from judgesmith.signatures.config import Aggregation

USUAL = "this is common with few rows, or with a judge that already fits."


def confirmation_record(
    found: ConfirmationResult | None, *, taken: int | None, chosen_on: int
) -> dict[str, Any]:
    """Return what a search came to, ready for JSON."""
    return {
        "better": found is not None and found.passed,
        "taken": taken,
        "chosen_on": chosen_on,
        "leaders": [] if found is None else [found.to_dict()],
    }


def outcome_note(
    found: ConfirmationResult | None,
    objective: str,
    *,
    what: str = "",
    better: str = "agreed better",
) -> str:
    """Return in a sentence what a search came to."""
    if found is None:
        return f"kept the baseline: no candidate {better} on these rows; {USUAL}"
    name = f"candidate {found.number}{f', {what}' if what else ''}"
    values = (
        f"{objective} {number_text(found.chosen)} on the {found.n_rows} validation rows, "
        f"{number_text(found.chosen_before)} for the baseline ({tested_text(found)})"
    )
    if found.passed:
        return (
            f"selected {name}: {values}. Validation scores of a winner are optimistic; the test "
            "rows are not."
        )
    return f"kept the baseline: the best was {name}, with {values}, which may be chance; {USUAL}"


def weights_record(trials: Sequence[TrialRecord], amount: float) -> dict[str, Any]:
    """Return the best of the ``trials`` of weights, its gain on the first, and how far it moved."""
    before = trials[0]
    numbers = {"gain": before.behind, "standard_error": before.standard_error}
    known = {name: one if math.isfinite(one) else None for name, one in numbers.items()}
    return {"best": _best_way(trials).name, **known, "amount": amount}


def weights_note(trials: Sequence[TrialRecord], amount: float, objective: str) -> list[str]:
    """Return how far the weights of a judge moved; nothing where they moved all the way."""
    before, best = trials[0], _best_way(trials)
    if best is before or amount == 1:
        return []
    gain = (
        f"the cross-validated {objective} by {number_text(before.behind, '+.3f')}, standard error "
        f"{number_text(before.standard_error)}"
    )
    if not amount:
        return [
            f"kept the aggregation {before.name}: the best other one ({best.name}) changes {gain}, "
            "which may be chance."
        ]
    return [
        f"aggregation: {amount:.0%} of the step from {before.name} to {best.name}; the whole step "
        f"changes {gain}."
    ]


def _best_way(trials: Sequence[TrialRecord]) -> TrialRecord:
    return next((one for one in trials if one.allowed and not one.behind > 0), trials[0])


def tested_text(found: ConfirmationResult) -> str:
    """Return a difference and its test in a few words."""
    if math.isnan(found.p_value):
        return f"{number_text(found.gain, '+.3f')}, untested among {found.n_compared} compared"
    return (
        f"{number_text(found.gain, '+.3f')}, standard error {number_text(found.standard_error)}, "
        f"p {p_words(found.p_value)} over {found.n_compared} compared"
    )


def p_words(value: float) -> str:
    return "below 0.001" if value < 0.001 else number_text(value)


def number_text(value: float, form: str = ".3f") -> str:
    """Return a number, ``undefined`` where it is nan."""
    return "undefined" if math.isnan(value) else f"{value:{form}}"


MOST_TOLD = 4
"""Of how many choices a note says how much they mattered."""


@dataclass(frozen=True, kw_only=True)
class SearchFiles:
    """Where a search is kept, so that it can be continued, watched and read."""

    storage: str | Path | None = None
    log: Path | None = None


def effect_notes(search: EffectSearch) -> list[str]:
    """Return what a reader should know of a search by effects that has ended, in sentences."""
    if not search.trials_:
        return [_UNSTARTED]
    n_tried = len(search.trials_) - 1
    found = [
        f"search: {n_tried} configuration{'s' * (n_tried != 1)} scored on parts of the "
        f"{search.trials_[0].n_rows} validation rows; {search.n_calls_} of at most "
        f"{search.n_calls_at_most_} calls."
    ]
    if not search.complete_:
        found.append("the budget ended the search early.")
    gain = search.gain_
    tested = ""
    if gain is not None and not math.isnan(gain.value):
        tested = (
            f" The cross-fitted gain is about {gain.value:+.3f}; only test rows give an interval."
        )
    if search.views_ == (0,):
        kept = "kept the prompt of the baseline (weights are learned separately)"
        return [*found, f"{kept}: no configuration is clearly better; {USUAL}"]
    picked = "; ".join(
        _picked_text(search.trials_[number].picked) for number in search.views_ if number
    )
    replaces = (
        f"selected configuration {search.taken_} ({picked})"
        if search.taken_
        else f"selected the mean of {len(search.views_)} prompts "
        f"({'the baseline and ' if 0 in search.views_ else ''}{picked})"
    )
    return [
        *found,
        f"{replaces}: expected gain in {search.objective} {search.expected_:+.3f}.{tested}",
    ]


Found = TypeVar("Found")


def searched(search: SpaceSearch[Any, Found], student: Judge, parts: Parts) -> Found:
    """Return the best judge that a search finds on the rows of a compilation."""
    selection = examples_of(parts.selection)
    if parts.pool is None:
        return search.compile(student, trainset=selection)
    return search.compile(student, trainset=examples_of(parts.pool), valset=selection)


def search_notes(search: ProtocolSearch) -> list[str]:
    """Return what a reader should know of a search that has ended, in sentences."""
    trials = search.trials_
    if not trials:
        return ["the budget ended before the baseline was scored; no candidate was tried."]
    n_rows = trials[0].n_rows
    n_tried = len(trials) - 1
    n_kept = sum(one.n_rows == n_rows for one in trials[1:])
    n_raced = sum(one.n_rows for one in trials[1:])
    if not n_tried and not search.complete_:
        return ["kept the baseline: the budget ended before any candidate was tried."]
    told = [
        f"search: {n_tried} of {search.space_.size} configurations tried, {n_kept} until the end; "
        f"{n_raced} rows scored in place of {n_tried * n_rows}."
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
        told.append(f"most important choices (PED-ANOVA): {shares}.")
    return told


def confirmation_of(search: ProtocolSearch) -> dict[str, Any] | None:
    """Return whether a search found better than it started from, ready for JSON."""
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
    unrated = "versions" in search.objective.needs and not search.objective.rated_terms
    better = "detected more" if unrated else "agreed better"
    return [outcome_note(found, _counted(search), what=what, better=better)]


def _counted(search: ProtocolSearch) -> str:
    """Return what values are of: under conditions not the aim alone, which reports tell."""
    conditions = search.objective.constraints
    return f"{search.objective}{', less what the conditions lack,' if conditions else ''}"


def _picked_text(picked: Any) -> str:
    return ", ".join(f"{name} {option}" for name, option in picked.items())


@dataclass(kw_only=True)
class SearchLog:
    """Appends what is known of every trial as soon as it is known; a trial that is there stays."""

    path: Path
    lm: dspy.LM
    others: Sequence[dspy.LM] = ()
    stage: str = "protocol"
    written: set[int] = field(default_factory=set)

    @file_faults()
    def __post_init__(self) -> None:
        """Read which trials an earlier process has written."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.written |= {line["number"] for line in log_lines(self.path)}

    @file_faults()
    def __call__(self, trial: TrialRecord) -> None:
        if trial.number in self.written:
            return
        usage = usage_of(self.lm, *self.others)
        line = plain_trial(trial, self.stage)
        if usage is not None:
            line |= {"calls": usage.calls, "cost_usd": usage.cost_usd}
        with open(self.path, "ab+", opener=for_its_owner) as log:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(log, fcntl.LOCK_EX)
            log.seek(0)
            before = log.read()
            # Several workers of one search know the same of a trial.
            self.written |= {one["number"] for one in _lines(before)}
            if trial.number not in self.written:
                # The line end comes first as well: a kill may have left half a line.
                cut = before[-1:] not in (b"", b"\n")
                log.write(("\n" * cut + json.dumps(line) + "\n").encode())
        self.written.add(trial.number)


def log_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the lines of a log; none if there is no log, and not one that a kill cut short."""
    with file_faults(path):
        written = path.read_bytes() if path.exists() else b""
    yield from _lines(written)


def _lines(written: bytes) -> Iterator[Mapping[str, Any]]:
    for line in written.splitlines():
        with suppress(ValueError):
            yield json.loads(line)


_REWRITTEN = ("number", "parent", "changed", "text", "problem", "before", "after")
_JUDGED = ("value", "n_rows", "share_scored")
_FOUND_BY_DSPY = ("number", "n_demonstrations", "instructions", "keys", "problem", *_JUDGED)

KEYS: Mapping[str, tuple[str, ...]] = {
    "demonstrations": ("n_demonstrations", "n_bootstrapped", "keys", "value", "share_scored"),
    "protocol": ("number", "picked", *_JUDGED, "against"),
    "effects": ("number", "picked", *_JUDGED, "against"),
    "aggregation": ("name", "value", "behind", "standard_error", "allowed"),
    "reflective": (*_REWRITTEN, *_JUDGED),
    "balanced": (*_REWRITTEN, *_JUDGED),
    "miprov2": _FOUND_BY_DSPY,
    "simba": _FOUND_BY_DSPY,
    "bootstrap": _FOUND_BY_DSPY,
}
"""What of a trial is kept in files, by the stage of a compilation."""

OF_SEVERAL = ("values", "violation")
"""What is also kept where there are several objectives."""


def plain_trial(trial: TrialRecord, stage: str) -> dict[str, Any]:
    """Return a trial ready for JSON, null where a number is undefined."""
    names = (*KEYS[stage], *(OF_SEVERAL if trial.values else ()))
    found: dict[str, Any] = as_loaded({name: getattr(trial, name) for name in names})
    return found


@dataclass(kw_only=True)
class SearchProgress:
    """Says after every trial how far a search is."""

    lm: dspy.LM
    n_trials: int | None
    objective: str
    told: Callable[[str], Any]
    trials: dict[int, TrialRecord] = field(default_factory=dict)

    def __call__(self, trial: TrialRecord) -> None:
        self.trials[trial.number] = trial
        first = self.trials.get(0, trial)
        whole = [one for one in self.trials.values() if one.n_rows == first.n_rows]
        best = max(whole, key=lambda one: one.rank)
        before = number_text(first.value)
        value = f"{self.objective} {before} for the baseline"
        if best.number:
            value = f"best {self.objective} {number_text(best.value)} ({before} baseline)"
        n_tried = len(self.trials) - (0 in self.trials)
        tried = f"{n_tried}{_of(self.n_trials)} tried"
        self.told(", ".join([tried, value, *self._spent()]))

    def _spent(self) -> list[str]:
        """Return what the run has spent, all its processes together, and of how much."""
        from judgesmith.programs.lm import lm_client_of

        client = lm_client_of(self.lm)
        if client is None:
            return []
        spent, budget = client.spent, client.budget
        said = [f"{spent.calls}{_of(budget.max_calls)} calls"]
        if budget.max_tokens is not None:
            said.append(f"{spent.tokens}{_of(budget.max_tokens)} tokens")
        if spent.usd or budget.max_usd is not None:
            said.append(f"${spent.usd:.2f}{_of(budget.max_usd, '.2f')}")
        if budget.max_minutes is not None:
            said.append(f"{spent.minutes:.0f}{_of(budget.max_minutes, 'g')} minutes")
        return said


def _of(ceiling: float | None, form: str = "d") -> str:
    return "" if ceiling is None else f" of {ceiling:{form}}"


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
        f"they were learned from, and {len(whole)} were judged on the {trials[0].n_rows} "
        "validation rows."
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
        f"DSPy's {search.optimizer} proposed {len(trials) - 1} judges: {len(refused)} rejected, "
        f"{len(whole) - 1} compared with the baseline on {trials[0].n_rows} validation rows."
    ]
    if refused:
        told.append(f"the last rejected: {refused[-1].problem}")
    if not search.complete_:
        told.append("the budget ended the search early.")
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
        f"{-trials[0].value:.3f} from an even spread with the baseline"
        + (f", {-max(one.value for one in better):.3f} with the best." if better else ".")
    ]
    if not better:
        told.append("kept the baseline: no wording spreads the answers more evenly.")
    if search.writes_by_rule_:
        told.append(
            "the wordings were made by rules: the offline model writes none, and its answers do "
            "not "
            "depend on the wording."
        )
    if not search.complete_:
        told.append("the budget ended the search early.")
    return told


_UNSTARTED = "the budget ended before the baseline was scored, so nothing was tried."


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """Two judges with learned weights, cross-validated on the same rows."""

    value: float  # of the winner; nan where undefined
    before: float  # of the baseline, likewise
    n_rows: int

    @property
    def worse(self) -> bool:
        """Whether the winner is the worse of the two: undefined is worse than anything defined."""
        if math.isnan(self.value):
            return not math.isnan(self.before)
        return self.value < self.before

    def to_dict(self) -> dict[str, Any]:
        known = {"value": self.value, "before": self.before}
        plain = {name: None if math.isnan(one) else one for name, one in known.items()}
        return {**plain, "n_rows": self.n_rows}

    def note(self, objective: str) -> str:
        """Return in a sentence why the baseline is kept."""
        return (
            f"kept the prompt of the baseline: with learned weights, its cross-validated "
            f"{objective} is {self.before:.3f} on {self.n_rows} rows, the winner's "
            f"{number_text(self.value)}."
        )


def fitted_winner(
    winner: Judge,
    start: Judge,
    tuning: Sequence[Rows],
    *,
    fit_winner: FitAggregation,
    fit_start: FitAggregation,
) -> Weighed | None:
    """Return the scores of a winner and of the baseline, each with its own learned weights."""
    shown = {key for judge in (winner, start) for key in shown_keys(judge.protocol.demonstrations)}
    rated = [example for rows in tuning for example in examples_of(rows.without(shown))]
    rows = rows_from(rated, fit_winner.scale)
    values = []
    for fit, judge in ((fit_winner, winner), (fit_start, start)):
        raw = judge.with_protocol(judge.protocol.model_copy(update={"aggregation": Aggregation()}))
        said = fit.judged(raw, rows)
        if any(map(was_not_asked, said)):
            return None
        fit.choose(rows, said, own=judge.protocol.aggregation)
        chosen = [trial.value for trial in fit.trials_ if trial.name == fit.chosen_]
        values.append(chosen[0] if chosen else math.nan)
    return Weighed(value=values[0], before=values[1], n_rows=len(rows))

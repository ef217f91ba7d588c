"""Options of ``compile`` that exclude others, or belong to a search that is not made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from judgesmith.cli.faults import OptionError
from judgesmith.cli.options import given_options

if TYPE_CHECKING:
    from judgesmith.experiments import CompileSettings
    from judgesmith.programs import JudgeFamily

_OF_THE_JUDGE = (
    *("family", "rubric", "criteria", "inference", "variant", "criteria_calls", "explain"),
    *("answer_tokens", "chosen", "steps", "questions"),
)
"""Options that say what an earlier judge says already."""

_OF_SEARCHES = {
    "n_trials": ("protocol", "reflective"),
    "n_draws": ("protocol",),
    "screen": ("protocol",),
    "vary_samples": ("protocol",),
    "storage": ("protocol",),
    "models": ("protocol",),
    "n_rounds": ("random",),
}
"""Options of some searches, and the searches."""


def refuse_contradictions(
    variant: str, source: str | None, left_out: list[str], *, lexical: bool | None
) -> None:
    """Refuse options of which one would undo, or leave no room for, the other."""
    given = given_options("rubric", "criteria", "inference", "explain", "criteria_calls")
    pairs: list[tuple[str, str]] = []
    if variant == "vanilla":
        unshown = [f"--{name}" for name in ("rubric", "criteria", "inference", "explain")]
        pairs += [("--variant vanilla", name) for name in unshown if name in given]
        parts = [part for part in left_out if part not in ("search", "weights")]
        pairs += [("--variant vanilla", f"--without {part}") for part in parts]
    if source in ("given", "human") and "criteria" in left_out:
        own = "--rubric" if "--rubric" in given else "--criteria"
        pairs.append((own, "--without criteria"))
    if source == "given" and "--inference" in given:
        own = "--rubric" if "--rubric" in given else "--criteria general"
        pairs.append((own, "--inference"))
    if "explanations" in left_out and "--explain" in given:
        pairs.append(("--explain", "--without explanations"))
    if "mcs" in left_out and "--criteria-calls" in given:
        pairs.append(("--criteria-calls", "--without mcs"))
    if "weights" in left_out and lexical:
        pairs.append(("--lexical", "--without weights"))
    if pairs:
        first, second = pairs[0]
        raise click.UsageError(
            f"{first} and {second} do not go together: the one leaves nothing for the other to "
            "decide. Drop one of the two."
        )


def refuse_another_search(optimizer: str) -> None:
    """Refuse options of a search that is not made."""
    for name, searches in _OF_SEARCHES.items():
        if optimizer in searches or (name == "n_rounds" and optimizer == "none"):
            continue
        for option in given_options(name):
            raise OptionError(
                f"{option} belongs to --optimizer {' or '.join(searches)}, and this is "
                f"--optimizer {optimizer}.",
                option=option,
                hint="drop one of the two.",
            )


def searches_protocol(optimizer: str, objective: str) -> bool:
    """Say whether options speak of a search of the protocol that texts without ratings will have.

    Nobody named another optimizer, and the objective takes no ratings. Whether there are ratings
    is seen later: see ``refuse_search_with_ratings``.
    """
    from judgesmith.optimizers.objectives.grammar import parse_objectives

    own = [name for name, searches in _OF_SEARCHES.items() if "protocol" in searches]
    if optimizer != "random" or given_options("optimizer") or not given_options(*own):
        return False
    try:
        aims = parse_objectives(objective)
    except ValueError:  # which is told where it is read
        return False
    return "versions" in aims.needs and not aims.rated_terms


def refuse_search_with_ratings(settings: CompileSettings) -> None:
    """Refuse options of a search of the protocol for rated rows, where nobody named it."""
    if settings.optimizer == "protocol" and not given_options("optimizer"):
        refuse_another_search("random")


def refuse_without_wording(family: JudgeFamily, optimizer: str) -> None:
    """Refuse a search of wordings for a judge that asks a model nothing."""
    if not family.asks and optimizer not in ("none", "protocol", "random"):
        raise OptionError(
            f"--optimizer {optimizer} rewrites what a model is asked, and a {family.name} judge "
            "asks none.",
            option="--optimizer",
            hint="say --optimizer protocol or none.",
        )


def refuse_beside_earlier() -> None:
    """Refuse options that would change what a run takes from an earlier judge."""
    given = given_options(*_OF_THE_JUDGE, "without")
    if given:
        raise OptionError(
            f"--from takes this from the earlier judge: {', '.join(given)}.",
            option="--from",
            hint="drop one or the other.",
        )


def refuse_unused_versions(settings: CompileSettings) -> None:
    """Refuse options about changed versions of texts where the objective looks at none."""
    given = given_options("task", "kinds", "holdout_kinds", "versions")
    if given and not settings.minds_versions:
        raise OptionError(
            f"{given[0]} is about changed versions of texts, and the objective "
            f"{settings.objective} looks at none; add d_min or d_avg to it, or drop {given[0]}.",
            option=given[0],
        )


def refuse_over_sources(objective: str, *, judge: str) -> None:
    """Refuse an objective that compares sources, for a judge whose scores are ranks within one."""
    from judgesmith.experiments.evaluate.agreement import AcrossSourcesError, check_within_source

    try:
        check_within_source(objective, judge=judge)
    except AcrossSourcesError as fault:
        if fault.instead is None:
            raise OptionError(str(fault), option="--objective") from fault
        alone = fault.part == objective.strip()
        say = f"--objective {fault.instead}." if alone else f"{fault.instead} in --objective."
        raise OptionError(f"{fault.fact}.", option="--objective", hint=f"say {say}") from fault
    except ValueError as fault:
        raise OptionError(str(fault), option="--objective") from fault

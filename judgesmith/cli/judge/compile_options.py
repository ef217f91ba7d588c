"""The options of ``compile``: what they say of judge and search, and which exclude others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.data_options import comma_names
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import Command, field_options, given_options, together
from judgesmith.cli.shared.role_options import roles_of
from judgesmith.experiments.compile.fields import (
    SEARCHES,
    CompileFields,
    Optimizer,
    searches_reading,
)
from judgesmith.signatures.config import ActiveCriticConfig

if TYPE_CHECKING:
    from judgesmith.experiments import CompileSettings
    from judgesmith.programs import JudgeFamily
    from judgesmith.programs.artifacts.saved import SavedJudge
    from judgesmith.signatures import Rubric
    from judgesmith.signatures.config import JudgeConfig

_OF_THE_JUDGE = (
    *("judge", "rubric", "criteria", "inference", "variant", "criteria_calls", "explain"),
    *("answer_tokens", "chosen", "steps", "questions", "format"),
)
"""Options that say what an earlier judge says already."""

OF_A_FAMILY = ("judge", "variant", "criteria_calls", "chosen", "steps", "questions", "format")
"""Options that are for some families of judges; without them, labels have a judge for labels."""

_OF_SEARCHES = (
    *("n_trials", "n_draws", "effort", "calls_per_item", "screen", "vary_samples", "storage"),
    *("models", "n_rounds"),
)
"""Options that are for some searches."""


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
    for name in _OF_SEARCHES:
        searches = searches_reading(name)
        if optimizer in searches or (name == "n_rounds" and optimizer == "none"):
            continue
        for option in given_options(name):
            raise OptionError(
                f"{option} belongs to --optimizer {' or '.join(searches)}, and this is "
                f"--optimizer {optimizer}.",
                option=option,
                hint="drop one of the two.",
            )


def searches_protocol(optimizer: Optimizer, objective: str) -> bool:
    """Say whether options speak of a search of the protocol for texts without ratings."""
    from judgesmith.optimizers.objectives.grammar import parse_objectives

    own = set(_OF_SEARCHES) & {*SEARCHES["protocol"].reads} - {*SEARCHES[optimizer].reads}
    if given_options("optimizer") or not given_options(*own):
        return False
    try:
        aims = parse_objectives(objective)
    except ValueError:  # which is told where it is read
        return False
    return "versions" in aims.needs and not aims.rated_terms


def refuse_search_with_ratings(settings: CompileSettings) -> None:
    """Refuse options of the protocol search on rated rows, unless it is named."""
    if settings.optimizer == "protocol" and not given_options("optimizer"):
        refuse_another_search(CompileFields.model_fields["optimizer"].default)


def refuse_without_wording(family: JudgeFamily, optimizer: Optimizer) -> None:
    """Refuse a search of wordings for a judge that asks a model nothing."""
    if not family.asks and SEARCHES[optimizer].needs_wording:
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
    from judgesmith.experiments.evaluate.within_source import (
        AcrossSourcesError,
        check_within_source,
    )

    try:
        check_within_source(objective, judge=judge)
    except AcrossSourcesError as fault:
        if fault.instead is None:
            raise OptionError(fault, option="--objective") from fault
        alone = fault.part == objective.strip()
        say = f"--objective {fault.instead}." if alone else f"{fault.instead} in --objective."
        raise OptionError(f"{fault.fact}.", option="--objective", hint=f"say {say}") from fault
    except ValueError as fault:
        raise OptionError(fault, option="--objective") from fault


_JUDGES = (
    "active-critic",
    "direct",
    "exemplar",
    "g-eval",
    "explain-eval",
    "gptscore",
    "reference",
    "pairs",
    "prometheus",
    "checklist",
    "themis",
    "auto-j",
    "annotator",
    "distilled",
    "verdict",
    "judge-model",
)
"""All kinds, as their families are called."""

LINES = ("steps", "questions")
"""Options that name a file with lines by criterion, called as the part of the protocol is."""

_FIELDS = ("variant", "criteria_calls", "explain", "format", *LINES)
"""Options that are parts of the protocol, in families that have them."""

_ASKING = ("model_name", "api_base", "models", "roles", "rubric", "criteria", "inference")
"""Options about a model, and what it is told, in families that ask one."""

_EXAMPLES = ("n_demonstrations", "n_rounds", "n_draws", "partial_demos")
"""Options about graded examples, in families that show some."""


def judge_options(command: Command) -> Command:
    """Add the options that say which judge a run starts from."""
    kinds = f"Judge family: {', '.join(_JUDGES)}."
    return together(
        command,
        field_options(
            CompileFields,
            "judge",
            judge={"default": "active-critic", "show_default": True, "help": kinds},
        ),
        field_options(ActiveCriticConfig, "variant", "criteria_calls", "explain"),
        click.option(
            "--answer-tokens",
            type=click.IntRange(min=1),
            help="Most tokens of an answer [default: no limit but that of the model].",
        ),
        click.option(
            "--steps",
            metavar="FILE",
            help="YAML with the evaluation steps of a g-eval judge: a list by criterion. The model "
            "writes the steps of the other criteria.",
        ),
        click.option(
            "--questions",
            metavar="FILE",
            help="YAML with the questions of a checklist judge by criterion, as for --steps.",
        ),
        click.option(
            "--format",
            metavar="FORMAT",
            help="Prompt format of a judge-model judge, or another than its own for prometheus, "
            "themis or auto-j: the name of one that ships, or a YAML file.",
        ),
        click.option(
            "--choose",
            "chosen",
            multiple=True,
            metavar="CHOICE=OPTION",
            help="Fix another choice of the judge, such as answers=1-5 or beam=4. Repeatable.",
        ),
    )


def family_named(name: str) -> JudgeFamily:
    """Return the family of that name, refusing options that it has nothing of."""
    from judgesmith.programs import family_of

    with blaming("--judge"):
        family = family_of(name)
    lacking = [one for one in _FIELDS if one not in family.protocol.model_fields]
    lacking += [] if family.has_demonstrations else _EXAMPLES
    lacking += [] if family.asks else _ASKING
    if given := given_options(*lacking):
        raise OptionError(
            f"{given[0]} does not apply to a {name} judge, which {family.about}.",
            option=given[0],
            hint="drop one of the two.",
        )
    return family


def picked_of(chosen: Sequence[str]) -> dict[str, str]:
    """Return what ``--choose`` decides, by choice."""
    picked: dict[str, str] = {}
    for one in chosen:
        name, equals, option = (part.strip() for part in one.partition("="))
        if not (name and equals and option):
            raise OptionError(f"expected CHOICE=OPTION; got {one!r}.", option="--choose")
        if name in picked:
            raise OptionError(f"{name} is chosen twice.", option="--choose", hint="drop one.")
        if re.search(r",\s*\w+\s*=", option):
            raise OptionError(
                f"one choice at a time, such as --choose {name}={option.partition(',')[0]}; "
                f"give --choose again for each further one; got {one!r}.",
                option="--choose",
            )
        picked[name] = option
    return picked


def protocol_from_options(
    family: JudgeFamily, parts: Mapping[str, Any], picked: Mapping[str, str]
) -> JudgeConfig:
    from judgesmith.programs.judging.judge import decided_by_names
    from judgesmith.signatures.plain_data import record_faults

    known = family.protocol.model_fields
    own = {name: one for name, one in parts.items() if name in known}
    with record_faults():
        protocol = family.protocol.model_validate(own)
    if not picked:
        return protocol
    with blaming("--choose"):
        decided: JudgeConfig = decided_by_names(family.judge_of(protocol), picked).protocol
        return decided


def file_lines(files: Mapping[str, str | None]) -> dict[str, Any]:
    """Return the parts of a protocol that files hold by criterion, of those that are named."""
    from judgesmith.programs.judging.ask_once import QUESTIONS, STEPS

    kinds = {"steps": STEPS, "questions": QUESTIONS}
    return {name: kinds[name].load(path) for name, path in files.items() if path is not None}


def check_lines(
    parts: Mapping[str, Any], names: Sequence[str], *, files: Mapping[str, str | None]
) -> None:
    """Refuse lines for what is no criterion."""
    for part, path in files.items():
        unknown = [name for name in parts.get(part, ()) if name not in (*names, "overall")]
        if unknown:
            raise OptionError(
                f"{path}: {part} for {unknown[0][:80]!r}, which is not a criterion; there are "
                f"{', '.join(names)}.",
                option=str(path),
            )


def earlier_judge(folder: str) -> SavedJudge:
    from judgesmith.programs.artifacts.saved import SavedJudge

    before = SavedJudge.load(folder)
    refuse_beside_earlier()
    family_named(before.protocol.judge)
    return before


def settings_from_options(
    before: SavedJudge | None,
    *,
    judge: str,
    variant: str,
    criteria_calls: str,
    explain: str,
    answer_tokens: int | None,
    chosen: tuple[str, ...],
    no_texts: bool,
    first: str,
    models: str | None,
    roles: tuple[str, ...],
    **rest: Any,
) -> CompileSettings:
    from judgesmith.experiments.compile.starting import starting_from
    from judgesmith.experiments.evaluate.within_source import RANKED_OBJECTIVE

    start: dict[str, Any] = {
        "variant": variant,
        "criteria_calls": criteria_calls,
        "explain": explain,
    }
    start |= {"max_tokens": answer_tokens} if answer_tokens else {}
    if given_options("n_rounds") and not given_options("optimizer"):
        rest["optimizer"] = "random"
    if searches_protocol(rest["optimizer"], rest["objective"]):
        rest["optimizer"] = "protocol"
    else:
        refuse_another_search(rest["optimizer"])
    kind = family_named(judge)
    own = kind if before is None else family_named(before.protocol.judge)
    refuse_without_wording(own, rest["optimizer"])
    if own.ranks:
        if not given_options("objective"):
            rest["objective"] = RANKED_OBJECTIVE
        refuse_over_sources(rest["objective"], judge=own.name)
    if (named := rest.pop("format")) is not None:
        from judgesmith.programs.families.forms import format_at

        with blaming("--format"):
            start["format"] = format_at(named, Path(named))
    files = {name: rest.pop(name) for name in LINES}
    start |= file_lines(files)
    settings = _settings(
        kind,
        start,
        picked_of(chosen),
        texts=not no_texts,
        models=_others(models, first),
        roles=roles_of(roles),
        **rest,
    )
    if settings.criteria_from == "given":
        check_lines(start, settings.protocol.rubric.names, files=files)
    with blaming("--from"):
        return settings if before is None else starting_from(before, settings)


def _others(models: str | None, first: str) -> tuple[str, ...]:
    """Return the models that compete with the first."""
    if models is None:
        return ()
    names = tuple(one.strip() for one in models.split(","))
    twice = [name for name in names if [first, *names].count(name) > 1]
    if not all(names) or twice:
        what = f"{twice[0]} is named twice" if all(names) else f"got {models!r}"
        raise OptionError(
            f"the models that compete are names with commas between, each once; {what}.",
            option="--models",
        )
    return names


def _settings(
    family: JudgeFamily,
    start: dict[str, Any],
    picked: dict[str, str],
    rubric: str | None,
    criteria: str | None,
    inference: str,
    without: str,
    *,
    vary_samples: bool,
    **rest: Any,
) -> CompileSettings:
    from judgesmith.experiments import CompileSettings
    from judgesmith.experiments.compile.ablating import without as left_out
    from judgesmith.signatures.config import InferenceSettings
    from judgesmith.signatures.plain_data import record_faults

    twice = [name for name in rest["target"] if rest["target"].count(name) > 1]
    if twice:
        raise OptionError(
            f"every target is named once; got {', '.join(rest['target'])}.", option="--target"
        )
    if rubric:
        fine = family.name == "active-critic" and start["variant"] == "fine"
        start["rubric"] = _rubric_in(rubric, criteria, fine=fine)
    source = "given" if criteria == "general" or (rubric and criteria is None) else criteria
    if len(rest["target"]) > 1 and source == "given" and rubric:
        source = None  # several targets are the criteria; the rubric defines them
    protocol = protocol_from_options(family, start, picked)
    fixed = dict.fromkeys((*_said(without), *picked))
    for name in ("kinds", "holdout_kinds"):
        rest[name] = comma_names(rest[name])
    if not given_options("objective") and not family.ranks:  # the default depends on the data
        del rest["objective"]
    if not given_options("n_trials"):  # the default depends on the search
        del rest["n_trials"]
    if not family.has_demonstrations:
        rest["n_demonstrations"] = 0
    with record_faults():
        settings = CompileSettings.model_validate(
            {
                **rest,
                "protocol": protocol,
                "criteria": source,
                "fixed": (*fixed, *(() if vary_samples else ("samples",))),
                "inference": InferenceSettings.model_validate({"inference": inference}),
            }
        )
    refuse_unused_versions(settings)
    parts = [part.strip() for part in without.split(",") if part.strip()]
    variant = protocol.variant if isinstance(protocol, ActiveCriticConfig) else ""
    refuse_contradictions(variant, source, parts, lexical=rest["lexical"])
    with blaming("--without"):
        return left_out(settings, parts) if parts else settings


def _rubric_in(place: str, criteria: str | None, *, fine: bool) -> Rubric:
    """Return the rubric of a file, for a judge that scores each criterion where it is ``fine``."""
    from judgesmith.signatures import Rubric

    if criteria in ("inferred", "general"):
        raise OptionError(
            f"--rubric gives the criteria, and --criteria {criteria} would take others.",
            option="--criteria",
            hint="drop one.",
        )
    found = Rubric.load(place)
    if not found.criteria and criteria is None and fine:
        raise OptionError(
            f"{place}: there are no criteria, and the variant fine scores each.",
            option=place,
            hint="write some, or use another variant.",
        )
    return found


def _said(without: str) -> tuple[str, ...]:
    """Return the choices about the judge that options have made: these are not searched."""
    from judgesmith.experiments.compile.settings import choices_said

    names = ("variant", "criteria_calls", "explain", "rubric", "criteria")
    said = [name for name in names if given_options(name)]
    return choices_said(said, [part.strip() for part in without.split(",")])


def objective_note(settings: CompileSettings) -> list[str]:
    """Return the reason for an optimizer that is not the usual default."""
    from judgesmith.programs.judging.registry import family_of

    if given_options("objective") or not family_of(settings.protocol.judge).ranks:
        return []
    return [
        f"--objective was not given: {settings.objective} was looked at, for q compares sources, "
        "and ranks of different sources do not compare."
    ]

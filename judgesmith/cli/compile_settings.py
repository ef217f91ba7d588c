"""What the options of ``compile`` say of the judge that a run starts from, and of its search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgesmith.cli.compile_refusals import (
    refuse_another_search,
    refuse_beside_earlier,
    refuse_contradictions,
    refuse_over_sources,
    refuse_unused_versions,
    refuse_without_wording,
    searches_protocol,
)
from judgesmith.cli.faults import OptionError, blaming
from judgesmith.cli.judge_options import (
    LINES,
    check_lines,
    family_named,
    lines_of,
    picked_of,
    protocol_of,
)
from judgesmith.cli.learning_options import names_in
from judgesmith.cli.options import given_options
from judgesmith.cli.role_options import roles_of

if TYPE_CHECKING:
    from judgesmith.experiments import CompileSettings
    from judgesmith.programs import JudgeFamily
    from judgesmith.programs.artifacts.saved import SavedJudge


def earlier_judge(folder: str) -> SavedJudge:
    """Return the judge that ``--from`` names."""
    from judgesmith.programs.artifacts.saved import SavedJudge

    before = SavedJudge.load(folder)
    refuse_beside_earlier()
    family_named(before.protocol.judge)
    return before


def settings_of(
    before: SavedJudge | None,
    *,
    family: str,
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
    """Return what the options say of the judge and the search.

    Parameters
    ----------
    before : SavedJudge or None
        The earlier judge to start from.
    first : str
        The model that judges.
    family, variant, criteria_calls, explain, answer_tokens, chosen, no_texts, models, roles
        As the command line says.
    **rest
        Fields of ``CompileSettings``, and ``rubric``, ``criteria``, ``inference``, ``without``,
        ``vary_samples``, ``steps`` and ``questions`` as the command line says.

    Raises
    ------
    OptionError, ValueError, OSError
        If they cannot be, or exclude each other.
    """
    from judgesmith.experiments.compile.starting import starting_from
    from judgesmith.experiments.evaluate.agreement import RANKED_OBJECTIVE

    start: dict[str, Any] = {
        "variant": variant,
        "criteria_calls": criteria_calls,
        "explain": explain,
    }
    start |= {"max_tokens": answer_tokens} if answer_tokens else {}
    if searches_protocol(rest["optimizer"], rest["objective"]):
        rest["optimizer"] = "protocol"
    else:
        refuse_another_search(rest["optimizer"])
    kind = family_named(family)
    own = kind if before is None else family_named(before.protocol.judge)
    refuse_without_wording(own, rest["optimizer"])
    if own.ranks:
        if not given_options("objective"):
            rest["objective"] = RANKED_OBJECTIVE
        refuse_over_sources(rest["objective"], judge=own.name)
    files = {name: rest.pop(name) for name in LINES}
    start |= lines_of(files)
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
    from judgesmith.experiments.ablate.rows import without as left_out
    from judgesmith.programs.families.task_inference import InferenceSettings
    from judgesmith.signatures import ActiveCriticConfig, Rubric
    from judgesmith.signatures.plain_data import record_faults

    if rubric and criteria in ("inferred", "general"):
        raise OptionError(
            f"--rubric gives the criteria, and --criteria {criteria} would take others.",
            option="--criteria",
            hint="drop one.",
        )
    twice = [name for name in rest["target"] if rest["target"].count(name) > 1]
    if twice:
        raise OptionError(
            f"every target is named once; got {', '.join(rest['target'])}.", option="--target"
        )
    if rubric:
        start["rubric"] = Rubric.load(rubric)
        fine = family.name == "active-critic" and start["variant"] == "fine"
        if not start["rubric"].criteria and criteria is None and fine:
            raise OptionError(
                f"{rubric}: there are no criteria, and the variant fine scores each.",
                option=rubric,
                hint="write some, or use another variant.",
            )
    source = "given" if criteria == "general" or (rubric and criteria is None) else criteria
    if len(rest["target"]) > 1 and source == "given" and rubric:
        source = None  # several targets are the criteria; the rubric defines them
    protocol = protocol_of(family, start, picked)
    fixed = dict.fromkeys((*_said(without), *picked))
    for name in ("kinds", "holdout_kinds"):
        rest[name] = names_in(rest[name])
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


def _said(without: str) -> tuple[str, ...]:
    """Return the choices about the judge that options have made: these are not searched."""
    from judgesmith.experiments.compile.settings import choices_said

    names = ("variant", "criteria_calls", "explain", "rubric", "criteria")
    said = [name for name in names if given_options(name)]
    return choices_said(said, [part.strip() for part in without.split(",")])


def objective_note(settings: CompileSettings) -> list[str]:
    """Return what decided, where nobody said and it is not what it usually is."""
    from judgesmith.programs.judging.registry import family_of

    if given_options("objective") or not family_of(settings.protocol.judge).ranks:
        return []
    return [
        f"--objective was not given: {settings.objective} was looked at, for q compares sources, "
        "and ranks of different sources do not compare."
    ]

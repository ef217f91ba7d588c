"""``judgesmith compile``: from rated texts to a judge, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.calibration_options import (
    CalibrationChoice,
    calibration_options,
    no_calibration_note,
)
from judgesmith.cli.compile_options import (
    refuse_another_search,
    refuse_beside_earlier,
    refuse_contradictions,
    said,
)
from judgesmith.cli.compiled import (
    estimate_note,
    print_again,
    print_compiled,
    print_estimate,
    print_examples,
    print_nothing,
    summary,
)
from judgesmith.cli.data_options import aggregate_option, data_options, load_data, targets_option
from judgesmith.cli.faults import OptionError, blaming
from judgesmith.cli.judge_options import (
    family_named,
    judge_options,
    picked_of,
    protocol_of,
)
from judgesmith.cli.learning_options import (
    demonstration_options,
    learning_options,
    search_options,
)
from judgesmith.cli.model_options import ModelChoice, model_options
from judgesmith.cli.options import judge_output_options
from judgesmith.cli.places import OUTPUT, judge_place, made_before
from judgesmith.cli.printing import print_json, say, say_notes
from judgesmith.cli.progress import stage_progress
from judgesmith.cli.role_options import role_option, roles_of, run_models

if TYPE_CHECKING:
    import dspy

    from judgesmith.experiments import CompileSettings
    from judgesmith.experiments.searching import SearchFiles
    from judgesmith.programs import Family
    from judgesmith.programs.models import Usage
    from judgesmith.programs.saved_kinds import AnySaved


@click.command("compile")
@click.argument("data")
@click.option("-o", "--output", required=True, metavar="JUDGE", help="Folder for the judge.")
@data_options
@targets_option
@aggregate_option
@click.option(
    "--from",
    "earlier",
    metavar="JUDGE",
    help="Start from an earlier judge, and keep of it what still agrees best.",
)
@click.option(
    "--rubric",
    metavar="FILE",
    help="YAML with task and criteria, or with definitions for --criteria human.",
)
@click.option(
    "--criteria",
    type=click.Choice(["inferred", "human", "general"]),
    help="Inferred from the ratings, those that people rated, or general ones "
    "[default: those of --rubric, else inferred if they agree better than general ones].",
)
@judge_options
@click.option(
    "--without",
    default="",
    metavar="PART,…",
    help="Leave out explanations, task, criteria, mcs, os, search or weights.",
)
@click.option(
    "--optimizer",
    type=click.Choice(["random", "protocol", "reflective", "balanced", "miprov2", "simba", "none"]),
    default="random",
    show_default=True,
    help="Search demonstrations, or the whole protocol (what an option says of the judge is not "
    "searched); let a model rewrite texts from what the judge got wrong, or reword instructions "
    "until answers are spread evenly, which reads no ratings; run an optimizer of DSPy's; and fit "
    "the aggregation. Or take the judge as it is.",
)
@click.option(
    "--objective",
    default="q",
    show_default=True,
    metavar="SUM[, SUM]…[; CONDITION]…",
    help="What is made as large as possible: q, pearson@sample, 'q + .5*kappa - .01*calls', "
    "'q; kappa >= .4'. Several with --optimizer protocol: 'q, -calls'.",
)
@role_option
@demonstration_options
@search_options
@calibration_options
@click.option(
    "--partial-demos",
    is_flag=True,
    help="Show the question about all criteria examples with the overall score alone, too.",
)
@click.option(
    "--lexical/--no-lexical",
    default=None,
    help="Let lexical features into the aggregation [default: with the offline model only].",
)
@learning_options
@click.option("--no-texts", is_flag=True, help="Keep no judged texts in the artifact.")
@model_options
@judge_output_options
def command(
    data: str,
    output: str,
    columns: str | None,
    scales: tuple[str, ...],
    earlier: str | None,
    rubric: str | None,
    criteria: str | None,
    inference: str,
    family: str,
    variant: str,
    criteria_calls: str,
    explain: str,
    answer_tokens: int | None,
    chosen: tuple[str, ...],
    without: str,
    no_texts: bool,
    concurrency: int,
    dry_run: bool,
    force: bool,
    storage: str | None,
    models: str | None,
    roles: tuple[str, ...],
    calibrate: bool,
    confidence: float,
    within: float | None,
    as_json: bool,
    **rest: Any,
) -> None:
    """Make a judge that agrees with the ratings in DATA, and save it in a folder.

    The same command again continues where an interrupted one was: no answer on record is
    asked for again. When the budget ends early, the best judge so far is saved, marked as
    incomplete. DATA is described under 'judgesmith check --help'.
    """
    from judgesmith.experiments import compile_judge
    from judgesmith.experiments.chosen_targets import chosen_targets
    from judgesmith.experiments.compile_notes import NothingScoredError
    from judgesmith.experiments.estimating import estimate_run
    from judgesmith.experiments.fronts import check_searched, endpoints_of
    from judgesmith.experiments.parts import parts_of
    from judgesmith.experiments.role_models import check_role_models
    from judgesmith.experiments.starting import starting_from
    from judgesmith.optimizers.competing_models import check_models
    from judgesmith.optimizers.grammar import parse_objectives
    from judgesmith.programs.families import family_of
    from judgesmith.programs.models import stack_of
    from judgesmith.programs.saved import SavedJudge

    folder = judge_place(output)
    names = set(ModelChoice.__dataclass_fields__)
    choice = ModelChoice(**{name: rest.pop(name) for name in names})
    before = SavedJudge.load(earlier) if earlier else None
    if before is not None:
        refuse_beside_earlier()
        family_named(before.protocol.judge)
    start: dict[str, Any] = {
        "variant": variant,
        "criteria_calls": criteria_calls,
        "explain": explain,
    }
    start |= {"max_tokens": answer_tokens} if answer_tokens else {}
    refuse_another_search(rest["optimizer"])
    settings = _settings(
        family_named(family),
        start,
        picked_of(chosen),
        rubric,
        criteria,
        inference,
        without,
        texts=not no_texts,
        models=_others(models, choice.model_name or "offline"),
        roles=roles_of(roles),
        **rest,
    )
    with blaming("--from"):
        settings = settings if before is None else starting_from(before, settings)
    calibration = CalibrationChoice(calibrate=calibrate, confidence=confidence, within=within)
    calibration.refuse_without()
    if calibrate and family_of(settings.protocol.judge).ranks:
        raise OptionError(
            "scores that are ranks within a source are put on no scale of people; leave "
            "--calibrate out.",
            option="--calibrate",
        )
    dataset = load_data(data, columns, scales)
    with blaming("--target" if settings.target else data):
        targets = chosen_targets(dataset, settings)
    with blaming(data):
        dataset, aside = calibration.divided(dataset, targets.whole, settings)
        targets = chosen_targets(dataset, settings)
    with blaming("--objective"):
        objective = parse_objectives(settings.objective)
        check_searched(settings)
    known = frozenset() if before is None else before.seen_keys
    with blaming(data):
        parts_of(dataset, targets, settings, known)
    asked = run_models(choice, settings)
    with blaming("--role"):
        check_role_models(settings, asked.roles)
    with blaming("--objective"):
        check_models(asked.lm, asked.competing, objective)
    endpoints = endpoints_of(asked.lm, {**asked.competing, **asked.roles})
    own_run = settings.fingerprint(dataset, choice.model_name or "offline", endpoints)
    run = calibration.run(own_run, aside)
    asked = run_models(choice, settings, run_id=f"compile {run}")
    lm, others = asked.lm, asked.others
    if dry_run:
        estimated = estimate_run(dataset, settings, lm, others=others, known=known)
        print_estimate(calibration.added(estimated, aside, settings), as_json=as_json)
        return
    with blaming(OUTPUT):
        made = made_before(folder, run, force=force)
    if made is not None and made.settings.get("complete"):
        print_again(made, folder, as_json=as_json)
        return
    asked.check_keys(choice)
    files = estimate = None
    if settings.optimizer not in ("random", "none"):
        estimate = estimate_run(dataset, settings, lm, others=others, known=known)
        estimate = calibration.added(estimate, aside, settings)
        with blaming("--storage", given=storage is not None):
            # From the environment it may be given to a search that has no use for it.
            used = storage if settings.optimizer == "protocol" else None
            files = _search_files(choice.ledger, run, used)
    with blaming(data):
        try:
            with stage_progress(quiet=as_json) as progress:
                found = compile_judge(
                    dataset,
                    settings,
                    earlier=before,
                    lm=lm,
                    models=asked.competing,
                    roles=asked.roles,
                    concurrency=concurrency,
                    progress=progress,
                    files=files,
                )
        except NothingScoredError as fault:
            if not fault.spent:
                raise
            print_nothing(fault, dataset, _used(lm, others), as_json=as_json)
            return
    saved: AnySaved = found.saved
    told: list[str] = []
    if aside is not None:
        with stage_progress(quiet=as_json) as progress:
            saved, told = calibration.learned(
                found.saved.with_models({str(one.model): one for one in (lm, *others)}),
                dataset,
                aside,
                settings,
                run=run,
                lm=_of_name(found.saved.model, lm, others),
                concurrency=concurrency,
                progress=progress,
            )
    with blaming(OUTPUT):
        saved.save(folder, overwrite=True)
    usage = _used(lm, others)
    if as_json:
        print_json(summary(saved, folder, usage))
    else:
        print_compiled(found, dataset, usage)
    missing = no_calibration_note(saved.settings)
    further = () if missing else told
    notes = (*missing, *dataset.notes, *found.notes, *further, *estimate_note(estimate, usage))
    adapted = (
        text for one in (lm, *others) if (stack := stack_of(one)) for text in stack.adaptations
    )
    say_notes((*notes, *dict.fromkeys(adapted)), as_json=as_json)
    if not as_json:
        print_examples(found, saved)
        say(f"\nsaved in {folder} (fingerprint {saved.fingerprint}); try:")
        say(f"  judgesmith score {folder} INPUT.jsonl -o SCORES.jsonl")


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


def _of_name(name: str, lm: dspy.LM, rivals: Sequence[dspy.LM]) -> dspy.LM:
    """Return the model of that name: the first, or one of those that competed with it."""
    return next((one for one in (lm, *rivals) if str(one.model) == name), lm)


def _used(lm: dspy.LM, rivals: Sequence[dspy.LM]) -> Usage:
    """Return what went through all models together."""
    from judgesmith.programs.costs import usage_of

    usage = usage_of(lm, *rivals)
    assert usage is not None
    return usage


def _settings(
    family: Family,
    start: dict[str, Any],
    picked: dict[str, str],
    rubric: str | None,
    criteria: str | None,
    inference: str,
    without: str,
    *,
    vary_samples: bool = False,
    **rest: Any,
) -> CompileSettings:
    """Return what the options say of the judge and the search."""
    from judgesmith.experiments import CompileSettings
    from judgesmith.experiments.ablating import without as left_out
    from judgesmith.experiments.within_source import check_within_source
    from judgesmith.programs.inference_settings import InferenceSettings
    from judgesmith.signatures import Protocol, Rubric

    if rubric and criteria in ("inferred", "general"):
        raise OptionError(
            f"--rubric gives the criteria, and --criteria {criteria} would take others; drop one.",
            option="--criteria",
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
                f"{rubric}: there are no criteria, and the variant fine scores each; write some, "
                "or use another variant.",
                option=rubric,
            )
    source = "given" if criteria == "general" or (rubric and criteria is None) else criteria
    if len(rest["target"]) > 1 and source == "given" and rubric:
        source = None  # several targets are the criteria; the rubric defines them
    if family.ranks:
        with blaming("--objective"):
            check_within_source(rest["objective"], judge=family.name)
    protocol = protocol_of(family, start, picked)
    fixed = dict.fromkeys((*said(without), *picked))
    if not family.has_demonstrations:
        rest["n_demonstrations"] = 0
    settings = CompileSettings.model_validate(
        {
            **rest,
            "protocol": protocol,
            "criteria": source,
            "fixed": (*fixed, *(() if vary_samples else ("samples",))),
            "inference": InferenceSettings.model_validate({"inference": inference}),
        }
    )
    parts = [part.strip() for part in without.split(",") if part.strip()]
    variant = protocol.variant if isinstance(protocol, Protocol) else ""
    refuse_contradictions(variant, source, parts, lexical=rest["lexical"])
    with blaming("--without"):
        return left_out(settings, parts) if parts else settings


def _search_files(ledger: str, run: str, storage: str | None) -> SearchFiles:
    """Return where a search is kept: beside the ledger, or in the database that is named."""
    from judgesmith.experiments.searching import SearchFiles
    from judgesmith.optimizers.studies import check_storage

    folder = Path(ledger).expanduser().parent / "searches"
    if storage is not None:
        check_storage(storage)
    return SearchFiles(storage=storage or folder / f"{run}.journal", log=folder / f"{run}.jsonl")

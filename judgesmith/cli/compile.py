"""``judgesmith compile``: from rated texts to a judge, and how far it can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.calibration_options import (
    CalibrationChoice,
    calibration_options,
    no_calibration_note,
)
from judgesmith.cli.compile_run import prepared_run
from judgesmith.cli.compile_settings import earlier_judge, objective_note, settings_of
from judgesmith.cli.compiled import (
    estimate_note,
    print_again,
    print_compiled,
    print_estimate,
    print_examples,
    print_nothing,
    print_saved,
    summary,
)
from judgesmith.cli.data_options import aggregate_option, data_options, load_all, targets_option
from judgesmith.cli.faults import blaming
from judgesmith.cli.judge_options import judge_options
from judgesmith.cli.learning_options import (
    demonstration_options,
    discernment_options,
    learning_options,
    search_options,
)
from judgesmith.cli.model_options import ModelChoice, model_options
from judgesmith.cli.options import judge_output_options
from judgesmith.cli.places import OUTPUT, judge_place, made_before
from judgesmith.cli.printing import print_json, say_notes
from judgesmith.cli.role_options import role_option
from judgesmith.cli.unscored import max_unscored_option, unscored_status

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved


@click.command("compile")
@click.argument("data", nargs=-1, required=True, metavar="DATA…")
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
    help="Leave out explanations, task, criteria, mcs, os, search or weights; or confirmation, "
    "which keeps the judge as it was unless a change is better beyond luck.",
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
    metavar="SUM[, SUM]…[; CONDITION]…",
    help="What is made as large as possible: q, pearson@sample, 'q + .5*kappa - .01*calls', "
    "'q; kappa >= .4'. Several with --optimizer protocol: 'q, -calls'. d_min needs no ratings "
    "[default: q; q@sample for judges that rank within a source].",
)
@role_option
@demonstration_options
@search_options
@discernment_options
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
@max_unscored_option
@click.option("--no-texts", is_flag=True, help="Keep no judged texts in the artifact.")
@model_options
@judge_output_options
def command(
    data: tuple[str, ...],
    output: str,
    columns: str | None,
    scales: tuple[str, ...],
    earlier: str | None,
    storage: str | None,
    calibrate: bool,
    confidence: float,
    within: float | None,
    max_unscored: float,
    concurrency: int,
    dry_run: bool,
    force: bool,
    as_json: bool,
    **rest: Any,
) -> int:
    """Make a judge that agrees with the ratings in DATA, and save it in a folder.

    The same command again continues where an interrupted one was: no answer on record is
    asked for again. When the budget ends early, the best judge so far is saved, marked as
    incomplete. DATA is described under 'judgesmith check --help'; of several files all rows are
    read, such as rows rated earlier and sheets that 'judgesmith suggest' wrote and people filled.
    """
    from judgesmith.experiments.compile.notes import NothingScoredError

    folder = judge_place(output)
    choice = ModelChoice.taken_from(rest)
    before = earlier_judge(earlier) if earlier else None
    settings = settings_of(before, first=choice.model_name or "offline", **rest)
    calibration = CalibrationChoice(calibrate=calibrate, confidence=confidence, within=within)
    calibration.refuse_for(settings)
    dataset = load_all(data, columns, scales)
    run = prepared_run(dataset, settings, choice, calibration, before, data=data[0])
    settings = run.settings
    with blaming(OUTPUT):
        made = made_before(folder, run.fingerprint, force=force)
    files = None
    if settings.optimizer not in ("random", "none"):
        with blaming("--storage", given=storage is not None):
            files = run.search_files(choice, storage)
    with blaming(data[0]):
        estimate = run.estimate() if dry_run or files is not None else None
    if dry_run:
        assert estimate is not None
        print_estimate(estimate, as_json=as_json, searched=settings.optimizer == "protocol")
        return 0
    if made is not None and made.settings.get("complete") and _is_scored(made, max_unscored):
        print_again(made, folder, as_json=as_json)
        return 0
    run.asked.check_keys(choice)
    with blaming(data[0]):
        try:
            found = run.compile(files, concurrency=concurrency, quiet=as_json)
        except NothingScoredError as fault:
            if not fault.spent:
                raise
            print_nothing(fault, run.dataset, run.usage, as_json=as_json)
            return 0
    saved, told = run.calibrated(found.saved, concurrency=concurrency, quiet=as_json)
    with blaming(OUTPUT):
        saved.save(folder, overwrite=True)
    usage = run.usage
    if as_json:
        print_json(summary(saved, folder, usage))
    else:
        print_compiled(found, run.dataset, usage)
    missing = no_calibration_note(saved.settings)
    notes = (*missing, *run.dataset.notes, *found.notes, *objective_note(settings))
    notes += () if missing else tuple(told)
    say_notes((*notes, *estimate_note(estimate, usage), *run.adaptations), as_json=as_json)
    if not as_json:
        print_examples(found, saved)
        print_saved(saved, folder, choice.asked_again(saved.models))
    return unscored_status(found.unscored.n_rows, found.unscored.causes, max_unscored)


def _is_scored(made: AnySaved, most: float) -> bool:
    """Say whether so few rows of a compiled judge have no score that it need not be made again."""
    rows = made.rows
    return rows["unscored"] <= most * (rows["select"] + rows["heldout"])

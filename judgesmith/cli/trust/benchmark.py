"""``judgesmith discern benchmark``: test a judge on unpublished texts, made from rated ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.data_options import data_options, load_data
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.judge_models import used
from judgesmith.cli.shared.model_options import ModelChoice, model_options
from judgesmith.cli.shared.options import (
    WholeNumber,
    dry_run_option,
    given_options,
    json_option,
    seed_option,
    shown_option,
)
from judgesmith.cli.shared.places import OUTPUT, check_output
from judgesmith.cli.shared.printing import (
    print_json,
    print_table,
    say,
    say_notes,
    say_wrapped,
    spent_on,
    usage_text,
)
from judgesmith.cli.shared.progress import stage_progress
from judgesmith.cli.shared.role_options import ROLE, roles_of

if TYPE_CHECKING:
    from judgesmith.data.items import DataSet
    from judgesmith.experiments.benchmark.building import PlannedStep
    from judgesmith.experiments.benchmark.models import BenchmarkModels
    from judgesmith.experiments.benchmark.settings import BenchmarkSettings, Dropped, Perspective
    from judgesmith.experiments.tables import Table
    from judgesmith.programs.lm import Usage
    from judgesmith.signatures import Rubric
    from judgesmith.signatures.perturbation import SubAspect


def benchmark_roles(given: Sequence[str]) -> dict[str, str]:
    """Return what ``--role`` says: names of models by role."""
    from judgesmith.experiments.benchmark.models import check_benchmark_roles

    roles = roles_of(given)
    with blaming(ROLE):
        check_benchmark_roles(roles)
    return roles


def benchmark_models(
    choice: ModelChoice,
    roles: Mapping[str, str],
    *,
    run_id: str | None = None,
) -> BenchmarkModels:
    """Return a model for every role, each made once however many roles it has."""
    from judgesmith.experiments.benchmark.models import BenchmarkModels
    from judgesmith.experiments.benchmark.settings import ROLES

    first = choice.model_name or "offline"
    names = list(dict.fromkeys((first, *roles.values())))
    made = dict(zip(names, choice.lms(*names[1:], run_id=run_id), strict=True))
    by_role = {role: made[roles.get(role, first)] for role in ROLES}
    return BenchmarkModels(by_role=by_role, concurrency=choice.concurrency)


def check_benchmark_keys(choice: ModelChoice, models: BenchmarkModels) -> None:
    first = choice.model_name or "offline"
    for lm in {id(one): one for one in models.by_role.values()}.values():
        choice.check_key(lm, option="--model" if str(lm.model) == first else ROLE)


def print_benchmark(report: Mapping[str, Any], output: str, usage: Usage) -> None:
    """Print the most important of a report, and where the rest stands."""
    from judgesmith.experiments.benchmark.report import blind_kinds_of, estimate_cell, main_tables

    say(
        f"{report['texts']} texts about {report['sources']} sources in {output} "
        f"({report['perspective']}, run {report['run']})"
    )
    for table in main_tables(report):
        _print(table)
    rows = [
        [name, estimate_cell(own["comparator"]["accuracy"])]
        for name, own in report["criteria"].items()
    ]
    print_table("How often the comparator prefers the text with one error less", rows)
    blind = blind_kinds_of(report)
    if blind:
        say("\nErrors that the comparator cannot see")
    for name, kinds in blind.items():
        say_wrapped(f"  {name}: {', '.join(kinds)}", hang=4)
    say("\nreport.md there has the rest; spot_check.csv is for people to fill in")
    say(usage_text(usage))


def print_planned(
    steps: Sequence[PlannedStep], dropped: Sequence[Dropped], *, as_json: bool
) -> None:
    calls, most = sum(one.calls for one in steps), sum(one.max_calls for one in steps)
    if as_json:
        rows = [asdict(one) for one in steps]
        left_out = {one.criterion: one.to_dict() for one in dropped}
        print_json({"calls": calls, "max_calls": most, "dropped": left_out, "steps": rows})
        return
    say(f"{calls} calls, {most} at most, less those cached")
    print_table(
        "By step",
        [[one.step, one.role, one.model, str(one.calls), str(one.max_calls)] for one in steps],
        header=["step", "role", "model", "calls", "at most"],
        left=3,
    )


def print_checks(checked: Mapping[str, Any], folder: str) -> None:
    from judgesmith.experiments.benchmark.report import checks_table

    say(
        f"{checked['answers']} answers to {checked['checks']} questions about {folder}, "
        f"{checked['blank']} left blank"
    )
    _print(checks_table(checked))
    say("\nreport.json and report.md there say so, too")


def tell_spent(spent: Exception, usage: Usage | None, *, as_json: bool) -> None:
    """Say that the budget ended before the benchmark was whole."""
    assert usage is not None
    if as_json:
        print_json({"output": None, **spent_on(usage)})
    notes = (f"{spent}", "nothing was written; a larger budget continues from here.")
    say_notes(notes, as_json=as_json)
    if not as_json:
        say(usage_text(usage))


def tell_recorded(usage: Usage | None) -> None:
    """Print before a refusal how many of the invalid answers were cached."""
    if usage is not None and usage.hits:
        note = f"{usage_text(usage)}; another --ledger asks anew."
        say_notes([note], as_json=True)


def _print(table: Table) -> None:
    print_table(table.title, table.rows, header=table.header)


PERSPECTIVE = "--perspective"
_OF_LOCAL = ("steps",)
_OF_GLOBAL = ("per_rating", "n_anchors", "n_samples", "keep_inverted")


@tool(
    "benchmark",
    old_names={
        "--criteria": "--only-criteria",
        "--steps": "--errors-per-text",
        "--samples": "--ratings-per-text",
    },
)
@click.argument("data")
@click.option(
    PERSPECTIVE,
    type=click.Choice(["global", "local"]),
    help="Build rated data (global), or sequences with one more error in each text (local).",
)
@click.option("-o", "--output", metavar="FOLDER", help="Folder for the benchmark.")
@data_options
@click.option(
    "--only-criteria",
    "criteria",
    metavar="NAME,…",
    help="Criteria to use [default: all but overall].",
)
@click.option(
    "--rubric", "rubric_file", metavar="FILE", help="YAML with definitions of the criteria."
)
@click.option(
    "--sub-aspects",
    "sides_file",
    metavar="FILE",
    help="YAML with aspects of the criteria, such as an edited sub_aspects.yaml.",
)
@click.option(
    "--sources",
    "n_sources",
    type=WholeNumber(1),
    help="Number of sources to sample [default: all].",
)
@shown_option(
    ("--references", "n_references"),
    WholeNumber(1),
    5,
    "Maximum references per source: the best different ones.",
)
@click.option(
    "--candidates",
    "n_candidates",
    type=WholeNumber(0),
    help="Generated reference candidates per source [default: 20 for the global "
    "perspective, else 0].",
)
@shown_option(
    ("--errors-per-text", "steps"),
    WholeNumber(1),
    15,
    "Local: errors injected into a reference, one after another.",
)
@shown_option("--per-rating", WholeNumber(1), 3, "Global: texts per source and rating.")
@shown_option(
    ("--anchors", "n_anchors"),
    WholeNumber(1),
    5,
    "Global: rated anchors per rating to compare with.",
)
@shown_option(
    ("--ratings-per-text", "n_samples"),
    WholeNumber(1),
    10,
    "Global: model ratings per anchor candidate.",
)
@click.option(
    "--keep-inverted",
    is_flag=True,
    help="Global: keep criteria that the comparator orders against the ratings.",
)
@seed_option
@click.option(
    ROLE,
    "roles",
    multiple=True,
    metavar="ROLE=MODEL",
    help="Separate model as writer (of references), injector (of errors), rater or comparator. "
    "Shares the budget. Repeatable.",
)
@model_options
@click.option(
    "--spot-check",
    "sheets",
    multiple=True,
    metavar="FILE",
    help="Read a filled-in spot_check.csv of the benchmark DATA; once per rater.",
)
@dry_run_option
@click.option("--force", is_flag=True, help="Replace a benchmark from another run.")
@json_option
def command(
    data: str,
    perspective: Perspective | None,
    output: str | None,
    criteria: str | None,
    rubric_file: str | None,
    sides_file: str | None,
    sheets: tuple[str, ...],
    dry_run: bool,
    force: bool,
    as_json: bool,
    choice: ModelChoice,
    **rest: Any,
) -> None:
    """Build a benchmark for judges from the rated data in DATA, without new ratings.

    Errors are put into references, so that which text is better is known. 'evaluate
    --perspective' tests a judge on it. The same command again resumes.
    """
    if sheets:
        _refuse_others()
        _check(data, sheets, as_json=as_json)
        return
    if perspective is None or output is None:
        missing = PERSPECTIVE if perspective is None else OUTPUT
        wanted = "global or local" if perspective is None else "a folder"
        raise OptionError(f"a benchmark needs {missing}.", option=missing, hint=f"name {wanted}.")
    _refuse_of_other(perspective)
    from judgesmith.experiments.benchmark.beginning import benchmark_start
    from judgesmith.experiments.benchmark.building import benchmark_from, planned_steps
    from judgesmith.experiments.benchmark.models import UnfinishedError
    from judgesmith.experiments.benchmark.report import check_benchmark
    from judgesmith.programs.lm import BudgetSpent

    place = check_output(output)
    named = benchmark_roles(choice.roles)
    settings = _settings(perspective, criteria, rest)
    dataset = load_data(data)
    with blaming(data if criteria is None else "--only-criteria"):
        start = benchmark_start(
            dataset,
            settings,
            rubric=_rubric(rubric_file),
            sub_aspects=_sides(sides_file, dataset),
        )
    run = start.fingerprint(benchmark_models(choice, named))
    with blaming(OUTPUT):
        check_benchmark(place, run, force=force)
    models = benchmark_models(choice, named, run_id=f"benchmark {run}")
    with blaming(data):
        planned = planned_steps(start, models)
    if dry_run:
        print_planned(planned, start.dropped, as_json=as_json)
        say_notes(start.notes, as_json=as_json)
        return
    check_benchmark_keys(choice, models)
    try:
        with stage_progress(quiet=as_json) as progress, blaming(data):
            made = benchmark_from(start, models, on_progress=progress)
    except (BudgetSpent, UnfinishedError) as spent:
        tell_spent(spent, used(*_each(models)), as_json=as_json)
        return
    except ValueError:
        tell_recorded(used(*_each(models)))
        raise
    with blaming(OUTPUT):
        made.save(place)
    usage = used(*_each(models))
    if as_json:
        print_json({"output": output, **made.report, **spent_on(usage)})
    else:
        print_benchmark(made.report, output, usage)
    say_notes(made.report["notes"], as_json=as_json)


def _each(models: BenchmarkModels) -> list[Any]:
    return list({id(one): one for one in models.by_role.values()}.values())


def _refuse_others() -> None:
    """Refuse what belongs to building where a filled sheet is read."""
    every = click.get_current_context().command.params
    own = ("data", "sheets", "as_json")
    others = given_options(*(str(one.name) for one in every if one.name not in own))
    if others:
        raise OptionError(
            f"{others[0]} builds a benchmark, and --spot-check reads human ratings of one.",
            option=others[0],
            hint="drop one of the two.",
        )


def _refuse_of_other(perspective: str) -> None:
    """Refuse options of the other perspective."""
    strange = given_options(*(_OF_LOCAL if perspective == "global" else _OF_GLOBAL))
    if strange:
        other = "local" if perspective == "global" else "global"
        raise OptionError(
            f"{strange[0]} says something about the {other} perspective alone.",
            option=strange[0],
            hint="drop it.",
        )


def _settings(
    perspective: Perspective, criteria: str | None, rest: Mapping[str, Any]
) -> BenchmarkSettings:
    from judgesmith.experiments.benchmark.settings import BenchmarkSettings

    names = None
    if criteria is not None:
        names = tuple(name for one in criteria.split(",") if (name := one.strip()))
        if not names:
            raise OptionError(
                "--only-criteria names none.",
                option="--only-criteria",
                hint="name one, or drop it.",
            )
    return BenchmarkSettings(perspective=perspective, criteria=names, **rest)


def _rubric(file: str | None) -> Rubric | None:
    from judgesmith.signatures import Rubric

    return None if file is None else Rubric.load(file)


def _sides(file: str | None, dataset: DataSet) -> tuple[SubAspect, ...]:
    from judgesmith.experiments.benchmark.building import read_sub_aspects

    return () if file is None else read_sub_aspects(file, dataset.criteria)


def _check(data: str, sheets: tuple[str, ...], *, as_json: bool) -> None:
    """Read filled sheets, and put what people say into the benchmark's report."""
    from judgesmith.experiments.benchmark.report import (
        CHECKED,
        put_report,
        read_benchmark,
        report_text,
    )
    from judgesmith.experiments.benchmark.spot_check import read_spot_checks

    with blaming(data):
        folder, report, rows = read_benchmark(data)
    with blaming(sheets[0]):
        found = read_spot_checks(sheets, rows)
    told = {**report, CHECKED: found.to_dict()}
    put_report(folder, told, report_text(told))
    if as_json:
        print_json({"benchmark": str(folder), **found.to_dict()})
    else:
        print_checks(found.to_dict(), str(folder))

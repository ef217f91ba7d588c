"""``judgesmith infer``: from rated data to a rubric that can be read and edited."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.data_options import (
    data_options,
    data_words,
    load_data,
    target_options,
)
from judgesmith.cli.shared.faults import blaming
from judgesmith.cli.shared.model_options import ModelChoice, model_options
from judgesmith.cli.shared.options import (
    WholeNumber,
    dry_run_option,
    field_options,
    json_option,
    shown_option,
)
from judgesmith.cli.shared.places import OUTPUT, file_place
from judgesmith.cli.shared.printing import (
    print_estimate,
    print_json,
    say,
    say_notes,
    spent_on,
    usage_text,
)
from judgesmith.cli.shared.progress import counting
from judgesmith.drafts import draft_beside, put, write_synced
from judgesmith.errors import ExistingFileError, InputError, file_faults, shortened
from judgesmith.experiments.compile.fields import CompileFields
from judgesmith.signatures.config import InferenceSettings

if TYPE_CHECKING:
    from judgesmith.data.items import DataSet
    from judgesmith.experiments.compile.inferring import InferenceResult
    from judgesmith.programs.lm import Usage
    from judgesmith.signatures import Rubric

PARTS = ("task", "criteria")


@tool("infer")
@click.argument("data")
@click.option("-o", "--output", required=True, metavar="RUBRIC.yaml", help="Rubric file to write.")
@data_options
@target_options
@click.option(
    "--without",
    default="",
    metavar="task|criteria",
    help="Skip the task (criteria then come from observations alone) or the criteria.",
)
@click.option("--keep", metavar="FILE", help="Rubric whose task or criteria are kept.")
@shown_option("--batch-size", WholeNumber(1), 5, "Rated rows per prompt.")
@shown_option(("--max-criteria", "most"), WholeNumber(1), 10, "Maximum number of criteria.")
@shown_option(
    "--max-characters",
    WholeNumber(1),
    40_000,
    "Maximum characters of text per prompt; longer rows are skipped.",
)
@field_options(InferenceSettings, "inference")
@field_options(CompileFields, "holdout", "split_rows", "percent_of_max", "seed")
@model_options
@dry_run_option
@click.option("--force", is_flag=True, help="Replace an existing file.")
@json_option
def command(
    data: str,
    output: str,
    target: str,
    aggregate: str,
    without: str,
    keep: str | None,
    holdout: float,
    split_rows: bool,
    percent_of_max: bool,
    dry_run: bool,
    force: bool,
    as_json: bool,
    choice: ModelChoice,
    **rest: Any,
) -> None:
    """Find out from the ratings in DATA what is judged and by which criteria.

    The rubric is a text file to be read and edited; 'judgesmith compile --rubric' takes it.
    It ends with its provenance: which rows and batches taught what. The same command again
    continues where an interrupted one was. DATA is described under 'judgesmith check --help'.
    """
    from judgesmith.experiments.compile.estimate import guidelines_effort, inference_effort
    from judgesmith.experiments.compile.inferring import InferenceRun, check_inferable, infer_rubric
    from judgesmith.experiments.scoring.estimates import RunEstimate, known_price
    from judgesmith.programs.judging.executors import endpoint_of
    from judgesmith.programs.lm import BudgetSpent, lm_client_of
    from judgesmith.signatures import Rubric
    from judgesmith.signatures.plain_data import record_faults

    place = file_place(output, data, keep, like="rubric.yaml")
    rest["fewest"] = min(4, rest["most"])
    with blaming("--without"):
        left_out = _parts(without)
    with record_faults():
        settings = InferenceSettings(without=left_out, **rest)
    run = InferenceRun(
        settings=settings,
        given=Rubric.load(keep) if keep else Rubric(),
        target=target,
        aggregate=aggregate,
        holdout=holdout,
        split_rows=split_rows,
        percent_of_max=percent_of_max,
    )
    dataset = load_data(data)
    fingerprint = run.fingerprint(dataset, choice.model_name or "offline", endpoint_of(choice.lm()))
    if place.exists() and not force:
        with blaming(OUTPUT):
            _refuse_another(place, fingerprint)
    lm = choice.lm(run_id=f"infer {fingerprint}")
    if dry_run:
        with blaming("--target" if target != "auto" else data):
            check_inferable(dataset, run)
        effort = inference_effort(dataset, settings)
        if str(lm.model) != "offline":
            effort += guidelines_effort(dataset, range(len(dataset)))
        estimate = RunEstimate.of(effort, cost_usd=effort.usd(known_price(lm)))
        print_estimate(estimate, as_json=as_json)
        return
    choice.check_key(lm)
    client = lm_client_of(lm)
    assert client is not None
    try:
        blamed = blaming("--target" if target != "auto" else data)
        with counting("questions", quiet=as_json) as tell, blamed:
            found = infer_rubric(dataset, run, lm=lm, on_progress=tell)
    except BudgetSpent as spent:
        _tell_spent(spent, dataset, client.usage, as_json=as_json)
        return
    with blaming(OUTPUT):
        _write(place, found.rubric.to_yaml(), force=force)
    notes = (*dataset.notes, *found.notes)
    if as_json:
        print_json(_summary(found.rubric, output, client.usage))
        say_notes(notes, as_json=True)
    else:
        _print(found, _as_read(data, target, aggregate), output)
        say_notes(notes, as_json=False)
        say(usage_text(client.usage))


# Questions of one inference follow from each other: there is nothing to ask at the same time.
command.params = [one for one in command.params if one.name != "concurrency"]


def _parts(without: str) -> tuple[str, ...]:
    parts = tuple(dict.fromkeys(one.strip() for one in without.split(",") if one.strip()))
    unknown = [one for one in parts if one not in PARTS]
    if unknown:
        raise InputError(f"--without takes {' or '.join(PARTS)}; got {', '.join(unknown)}.")
    if len(parts) == len(PARTS):
        raise InputError(
            "without task and criteria there is nothing to infer.", hint="name one of them."
        )
    return parts


def _refuse_another(place: Path, fingerprint: str) -> None:
    """Refuse to replace a file, unless this very run has made it."""
    from judgesmith.signatures import Rubric

    try:
        made_by = Rubric.load(place).provenance.get("run")
    except ValueError:
        made_by = None
    if made_by != fingerprint:
        what = "holds a rubric from another run" if made_by else "is there already"
        raise ExistingFileError(
            f"{place} {what}.", hint="name another file, or replace it with --force."
        )


@file_faults()
def _write(place: Path, text: str, *, force: bool) -> None:
    """Write a rubric whole or not at all, and never over somebody's edits."""
    if place.exists() and not force:
        if place.read_text(encoding="utf-8") != text:
            raise ExistingFileError(
                f"{place} was edited since this run made it.",
                hint="name another file, or drop the edits with --force.",
            )
        return
    with draft_beside(place) as draft:
        write_synced(draft, text)
        if place.exists():
            draft.chmod(place.stat().st_mode & 0o777)
        put(draft, place)


def _summary(rubric: Rubric, output: str, usage: Usage) -> dict[str, Any]:
    learned = rubric.provenance
    return {
        "rubric": output,
        "task": rubric.task,
        "task_type": rubric.task_type,
        "criteria": {one.name: one.definition for one in rubric.criteria},
        **({"guidelines": [one.text for one in rubric.guidelines]} if rubric.guidelines else {}),
        "provenance": learned,
        **spent_on(usage),
    }


def _tell_spent(spent: Exception, dataset: DataSet, usage: Usage, *, as_json: bool) -> None:
    notes = (
        *dataset.notes,
        f"{spent}",
        "nothing was written; a larger budget continues from here.",
    )
    if as_json:
        nothing = dict.fromkeys(("rubric", "task", "task_type", "criteria", "provenance"))
        print_json({**nothing, **spent_on(usage)})
    say_notes(notes, as_json=as_json)
    if not as_json:
        say(usage_text(usage))


def _print(found: InferenceResult, data: str, output: str) -> None:
    rubric, learned = found.rubric, found.rubric.provenance
    kind = f" ({rubric.task_type})" if rubric.task_type else ""
    say(f"\nTask{kind}, {_taught(learned.get('task'))}")
    say(f"  {shortened(rubric.task, 600) or 'none'}")
    by_name = learned.get("criteria")
    say("\nCriteria, the most important first")
    for one in rubric.criteria:
        own = by_name.get(one.name) if isinstance(by_name, dict) else by_name
        say(f"  {one.name}, {_taught(own)}\n    {shortened(one.definition)}")
    if rubric.guidelines:
        say("\nGuidelines, from raters' words")
    for rule in rubric.guidelines:
        say(f"  {shortened(rule.text)} ({len(rule.rows)} rows)")
    batches = learned.get("batches")
    if isinstance(batches, list) and batches:
        say("\nWhere they come from")
    for batch in batches if isinstance(batches, list) else []:
        assert isinstance(batch, dict)
        read = batch.get("rows")
        assert isinstance(read, dict)
        names = ", ".join(str(name).partition(", ")[0] for name in read.values())
        nothing = "" if batch.get("observations") else " (nothing new)"
        say(f"  batch {batch.get('batch')}{nothing}: {names}")
    others = learned.get("also_proposed")
    say(f"\nEdit {output}: change the task and definitions, delete or reorder criteria, add your")
    say("own as 'name: definition', or with 'worst' and 'best' for what 0 and 100 mean.")
    if isinstance(others, dict) and others:
        say(f"Proposed too, under also_proposed: {', '.join(others)}.")
    say(f"Then: judgesmith compile {data} --rubric {output} -o JUDGE\n")


def _as_read(data: str, target: str, aggregate: str) -> str:
    """Return DATA and the options that say how it is read, to be copied to a command line."""
    words = ["--target", target] if target != "auto" else []
    words += ["--aggregate", aggregate] if aggregate != "mean" else []
    return " ".join([data_words((data,)), shlex.join(words)]).rstrip()


def _taught(learned: object) -> str:
    """Return which batches taught something, in words."""
    numbers = learned.get("batches") if isinstance(learned, dict) else None
    if isinstance(numbers, list):
        names = ", ".join(str(number) for number in numbers)
        return f"from batch{'es' if len(numbers) > 1 else ''} {names}"
    return "as given" if learned == "given" else "not inferred"

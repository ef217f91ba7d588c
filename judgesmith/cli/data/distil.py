"""``judgesmith distil``: a judge's errors and scores as data that a small model learns from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.faults import blaming
from judgesmith.cli.shared.judge_models import asked_models, models_by_name, used
from judgesmith.cli.shared.model_options import ModelChoice
from judgesmith.cli.shared.options import (
    Number,
    WholeNumber,
    dry_run_option,
    json_option,
    map_option,
    reading,
    seed_option,
    shown_option,
    text_options,
)
from judgesmith.cli.shared.places import OUTPUT, check_output
from judgesmith.cli.shared.printing import (
    counted,
    print_estimate,
    print_json,
    print_table,
    say,
    say_notes,
    spent_on,
    usage_text,
)
from judgesmith.cli.shared.progress import counting
from judgesmith.cli.shared.role_options import asking_options

if TYPE_CHECKING:
    from judgesmith.data.items import DataSet


@tool("distil")
@click.argument("data")
@click.argument("judge")
@click.option("-o", "--output", required=True, metavar="FOLDER", help="Output folder.")
@map_option
@text_options
@shown_option(
    "--outputs",
    WholeNumber(1),
    4,
    "Responses per source to annotate, from different systems if possible.",
)
@shown_option("--aspects", WholeNumber(1), 3, "Criteria per response.")
@click.option(
    "--exclude",
    multiple=True,
    metavar="FILE",
    help="Exclude the sources in this file, such as a test set. Repeatable.",
)
@shown_option("--validation", Number(0, 1, below=True), 0.1, "Share of sources for validation.")
@shown_option(
    "--unresolved",
    Number(0, 1),
    0.25,
    "Exclude examples with a larger share of errors that are not in the response.",
)
@seed_option
@asking_options
@dry_run_option
@click.option("--force", is_flag=True, help="Replace data from another run.")
@json_option
def command(
    data: str,
    judge: str,
    output: str,
    columns: str | None,
    exclude: tuple[str, ...],
    dry_run: bool,
    force: bool,
    as_json: bool,
    choice: ModelChoice,
    **rest: Any,
) -> None:
    """Annotate texts in DATA with JUDGE, and write what it says as chats to learn from.

    JUDGE is one that lists errors: an annotator, or a panel of annotators. Ratings in DATA are
    never read. The same command again continues where an interrupted one was. 'judgesmith
    finetune' trains a model on the result.
    """
    from judgesmith.experiments.distil.examples import DistilSettings, distillation
    from judgesmith.experiments.distil.folder import (
        check_distilled,
        distillation_summary,
        save_distilled,
    )
    from judgesmith.programs.artifacts.saved_ensembles import load_saved, pointed_rubric
    from judgesmith.signatures.plain_data import record_faults

    with record_faults():
        settings = DistilSettings.model_validate(rest)
    place = check_output(output)
    with blaming("--map"):
        _check_map(columns)
    dataset = _texts(data, columns)
    others = [_texts(one, None) for one in exclude]
    excluded = {item.source for one in others for item in one}
    saved = load_saved(judge)
    with blaming(judge):
        pointed_rubric(saved)
    with blaming("--exclude" if exclude else data):
        made = distillation(saved, dataset, settings, excluded=excluded)
    asked = [choice.model_name or "", choice.api_base or "", *choice.roles]
    run = settings.fingerprint([saved.fingerprint, dataset.digest, *sorted(excluded), *asked])
    with blaming(OUTPUT):
        check_distilled(place, run, force=force)
    saved, lms = asked_models(saved, choice, run_id=f"distil {run}")
    made = replace(made, judge=saved)
    if dry_run:
        estimate = made.estimate(models_by_name(lms), lms[0])
        print_estimate(estimate, as_json=as_json, outputs=len(made.sample.outputs))
        return
    with counting("outputs", len(made.sample.outputs), quiet=as_json) as tell:
        examples = made.examples(lm=lms[0], concurrency=choice.concurrency, on_progress=tell)
    summary = distillation_summary(
        made, examples, run=run, data=dataset.name, excluded=len(excluded - {""})
    )
    with blaming(OUTPUT):
        save_distilled(place, examples, made.rubric, summary)
    usage = used(*lms)
    if as_json:
        print_json({"output": output, **summary, **spent_on(usage)})
    else:
        _print(summary, output)
        say(usage_text(usage))
    say_notes(_notes(dataset, summary), as_json=as_json)


def _check_map(columns: str | None) -> None:
    from judgesmith.data.columns import column_map

    column_map(columns)


def _texts(data: str, columns: str | None) -> DataSet:
    """Return all rows of a file, whose ratings are not read."""
    from judgesmith.data import stream_items
    from judgesmith.data.items import DataSet
    from judgesmith.data.problems import nothing_in

    with blaming(data):
        rows = stream_items(data, columns=columns, **reading())
        items = tuple(rows)
        if not items:
            raise nothing_in(rows.name)
        return DataSet(name=rows.name, items=items, notes=tuple(rows.notes))


def _print(summary: Mapping[str, Any], output: str) -> None:
    kept = summary["examples"]
    say(
        f"{kept['train']} examples for training and {kept['validation']} for validation in "
        f"{output} (run {summary['run']})"
    )
    rows = [
        [name, str(one["examples"]), str(one["annotations"]), str(one["errors"])]
        for name, one in summary["criteria"].items()
    ]
    print_table("By aspect", rows, header=["aspect", "examples", "annotations", "errors"])
    left_out = [[reason, str(n)] for reason, n in summary["left_out"].items()]
    if left_out:
        print_table("Left out", left_out, header=["reason", "annotations"])


def _notes(dataset: DataSet, summary: Mapping[str, Any]) -> list[str]:
    notes = list(dataset.notes)
    if summary["sources_excluded"]:
        notes.append(
            f"{counted(summary['sources_excluded'], 'source')} left out: shared with what was to "
            "be excluded."
        )
    if not summary["examples"]["train"]:
        notes.append("there is nothing to learn from; see examples.jsonl for the reasons.")
    return notes

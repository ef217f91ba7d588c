"""``judgesmith experiment ablate``: what each part of the method contributes on rated data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.data_options import (
    data_options,
    load_data,
    target_options,
)
from judgesmith.cli.shared.faults import blaming
from judgesmith.cli.shared.model_options import ModelChoice, model_options
from judgesmith.cli.shared.options import Number, dry_run_option, field_options, json_option
from judgesmith.cli.shared.places import OUTPUT, check_output
from judgesmith.cli.shared.printing import (
    print_estimate,
    print_json,
    print_table,
    say,
    say_notes,
    spent_on,
    usage_text,
)
from judgesmith.cli.shared.progress import stage_progress
from judgesmith.errors import shortened
from judgesmith.experiments.compile.fields import CompileFields

if TYPE_CHECKING:
    from judgesmith.experiments.ablate.report import AblationTable


@tool("ablate", old_names={"--rows": "--parts"})
@click.argument("data")
@click.option("-o", "--output", required=True, metavar="FOLDER", help="Folder for the table.")
@data_options
@target_options
@click.option(
    "--parts",
    "rows",
    default="",
    metavar="NAME,…",
    help="Components to ablate [default: all].",
)
@field_options(
    CompileFields,
    *("n_demonstrations", "n_rounds", "holdout", "seed"),
    holdout={
        "default": 0.75,
        "type": Number(0, 1, above=True, below=True),
        "help": "Share of sources held out to compare the rows.",
    },
)
@model_options
@dry_run_option
@click.option("--force", is_flag=True, help="Replace existing results, including this run's.")
@json_option
def command(
    data: str,
    output: str,
    rows: str,
    dry_run: bool,
    force: bool,
    as_json: bool,
    choice: ModelChoice,
    **rest: Any,
) -> None:
    """Say what each part of the method is worth on the ratings in DATA.

    Every row of the table is a judge that was compiled without one part, and each is kept in
    FOLDER as soon as it is made. The same command again makes the rows that are not there yet.
    When the budget ends early, the table so far is written, marked as incomplete. DATA is
    described under 'judgesmith check --help'.
    """
    from judgesmith.experiments import CompileSettings
    from judgesmith.experiments.ablate.rows import chosen_rows
    from judgesmith.experiments.ablate.table import ABLATION, ablation, estimate_ablation
    from judgesmith.experiments.compile.chosen_targets import chosen_targets
    from judgesmith.experiments.runs import check_run
    from judgesmith.programs.judging.executors import endpoint_of
    from judgesmith.programs.lm import lm_client_of
    from judgesmith.signatures.plain_data import record_faults

    given = [name.strip() for name in rows.split(",") if name.strip()]
    with blaming("--parts"):
        names = chosen_rows(given if rows else None)
    folder = check_output(output)
    with record_faults():
        settings = CompileSettings.model_validate(rest)
    dataset = load_data(data)
    with blaming("--target" if settings.target != ("auto",) else data):
        chosen_targets(dataset, settings)
    run = settings.fingerprint(dataset, choice.model_name or "offline", endpoint_of(choice.lm()))
    lm = choice.lm(run_id=f"ablate {run}")
    with blaming(OUTPUT):
        check_run(folder, run, kind=ABLATION, overwrite=force)
    if dry_run:
        with blaming(data):
            estimate = estimate_ablation(dataset, settings, lm, rows=names)
        print_estimate(estimate, as_json=as_json)
        say_notes([_SHARED], as_json=as_json)
        return
    choice.check_key(lm)
    with stage_progress(quiet=as_json) as progress, blaming(data):
        table = ablation(
            dataset,
            settings,
            lm=lm,
            rows=names,
            folder=folder,
            overwrite=force,
            on_progress=progress,
            concurrency=choice.concurrency,
        )
    client = lm_client_of(lm)
    assert client is not None
    if as_json:
        spent = spent_on(client.usage)
        print_json({"folder": str(folder), **table.to_dict(), "asked": table.calls(), **spent})
    else:
        report(table, folder)
    notes = _notes(table)
    say_notes((*dataset.notes, *notes, *client.adaptations), as_json=as_json)
    if not as_json:
        say(f"model: {table.model}; {usage_text(client.usage)}")
        say(f"judges and table are in {folder} (run {table.run})")


_SHARED = (
    "what rows share is counted for each of them, but for rows that ask just the same; the ledger "
    "answers it from what was asked before, and without that ledger all is asked again."
)


def _notes(table: AblationTable) -> list[str]:
    from judgesmith.experiments.ablate.report import sentences

    return list(sentences(table))


def report(table: AblationTable, folder: Path | None = None) -> None:
    from judgesmith.experiments.ablate.report import (
        CHOSEN_HEADER,
        HEADER,
        TITLES,
        chosen_rows_of,
        effect_rows,
        table_rows,
    )
    from judgesmith.experiments.ablate.rows import BLOCKS

    say(f"{table.data}: {table.target}")
    if not table.rows:
        where = f", in {folder}" if folder else ""
        say(f"no row is finished; a larger budget continues from here{where}.")
    asked = {(one["block"], one["row"]): one for one in table.calls()}
    for block in BLOCKS:
        lines = table_rows(table, block)
        if not lines:
            continue
        first = next(row for row in table.rows if row.block == block).agreement["pearson"]
        basis = f"{first.n} rows of {first.n_groups} sources, {first.confidence:.0%} intervals"
        print_table(f"{TITLES[block]}, held out: {basis}", lines, header=HEADER)
        counted = [asked[block, line[0]] for line in lines]
        print_table(
            f"{TITLES[block]}: how rows were chosen, and what they asked",
            [
                [*line, *("unknown" if one[name] is None else str(one[name]) for name in _ASKED)]
                for line, one in zip(chosen_rows_of(table, block), counted, strict=True)
            ],
            header=(*CHOSEN_HEADER, "new calls", "cached"),
        )
    if table.effects:
        print_table(
            "What explanations add, on the same rows",
            effect_rows(table),
            header=("", "Pearson", "Spearman", "Kendall"),
        )
    if table.criteria:
        print_table(
            "Criteria side by side (definitions are in table.md)",
            [
                [
                    shortened(one.name, 30),
                    *("x" if side in one.definitions else "-" for side in table.sides),
                ]
                for one in table.criteria
            ],
            header=("criterion", *table.sides),
        )
    say()


_ASKED = ("new", "recorded")

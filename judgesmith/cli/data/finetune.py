"""``judgesmith distil finetune``: an adapter that makes a small model answer as a judge did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.faults import blaming
from judgesmith.cli.shared.options import (
    Command,
    Number,
    WholeNumber,
    dry_run_option,
    json_option,
    seed_option,
    shown_option,
    together,
)
from judgesmith.cli.shared.places import OUTPUT, check_output
from judgesmith.cli.shared.printing import counted, print_json, say
from judgesmith.cli.shared.progress import stage_progress


def _recipe_options(command: Command) -> Command:
    """Add the options that say how it is trained; their defaults are the published ones."""

    def one(name: str, kind: click.ParamType[Any], default: float, text: str) -> Any:
        return shown_option(name, kind, default, text)

    return together(
        command,
        one("--rank", WholeNumber(1), 16, "Rank of the adapter."),
        one("--alpha", WholeNumber(1), 32, "Scaling of the adapter; divided by the rank."),
        one("--epochs", Number(0, above=True), 1.0, "Passes over the data."),
        one(
            "--learning-rate", Number(0, above=True), 2e-4, "Peak learning rate, after the warm-up."
        ),
        one("--warmup", Number(0, 1, below=True), 0.05, "Share of steps for the warm-up."),
        one("--weight-decay", Number(0), 0.01, "Weight decay of AdamW."),
        shown_option(("--examples-per-step", "batch"), WholeNumber(1), 16, "Examples per step."),
        one("--at-once", WholeNumber(1), 1, "Examples in memory at once."),
        one("--longest", WholeNumber(1), 4096, "Exclude examples with more tokens."),
        click.option("--max-steps", "steps", type=WholeNumber(1), help="Maximum number of steps."),
    )


@tool("finetune", old_names={"--batch": "--examples-per-step", "--steps": "--max-steps"})
@click.argument("folders", metavar="DATA…", nargs=-1, required=True)
@click.option(
    "--base",
    required=True,
    metavar="MODEL",
    help="Chat model: a folder, or a name to download.",
)
@click.option("-o", "--output", required=True, metavar="ADAPTER", help="Folder for the adapter.")
@_recipe_options
@seed_option
@dry_run_option
@click.option("--force", is_flag=True, help="Replace an adapter from another run.")
@json_option
def command(
    folders: tuple[str, ...],
    base: str,
    output: str,
    dry_run: bool,
    force: bool,
    as_json: bool,
    **rest: Any,
) -> None:
    """Train an adapter of MODEL on the folders that 'judgesmith distil' has written.

    Needs the libraries of judgesmith[finetune]. One folder per task is usual; they are learned
    together.
    """
    from judgesmith.experiments.distil.chats import Recipe, read_chats
    from judgesmith.experiments.distil.training import (
        check_base,
        finetune,
        trained_before,
        training_run,
    )

    place = check_output(output)
    with blaming("--at-once"):
        recipe = Recipe.model_validate(rest)
    with blaming(folders[0] if len(folders) == 1 else "DATA"):
        chats = read_chats(folders)
    with blaming(OUTPUT):
        summary = trained_before(place, training_run(chats, base, recipe), force=force)
    with blaming("--base"):
        check_base(base)
    if dry_run:
        _print_planned(len(chats.train), len(chats.validation), recipe.batch, as_json=as_json)
        return
    if summary is None:
        with stage_progress(quiet=as_json) as progress, blaming("--base"):
            summary = finetune(chats, base, recipe, place, on_progress=progress)
    if as_json:
        print_json({"output": output, **summary})
    else:
        _print(summary, output)


def _print_planned(n_train: int, n_held: int, batch: int, *, as_json: bool) -> None:
    steps = -(-n_train // batch)
    if as_json:
        print_json({"train": n_train, "validation": n_held, "steps_per_epoch": steps})
        return
    say(
        f"{counted(n_train, 'example')} for training, {counted(steps, 'step')} an epoch; "
        f"{n_held} for validation"
    )


def _print(summary: Mapping[str, Any], output: str) -> None:
    held = summary["validation_loss"]
    looked = "" if held is None else f", {held:.4f} on {summary['n_validation']} for validation"
    say(f"adapter of {summary['base']} in {output} (run {summary['run']})")
    say(
        f"{counted(summary['n_train'], 'example')}, {summary['n_too_long']} left out as too long; "
        f"{counted(summary['steps'], 'step')} on {summary['device']}"
    )
    say(f"loss {summary['loss']:.4f}{looked}")

"""``judgesmith cache``: inspect, prune, export or repair the cached answers."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from judgesmith.cli.shared.faults import OptionError
from judgesmith.cli.shared.model_options import ledger_option
from judgesmith.cli.shared.options import Number, json_option
from judgesmith.cli.shared.places import OUTPUT, file_place, refuse_existing
from judgesmith.cli.shared.printing import print_json, print_table, say
from judgesmith.drafts import draft_beside, put
from judgesmith.errors import file_faults


@click.group("cache")
def command() -> None:
    """Inspect, prune, export or repair the cached answers."""


@command.command("stats")
@ledger_option
@json_option
def stats(ledger: str, as_json: bool) -> None:
    """Say what the ledger holds, by model."""
    from judgesmith.programs.lm import ResponseCache
    from judgesmith.programs.lm.cache.admin import cache_stats

    found = cache_stats(ResponseCache(ledger))
    if as_json:
        print_json(asdict(found))
        return
    say(
        f"{found.path}: {found.answers} answers from {found.calls} calls, "
        f"{found.size_bytes / 1e6:.1f} MB"
    )
    rows = [
        [one.model, one.endpoint, str(one.answers), str(one.input_tokens), str(one.output_tokens)]
        for one in found.models
    ]
    header = ["model", "endpoint", "answers", "tokens in", "tokens out"]
    if rows:
        print_table("", rows, header=header, left=2)


@command.command("prune")
@ledger_option
@click.option("--older-than-days", type=Number(0), help="Only answers older than this many days.")
@click.option("--model", metavar="NAME", help="Only answers of this provider/model.")
@json_option
def prune_command(
    ledger: str, older_than_days: float | None, model: str | None, as_json: bool
) -> None:
    """Take answers out; what they answered will be asked, and paid for, again.

    The spending of runs is kept. To start anew, delete the file.
    """
    from judgesmith.programs.lm import ResponseCache
    from judgesmith.programs.lm.cache.admin import prune as pruned
    from judgesmith.programs.lm.cache.store import shown_place

    if older_than_days is None and model is None:
        raise OptionError(
            "all answers would go.",
            option="--older-than-days",
            hint="say which ones: --older-than-days, --model or both.",
        )
    n = pruned(ResponseCache(ledger), older_than_days=older_than_days, model=model)
    if as_json:
        print_json({"ledger": shown_place(ledger), "removed": n})
    else:
        say(f"{n} answers taken out of {shown_place(ledger)}")


@command.command("export")
@ledger_option
@click.option("-o", "--output", metavar="FILE", help="JSON Lines file [default: standard output].")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@json_option
def export_command(ledger: str, output: str | None, force: bool, as_json: bool) -> None:
    """Write every answer as JSON Lines."""
    from judgesmith.programs.lm import ResponseCache
    from judgesmith.programs.lm.cache.admin import export as exported
    from judgesmith.programs.lm.cache.store import shown_place

    if output is None:
        if as_json:
            raise OptionError(
                "--json leaves no room for the answers.", option=OUTPUT, hint="name a file with -o."
            )
        with file_faults("standard output"):
            exported(ResponseCache(ledger), sys.stdout)
        return
    place = file_place(output, ledger, like="answers.jsonl")
    refuse_existing(place, output, force=force)
    with draft_beside(place) as draft:
        draft.chmod(0o600)  # as private as the ledger itself
        with draft.open("w", encoding="utf-8") as file:
            n = exported(ResponseCache(ledger), file)
        put(draft, place)
    if as_json:
        print_json({"ledger": shown_place(ledger), "output": output, "answers": n})
    else:
        say(f"{n} answers in {output}")


@command.command("rescue")
@ledger_option
@click.option("-o", "--output", required=True, metavar="NEW", help="New cache file.")
@json_option
def rescue_command(ledger: str, output: str, as_json: bool) -> None:
    """Take what is sound of a damaged ledger into a new one.

    The damaged file stays as it is. Answers that are left behind will be asked for again.
    """
    from judgesmith.programs.lm.cache.admin import rescue as rescued
    from judgesmith.programs.lm.cache.store import is_postgres, shown_place

    if is_postgres(ledger):
        raise OptionError(
            "what is sound of a database is for its backups to say.",
            option="--ledger",
            hint="restore it from one.",
        )
    place = file_place(output, ledger, like="ledger.sqlite")
    if place.exists():
        raise OptionError(
            f"{output} is there already.", option=OUTPUT, hint="name a file that is not."
        )
    found = rescued(Path(ledger), place)
    if as_json:
        print_json({"ledger": shown_place(ledger), "output": output, **asdict(found)})
        return
    say(f"{found.answers} answers in {output}")
    if found.altered:
        say(f"{found.altered} were left behind, because they are not as they were kept")

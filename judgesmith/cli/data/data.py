"""``judgesmith data``: convert published datasets into rated rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import json_option, shown_option
from judgesmith.cli.shared.places import rows_place
from judgesmith.cli.shared.printing import counted, print_json, print_table, say, say_wrapped

if TYPE_CHECKING:
    from judgesmith.data.convert import Converted


@click.group("data")
def command() -> None:
    """Convert public datasets, as they are published, into rows of rated data."""


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """Say which datasets can be converted, and which files they are made of."""
    from judgesmith.data.convert import CONVERSIONS

    sets = list(CONVERSIONS.values())
    if as_json:
        print_json(
            {
                "sets": [
                    {"name": one.name, "task": one.task, "files": one.files, "home": one.home}
                    for one in sets
                ]
            }
        )
        return
    rows = [[one.name, one.task, one.home] for one in sets]
    print_table("", rows, header=["name", "task", "published at"], left=3)
    say()
    for one in sets:
        say_wrapped(f"{one.name}: {one.files}", hang=2)


@command.command("convert")
@click.argument("name")
@click.argument("files", nargs=-1, required=True)
@click.option("-o", "--output", required=True, metavar="OUT.jsonl", help="Output file.")
@click.option("--force", is_flag=True, help="Replace an existing output file.")
@shown_option(
    "--assessor",
    click.Choice(["human", "llm", "code"]),
    "human",
    "Of traces and logs: whose assessments become ratings.",
)
@json_option
def converted(
    name: str, files: tuple[str, ...], output: str, force: bool, assessor: str, as_json: bool
) -> None:
    """Write the published FILES of the dataset NAME to OUT.jsonl, as rows of rated data.

    NAME may also be a tool whose traces or logs have assessments, such as mlflow or promptfoo.

    'judgesmith data list' names the sets, and their files; each file may be packed (.gz). OUT.jsonl
    appears whole, or, where anything in FILES cannot be read, not at all.
    """
    from judgesmith.data.convert import conversion_named, convert
    from judgesmith.data.formats.opening import open_rows
    from judgesmith.data.formats.text import json_rows

    with blaming("NAME"):
        conversion = conversion_named(name)
    place = rows_place(output, *files, like=f"{conversion.name}.jsonl", force=force)
    twice = next((one for one in files if files.count(one) > 1), None)
    if twice is not None:
        raise OptionError(f"{twice} is given twice.", option="FILES", hint="name each file once.")
    # Packed logs of Inspect have an ending of their own.
    other = json_rows if conversion.name == "inspect" else None
    for one in files:
        with blaming(one):
            open_rows(one, reader=other)  # which reads nothing yet
    with blaming("FILES"):
        made = convert(conversion, map(Path, files), place, assessor=assessor)
    if as_json:
        print_json({"output": output, **made.to_dict()})
    else:
        _print(made, output)


def _print(made: Converted, output: str) -> None:
    systems = f" by {counted(len(made.systems), 'system')}" if made.systems else ""
    texts, sources = counted(made.n_rows, "text"), counted(len(made.sources), "source")
    say(f"{made.name}: {texts} about {sources}{systems} in {output}")
    rows = [[name, str(n)] for name, n in made.ratings.items()]
    print_table("", rows, header=["criterion", "ratings"])
    for reason, n in made.left_out.items():
        say_wrapped(f"left out: {reason}: {n}", hang=2)
    for kind, n in made.changed.items():
        say_wrapped(f"note: {kind}: {n}", hang=6)

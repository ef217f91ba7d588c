"""``judgesmith label status``, ``export`` and ``import``: the ratings of a project folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import click

from judgesmith.cli.shared.command import ToolCommand
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import Command, json_option
from judgesmith.cli.shared.places import OUTPUT, file_place, refuse_existing
from judgesmith.cli.shared.printing import counted, print_json, print_table, say, say_notes

if TYPE_CHECKING:
    from judgesmith.studio.project import Project


@click.group("ratings")
def command() -> None:
    """Summarise, export and import the ratings of the project in a folder."""


def folder_argument(command: Command) -> Command:
    """Add the folder, which is this one by default."""
    return click.argument("folder", default=".", metavar="[FOLDER]")(command)


@contextmanager
def _opened(folder: str) -> Iterator[Project]:
    from judgesmith.studio.project import Project

    with blaming(folder):
        project = Project(folder)
    with closing(project.store):
        yield project


@command.command("status", cls=ToolCommand)
@folder_argument
@json_option
def status(folder: str, as_json: bool) -> None:
    """Print what each rater of the project in FOLDER did, and how steady the rater is."""
    with _opened(folder) as project:
        found, n_stale, n_rows = project.summary(), len(project.stale()), len(project)
    if as_json:
        print_json({"rows": n_rows, "raters": found, "stale": n_stale})
        return
    say(f"{counted(n_rows, 'row')}, {counted(len(found), 'rater')}")
    if found:
        print_table(
            "Raters",
            [
                [
                    one["rater"],
                    *map(str, (one["rows"], one["skipped"])),
                    f"{one['same_again']} of {one['seen_again']}",
                    ", ".join(f"{value} {n}" for value, n in sorted(one["values"].items())),
                ]
                for one in found
            ],
            header=["rater", "rows", "skipped", "same again", "values"],
        )
    say_notes(_stale(n_stale), as_json=False)


@command.command("export", cls=ToolCommand)
@folder_argument
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="OUT",
    help="File to write: .csv for a table of ratings, .jsonl for data to compile from.",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@json_option
def write_out(folder: str, output: str, force: bool, as_json: bool) -> None:
    """Write the ratings of the project in FOLDER.

    A table has one rating a line, with rater, reason, and the versions of rubric and labels;
    'label import' reads it. JSON Lines have one row of data a line, for 'compile'.
    """
    from judgesmith.studio.exchange import write_ratings

    place = file_place(output, like="ratings.csv")
    if place.suffix not in (".csv", ".jsonl"):
        raise OptionError(
            "ratings are written as CSV or JSON Lines.",
            option=OUTPUT,
            hint=f"name a file in .csv or .jsonl, not {output}.",
        )
    refuse_existing(place, output, force=force)
    with _opened(folder) as project, blaming(OUTPUT):
        file_place(output, *project.file.data, str(project.file.path), like="ratings.csv")
        n_stale = len(project.stale())
        if place.suffix == ".csv":
            n, what = write_ratings(project, place, overwrite=force), "rating"
        else:
            n, what = len(project.write_export(place).rows), "rated row"
    if as_json:
        print_json({"output": output, f"{what.replace(' ', '_')}s": n, "stale": n_stale})
    else:
        say(f"{counted(n, what)} in {output}")
    say_notes(_stale(n_stale), as_json=as_json)


def _stale(n: int) -> list[str]:
    if not n:
        return []
    return [f"{counted(n, 'rating')} with a value that the scale has no longer: not in .jsonl."]


@command.command("import", cls=ToolCommand)
@click.argument("table", metavar="RATINGS.csv")
@folder_argument
@json_option
def add(table: str, folder: str, as_json: bool) -> None:
    """Add the ratings of a table that 'label export' wrote to the project in FOLDER.

    A rating that differs takes the place of the one there was; the history keeps both. If one
    cannot be read, none is added.
    """
    from judgesmith.studio.exchange import import_ratings

    with _opened(folder) as project, blaming(table):
        found = import_ratings(project, table)
    if as_json:
        print_json(dataclasses.asdict(found))
    else:
        say(f"{found.new} new, {found.changed} changed, {found.unchanged} unchanged")
    notes = [f"{counted(found.without_row, 'rating')} of rows that the data has not: left out."]
    say_notes(notes if found.without_row else [], as_json=as_json)

"""``judgesmith report``: the page of a run, for people to read."""

from __future__ import annotations

from pathlib import Path

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import given_options, json_option, shown_option
from judgesmith.cli.shared.places import page_place
from judgesmith.cli.shared.printing import counted, print_json, say, say_notes


@tool("report")
@click.argument("run", metavar="RUN")
@shown_option(("-o", "--output"), str, "report.html", "Page to write.", metavar="PAGE.html")
@click.option(
    "--spec",
    metavar="SPEC.yaml",
    help="Spec in its original place, to find the data [default: the copy in RUN].",
)
@click.option("--figures/--no-figures", default=True, help="Draw figures.")
@click.option("--force", is_flag=True, help="Replace an existing page.")
@json_option
def command(
    run: str, output: str, spec: str | None, figures: bool, force: bool, as_json: bool
) -> None:
    """Write what came out of the experiment in the folder RUN, or a judge's card, as one page.

    It needs no network and no other file: leaderboards, what was compiled and how it agrees
    with people, and the texts on which they differ, to be sorted and searched. Texts are read
    from the files that the specification names. Of the folder of a judge it is the card: how far
    to trust it, and its test rows.
    """
    place = page_place(output, like="report.html", force=force)
    if (Path(run) / "judge.json").is_file():
        _write_card(run, place, as_json=as_json)
        return
    from judgesmith.experiments.report import read_run, texts_of, write_report
    from judgesmith.experiments.runs.folder import SPEC_FILE

    if spec is not None and not Path(spec).is_file():
        raise OptionError(
            f"there is no file {spec}.", option="--spec", hint="name the one that was run."
        )
    with blaming(run):
        found = read_run(run)
    sets, why = texts_of(spec or Path(run) / SPEC_FILE)
    done = write_report(place, found, sets, figures=figures, why=why)
    notes = [f"texts are not shown: {why}"] if why else []
    if why and spec is None:
        notes.append("give --spec with the specification where it was run from.")
    if done.shown < done.n_rows:
        notes.append(
            f"a page holds 3 MB: {done.shown} of {done.n_rows} rows can be read on it, those with "
            "the largest differences."
        )
    if done.cells < done.n_cells:
        notes.append(f"{done.cells} of {done.n_cells} cells have a part of their own on the page.")
    if as_json:
        print_json(
            {
                "output": str(place),
                "bytes": done.n_bytes,
                "cells": done.cells,
                "rows": done.shown,
                "rows_in_all": done.n_rows,
                "notes": notes,
            }
        )
    else:
        say(f"{counted(done.cells, 'cell')} and {counted(done.shown, 'row')} in {place}")
    say_notes(notes, as_json=as_json)


def _write_card(judge: str, place: Path, *, as_json: bool) -> None:
    from judgesmith.drafts import put_text
    from judgesmith.experiments.evaluate.card import card_html

    refused = given_options("spec", "figures")
    if refused:
        raise OptionError(
            f"{refused[0]} is about experiments, and {judge} is a judge.",
            option=refused[0],
            hint="leave it out.",
        )
    with blaming("RUN"):
        page = card_html(judge)
    put_text(place, page)
    if as_json:
        print_json({"output": str(place), "bytes": len(page.encode())})
    else:
        say(f"the card of {judge} in {place}")

"""``judgesmith sheet``: ask people about a judge's explanations, and read what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from judgesmith.cli.label.errors_sheet import read_errors_command, write_errors
from judgesmith.cli.label.sheet_reading import (
    cut_notes,
    print_agreement_of_raters,
    reading_options,
    tell_sheets,
    three_digits,
    writing_options,
)
from judgesmith.cli.shared.agreement import estimate_text
from judgesmith.cli.shared.command import ToolCommand
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import WholeNumber
from judgesmith.cli.shared.places import OUTPUT, file_place
from judgesmith.cli.shared.printing import print_json, print_table, say, say_notes

if TYPE_CHECKING:
    from judgesmith.experiments.labels.explanation_sheet import ExplanationRatings


@click.group("sheet")
def command() -> None:
    """Ask people about a judge's explanations, and read what they say."""


command.add_command(write_errors)
command.add_command(read_errors_command)


@command.command("write", cls=ToolCommand)
@writing_options
@click.option(
    "-n",
    "--rows",
    "n_items",
    type=WholeNumber(3),
    default=50,
    show_default=True,
    help="Number of scored responses: a third each with low, middle and high scores.",
)
@click.option("--scale", metavar="LOW..HIGH", help="Scale of the overall scores, shown to raters.")
def write(
    scores: str,
    data: str,
    output: str,
    n_items: int,
    seed: int,
    columns: str | None,
    scale: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write a sheet for people who rate explanations.

    It has one row per explanation in SCORES, of texts drawn from low, middle and high scores.

    SCORES is a file that 'score' wrote, DATA what it scored. Each rater fills in a copy, and
    names it after themselves; 'sheet read' reads the copies.
    """
    import numpy as np

    from judgesmith.data.columns import column_map
    from judgesmith.data.formats.opening import open_rows
    from judgesmith.experiments.labels.explanation_answers import QUESTIONS
    from judgesmith.experiments.labels.explanation_sheet import write_sheet
    from judgesmith.signatures import Scale

    place = file_place(output, scores, data, like="sheet.csv")
    if scores == data == "-":
        raise OptionError("standard input is one file.", option="DATA", hint="name the other.")
    with blaming("--map"):
        column_map(columns)
    with blaming("--scale"):
        form = None if scale is None else Scale.parse(scale)
    for given in (scores, data):
        with blaming(given):
            open_rows(given)
    with blaming(OUTPUT):
        found = write_sheet(
            scores,
            data,
            place,
            rng=np.random.default_rng(seed),
            n_items=n_items,
            columns=columns,
            scale=form,
            overwrite=force,
        )
    notes = []
    if found.n_items < n_items:
        notes.append(
            f"there are {found.n_items} texts with a score and an explanation, fewer than --rows "
            f"{n_items}; all of them are asked about."
        )
    if scale is None:
        notes.append("the sheet does not say what overall scores are out of; give it with --scale.")
    notes += cut_notes(found.n_cut)
    if as_json:
        print_json(
            {
                "output": output,
                "sheet": found.sheet,
                "items": found.n_items,
                "rows": found.n_rows,
                "unscored": found.n_unscored,
                "unexplained": found.n_unexplained,
                "cut": found.n_cut,
            }
        )
        say_notes(notes, as_json=True)
        return
    say(f"{found.n_rows} explanations of {found.n_items} scored texts in {output}")
    if found.n_unscored or found.n_unexplained:
        say(
            f"{found.n_unscored} texts have no score, {found.n_unexplained} a score without "
            "any explanation; none of them is in it"
        )
    print_table("Questions", [[one.name, one.text] for one in QUESTIONS], left=2)
    say_notes(notes, as_json=False)


@command.command("read", cls=ToolCommand)
@reading_options
def read(sheets: tuple[str, ...], as_json: bool) -> None:
    """Read filled sheets: what raters say, and how far they agree.

    Give the copies of one sheet, one file per rater, each named after its rater.
    """
    from judgesmith.experiments.labels.explanation_sheet import read_sheets

    tell_sheets(sheets, read_sheets, _print, what="explanations", as_json=as_json)


def _print(found: ExplanationRatings) -> None:
    raters = list(found.n_missing)
    asked = found.questions
    print_table(
        "Answers: share of yes (usefulness: mean of 1 to 5), 95% intervals over texts",
        [
            [name, estimate_text(q.value), str(q.n_filled), str(q.n_blank)]
            for name, q in asked.items()
        ],
        header=["question", "value", "filled in", "blank"],
    )
    print_agreement_of_raters(found)
    of_parts = {name: q for name, q in asked.items() if q.parts}
    parts = list(dict.fromkeys(part for q in of_parts.values() for part in q.parts))
    print_table(
        "By part: share of yes",
        [[part, *(three_digits(q.parts[part].value) for q in of_parts.values())] for part in parts],
        header=["part", *of_parts],
    )
    print_table(
        "By rater",
        [
            [name, *(three_digits(q.raters[rater].value) for rater in raters)]
            for name, q in asked.items()
        ],
        header=["question", *raters],
    )

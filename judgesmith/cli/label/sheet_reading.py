"""What the commands that write sheets, and read filled ones, share, whatever the sheets ask."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from judgesmith.cli.shared.agreement import estimate_text, three_digits
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import Command, json_option, map_option, seed_option, together
from judgesmith.cli.shared.printing import counted, print_json, print_table, say, say_notes

if TYPE_CHECKING:
    from judgesmith.experiments.labels.annotation import WrittenAnnotations
    from judgesmith.experiments.labels.explanation_answers import SheetRatings
    from judgesmith.experiments.labels.explanation_sheet import WrittenSheet

Found = TypeVar("Found", bound="SheetRatings[Any]")


def reading_options(command: Command) -> Command:
    """Add the files, and ``--json``."""
    return together(
        command,
        click.argument("sheets", nargs=-1, required=True, metavar="SHEET.csv…"),
        json_option,
    )


def writing_options(command: Command) -> Command:
    """Add the two files that a sheet is about, and the file that it is written to."""
    return together(
        command,
        click.argument("scores"),
        click.argument("data"),
        click.option("-o", "--output", required=True, metavar="SHEET.csv", help="Sheet to write."),
        click.option(
            "--force", is_flag=True, help="Replace an existing sheet, including its answers."
        ),
        seed_option,
        map_option,
        json_option,
    )


def plain_counts(found: WrittenSheet | WrittenAnnotations) -> dict[str, Any]:
    """Return what a sheet holds, for ``--json``."""
    return {
        one.name.removeprefix("n_"): getattr(found, one.name) for one in dataclasses.fields(found)
    }


def cut_notes(n_cut: int) -> list[str]:
    """Return a note of cells that could not be held, if there are any."""
    if not n_cut:
        return []
    return [f"{n_cut} cells hold more than a spreadsheet can; they say what was left out."]


def tell_sheets(
    sheets: Sequence[str],
    read: Callable[[Sequence[str]], Found],
    show: Callable[[Found], None],
    *,
    what: str,
    as_json: bool,
) -> None:
    from judgesmith.data.formats.opening import open_rows

    if "-" in sheets:
        raise OptionError(
            "a rater is called like the file.", option="-", hint="name files, not '-'."
        )
    for sheet in sheets:
        with blaming(sheet):
            open_rows(sheet)
    found = read(sheets)
    if as_json:
        print_json(found.to_dict())
    else:
        raters = counted(len(found.n_missing), "rater")
        say(f"{raters} on {found.n_rows} {what} of {found.n_items} texts (sheet {found.sheet})")
        show(found)
    notes = [
        f"{counted(n, 'row')} of the sheet not in {rater}'s file: taken as blank."
        for rater, n in found.n_missing.items()
        if n
    ]
    say_notes(notes, as_json=as_json)


def print_agreement_of_raters(found: SheetRatings[Any]) -> None:
    print_table(
        "Agreement of raters: Krippendorff's alpha, and the share of equal pairs of answers",
        [
            [name, estimate_text(one.alpha), three_digits(one.agreement)]
            for name, one in found.questions.items()
        ],
        header=["question", "alpha", "equal"],
    )

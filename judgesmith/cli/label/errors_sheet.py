"""``judgesmith label write-errors`` and ``read-errors``: ask people about marked errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from judgesmith.cli.label.sheet_reading import (
    cut_notes,
    print_agreement_of_raters,
    reading_options,
    tell_sheets,
    writing_options,
)
from judgesmith.cli.shared.agreement import estimate_text
from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.faults import blaming
from judgesmith.cli.shared.options import WholeNumber
from judgesmith.cli.shared.places import OUTPUT, file_place
from judgesmith.cli.shared.printing import print_json, print_table, say, say_notes
from judgesmith.cli.trust.discern_texts import texts_in

if TYPE_CHECKING:
    from judgesmith.experiments.labels.annotation import AnnotationRatings


@tool("write-errors")
@writing_options
@click.option(
    "-n",
    "--rows",
    "n_items",
    type=WholeNumber(1),
    default=40,
    show_default=True,
    help="Number of responses with errors.",
)
def write_errors(
    scores: str,
    data: str,
    output: str,
    n_items: int,
    seed: int,
    columns: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write a sheet for people who say whether marked errors are errors.

    It has one row per error in SCORES, which 'score' wrote with a judge that looks for errors, of
    texts drawn from those with one. DATA is what it scored. Each rater fills in a copy, and names
    it after themselves; 'sheet read-errors' reads the copies.
    """
    import numpy as np

    from judgesmith.cli.trust.errors import found_in
    from judgesmith.experiments.labels.annotation import LABELLED, write_annotation_sheet

    place = file_place(output, scores, data, like="sheet.csv")
    dataset = texts_in(data, columns)
    errors = found_in(scores, dataset)
    with blaming(OUTPUT):
        found = write_annotation_sheet(
            errors, place, rng=np.random.default_rng(seed), n_items=n_items, overwrite=force
        )
    notes = list(dataset.notes)
    if found.n_items < n_items:
        notes.append(
            f"there are {found.n_items} texts with an error, fewer than --rows {n_items}; all of "
            "them are asked about."
        )
    if found.n_more:
        notes.append(f"{found.n_more} errors beyond the 50th of a text are not asked about.")
    notes += cut_notes(found.n_cut)
    if as_json:
        print_json(
            {
                "output": output,
                "sheet": found.sheet,
                "items": found.n_items,
                "rows": found.n_rows,
                "unscored": found.n_unscored,
                "without": found.n_without,
                "more": found.n_more,
                "cut": found.n_cut,
            }
        )
    else:
        say(f"{found.n_rows} errors of {found.n_items} texts in {output}")
        if found.n_unscored or found.n_without:
            say(
                f"{found.n_unscored} texts are unscored, and in {found.n_without} nothing is "
                "marked; none of them is in it"
            )
        for one in LABELLED:
            print_table(f"{one.name}: {one.text}", [[label] for label in one.labels])
    say_notes(notes, as_json=as_json)


@tool("read-errors")
@reading_options
def read_errors_command(sheets: tuple[str, ...], as_json: bool) -> None:
    """Read filled sheets about errors: what raters say, and how far they agree.

    Give the copies of one sheet, one file per rater, each named after its rater.
    """
    from judgesmith.experiments.labels.annotation import read_annotation_sheets

    tell_sheets(sheets, read_annotation_sheets, _print, what="errors", as_json=as_json)


def _print(found: AnnotationRatings) -> None:
    for name, one in found.questions.items():
        print_table(
            f"{name}: {one.n_filled} filled in, {one.n_blank} blank, 95% intervals over texts",
            [
                [label, estimate_text(share), *(str(one.raters[r][label]) for r in one.raters)]
                for label, share in one.shares.items()
            ],
            header=["answer", "share", *one.raters],
        )
    print_agreement_of_raters(found)
    reasons = list(next(iter(found.crossed.values())))
    print_table(
        "Both answers together",
        [[label, *map(str, counts.values())] for label, counts in found.crossed.items()],
        header=["span_is / explanation_is", *reasons],
    )

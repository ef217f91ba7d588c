"""``judgesmith sheet``: ask people about a judge's explanations or errors, and read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from judgesmith.cli.label.sheet_reading import (
    cut_notes,
    plain_counts,
    print_agreement_of_raters,
    reading_options,
    tell_sheets,
    writing_options,
)
from judgesmith.cli.shared.agreement import estimate_text, three_digits
from judgesmith.cli.shared.command import ToolCommand
from judgesmith.cli.shared.data_options import texts_in
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import WholeNumber, shown_option
from judgesmith.cli.shared.places import OUTPUT, file_place
from judgesmith.cli.shared.printing import print_json, print_table, say, say_notes

if TYPE_CHECKING:
    from judgesmith.experiments.labels.annotation import AnnotationRatings
    from judgesmith.experiments.labels.explanation_sheet import ExplanationRatings


@click.group("sheet")
def command() -> None:
    """Ask people about a judge's explanations, and read what they say."""


@command.command("write", cls=ToolCommand)
@writing_options
@shown_option(
    ("-n", "--rows", "n_items"),
    WholeNumber(3),
    50,
    "Number of scored responses: a third each with low, middle and high scores.",
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
            seed=np.random.default_rng(seed),
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
        print_json({"output": output, **plain_counts(found)})
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
        [[name, estimate_text(q.value), str(q.filled), str(q.blank)] for name, q in asked.items()],
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


@command.command("write-errors", cls=ToolCommand)
@writing_options
@shown_option(("-n", "--rows", "n_items"), WholeNumber(1), 40, "Number of responses with errors.")
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
        print_json({"output": output, **plain_counts(found)})
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


@command.command("read-errors", cls=ToolCommand)
@reading_options
def read_errors(sheets: tuple[str, ...], as_json: bool) -> None:
    """Read filled sheets about errors: what raters say, and how far they agree.

    Give the copies of one sheet, one file per rater, each named after its rater.
    """
    from judgesmith.experiments.labels.annotation import read_annotation_sheets

    tell_sheets(sheets, read_annotation_sheets, _print_errors, what="errors", as_json=as_json)


def _print_errors(found: AnnotationRatings) -> None:
    for name, one in found.questions.items():
        print_table(
            f"{name}: {one.filled} filled in, {one.blank} blank, 95% intervals over texts",
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

"""``judgesmith check``: what a rated dataset is good for, before any call is made."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.data_options import data_options, data_words, load_data, target_options
from judgesmith.cli.shared.faults import blaming
from judgesmith.cli.shared.options import json_option, seed_option
from judgesmith.cli.shared.printing import print_json, print_table, say, say_wrapped
from judgesmith.cli.shared.verdicts import data_verdict, labels_verdict, print_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgesmith.experiments.evaluate.describing import Description
    from judgesmith.experiments.evaluate.label_summary import LabelSummary


@tool("check")
@click.argument("data")
@data_options
@target_options
@seed_option
@json_option
def command(
    data: str,
    target: str,
    aggregate: str,
    seed: int,
    as_json: bool,
) -> None:
    """Validate DATA and describe it: rows, ratings, how well raters agree, what to mind.

    DATA is a file of rated data (.jsonl, .json, .csv, .tsv, .parquet, also .gz), '-' for
    JSON Lines on standard input, or 'sample' (ratings)
    or 'sample-verdicts' (pass and fail) for the texts that come with Judgesmith.
    """
    import numpy as np

    from judgesmith.data.targets import targets_of
    from judgesmith.experiments.evaluate.describing import describe

    dataset = load_data(data)
    rng = np.random.default_rng(seed)
    with blaming("--target" if target != "auto" else data):
        found = describe(dataset, target=target, aggregate=aggregate, seed=rng)  # type: ignore[arg-type]
    if as_json:
        print_json(found.to_dict())
        return
    rated, n_sources = found.target, found.n_sources
    if rated is not None:
        places = targets_of(dataset, target, aggregate).rated  # type: ignore[arg-type]
        n_sources = len(np.unique(dataset.groups[places]))
    report(found, n_sources=n_sources, data=data_words((data,)))


def report(found: Description, *, n_sources: int | None = None, data: str | None = None) -> None:
    """Print what there is to know of rated data; ``n_sources`` have a rating of the target."""
    rated, words = found.target, data or found.name
    n_sources = found.n_sources if n_sources is None else n_sources
    labels = [one for one in found.labels if rated is None or one.name == rated.name]
    if labels:
        by_name = len(found.criteria) > 1 and labels[0].name != "overall"
        print_verdict(labels_verdict(labels[0], n_sources=n_sources, name=words, by_name=by_name))
    else:
        print_verdict(
            data_verdict(
                n_rated=0 if rated is None else rated.n_rated,
                n_sources=n_sources,
                half_width=found.half_width,
                raters=math.nan if rated is None else rated.rater_vs_rest.value,
                name=words,
            )
        )
    print_table(f"{found.name}: rated data", found.overview(), left=2)
    # One column per criterion: there are more measures than fit side by side.
    header, *measures = zip(*found.criteria_table(), strict=True)
    if len(header) > 1:
        print_table("Ratings", measures, header=header)
    _print_labels(found.labels)
    notes = [*found.rater_notes(), *found.notes]
    if found.warnings or notes:
        say()
    for warning in found.warnings:
        say_wrapped(f"! {warning}", hang=2)
    for note in notes:
        say_wrapped(f"note: {note}", hang=6)


def _print_labels(labels: Sequence[LabelSummary]) -> None:
    """Print what labels tell, a column for each criterion, and each rater against the others."""
    from judgesmith.experiments.evaluate.label_summary import label_table, rater_rows

    if not labels:
        return
    header, *measures = label_table(labels)
    print_table("Labels", measures, header=header)
    for one in labels:
        if len(rows := rater_rows(one)) > 1:
            title = f"{one.name}: each rater against most of the others"
            print_table(title, rows, header=["rater", "labels", "TPR", "TNR"])

"""Options that say how rated items are read and which ratings count, and the items themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from judgesmith.cli.faults import OptionError, blaming
from judgesmith.cli.options import Command, together
from judgesmith.errors import InputError

if TYPE_CHECKING:
    from judgesmith.data import DataSet


def data_options(command: Command) -> Command:
    """Add the options that say how DATA is read."""
    return together(
        command,
        click.option(
            "--map",
            "columns",
            metavar="FIELD=COLUMN,…",
            help="Which column holds what, such as source=article,response=summary,score=rating.",
        ),
        click.option(
            "--scale",
            "scales",
            multiple=True,
            metavar="[NAME=]LOW..HIGH",
            help="Scale of the ratings, for all criteria or for one; repeatable.",
        ),
    )


def aggregate_option(command: Command) -> Command:
    """Add ``--aggregate``."""
    return click.option(
        "--aggregate",
        type=click.Choice(["mean", "median", "mode", "unanimous"]),
        default="mean",
        show_default=True,
        help="How several raters become one value.",
    )(command)


def target_options(command: Command) -> Command:
    """Add the options that say which ratings count."""
    return click.option(
        "--target",
        default="auto",
        metavar="NAME",
        help="Criterion, 'overall', 'mean' or NAME+NAME [default: overall if rated, else mean].",
    )(aggregate_option(command))


def targets_option(command: Command) -> Command:
    """Add ``--target``, which may be given several times."""
    return click.option(
        "--target",
        multiple=True,
        metavar="NAME",
        help="Criterion, 'overall', 'mean' or NAME+NAME; several are judged each by itself "
        "[default: overall if rated, else mean; with --criteria human every criterion].",
    )(command)


def load_data(data: str, columns: str | None, scales: tuple[str, ...]) -> DataSet:
    """Return the rated items that DATA names."""
    return load_all((data,), columns, scales)


def load_all(data: tuple[str, ...], columns: str | None, scales: tuple[str, ...]) -> DataSet:
    """Return the rated items of one file or of several, sheets that came back among them."""
    from judgesmith.data.columns import column_map
    from judgesmith.data.formats import open_rows
    from judgesmith.data.joining import read_together
    from judgesmith.data.rows import given_scales

    with blaming("--map"):
        column_map(columns)
    with blaming("--scale"):
        scale = scales_of(scales)
        given_scales(scale)
    if data.count("-") > 1:
        raise OptionError("standard input is one file.", option="-", hint="name the others.")
    for one in data if len(data) > 1 else ():
        with blaming(one):
            open_rows(one)
    with blaming(data[0]):
        return read_together(data, columns=columns, scale=scale)


def scales_of(given: tuple[str, ...]) -> str | dict[str, str] | None:
    """Return scales as ``read_items`` takes them: one for all, or one by criterion."""
    if not given:
        return None
    named = [one.partition("=") for one in given]
    if any(separator for _, separator, _ in named):
        plain = [one for one, separator, _ in named if not separator]
        if plain:
            raise InputError(
                f"--scale is given once for all or by name for each; got {', '.join(given)}."
            )
        names = [name.strip() for name, _, _ in named]
        if not all(names):
            raise InputError(f"a scale is written LOW..HIGH or NAME=LOW..HIGH; got {given[0]!r}.")
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise InputError(
                f"the scale of {twice[0]} is given twice.", hint="keep one of the two."
            )
        return {name: scale for name, (_, _, scale) in zip(names, named, strict=True)}
    if len(given) > 1:
        raise InputError(
            f"the scales {', '.join(given)} do not say which criterion each is for.",
            hint=f"write NAME={given[0]}.",
        )
    return given[0]

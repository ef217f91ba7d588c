"""Options that say how rated items are read, which ratings count, and what is learned from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import (
    Command,
    Number,
    WholeNumber,
    reading,
    reading_option,
    seed_option,
    text_options,
    together,
)
from judgesmith.errors import InputError

if TYPE_CHECKING:
    from judgesmith.data import DataSet
    from judgesmith.signatures.scale import Scale


def data_options(command: Command) -> Command:
    """Add the options that say how DATA is read."""
    return together(
        command,
        click.option(
            "--map",
            "columns",
            metavar="FIELD=COLUMN,…",
            help="Columns by field, such as source=article,response=summary,score=rating.",
        ),
        click.option(
            "--scale",
            "scales",
            multiple=True,
            metavar="[NAME=]LOW..HIGH",
            help="Rating scale of all criteria or of one, as LOW..HIGH or as labels, worst first "
            "('bad|fair|good'). Repeatable.",
        ),
        reading_option(
            "--missing",
            metavar="MARK,…",
            help="Markers of missing ratings, such as n/a,-. Empty cells are always missing.",
        ),
        reading_option(
            "--decimal",
            metavar="SIGN",
            help="Decimal sign of ratings in tables [default: detected by column].",
        ),
        text_options,
    )


def aggregate_option(command: Command) -> Command:
    """Add ``--aggregate``."""
    return click.option(
        "--aggregate",
        type=click.Choice(["mean", "median", "mode", "unanimous"]),
        default="mean",
        show_default=True,
        help="How ratings by several raters are combined.",
    )(command)


def target_options(command: Command) -> Command:
    """Add the options that say which ratings count."""
    return click.option(
        "--target",
        default="auto",
        metavar="NAME",
        help="Criterion to predict, 'overall', 'mean' or NAME+NAME "
        "[default: overall if rated, else mean].",
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
    from judgesmith.data.formats.opening import open_rows
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
        return read_together(data, columns=columns, scale=scale, **reading())


def scales_of(given: tuple[str, ...]) -> str | Scale | dict[str, str | Scale] | None:
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
        return {name: _scale(scale) for name, (_, _, scale) in zip(names, named, strict=True)}
    if len(given) > 1:
        raise InputError(
            f"the scales {', '.join(given)} do not say which criterion each is for.",
            hint=f"write NAME={given[0]}.",
        )
    return _scale(given[0])


def _scale(text: str) -> str | Scale:
    """Return the scale that ``bad|fair|good`` lists by its labels, or else the text."""
    if "|" not in text:
        return text
    from judgesmith.signatures.scale import Scale

    return Scale.categorical(*(one.strip() for one in text.split("|")))


def holdout_option(default: float, *, none: bool) -> Callable[[Command], Command]:
    """Return what adds ``--holdout``, with 0 allowed where nothing need be held out."""
    nothing = "; 0 uses all and reports nothing" if none else ""
    return click.option(
        "--holdout",
        type=Number(0, 1, above=not none, below=True),
        default=default,
        show_default=True,
        help=f"Share of sources that nothing is learned from, kept for the report{nothing}.",
    )


def demonstration_options(command: Command) -> Command:
    """Add the options of the search for demonstrations."""
    return together(
        command,
        click.option(
            "--demonstrations",
            "n_demonstrations",
            type=WholeNumber(0),
            default=3,
            show_default=True,
            help="Rated examples shown in a prompt; 0 searches none.",
        ),
        click.option(
            "--rounds",
            "n_rounds",
            type=WholeNumber(1),
            default=11,
            show_default=True,
            help="Sets of demonstrations that are tried.",
        ),
    )


def _trials(context: click.Context, option: click.Parameter, value: int) -> int:
    """Return how many are tried: more where it was not said and everybody is screened."""
    said = context.get_parameter_source(option.name or "") is not ParameterSource.DEFAULT
    if said or not context.params.get("screen"):
        return value
    from judgesmith.experiments.compile.settings import SCREENED_TRIALS

    return SCREENED_TRIALS


def search_options(command: Command) -> Command:
    """Add the options of the search of the whole protocol."""
    return together(
        command,
        click.option(
            "--trials",
            "n_trials",
            type=WholeNumber(1),
            default=30,
            show_default="30; 108 with --screen",
            callback=_trials,
            help="Configurations that --optimizer protocol tries, with --demonstrations at most; "
            "or rewrites that --optimizer reflective asks for.",
        ),
        click.option(
            "--screen",
            is_flag=True,
            is_eager=True,  # the default of --trials depends on it
            help="Let --optimizer protocol judge all configurations on few rows first, learn from "
            "all of them which options help, and judge only the best on all rows.",
        ),
        click.option(
            "--draws",
            "n_draws",
            type=WholeNumber(1),
            default=3,
            show_default=True,
            help="Sets of demonstrations of each kind, with --optimizer protocol.",
        ),
        click.option(
            "--vary-samples",
            is_flag=True,
            help="Let --optimizer protocol try 3 and 5 answers per question, at as many calls.",
        ),
        click.option(
            "--models",
            metavar="NAME,…",
            help="Models that compete with --model in --optimizer protocol, under one budget.",
        ),
        click.option(
            "--storage",
            metavar="URL",
            envvar="JUDGESMITH_STORAGE",
            help="Database in which --optimizer protocol keeps its study, and in which several "
            "processes share the work; also read from JUDGESMITH_STORAGE, where nobody sees its "
            "password [default: a journal beside the ledger].",
        ),
    )


def discernment_options(command: Command) -> Command:
    """Add the options of objectives that look at changed versions of texts."""
    return together(
        command,
        click.option(
            "--task",
            type=click.Choice(
                ["summarization", "story_completion", "question_answering", "translation"]
            ),
            help="Whose kinds of change d_min and d_avg look at [default: what fits most texts].",
        ),
        click.option("--kinds", metavar="KIND,…", help="These kinds of change instead."),
        click.option(
            "--holdout-kinds",
            metavar="KIND,…",
            help="Kinds of change that are kept out of the search, and reported apart.",
        ),
        click.option(
            "--versions",
            type=WholeNumber(0),
            default=1,
            show_default=True,
            help="Changed versions that are judged of each row, kinds taking turns; 0 for all.",
        ),
    )


def names_in(text: str | None) -> tuple[str, ...]:
    """Return the names between commas."""
    return tuple(one.strip() for one in (text or "").split(",") if one.strip())


def learning_options(command: Command) -> Command:
    """Add the options that ``compile`` and ``infer`` share: they read the same rows alike."""
    return together(
        command,
        click.option(
            "--inference",
            type=click.Choice(["batches", "single"]),
            default="batches",
            show_default=True,
            help="Infer from mini-batches until they teach no more, or from a single one.",
        ),
        holdout_option(0.3, none=True),
        click.option(
            "--split-rows", is_flag=True, help="Split rows, not sources, as some papers do."
        ),
        click.option(
            "--percent-of-max",
            is_flag=True,
            help="Show scores as percent of the highest point, not of the whole range.",
        ),
        seed_option,
    )

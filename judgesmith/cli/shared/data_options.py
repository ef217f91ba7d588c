"""Options that say how rated items are read, which ratings count, and what is learned from them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import (
    Command,
    field_options,
    reading,
    reading_option,
    text_options,
    together,
)
from judgesmith.errors import InputError
from judgesmith.experiments.compile.fields import CompileFields

if TYPE_CHECKING:
    from judgesmith.data import DataSet
    from judgesmith.signatures.scale import Scale


def data_options(command: Command) -> Command:
    """Add the options that say how DATA is read."""
    return together(
        command,
        reading_option(
            "--map",
            "columns",
            metavar="FIELD=COLUMN,…",
            help="Columns by field, such as source=article,response=summary,score=rating.",
        ),
        reading_option(
            "--scale",
            "scales",
            multiple=True,
            metavar="[NAME=]LOW..HIGH",
            help="Rating scale of all criteria or of one, as LOW..HIGH or as labels, worst first "
            "('bad|fair|good'). Repeatable.",
        ),
        reading_option(
            "--labels",
            multiple=True,
            metavar="[NAME=]LABEL,…",
            help="Labels that raters gave in place of ratings, such as fail,pass. Repeatable.",
        ),
        reading_option(
            "--positive",
            metavar="LABEL",
            help="Label of good responses [default: pass, yes or true].",
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


def target_options(command: Command) -> Command:
    """Add the options that say which ratings count."""
    return click.option(
        "--target",
        default="auto",
        metavar="NAME",
        help="Criterion to predict, 'overall', 'mean' or NAME+NAME "
        "[default: overall if rated, else mean].",
    )(field_options(CompileFields, "aggregate")(command))


def data_words(data: Sequence[str], *, rated: bool = True) -> str:
    """Return the files and the reading options of this command, for a command to paste."""
    if "-" in data:
        return "DATA"
    context = click.get_current_context(silent=True)
    words = [shlex.quote(one) for one in data]
    options = [] if context is None else context.command.params
    wanted = ("columns", "scales", "labels", "positive", "missing", "decimal", "encoding", "sheet")
    for option in options:
        name = str(option.name)
        said = context and context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not said or name not in (wanted if rated else wanted[:1] + wanted[-2:]):
            continue
        assert context is not None
        value = context.params.get(name, reading().get(name))
        several = value if isinstance(value, tuple) else (value,)
        flag = max(option.opts, key=len)
        words += [f"{flag} {shlex.quote(str(one))}" for one in several]
    return " ".join(words)


def load_data(*data: str, maps: Mapping[str, tuple[str, str]] | None = None) -> DataSet:
    """Return the rated items of some files; ``maps``: an option, and the columns of a few."""
    from judgesmith.data.columns import column_map
    from judgesmith.data.formats.opening import open_rows
    from judgesmith.data.joining import read_many
    from judgesmith.data.rows import given_scales

    said = reading()
    with blaming("--map"):
        column_map(said.get("columns"))
    for option, columns in (maps or {}).values():
        with blaming(option):
            column_map(columns)
    if maps:
        said["columns"] = [maps.get(one, ("", said.get("columns")))[1] for one in data]
    with blaming("--scale"):
        scale = scales_of(said.pop("scales", ()))
        given_scales(scale)
    if data.count("-") > 1:
        raise OptionError("standard input is one file.", option="-", hint="name the others.")
    for one in data if len(data) > 1 else ():
        with blaming(one):
            open_rows(one)
    with blaming("--labels"):
        said["labels"] = _labels_of(said.pop("labels", ()))
    with blaming(data[0]):
        return read_many(data, scale=scale, **said)


def _labels_of(given: tuple[str, ...]) -> dict[str, str]:
    """Return labels by criterion as they were given; those of all under the empty name."""
    found: dict[str, str] = {}
    for one in given:
        name, separator, labels = one.rpartition("=")
        if (separator and not name.strip()) or name.strip() in found:
            raise InputError(
                f"labels are given once for all, as in fail,pass, or by name; got {one!r}."
            )
        found[name.strip()] = labels
    return found


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
        return {name: scale for name, (_, _, scale) in zip(names, named, strict=True)}
    if len(given) > 1:
        raise InputError(
            f"the scales {', '.join(given)} do not say which criterion each is for.",
            hint=f"write NAME={given[0]}.",
        )
    return given[0]


def comma_names(text: str | None) -> tuple[str, ...]:
    return tuple(one.strip() for one in (text or "").split(",") if one.strip())


def texts_in(data: str, columns: str | None) -> DataSet:
    """Return the rows of DATA without their ratings; refuse a file without rows."""
    from judgesmith.data import DataSet, stream_items
    from judgesmith.data.columns import column_map
    from judgesmith.data.problems import nothing_in

    with blaming("--map"):
        column_map(columns)
    with blaming(data):
        rows = stream_items(data, columns=columns, **reading())
        items = tuple(rows)
        if not items:
            raise nothing_in(rows.name)
    return DataSet(name=rows.name.split(".")[0], items=items, notes=tuple(rows.notes))

"""What the project file supplies to a command: data, model and budget where no option does."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.errors import InputError, JudgesmithError, MissingFileError
from judgesmith.studio.project_file import PROJECT, ProjectFile, read_project

if TYPE_CHECKING:
    from judgesmith.data.columns import ColumnMap
    from judgesmith.programs.lm import Price

_META = "judgesmith.cli.project"


def find_project(given: str | None) -> ProjectFile | None:
    """Return the file that ``--project`` names, or the nearest one up to the repository's root."""
    if given == "none":
        return None
    if given is not None:
        path = Path(given)
        if not path.is_file():
            raise MissingFileError(f"there is no project file {given}.", where="--project")
        return read_project(path, named=True)
    folder = Path.cwd()
    for one in (folder, *folder.parents):
        if (one / PROJECT).is_file():
            return read_project(Path(os.path.relpath(one / PROJECT)), named=False)
        if (one / ".git").exists():
            return None
    return None


def project_defaults(
    command: click.Command, context: click.Context, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the defaults that the project file supplies to a command, by parameter name."""
    known = {str(one.name): one for one in command.params}
    word = given.get("project")
    project = find_project(word if isinstance(word, str) else None)
    if project is None:
        return {}
    context.meta[_META] = project
    return {
        name: value
        for name, value in {
            **_of_data(project, known, given),
            **_of_models(project, known, given),
        }.items()
        if name in known
    }


def project_prices(names: Sequence[str]) -> dict[str, Price]:
    """Return the prices of models that the project file states."""
    context = click.get_current_context(silent=True)
    project = None if context is None else context.meta.get(_META)
    if project is None or not project.prices:
        return {}
    from judgesmith.programs.lm import Price

    prices = project.prices
    told = {name: prices.get(name, prices.get("")) for name in names}
    return {name: Price.parse(one) for name, one in told.items() if one is not None}


def _given(given: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = given.get(name)
    words = value if isinstance(value, list | tuple) else (value,)
    return tuple(one for one in words if isinstance(one, str))


def _of_data(
    project: ProjectFile, known: Mapping[str, click.Parameter], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what counts for the files that the command reads."""
    found: dict[str, Any] = {}
    named = _given(given, "data") or _given(given, "inputs")
    argument = known.get("data")
    if not named and isinstance(argument, click.Argument) and project.data:
        if argument.nargs == 1 and len(project.data) > 1:
            raise InputError(
                f"{project.path} names {len(project.data)} data files; this command reads one.",
                hint=f"name it, such as {project.data[0]}.",
            )
        found["data"] = project.data if argument.nargs != 1 else project.data[0]
        named = project.data
    rates = "scales" in known
    if not project.reads(named):
        encoding = given.get("encoding")
        encoding = encoding if isinstance(encoding, str) else project.reading.get("encoding")
        read = _map_for(project, named, encoding, rated=rates)
        if read is None:
            return found
        found["columns"] = read
        rates = rates and read == project.map
    else:
        found["columns"] = project.map if rates else _texts_of(project.map)
    found |= project.reading
    if rates:
        found["scales"] = project.scales
        target = known.get("target")
        if project.target and target is not None:
            several = isinstance(target, click.Option) and target.multiple
            if several or len(project.target) == 1:
                found["target"] = project.target if several else project.target[0]
    return {name: value for name, value in found.items() if value}


def _texts_of(written: str | None) -> str | None:
    """Return the part of a map that says where texts are, without ratings."""
    from judgesmith.data.columns import ColumnMap, column_map

    fields = column_map(written).fields
    return str(ColumnMap(fields=fields)) if fields else None


def _map_for(
    project: ProjectFile, files: Sequence[str], encoding: str | None, *, rated: bool
) -> str | None:
    """Return the map as far as the files have its columns; None where they have other columns."""
    from judgesmith.data.columns import column_map
    from judgesmith.data.joining import is_sheet

    if not project.map or not files:
        return None
    columns: ColumnMap = column_map(project.map)
    texts = {one for group in columns.fields.values() for one in group}
    headers = [_columns_of(one, encoding) for one in files]
    plain = [one for one in headers if not is_sheet(one)]
    if not plain or not all(texts <= one for one in plain):
        return None
    if rated and any(set(columns.columns) <= one for one in plain):
        return project.map
    return _texts_of(project.map)


def _columns_of(file: str, encoding: str | None) -> set[str]:
    """Return the columns of a file's first row; of standard input, or a fault, none."""
    from judgesmith.data.formats.opening import options_of
    from judgesmith.data.formats.raw import ReadOptions
    from judgesmith.data.joining import first_columns

    if not Path(file).is_file():
        return set()
    try:
        return first_columns(file, options_of(file, ReadOptions.of(encoding=encoding)))
    except JudgesmithError:
        return set()


def _of_models(
    project: ProjectFile, known: Mapping[str, click.Parameter], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the model and the budget; a saved judge's own model is at most allowed, if named."""
    found: dict[str, Any] = {f"max_{name}": value for name, value in project.budget.items()}
    if "model_name" not in known:
        return found
    if project.api_base and not isinstance(given.get("api_base"), str):
        if not project.named:
            raise InputError(
                f"{project.path} names an address (api_base), which a file found by searching "
                "never supplies.",
                where="--project",
                hint=f"confirm it with --project {project.path}, or give --api-base.",
            )
        found["api_base"] = project.api_base
    if project.model and not isinstance(given.get("model_name"), str):
        if "allow_models" not in known:
            found["model_name"] = project.model
        elif project.named:
            allowed = tuple(dict.fromkeys((*_given(given, "allow_models"), project.model)))
            found["allow_models"] = allowed
    return found

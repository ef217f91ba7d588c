"""Command-line options generated from the fields of a settings model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
from pydantic import BaseModel

from judgesmith.cli.shared.options import Command, Number, WholeNumber
from judgesmith.signatures.declared_fields import DeclaredField, declared_fields


def field_options(
    model: type[BaseModel], *names: str, **changes: dict[str, Any]
) -> Callable[[Command], Command]:
    """Return a decorator that adds an option for each named field, in this order.

    The parameter of the command is called like the field. ``changes`` are arguments of
    ``click.option`` by field, for commands that differ.
    """

    def add(command: Command) -> Command:
        for field in reversed(list(declared_fields(model, *names))):
            command = _option(field, changes.get(field.name, {}))(command)
        return command

    return add


def _option(field: DeclaredField, changes: dict[str, Any]) -> Callable[[Command], Command]:
    written = "--" + field.option.replace("_", "-")
    said: dict[str, Any] = {"metavar": field.metavar, "help": field.help}
    low = field.bounds.get("ge", 0)
    if isinstance(field.kind, tuple):
        said["type"] = click.Choice(field.kind)
    elif field.kind is bool:
        said["is_flag"] = True
        written += f"/--no-{field.option}" if field.optional else ""
    elif field.kind is int:
        said["type"] = WholeNumber(low)
    elif field.kind is float:
        high = field.bounds.get("lt")
        said["type"] = Number(low, high, below=high is not None)
    elif field.kind is dict or (field.metavar == "NAME" and field.kind is tuple):
        said["multiple"] = True
        said["help"] += " Repeatable."
    if field.default_text:
        said["help"] += f" [default: {field.default_text}]"
    if field.kind is bool and field.optional:
        said["default"] = None
    elif field.kind not in (tuple, dict, bool):
        said["default"] = field.default
        said["show_default"] = field.default is not None and not field.default_text
    return click.option(written, field.name, **{**said, **changes})

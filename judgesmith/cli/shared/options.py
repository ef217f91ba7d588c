"""Options that commands of every kind share, those of fields, and numbers as they take them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import click

from judgesmith.errors import InputError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from judgesmith.signatures.plain_data import DeclaredField


class WholeNumber(click.IntRange):
    """A whole number from ``low`` on."""

    def __init__(self, low: int) -> None:
        super().__init__(min=low)
        self.low = low

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            number = int(value)
        except (TypeError, ValueError):
            number = self.low - 1
        if number < self.low:
            self.fail(f"expected a whole number, {self.low} or more; got {value!r}.", param, ctx)
        return number


class Number(click.FloatRange):
    """A number from ``low`` on, up to ``high`` where there is one; never nan or infinite."""

    def __init__(
        self, low: float, high: float | None = None, *, above: bool = False, below: bool = False
    ) -> None:
        super().__init__(min=low, max=high, min_open=above, max_open=below)
        start = f"above {low:g}" if above else f"from {low:g}"
        if high is None:
            self.allowed = f"a number {start}" if above else f"a number, {low:g} or more"
        else:
            self.allowed = f"a number {start} to {'below ' if below else ''}{high:g}"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            number = float(value)
            if not math.isfinite(number):
                raise InputError(value)
            return float(super().convert(number, None, None))
        except (TypeError, ValueError, click.BadParameter):
            self.fail(f"expected {self.allowed}; got {value!r}.", param, ctx)


Command = TypeVar("Command", bound=Callable[..., Any])


class TakenOptions:
    """Base of dataclasses that hold options of a command."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @classmethod
    def taken_from(cls, options: dict[str, Any]) -> Self:
        """Return what ``options`` say of the fields, and take it out of them."""
        return cls(**{name: options.pop(name) for name in cls.__dataclass_fields__})


def together(command: Command, *options: Callable[[Command], Command]) -> Command:
    """Return ``command`` with several options, which its help lists in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def shown_option(
    names: str | tuple[str, ...], kind: Any, default: Any, help_text: str, **more: Any
) -> Callable[[Command], Command]:
    """Return what adds an option whose help shows its default."""
    names = (names,) if isinstance(names, str) else names
    return click.option(
        *names, type=kind, default=default, show_default=True, help=help_text, **more
    )


def json_option(command: Command) -> Command:
    """Add ``--json``: one object on standard output, and nothing else there."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(command)


def seed_option(command: Command) -> Command:
    return shown_option("--seed", WholeNumber(0), 0, "Random seed.")(command)


def confidence_option(command: Command) -> Command:
    """Add ``--confidence`` of reported intervals."""
    share = Number(0, 1, above=True, below=True)
    return shown_option("--confidence", share, 0.95, "Confidence level of the intervals.")(command)


def map_option(command: Command) -> Command:
    """Add ``--map`` where no ratings are read."""
    return click.option(
        "--map",
        "columns",
        metavar="FIELD=COLUMN,…",
        help="Columns by field, such as source=article,response=summary.",
    )(command)


_READING = "judgesmith.cli.reading"  # where a command keeps how files are read


def reading_option(*names: str, **said: Any) -> Callable[[Command], Command]:
    """Return what adds an option that ``reading`` finds again."""

    def keep(
        context: click.Context, option: click.Parameter, value: str | tuple[str, ...] | None
    ) -> None:
        if value not in (None, ()):
            context.meta.setdefault(_READING, {})[str(option.name)] = value

    return click.option(*names, callback=keep, expose_value=False, **said)


def text_options(command: Command) -> Command:
    """Add the options that say how a file is read, whatever is in it; see ``reading``."""
    return together(
        command,
        reading_option(
            "--encoding",
            metavar="NAME",
            help="Encoding of text files, such as cp1252 [default: utf-8].",
        ),
        reading_option("--sheet", metavar="NAME", help="Sheet of a workbook [default: the first]."),
    )


def reading() -> dict[str, Any]:
    """Return what the options of this command say of how files are read."""
    context = click.get_current_context(silent=True)
    said: dict[str, Any] = {} if context is None else context.meta.get(_READING, {})
    return dict(said)


def dry_run_option(command: Command) -> Command:
    return click.option("--dry-run", is_flag=True, help="Estimate calls and cost; call no model.")(
        command
    )


def judge_output_options(command: Command) -> Command:
    """Add the last options of a command that compiles a judge into a folder."""
    return together(
        command,
        dry_run_option,
        click.option("--force", is_flag=True, help="Replace a judge from another run."),
        json_option,
    )


def rows_arguments(command: Command) -> Command:
    """Add JUDGE, INPUT and where a row is written for each thing that the judge says of it."""
    return together(
        command,
        click.argument("judge"),
        click.argument("data", metavar="INPUT"),
        click.option("-o", "--output", required=True, metavar="OUT.jsonl", help="Output file."),
        map_option,
        text_options,
    )


def rows_output_options(command: Command) -> Command:
    """Add the last options of a command that records what a judge says."""
    return together(
        command,
        click.option("--force", is_flag=True, help="Replace an existing output file."),
        json_option,
    )


def given_options(*names: str) -> list[str]:
    """Return which of these options were said, as they are written."""
    context = click.get_current_context()
    source = click.core.ParameterSource
    unsaid = (source.DEFAULT, source.DEFAULT_MAP, source.ENVIRONMENT)
    written = {one.name: max(one.opts, key=len) for one in context.command.params}
    return [written[name] for name in names if context.get_parameter_source(name) not in unsaid]


def field_options(
    model: type[BaseModel], *names: str, **changes: dict[str, Any]
) -> Callable[[Command], Command]:
    """Return a decorator that adds an option for each named field, in this order."""
    from judgesmith.signatures.plain_data import declared_fields

    def add(command: Command) -> Command:
        for field in reversed(list(declared_fields(model, *names))):
            command = _field_option(field, changes.get(field.name, {}))(command)
        return command

    return add


def _field_option(field: DeclaredField, changes: dict[str, Any]) -> Callable[[Command], Command]:
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

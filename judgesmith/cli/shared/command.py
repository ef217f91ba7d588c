"""The class of every command: titled options, old option names, `--set`, and the project file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

from judgesmith.errors import InputError, did_you_mean

_SECTIONS = {
    "Data": (
        *("columns", "scales", "labels", "positive", "missing", "decimal", "encoding", "sheet"),
        *("target", "aggregate", "project"),
    ),
    "Model and budget": (
        *("model_name", "api_base", "only_hosts", "allow_models", "roles", "max_calls"),
        *("max_tokens", "max_usd", "max_minutes", "price", "rpm", "tpm", "concurrency", "ledger"),
        *("record", "replay", "dry_run"),
    ),
}
"""The parameters under each title of a command's help; all others are plain options."""
_FROM_PROJECT = ("data", "columns", "model_name", "max_usd")
"""A command with one of these parameters reads the project file."""
_SET = "--set"


class ToolCommand(click.Command):
    """A command whose help has sections, and whose defaults come from the project file."""

    def __init__(
        self,
        *given: Any,
        old_names: Mapping[str, str] | None = None,
        expert: Iterable[str] = (),
        **named: Any,
    ) -> None:
        super().__init__(*given, **named)
        self.old_names = dict(old_names or {})  # present options by hidden ones
        self.expert = tuple(expert)  # given as --set KEY=VALUE; their own names work and are hidden
        if any(one.name in _FROM_PROJECT for one in self.params):
            self.params.append(_project_option())
        if self.expert:
            self.params.append(_set_option(self.expert))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, with the defaults of the project file."""
        words = self._present_names(args)
        asks_help = any(one in ("--help", "-h") for one in words)
        if not asks_help and any(one.name == "project" for one in self.params):
            from judgesmith.cli.shared.project import project_defaults

            given, _, _ = self.make_parser(ctx).parse_args(list(words))
            ctx.default_map = {**project_defaults(self, ctx, given), **(ctx.default_map or {})}
        return super().parse_args(ctx, words)

    def _present_names(self, args: list[str]) -> list[str]:
        """Return the arguments with present option names and without ``--set``."""
        words: list[str] = []
        rest = list(args)
        while rest:
            word = rest.pop(0)
            if word == "--":
                return [*words, word, *rest]
            name, equals, value = word.partition("=")
            if self.expert and name == _SET:
                if not equals and not rest:
                    raise InputError("--set needs KEY=VALUE.", where=_SET)
                words += self._expert_words(value if equals else rest.pop(0))
                continue
            words.append(f"{self.old_names.get(name, name)}{equals}{value}")
        return words

    def _expert_words(self, setting: str) -> list[str]:
        key, equals, value = setting.partition("=")
        name = f"--{key.strip().replace('_', '-')}"
        options = {word: one for one in self.params for word in (*one.opts, *one.secondary_opts)}
        if name not in self.expert or not equals:
            known = [one.removeprefix("--") for one in self.expert]
            hint = did_you_mean(key, known) if equals else None
            if equals and name in options and name not in self.expert:
                given = name if getattr(options[name], "is_flag", False) else f"{name} {value}"
                hint = f"{name} is an option of its own: {given}"
            raise InputError(
                f"--set takes KEY=VALUE with a KEY of {', '.join(known)}; got {setting!r}.",
                where=_SET,
                hint=hint,
            )
        option = options[name]
        if not isinstance(option, click.Option) or not option.is_flag:
            return [f"{name}={value}"]
        switch = _SWITCHES.get(value.strip().lower())
        if switch is None:
            raise InputError(f"{key} is true or false; got {value!r}.", where=_SET)
        off = list(option.secondary_opts)[:1]
        return [name] if switch else off

    def _is_expert(self, option: click.Parameter) -> bool:
        return any(word in self.expert for word in option.opts)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their titles."""
        titles = {name: title for title, names in _SECTIONS.items() for name in names}
        found: dict[str, list[tuple[str, str]]] = {"Options": [], **{one: [] for one in _SECTIONS}}
        for option in self.get_params(ctx):
            if isinstance(option, click.Argument) or self._is_expert(option):
                continue
            record = option.get_help_record(ctx)
            if record is not None:
                found[titles.get(option.name or "", "Options")].append(record)
        for title, records in found.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


_SWITCHES = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


def tool(
    name: str, *, old_names: Mapping[str, str] | None = None, expert: Iterable[str] = ()
) -> Callable[[Callable[..., Any]], click.Command]:
    """Return a decorator that makes a function a command."""
    return click.command(name, cls=ToolCommand, old_names=old_names, expert=expert)


def _project_option() -> click.Option:
    return click.Option(
        ["--project"],
        metavar="FILE",
        expose_value=False,
        help="Project file to use, or 'none' [default: judgesmith.yaml in this folder or above].",
    )


def _set_option(expert: Iterable[str]) -> click.Option:
    keys = ", ".join(one.removeprefix("--") for one in expert)
    return click.Option(
        [_SET],
        metavar="KEY=VALUE",
        multiple=True,
        expose_value=False,
        help=f"Expert setting; repeatable. Keys: {keys}.",
    )


class DataArgument(click.Argument):
    """DATA on the command line, or the data of the project file where it is left out."""

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> Any:
        """Return the files that were named, or those of the project."""
        value, source = super().consume_value(ctx, opts)
        if value == ():
            project = ctx.lookup_default(self.name or "")
            if project:
                return project, click.core.ParameterSource.DEFAULT_MAP
        return value, source

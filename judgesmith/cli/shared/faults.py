"""What goes wrong, as people and machines are told: what, where, and what to do."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from judgesmith.errors import (
    InputError,
    JudgesmithError,
    did_you_mean,
    file_faults,
    hint_of,
    sentence_of,
)


class OptionError(InputError):
    """What cannot be, and which option says so, or which file."""

    def __init__(self, message: object, *, option: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.option = option


@contextmanager
def blaming(option: str, *, given: bool = True) -> Iterator[None]:
    """Say of a fault in the block, unless it knows its place, that ``option`` is to blame."""
    from judgesmith.signatures.plain_data import record_faults

    try:
        with record_faults(), file_faults():
            yield
    except (JudgesmithError, click.UsageError) as fault:
        of_input = isinstance(fault, ValueError | OSError | click.UsageError)
        if not given or not of_input or _where(fault) is not None:
            raise
        raise OptionError(_message(fault), option=option, hint=hint_of(fault)) from fault


def _is_of(fault: Exception, *names: str) -> bool:
    """Say whether ``fault`` is one of the errors around models that have these names."""
    # Only what has been loaded can have raised; nothing is imported just to look.
    errors = sys.modules.get("judgesmith.programs.lm.errors")
    return errors is not None and isinstance(fault, tuple(getattr(errors, one) for one in names))


def fault_parts(fault: Exception) -> dict[str, str | None]:
    """Return ``error`` without its hint, ``where`` and ``hint`` of a fault; None if missing."""
    return {
        "error": _message(fault),
        "where": _where(fault),
        "hint": hint_of(fault) or _meant(fault) or _manual(fault) or _later(fault),
    }


def _message(fault: Exception) -> str:
    if isinstance(fault, click.NoSuchOption):
        return f"there is no option {fault.option_name}."
    if isinstance(fault, click.UsageError) and (unknown := _NO_COMMAND.match(fault.message)):
        return f"there is no command {unknown[1]}."
    if isinstance(fault, click.ClickException):
        return fault.format_message()
    return sentence_of(fault)


_NO_COMMAND = re.compile(r"No such command '([^']*)'")
_NO_CHOICE = re.compile(r"'([^']*)' is not one of ")


def _commands_like(name: str, context: click.Context | None) -> list[str]:
    group = context.command if context else None
    known = group.list_commands(context) if isinstance(group, click.Group) and context else []
    return difflib.get_close_matches(name, known)


def _meant(fault: Exception) -> str | None:
    """Return the question whether a command or an option of a name like it was meant."""
    if isinstance(fault, click.BadParameter) and fault.param is not None:
        choices, given = fault.param.type, _NO_CHOICE.match(fault.message)
        if isinstance(choices, click.Choice) and given:
            return did_you_mean(given[1], choices.choices)
    names: Sequence[str] | None = None
    if isinstance(fault, click.NoSuchOption):
        names = fault.possibilities
    elif isinstance(fault, click.UsageError) and (unknown := _NO_COMMAND.match(fault.message)):
        names = _commands_like(unknown[1], fault.ctx)
    return f"did you mean {' or '.join(sorted(names))}?" if names else None


def _manual(fault: Exception) -> str | None:
    """Return where the command is described, for faults of how it was called."""
    told = isinstance(fault, click.BadParameter) and not isinstance(fault, click.MissingParameter)
    if told or not isinstance(fault, click.UsageError) or fault.ctx is None:
        return None
    manual = f"see '{fault.ctx.command_path} --help'"
    missing = fault.param if isinstance(fault, click.MissingParameter) else None
    from_project = any(one.name == "project" for one in fault.ctx.command.params)
    if missing is not None and missing.name == "data" and from_project:
        return f"{manual}, or name it once in judgesmith.yaml: 'judgesmith init FILE' writes one"
    return manual


def _later(fault: Exception) -> str | None:
    """Return what to do about a fault that may pass."""
    if not _is_of(fault, "TransientModelError"):
        return None
    return "wait, and give the same command again: it resumes from the cached answers."


def _where(fault: Exception) -> str | None:
    """Return the place that a fault knows of, or None."""
    if isinstance(fault, JudgesmithError) and fault.where is not None:
        return fault.where
    problems = getattr(fault, "problems", ())
    if problems:
        return str(problems[0].where)
    if isinstance(fault, OSError) and fault.filename is not None:
        return str(fault.filename)
    if isinstance(fault, OptionError):
        return fault.option
    if isinstance(fault, click.NoSuchOption | click.BadOptionUsage):
        return fault.option_name
    if isinstance(fault, click.UsageError) and (unknown := _NO_COMMAND.match(fault.message)):
        return unknown[1]
    if isinstance(fault, click.BadParameter) and fault.param is not None:
        is_option = isinstance(fault.param, click.Option)
        return max(fault.param.opts, key=len) if is_option else fault.param.human_readable_name
    return "--ledger" if _is_of(fault, "CacheError") else None

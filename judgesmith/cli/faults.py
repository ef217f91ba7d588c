"""What goes wrong, as people and machines are told: what, where, and what to do."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

_ADVICE = re.compile(
    r"(?:check|choose|compile|convert|did|give|leave|make|name|rate|restore|say|set|take|use|wait)\b",
    re.IGNORECASE,
)
"""What opens the part of a message that says what to do."""


class OptionError(ValueError):
    """What an option says cannot be, and which option that is."""

    def __init__(self, message: str, *, option: str) -> None:
        super().__init__(message)
        self.option = option


@contextmanager
def blaming(option: str, *, given: bool = True) -> Iterator[None]:
    """Say of what is wrong in the block that it is ``option``, if that was ``given`` at all.

    Faults that know of a place in the data themselves keep it.
    """
    try:
        yield
    except (ValueError, click.UsageError) as fault:
        if not given or hasattr(fault, "problems"):
            raise
        raise OptionError(str(fault), option=option) from fault


def is_expected(fault: Exception) -> bool:
    """Say whether ``fault`` is one that the caller can mend, rather than one of ours."""
    if isinstance(fault, ValueError | OSError | ImportError):
        return True
    # Only what has been loaded can have raised; nothing is imported just to look.
    errors = sys.modules.get("judgesmith.programs.models.errors")
    known = (errors.LedgerError, errors.ModelError, errors.BudgetSpent) if errors else ()
    return isinstance(fault, known)


def described(fault: Exception) -> dict[str, str | None]:
    """Return ``error``, ``where`` and ``hint`` of a fault, each None where there is none.

    What is said in the hint is not said in the error again.

    Examples
    --------
    >>> described(ValueError("a.yaml: not YAML; give a mapping."))
    {'error': 'a.yaml: not YAML.', 'where': 'a.yaml', 'hint': 'give a mapping.'}
    """
    message = _message(fault)
    where = _where(fault, message)
    context = getattr(fault, "ctx", None)
    if isinstance(fault, click.UsageError) and context is not None:
        return {"error": message, "where": where, "hint": f"see '{context.command_path} --help'"}
    error, hint = _parted(message)
    return {"error": error, "where": where, "hint": hint}


def _message(fault: Exception) -> str:
    if isinstance(fault, click.ClickException):
        return fault.format_message()
    if isinstance(fault, OSError) and fault.filename is not None and fault.strerror:
        return f"{fault.filename}: {fault.strerror}"
    return str(fault)


def _where(fault: Exception, message: str) -> str | None:
    problems = getattr(fault, "problems", ())
    if problems:
        return str(problems[0].where)
    if isinstance(fault, OSError) and fault.filename is not None:
        return str(fault.filename)
    if isinstance(fault, OptionError):
        return fault.option
    if isinstance(fault, click.BadParameter) and fault.param is not None:
        return max(fault.param.opts, key=len)
    head, separator, _ = message.partition(": ")
    return head if separator and " " not in head else None


def _parted(message: str) -> tuple[str, str | None]:
    """Return what is wrong and, where the last line ends in advice, what to do."""
    above, newline, sentence = message.rpartition("\n")
    for start in ("; ", ". "):
        fact, found, advice = sentence.rpartition(start)
        if found and _ADVICE.match(advice):
            return f"{above}{newline}{fact}.", advice
    fact, found, rest = sentence.rpartition(" (")
    advice, closed, after = rest.partition(")")
    if found and closed and _ADVICE.match(advice):
        return f"{above}{newline}{fact}{after}", advice
    return message, None

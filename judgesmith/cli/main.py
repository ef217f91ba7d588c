"""The ``judgesmith`` command, which loads a command's code only when it is called."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence

import click

COMMANDS = {
    "check": "validate rated texts and describe them",
    "compile": "make a judge that agrees with rated texts",
    "show": "print a judge as people read it, or what changed between two",
    "score": "judge new texts with a compiled judge",
    "evaluate": "measure agreement with people",
    "ledger": "look at, trim or export the answers on record",
}
_BAD_INPUT = 2
_INTERRUPTED = 130


class _Lazy(click.Group):
    """A group whose help costs no imports."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"judgesmith.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="judgesmith", prog_name="judgesmith")
def judgesmith() -> None:
    """Compile LLM judges that agree with people, and say how far they can be trusted."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    0 is done, 1 a check that failed, 2 bad input or set-up, 130 an interruption.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in arguments
    try:
        status = judgesmith.main(arguments, prog_name="judgesmith", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as fault:
        click.echo(fault.ctx.get_help() if fault.ctx else str(fault), err=True)
        return _BAD_INPUT
    except click.ClickException as fault:
        context = getattr(fault, "ctx", None)
        hint = f"see '{context.command_path} --help'" if context else ""
        return _failed(fault.format_message(), hint=hint, as_json=as_json)
    except click.exceptions.Exit as end:
        return end.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped; the same command continues where it was.", err=True)
        return _INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as fault:
        if not _expected(fault):
            raise
        return _failed(str(fault), as_json=as_json)
    return status if isinstance(status, int) else 0


def _expected(fault: Exception) -> bool:
    """Say whether ``fault`` is one that the caller can mend."""
    if isinstance(fault, ValueError | OSError):
        return True
    # Only what has been loaded can have raised; nothing is imported just to look.
    errors = sys.modules.get("judgesmith.programs.models.errors")
    known = (errors.LedgerError, errors.ModelError, errors.BudgetSpent) if errors else ()
    return isinstance(fault, known)


def _failed(message: str, *, hint: str = "", as_json: bool) -> int:
    if as_json:
        where = message.split(": ", 1)[0] if ": " in message.split("\n")[0] else ""
        click.echo(json.dumps({"error": message, "where": where, "hint": hint}), err=True)
    else:
        click.echo(f"error: {message}" + (f"\n({hint})" if hint else ""), err=True)
    return _BAD_INPUT

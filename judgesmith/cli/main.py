"""The ``judgesmith`` command, which loads a command's code only when it is called."""

from __future__ import annotations

import importlib
import io
import json
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress

import click

from judgesmith.cli.shared.faults import described
from judgesmith.cli.shared.printing import say
from judgesmith.cli.shared.stopping import finishing, has_stopped, stopping_well
from judgesmith.errors import JudgesmithError

GROUPS = {
    "judge": {
        "infer": "find out what is judged in rated texts, and by which criteria",
        "compile": "make a judge that agrees with rated texts",
        "show": "print a judge as people read it, or what changed between two",
        "panel": "make one judge of several, weighed by how well they agree with people",
        "take": "save another judge of the front that one was taken from",
    },
    "use": {
        "score": "judge new texts with a compiled judge",
        "prefer": "record which of two responses a judge prefers, in both orders",
        "exemplars": "write the texts that an exemplar judge compares with to a file",
        "export": "write a judge in a form that other tools run",
        "serve": "answer over HTTP with compiled judges, and show a page to try them",
    },
    "trust": {
        "evaluate": "measure agreement with people",
        "compare": "say which of two judges agrees better with people",
        "errors": "show the errors that a judge found in texts, and say whether they are errors",
        "perturb": "make texts worse on purpose, to see whether a judge notices",
        "discern": "say whether a judge notices that texts got worse",
        "benchmark": "make texts of known quality from rated ones, to test judges on",
        "recheck": "say whether a judge still says what it said when it was made",
        "drift": "say whether scores and texts are still like those a judge was made with",
    },
    "data": {
        "check": "validate rated texts and describe them",
        "distil": "write what a judge says as data that a small model learns from",
        "finetune": "train a small model on what distil has written",
        "data": "convert public data sets, as they are published, into rated texts",
        "ledger": "look at, trim, export or rescue the answers on record",
    },
    "label": {
        "suggest": "choose rows whose rating would help a judge most, as a sheet for raters",
        "sheet": "ask people about a judge's explanations, and read what they say",
    },
    "experiment": {
        "ablate": "say what each part of the method is worth on rated texts",
        "init": "write a specification of an experiment, to be edited and run",
        "experiment": "run what a specification declares, and rank what came out",
        "report": "write what came out of an experiment as a page to read",
    },
}
"""What each command does, by the folder that it stands in."""

COMMANDS = {name: about for group in GROUPS.values() for name, about in group.items()}
BAD_INPUT = 2
INTERRUPTED = 130
_DEBUG = "--debug"


def command_of(name: str) -> click.Command:
    """Return one of ``COMMANDS``, importing it now."""
    group = next(group for group, commands in GROUPS.items() if name in commands)
    module = importlib.import_module(f"judgesmith.cli.{group}.{name}")
    command: click.Command = module.command
    return command


class _Lazy(click.Group):
    """A group whose help costs no imports."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return command_of(cmd_name)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Whoever read our output has seen enough of it; what is left goes nowhere.
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):
                    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            return 0

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))
        for group, commands in GROUPS.items():
            with formatter.section(group.capitalize()):
                formatter.write_dl(
                    [(name.ljust(widest), about) for name, about in commands.items()]
                )


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="judgesmith", prog_name="judgesmith")
@click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    help="Show tracebacks; may stand anywhere.",
)
def judgesmith() -> None:
    """Compile LLM judges that agree with people, and say how far they can be trusted."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    0 is done, 1 a check that failed, 2 bad input or set-up, 130 an interruption. What is raised
    beyond that is a bug.
    """
    arguments, debug = _without_debug(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        # Where the terminal has no such letter, an escape is better than no table at all.
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")
    try:
        with stopping_well(), finishing():
            status = judgesmith.main(arguments, prog_name="judgesmith", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as fault:
        click.echo(fault.format_message(), err=True)
        return BAD_INPUT
    except click.exceptions.Exit as end:
        return end.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("stopped; the same command again continues where it was.", err=True)
        return INTERRUPTED
    except SystemExit as end:
        return _status(end.code)
    except (JudgesmithError, click.ClickException) as fault:
        if debug:
            traceback.print_exc()
        _tell(described(fault), as_json="--json" in arguments)
        return BAD_INPUT
    except Exception as fault:
        if has_stopped(fault):
            return INTERRUPTED  # which was said when it was asked for
        raise
    return _status(status)


def _without_debug(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """Return the arguments without ``--debug``, wherever it stands, and whether it was there."""
    given = list(arguments)
    end = given.index("--") if "--" in given else len(given)
    kept = [one for one in given[:end] if one != _DEBUG]
    return kept + given[end:], len(kept) < end


def _status(given: object) -> int:
    """Return an exit status as Python takes it from ``SystemExit``: a text is a failure."""
    if isinstance(given, str):
        say(given, err=True)
        return 1
    return given if isinstance(given, int) else 0


def _tell(fault: dict[str, str | None], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(fault), err=True)
        return
    say(f"error: {fault['error']}", err=True)
    if fault["hint"] and fault["hint"] not in str(fault["error"]):
        say(f"({fault['hint']})", err=True)

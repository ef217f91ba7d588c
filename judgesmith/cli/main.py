"""The ``judgesmith`` command, which loads a command's code only when it is called."""

from __future__ import annotations

import importlib
import io
import json
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import click

from judgesmith.cli.shared.faults import fault_parts
from judgesmith.cli.shared.printing import say
from judgesmith.cli.shared.stopping import finishing, has_stopped, spent_text, stopping_well
from judgesmith.errors import JudgesmithError
from judgesmith.results.progress import without_bars

GROUPS = {
    "judge": {
        "compile": "tune a judge to rated data",
        "show": "print a judge, or the differences between two",
        "panel": "combine several judges into one",
        "infer": "infer the task and the criteria from rated data",
    },
    "use": {
        "score": "score responses with a judge",
        "serve": "serve judges over HTTP, with a page to try them",
        "export": "export a judge for other tools",
    },
    "trust": {
        "evaluate": "measure agreement with human ratings",
        "compare": "test which of two judges agrees better with human ratings",
        "rate": "estimate pass rates, corrected for the judge's errors",
        "discern": "test a judge's sensitivity to damaged text",
        "monitor": "detect drift of scores and inputs, and recheck a judge",
    },
    "data": {
        "check": "validate and describe rated data",
        "data": "convert published datasets",
    },
    "label": {
        "studio": "label, review and compile in the browser",
        "label": "choose rows to rate, and write and read rating sheets",
    },
    "experiment": {
        "init": "write a project file or the spec of an experiment",
        "experiment": "compile and rank many judges as a spec declares",
        "report": "write the report page of an experiment",
    },
    "distil": {
        "distil": "turn a judge's answers into training data for a small model",
    },
    "cache": {
        "cache": "inspect, prune, export or repair cached answers",
    },
}
"""The visible commands in titled groups, and what each does."""

RELATED = {
    "compile": {"take": "save another judge from the Pareto front"},
    "score": {
        "prefer": "record which of two responses a judge prefers",
        "exemplars": "write the exemplars that a judge compares with",
    },
    "evaluate": {"errors": "show the errors that a judge marked, and check them"},
    "discern": {
        "perturb": "write damaged versions of texts",
        "benchmark": "build a benchmark of known quality from rated data",
    },
    "monitor": {
        "drift": "detect changed scores and inputs",
        "recheck": "detect changed scores of the golden items",
    },
    "label": {
        "suggest": "choose the rows whose ratings help a judge most",
        "sheet": "write and read sheets about explanations and marked errors",
        "ratings": "summarise, export and import the ratings of a studio",
    },
    "experiment": {"ablate": "measure each component's contribution"},
    "distil": {"finetune": "train a small model on distilled data"},
}
"""What stands below another command, as in `judgesmith discern perturb`; each also works alone."""

_PLACES = {
    **{
        name: f"{place}.{name}"
        for place, names in {
            "judge": "compile show panel infer take",
            "use": "score serve export prefer exemplars",
            "trust": "evaluate compare rate discern errors perturb benchmark recheck drift",
            "data": "check data distil finetune cache",
            "label": "studio suggest sheet ratings",
            "experiment": "init experiment report ablate",
        }.items()
        for name in names.split()
    },
    "ledger": "data.cache",
}
VISIBLE = {name: about for commands in GROUPS.values() for name, about in commands.items()}
COMMANDS = tuple(dict.fromkeys((*VISIBLE, *_PLACES)))
"""Every command, and those that are not listed because they stand below another."""
BAD_INPUT = 2
INTERRUPTED = 130
_DEBUG = "--debug"


def command_of(name: str) -> click.Command:
    """Return one of ``COMMANDS``, importing it now."""
    if name not in _PLACES:
        return _Below(name=name, help=f"{VISIBLE[name].capitalize()}.", below=RELATED[name])
    command: click.Command = importlib.import_module(f"judgesmith.cli.{_PLACES[name]}").command
    command.epilog = _epilog(name)
    return command


def _epilog(name: str) -> str | None:
    """Return what the help of a command says of those below it."""
    below = RELATED.get(name)
    if below is None:
        return None
    lines = [f"judgesmith {name} {one}: {about}." for one, about in below.items()]
    return "\b\nSee also:\n" + "\n".join(f"  {line}" for line in lines)


class _Below(click.Group):
    """A group of commands that are loaded when they are called."""

    def __init__(self, *, below: Mapping[str, str], **named: Any) -> None:
        super().__init__(**named)
        self.below = below

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.below, *(_NESTED if "sheet" in self.below else ())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _NESTED and "sheet" in self.below:
            group = command_of("ratings" if cmd_name in _RATINGS else "sheet")
            assert isinstance(group, click.Group)
            return group.get_command(ctx, cmd_name)
        return command_of(cmd_name) if cmd_name in self.below else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        about = {**self.below, **(_NESTED if "sheet" in self.below else {})}
        about = {name: said for name, said in about.items() if name not in ("sheet", "ratings")}
        with formatter.section("Commands"):
            formatter.write_dl(list(about.items()))


_RATINGS = {
    "status": "what each rater of a studio did",
    "export": "write the ratings of a studio",
    "import": "add ratings that export wrote to a studio",
}
_NESTED = {
    **_RATINGS,
    "write": "write a sheet for raters of explanations",
    "read": "read rated sheets of explanations",
    "write-errors": "write a sheet for raters of marked errors",
    "read-errors": "read rated sheets of marked errors",
}


class _Lazy(click.Group):
    """A group whose help costs no imports."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VISIBLE)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return command_of(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve two words, too, where no file has the name of the second."""
        below = RELATED.get(args[0], {}) if args[0] in _PLACES else {}
        if len(args) > 1 and args[1] in below and not os.path.exists(args[1]):  # noqa: PTH110
            return " ".join(args[:2]), command_of(args[1]), args[2:]
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _drop_unwritten()  # the reader of the output has seen enough of it
            return 0

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, VISIBLE))
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
    help="Show the traceback of every error. Valid anywhere in a command.",
)
def judgesmith() -> None:
    """Compile LLM judges to agree with human ratings, and measure how far to trust them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    0 is done, 1 a check that failed, 2 bad input or set-up, 130 an interruption. What is raised
    beyond that is a bug.
    """
    if argv is None:
        # Our matrices are small: for their products threads wait longer than they compute.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    clients: list[Any] = []
    arguments, debug = _without_debug(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        # Where the terminal has no such letter, an escape is better than no table at all.
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")
    try:
        with without_bars(), stopping_well(), finishing() as clients:
            status = judgesmith.main(arguments, prog_name="judgesmith", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as fault:
        click.echo(fault.format_message(), err=True)
        return BAD_INPUT
    except click.exceptions.Exit as end:
        return end.exit_code
    except (click.Abort, KeyboardInterrupt):
        after = spent_text(clients)
        say(
            f"stopped{after and f' after {after}'}; run the same command again to resume.", err=True
        )
        return INTERRUPTED
    except SystemExit as end:
        return _status(end.code)
    except (JudgesmithError, click.ClickException) as fault:
        if debug:
            traceback.print_exc()
        _tell(fault_parts(fault), as_json="--json" in arguments)
        _drop_unwritten()
        return BAD_INPUT
    except Exception as fault:
        if has_stopped(fault):
            if "--json" not in arguments and (spent := spent_text(clients)):
                say(f"stopped after {spent}.", err=True)
            return INTERRUPTED  # the rest was said when it was asked for
        raise
    return _status(status)


def _drop_unwritten() -> None:
    """Send what a stream cannot write nowhere: Python writes it at its end, and would fail."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


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
    if fault["hint"]:
        say(f"({fault['hint']})", err=True)

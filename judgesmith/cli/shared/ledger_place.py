"""``--ledger``: the file or the database in which answers are kept."""

from __future__ import annotations

import click

from judgesmith.cli.shared.faults import blaming
from judgesmith.cli.shared.options import Command
from judgesmith.cli.shared.printing import say_notes

LEDGER = ".judgesmith/ledger.sqlite"


def ledger_option(command: Command) -> Command:
    """Add ``--ledger``."""
    return click.option(
        "--ledger",
        default=LEDGER,
        show_default=True,
        metavar="PATH",
        envvar="JUDGESMITH_LEDGER",
        callback=_place,
        help="Response cache: a file, or the postgresql:// URL of a shared database. "
        "JUDGESMITH_LEDGER keeps its password off the command line.",
    )(command)


def _place(context: click.Context, option: click.Parameter, place: str) -> str:
    """Return where answers are kept; workers that share a search in a database share them there.

    Otherwise each machine would ask for itself, on a budget of its own.
    """
    said = context.get_parameter_source("ledger")
    if said is not click.core.ParameterSource.DEFAULT:
        if "://" in place:
            from judgesmith.programs.lm.cache.store import check_place

            check_place(place)
        return place
    storage = _storage_of(context)
    if not storage:
        return place
    from judgesmith.optimizers.storage import check_storage
    from judgesmith.programs.lm.cache.store import is_postgres, shown_place

    if not is_postgres(storage):
        return place

    with blaming("--storage"):
        check_storage(storage)
    say_notes(
        [
            f"answers are kept with the search, in {shown_place(storage)}: all its workers share "
            "them, and one budget. --ledger names another place."
        ],
        as_json=True,
    )
    return storage


def _storage_of(context: click.Context) -> str:
    """Return the database that a search is kept in, empty where there is no such search."""
    given = context.params
    if given.get("optimizer") != "protocol" or given.get("record") or given.get("replay"):
        return ""
    for option in context.command.params:
        if option.name == "storage":
            # Options that were said are read before those that were not.
            return str(given.get("storage") or option.value_from_envvar(context) or "")
    return ""

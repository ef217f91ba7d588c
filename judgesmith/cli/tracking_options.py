"""Options that say where an experiment is tracked, and how that went."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from judgesmith.cli.faults import OptionError, blaming
from judgesmith.cli.options import together
from judgesmith.cli.printing import counted, say, say_notes

if TYPE_CHECKING:
    from judgesmith.cli.options import Command
    from judgesmith.experiments.runs import RunFolder
    from judgesmith.experiments.specs import Spec
    from judgesmith.experiments.tracking import MlflowTracker

_TRACK, _URI = "--track", "--tracking-uri"


def tracking_options(command: Command) -> Command:
    """Add ``--track`` and ``--tracking-uri``."""
    return together(
        command,
        click.option(
            _TRACK, type=click.Choice(["mlflow"]), help="Tell a tracking server what came out."
        ),
        click.option(
            _URI, metavar="URI", help="Its address, as http://host:5000 [env: MLFLOW_TRACKING_URI]."
        ),
    )


def tracking_address(track: str | None, uri: str | None) -> str | None:
    """Return the address of the tracking server, None where nothing is tracked."""
    if track is None:
        if uri is not None:
            raise OptionError(
                "it says where, and nothing is tracked.", option=_URI, hint="give --track mlflow."
            )
        return None
    from judgesmith.experiments.tracking.client import ADDRESS, check_address

    address = uri or os.environ.get(ADDRESS)
    if not address:
        raise OptionError(
            "there is no address of a server.",
            option=_TRACK,
            hint=f"give {_URI} http://localhost:5000, or set {ADDRESS}.",
        )
    with blaming(_named(uri)):
        check_address(address)
    return address


def reach_server(address: str | None, *, uri: str | None) -> None:
    """Refuse a server that cannot be used, before anything is made or asked."""
    if address is not None:
        from judgesmith.experiments.tracking.client import reach

        with _refused(uri):
            reach(address)


def begun_tracker(
    spec: Spec, folder: RunFolder, address: str | None, *, uri: str | None
) -> MlflowTracker | None:
    """Return what tells the server of a run, which knows by now all that the folder holds."""
    if address is None:
        return None
    from judgesmith.experiments.tracking import MlflowTracker

    with _refused(uri):
        tracker = MlflowTracker(spec, folder, address=address)
        tracker.begin()
    return tracker


@contextmanager
def broken_off(tracker: MlflowTracker | None) -> Iterator[None]:
    """Tell the server if the block is left by an error or an interruption."""
    try:
        yield
    except BaseException:
        if tracker is not None:
            tracker.stop()
        raise


def say_tracked(tracker: MlflowTracker, *, as_json: bool) -> bool:
    """Say where a run is tracked, or why the server is behind; return whether it is not."""
    if tracker.problem:
        say_notes(
            [
                f"{tracker.problem} What came out is in the folder all the same; the same command "
                "again tells the server what it lacks, and asks no model for that."
            ],
            as_json=as_json,
        )
    elif not as_json:
        say(
            f"{counted(tracker.n_sent, 'cell')} in the MLflow experiment {tracker.experiment} at "
            f"{tracker.address}, run {tracker.run_id}"
        )
    return not tracker.problem


@contextmanager
def _refused(uri: str | None) -> Iterator[None]:
    from judgesmith.experiments.tracking import TrackingError

    try:
        yield
    except ImportError as fault:
        raise OptionError(str(fault), option=_TRACK) from None
    except TrackingError as fault:
        raise OptionError(
            f"{fault} No model was asked.",
            option=_named(uri),
            hint=f"give an address that answers, or leave {_TRACK} out.",
        ) from None


def _named(uri: str | None) -> str:
    from judgesmith.experiments.tracking.client import ADDRESS

    return ADDRESS if uri is None else _URI

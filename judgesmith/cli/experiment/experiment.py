"""``judgesmith experiment``: run what a specification declares, and say what came out."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.cassettes import cassette_options, check_cassette, record_place
from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.model_options import (
    ModelAt,
    allow_model_option,
    announced,
    only_host_option,
)
from judgesmith.cli.shared.options import (
    WholeNumber,
    dry_run_option,
    json_option,
    shown_option,
)
from judgesmith.cli.shared.places import OUTPUT, check_output
from judgesmith.cli.shared.printing import (
    counted,
    print_json,
    print_table,
    say,
    say_notes,
    spent_on,
    usage_text,
)
from judgesmith.cli.shared.progress import stage_progress
from judgesmith.errors import shortened

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from judgesmith.data.items import DataSet
    from judgesmith.experiments.runs import Progressed, RunFolder, RunModels
    from judgesmith.experiments.runs.leaderboard import Leaderboard
    from judgesmith.experiments.runs.running import CellEstimate
    from judgesmith.experiments.specs import Cell, Spec
    from judgesmith.experiments.tracking import MlflowTracker

_TRACK, _URI = "--track", "--tracking-uri"


def tracking_address(track: str | None, uri: str | None) -> str | None:
    """Return the address of the tracking server, None where nothing is tracked."""
    if track is None:
        if uri is not None:
            raise OptionError(
                "it says where, and nothing is tracked.", option=_URI, hint="give --track mlflow."
            )
        return None
    from judgesmith.experiments.tracking.client import ADDRESS, check_tracking_address

    address = uri or os.environ.get(ADDRESS)
    if not address:
        raise OptionError(
            "there is no address of a server.",
            option=_TRACK,
            hint=f"give {_URI} http://localhost:5000, or set {ADDRESS}.",
        )
    with blaming(_named(uri)):
        check_tracking_address(address)
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
        raise OptionError(fault, option=_TRACK) from None
    except TrackingError as fault:
        raise OptionError(
            f"{fault} No model was asked.",
            option=_named(uri),
            hint=f"give an address that answers, or leave {_TRACK} out.",
        ) from None


def _named(uri: str | None) -> str:
    from judgesmith.experiments.tracking.client import ADDRESS

    return ADDRESS if uri is None else _URI


@tool("experiment", old_names={"--workers": "--processes"})
@click.argument("spec", metavar="SPEC.yaml")
@click.option("-o", "--output", required=True, metavar="RUN", help="Folder for the results.")
@click.option(
    "--model",
    "model_names",
    multiple=True,
    metavar="NAME[@URL]",
    help="Model to ask instead of those of the spec: one of its entries, or provider/model, at a "
    "server of yours. Repeatable.",
)
@shown_option(
    ("--processes", "workers"),
    WholeNumber(1),
    1,
    "Number of local processes. The same command on other machines joins the run.",
)
@allow_model_option
@only_host_option
@cassette_options
@click.option(_TRACK, type=click.Choice(["mlflow"]), help="Log results to a tracking server.")
@click.option(
    _URI,
    metavar="URI",
    help="Tracking server, such as http://host:5000 [env: MLFLOW_TRACKING_URI].",
)
@dry_run_option
@click.option("--force", is_flag=True, help="Replace the run of another spec.")
@json_option
def command(
    spec: str,
    output: str,
    model_names: tuple[str, ...],
    workers: int,
    allow_models: tuple[str, ...],
    only_hosts: tuple[str, ...],
    record: str | None,
    replay: str | None,
    track: str | None,
    tracking_uri: str | None,
    dry_run: bool,
    force: bool,
    as_json: bool,
) -> int | None:
    """Run every cell of the specification in SPEC.yaml, or of a paper's template, and rank them.

    Each cell is kept in RUN as soon as it is whole, so the same command again, or at the same
    time, resumes with those that are missing and tries those again that failed. 'judgesmith init'
    writes a specification to start from; the name of a template runs it as it is, and those of
    papers end with their published numbers beside yours. Exit status 1: a cell failed, the budget
    ended, or the tracking server failed on the way.
    """
    from judgesmith.experiments.runs import RunFolder, RunModels, check_run, run_cells
    from judgesmith.experiments.runs.claims import helped_by
    from judgesmith.experiments.runs.leaderboard import leaderboard, why_unranked
    from judgesmith.experiments.specs import cells_of, read_sets, read_spec
    from judgesmith.experiments.specs.templates import template_names, template_text
    from judgesmith.programs.judging.rows import usage_of
    from judgesmith.programs.lm import ResponseCache
    from judgesmith.programs.lm.cache.recordings import Recording, read_recording, save_recording

    is_template = spec in template_names() and not Path(spec).exists()
    if not is_template and not Path(spec).is_file():
        raise OptionError(
            f"there is no file {spec}.",
            option=spec,
            hint=f"write one with 'judgesmith init {spec}'.",
        )
    at = [ModelAt.parse(one) for one in model_names]
    declared = read_spec(spec, models={one.name: one.address for one in at})
    place = check_output(output)
    address = tracking_address(track, tracking_uri)
    with blaming(OUTPUT):
        begun = check_run(place, declared.fingerprint, overwrite=force)
    kept = None
    if record is not None:
        read = (str(declared.place(one)) for one in declared.files)
        kept = record_place(record, replay, spec, *read, output=output, force=force)
    with blaming("--replay"):
        played = None if replay is None else read_recording(check_cassette(replay))
    is_same = begun.get("run") == declared.fingerprint
    sets = read_sets(declared)
    notes = [unranked] if (unranked := why_unranked(declared)) else []
    say_notes([*notes, *_of_versions(begun)] if is_same else notes, as_json=as_json)
    cells = cells_of(declared)
    with blaming(spec):
        RunModels(declared, None, allow_models=allow_models, only_hosts=only_hosts).check(cells)
    if dry_run:
        known = RunFolder(place) if is_same else None
        _print_estimate(declared, sets, known, allow_models, as_json=as_json)
        return None
    ledger = place.resolve() / "ledger.sqlite"
    recording = Recording() if kept else None
    models = RunModels(
        declared,
        ledger,
        replay=replay is not None,
        recording=recording,
        allow_models=allow_models,
        only_hosts=only_hosts,
    )
    _check_keys(models, cells, spec)
    models.tell(announced)
    reach_server(address, uri=tracking_uri)
    with blaming(OUTPUT):
        text = template_text(spec) if is_template else Path(spec).read_text(encoding="utf-8-sig")
        text += "".join(f"# Run with --model {shlex.quote(str(one))}\n" for one in at)
        folder = RunFolder.of_spec(place, declared, text=text, overwrite=force)
    if played is not None:
        models.recording = played.play(ResponseCache(ledger)).recording
    tracker = begun_tracker(declared, folder, address, uri=tracking_uri)
    again = ["experiment", spec, "-o", output, "--json"]
    again += [word for name in model_names for word in ("--model", name)]
    again += [] if replay is None else ["--replay", replay]
    again += [word for name in allow_models for word in ("--allow-model", name)]
    again += [word for host in only_hosts for word in ("--only-host", host)]

    def tell(cell: Cell, state: str, reason: str) -> None:
        if not as_json:
            say(f"{cell.id}: {state}{': ' if reason else ''}{reason}")
        if tracker is not None:
            tracker.told()

    with (
        broken_off(tracker),
        helped_by(workers - 1, again),
        stage_progress(quiet=as_json) as progress,
    ):
        found = run_cells(
            declared, folder, models=models, sets=sets, on_progress=progress, told=tell
        )
    board = leaderboard(declared, folder)
    board.write(folder)
    if tracker is not None:
        tracker.close(found)
    if kept:
        save_recording(ResponseCache(ledger), kept, recording=recording)
    usage = usage_of(*models.made)
    if as_json:
        spent = spent_on(usage) if usage else {}
        told = {} if tracker is None else {"tracking": tracker.to_dict()}
        whole = {"complete": found.complete, **board.to_dict(), **spent, **told}
        print_json({"folder": str(place), **whole})
    else:
        print_board(board)
        if usage is not None and models.made:
            say(f"\nthis process: {usage_text(usage)}")
    _say_rest(found, place, as_json=as_json)
    is_told = tracker is None or say_tracked(tracker, as_json=as_json)
    return None if found.complete and is_told else 1


def _check_keys(models: RunModels, cells: Sequence[Cell], spec: str) -> None:
    """Refuse models without the key that they need, where no response is cached."""
    from judgesmith.programs.lm import ModelError

    try:
        with blaming(spec):
            models.check_keys(cells)
    except ModelError as fault:
        raise OptionError(fault, option=spec) from None


def _say_rest(found: Progressed, place: Path, *, as_json: bool) -> None:
    """Say what is missing, and where everything is."""
    rest = [f"{name} failed: {reason}" for name, reason in found.failed.items()]
    rest += [f"{name} is not finished: {reason}" for name, reason in found.unfinished.items()]
    say_notes(rest, as_json=as_json)
    if rest:
        say_notes(["the same command again tries what is missing."], as_json=as_json)
    if not as_json:
        say(f"{counted(len(found.finished), 'cell')} and the leaderboard are in {place}")


def print_board(board: Leaderboard) -> None:
    """Print the ranking over the whole set, or at the first level where there is one."""
    from judgesmith.experiments.runs.discernment_table import (
        DISCERNMENT_READING,
        discernment_tables,
    )
    from judgesmith.experiments.runs.leaderboard import (
        HEADER,
        LABELS_HEADER,
        SEEDS_HEADER,
        block_cells,
        by_labels,
        label_cells,
        labels_title,
        seeds_cells,
        seeds_title,
        titles,
    )
    from judgesmith.experiments.runs.paper_table import PAPER_READING, paper_tables

    for data, target in dict.fromkeys((one.data, one.target) for one in board.over_seeds):
        first = next(one for one in board.over_seeds if (one.data, one.target) == (data, target))
        _print_ranked(seeds_title(first), SEEDS_HEADER, seeds_cells(first))
    shown: set[tuple[str, str, int]] = set()
    for block in board.blocks:
        if (block.data, block.target, block.seed) not in shown:
            shown.add((block.data, block.target, block.seed))
            if lines := by_labels(block):
                _print_ranked(labels_title(block), LABELS_HEADER, [*map(label_cells, lines)])
            _print_ranked(titles(block), HEADER, block_cells(block))
    for table in discernment_tables(board.discernment):
        _print_ranked(table.title, table.header, table.rows)
    if board.discernment:
        say(f"\n{DISCERNMENT_READING}")
    if not board.blocks and not board.discernment:
        say("no cell has anything to rank.")
    elif len(shown) < len(board.blocks):
        say("\nOther levels are in leaderboard.md.")
    for table in paper_tables(board.published):
        print_table(table.title, table.rows, header=table.header, left=2, lead=2)
    if board.published:
        say(f"\n{PAPER_READING}")


def _print_ranked(title: str, header: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    rows = [
        [str(rank), *(shortened(cell, 40) for cell in line)] for rank, line in enumerate(lines, 1)
    ]
    print_table(title, rows, header=("#", *header), left=4, lead=4)


def _of_versions(begun: Mapping[str, Any]) -> list[str]:
    """Return a note where other versions have worked on the run, whose numbers may differ."""
    from judgesmith.experiments.runs.folder import other_versions

    if not (others := other_versions(begun)):
        return []
    return [
        f"this run was begun by judgesmith {' and '.join(others)}; cells that are finished stay "
        "as they are, and those of this version may come to other numbers. Name another folder "
        "to make all of them by one."
    ]


def _print_estimate(
    spec: Spec,
    sets: Mapping[str, DataSet],
    folder: RunFolder | None,
    allow_models: Collection[str],
    *,
    as_json: bool,
) -> None:
    from judgesmith.experiments.runs.running import estimate_cells
    from judgesmith.experiments.scoring.estimates import NO_CALLS

    found = estimate_cells(spec, sets, folder, allow_models=allow_models)
    known = [one.estimate for one in found if one.estimate is not None]
    n_finished = sum(one.finished for one in found)
    total = sum(known, NO_CALLS)
    if as_json:
        print_json(
            {
                "run": spec.fingerprint,
                "cells": [one.to_dict() for one in found],
                "finished": n_finished,
                "total": total.to_dict(),
            }
        )
        return
    lines = [
        [
            one.cell.id,
            shortened(one.problem, 60) if one.problem else _asked(one),
        ]
        for one in found
    ]
    done = f", {n_finished} of them finished" if n_finished else ""
    title = f"{spec.name}: {counted(len(found), 'cell')}{done}"
    print_table(title, lines, header=("cell", "calls"))
    cost = "unknown (give a price)" if total.cost_usd is None else f"${total.cost_usd:.2f}"
    say(
        f"\n{total.calls} calls if every answer can be read, at most {total.max_calls}, "
        f"about {total.expected} as a rule; cost {cost}.\nNothing was asked. What cells "
        "share is counted for each of them, and cached answers are not subtracted."
    )


def _asked(one: CellEstimate) -> str:
    if one.finished:
        return "finished"
    return "none" if one.estimate is None else str(one.estimate.calls)

"""``--record`` and ``--replay``: a run of a command as a cassette, and a cassette as a run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import Command, together
from judgesmith.cli.shared.places import file_place, refuse_existing
from judgesmith.cli.shared.printing import counted, say_notes

if TYPE_CHECKING:
    from judgesmith.programs.lm.cache.recordings import Recording

RECORD, REPLAY = "--record", "--replay"
_ENDS = (".jsonl", ".jsonl.gz")


@dataclass(frozen=True, kw_only=True)
class RecordedRun:
    """A run that is recorded, or played."""

    recording: Recording
    replay: bool
    folder: Path


def cassette_options(command: Command) -> Command:
    return together(
        command,
        click.option(
            RECORD,
            metavar="CASSETTE",
            help="Record every model answer of the run in a .jsonl[.gz] file.",
        ),
        click.option(REPLAY, metavar="CASSETTE", help="Replay recorded answers; call no model."),
    )


def record_or_replay(command: Command) -> Command:
    """Return a command with both options, and a ledger of its own for answers that are played."""

    @wraps(command)
    def run(*, record: str | None, replay: str | None, **given: Any) -> Any:
        _refuse_shared(given, record)
        if record is not None:
            force = bool(given["force"]) if "force" in given else None
            output, ledger = given.get("output"), given["ledger"]
            place = record_place(
                record, replay, *_read_by(given), output=output, ledger=ledger, force=force
            )
            _refuse_unfinished(given.get("output"), force=force)
            from judgesmith.programs.lm.cache.recordings import Recording

            with tempfile.TemporaryDirectory(prefix="judgesmith-") as folder:
                recorded_run = RecordedRun(recording=Recording(), replay=False, folder=Path(folder))
                done = command(recorded_run=recorded_run, **given)
            _write(recorded_run, given["ledger"], place, as_json=bool(given.get("as_json")))
            return done
        if replay is not None:
            with _played(check_cassette(replay)) as (recorded_run, ledger):
                return command(recorded_run=recorded_run, **given | {"ledger": str(ledger)})
        return command(recorded_run=None, **given)

    return cassette_options(cast("Command", run))


def _refuse_shared(given: Mapping[str, Any], record: str | None) -> None:
    """Refuse two options that name one file to write: one would take the place of the other."""
    ledger, output = given["ledger"], given.get("output")
    for name, option, others in (
        (ledger, "--ledger", {"-o": output}),
        (given.get("log"), "--log", {"--ledger": ledger, RECORD: record}),
        (given.get("metrics_file"), "--metrics-file", {"--ledger": ledger, RECORD: record}),
    ):
        for other, place in others.items():
            if name and place and _resolved(name) == _resolved(place):
                raise OptionError(
                    f"{name} is what {other} names, too.", option=option, hint="name another file."
                )


def _resolved(name: str) -> Path:
    return Path(name).expanduser().resolve()


def _read_by(given: Mapping[str, Any]) -> list[str]:
    """Return all that may name a file to read, with what stands before a colon, too."""
    told = [value for name, value in given.items() if name not in ("output", "ledger")]
    words = [one for each in told for one in (each if isinstance(each, tuple) else (each,))]
    said = [one for one in words if isinstance(one, str)]
    files = [*said, *(one.rpartition(":")[0] for one in said)]
    return [one for one in files if os.path.isfile(one)]  # noqa: PTH113 - which no name makes fail


def _refuse_unfinished(output: object, *, force: bool | None) -> None:
    """Refuse to record what is done in part, because what was done is not asked again."""
    if isinstance(output, str):
        why = ", and what is done is not asked again, so its answers would be missing"
        refuse_existing(Path(output), output, force=force, option=RECORD, what="place", why=why)


def _write(recorded_run: RecordedRun, ledger: str, place: Path, *, as_json: bool) -> None:
    from judgesmith.programs.lm import ResponseCache
    from judgesmith.programs.lm.cache.recordings import save_recording

    if not (recorded_run.recording.answered or recorded_run.recording.failures):
        say_notes([f"no answer was given, so {place} is not written."], as_json=as_json)
        return
    n_answers = save_recording(
        ResponseCache(ledger), place, recording=recorded_run.recording, whole=False
    )
    failed = len(recorded_run.recording.failures)
    also = f" and {counted(failed, 'failed request')}" if failed else ""
    say_notes([f"{counted(n_answers, 'answer')}{also} are in {place}"], as_json=as_json)


@contextmanager
def _played(cassette: Path) -> Iterator[tuple[RecordedRun, Path]]:
    """Yield what plays a cassette, and the ledger that its answers stand in."""
    from judgesmith.programs.lm import ResponseCache
    from judgesmith.programs.lm.cache.recordings import NotRecorded, play_recording

    with tempfile.TemporaryDirectory(prefix="judgesmith-") as folder:
        ledger = ResponseCache(Path(folder) / "ledger.sqlite")
        try:
            with blaming(REPLAY):
                recording = play_recording(cassette, ledger).recording
            yield RecordedRun(recording=recording, replay=True, folder=Path(folder)), ledger.path
        except NotRecorded as fault:
            raise OptionError(fault, option=REPLAY) from fault
        finally:
            ledger.close()


def record_place(
    record: str,
    replay: str | None,
    *read: str | None,
    output: str | None = None,
    ledger: str | None = None,
    force: bool | None,
) -> Path:
    """Return where a cassette is written: over another of this name only where that is forced."""
    if replay is not None:
        raise OptionError(
            "a run is recorded or replayed; its cassette would be a copy of what it is played "
            "from.",
            option=RECORD,
            hint=f"leave {RECORD} or {REPLAY} out.",
        )
    if not Path(record).name:
        raise OptionError(f"{record!r} names no file.", option=RECORD, hint="name one.")
    try:
        place = file_place(record, *read, like="run.jsonl.gz")
    except OptionError as fault:
        raise OptionError(fault, option=RECORD) from None
    if not place.name.endswith(_ENDS):
        raise OptionError(
            "a cassette is JSON Lines.",
            option=RECORD,
            hint=f"name a file in .jsonl or .jsonl.gz, not {record}.",
        )
    for other, option in ((output, "-o"), (ledger, "--ledger")):
        if other and Path(other).resolve() == place.resolve():
            raise OptionError(
                f"{record} is what {option} names, too.", option=RECORD, hint="name another file."
            )
    refuse_existing(place, record, force=force, option=RECORD)
    return place


def check_cassette(replay: str) -> Path:
    """Return the file that is played."""
    place = Path(replay)
    if not place.is_file():
        raise OptionError(f"there is no cassette {replay}.", option=REPLAY, hint="name a file.")
    return place

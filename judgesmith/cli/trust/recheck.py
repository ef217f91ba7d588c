"""``judgesmith monitor recheck``: whether a judge still says what it said when it was made."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgesmith.cli.shared.cassettes import RECORD, REPLAY
from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.judge_models import asked_models, judging_estimate, used
from judgesmith.cli.shared.model_options import AskedChoice, ModelChoice
from judgesmith.cli.shared.options import (
    Number,
    WholeNumber,
    dry_run_option,
    json_option,
    shown_option,
)
from judgesmith.cli.shared.printing import (
    print_estimate,
    print_json,
    say,
    say_notes,
    say_wrapped,
    spent_on,
    usage_text,
)
from judgesmith.cli.shared.progress import counting
from judgesmith.cli.shared.role_options import asking_options
from judgesmith.cli.shared.stopping import leave_unfinished
from judgesmith.cli.shared.verdicts import print_verdict, recheck_verdict

if TYPE_CHECKING:
    from judgesmith.experiments.monitor.recheck_rule import RegressionReport
from judgesmith.errors import file_faults

_FRESH = 6 * 3600.0  # seconds after which answers of an interrupted recheck are of another day


@tool(
    "recheck",
    old_names={
        "--samples": "--repeats",
        "--confidence": "--pass-probability",
        "--max-unscored": "--max-missing",
    },
)
@click.argument("judge")
@shown_option(("--repeats", "samples"), WholeNumber(1), 3, "Requests per golden item, at most 100.")
@shown_option(
    "--tolerance", Number(0, 0.99), 0.05, "Tolerated change, as a share of the scale's width."
)
@shown_option(
    ("--pass-probability", "confidence"),
    Number(0.5, 0.9999),
    0.95,
    "Probability of passing a judge that changed by exactly the tolerance.",
)
@shown_option(
    ("--max-missing", "max_unscored"), Number(0, 0.99), 0.05, "Tolerated share of missing scores."
)
@asking_options
@dry_run_option
@json_option
def command(
    judge: str,
    samples: int,
    tolerance: float,
    confidence: float,
    max_unscored: float,
    dry_run: bool,
    as_json: bool,
    choice: ModelChoice,
) -> int:
    """Ask the golden items of JUDGE again, and say whether their scores are still the same.

    Status 1 if they moved by more than is tolerated and by more than chance explains. Everything
    is asked anew, even if cached; only an interrupted recheck resumes, within six hours.
    """
    from judgesmith.experiments.monitor.recheck_rule import RecheckSettings
    from judgesmith.experiments.monitor.rechecking import (
        check_golden,
        golden_texts,
        recheck_judge,
        recheck_notes,
    )
    from judgesmith.programs.artifacts.saved_ensembles import load_saved
    from judgesmith.programs.lm import lm_client_of

    with blaming("--repeats"):
        settings = RecheckSettings(
            samples=samples, tolerance=tolerance, confidence=confidence, unscored=max_unscored
        )
    asked = choice.of(AskedChoice)
    if asked.recorded_run is not None:
        raise OptionError(
            "a recheck is about the model of now, of which no cassette tells.",
            option=REPLAY if asked.recorded_run.replay else RECORD,
            hint="leave it out.",
        )
    saved = load_saved(judge)
    with blaming(judge):
        check_golden(saved)
    beside = Path(asked.ledger).expanduser()
    if beside.is_dir():
        raise OptionError(
            f"{asked.ledger!r} is a folder.",
            option="--ledger",
            hint="name a file, beside which the recheck is kept.",
        )
    if dry_run:
        bound, lms = asked_models(saved, asked, run_id="")
        estimate = judging_estimate(bound, golden_texts(saved), lms, often=samples)
        print_estimate(estimate, as_json=as_json)
        return 0
    place = _ledger_of(saved.fingerprint, asked.folder)
    asked = replace(asked, ledger=str(place))
    bound, lms = asked_models(saved, asked, run_id=f"recheck {saved.fingerprint}")
    with _own(place), counting("golden items", quiet=as_json) as tell:
        try:
            found = recheck_judge(
                bound,
                settings,
                lm=lms[0],
                others=lms[1:],
                first_round=1,
                concurrency=choice.concurrency,
                on_progress=tell,
            )
            leave_unfinished()  # its ledger ends with it
        finally:
            clients = [client for one in lms if (client := lm_client_of(one)) is not None]
            for client in clients:
                if client.ledger is not None:
                    client.ledger.close()
    usage = used(*lms)
    if as_json:
        print_json({**found.to_dict(), **spent_on(usage)})
    else:
        report(found, judge)
        say(usage_text(usage))
    adaptations = dict.fromkeys(said for client in clients for said in client.adaptations)
    say_notes([*recheck_notes(found), *adaptations], as_json=as_json)
    return 1 if found.drifted else 0


@file_faults()
def _ledger_of(fingerprint: str, folder: Path) -> Path:
    """Return where the answers of a recheck are kept: of one that was interrupted, or a new one."""
    fresh = None
    for place in sorted(folder.glob(f"recheck-{fingerprint}-*.sqlite")):
        if time.time() - _last_written(place) > _FRESH:
            _remove(place)
        else:
            fresh = place
    return fresh or folder / f"recheck-{fingerprint}-{time.time_ns()}.sqlite"


@contextmanager
def _own(place: Path) -> Iterator[None]:
    """Hold the ledger of one recheck, which ends with it; one that was interrupted leaves it."""
    with file_faults():
        place.parent.mkdir(parents=True, exist_ok=True)
    lock = place.with_name(f"{place.name}-lock")
    with file_faults(lock), lock.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise OptionError(
                "another recheck of this judge is under way here.",
                option="--ledger",
                hint="wait for it, or say another place with --ledger.",
            ) from None
        try:
            yield
            _remove(place)
        finally:
            lock.unlink(missing_ok=True)


def _last_written(place: Path) -> float:
    parts = [place, place.with_name(f"{place.name}-wal")]
    return max((one.stat().st_mtime for one in parts if one.exists()), default=0.0)


@file_faults()
def _remove(place: Path) -> None:
    for end in ("", "-wal", "-shm", "-owners", "-lock"):
        place.with_name(place.name + end).unlink(missing_ok=True)


def report(found: RegressionReport, judge: str = "") -> None:
    """Print whether the judge answers as it did, and how much its scores moved."""
    from judgesmith.experiments.monitor.rechecking import recheck_text

    n, often = len(found.items), found.settings.samples
    names = [one.name for one in found.checks if one.drifted]
    print_verdict(recheck_verdict(drifted=names, items=n, often=often))
    say(f"{judge or found.judge}: scored by {', '.join(found.asked)}")
    for line in recheck_text(found):
        say_wrapped(line, hang=9)

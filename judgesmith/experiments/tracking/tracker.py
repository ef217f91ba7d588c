"""One experiment on one MLflow server: a run for it, and a nested run for each of its cells.

Runs are found by their tags, never by what this process remembers, so a command given again, or by
several at once, goes on with the runs that are there. A run of a cell is marked with a digest of
its result when all of it has arrived; until then the same things are sent again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from judgesmith.experiments.runs import Progressed, RunFolder, progressed
from judgesmith.experiments.runs.claims import claimed
from judgesmith.experiments.runs.folder import BOARD_FILES, JUDGE, RESULT, SPEC_FILE
from judgesmith.experiments.specs import Cell, Spec, cells_of
from judgesmith.experiments.tracking import sending as telling
from judgesmith.experiments.tracking.client import (
    TrackingError,
    asked_once,
    mlflow_client,
    shown_address,
    told_plainly,
)
from judgesmith.experiments.tracking.sending import Sending
from judgesmith.programs.lm.limits import STOPPING

REPORT = "report.html"
"""The page of a run, which is kept with it where it stands in its folder."""

_PAUSE = 0.2
_RESULT_TAG, _FILES_TAG = "judgesmith.result", "judgesmith.files"


class MlflowTracker:
    """Tells an MLflow server of a run, as far as it is.

    Parameters
    ----------
    spec : Spec
        What is run. Its title is the name of the experiment, unless ``MLFLOW_EXPERIMENT_NAME``
        says another.
    folder : RunFolder
        Of this run.
    address : str
        See ``mlflow_client``.

    Attributes
    ----------
    experiment : str
        The name of the experiment on the server.
    run_id : str or None
        The run of the experiment there; None before ``begin``.
    problem : str
        Why the server is behind the folder, as far as that is known; else empty.

    Raises
    ------
    ValueError
        If the address is none.
    ImportError
        If MLflow is not installed.
    TrackingError
        If MLflow cannot use the address.
    """

    def __init__(self, spec: Spec, folder: RunFolder, *, address: str) -> None:
        self.spec = spec
        self.folder = folder
        self.address = shown_address(address)
        self.experiment = telling.shortened(
            os.environ.get("MLFLOW_EXPERIMENT_NAME") or spec.name, 200
        )
        self.run_id: str | None = None
        self.problem = ""
        self._client = mlflow_client(address)
        self._cells = cells_of(spec)
        self._sent: dict[str, str] = {}
        self._finished: set[str] = set()

    def begin(self) -> None:
        """Make the run of the experiment, and catch up with what the folder holds already.

        Raises
        ------
        TrackingError
            If the server does not take it.
        """
        with self._alone():
            self._catch_up()
            if not progressed(self.folder, self._cells).complete:
                self._set_status("RUNNING")

    def told(self) -> None:
        """Tell of what is finished by now; a server that fails is left alone until ``close``."""
        if self.problem:
            return
        # Whoever has the claim tells of the same cells, now or in the end.
        with claimed(self._claim) as mine:
            if mine:
                try:
                    self._catch_up()
                except TrackingError as fault:
                    self.problem = str(fault)

    def close(self, found: Progressed) -> None:
        """Catch up with everything, rankings included, and say how the run ended.

        A server that fails is told of in ``problem``.
        """
        # Who has failed already is not waited for at length again.
        patience = asked_once() if self.problem else nullcontext()
        try:
            with self._alone(), patience:
                self._catch_up()
                self._send_files()
                self._set_status("FINISHED" if found.complete else "FAILED")
        except TrackingError as fault:
            self.problem = str(fault)
        else:
            self.problem = ""

    def stop(self) -> None:
        """Say that the run was broken off, if the server takes it at the first attempt."""
        with suppress(TrackingError), asked_once():
            self._set_status("KILLED")

    def to_dict(self) -> dict[str, Any]:
        """Return where the run is, ready for JSON."""
        return {
            "address": self.address,
            "experiment": self.experiment,
            "run_id": self.run_id,
            "cells": self.n_sent,
            "problem": self.problem or None,
        }

    @property
    def n_sent(self) -> int:
        """How many cells the server is known to have been told of."""
        return len(self._sent)

    @property
    def _claim(self) -> Path:
        return self.folder.path / "claims" / "tracking"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no other process of this run tells the server anything."""
        while True:
            with claimed(self._claim) as mine:
                if mine:
                    yield
                    return
            STOPPING.check()
            time.sleep(_PAUSE)

    def _catch_up(self) -> None:
        self.folder.check_own()
        # What is finished stays as it is; what failed may be tried again.
        open_ones = [cell for cell in self._cells if cell.id not in self._finished]
        told = {cell.id: self._state_of(cell) for cell in open_ones}
        new = [
            cell for cell in open_ones if told[cell.id] and self._sent.get(cell.id) != told[cell.id]
        ]
        if self.run_id is not None and not new:
            return
        results = {cell.id: self.folder.result(cell) for cell in new}
        with told_plainly(self.address):
            sending = Sending(self._client, self._experiment_id())
            if self.run_id is None:
                self.run_id = self._begun(sending)
            runs = sending.cells_of(self.spec.fingerprint, [cell.id for cell in new])
            for cell in new:
                result = results[cell.id]
                self._send(sending, cell, result, runs.get(cell.id, []), told[cell.id])
                self._sent[cell.id] = told[cell.id]
                if result is not None:
                    self._finished.add(cell.id)
            self._count(sending)

    def _begun(self, sending: Sending) -> str:
        """Return the run of the experiment, which is made where there is none."""
        run = sending.experiment_of(self.spec.fingerprint)
        if run is None:
            run = sending.create(self.spec.name, telling.run_tags(self.spec))
        # Again where it is there: who made it may have been killed before.
        sending.log(run, params=telling.run_params(self.spec))
        return str(run.info.run_id)

    def _state_of(self, cell: Cell) -> str:
        """Return what changes when a cell comes to something else; nothing as long as nothing."""
        if self.folder.is_finished(cell):
            return telling.digest_of(self.folder.place_of(cell) / RESULT)
        failure = self.folder.failure(cell)
        return "" if failure is None else f"failed: {failure.reason}"

    def _send(
        self, sending: Sending, cell: Cell, result: Any, runs: Sequence[Any], state: str
    ) -> None:
        """Send what a cell came to, unless all of it is there; a result is never replaced."""
        if any(run.data.tags.get(_RESULT_TAG) == state for run in runs):
            return
        begun = [run for run in runs if _RESULT_TAG not in run.data.tags]
        place = self.folder.place_of(cell) / RESULT
        if result is None:
            if any(run.info.status == "FAILED" for run in begun):
                return
            run = begun[0] if begun else self._created(sending, cell)
            failure = telling.shortened(state, telling.LONGEST_TAG)
            sending.log(run, params=telling.cell_params(self.spec, cell))
            sending.log(run, tags={"judgesmith.problem": failure})
            sending.end(run, "FAILED")
            return
        seconds = (result["usage"] or {}).get("seconds") or 0.0
        ended = int(place.stat().st_mtime * 1000)
        run = begun[0] if begun else self._created(sending, cell, ended - int(1000 * seconds))
        sending.log(
            run,
            params=telling.cell_params(self.spec, cell),
            metrics=telling.cell_metrics(result),
            at=ended,
        )
        sending.upload(run, place)
        judge = place.parent / JUDGE
        sending.upload(run, judge / "judge.json", judge / "README.md", under=JUDGE)
        sending.log(run, tags=telling.result_tags(result) | {_RESULT_TAG: state})
        sending.untag(run, "judgesmith.problem")
        sending.end(run, "FINISHED", at=ended)

    def _created(self, sending: Sending, cell: Cell, at: int | None = None) -> Any:
        tags = telling.cell_tags(self.spec, cell) | {"mlflow.parentRunId": str(self.run_id)}
        return sending.create(cell.id, tags, at=at)

    def _count(self, sending: Sending) -> None:
        """Tell how many cells came to what, where that has changed."""
        found = progressed(self.folder, self._cells)
        counts = {
            "cells/finished": float(len(found.finished)),
            "cells/failed": float(len(found.failed)),
            "cells/unfinished": float(len(found.unfinished)),
        }
        parent = self._client.get_run(self.run_id)
        before = parent.data.metrics
        changed = {name: n for name, n in counts.items() if before.get(name) != n}
        if changed:
            sending.log(parent, metrics=changed, at=int(time.time() * 1000))

    def _send_files(self) -> None:
        """Send rankings, specification and report, unless those that are there are these."""
        here = self.folder.path
        files = [here / name for name in (*BOARD_FILES, REPORT) if (here / name).is_file()]
        spec = here / SPEC_FILE
        digest = telling.digest_of(*files, *([spec] if spec.is_file() else []))
        with told_plainly(self.address):
            run = self._client.get_run(self.run_id)
            if run.data.tags.get(_FILES_TAG) == digest:
                return
            sending = Sending(self._client, run.info.experiment_id)
            sending.upload(run, *files)
            if spec.is_file():
                sending.upload_text(run, spec)
            sending.log(run, tags={_FILES_TAG: digest})

    def _set_status(self, status: str) -> None:
        with told_plainly(self.address):
            run = self._client.get_run(self.run_id)
            if run.info.status == status:
                return
            if status == "RUNNING":
                self._client.update_run(self.run_id, status=status)
            else:
                Sending(self._client, run.info.experiment_id).end(run, status)

    def _experiment_id(self) -> str:
        found = self._client.get_experiment_by_name(self.experiment)
        if found is None:
            with asked_once():
                return str(self._client.create_experiment(self.experiment))
        if found.lifecycle_stage != "active":
            raise TrackingError(
                f"the experiment {self.experiment!r} was deleted on {self.address}.",
                hint="restore it there, or set MLFLOW_EXPERIMENT_NAME to another name.",
            )
        return str(found.experiment_id)

"""One experiment on an MLflow server: a run for it, and a nested run for each of its cells.

Runs are found by their tags and not by the memory of this process, so that the same command, given
again or by several processes at once, resumes the runs on the server. The run of a cell is marked
with a digest of its result when all of it has arrived; until then the same data are sent again.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from judgesmith.errors import file_faults
from judgesmith.experiments.evaluate.agreement import LEVELS
from judgesmith.experiments.runs import Progressed, RunFolder, progressed
from judgesmith.experiments.runs.claims import claim_cell
from judgesmith.experiments.runs.folder import BOARD_FILES, JUDGE, RESULT, SPEC_FILE
from judgesmith.experiments.specs import Cell, Spec, cells_of
from judgesmith.experiments.tracking.client import (
    TrackingError,
    asked_once,
    mlflow_client,
    shown_address,
    told_plainly,
)
from judgesmith.programs.artifacts.card import printable
from judgesmith.programs.extras import library
from judgesmith.programs.lm.errors import redacted
from judgesmith.programs.lm.limits import STOPPING

LONGEST_PARAM = 500
"""Characters of a parameter; MLflow takes 6000, its servers of before 2.8 no more than this."""

LONGEST_TAG = 5000
"""Characters of a tag; MLflow takes 8000 since 2.15, and 5000 before."""

LONGEST_NAME = 250

_OF_Q = ("low", "high", "n", "n_groups")
_STATISTICS = ("pearson", "spearman", "kendall", "q")
_SAID_OF_CELLS = ("data", "target", "judge", "optimizer", "model", "seed")


def cell_params(spec: Spec, cell: Cell) -> dict[str, str]:
    """Return what a cell was run with, flat: its coordinates, and what is said of its parts."""
    found: dict[str, Any] = {name: getattr(cell, name) for name in _SAID_OF_CELLS}
    found["holdout"] = spec.holdout
    parts: dict[str, Any] = {"data": spec.data[cell.data], "judge": spec.judges[cell.judge]}
    if cell.optimizer is not None:
        parts["optimizer"] = spec.optimizers[cell.optimizer]
    if cell.model is not None:
        found["model_name"] = spec.model_name(cell.model)
    for name, part in parts.items():
        said = part.model_dump(mode="json", exclude_defaults=True)
        found.update(_flat(said, name))
    return {
        _key(name): shortened_param(_text(value), LONGEST_PARAM)
        for name, value in found.items()
        if value is not None
    }


def cell_metrics(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the defined numbers of a cell: ``sample/q``, ``sample/q_low``, ``gain/sample_q`` …."""
    found: dict[str, Any] = {}
    for level, statistics in (result["agreement"].get("heldout") or {}).items():
        for name in _STATISTICS:
            found.update(_estimate(f"{level}/{name}", statistics.get(name)))
    for part in ("selection", "uncompiled", "gain"):
        for level, statistics in (result["agreement"].get(part) or {}).items():
            if level in LEVELS:
                found.update(_estimate(f"{part}/{level}_q", statistics.get("q")))
    rows = result["rows"]
    found.update({f"rows/{name}": n for name, n in rows.items()})
    if rows["heldout"]:
        found["unscored_share"] = rows["unscored"] / rows["heldout"]
    for part in ("per_item", "usage"):
        found.update({f"{part}/{name}": n for name, n in (result.get(part) or {}).items()})
    return {_key(name): float(value) for name, value in found.items() if _is_number(value)}


def cell_tags(spec: Spec, cell: Cell) -> dict[str, str]:
    """Return what a cell is found by, and by whom it was made."""
    return {
        "judgesmith.kind": "cell",
        "judgesmith.run": spec.fingerprint,
        "judgesmith.cell": cell.id,
        "judgesmith.seed": str(cell.seed),
        "judgesmith.version": version("judgesmith"),
    }


def result_tags(result: Mapping[str, Any]) -> dict[str, str]:
    """Return of which judge and target a result is, at which levels and on how many rows."""
    heldout = result["agreement"].get("heldout") or {}
    of_q = {level: heldout[level]["q"] for level in sorted(heldout) if level in LEVELS}
    defined = [level for level, q in of_q.items() if q["value"] is not None]
    tags = {
        "judgesmith.judge": str(result.get("judge")),
        "judgesmith.target": str(result.get("target")),
        "judgesmith.level": ", ".join(defined) or "none",
        "judgesmith.n": str(max((q["n"] for q in of_q.values()), default=0)),
    }
    return {name: shortened_param(text, LONGEST_TAG) for name, text in tags.items()}


def run_params(spec: Spec) -> dict[str, str]:
    """Return what holds for all cells of an experiment."""
    found = {
        "data": list(spec.data),
        "judges": list(spec.judges),
        "optimizers": list(spec.optimizers),
        "models": list(spec.models),
        "seeds": list(spec.seeds),
        "holdout": spec.holdout,
        "objective": spec.objective,
    }
    return {
        name: shortened_param(_text(value), LONGEST_PARAM)
        for name, value in found.items()
        if value is not None
    }


def run_tags(spec: Spec) -> dict[str, str]:
    """Return what an experiment is found by, and what it is about."""
    tags = {
        "judgesmith.kind": "experiment",
        "judgesmith.run": spec.fingerprint,
        "judgesmith.version": version("judgesmith"),
    }
    about = shortened_param(" ".join(spec.about.split()), LONGEST_TAG)
    return tags | ({"mlflow.note.content": about} if about else {})


@file_faults()
def files_digest(*places: Path) -> str:
    """Return twelve hex digits that change with the name or the bytes of any of the files."""
    found = hashlib.sha256()
    for place in places:
        found.update(f"{place.name}\0".encode())
        found.update(hashlib.sha256(place.read_bytes()).digest())
    return found.hexdigest()[:12]


def shortened_param(text: str, longest: int) -> str:
    r"""Return anybody's text without keys, on one line and within a limit."""
    line = printable(redacted(text))
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def _flat(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _flat(one, f"{name}.{key}")
    else:
        yield name, value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    """Return a name of the characters that MLflow takes in one."""
    return re.sub(r"[^A-Za-z0-9_./ -]", "_", name)[:LONGEST_NAME]


def _estimate(name: str, found: Mapping[str, Any] | None) -> Iterator[tuple[str, Any]]:
    if found is not None and found.get("value") is not None:
        yield name, found["value"]
        for part in _OF_Q:
            yield f"{name}_{part}", found.get(part)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_PAGE = 1000
_FEW = 20  # cells that are looked for one by one
_MOST_PARAMS, _MOST_METRICS = 100, 1000
_One = TypeVar("_One")


class Sending:
    """Runs of one MLflow experiment."""

    def __init__(self, client: Any, experiment_id: str) -> None:
        self._client = client
        self._experiment_id = experiment_id
        self._entities = library("mlflow.entities", extra="mlflow")

    def experiment_of(self, fingerprint: str) -> Any:
        """Return the oldest run of a specification; None if missing."""
        condition = f"{_by_run(fingerprint)} AND tags.`judgesmith.kind` = 'experiment'"
        return next(self._searched(condition), None)

    def cells_of(self, fingerprint: str, cells: Sequence[str]) -> dict[str, list[Any]]:
        """Return the runs of some cells by their ids, oldest first."""
        condition = f"{_by_run(fingerprint)} AND tags.`judgesmith.kind` = 'cell'"
        conditions = [condition] if cells else []
        if len(cells) <= _FEW:
            conditions = [f"{condition} AND tags.`judgesmith.cell` = '{one}'" for one in cells]
        found: dict[str, list[Any]] = {}
        for one in conditions:
            for run in self._searched(one):
                found.setdefault(run.data.tags["judgesmith.cell"], []).append(run)
        return found

    def create(self, name: str, tags: Mapping[str, str], *, at: int | None = None) -> Any:
        """Make a run. It has its tags from the first moment, so that it is found again."""
        # A request that arrived though its answer did not must not be sent again.
        with asked_once():
            return self._client.create_run(
                self._experiment_id,
                run_name=shortened_param(name, 200),
                tags=dict(tags),
                start_time=at,
            )

    def log(
        self,
        run: Any,
        *,
        params: Mapping[str, str] | None = None,
        metrics: Mapping[str, float] | None = None,
        tags: Mapping[str, str] | None = None,
        at: int = 0,
    ) -> None:
        """Log things of a run. Metrics of the same time ``at``, in ms, are kept once."""
        client, own, make = self._client, run.info.run_id, self._entities
        told = [make.Param(name, value) for name, value in (params or {}).items()]
        for some in _portions(told, _MOST_PARAMS):
            client.log_batch(own, params=some)
        points = [make.Metric(name, value, at, 0) for name, value in (metrics or {}).items()]
        for some in _portions(points, _MOST_METRICS):
            client.log_batch(own, metrics=some)
        marks = [make.RunTag(name, value) for name, value in (tags or {}).items()]
        for some in _portions(marks, _MOST_PARAMS):
            client.log_batch(own, tags=some)

    def untag(self, run: Any, name: str) -> None:
        """Take a tag away, if the run had it when it was found."""
        if name in run.data.tags:
            self._client.delete_tag(run.info.run_id, name)

    def upload(self, run: Any, *places: Path, under: str | None = None) -> None:
        """Keep files with a run; those that are not there are left out."""
        for place in places:
            if place.is_file():
                self._client.log_artifact(run.info.run_id, str(place), under)

    @file_faults()
    def upload_text(self, run: Any, place: Path) -> None:
        """Keep a text with a run, without keys."""
        text = redacted(place.read_text(encoding="utf-8", errors="replace"))
        self._client.log_text(run.info.run_id, text, place.name)

    def end(self, run: Any, status: str, *, at: int | None = None) -> None:
        """Say how a run ended, and when, in ms; None is now."""
        self._client.set_terminated(run.info.run_id, status, at)

    def _searched(self, condition: str) -> Iterator[Any]:
        token = None
        while True:
            found = self._client.search_runs(
                [self._experiment_id],
                condition,
                max_results=_PAGE,
                order_by=["attributes.start_time ASC"],
                page_token=token,
            )
            yield from found
            token = found.token
            if not token:
                return


def _by_run(fingerprint: str) -> str:
    return f"tags.`judgesmith.run` = '{fingerprint}'"


def _portions(values: Iterable[_One], most: int) -> Iterator[list[_One]]:
    left = iter(values)
    while some := list(itertools.islice(left, most)):
        yield some


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
        self.experiment = shortened_param(
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
        with claim_cell(self._claim) as mine:
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
            with claim_cell(self._claim) as mine:
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
        """Return the run of the experiment, which is created if missing."""
        run = sending.experiment_of(self.spec.fingerprint)
        if run is None:
            run = sending.create(self.spec.name, run_tags(self.spec))
        # Again where it is there: who made it may have been killed before.
        sending.log(run, params=run_params(self.spec))
        return str(run.info.run_id)

    def _state_of(self, cell: Cell) -> str:
        """Return what changes when a cell comes to something else; nothing as long as nothing."""
        if self.folder.is_finished(cell):
            return files_digest(self.folder.place_of(cell) / RESULT)
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
            failure = shortened_param(state, LONGEST_TAG)
            sending.log(run, params=cell_params(self.spec, cell))
            sending.log(run, tags={"judgesmith.problem": failure})
            sending.end(run, "FAILED")
            return
        seconds = (result["usage"] or {}).get("seconds") or 0.0
        ended = int(place.stat().st_mtime * 1000)
        run = begun[0] if begun else self._created(sending, cell, ended - int(1000 * seconds))
        sending.log(
            run,
            params=cell_params(self.spec, cell),
            metrics=cell_metrics(result),
            at=ended,
        )
        sending.upload(run, place)
        judge = place.parent / JUDGE
        sending.upload(run, judge / "judge.json", judge / "README.md", under=JUDGE)
        sending.log(run, tags=result_tags(result) | {_RESULT_TAG: state})
        sending.untag(run, "judgesmith.problem")
        sending.end(run, "FINISHED", at=ended)

    def _created(self, sending: Sending, cell: Cell, at: int | None = None) -> Any:
        tags = cell_tags(self.spec, cell) | {"mlflow.parentRunId": str(self.run_id)}
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
        digest = files_digest(*files, *([spec] if spec.is_file() else []))
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

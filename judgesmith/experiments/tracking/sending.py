"""What MLflow is told of an experiment, in flat names and portions; each may be sent twice."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from judgesmith.errors import file_faults
from judgesmith.experiments.evaluate.agreement import LEVELS
from judgesmith.experiments.specs import Cell, Spec
from judgesmith.experiments.tracking.client import asked_once
from judgesmith.programs.artifacts.card import printable
from judgesmith.programs.extras import library
from judgesmith.programs.lm.errors import redacted

LONGEST_PARAM = 500
"""Characters of a parameter; MLflow takes 6000, its servers of before 2.8 no more than this."""

LONGEST_TAG = 5000
"""Characters of a tag; MLflow takes 8000 since 2.15, and 5000 before."""

LONGEST_NAME = 250

_OF_Q = ("low", "high", "n", "n_groups")
_STATISTICS = ("pearson", "spearman", "kendall", "q")
_SAID_OF_CELLS = ("data", "target", "judge", "optimizer", "model", "seed")


def cell_params(spec: Spec, cell: Cell) -> dict[str, str]:
    """Return what a cell was run with, flat: its coordinates, and what is said of its parts.

    Addresses of models are left out.
    """
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
        _key(name): shortened(_text(value), LONGEST_PARAM)
        for name, value in found.items()
        if value is not None
    }


def cell_metrics(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers that a cell came to; what is undefined or unknown has none.

    ``sample/q`` is Q at sample level on the rows held out, ``sample/q_low`` and ``sample/q_high``
    its interval, ``sample/q_n`` and ``sample/q_n_groups`` the rows and sources behind it.
    ``gain/sample_q`` and the like are what compiling changed.
    """
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
    return {name: shortened(text, LONGEST_TAG) for name, text in tags.items()}


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
        name: shortened(_text(value), LONGEST_PARAM)
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
    about = shortened(" ".join(spec.about.split()), LONGEST_TAG)
    return tags | ({"mlflow.note.content": about} if about else {})


@file_faults()
def digest_of(*places: Path) -> str:
    """Return twelve hex digits that change with the name or the bytes of any of the files."""
    found = hashlib.sha256()
    for place in places:
        found.update(f"{place.name}\0".encode())
        found.update(hashlib.sha256(place.read_bytes()).digest())
    return found.hexdigest()[:12]


def shortened(text: str, longest: int) -> str:
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
        """Return the oldest run of a specification; None where there is none.

        Runs that were deleted on the server are none.
        """
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
                self._experiment_id, run_name=shortened(name, 200), tags=dict(tags), start_time=at
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

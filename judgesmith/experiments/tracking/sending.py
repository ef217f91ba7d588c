"""What MLflow is asked to do, in portions that it takes; each thing may be done twice."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from judgesmith.errors import file_faults
from judgesmith.experiments.tracking.client import asked_once
from judgesmith.experiments.tracking.telling import shortened
from judgesmith.programs.extras import library
from judgesmith.programs.lm.errors import redacted

_PAGE = 1000
_FEW = 20  # cells that are looked for one by one
_MOST_PARAMS, _MOST_METRICS = 100, 1000
_One = TypeVar("_One")


class Sending:
    """Runs of one MLflow experiment.

    Parameters
    ----------
    client : MlflowClient
        Of the server.
    experiment_id : str
        Which experiment.
    """

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

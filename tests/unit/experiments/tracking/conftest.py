"""An MLflow server, the address of one that can be cut off, and a small experiment."""

import importlib
import json
import os
import socket
import threading
from contextlib import suppress

import pytest

from judgesmith.data.samples import sample_path
from judgesmith.experiments.runs import RunFolder
from judgesmith.experiments.specs import spec_of
from judgesmith.experiments.tracking.client import told_plainly

SPEC = """
name: {name}
about: "Is it sk-abc123def456ghi? <script>alert(1)</script>"
data: {{answers: {{path: rated.jsonl, targets: [overall]}}}}
judges: {{plain: {{judge: direct}}, theirs: {{recorded: theirs.jsonl, name: them}}}}
optimizers: {{none: {{}}}}
holdout: 0.9
"""


@pytest.fixture(scope="session")
def address():
    """The address of the server that .ci/services/mlflow starts."""
    found = os.environ.get("JUDGESMITH_MLFLOW")
    if not found:
        pytest.skip("no MLflow server at $JUDGESMITH_MLFLOW; .ci/services/mlflow starts one")
    return found


@pytest.fixture
def mlflow(address, monkeypatch):
    """A client of MLflow's own, and nobody in the environment who would change what ours does."""
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME", "MLFLOW_TRACKING_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    with told_plainly(address):
        return importlib.import_module("mlflow").MlflowClient(address)


@pytest.fixture
def spec(tmp_path, request):
    """A judge and recorded scores, in an experiment that only this test knows."""
    rows = sample_path().read_text(encoding="utf-8").splitlines()[:24]
    (tmp_path / "rated.jsonl").write_text("\n".join(rows), encoding="utf-8")
    scored = [
        {name: row[name] for name in ("source_id", "system_id")}
        | {"criterion": "overall", "judge": "them", "scores": [place % 4 + 1]}
        for place, row in enumerate(map(json.loads, rows))
    ]
    theirs = "".join(f"{json.dumps(row)}\n" for row in scored)
    (tmp_path / "theirs.jsonl").write_text(theirs, encoding="utf-8")
    text = SPEC.format(name=request.node.name[:70])
    return spec_of(text, folder=str(tmp_path))


@pytest.fixture
def folder(spec, tmp_path):
    """The folder of its run, with nothing in it yet."""
    return RunFolder.of_spec(tmp_path / "run", spec, text="key: sk-abc123def456ghi\n")


@pytest.fixture
def tracked(mlflow):
    """Return the run of an experiment of this name and the runs of its cells, oldest first."""

    def found(name):
        experiment = mlflow.get_experiment_by_name(name)
        assert experiment is not None
        runs = mlflow.search_runs(
            [experiment.experiment_id], order_by=["attributes.start_time ASC"]
        )
        parents = [run for run in runs if run.data.tags["judgesmith.kind"] == "experiment"]
        cells = [run for run in runs if run.data.tags["judgesmith.kind"] == "cell"]
        (parent,) = parents
        assert {run.data.tags["mlflow.parentRunId"] for run in cells} <= {parent.info.run_id}
        return parent, cells

    return found


class Line:
    """A line to the server that can be cut, and put back."""

    def __init__(self, address):
        self._host, self._port = address.removeprefix("http://").split(":")
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.is_cut = False
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self._listening.close()

    def _serve(self):
        while True:
            try:
                here, _ = self._listening.accept()
            except OSError:
                return
            if self.is_cut:
                here.close()
                continue
            there = socket.create_connection((self._host, int(self._port)))
            for pair in ((here, there), (there, here)):
                threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, one, other):
        with one, other, suppress(OSError):
            while (said := one.recv(65536)) and not self.is_cut:
                other.sendall(said)
            for end in (one, other):
                end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def line(address):
    """A line to the server, and what it is cut with."""
    found = Line(address)
    yield found
    found.close()

"""What arrives at a real MLflow server, however often and by whomever it is told."""

import json
import subprocess
import sys
import threading
from importlib.metadata import version
from pathlib import Path

import pytest

from judgesmith.experiments.runs import RunFolder, run_cells
from judgesmith.experiments.runs.leaderboard import leaderboard
from judgesmith.experiments.specs import cells_of
from judgesmith.experiments.tracking import MlflowTracker, TrackingError
from judgesmith.experiments.tracking.client import reach

pytestmark = [pytest.mark.mlflow, pytest.mark.no_cover]


def whole(spec, folder, address):
    """Run and track all of an experiment, and return what tracked it."""
    tracker = MlflowTracker(spec, folder, address=address)
    tracker.begin()
    found = run_cells(spec, folder, told=lambda *_: tracker.told())
    leaderboard(spec, folder).write(folder)
    tracker.close(found)
    return tracker


def history(mlflow, run):
    return {
        name: [(one.value, one.timestamp, one.step) for one in mlflow.get_metric_history(run, name)]
        for name in mlflow.get_run(run).data.metrics
    }


def text_of(mlflow, run, path, tmp_path):
    return Path(mlflow.download_artifacts(run.info.run_id, path, str(tmp_path))).read_text("utf-8")


def test_an_experiment_is_one_run_and_each_cell_one_below_it(
    mlflow, address, spec, folder, tracked, tmp_path
):
    tracker = whole(spec, folder, address)
    assert tracker.problem == ""
    parent, cells = tracked(spec.name)
    assert (parent.info.run_id, parent.info.status) == (tracker.run_id, "FINISHED")
    assert parent.data.metrics == {
        "cells/finished": 2.0,
        "cells/failed": 0.0,
        "cells/unfinished": 0.0,
    }
    assert parent.data.tags["mlflow.note.content"] == "Is it [key]? <script>alert(1)</script>"
    there = {one.path for one in mlflow.list_artifacts(parent.info.run_id)}
    assert there == {"spec.yaml", *(f"leaderboard.{kind}" for kind in ("md", "csv", "json", "tex"))}
    assert text_of(mlflow, parent, "spec.yaml", tmp_path) == "key: [key]\n"
    for cell in cells_of(spec):
        (run,) = [one for one in cells if one.data.tags["judgesmith.cell"] == cell.id]
        result = folder.result(cell)
        assert (run.info.run_name, run.info.status) == (cell.id, "FINISHED")
        q = result["agreement"]["heldout"]["dataset"]["q"]
        shown = {name: run.data.metrics[f"dataset/q{name}"] for name in ("", "_low", "_high", "_n")}
        assert shown == {
            "": q["value"],
            "_low": q["low"],
            "_high": q["high"],
            "_n": q["n"],
        }
        assert run.data.metrics["rows/unscored"] == 0.0
        assert ("per_item/usd" in run.data.metrics) == (cell.judge == "plain")
        assert run.data.params["judge"] == cell.judge
        tags = run.data.tags
        assert tags["judgesmith.run"] == spec.fingerprint
        assert tags["judgesmith.version"] == version("judgesmith")
        assert (tags["judgesmith.seed"], tags["judgesmith.n"]) == ("0", str(q["n"]))
        assert tags["judgesmith.level"] == "dataset, sample, system"
        kept = json.loads(text_of(mlflow, run, "result.json", tmp_path))
        assert kept["agreement"] == result["agreement"]
        took = run.info.end_time - run.info.start_time
        assert took == pytest.approx(1000 * result["usage"]["seconds"], abs=2)
    plain = next(one for one in cells if one.data.params["judge"] == "plain")
    assert {one.path for one in mlflow.list_artifacts(plain.info.run_id, "judge")} == {
        "judge/README.md",
        "judge/judge.json",
    }


def test_the_same_again_changes_nothing_on_the_server(mlflow, address, spec, folder, tracked):
    def state():
        parent, cells = tracked(spec.name)
        return [(one.to_dictionary(), history(mlflow, one.info.run_id)) for one in (parent, *cells)]

    whole(spec, folder, address)
    before = state()
    assert len(before) == 3
    whole(spec, folder, address)
    assert state() == before


def test_what_was_killed_in_the_middle_of_a_cell_is_gone_on_with(
    mlflow, address, spec, folder, tracked, monkeypatch
):
    class Killed(BaseException):
        pass

    tracker = MlflowTracker(spec, folder, address=address)
    tracker.begin()
    found = run_cells(spec, folder)
    sent = []

    def dying(run, path, under=None):
        sent.append(path)
        raise Killed

    monkeypatch.setattr(tracker._client, "log_artifact", dying)
    with pytest.raises(Killed):
        tracker.told()
    parent, cells = tracked(spec.name)
    assert (parent.info.status, len(cells), len(sent)) == ("RUNNING", 1, 1)
    assert cells[0].info.status == "RUNNING"
    begun = cells[0].info.run_id
    leaderboard(spec, folder).write(folder)
    whole(spec, folder, address)
    parent, cells = tracked(spec.name)
    assert found.complete
    assert {run.info.status for run in (parent, *cells)} == {"FINISHED"}
    assert len(cells) == 2
    assert begun in {run.info.run_id for run in cells}
    for run in cells:
        assert all(len(points) == 1 for points in history(mlflow, run.info.run_id).values())


def test_a_server_that_dies_in_the_middle_costs_no_result_and_is_told_later(
    line, address, spec, folder, tracked, mlflow, monkeypatch
):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    tracker = MlflowTracker(spec, folder, address=line.address)
    tracker.begin()
    line.is_cut = True
    found = run_cells(spec, folder, told=lambda *_: tracker.told())
    assert found.complete
    assert tracker.problem.startswith(f"MLflow at {line.address} cannot be used: ")
    tracker.close(found)
    assert tracker.to_dict()["problem"] == tracker.problem != ""
    parent, cells = tracked(spec.name)
    assert (parent.info.status, cells) == ("RUNNING", [])
    line.is_cut = False
    tracker.close(found)
    assert tracker.problem == ""
    parent, cells = tracked(spec.name)
    assert (parent.info.status, len(cells)) == ("FINISHED", 2)


def test_a_cell_that_failed_is_the_same_run_when_it_succeeds(address, spec, folder, tracked):
    first = cells_of(spec)[0]
    folder.fail(first, "the model sk-abc123def456ghi\nrefused", kind="ModelError")
    tracker = MlflowTracker(spec, folder, address=address)
    tracker.begin()
    tracker.told()
    parent, (run,) = tracked(spec.name)
    assert (parent.info.status, run.info.status) == ("RUNNING", "FAILED")
    assert run.data.tags["judgesmith.problem"] == "failed: the model [key]\\nrefused"
    assert parent.data.metrics["cells/failed"] == 1.0
    failed = run.info.run_id
    whole(spec, folder, address)
    parent, cells = tracked(spec.name)
    assert parent.data.metrics["cells/failed"] == 0.0
    (run,) = [one for one in cells if one.info.run_id == failed]
    assert run.info.status == "FINISHED"
    assert "judgesmith.problem" not in run.data.tags
    assert len(cells) == 2


def test_several_that_share_a_run_make_each_run_once(address, spec, folder, tracked):
    problems = []

    def work():
        try:
            problems.append(whole(spec, RunFolder(folder.path, run=folder.run), address).problem)
        except BaseException as fault:
            problems.append(repr(fault))

    workers = [threading.Thread(target=work) for _ in range(3)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert problems == ["", "", ""]
    _, cells = tracked(spec.name)
    assert len(cells) == len({run.data.tags["judgesmith.cell"] for run in cells}) == 2


def test_another_result_of_the_same_cell_replaces_none(address, spec, folder, tracked, tmp_path):
    whole(spec, folder, address)
    cell = cells_of(spec)[1]
    place = folder.place_of(cell) / "result.json"
    place.write_text(place.read_text().replace('"notes": []', '"notes": ["again"]'))
    whole(spec, folder, address)
    _, cells = tracked(spec.name)
    assert sum(run.data.tags["judgesmith.cell"] == cell.id for run in cells) == 2


def test_a_run_that_is_broken_off_says_so(address, spec, folder, tracked):
    tracker = MlflowTracker(spec, folder, address=address)
    tracker.begin()
    tracker.stop()
    assert tracked(spec.name)[0].info.status == "KILLED"
    whole(spec, folder, address)
    assert tracked(spec.name)[0].info.status == "FINISHED"


def test_an_experiment_that_was_deleted_is_refused_by_name(mlflow, address, spec, folder):
    MlflowTracker(spec, folder, address=address).begin()
    mlflow.delete_experiment(mlflow.get_experiment_by_name(spec.name).experiment_id)
    with pytest.raises(TrackingError, match=f"'{spec.name}' was deleted .*; restore it"):
        MlflowTracker(spec, folder, address=address).begin()


def test_the_name_of_the_experiment_can_be_said_as_users_of_mlflow_do(
    address, spec, folder, tracked, monkeypatch
):
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", f"{spec.name} elsewhere")
    whole(spec, folder, address)
    assert len(tracked(f"{spec.name} elsewhere")[1]) == 2


@pytest.mark.parametrize(
    "address_of_none", ["http://127.0.0.1:1", "http://me:hunter2222@127.0.0.1:1"]
)
def test_a_server_that_is_down_is_told_at_once_and_without_its_password(mlflow, address_of_none):
    with pytest.raises(TrackingError) as fault:
        reach(address_of_none)
    assert str(fault.value) == "MLflow at http://127.0.0.1:1 cannot be used: connection refused."


def test_mlflow_tells_nobody_that_it_is_used(mlflow, address):
    asked = (
        "import os\n"
        "for name in [*os.environ]:\n"
        "    if 'TELEMETRY' in name or 'TRACK' in name or name.startswith(('PYTEST', 'CI')):\n"
        "        del os.environ[name]\n"
        "from judgesmith.experiments.tracking.client import mlflow_client\n"
        "mlflow_client('http://127.0.0.1:1')\n"
        "from mlflow.telemetry.client import get_telemetry_client\n"
        "print(get_telemetry_client())\n"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "None\n")

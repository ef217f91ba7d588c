"""``experiment --track``: refused at once where it cannot be, and never at the cost of a result."""

import importlib
import os
import sys

import pytest

SPEC = """
name: {name}
data: {{answers: {{path: data.jsonl, targets: [overall]}}}}
judges: {{plain: {{judge: direct}}}}
optimizers: {{none: {{}}}}
holdout: 0.9
"""
DOWN = "http://me:hunter2222@127.0.0.1:1"


@pytest.fixture
def spec(folder, data, request):
    (folder / "spec.yaml").write_text(SPEC.format(name=request.node.name), encoding="utf-8")
    return "spec.yaml"


@pytest.fixture(autouse=True)
def nobody_elses(monkeypatch):
    """Take the address of somebody's server away, and put back what is set for MLflow."""
    for name in ("DISABLE_TELEMETRY", "HTTP_REQUEST_MAX_RETRIES", "HTTP_REQUEST_TIMEOUT"):
        monkeypatch.setenv(f"MLFLOW_{name}", os.environ.get(f"MLFLOW_{name}", "1"))
    for name in ("TRACKING_URI", "EXPERIMENT_NAME", "TRACKING_USERNAME", "TRACKING_PASSWORD"):
        monkeypatch.delenv(f"MLFLOW_{name}", raising=False)


@pytest.fixture
def address():
    found = os.environ.get("JUDGESMITH_MLFLOW")
    if not found:
        pytest.skip("no MLflow server at $JUDGESMITH_MLFLOW; .ci/services/mlflow starts one")
    return found


def test_without_mlflow_its_extra_is_named_and_nothing_is_made(run, spec, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    done = run("experiment", spec, "-o", "run", "--track", "mlflow", "--tracking-uri", DOWN)
    assert done.status == 2
    assert "pip install 'judgesmith[mlflow]'" in done.err
    assert not (folder / "run").exists()


def test_the_address_may_stand_in_the_environment_and_is_shown_without_password(
    run, spec, monkeypatch
):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "me:hunter2222@tracking:5000")
    done = run("experiment", spec, "-o", "run", "--track", "mlflow", "--json")
    assert (done.status, done.fault["where"]) == (2, "MLFLOW_TRACKING_URI")
    assert "hunter2222" not in done.err


def test_an_address_in_the_environment_alone_tracks_nothing(run, spec, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", DOWN)
    done = run("experiment", spec, "-o", "run", "--json")
    assert done.status == 0
    assert "tracking" not in done.json


def test_a_dry_run_tells_no_server(run, spec):
    line = ("experiment", spec, "-o", "run", "--track", "mlflow", "--tracking-uri", DOWN)
    assert run(*line, "--dry-run").status == 0


@pytest.mark.mlflow
@pytest.mark.no_cover
def test_a_server_that_is_down_ends_the_command_before_anything_is_made(run, spec, folder):
    pytest.importorskip("mlflow")
    line = ("experiment", spec, "-o", "run", "--track", "mlflow", "--tracking-uri", DOWN)
    done = run(*line, "--json")
    assert done.status == 2
    assert done.fault == {
        "error": "MLflow at http://127.0.0.1:1 cannot be used: connection refused. No model was "
        "asked.",
        "where": "--tracking-uri",
        "hint": "give an address that answers, or leave --track out.",
    }
    assert not (folder / "run").exists()


@pytest.mark.mlflow
@pytest.mark.no_cover
def test_people_and_machines_are_told_where_the_runs_are(run, spec, address, monkeypatch, request):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    line = ("experiment", spec, "-o", "run", "--track", "mlflow", "--workers", "2")
    done = run(*line)
    assert (done.status, done.err) == (0, "")
    experiment = request.node.name
    assert f"1 cell in the MLflow experiment {experiment} at {address}, run " in done.out
    again = run(*line, "--json")
    told = again.json["tracking"]
    assert done.out.strip().endswith(f"run {told.pop('run_id')}")
    assert told == {"address": address, "experiment": experiment, "cells": 1, "problem": None}
    assert again.json["calls"] == 0
    client = importlib.import_module("mlflow").MlflowClient(address)
    own = client.get_experiment_by_name(experiment).experiment_id
    assert len(client.search_runs([own])) == 2


@pytest.mark.mlflow
@pytest.mark.no_cover
def test_results_stay_where_the_server_died_and_the_same_command_catches_up(
    run, spec, address, folder, monkeypatch
):
    from judgesmith.experiments.tracking.tracker import Sending

    line = ("experiment", spec, "-o", "run", "--track", "mlflow", "--tracking-uri", address)
    with monkeypatch.context() as cut:
        cut.setattr(Sending, "upload", lambda *_, **__: (_ for _ in ()).throw(OSError("cut off")))
        done = run(*line)
    assert done.status == 1
    assert f"note: MLflow at {address} cannot be used: cut off" in done.out
    assert "the same command again tells the server what it lacks" in done.out
    assert (folder / "run" / "leaderboard.md").is_file()
    done = run(*line, "--json")
    assert (done.status, done.json["calls"], done.json["tracking"]["cells"]) == (0, 0, 1)

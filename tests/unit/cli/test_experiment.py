"""judgesmith experiment and init."""

import importlib
import io
import json
import os
import shutil
import signal
import sys
from types import SimpleNamespace

import crashing
import pytest
from working import stopped, wait_for

from judgesmith.cli.shared import progress
from judgesmith.cli.shared.progress import stage_progress
from judgesmith.cli.shared.stopping import spent_text
from judgesmith.cli.use.watch_options import run_line, run_progress
from judgesmith.experiments.scoring.watching import Pulse
from judgesmith.results.progress import SWITCH, ProgressEvent
from judgesmith.signatures import Judgement, RatedItem

# experiment

SPEC = """
name: two
data: {answers: {path: data.jsonl, targets: [overall]}}
judges: {plain: {judge: direct}, coarse: {variant: coarse}}
optimizers: {none: {}}
holdout: 0.5
"""


@pytest.fixture
def spec_experiment(folder, data):
    (folder / "spec.yaml").write_text(SPEC, encoding="utf-8")
    return "spec.yaml"


def test_a_spent_budget_is_told_and_more_of_it_goes_on(run, spec_experiment, folder):
    (folder / "spec.yaml").write_text(SPEC + "budget: {calls: 50}\n", encoding="utf-8")
    done = run("experiment", spec_experiment, "-o", "run")
    assert done.status == 1
    assert "coarse.none.offline.0 is not finished: the budget ended" in done.out
    assert "note: the same command again tries what is missing." in done.out
    (folder / "spec.yaml").write_text(SPEC, encoding="utf-8")
    done = run("experiment", spec_experiment, "-o", "run", "--json")
    assert (done.status, done.json["calls"], done.json["unfinished"]) == (0, 30, {})


def test_a_cell_that_fails_makes_status_1_and_stands_in_the_leaderboard(
    run, spec_experiment, folder
):
    rows = (folder / "data.jsonl").read_text().splitlines()
    (folder / "data.jsonl").write_text("\n".join(rows[:4]) + "\n")
    done = run("experiment", spec_experiment, "-o", "run", "--json")
    assert done.status == 1
    assert set(done.json["failed"]) == {
        f"answers.overall.{name}.none.offline.0" for name in ("plain", "coarse")
    }
    assert done.err.startswith("note: answers.overall.plain.none.offline.0 failed: ")
    assert "## Without a result" in (folder / "run" / "leaderboard.md").read_text()


def test_another_specification_needs_force(run, spec_experiment, folder):
    assert run("experiment", spec_experiment, "-o", "run").status == 0
    (folder / "spec.yaml").write_text(SPEC + "seeds: [1]\n", encoding="utf-8")
    done = run("experiment", spec_experiment, "-o", "run")
    assert done.status == 2
    assert "run holds the run of another specification" in done.err
    done = run("experiment", spec_experiment, "-o", "run", "--force", "--json")
    assert (done.status, done.json["calls"]) == (0, 0)
    assert {block["seed"] for block in done.json["blocks"]} == {1}


def test_a_cassette_makes_the_same_run_without_a_model(run, spec_experiment, folder, monkeypatch):
    from judgesmith.programs.offline import OfflineEngine

    assert run("experiment", spec_experiment, "-o", "run", "--record", "run.jsonl.gz").status == 0

    def silent(*_):
        raise AssertionError("a model was asked")

    monkeypatch.setattr(OfflineEngine, "answer", silent)
    done = run("experiment", spec_experiment, "-o", "again", "--replay", "run.jsonl.gz", "--json")
    assert (done.status, done.json["calls"]) == (0, 0)
    cells = [path.name for path in (folder / "run" / "cells").iterdir()]
    names = [f"cells/{cell}/{name}" for cell in cells for name in ("result.json", "scores.jsonl")]
    for name in (*names, "leaderboard.md"):
        assert (folder / "again" / name).read_bytes() == (folder / "run" / name).read_bytes()
    (folder / "spec.yaml").write_text(SPEC.replace("t: coarse", "t: coarse, explain: none"))
    done = run("experiment", spec_experiment, "-o", "other", "--replay", "run.jsonl.gz", "--json")
    assert done.status == 1
    (reason,) = done.json["failed"].values()
    assert "no recorded answer to the request" in reason


def test_a_request_that_failed_fails_again_where_a_run_is_replayed(
    run, spec_experiment, folder, server
):
    rows = [json.loads(line) for line in (folder / "data.jsonl").read_text().splitlines()]
    server.script({"contains": rows[-1]["response"][:40], "status": 400, "body": "no such thing"})
    model = f"models: {{near: {{model: openai/m, api_base: {server.url}}}}}\n"
    text = SPEC.replace(", coarse: {variant: coarse}", "") + model
    (folder / "spec.yaml").write_text(text, encoding="utf-8")
    assert run("experiment", spec_experiment, "-o", "run", "--record", "run.jsonl").status == 0
    server.reset()
    assert run("experiment", spec_experiment, "-o", "again", "--replay", "run.jsonl").status == 0
    assert server.counts()["requests"] == 0
    own, again = (
        (folder / name / "cells/answers.overall.plain.none.near.0/scores.jsonl").read_text()
        for name in ("run", "again")
    )
    assert "HTTP 400" in own
    assert again == own


def test_what_is_finished_is_not_estimated_again(run, spec_experiment, folder):
    first = run("experiment", spec_experiment, "-o", "run", "--dry-run", "--json").json
    assert (first["finished"], first["total"]["calls"]) == (0, 80)
    assert not (folder / "run").exists()
    assert run("experiment", spec_experiment, "-o", "run").status == 0
    shutil.rmtree(folder / "run" / "cells" / "answers.overall.plain.none.offline.0")
    done = run("experiment", spec_experiment, "-o", "run", "--dry-run")
    assert done.status == 0
    assert "two: 2 cells, 1 of them finished" in done.out
    rest = run("experiment", spec_experiment, "-o", "run", "--dry-run", "--json").json
    assert [one["finished"] for one in rest["cells"]] == [False, True]
    assert (rest["finished"], rest["total"]["calls"]) == (1, 40)


def test_a_run_that_another_version_began_says_so(run, spec_experiment, folder):
    assert run("experiment", spec_experiment, "-o", "run").status == 0
    place = folder / "run" / "run.json"
    told = json.loads(place.read_text())
    assert "versions" not in told
    place.write_text(json.dumps(told | {"version": "0.0.9"}))
    for again in (
        run("experiment", spec_experiment, "-o", "run"),
        run("experiment", spec_experiment, "-o", "run"),
    ):
        assert again.status == 0
        assert "this run was begun by judgesmith 0.0.9" in again.out
    assert json.loads(place.read_text())["versions"] == ["0.0.9", told["version"]]
    assert run("report", "run", "--spec", spec_experiment, "--no-figures").status == 0
    page = (folder / "report.html").read_text()
    assert f"Several versions of judgesmith have made cells (0.0.9, {told['version']})" in page


def test_a_cassette_replaces_neither_the_run_nor_what_its_specification_names(run, folder, data):
    (folder / "own.jsonl").write_bytes((folder / data).read_bytes())
    text = SPEC.replace("data.jsonl", "own.jsonl")
    (folder / "spec.yaml").write_text(text, encoding="utf-8")
    asked = ("experiment", "spec.yaml", "-o", "run", "--force", "--record")
    done = run(*asked, "own.jsonl", "--json")
    assert (done.status, done.fault["where"]) == (2, "--record")
    assert "own.jsonl is read by this command" in done.fault["error"]
    done = run("experiment", "spec.yaml", "-o", "run.jsonl", "--record", "run.jsonl", "--json")
    assert (done.status, done.fault["where"]) == (2, "--record")
    assert "run.jsonl is what -o names, too" in done.fault["error"]
    assert not [path for path in folder.iterdir() if path.name.startswith("run")]


# Processes that share a run, of which some are killed.

SPEC_EXPERIMENT_WORKERS = """
name: shared
data: {{answers: {{path: rated.jsonl, targets: [overall]}}}}
judges: {{fine: {{}}, plain: {{judge: direct}}}}
optimizers: {{none: {{}}, random: {{rounds: 1}}}}
models: {{m: {{model: openai/m, api_base: "{url}", concurrency: 4}}}}
"""
CONCURRENCY = 4
FAST = {"chatty": "steady"}
HELD = FAST | {"held": True}
BOARDS = [f"leaderboard.{kind}" for kind in ("md", "csv", "json", "tex")]


@pytest.fixture
def command(folder, server):
    """A run whose server answers so many requests that both workers are at it."""
    crashing.write_rows(folder / "rated.jsonl", crashing.rated_rows(8))
    (folder / "spec.yaml").write_text(
        SPEC_EXPERIMENT_WORKERS.format(url=server.url), encoding="utf-8"
    )
    server.script(FAST | {"times": 10}, HELD)
    return ["experiment", "spec.yaml"]


def decisive(run):
    """Return all files of a run that are a function of its specification."""
    cells = [path for path in sorted((run / "cells").rglob("*")) if path.is_file()]
    own = [path for path in cells if path.name != "usage.json"]
    own += [run / name for name in BOARDS]
    return {str(path.relative_to(run)): path.read_bytes() for path in own}


@pytest.mark.no_cover
def test_workers_may_be_killed_or_stopped_and_others_end_what_they_began(
    folder, run, start, server, command
):
    killed, slow = (start(*command, "-o", "run") for _ in range(2))
    claims = folder / "run" / "claims"
    wait_for(lambda: claims.is_dir() and len(list(claims.iterdir())) == 2)
    wait_for(lambda: server.counts()["requests"] > 10)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    before = server.counts()["requests"]
    server.forget(FAST | {"times": 10}, HELD)
    wait_for(lambda: server.counts()["requests"] > before + 10)
    out, err = stopped(slow, server, FAST, number=signal.SIGTERM)
    assert (slow.returncode, "leaderboard" in out) == (130, False)
    assert "run the same command again to resume" in err
    done = run(*command, "-o", "run", "--workers", "2")
    assert done.status == 0, done.err
    assert list(claims.iterdir()) == []
    requests = server.counts()["requests"]
    server.reset()
    server.script(FAST)
    assert run(*command, "-o", "alone").status == 0
    needed = server.counts()["requests"]
    assert needed <= requests <= needed + CONCURRENCY
    assert decisive(folder / "run") == decisive(folder / "alone")


# judgesmith init: a specification that can be run as it is written.


def test_somebodys_edits_stay_unless_told_otherwise(run, folder):
    (folder / "spec.yaml").write_text("mine")
    done = run("init", "spec.yaml")
    assert done.status == 2
    assert "there already" in done.err
    assert (folder / "spec.yaml").read_text() == "mine"
    assert run("init", "spec.yaml", "--force").status == 0
    assert (folder / "spec.yaml").read_text() != "mine"


# run progress


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def pulse():
    clock = Clock()
    found = Pulse([], n_expected=4000, clock=clock)
    for n in range(500):
        clock.now = n / 50
        judgement = Judgement(score=1.0) if n else Judgement.unscored("cut off")
        found.judged("r", n, RatedItem(response="r"), judgement)
    return found


def test_rate_and_time_to_come_stand_beside_the_rows(pulse):
    line = run_line(pulse, 100)
    assert line.startswith("500/4,000 rows ━")
    assert line.endswith("1:10 left · 50/s · 1 unscored")
    assert len(line) <= 100


@pytest.mark.parametrize("room", [5, 14, 20, 30, 40, 60, 200])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_no_line_is_longer_than_the_terminal(pulse, room, ascii_only):
    line = run_line(pulse, room, ascii_only=ascii_only)
    assert len(line) <= room
    assert line.isascii() or not ascii_only


@pytest.mark.parametrize("columns", [30, 100])
def test_a_terminal_gets_one_line_that_fits(monkeypatch, pulse, columns):
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    with run_progress(pulse, quiet=False) as tell:
        tell(ProgressEvent(stage="waiting for 1 batch", n=0))
        pulse.kept(1)
    said = sys.stderr.getvalue()
    assert "501/4,000 rows" in said  # the last word is of the end
    assert "500/4,000 rows" in said
    assert "waiting for 1 batch" in said
    assert ("50/s" in said) == (columns == 100)


# progress


@pytest.fixture
def switched_on(monkeypatch):
    monkeypatch.delenv(SWITCH, raising=False)


@pytest.mark.usefixtures("switched_on")
@pytest.mark.parametrize("quiet", [True, False])
def test_progress_can_be_switched_off(quiet, monkeypatch):
    if not quiet:
        monkeypatch.setenv(SWITCH, "off")
    with stage_progress(quiet=quiet) as told:
        assert told is None


@pytest.mark.usefixtures("switched_on")
def test_without_a_terminal_there_is_a_line_every_ten_seconds(capsys, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with stage_progress(quiet=False) as tell:
        tell(ProgressEvent(stage="search", total=30, text="best q 0.5"))
        for second in (4, 8, 12, 16, 20, 24):
            clock[0] = second
            tell(ProgressEvent(stage="search", total=30))
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "search: 4/30, best q 0.5, 78 s left",
        "search: 7/30, best q 0.5, 79 s left",
    ]


@pytest.mark.usefixtures("switched_on")
def test_what_was_spent_is_told_in_calls_dollars_and_retries():
    def client(calls, cost, retries=0):
        return SimpleNamespace(usage=SimpleNamespace(calls=calls, cost_usd=cost, retries=retries))

    assert spent_text([client(0, 0.0)]) == ""
    assert spent_text([client(1, 0.0)]) == "1 call"
    assert spent_text([client(2, 0.1), client(3, 0.02, 1)]) == "5 calls, $0.12, 1 retry"
    assert spent_text([client(2, None)]) == "2 calls, unknown cost"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.usefixtures("switched_on")
def test_every_bar_ends_at_its_total(monkeypatch):
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    with stage_progress(quiet=False) as progress:
        progress(ProgressEvent(stage="search", n=30, total=80))
        progress(ProgressEvent(stage="rows", n=25, total=20))
    last = shown.getvalue()
    assert "30/30" in last
    assert "25/25" in last


# ``experiment --track``: refused at once where it cannot be, and never at the cost of a result.

SPEC_TRACKING = """
name: {name}
data: {{answers: {{path: data.jsonl, targets: [overall]}}}}
judges: {{plain: {{judge: direct}}}}
optimizers: {{none: {{}}}}
holdout: 0.9
"""
DOWN = "http://me:hunter2222@127.0.0.1:1"


@pytest.fixture
def spec_tracking(folder, data, request):
    (folder / "spec.yaml").write_text(
        SPEC_TRACKING.format(name=request.node.name), encoding="utf-8"
    )
    return "spec.yaml"


@pytest.fixture
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


@pytest.mark.usefixtures("nobody_elses")
def test_without_mlflow_its_extra_is_named_and_nothing_is_made(
    run, spec_tracking, folder, monkeypatch
):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    done = run(
        "experiment", spec_tracking, "-o", "run", "--track", "mlflow", "--tracking-uri", DOWN
    )
    assert done.status == 2
    assert "pip install 'judgesmith[mlflow]'" in done.err
    assert not (folder / "run").exists()


@pytest.mark.usefixtures("nobody_elses")
def test_the_address_may_stand_in_the_environment_and_is_shown_without_password(
    run, spec_tracking, monkeypatch
):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "me:hunter2222@tracking:5000")
    done = run("experiment", spec_tracking, "-o", "run", "--track", "mlflow", "--json")
    assert (done.status, done.fault["where"]) == (2, "MLFLOW_TRACKING_URI")
    assert "hunter2222" not in done.err


@pytest.mark.usefixtures("nobody_elses")
def test_an_address_in_the_environment_alone_tracks_nothing(run, spec_tracking, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", DOWN)
    done = run("experiment", spec_tracking, "-o", "run", "--json")
    assert done.status == 0
    assert "tracking" not in done.json


@pytest.mark.usefixtures("nobody_elses")
def test_a_dry_run_tells_no_server(run, spec_tracking):
    line = ("experiment", spec_tracking, "-o", "run", "--track", "mlflow", "--tracking-uri", DOWN)
    assert run(*line, "--dry-run").status == 0


@pytest.mark.usefixtures("nobody_elses")
@pytest.mark.mlflow
@pytest.mark.no_cover
def test_a_server_that_is_down_ends_the_command_before_anything_is_made(run, spec_tracking, folder):
    pytest.importorskip("mlflow")
    line = ("experiment", spec_tracking, "-o", "run", "--track", "mlflow", "--tracking-uri", DOWN)
    done = run(*line, "--json")
    assert done.status == 2
    assert done.fault == {
        "error": "MLflow at http://127.0.0.1:1 cannot be used: connection refused. No model was "
        "asked.",
        "where": "--tracking-uri",
        "hint": "give an address that answers, or leave --track out.",
    }
    assert not (folder / "run").exists()


@pytest.mark.usefixtures("nobody_elses")
@pytest.mark.mlflow
@pytest.mark.no_cover
def test_people_and_machines_are_told_where_the_runs_are(
    run, spec_tracking, address, monkeypatch, request
):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    line = ("experiment", spec_tracking, "-o", "run", "--track", "mlflow", "--workers", "2")
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


@pytest.mark.usefixtures("nobody_elses")
@pytest.mark.mlflow
@pytest.mark.no_cover
def test_results_stay_where_the_server_died_and_the_same_command_catches_up(
    run, spec_tracking, address, folder, monkeypatch
):
    from judgesmith.experiments.tracking.tracker import Sending

    line = (
        "experiment",
        spec_tracking,
        "-o",
        "run",
        "--track",
        "mlflow",
        "--tracking-uri",
        address,
    )
    with monkeypatch.context() as cut:
        cut.setattr(Sending, "upload", lambda *_, **__: (_ for _ in ()).throw(OSError("cut off")))
        done = run(*line)
    assert done.status == 1
    assert f"note: MLflow at {address} cannot be used: cut off" in done.out
    assert "the same command again tells the server what it lacks" in done.out
    assert (folder / "run" / "leaderboard.md").is_file()
    done = run(*line, "--json")
    assert (done.status, done.json["calls"], done.json["tracking"]["cells"]) == (0, 0, 1)

"""``score --engine ray``: the same rows, whoever is killed, and nothing left behind."""

import gzip
import importlib.util
import json
import os
import random
import signal
import sqlite3
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import crashing
import pytest

N_ROWS = 72
WIDE = ["--engine", "ray", "--workers", "2", "--concurrency", "4"]


def processes_with(word, named=""):
    """Return the processes that have a word in their environment, of those called in one way."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            told, name = ((place / one).read_bytes() for one in ("environ", "cmdline"))
            state = (place / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if word.encode() in told and named.encode() in name and state != "Z":
            found.append(int(place.name))
    return found


def wait_for(condition, seconds=180):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@pytest.fixture
def with_ray(monkeypatch):
    if importlib.util.find_spec("ray") is None:
        pytest.skip("pip install 'judgesmith[ray]'")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


@pytest.fixture
def command(folder, judge, with_ray, server):
    """A command on texts that the server takes a moment for."""
    crashing.write_rows(folder / "texts.jsonl", crashing.rated_rows(N_ROWS, 1))
    server.script({"chatty": "steady", "latency": 0.1})
    model = ["--model", "openai/m", "--api-base", server.url]
    return ["score", "judge", "texts.jsonl", "-o", "scores.jsonl", "--max-unscored", "1", *model]


@pytest.fixture
def alone(command, run, server, folder):
    """Return what scoring in one process writes, at the end of a test."""

    def scored():
        server.forget()
        server.script({"chatty": "steady"})
        plain = [*command, "--ledger", "alone.sqlite"]
        plain[plain.index("scores.jsonl")] = "alone.jsonl"
        assert run(*plain).status == 0
        return (folder / "alone.jsonl").read_bytes()

    return scored


@pytest.mark.parametrize(
    ("options", "where", "says"),
    [
        (["--workers", "2"], "--workers", "give --engine ray, too"),
        (["--address", "a:1"], "--address", "give --engine ray, too"),
        (["--engine", "ray", "--batch"], "--engine", "batches are answered elsewhere"),
        (["--engine", "ray", "--record", "t.jsonl"], "--engine", "neither recorded nor replayed"),
        (["--engine", "spark"], "--engine", "'spark' is not one of 'local', 'ray'"),
        (["--engine", "ray", "--workers", "0"], "--workers", "0"),
    ],
)
def test_what_does_not_go_together_is_refused(options, where, says, run, judge, data):
    done = run("score", judge, data, "-o", "scores.jsonl", "--json", *options)
    assert (done.status, done.fault["where"]) == (2, where)
    assert says in done.fault["error"] + (done.fault["hint"] or "")


def test_an_empty_address_is_no_wish_for_a_cluster_of_this_machine(run, judge, data, monkeypatch):
    ray = SimpleNamespace(is_initialized=lambda: False)
    monkeypatch.setattr(
        "judgesmith.experiments.scoring.clusters.connecting.library", lambda *_, **__: ray
    )
    done = run("score", judge, data, "-o", "x.jsonl", "--json", "--engine", "ray", "--address", "")
    assert (done.status, done.fault["where"]) == (2, "--address")
    assert done.fault["error"] == "an empty name is no address of a cluster."


def test_without_ray_the_extra_is_named(run, judge, data, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    done = run("score", judge, data, "-o", "scores.jsonl", "--engine", "ray")
    said = "error: scoring on a cluster needs ray: pip install 'judgesmith[ray]'\n"
    assert (done.status, done.err) == (2, said)


@pytest.mark.ray
@pytest.mark.no_cover
@pytest.mark.filterwarnings("ignore")  # Ray's own
class TestOnRay:
    def test_an_address_where_no_cluster_is_is_refused_at_once(self, command, start, server):
        process = start(*command, "--engine", "ray", "--address", "127.0.0.1:1", "--json")
        out, err = process.communicate(timeout=300)
        asked, fault = err.splitlines()
        assert asked == f"asking openai/m at {server.url}"
        assert (process.returncode, out, json.loads(fault)["where"]) == (2, "", "--address")
        assert "no Ray cluster at 127.0.0.1:1: Connection refused." in json.loads(fault)["error"]
        assert server.counts()["requests"] == 0

    def test_judges_that_compare_responses_are_refused(self, run, data, folder, with_ray):
        made = ["compile", data, "-o", "ranks", "--judge", "pairs", "--optimizer", "none"]
        assert run(*made).status == 0
        done = run("score", "ranks", data, "-o", "scores.jsonl", "--engine", "ray", "--json")
        assert (done.status, done.fault["where"]) == (2, "--engine")
        assert "compares all responses to a source" in done.fault["error"]

    def test_five_thousand_rows_are_the_same_bytes(self, folder, run, start, judge, with_ray):
        crashing.write_rows(folder / "texts.jsonl", crashing.rated_rows(2500, 2))
        alone = run("score", judge, "texts.jsonl", "-o", "alone.jsonl", "--json")
        assert (alone.status, alone.json["rows"]) == (0, 5000)
        given = ["--engine", "ray", "--workers", "2", "--ledger", "other.sqlite", "--json"]
        process = start("score", judge, "texts.jsonl", "-o", "scores.jsonl", *given)
        out, err = process.communicate(timeout=300)
        assert (process.returncode, err) == (0, "")
        found = json.loads(out)
        assert found | {"output": "alone.jsonl"} == alone.json
        assert (folder / "scores.jsonl").read_bytes() == (folder / "alone.jsonl").read_bytes()

    def test_a_driver_that_is_killed_goes_on_where_it_was(
        self, command, folder, start, server, alone, monkeypatch, tmp_path
    ):
        rng = random.Random(0)
        for run in range(2):
            name = f"killed-{tmp_path.name}-{os.getpid()}-{run}"
            monkeypatch.setenv("JUDGESMITH_TEST_RUN", name)
            ahead = server.counts()["requests"] + rng.randint(2, 14)
            process = start(*command, *WIDE)
            wait_for(lambda at=ahead: server.counts()["requests"] >= at)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            # Ray's own agents take a minute to find out.
            wait_for(lambda word=name: not processes_with(word, "ray::Worker"))
            assert not (folder / "scores.jsonl").exists()
        process = start(*command, *WIDE, "--json")
        out, err = process.communicate(timeout=300)
        assert (process.returncode, err) == (0, f"asking openai/m at {server.url}\n")
        assert json.loads(out)["rows"] == N_ROWS
        ledger = sqlite3.connect(folder / ".judgesmith" / "ledger.sqlite")
        assert ledger.execute(crashing.LATE).fetchone() == (0,)
        ledger.close()
        n_requests = server.counts()["requests"]
        assert (folder / "scores.jsonl").read_bytes() == alone()
        n_alone = server.counts()["requests"] - n_requests
        assert n_requests - n_alone <= 2 * 2 * 4  # kills, workers, texts under way

    def test_an_interrupt_ends_everything(
        self, command, folder, start, server, tmp_path, monkeypatch
    ):
        monkeypatch.setenv("TMPDIR", "/tmp")
        name = f"interrupted-{tmp_path.name}-{os.getpid()}"
        monkeypatch.setenv("JUDGESMITH_TEST_RUN", name)
        before = set(Path("/tmp").glob("js-*"))
        process = start(*command, *WIDE)
        wait_for(lambda: server.counts()["answered"] >= 3)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to all of them
        out, err = process.communicate(timeout=300)
        assert (process.returncode, out) == (130, "")
        asked, _, err = err.partition("\n")
        assert asked == f"asking openai/m at {server.url}"
        assert err.startswith("stopping: requests in flight are finished first")
        assert len(err.splitlines()) == 1
        wait_for(lambda: not processes_with(name))
        assert not (folder / "scores.jsonl").exists()
        assert not server.counts()["in_flight"]
        assert set(Path("/tmp").glob("js-*")) <= before

    def test_rows_at_addresses_are_read_and_written_by_ray(self, folder, run, judge, with_ray):
        rows = crashing.rated_rows(30, 2)
        rows[7]["response"] = "2020-01-01\u2028and more"
        (folder / "in").mkdir()
        crashing.write_rows(folder / "in" / "a.jsonl", rows[:35])
        packed = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows[35:])
        (folder / "in" / "b.jsonl.gz").write_bytes(gzip.compress(packed.encode()))
        assert run("score", judge, "in", "-o", "alone.jsonl").status == 0
        here = folder.as_uri()
        given = ["--engine", "ray", "--workers", "1", "--ledger", "other.sqlite", "--json"]
        done = run("score", judge, f"{here}/in", "-o", f"{here}/out", *given)
        assert (done.status, done.err) == (0, "")
        assert (done.json["rows"], done.json["unscored"]) == (60, 0)
        assert done.json["calls"] > 0
        found = [row for one in sorted((folder / "out").iterdir()) for row in parquet_rows(one)]
        alone = [json.loads(line) for line in (folder / "alone.jsonl").read_text().splitlines()]
        said = ("source_id", "system_id", "key", "score", "explanation", "judge")
        assert [[row[name] for name in said] for row in found] == [
            [row[name] for name in said] for row in alone
        ]
        again = run("score", judge, f"{here}/in", "-o", f"{here}/out", *given)
        assert again.status == 2
        assert again.fault["error"] == f"{here}/out holds something."
        forced = run("score", judge, f"{here}/in/*.jsonl", "-o", f"{here}/out", *given, "--force")
        assert (forced.json["rows"], forced.json["calls"]) == (35, 0)
        (folder / "in" / "a.jsonl").write_text('{"source": "a", "response": "b"}\n{broken\n')
        broken = run("score", judge, f"{here}/in/a.jsonl", "-o", f"{here}/new", *given)
        assert broken.status == 2
        assert "a.jsonl:2: line: expected one JSON object; got" in broken.fault["error"]


def parquet_rows(path):
    import pyarrow.parquet as pq

    return pq.read_table(path).to_pylist()


@pytest.mark.parametrize(
    ("given", "where", "says"),
    [
        (["s3://b/in", "-o", "s3://b/out"], "--engine", "give --engine ray, too"),
        (["s3://b/in", "-o", "out.jsonl", "--engine", "ray"], "--output", "are written to one"),
        (["in.jsonl", "-o", "s3://b/out", "--engine", "ray"], "in.jsonl", "is a path"),
        (["s3://b/in", "-o", "s3://b/o", "--engine", "ray", "--as", "jsonl"], "--as", "parquet or"),
        (["s3://b/in", "-o", "s3://b/o", "--engine", "ray", "--unordered"], "--unordered", "leave"),
    ],
)
def test_addresses_are_for_a_cluster(given, where, says, run, judge, monkeypatch):
    monkeypatch.setattr(
        "judgesmith.experiments.scoring.clusters.connecting.ray_module", lambda **_: None
    )
    done = run("score", judge, *given, "--json")
    assert (done.status, done.fault["where"]) == (2, where)
    assert says in done.fault["error"] + (done.fault["hint"] or "")

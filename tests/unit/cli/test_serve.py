"""Judges served by a process of their own, on real sockets."""

import asyncio
import contextlib
import json
import re
import shutil
import signal
import socket
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from crowd import BUSY, Client, crowd
from sessions import ROOT, blocks

from judgesmith.programs import DirectJudge
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.lm import lm_client_of
from judgesmith.programs.lm.cache.store import ResponseCache
from judgesmith.signatures import Scale

LINES = "application/x-ndjson"


@pytest.fixture
def slow(folder, server):
    """A judge of one question, which a model on this machine answers when a test says so."""
    judge = DirectJudge()
    server.script({"held": True})
    return SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="openai/m",
        target="overall",
        human_scale=Scale(low=1, high=5),
    ).save(folder / "slow")


@pytest.fixture
def served(start, judge, slow, server, monkeypatch):
    """A server of both judges: its process and its address."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    process = start(
        *("serve", f"quick={judge}", slow, "--api-base", server.url, "--port", "0", "--json"),
        *("--allow-model", "openai/m"),
        *(
            "--queue",
            "40",
            "--max-items",
            "20",
            "--concurrency",
            "8",
            "--max-body",
            "0.2",
            "--no-example",
        ),
    )
    told = json.loads(process.stdout.readline())
    assert told["judges"] == ["quick", "slow"]
    return process, told["address"]


def resident(process):
    told = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", told)[1]) / 1024


async def health(client):
    return (await client.ask("GET", "/healthz")).json


async def until(client, **wanted):
    for _ in range(3000):
        found = await health(client)
        if all(found[name] == one for name, one in wanted.items()):
            return
        await asyncio.sleep(0.02)
    raise AssertionError(found)


@pytest.mark.no_cover
def test_a_crowd_is_told_what_score_says_and_an_end_finishes_what_was_accepted(
    served, run, folder, server, sample_rows
):
    process, address = served
    items = [
        {k: row[k] for k in ("source_id", "system_id", "source", "response")} for row in sample_rows
    ]
    (folder / "items.jsonl").write_text("".join(json.dumps(one) + "\n" for one in items))
    assert run("score", "judge", "items.jsonl", "-o", "rows.jsonl", "--ledger", "other").status == 0
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text("utf-8").splitlines()]
    rows = [{name: one for name, one in row.items() if name != "run"} for row in rows]

    before = resident(process)
    tally = asyncio.run(crowd(address, "quick", items, rows, clients=16, requests=6))
    assert tally.wrong == []
    assert tally.right >= 40
    assert tally.left
    assert set(tally.statuses) <= {200, 404, 413, 422} | BUSY
    assert resident(process) - before < 64

    as_the_page_shows(address)
    asyncio.run(leaving(address, server))
    asyncio.run(ending(process, address, server))
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (0, "")
    assert "finished first, for at most 30 seconds" in err
    assert "Traceback" not in err
    ledger = ResponseCache(folder / ".judgesmith" / "ledger.sqlite")
    assert ledger.query("SELECT count(*) FROM flights") == [(0,)]
    ledger.close()


def as_the_page_shows(address):
    """Send what docs/how-to/serving.md shows, with its commands and with its function."""
    page = ROOT / "docs" / "how-to" / "serving.md"
    shell = blocks(page, "sh").replace("http://127.0.0.1:8000", address)
    if shutil.which("curl"):
        commands = shell[shell.index("curl") :]
        said = subprocess.run(["sh", "-ec", commands], capture_output=True, text=True, check=True)
        rows = [json.loads(line) for line in said.stdout.splitlines()]
        assert [len(row.get("results", [row])) for row in rows] == [1, 2, 1, 1, 1]
    names = {}
    exec(blocks(page, "python").partition(">>>")[0], names)
    sent = []

    def items():
        for n in range(3):
            sent.append(n)
            yield {"source": f"{n}?", "response": str(n), "source_id": n}

    rows = list(names["judged"](items(), "quick", port=urlsplit(address).port))
    assert [row["source_id"] for row in rows] == ["0", "1", "2"]


async def leaving(address, server):
    """Send a batch and leave: what was begun is finished, the rest is never asked."""
    client, other = Client(address), Client(address)
    await until(other, waiting=0, in_flight=0)
    judges = (await other.ask("GET", "/v1/judges")).json["judges"]
    assert [one["example"] for one in judges] == [None, None]
    many = {"items": [{"response": f"left {n}"} for n in range(20)]}
    await client.send("POST", "/v1/judges/slow/batch", json.dumps(many).encode())
    await until(other, waiting=12, in_flight=8)
    client.close()
    await until(other, waiting=0, in_flight=8)
    server.forget()
    await until(other, waiting=0, in_flight=0)
    assert server.counts()["requests"] == 8
    other.close()


async def ending(process, address, server):
    """Ask for the end while items and a stream are under way."""
    server.script({"held": True})
    clients = [Client(address) for _ in range(6)]
    stream, other = Client(address), Client(address)
    lines = b"".join(json.dumps({"response": f"line {n}"}).encode() + b"\n" for n in range(2))
    await stream.send(
        *("POST", "/v1/judges/slow/stream", None),
        kind=LINES,
        Transfer_Encoding="chunked",
        more=b"%x\r\n%s\r\n" % (len(lines), lines),
    )
    for n, client in enumerate(clients):
        item = json.dumps({"response": f"last {n}"}).encode()
        await client.send("POST", "/v1/judges/slow/judge", item)
    await until(other, in_flight=8)
    process.send_signal(signal.SIGTERM)
    while (reply := await other.ask("GET", "/healthz")).status == 200:
        await asyncio.sleep(0.01)
    assert (reply.status, reply.json["status"]) == (503, "stopping")
    late = await Client(address).ask("POST", "/v1/judges/quick/judge", b'{"response": "late"}')
    assert (late.status, late.json["where"]) == (503, "server")
    server.forget()
    replies = await asyncio.gather(*(client.reply() for client in clients))
    assert [(one.status, one.json["score"]) for one in replies] == [(200, 70.0)] * 6
    found = await stream.reply()
    *rows, last = found.lines
    assert [row["score"] for row in rows] == [70.0, 70.0]
    assert last["where"] == "line 3"
    assert server.counts()["requests"] == 16
    for client in (*clients, stream, other):
        client.close()


def test_a_port_that_is_taken_is_named_before_a_model_is_asked(run, judge):
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        done = run("serve", judge, "--port", port, "--json")
    assert done.status == 2
    assert done.fault == {
        "error": f"cannot listen on 127.0.0.1:{port}: Address already in use.",
        "where": "--port",
        "hint": "choose another with --port.",
    }


class Runs:
    """Takes the place of the runner, and notes what it would have served."""

    def __init__(self, monkeypatch, unfinished=0):
        self.unfinished = unfinished
        monkeypatch.setattr("judgesmith.programs.serving.run", self)

    def __call__(self, app, bound, *, grace, ready, say):
        bound.close()
        ready()
        self.service = app.state.service
        self.grace = grace
        return self.unfinished


@pytest.fixture
def runs(monkeypatch):
    return Runs(monkeypatch)


def test_what_was_not_finished_in_time_is_a_failure(run, judge, monkeypatch):
    Runs(monkeypatch, unfinished=2)
    done = run("serve", judge, "--port", "0", "--grace", "1.5")
    assert done.status == 1
    assert "2 accepted requests not finished within 1.5 seconds.\n" in done.err


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "127.evil.example"])
def test_an_address_that_others_reach_needs_a_token(run, judge, runs, monkeypatch, host):
    done = run("serve", judge, "--port", "0", "--host", host)
    assert done.status == 2
    assert "require a token with --token-env NAME" in done.err
    monkeypatch.setenv("JUDGE_TOKEN", "s3cret-token")
    done = run("serve", judge, "--port", "0", "--host", "0.0.0.0", "--token-env", "JUDGE_TOKEN")
    assert "note" not in done.out
    assert "s3cret" not in done.out + done.err


def test_the_budget_of_a_server_is_that_of_the_one_before_it(run, judge, runs):
    spent = []
    for _ in range(2):
        run("serve", judge, "--port", "0", "--max-calls", "7")
        served = runs.service.judges["judge"]
        spent.append(lm_client_of(served.lm).run_id)
    assert spent[0] == spent[1]

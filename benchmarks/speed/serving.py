"""What a server of judges does under a crowd: right rows, requests a second, memory, a good end.

Clients in this process send single items, batches and streams to a server in another; some send
garbage, and some leave before the answer. Every row that comes back is compared with what the
judge says of the item without a server. Then as many clients send single items alone, which says
how many items a second are judged, and at how much CPU beside ``score`` on the same items (a noisy
machine moves the first and hardly the second); and at the end the server is told to stop while
requests are under way. Needs a /proc.
"""

import asyncio
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Annotated, Any

from crowd import Client, crowd

from benchmarks.harness import Row, benchmark
from judgesmith.cli import main
from judgesmith.data import read_items
from judgesmith.programs import ActiveCritic
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.signatures import Scale

COMMAND = [sys.executable, "-m", "judgesmith"]


@benchmark(
    quick={"clients": 2, "requests": 2, "items": 8},
    formats=dict.fromkeys(("half within ms", "MB at the start", "MB at the end"), ".0f")
    | {"a second": ".0f", "ms of CPU": ".1f", "of score": ".1f", "ratio": ".2f"},
)
def serving(
    *,
    clients: int = 64,
    requests: Annotated[int, "of each client"] = 50,
    items: Annotated[int, "different ones"] = 1600,
    seed: int = 0,
) -> Iterator[Row]:
    """What a server of judges does under a crowd: right rows, speed, memory, a good end."""
    with tempfile.TemporaryDirectory() as name, chdir(name):
        folder = Path(name)
        make_judge(folder / "judge")
        made = make_items(items)
        rows, bare = scored(folder, made)
        yield from under_a_crowd(made, rows, clients, requests, seed)
        fresh(folder)
        yield from one_by_one(made, bare, clients)
        fresh(folder)
        process, address = served()
        found = asyncio.run(stopped(process, address, made))
        for what, n in found.items():
            yield {"stopped while 200 items were under way": what, "n": n}


def under_a_crowd(
    items: list[dict[str, Any]], rows: list[dict[str, Any]], clients: int, requests: int, seed: int
) -> Iterator[Row]:
    """Yield what two halves of all requests came to."""
    process, address = served()
    memory = [resident(process.pid)]
    for part in range(2):
        began = time.perf_counter()
        visits = crowd_of(
            address, items, rows, clients=clients, requests=requests // 2, seed=2 * seed + part
        )
        tally, waits = asyncio.run(visits)
        memory.append(resident(process.pid))
        waits.sort()
        yield {
            "requests": requests // 2 * clients,
            "rows as by score": tally.right,
            "others": len(tally.wrong),
            "statuses": ", ".join(f"{n} of {one}" for one, n in sorted(tally.statuses.items())),
            "left early": tally.left,
            "seconds": time.perf_counter() - began,
            "health check, half within ms": 1e3 * waits[len(waits) // 2],
            "all within s": waits[-1],
            "MB at the start": memory[-2],
            "MB at the end": memory[-1],
        }
    yield {"exit status of the server": ended(process)}


def one_by_one(items: list[dict[str, Any]], bare: float, clients: int) -> Iterator[Row]:
    """Yield what single items cost beside ``score``."""
    process, address = served()
    before = cpu(process.pid)
    seconds = asyncio.run(singles(address, items, clients))
    spent = cpu(process.pid) - before
    ended(process)
    n = len(items)
    row = {"single items": n, "clients": clients, "a second": n / seconds}
    yield row | {"ms of CPU": 1e3 * spent / n, "of score": 1e3 * bare / n, "ratio": spent / bare}


async def crowd_of(
    address: str,
    items: list[dict[str, Any]],
    rows: list[dict[str, Any]],
    *,
    clients: int,
    requests: int,
    seed: int,
) -> tuple[Any, list[float]]:
    """Return what a crowd was told, and how long each health check took meanwhile."""
    waits: list[float] = []

    async def check() -> None:
        client = Client(address)
        while True:
            began = time.perf_counter()
            await client.ask("GET", "/healthz")
            waits.append(time.perf_counter() - began)
            await asyncio.sleep(0.02)

    checking = asyncio.ensure_future(check())
    tally = await crowd(
        *(address, "judge", items, rows),
        clients=clients,
        requests=requests,
        seed=seed,
    )
    checking.cancel()
    return tally, waits


def make_judge(place: Path) -> None:
    """Save a judge of two questions that asks the offline model."""
    judge = ActiveCritic()
    SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale=Scale(low=1, high=5),
    ).save(place)


def make_items(n: int) -> list[dict[str, Any]]:
    """Return different items of usual length, made of the bundled sample."""
    sample = list(read_items("sample"))
    found = []
    for number in range(n):
        one = sample[number % len(sample)]
        found.append(
            {
                "source_id": str(number),
                "system_id": one.system_id,
                "source": f"{one.source} {number}.",
                "response": f"{one.response} {number}.",
            }
        )
    return found


def scored(folder: Path, items: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], float]:
    """Return the rows of items, and the seconds of CPU they took after a first one."""
    data = folder / "items.jsonl"
    data.write_text("".join(json.dumps(one) + "\n" for one in items), encoding="utf-8")
    first = folder / "first.jsonl"
    first.write_text(json.dumps(items[0]) + "\n", encoding="utf-8")
    for place in (first, data):
        out = f"{place.stem}-scores.jsonl"
        words = ["score", "judge", place.name, "-o", out, "--ledger", f"{place.stem}.sqlite"]
        began = time.process_time()
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            if main(words):
                raise SystemExit("judgesmith score failed")
        took = time.process_time() - began
    rows = [json.loads(line) for line in (folder / out).read_text("utf-8").splitlines()]
    bare = [{name: one for name, one in row.items() if name != "run"} for row in rows]
    return bare, took


def cpu(pid: int) -> float:
    """Return the CPU that a process took, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ended(process: subprocess.Popen[str]) -> int:
    """Ask a server to stop, and return its exit status."""
    process.send_signal(signal.SIGTERM)
    return process.wait()


def served() -> tuple[subprocess.Popen[str], str]:
    """Start a server, and return it with its address."""
    command = [*COMMAND, "serve", "judge", "--port", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())["address"]


def fresh(folder: Path) -> None:
    """Forget all answers."""
    for path in (folder / ".judgesmith").iterdir():
        path.unlink()


def resident(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    told = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    line = next(one for one in told.splitlines() if one.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


async def singles(address: str, items: list[dict[str, Any]], clients: int) -> float:
    """Send every item by itself, and return how many seconds they took."""
    waiting = iter(items)

    async def work() -> None:
        client = Client(address)
        for item in waiting:
            reply = await client.ask("POST", "/v1/judges/judge/judge", json.dumps(item).encode())
            assert reply.status == 200, reply
        client.close()

    began = time.perf_counter()
    await asyncio.gather(*[work() for _ in range(clients)])
    return time.perf_counter() - began


async def stopped(
    process: subprocess.Popen[str], address: str, items: list[dict[str, Any]]
) -> dict[str, Any]:
    """Tell the server to stop while items are under way; return what became of them."""
    tally: Counter[str] = Counter()
    rng = random.Random(0)

    async def work(item: dict[str, Any]) -> None:
        client = Client(address)
        await asyncio.sleep(rng.random() * 0.5)
        try:
            reply = await client.ask("POST", "/v1/judges/judge/judge", json.dumps(item).encode())
            tally[str(reply.status)] += 1
        except ConnectionError:
            tally["not connected"] += 1
        except asyncio.IncompleteReadError:
            tally["cut off"] += 1
        client.close()

    tasks = [asyncio.ensure_future(work(item)) for item in items[:200]]
    await asyncio.sleep(0.4)
    process.send_signal(signal.SIGTERM)
    await asyncio.gather(*tasks)
    return {**dict(sorted(tally.items())), "exit status": process.wait()}

"""What a server of judges does under a crowd: right rows, requests a second, memory, a good end.

Clients in this process send single items, batches and streams to a server in another; some send
garbage, and some leave before the answer. Every row that comes back is compared with what the
judge says of the item without a server. Then as many clients send single items alone, which says
how many items a second are judged, and at how much CPU beside ``score`` on the same items (a noisy
machine moves the first and hardly the second); and at the end the server is told to stop while
requests are under way. Needs a /proc.

    python benchmarks/serving.py --clients 64 --requests 50
"""

import argparse
import asyncio
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "unit" / "support"))

from crowd import Client, crowd

from judgesmith.experiments import read_items
from judgesmith.programs import ActiveCritic
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.signatures import Scale

COMMAND = [sys.executable, "-m", "judgesmith"]


def main() -> None:
    """Run all of it and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--requests", type=int, default=50, help="of each client")
    parser.add_argument("--items", type=int, default=1600, help="different ones")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        measure(Path(folder), options)


def measure(folder: Path, options: argparse.Namespace) -> None:
    """Measure in an empty folder."""
    make_judge(folder / "judge")
    items = make_items(options.items)
    rows, bare = scored(folder, items)
    process, address = served()
    memory = [resident(process.pid)]
    half = options.requests // 2
    began = time.perf_counter()
    for part in range(2):
        visits = crowd_of(address, items, rows, options, requests=half, part=part)
        tally, waits = asyncio.run(visits)
        memory.append(resident(process.pid))
        print(
            f"{half * options.clients} requests by {options.clients} clients: {tally.right} rows "
            f"as by score, {len(tally.wrong)} others; statuses "
            f"{dict(sorted(tally.statuses.items()))}, left early {tally.left}"
        )
        waits.sort()
        print(f"/healthz: half within {1e3 * waits[len(waits) // 2]:.0f} ms, all {waits[-1]:.2f} s")
    print(f"both in {time.perf_counter() - began:.1f} s")
    print(f"resident memory: {', '.join(f'{one:.0f}' for one in memory)} MB at start, half and end")
    print(f"the server ended with status {ended(process)}")

    fresh(folder)
    process, address = served()
    before = cpu(process.pid)
    seconds = asyncio.run(singles(address, items, options.clients))
    spent = cpu(process.pid) - before
    ended(process)
    n = len(items)
    print(
        f"single items by {options.clients} clients: {n / seconds:.0f} a second, "
        f"{1e3 * spent / n:.1f} ms of CPU each; score: {1e3 * bare / n:.1f} ms, ratio "
        f"{spent / bare:.2f}"
    )

    fresh(folder)
    process, address = served()
    found = asyncio.run(stopped(process, address, items))
    print(f"stopped while 200 items were under way: {found}")


async def crowd_of(
    address: str,
    items: list[dict[str, Any]],
    rows: list[dict[str, Any]],
    options: argparse.Namespace,
    *,
    requests: int,
    part: int,
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
        clients=options.clients,
        requests=requests,
        seed=2 * options.seed + part,
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
    """Return the rows of items, and the seconds of CPU they took after the start."""
    data = folder / "items.jsonl"
    data.write_text("".join(json.dumps(one) + "\n" for one in items), encoding="utf-8")
    first = folder / "first.jsonl"
    first.write_text(json.dumps(items[0]) + "\n", encoding="utf-8")
    times = []
    for place in (first, data):
        out = f"{place.stem}-scores.jsonl"
        command = [*COMMAND, "score", "judge", place.name, "-o", out]
        command += ["--ledger", f"{place.stem}.sqlite"]
        used = children()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(children() - used)
    rows = [json.loads(line) for line in (folder / out).read_text("utf-8").splitlines()]
    bare = [{name: one for name, one in row.items() if name != "run"} for row in rows]
    return bare, times[1] - times[0]


def children() -> float:
    """Return the CPU that finished processes of ours took, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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


if __name__ == "__main__":
    main()

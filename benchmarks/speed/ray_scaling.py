"""How much faster two workers on Ray score than one, and what Ray costs a row.

Scaling: a server in a process of its own answers every question after a fixed latency, and a worker
asks ``--concurrency`` at a time, so that one worker is bounded by them. All workers share a ledger
file, and each round has new texts, so that every row is asked about. Overhead: the offline model
without a ledger, in this process and by one worker; what is told is the processor time that
this process takes to send rows and take judgements in, and what the worker takes more than
judging here does. Starting Ray is told by itself.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from loopback import Loopback, serving

from benchmarks.harness import NotRun, Row, benchmark
from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge, ray_judging
from judgesmith.programs import iter_scores
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.lm import client_model
from judgesmith.signatures import RatedItem

ANSWER = "[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]"
WARM = 64  # rows before the clock starts: workers load what they need with the first


def texts(n: int, mark: str) -> Iterator[RatedItem]:
    """Yield so many texts of the bundled sample, no two of which are equal."""
    sample = read_items("sample").items
    for place in range(n):
        one = sample[place % len(sample)]
        yield RatedItem(source=one.source, response=f"{one.response} ({mark} {place})")


def worker_seconds(process: int) -> float:
    """Return the processor time of a process so far."""
    told = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def rate(
    judge: SavedJudge, server: Loopback, n_workers: int, rows: int, concurrency: int
) -> tuple[float, float]:
    """Return the rows a second that so many workers judge, and the seconds until they began."""
    with tempfile.TemporaryDirectory() as folder:
        lm = client_model("openai/m", api_base=server.url, ledger=Path(folder) / "ledger.sqlite")
        given = {"workers": n_workers, "concurrency": concurrency}
        began = time.perf_counter()
        with ray_judging(judge, lm, **given) as judging:
            while len(judging.workers) < n_workers:
                n = sum(1 for _ in judging(texts(WARM, f"warm {time.perf_counter()}")))
                assert n == WARM
            started = time.perf_counter() - began
            began = time.perf_counter()
            found = [one for _, one in judging(texts(rows, f"of {n_workers}"))]
            seconds = time.perf_counter() - began
    assert [one.score for one in found] == [70.0] * rows
    return rows / seconds, started


def overhead(judge: SavedJudge, rows: int) -> Iterator[Row]:
    """Yield what a row takes here and by one worker, with the offline model."""
    items = list(texts(rows, "offline"))
    lm = client_model("offline", ledger=None)
    list(iter_scores(judge, iter(items[:WARM]), lm=lm))
    cpu, wall = time.process_time(), time.perf_counter()
    alone = list(iter_scores(judge, iter(items), lm=lm))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    with ray_judging(judge, lm, workers=1) as judging:
        list(judging(iter(items[:WARM])))
        process = judging.workers[0].process
        there, own, ray_wall = worker_seconds(process), time.process_time(), time.perf_counter()
        found = list(judging(iter(items)))
        there, own = worker_seconds(process) - there, time.process_time() - own
        ray_wall = time.perf_counter() - ray_wall
    assert found == alone
    ways = {
        "here": (cpu, 0.0, wall),
        "one worker": (own, there, ray_wall),
        "overhead": (max(0.0, own + there - cpu), 0.0, max(0.0, ray_wall - wall)),
    }
    for way, took in ways.items():
        here, yonder, in_all = (1000 * one / rows for one in took)
        yield {"ms a row": way, "CPU here": here, "CPU there": yonder, "in all": in_all}


@benchmark(
    quick="starting Ray takes longer than a moment",
    formats={"rows/s": ".1f", "ready after s": ".1f", "of the first": ".2f"},
)
def ray_scaling(
    *,
    rows: int = 2000,
    latency: Annotated[float, "seconds before each answer"] = 0.05,
    concurrency: Annotated[int, "texts at a time, by each worker"] = 8,
) -> Iterator[Row]:
    """How much faster two workers on Ray score than one, and what Ray costs a row."""
    if importlib.util.find_spec("ray") is None:
        raise NotRun("Ray is not installed: judgesmith[ray]")
    settings = CompileSettings(judge="direct", optimizer="none", holdout=0)
    judge = compile_judge(read_items("sample"), settings).saved
    with serving(latency=latency, answer=ANSWER) as server:
        first = None
        for n in (1, 2):
            per_second, started = rate(judge, server, n, rows, concurrency)
            first = first or per_second
            row = {"workers": n, "rows/s": per_second, "ready after s": started}
            yield row | {"of the first": per_second / first}
    yield from overhead(judge, rows)

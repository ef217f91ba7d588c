"""How much faster two workers on Ray score than one, and what Ray costs a row.

Scaling: a server in a process of its own answers every question after a fixed latency, and a worker
asks ``--concurrency`` at a time, so that one worker is bounded by them. All workers share a ledger
file, and each round has new texts, so that every row is asked about. Overhead: the offline model
without a ledger, in this process and by one worker; what is told is the processor time that
this process takes to send rows and take judgements in, and what the worker takes more than
judging here does. Starting Ray is told by itself.

    pip install 'judgesmith[ray]'
    python benchmarks/ray_scaling.py --rows 2000
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "unit" / "support"))
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ.setdefault("OPENAI_API_KEY", "none")

from loopback import Loopback, serving

from judgesmith.experiments import CompileSettings, compile_judge, ray_judging, read_items
from judgesmith.programs import judge_each
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


def rate(judge: SavedJudge, server: Loopback, n_workers: int, options: argparse.Namespace) -> float:
    """Return the rows a second that so many workers judge, by the server's answers."""
    with tempfile.TemporaryDirectory() as folder:
        lm = client_model("openai/m", api_base=server.url, ledger=Path(folder) / "ledger.sqlite")
        given = {"workers": n_workers, "concurrency": options.concurrency}
        began = time.perf_counter()
        with ray_judging(judge, lm, **given) as judging:
            while len(judging.workers) < n_workers:
                n = sum(1 for _ in judging(texts(WARM, f"warm {time.perf_counter()}")))
                assert n == WARM
            started = time.perf_counter() - began
            began = time.perf_counter()
            found = [one for _, one in judging(texts(options.rows, f"of {n_workers}"))]
            seconds = time.perf_counter() - began
    assert [one.score for one in found] == [70.0] * options.rows
    print(
        f"{n_workers} worker{'s' * (n_workers > 1)}: {options.rows / seconds:7.1f} rows/s "
        f"(ready after {started:.1f} s)"
    )
    return options.rows / seconds


def overhead(judge: SavedJudge, options: argparse.Namespace) -> None:
    """Print what a row takes here and by one worker, with the offline model."""
    items = list(texts(options.rows, "offline"))
    lm = client_model("offline", ledger=None)
    list(judge_each(judge, iter(items[:WARM]), lm=lm))
    cpu, wall = time.process_time(), time.perf_counter()
    alone = list(judge_each(judge, iter(items), lm=lm))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    with ray_judging(judge, lm, workers=1) as judging:
        list(judging(iter(items[:WARM])))
        process = judging.workers[0].process
        there, own, ray_wall = worker_seconds(process), time.process_time(), time.perf_counter()
        found = list(judging(iter(items)))
        there, own = worker_seconds(process) - there, time.process_time() - own
        ray_wall = time.perf_counter() - ray_wall
    assert found == alone
    each = 1000 / options.rows
    print(f"here:       {cpu * each:.3f} ms of processor time a row, {wall * each:.3f} ms in all")
    print(
        f"one worker: {own * each:.3f} ms here and {there * each:.3f} ms there, "
        f"{ray_wall * each:.3f} ms in all"
    )
    print(
        f"overhead:   {max(0.0, own + there - cpu) * each:.3f} ms of processor time a row, "
        f"{max(0.0, ray_wall - wall) * each:.3f} ms in all"
    )


def main() -> None:
    """Measure both, and print them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--latency", type=float, default=0.05, help="seconds before each answer")
    parser.add_argument(
        "--concurrency", type=int, default=8, help="texts at a time, by each worker"
    )
    options = parser.parse_args()
    settings = CompileSettings(judge="direct", optimizer="none", holdout=0)
    judge = compile_judge(read_items("sample"), settings).saved
    with serving(latency=options.latency, answer=ANSWER) as server:
        one, two = (rate(judge, server, n, options) for n in (1, 2))
    print(f"two workers are {two / one:.2f} times as fast as one")
    overhead(judge, options)


if __name__ == "__main__":
    main()

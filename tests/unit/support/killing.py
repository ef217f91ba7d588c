"""Scores shards in processes that are killed at random moments, until one comes to its end.

Run it in a process of its own, from an empty folder: ``python
tests/unit/support/killing.py OUT SEED`` writes
one JSON object. It loads the judge once and forks a child for every try, so that a try costs what
it does and not what starting Python costs.
"""

import json
import os
import random
import signal
import sqlite3
import sys
import time
from pathlib import Path

from sharding import rows_of, texts, write

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge, score_shards
from judgesmith.experiments.scoring import parts
from judgesmith.experiments.scoring.lines import read_line
from judgesmith.programs.lm import model
from judgesmith.signatures import ActiveCriticConfig

N_ROWS = 56
MOMENTS = [(0, 0), (1, 9), (1, 9), (10, 20), (1, 9), (N_ROWS, N_ROWS), (N_ROWS, N_ROWS)]
"""Between which numbers of rows that were judged each process is killed, at the latest when it has
judged all."""
LATE = """SELECT count(*) FROM intents JOIN answers ON answers.identity = intents.identity
WHERE intents.id > answers.intent"""
"""Requests for what was recorded already."""


class Log:
    """Writes down which row of which file is judged, in a way that outlives the process."""

    def __init__(self, path):
        self.path = path

    def judged(self, file, row, item, judgement):
        with self.path.open("a") as log:
            log.write(json.dumps([file, row]) + "\n")
        time.sleep(0.001)

    def kept(self, n_rows):
        pass


def child(judge, output, *, ledger, ordered, log):
    """Score everything in a process of its own, of which the id is returned."""
    pid = os.fork()
    if pid:
        return pid
    try:
        lm = model(ledger=ledger)
        score_shards(judge, "in", output, lm=lm, ordered=ordered, watch=Log(log), concurrency=4)
    except BaseException as fault:
        sys.stderr.write(repr(fault))
        sys.stderr.flush()
        os._exit(3)
    os._exit(0)


def committed(output):
    """Return the rows in parts, by the file of scores that they belong to and their number."""
    found = {}
    for part in sorted(Path.cwd().glob(f"{output.rstrip('/')}*/**/*-*.jsonl")):
        for text in part.read_text().splitlines():
            found.setdefault(part.parent.name, set()).add(read_line(text).number)
    return {name: sorted(numbers) for name, numbers in found.items()}


def tried(judge, output, *, ordered, rng):
    """Return what came of scoring with kills, and of scoring without."""
    whole = f"whole-{output}"
    pid = child(judge, whole, ledger="whole.sqlite", ordered=ordered, log=Path("whole.log"))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    n_kills, again = 0, 0
    while True:
        before = committed(output)
        log = Path(f"{n_kills}.log")
        pid = child(judge, output, ledger="killed.sqlite", ordered=ordered, log=log)
        if n_kills < len(MOMENTS):
            _wait(pid, log, rng.randint(*MOMENTS[n_kills]))
            time.sleep(rng.uniform(0, 0.02))
            os.kill(pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        again += n_again(log, before, into_folder=output.endswith("/"))
        if status != -signal.SIGKILL:
            break
        n_kills += 1
    assert status == 0
    return {"kills": n_kills, "again": again, **compared(output, whole, ordered=ordered)}


def _wait(pid, log, n_rows):
    """Wait until a process has judged some rows, and a moment longer where it judges no more."""
    before, since = 0, time.monotonic()
    while before < n_rows and time.monotonic() - since < (0.02 if before else 5):
        n = log.read_bytes().count(b"\n") if log.exists() else 0
        if n > before:
            before, since = n, time.monotonic()
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        time.sleep(0.001)


def n_again(log, before, *, into_folder):
    """Return how many rows were judged that had been committed before."""
    n = {"in/a.jsonl": 0, "in/b.jsonl": 30, "in/c.jsonl": 31}
    found = 0
    for file, row in rows_of(log) if log.exists() else []:
        name = f"{Path(file).name}.parts" if into_folder else next(iter(before), "")
        found += (row if into_folder else n[file] + row) in before.get(name, ())
    return found


def compared(output, whole, *, ordered):
    """Return how two outputs differ, and what is left beside the first."""
    one, other = (
        {
            path.name: path.read_bytes() if ordered else sorted(path.read_bytes().splitlines())
            for path in (sorted(Path(place).iterdir()) if place.endswith("/") else [Path(place)])
        }
        for place in (output, whole)
    )
    same = list(one.values()) == list(other.values())
    left = [
        path.name for path in Path.cwd().glob("**/*") if path.name.endswith((".parts", ".part"))
    ]
    counts = [_counted(f"{name}.sqlite") for name in ("killed", "whole")]
    return {"same": same, "left": left, "late": counts[0][1], "answers": [n for n, _ in counts]}


def _counted(path):
    ledger = sqlite3.connect(path)
    (n,) = ledger.execute("SELECT count(*) FROM answers").fetchone()
    (late,) = ledger.execute(LATE).fetchone()
    ledger.close()
    return n, late


def main(output, seed):
    """Score with kills into ``output``, where ``any-`` at its beginning stands for any order."""
    parts.ROWS = 3
    for name, n, start in (("a", 30, 0), ("b", 1, 30), ("c", 25, 31)):
        write(Path("in") / f"{name}.jsonl", texts(n, start))
    settings = CompileSettings(
        optimizer="none", holdout=0, protocol=ActiveCriticConfig(variant="vanilla")
    )
    judge = compile_judge(read_items("sample"), settings, lm=model(ledger=None)).saved
    rng = random.Random(int(seed))
    found = tried(judge, output, ordered=not output.startswith("any-"), rng=rng)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Runs commands that die, or lose their disk, between any two writes, and commands after them.

Run it in a process of its own, from an empty folder: ``python tests/unit/support/crashing.py
JOBS.json`` writes a list with an object for each job. It loads the command line once and forks a
child for every command, so that a command costs what it does and not what starting Python costs.
A job has these keys:

``command``
    what follows ``judgesmith``; run in a folder of its own, beside what is in ``files``
``files``
    a folder that every command finds a copy of
``makes``
    what the command makes: the name of a file or folder
``fault``
    ``kill``: the process ends at once, as in a power cut; ``full``: no write succeeds any more
``every``
    1 for the fault before every single write, 2 for every other one, and so on
"""

import errno
import importlib
import io
import json
import os
import shutil
import signal
import sqlite3
import sys
import time
import traceback
from pathlib import Path

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
RENAMING = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"}
LATE = """SELECT count(*) FROM intents JOIN answers ON answers.identity = intents.identity
WHERE intents.id > answers.intent"""
"""Requests for what was recorded already."""


def rated_rows(n_sources, n_systems=2):
    """Return rated texts that ``chatty.py`` has something to say about."""
    return [
        {
            "source_id": f"s{source}",
            "system_id": f"m{system}",
            "source": f"Article {source} is about the number {source}.",
            "response": f"Summary {source}-{system} of quality {17 * (source + 3 * system) % 101}.",
            "human": {"overall": [1 + 4 * (17 * (source + 3 * system) % 101) / 100]},
            "scale": {"overall": [1, 5]},
        }
        for source in range(n_sources)
        for system in range(n_systems)
    ]


def write_rows(path, rows):
    """Write rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


ANY = ("--max-unscored", "1")  # answers of a chatty model cannot all be read


def commands(model):
    """Return what is run, by name: the command, and what it makes."""
    return {
        "infer": (["infer", "rated.jsonl", "-o", "rubric.yaml", *model], "rubric.yaml"),
        "compile": (
            ["compile", "rated.jsonl", "-o", "judge", "--rounds", "2", *ANY, *model],
            "judge",
        ),
        "score": (
            ["score", "made", "texts.jsonl", "-o", "scores.jsonl", *ANY, *model],
            "scores.jsonl",
        ),
    }


class Disk:
    """Everything that this process writes in one folder, up to the fault."""

    def __init__(self, folder, fault, at):
        self.folder = str(folder.resolve())
        self.fault = fault
        self.at = at
        self.n_writes = 0

    def write(self):
        """Count a write that is about to happen; end here if it is the one."""
        self.n_writes += 1
        if self.at is None or self.n_writes < self.at:
            return
        if self.fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def watches(self, path):
        try:
            return os.path.realpath(os.fsdecode(path)).startswith(self.folder + os.sep)
        except (TypeError, ValueError):
            return False

    def hear(self, event, details):
        """Count what the interpreter says it is about to do."""
        if event == "open":
            path, _, flags = details
            # Removing is no writing: a full disk lets go of files.
            if isinstance(flags, int) and flags & WRITING and self.watches(path):
                self.write()
        elif event in RENAMING and self.watches(details[0]):
            if self.fault == "full" and event in ("os.remove", "os.rmdir"):
                return
            self.write()

    def install(self):
        disk, plain_open, plain_sync = self, io.open, os.fsync

        def opened(file, mode="r", *rest, **options):
            found = plain_open(file, mode, *rest, **options)
            if set(mode) & set("wax+") and not isinstance(file, int) and disk.watches(file):
                plain_write = found.write

                def write(text):
                    disk.write()
                    n = plain_write(text[: len(text) // 2])
                    found.flush()
                    disk.write()  # in the middle of it
                    n += plain_write(text[len(text) // 2 :])
                    found.flush()
                    return n

                found.write = write
            return found

        def fsync(descriptor):
            disk.write()
            plain_sync(descriptor)

        class Connection(sqlite3.Connection):
            def execute(self, statement, *rest):
                if not statement.lstrip().startswith(("SELECT", "ROLLBACK")):
                    try:
                        disk.write()
                    except OSError:
                        fault = sqlite3.OperationalError("database or disk is full")
                        fault.sqlite_errorcode = sqlite3.SQLITE_FULL
                        raise fault from None
                return super().execute(statement, *rest)

        plain_connect = sqlite3.connect
        sqlite3.connect = lambda *a, **k: plain_connect(*a, **{**k, "factory": Connection})
        io.open, os.fsync = opened, fsync
        sys.addaudithook(self.hear)


def run(folder, command, *, fault="kill", at=None):
    """Run a command in a child; return its status, what it said, and how often it wrote."""
    said, counted = folder.with_suffix(".said"), folder.with_suffix(".count")
    child = os.fork()
    if child == 0:
        status = 70
        try:
            os.chdir(folder)
            descriptor = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            count = os.open(counted, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            disk = Disk(folder, fault, at)
            disk.install()
            from judgesmith.cli import main

            status = main(command)
            sys.stdout.flush()
            os.write(count, str(disk.n_writes).encode())
            loaded = [name for name in sys.modules if name.startswith(("judgesmith.", "scipy."))]
            folder.with_suffix(".modules").write_text("\n".join(loaded))
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(status)
    _, state = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(state), said.read_text(), counted.read_text()


def contents(place):
    """Return every file of what was made, by name."""
    if not place.exists():
        return None
    files = [place] if place.is_file() else sorted(one for one in place.rglob("*") if one.is_file())
    return {str(one.relative_to(place)): one.read_bytes() for one in files}


def wrong(folder, made, whole, *, names=None):
    """Return what is wrong with a folder: a torn file, or another than ``names``."""
    found = []
    if made not in (None, whole):
        found.append("torn")
    if names is not None:
        others = {one.name for one in folder.iterdir()} ^ names
        found += [f"left over: {', '.join(sorted(others))}"] if others else []
    return found


def main(job):
    """Try all moments of one job and return what came of it."""
    import judgesmith.cli
    import judgesmith.experiments
    import judgesmith.optimizers
    import judgesmith.programs.lm.engines  # noqa: F401 - what a child need not load

    began = time.monotonic()
    command, makes, fault = job["command"], job["makes"], job["fault"]
    here = Path.cwd() / f"{command[0]}-{fault}"
    here.mkdir()

    def fresh(name):
        return Path(shutil.copytree(job["files"], here / name))

    first = fresh("whole")
    status, said, count = run(first, command)
    assert status == 0, said
    for name in first.with_suffix(".modules").read_text().split():
        importlib.import_module(name)  # so that no later child has to
    whole, names = contents(first / makes), {one.name for one in first.iterdir()}
    n_writes = int(count)
    moments = list(range(1, n_writes + 1, job["every"]))
    faults = []
    for at in moments:
        folder = fresh(f"at-{at}")
        status, said, count = run(folder, command, fault=fault, at=at)
        # How many writes share a commit depends on who is ready when: there may be fewer.
        over = status == 0 and int(count) < at
        # Nor is it a fault to meet a full disk when everything is in its place.
        over = over or (status == 0 and fault == "full" and contents(folder / makes) == whole)
        ended_well = over or status == (-signal.SIGKILL if fault == "kill" else 2)
        problems = [] if ended_well else [f"status {status}: {said[-600:]}"]
        if fault == "full" and "Traceback" in said:
            problems.append(said[-600:])
        if fault == "full":
            allowed = [one for one in folder.iterdir() if one.name.startswith(".")]
            left = [one.name for one in allowed if one.name.endswith((".part", ".old"))]
            problems += [f"left over: {', '.join(left)}"] if left else []
        problems += wrong(folder, contents(folder / makes), whole)
        status, said, _ = run(folder, command)
        problems += [] if status == 0 else [f"again {status}: {said[-600:]}"]
        again = contents(folder / makes)
        problems += [] if again == whole else ["another result"]
        problems += wrong(folder, again, whole, names=names)
        ledger = sqlite3.connect(folder / ".judgesmith" / "ledger.sqlite")
        problems += ["asked again"] if ledger.execute(LATE).fetchone()[0] else []
        problems += (
            ["unsound"] if ledger.execute("PRAGMA quick_check").fetchone()[0] != "ok" else []
        )
        ledger.close()
        if problems:
            faults.append({"at": at, "problems": problems})
        else:
            shutil.rmtree(folder)
    seconds = round(time.monotonic() - began, 1)
    return {"writes": n_writes, "tried": len(moments), "faults": faults, "seconds": seconds}


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text())
    sys.stdout.write(json.dumps([main(job) for job in given]) + "\n")

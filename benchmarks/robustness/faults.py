"""Thousands of items, a fifth of them with faulty answers of all kinds, in Python and the shell.

Which item meets which fault is a function of a seed and the item, so that what must come of every
item is known beforehand: a score after a passing fault, the reason of the fault after a lasting
one.
"""

import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import loopback_faults

from benchmarks.harness import Row, benchmark, held

GRADE = "[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]"
CONCURRENCY = 32
SHARE = 0.2
ATTEMPTS = 6  # of the command line
_UNREADABLE = 2  # requests for what cannot be read, in every finished run
_UNANSWERED = ("http_400", "http_413", "http_422", "http_451", "too_long_a_prompt", "down")


@benchmark(quick={"items": 20, "shell": False, "huge": 0})
def faults(*, items: int = 5000, shell: bool = True, huge: int = 3) -> Iterator[Row]:
    """Items of which a fifth have faulty answers of all kinds, in Python and the shell."""
    ways = ((_in_python, 1), (_in_the_shell, 2))
    with loopback_faults.serving(answer=GRADE) as server, tempfile.TemporaryDirectory() as name:
        for way, seed in ways if shell else ways[:1]:
            server.reset()
            folder = Path(name) / way.__name__
            folder.mkdir()
            yield from _Room(server, folder, items, huge, seed).measured(way)


class _Room:
    """A server with a plan, the items, and what must come of each."""

    def __init__(self, server: Any, folder: Path, n_items: int, n_huge: int, seed: int) -> None:
        self.server, self.folder, self.n_items = server, folder, n_items
        self.lasting = loopback_faults.LASTING
        known = (*loopback_faults.PASSING, *self.lasting, *loopback_faults.HARMLESS)
        kinds = [one for one in known if one != "huge"]
        self.n_kinds = len(known)
        plan = {"seed": seed, "share": SHARE, "kinds": kinds, "label": "item-[0-9]+"}
        self.texts = [f"This is item-{n}, one of many." for n in range(n_items)]
        self.fault = [loopback_faults.planned(plan, f"item-{n}") for n in range(n_items)]
        # Twenty megabytes each, so there are only a few.
        for n in range(n_items // 2, n_items // 2 + n_huge):
            self.fault[n] = "huge"
            server.script({"contains": f"item-{n},", "fault": "huge"})
        server.script({"plan": plan})

    def wrong(self, judged: Iterable[tuple[float | None, str | None]]) -> list[str]:
        """Return how items came out that should have come out otherwise."""
        found = []
        for fault, (score, problem) in zip(self.fault, judged, strict=True):
            if fault in self.lasting:
                right = score is None and (problem or "").startswith(self.lasting[fault])
            else:
                right = score is not None and problem is None
            if not right:
                found.append(f"{fault}: {score}, {problem}")
        return found

    def measured(self, way: Any) -> list[Row]:
        """Run twice and return the rows."""
        began = time.monotonic()
        first = way(self)
        seconds = time.monotonic() - began
        served = self.server.faults()
        requests = self.server.counts()["requests"]
        second = way(self)
        asked_again = self.server.counts()["requests"] - requests

        n_scored = sum(score is not None for score, _ in first["judged"])
        n_unscored = sum(problem is not None for _, problem in first["judged"])
        wrong = self.wrong(first["judged"])
        met = Counter(self.fault)
        unanswered = sum(met[fault] for fault in _UNANSWERED) + (ATTEMPTS - 1) * met["down"]
        unread = _UNREADABLE * sum(met[one] for one in self.lasting if one not in _UNANSWERED)
        changed = sum(a != b for a, b in zip(first["judged"], second["judged"], strict=True))
        name = way.__name__.strip("_").replace("_", " ")
        for text in wrong[:5]:
            print(f"  {text}", file=sys.stderr)
        return [
            held(
                f"{name}: every item is scored, or unscored with the reason of its fault",
                f"{self.n_items - len(wrong)} of {self.n_items} items right; "
                f"{self.n_items - met[None]} faulty, {len(met) - 1} of {self.n_kinds} kinds, "
                f"{sum(served.values())} faulty replies; {seconds:.0f} s",
                not wrong,
            ),
            held(
                f"{name}: scored + unscored = items, and so the summary says",
                f"{n_scored} + {n_unscored} = {len(first['judged'])} of {self.n_items}",
                n_scored + n_unscored == len(first["judged"]) == self.n_items
                and first["told_unscored"] == n_unscored,
            ),
            held(
                f"{name}: requests at the server = intents in the ledger = calls in the summary",
                f"{requests}, {first['intents']}, {first['calls']}",
                requests == first["intents"] == first["calls"],
            ),
            held(
                f"{name}: the same again asks only what has no answer that can be read, and says "
                "the same",
                f"{asked_again} requests for {unanswered} unanswered and {unread} unreadable, "
                f"{second['calls']} counted; {changed} items differ",
                asked_again == unanswered + unread == second["calls"] and not changed,
            ),
        ]


def _in_python(room: _Room) -> dict[str, Any]:
    from judgesmith import ActiveCritic, RatedItem, iter_scores, model
    from judgesmith.programs.lm import lm_client_of

    lm = model("openai/m", api_base=room.server.url, ledger=room.folder / "ledger.sqlite")
    items = (RatedItem(source="Judge it.", response=text) for text in room.texts)
    judge = ActiveCritic(variant="vanilla")
    judged = [
        (judgement.score, judgement.problem)
        for _, judgement in iter_scores(judge, items, lm=lm, concurrency=CONCURRENCY)
    ]
    stack = lm_client_of(lm)
    return {
        "judged": judged,
        "calls": stack.usage.calls,
        "intents": stack.ledger.query("SELECT count(*) FROM intents")[0][0],
        "told_unscored": sum(problem is not None for _, problem in judged),
    }


def _in_the_shell(room: _Room) -> dict[str, Any]:
    data = room.folder / "items.jsonl"
    if not data.exists():
        rows = [{"source": "Judge it.", "response": text} for text in room.texts]
        data.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
        _judgesmith(room.folder, "compile", "sample", "-o", "judge", "--variant", "vanilla")
        (room.folder / ".judgesmith" / "ledger.sqlite").unlink()
    options = ["--model", "openai/m", "--api-base", room.server.url]
    options += ["--concurrency", str(CONCURRENCY), "--json", "--force", "--max-unscored", "1"]
    told = json.loads(
        _judgesmith(room.folder, "score", "judge", "items.jsonl", "-o", "out.jsonl", *options)
    )
    written = (room.folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
    judged = [(one["score"], one["problem"]) for one in map(json.loads, written)]
    return {
        "judged": judged,
        "calls": told["calls"],
        "intents": _intents(room.folder),
        "told_unscored": told["unscored"],
    }


def _intents(folder: Path) -> int:
    connection = sqlite3.connect(folder / ".judgesmith" / "ledger.sqlite")
    try:
        return int(connection.execute("SELECT count(*) FROM intents").fetchone()[0])
    finally:
        connection.close()


def _judgesmith(folder: Path, *arguments: str) -> str:
    call = [sys.executable, "-m", "judgesmith", *arguments]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return done.stdout

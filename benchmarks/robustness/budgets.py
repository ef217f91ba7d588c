"""Ceilings on calls, tokens, dollars and minutes: never passed, and what was bought is kept.

The server counts one token per byte of the texts (the worst that a tokenizer can do), writes
answers of any length up to their ceiling, and breaks a tenth of its replies. What was spent is
taken from the server, not from the ledger.
"""

import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import loopback_faults

from benchmarks.harness import ROOT, Row, benchmark, held
from benchmarks.robustness.budgeted import PRICE

GRADE = "[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]"
LONGEST = 300  # tokens of an answer
BROKEN = ("closed_before", "reset", "half_closed", "half_chunked", "garbage", "http_500")
# Per item: a ceiling that lets through a good half of all items.
CEILINGS = {"max_calls": 0.6, "max_tokens": 1000.0, "max_usd": 1.4, "max_minutes": 0.00003}
# A request is allowed at one moment and arrives later, on a busy machine by so many seconds.
UNDER_WAY = 0.25


@benchmark(quick="starts sixty processes, which takes minutes")
def budgets(*, items: int = 2000, restarts: int = 10) -> Iterator[Row]:
    """Ceilings on calls, tokens, dollars and minutes: never passed, what was bought is kept."""
    most = {ceiling: per_item * items for ceiling, per_item in CEILINGS.items()}
    most["max_minutes"] += 0.01
    with loopback_faults.serving(answer=GRADE) as server:
        yield _exact(server, items)
        for one in most.items():
            yield _restarts(server, items, *one, restarts)
        for ceiling in ("max_calls", "max_tokens", "max_usd"):
            yield _killed(server, items, ceiling, most[ceiling], restarts)
        for one in most.items():
            yield _two_at_once(server, items, *one)
        yield _unlimited_answers(server, items, most["max_tokens"])


class _Place:
    """A fresh ledger and a server that has been asked nothing."""

    def __init__(self, server: Any, ledger: Path, n_items: int, longest: int) -> None:
        self.server, self.ledger, self.n_items, self.longest = server, ledger, n_items, longest
        self.seconds = 0.0

    def start(self, ceiling: str, value: float) -> "subprocess.Popen[str]":
        """Start a run under a ceiling."""
        call = [sys.executable, "-m", "benchmarks.robustness.budgeted", str(self.ledger)]
        call += [self.server.url, str(self.n_items), str(self.longest), ceiling]
        call.append(str(int(value)) if ceiling in ("max_calls", "max_tokens") else repr(value))
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(call, cwd=ROOT, **pipes)

    def end(self, *processes: "subprocess.Popen[str]") -> list[dict[str, Any]]:
        """Return what runs that were started together say at their end."""
        told = []
        for process in processes:
            out, err = process.communicate()
            if process.returncode:
                raise RuntimeError(f"a run ended with {process.returncode}: {err}")
            told.append(json.loads(out))
        self.seconds += self.server.seconds()
        return told

    def spent(self, ceiling: str) -> float:
        """Return what the server saw of it."""
        if ceiling == "max_minutes":
            return self.seconds / 60.0
        if ceiling == "max_calls":
            return int(self.server.counts()["requests"])
        tokens = self.server.tokens()
        if ceiling == "max_tokens":
            return int(tokens["input"] + tokens["output"])
        return float(tokens["input"] * PRICE[0] + tokens["output"] * PRICE[1]) / 1e6

    def kept(self, told: dict[str, Any]) -> bool:
        """Say whether every answer that arrived is on record and scores its item."""
        counts = self.server.counts()
        arrived = counts["answered"]
        return (
            told["on_record"] == arrived == told["scored"]
            and counts["answered_again"] == 0
            and told["scored"] + told["unasked"] == self.n_items
        )


@contextmanager
def _place(server: Any, n_items: int, *, longest: int = LONGEST) -> Iterator[_Place]:
    server.reset()
    plan = {"seed": 5, "share": 0.1, "kinds": BROKEN, "label": "item-[0-9]+ "}
    counting = {"input": 1.0, "output": LONGEST, "latency": 60 / n_items}
    server.script({"counting": counting}, {"plan": plan})
    with tempfile.TemporaryDirectory() as name:
        yield _Place(server, Path(name) / "ledger.sqlite", n_items, longest)


def _passed(ceiling: str, spent: float, allowed: float, n_processes: int) -> bool:
    if ceiling == "max_minutes":
        return spent > allowed + n_processes * UNDER_WAY / 60.0
    return spent > allowed + (1e-6 if ceiling == "max_usd" else 0)


def _shown(ceiling: str, value: float) -> str:
    match ceiling:
        case "max_usd":
            return f"${value:.2f}"
        case "max_minutes":
            return f"{60 * value:.2f} s"
        case _:
            return f"{value:.0f} {ceiling.removeprefix('max_')}"


def _exact(server: Any, n_items: int) -> Row:
    """Give ever other numbers of calls, each to a run of its own."""
    allowed = [1, 2, 31, 32, 33, n_items // 2 + 1, n_items - 1]
    asked, kept = [], True
    for n_calls in allowed:
        with _place(server, n_items) as place:
            (told,) = place.end(place.start("max_calls", n_calls))
            asked.append(int(place.spent("max_calls")))
            kept = kept and place.kept(told)
    return held(
        "--max-calls is exact to one call, and every answer is kept",
        f"allowed {allowed}, asked {asked}",
        asked == allowed and kept,
    )


def _restarts(server: Any, n_items: int, ceiling: str, most: float, n_restarts: int) -> Row:
    """Run several times on one ledger, each time with a little more."""
    worst, kept, passed, scored = 0.0, True, 0, []
    with _place(server, n_items) as place:
        for turn in range(1, n_restarts + 1):
            allowed = most * turn / n_restarts
            if ceiling in ("max_calls", "max_tokens"):
                allowed = int(allowed)
            (told,) = place.end(place.start(ceiling, allowed))
            spent = place.spent(ceiling)
            worst = max(worst, spent / allowed)
            passed += _passed(ceiling, spent, allowed, turn)
            kept = kept and place.kept(told)
            scored.append(told["scored"])
        return held(
            f"{_option(ceiling)}: {n_restarts} runs with growing budgets, never passed, all kept",
            f"{passed} passed; at the end {_shown(ceiling, spent)} of {_shown(ceiling, most)}, "
            f"at most {worst:.1%}; scored {scored[0]}, {scored[1]}, … {scored[-1]} of {n_items}",
            not passed and kept,
        )


def _killed(server: Any, n_items: int, ceiling: str, most: float, n_kills: int) -> Row:
    """Kill runs under one ceiling somewhere on their way, then let one come to its end."""
    with _place(server, n_items) as place:
        for _ in range(n_kills):
            process = place.start(ceiling, most)
            goal = place.spent("max_calls") + n_items * CEILINGS["max_calls"] / (n_kills + 2)
            while process.poll() is None and place.spent("max_calls") < goal:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        (told,) = place.end(place.start(ceiling, most))
        spent = place.spent(ceiling)
        passed = _passed(ceiling, spent, most, n_kills + 1)
        return held(
            f"{_option(ceiling)}: {n_kills} SIGKILLs under one ceiling, never passed",
            f"{_shown(ceiling, spent)} of {_shown(ceiling, most)}; {told['on_record']} answers on "
            f"record, {told['scored']} of {n_items} scored",
            not passed and told["on_record"] == told["scored"],
        )


def _two_at_once(server: Any, n_items: int, ceiling: str, most: float) -> Row:
    """Run two processes at the same time, three times with growing budgets."""
    passed, shares = 0, []
    with _place(server, n_items) as place:
        for turn in (1, 2, 3):
            allowed = most * turn / 3
            if ceiling in ("max_calls", "max_tokens"):
                allowed = int(allowed)
            told = place.end(place.start(ceiling, allowed), place.start(ceiling, allowed))
            spent = place.spent(ceiling)
            passed += _passed(ceiling, spent, allowed, turn)
            shares.append("+".join(str(one["calls"]) for one in told))
        counts = server.counts()
        on_record = max(one["on_record"] for one in told)
        kept = on_record == counts["answered"] and counts["answered_again"] == 0
        return held(
            f"{_option(ceiling)}: two processes on one ledger keep to it together",
            f"{passed} passed; {_shown(ceiling, spent)} of {_shown(ceiling, most)}; "
            f"calls {', '.join(shares)}",
            not passed and kept,
        )


def _unlimited_answers(server: Any, n_items: int, most: float) -> Row:
    """Run without a ceiling on answers, where what is held back for them is a guess."""
    with _place(server, n_items, longest=0) as place:
        (told,) = place.end(place.start("max_tokens", most))
        spent = place.spent("max_tokens")
        return held(
            "--max-tokens with answers that have no ceiling of their own: passed by at most the "
            "answers in flight",
            f"{spent:.0f} of {most:.0f} tokens; scored {told['scored']} of {n_items}",
            spent <= most + 32 * LONGEST and place.kept(told),
        )


def _option(ceiling: str) -> str:
    return f"--{ceiling.replace('_', '-')}"

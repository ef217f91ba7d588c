"""The log of a search: one line per configuration that was tried, in the order of their ends.

Several workers of one search write one log.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dspy

from judgesmith.errors import file_faults
from judgesmith.optimizers.trials import TrialRecord
from judgesmith.programs.artifacts.record import as_loaded
from judgesmith.programs.judging.rows import usage_of


@dataclass(kw_only=True)
class SearchLog:
    """Appends what is known of every trial as soon as it is known; a trial that is there stays.

    Attributes
    ----------
    path : Path
        JSON Lines: ``number``, ``picked``, ``value`` (null where undefined), ``n_rows``,
        ``share_scored``, ``against`` (the trial that led then), and ``calls`` and ``cost_usd``
        of the process that judged it, until then.
    lm : dspy.LM
        Whose calls are counted.
    others : sequence of dspy.LM
        Whose calls are counted, too.
    stage : str
        Which search it is: says what is kept, see ``KEYS``.
    """

    path: Path
    lm: dspy.LM
    others: Sequence[dspy.LM] = ()
    stage: str = "protocol"
    written: set[int] = field(default_factory=set)

    @file_faults()
    def __post_init__(self) -> None:
        """Read which trials an earlier process has written."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.written |= {line["number"] for line in log_lines(self.path)}

    @file_faults()
    def __call__(self, trial: TrialRecord) -> None:
        """Append a trial."""
        if trial.number in self.written:
            return
        usage = usage_of(self.lm, *self.others)
        line = plain_trial(trial, self.stage)
        if usage is not None:
            line |= {"calls": usage.calls, "cost_usd": usage.cost_usd}
        with open(self.path, "ab+", opener=_for_its_owner) as log:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(log, fcntl.LOCK_EX)
            log.seek(0)
            before = log.read()
            # Several workers of one search know the same of a trial.
            self.written |= {one["number"] for one in _lines(before)}
            if trial.number not in self.written:
                # The line end comes first as well: a kill may have left half a line.
                cut = before[-1:] not in (b"", b"\n")
                log.write(("\n" * cut + json.dumps(line) + "\n").encode())
        self.written.add(trial.number)


def _for_its_owner(path: str, flags: int) -> int:
    """Open a file that nobody else may read where it is made, like the journal beside it."""
    return os.open(path, flags, 0o600)


def log_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the lines of a log; none if there is no log, and not one that a kill cut short."""
    with file_faults(path):
        written = path.read_bytes() if path.exists() else b""
    yield from _lines(written)


def _lines(written: bytes) -> Iterator[Mapping[str, Any]]:
    for line in written.splitlines():
        with suppress(ValueError):
            yield json.loads(line)


_REWRITTEN = ("number", "parent", "changed", "text", "problem", "before", "after")
_JUDGED = ("value", "n_rows", "share_scored")
_FOUND_BY_DSPY = ("number", "n_demonstrations", "instructions", "keys", "problem", *_JUDGED)

KEYS: Mapping[str, tuple[str, ...]] = {
    "demonstrations": ("n_demonstrations", "n_bootstrapped", "keys", "value", "share_scored"),
    "protocol": ("number", "picked", *_JUDGED, "against"),
    "aggregation": ("name", "value", "behind", "standard_error", "allowed"),
    "reflective": (*_REWRITTEN, *_JUDGED),
    "balanced": (*_REWRITTEN, *_JUDGED),
    "miprov2": _FOUND_BY_DSPY,
    "simba": _FOUND_BY_DSPY,
    "bootstrap": _FOUND_BY_DSPY,
}
"""What of a trial is kept in files, by the stage of a compilation."""

OF_SEVERAL = ("values", "violation")
"""What is kept besides, where there are several objectives."""


def plain_trial(trial: TrialRecord, stage: str) -> dict[str, Any]:
    """Return a trial ready for JSON, null where a number is undefined."""
    names = (*KEYS[stage], *(OF_SEVERAL if trial.values else ()))
    found: dict[str, Any] = as_loaded({name: getattr(trial, name) for name in names})
    return found

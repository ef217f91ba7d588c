"""What a run of many rows takes: calls, dollars, time and what bounds it, processor, disk."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from judgesmith.experiments.judging_estimate import CHARACTERS_PER_TOKEN
from judgesmith.experiments.sizing import own_figures
from judgesmith.experiments.sizing.row_effort import RowEffort
from judgesmith.programs.lm.budget import BATCH_SHARE

CACHED_SHARE = 0.5
"""What a cached token of the input is taken to cost, as a share of the price of another."""

_DAY = 86400.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """With what a run is done.

    Attributes
    ----------
    concurrency : int
        Requests under way at once.
    seconds_per_call : float
        How long a server takes to answer.
    rpm, tpm : float or None
        Requests and tokens per minute; None is no limit.
    """

    concurrency: int
    seconds_per_call: float
    rpm: float | None = None
    tpm: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSize:
    """What a run takes; sizes are averages times rows, nothing more.

    Attributes
    ----------
    rows : int
        Of the input.
    rows_on_record : int
        Of these, about how many take no call.
    calls, most_calls : int
        If every answer can be read, and whatever is answered.
    input_tokens, output_tokens : int
        Of ``calls``.
    cost_usd, batch_usd, cached_usd : float or None
        At the price; in batches (``BATCH_SHARE``); and how much less where servers cache what
        prompts begin with (``CACHED_SHARE``). None where the price is unknown.
    seconds : float
        At the given means, by one process.
    bound_by : str
        What the time comes from: ``concurrency`` (and how long answers take), ``rpm``, ``tpm`` or
        ``processor``.
    cpu_seconds : float
        Of our own work.
    processes : int
        That the own work keeps busy at the rate which everything else allows.
    ledger_bytes, output_bytes : int
        On disk: answers, and rows of JSON Lines.
    day_in_flight, day_rpm, day_tpm, day_processes : int
        What it takes to be done within a day: requests under way, requests and tokens a minute,
        and processes on a core each.
    """

    rows: int
    rows_on_record: int
    calls: int
    most_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    batch_usd: float | None
    cached_usd: float | None
    seconds: float
    bound_by: str
    cpu_seconds: float
    processes: int
    ledger_bytes: int
    output_bytes: int
    day_in_flight: int
    day_rpm: int
    day_tpm: int
    day_processes: int

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)


def run_size(n_rows: int, effort: RowEffort, means: Means, *, on_record: float = 0.0) -> RunSize:
    """Return what a run takes.

    Parameters
    ----------
    n_rows : int
        Rows of the input.
    effort : RowEffort
        What one of them takes.
    means : Means
        With what it is done.
    on_record : float
        The share of rows that take no call, from 0 to 1.

    Examples
    --------
    A million rows of one call of 2 seconds, 100 at a time, take 20,000 seconds:

    >>> one = RowEffort(
    ...     calls=1, most_calls=2, offline_calls=0, input_tokens=900, output_tokens=100,
    ...     shared_tokens=0, input_usd=9e-4, output_usd=2e-4, shared_usd=0.0,
    ... )
    >>> found = run_size(10**6, one, Means(concurrency=100, seconds_per_call=2.0))
    >>> found.seconds, found.bound_by, round(found.cost_usd), round(found.batch_usd)
    (20000.0, 'concurrency', 1100, 550)
    >>> found = run_size(10**6, one, Means(concurrency=100, seconds_per_call=2.0, tpm=1e6))
    >>> found.seconds, found.bound_by
    (60000.0, 'tpm')
    """
    asked = n_rows * (1.0 - on_record)
    calls, tokens = effort.calls * asked, (effort.input_tokens + effort.output_tokens) * asked
    served = (effort.calls - effort.offline_calls) * asked
    cpu = (
        n_rows * own_figures.CPU_PER_ROW
        + served * own_figures.CPU_PER_CALL
        + effort.offline_calls * asked * own_figures.CPU_PER_OFFLINE_CALL
    )
    waits = {
        "concurrency": served * means.seconds_per_call / means.concurrency,
        "rpm": 60.0 * calls / means.rpm if means.rpm else 0.0,
        "tpm": 60.0 * tokens / means.tpm if means.tpm else 0.0,
    }
    bound_by, waited = max(waits.items(), key=lambda one: one[1])
    if cpu >= waited:
        bound_by = "processor"
    usd = _sum(effort.input_usd, effort.output_usd)
    written = effort.output_tokens * CHARACTERS_PER_TOKEN
    return RunSize(
        rows=n_rows,
        rows_on_record=round(n_rows * on_record),
        calls=math.ceil(calls),
        most_calls=math.ceil(effort.most_calls * asked),
        input_tokens=round(effort.input_tokens * asked),
        output_tokens=round(effort.output_tokens * asked),
        cost_usd=None if usd is None else usd * asked,
        batch_usd=None if usd is None else BATCH_SHARE * usd * asked,
        cached_usd=(
            None if effort.shared_usd is None else (1 - CACHED_SHARE) * effort.shared_usd * asked
        ),
        seconds=max(waited, cpu),
        bound_by=bound_by,
        cpu_seconds=cpu,
        processes=max(1, math.ceil(cpu / waited)) if waited else 1,
        ledger_bytes=round(calls * own_figures.LEDGER_BYTES_PER_ANSWER + written * asked),
        output_bytes=round(n_rows * (own_figures.OUTPUT_BYTES_PER_ROW + written)),
        day_in_flight=math.ceil(served * means.seconds_per_call / _DAY),
        day_rpm=math.ceil(60.0 * served / _DAY),
        day_tpm=math.ceil(60.0 * tokens / _DAY) if served else 0,
        day_processes=math.ceil(cpu / _DAY),
    )


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other

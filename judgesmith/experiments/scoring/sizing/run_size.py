"""What scoring some rows takes, and what a million and a thousand million like them would."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from judgesmith.errors import InputError
from judgesmith.experiments.compile.judging_estimate import CHARACTERS_PER_TOKEN
from judgesmith.experiments.scoring.sizing import run_size as own_figures
from judgesmith.experiments.scoring.sizing.row_effort import (
    ENOUGH_ROWS,
    OnRecord,
    RowEffort,
    SampledSources,
    on_record,
    row_effort,
)
from judgesmith.programs.lm import lm_client_of
from judgesmith.programs.lm.budget import BATCH_SHARE

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.programs.lm import AnyModel
    from judgesmith.signatures.items import RatedItem

CPU_PER_CALL = 0.33e-3
"""Seconds: rendering, sending, keeping and reading an answer.

``python -m benchmarks run throughput -- --without litellm``, a judge of one call.
"""

CPU_PER_ROW = 0.37e-3
"""Seconds: a row of 2,400 characters, read, judged from answers on record, and written.

``python -m benchmarks run row_sizes``.
"""

CPU_PER_OFFLINE_CALL = 0.48e-3
"""Seconds that the offline model takes to answer about texts of 2,400 characters.

``python -m benchmarks run row_sizes``.
"""

LEDGER_BYTES_PER_ANSWER = 215
"""Bytes on disk beside the text of an answer, index included.

``python -m benchmarks run row_sizes``.
"""

OUTPUT_BYTES_PER_ROW = 520
"""Bytes of a row of JSON Lines beside what the model wrote: ids, key, marks, names of fields.

``python -m benchmarks run row_sizes``.
"""


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
    """Return what a run takes."""
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


SIZES = (1_000_000, 1_000_000_000)
"""Rows that are reckoned with beside those that are there."""

SECONDS_PER_CALL = 2.0
"""How long an answer is taken to be waited for where nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringSize:
    """What scoring takes.

    Attributes
    ----------
    sizes : tuple of RunSize
        Of these rows, and of so many rows of the same kind, of which none is on record.
    row : RowEffort
        What one row takes.
    means : Means
        With what it is done.
    seconds_from : str
        Where ``means.seconds_per_call`` is from: ``given``, ``record`` or ``assumed``.
    found : OnRecord
        What is on record of the rows that were looked up.
    """

    sizes: tuple[RunSize, ...]
    row: RowEffort
    means: Means
    seconds_from: str
    found: OnRecord

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, and what is assumed."""
        return {
            "sizes": [one.to_dict() for one in self.sizes],
            "row": asdict(self.row),
            "looked_up": {"rows": self.found.n_looked, "on_record": self.found.n_rows},
            "assumed": {
                "concurrency": self.means.concurrency,
                "seconds_per_call": self.means.seconds_per_call,
                "seconds_per_call_from": self.seconds_from,
                "rpm": self.means.rpm,
                "tpm": self.means.tpm,
                "batch_share": BATCH_SHARE,
                "cached_share": CACHED_SHARE,
            },
        }


def scoring_size(
    judge: AnySaved,
    items: Iterable[RatedItem],
    lms: Mapping[str, AnyModel],
    *,
    concurrency: int,
    seconds_per_call: float | None = None,
    rpm: float | None = None,
    tpm: float | None = None,
) -> ScoringSize:
    """Return what ``score`` takes, with nothing asked and nothing written.

    All rows are read; some thousand of them, of sources picked by a hash, are looked at more
    closely.
    """
    sampled = SampledSources.of(items)
    rows = sampled.items
    if not rows:
        raise InputError("there are no rows to score.")
    lm = next(iter(lms.values()))
    clients = {name: lm_client_of(one) for name, one in lms.items()}
    prices = {name: None if one is None else one.price for name, one in clients.items()}
    row = row_effort(judge, rows, prices)
    found = on_record(judge, rows, lm)
    if found.n_counted >= ENOUGH_ROWS:
        row = row.measured(
            n_rows=found.n_counted,
            n_calls=found.n_calls,
            input_tokens=found.input_tokens,
            output_tokens=found.output_tokens,
            seconds=found.seconds,
        )
    seconds, source = seconds_per_call, "given"
    if seconds is None:
        known = row.seconds
        seconds, source = (known, "record") if known else (SECONDS_PER_CALL, "assumed")
    means = Means(concurrency=concurrency, seconds_per_call=seconds, rpm=rpm, tpm=tpm)
    these = run_size(sampled.n_rows, row, means, on_record=found.share)
    return ScoringSize(
        sizes=(these, *(run_size(n, row, means) for n in SIZES)),
        row=row,
        means=means,
        seconds_from=source,
        found=found,
    )

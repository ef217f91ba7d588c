"""Calls, tokens, dollars and time of scoring rows: these, and a million or a billion like them.

The effort of one row is the mean over a sample of sources and over cached answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from judgesmith.errors import InputError
from judgesmith.experiments.scoring.estimates import (
    CHARACTERS_PER_TOKEN,
    judging_efforts,
    known_price,
)
from judgesmith.programs.judging.runner import iter_scores, was_not_asked
from judgesmith.programs.lm import AnyModel, lm_client_of
from judgesmith.programs.lm.budget import BATCH_SHARE, Price
from judgesmith.signatures.items import RatedItem

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.programs.lm import AnyModel
    from judgesmith.signatures.items import RatedItem

ENOUGH_ROWS = 20
"""Cached rows from which on their measured size replaces an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowEffort:
    """What judging one row takes, on average."""

    calls: float
    most_calls: float
    offline_calls: float
    input_tokens: float
    output_tokens: float
    shared_tokens: float
    input_usd: float | None  # None where a price is unknown
    output_usd: float | None
    shared_usd: float | None  # at the full price, likewise
    seconds: float | None = None  # that a call took; None where none is cached
    n_measured: int = 0

    def measured(
        self, *, n_rows: int, n_calls: int, input_tokens: int, output_tokens: int, seconds: float
    ) -> RowEffort:
        """Return what cached rows took, priced as what was estimated."""
        if not (n_rows and n_calls and input_tokens and output_tokens):
            return self
        came, wrote = input_tokens / n_rows, output_tokens / n_rows
        more = n_calls / n_rows / self.calls if self.calls else 1.0
        in_ratio = came / self.input_tokens if self.input_tokens else 1.0
        out_ratio = wrote / self.output_tokens if self.output_tokens else 1.0
        return replace(
            self,
            calls=n_calls / n_rows,
            most_calls=max(self.most_calls, n_calls / n_rows),
            offline_calls=self.offline_calls * more,
            input_tokens=came,
            output_tokens=wrote,
            shared_tokens=min(self.shared_tokens * in_ratio, came),
            input_usd=_times(self.input_usd, in_ratio),
            output_usd=_times(self.output_usd, out_ratio),
            shared_usd=_times(self.shared_usd, in_ratio),
            seconds=seconds / n_calls,
            n_measured=n_rows,
        )


def row_effort(
    judge: AnySaved, items: Sequence[RatedItem], prices: Mapping[str, Price | None]
) -> RowEffort:
    """Return what it takes to judge rows like these, from how long texts and questions are."""
    n = len(items)
    calls = most = offline = came = wrote = shared = 0.0
    usd: list[float] | None = [0.0, 0.0, 0.0]
    for one in judging_efforts([judge], items):
        effort = one.effort
        tokens = effort.characters / CHARACTERS_PER_TOKEN
        cached = effort.shared / CHARACTERS_PER_TOKEN
        asked = one.model if one.model in prices else next(iter(prices))
        price = prices[asked]
        if one.own is not None:
            asked, price = str(one.own.model), known_price(one.own)
        calls, most = calls + effort.calls, most + effort.most
        came, wrote, shared = came + tokens, wrote + effort.answered, shared + cached
        offline += effort.calls if asked == "offline" else 0.0
        if price is None:
            usd = None
        elif usd is not None:
            parts = (tokens * price.input, effort.answered * price.output, cached * price.input)
            usd = [before + part / 1e6 for before, part in zip(usd, parts, strict=True)]
    costs = (None, None, None) if usd is None else tuple(one / n for one in usd)
    return RowEffort(
        calls=calls / n,
        most_calls=most / n,
        offline_calls=offline / n,
        input_tokens=came / n,
        output_tokens=wrote / n,
        shared_tokens=shared / n,
        input_usd=costs[0],
        output_usd=costs[1],
        shared_usd=costs[2],
    )


def _times(usd: float | None, ratio: float) -> float | None:
    return None if usd is None else usd * ratio


MOST_ROWS = 2000
"""Rows that are kept to look at more closely."""


class SampledSources:
    """Rows of whole sources that a hash of their ids picks: all at first, then every second, …."""

    def __init__(self, most: int = MOST_ROWS) -> None:
        self._most = most
        self._kept: dict[str, list[RatedItem]] = {}
        self._n_kept = 0
        self._share = 1  # one source in so many
        self.n_rows = 0

    @classmethod
    def of(cls, items: Iterable[RatedItem]) -> SampledSources:
        """Return the sample of all of these rows."""
        found = cls()
        for one in items:
            found.add(one)
        return found

    @property
    def items(self) -> list[RatedItem]:
        """The rows that were kept, source by source."""
        return [one for rows in self._kept.values() for one in rows]

    def add(self, item: RatedItem) -> None:
        self.n_rows += 1
        known = self._kept.get(item.source_id)
        if known is None:
            if _number(item.source_id) % self._share:
                return
            known = self._kept[item.source_id] = []
        if len(known) >= self._most:
            return
        known.append(item)
        self._n_kept += 1
        while self._n_kept > self._most and len(self._kept) > 1:
            self._share *= 2
            names = [one for one in self._kept if _number(one) % self._share == 0]
            if not names:  # the last of them stand for all
                names = [min(self._kept, key=_number)]
            self._kept = {one: self._kept[one] for one in names}
            self._n_kept = sum(map(len, self._kept.values()))


def _number(source_id: str) -> int:
    name = source_id.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(name, digest_size=8).digest(), "big")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnRecord:
    """What some rows would find in the cache."""

    n_looked: int = 0
    n_rows: int = 0
    n_counted: int = 0
    n_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    @property
    def share(self) -> float:
        """The share of rows that take no call, 0 where none were looked up."""
        return self.n_rows / self.n_looked if self.n_looked else 0.0


def on_record(judge: AnySaved, items: Sequence[RatedItem], lm: AnyModel) -> OnRecord:
    """Return what these rows would find in the cache."""
    client = lm_client_of(lm)
    ledger = None if client is None else client.ledger
    if ledger is None:
        return OnRecord()
    rows = [
        {bytes.fromhex(call) for call in judgement.calls}
        for _, judgement in iter_scores(judge, items, lm=lm)
        if not was_not_asked(judgement)
    ]
    answers = ledger.lookup_many(set().union(*rows))
    counted = {
        call: (one.input_tokens, one.output_tokens, one.seconds)
        for call, one in answers.items()
        if one.input_tokens is not None and one.output_tokens is not None
    }
    whole = [calls for calls in rows if calls and calls <= counted.keys()]
    behind = [counted[call] for call in set().union(*whole)]  # one answer may serve several rows
    return OnRecord(
        n_looked=len(items),
        n_rows=len(rows),
        n_counted=len(whole),
        n_calls=len(behind),
        input_tokens=sum(one[0] for one in behind),
        output_tokens=sum(one[1] for one in behind),
        seconds=sum(one[2] for one in behind),
    )


CPU_PER_CALL = 0.33e-3
"""Seconds: rendering, sending, keeping and reading an answer.

``python -m benchmarks run throughput -- --without litellm``, a judge of one call.
"""

CPU_PER_ROW = 0.37e-3
"""Seconds: a row of 2,400 characters, read, judged from cached responses, and written.

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
    """With what a run is done."""

    concurrency: int
    seconds_per_call: float
    rpm: float | None = None  # rpm, tpm: requests and tokens per minute; None is no limit
    tpm: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSize:
    """What a run takes; sizes are averages times rows, nothing more."""

    rows: int
    rows_on_record: int
    calls: int
    most_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None  # None where the price is unknown
    batch_usd: float | None  # in batches, see ``BATCH_SHARE``
    cached_usd: float | None  # less by this where servers cache prefixes, see ``CACHED_SHARE``
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
        return asdict(self)


def run_size(n_rows: int, effort: RowEffort, means: Means, *, on_record: float = 0.0) -> RunSize:
    asked = n_rows * (1.0 - on_record)
    calls, tokens = effort.calls * asked, (effort.input_tokens + effort.output_tokens) * asked
    served = (effort.calls - effort.offline_calls) * asked
    cpu = (
        n_rows * CPU_PER_ROW
        + served * CPU_PER_CALL
        + effort.offline_calls * asked * CPU_PER_OFFLINE_CALL
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
        ledger_bytes=round(calls * LEDGER_BYTES_PER_ANSWER + written * asked),
        output_bytes=round(n_rows * (OUTPUT_BYTES_PER_ROW + written)),
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
"""The assumed waiting time of an answer if it is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringSize:
    """What scoring takes."""

    sizes: tuple[RunSize, ...]
    row: RowEffort
    means: Means
    seconds_from: str
    found: OnRecord

    def to_dict(self) -> dict[str, Any]:
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
    """Return what ``score`` takes, with nothing asked and nothing written."""
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

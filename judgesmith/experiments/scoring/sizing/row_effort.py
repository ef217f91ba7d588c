"""What judging one row takes on average, by a sample of sources and by what is on record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from judgesmith.experiments.compile.judging_estimate import CHARACTERS_PER_TOKEN, judging_efforts
from judgesmith.programs.judging.runner import iter_scores, was_not_asked
from judgesmith.programs.lm import AnyModel, lm_client_of
from judgesmith.programs.lm.budget import Price
from judgesmith.signatures.items import RatedItem

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved

ENOUGH_ROWS = 20
"""Rows on record from which on what they took counts, and not an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowEffort:
    """What judging one row takes, on average.

    Attributes
    ----------
    calls : float
        If every answer can be read.
    most_calls : float
        Whatever is answered.
    offline_calls : float
        Of ``calls``, those that the offline model answers, on our own processor.
    input_tokens, output_tokens : float
        Of ``calls``.
    shared_tokens : float
        Of the input, the beginnings that all prompts of a kind share, where these are long enough
        for servers to cache them.
    input_usd, output_usd, shared_usd : float or None
        What these cost; None where a price is unknown. ``shared_usd`` is at the full price.
    seconds : float or None
        That a call took, where calls are on record; None otherwise.
    n_measured : int
        Rows on record that calls, tokens and seconds are taken from; 0 where these are estimated
        from characters.
    """

    calls: float
    most_calls: float
    offline_calls: float
    input_tokens: float
    output_tokens: float
    shared_tokens: float
    input_usd: float | None
    output_usd: float | None
    shared_usd: float | None
    seconds: float | None = None
    n_measured: int = 0

    def measured(
        self, *, n_rows: int, n_calls: int, input_tokens: int, output_tokens: int, seconds: float
    ) -> RowEffort:
        """Return what rows on record took, priced as what was estimated."""
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
            asked, client = str(one.own.model), lm_client_of(one.own)
            price = None if client is None else client.price
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
    """Rows of sources that a hash of their ids picks: all sources first, then every second, ….

    The rows of a source are all kept or none, so that judges that look at a source as a whole can
    be reckoned with. The same rows give the same sample, in whatever order they come.

    Attributes
    ----------
    n_rows : int
        Rows that were seen.
    """

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
        """Look at one more row."""
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
    """What some rows would find on record.

    Attributes
    ----------
    n_looked : int
        Rows that were looked up; 0 where there is nothing to look in.
    n_rows : int
        Of these, rows of which every answer is on record.
    n_calls, input_tokens, output_tokens, seconds
        The answers behind rows whose answers were all counted by their servers: how many, tokens,
        and the seconds they took, added up.
    n_counted : int
        How many rows these are.
    """

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
    """Return what these rows would find on record."""
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

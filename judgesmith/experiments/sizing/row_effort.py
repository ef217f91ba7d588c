"""What judging one row takes on average: calls, tokens, dollars, seconds, bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judgesmith.experiments.judging_estimate import CHARACTERS_PER_TOKEN
from judgesmith.experiments.saved_efforts import judging_efforts
from judgesmith.programs.lm import lm_client_of
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
        """Return what rows on record took, priced as what was estimated.

        Parameters
        ----------
        n_rows, n_calls : int
            Rows, and the answers behind them.
        input_tokens, output_tokens : int
            Of these answers, as servers counted them.
        seconds : float
            That the answers took, added up.
        """
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
    """Return what it takes to judge rows like these, from how long texts and questions are.

    Parameters
    ----------
    judge : saved judge
        Of any kind.
    items : sequence of RatedItem
        At least one; whole sources.
    prices : dict of str to Price or None
        By the name of the model that a judge was made with; the first stands for all others. Parts
        of a panel with a model of their own have its price.

    Examples
    --------
    >>> from judgesmith.experiments import CompileSettings, compile_judge, read_items
    >>> data = read_items("sample")
    >>> judge = compile_judge(data, CompileSettings(optimizer="none", holdout=0)).saved
    >>> one = row_effort(judge, data.items, {"m": Price(1.0, 2.0)})
    >>> one.calls, one.most_calls, one.input_usd == one.input_tokens / 1e6
    (2.0, 4.0, True)
    """
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

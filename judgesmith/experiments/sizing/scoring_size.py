"""What scoring some rows takes, and what a million and a thousand million like them would."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from judgesmith.errors import InputError
from judgesmith.experiments.sizing.on_record import OnRecord, on_record
from judgesmith.experiments.sizing.row_effort import ENOUGH_ROWS, RowEffort, row_effort
from judgesmith.experiments.sizing.run_size import CACHED_SHARE, Means, RunSize, run_size
from judgesmith.experiments.sizing.sampled_sources import SampledSources
from judgesmith.programs.lm import lm_client_of
from judgesmith.programs.lm.budget import BATCH_SHARE

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.programs.lm import AnyModel
    from judgesmith.signatures.items import RatedItem

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

    Parameters
    ----------
    judge : saved judge
        Bound to models that ``looking_model`` made.
    items : iterable of RatedItem
        The rows.
    lms : dict of str to ClientModel
        The models, made by ``looking_model``, by name; the first one is asked by default.
    concurrency : int
        Requests under way at once.
    seconds_per_call : float or None
        How long an answer is waited for; None takes the mean of what is on record, if enough is,
        and else ``SECONDS_PER_CALL``.
    rpm, tpm : float or None
        Requests and tokens per minute.

    Raises
    ------
    DataError
        If a row cannot be read.
    ValueError
        If there are no rows.

    Examples
    --------
    >>> from judgesmith.experiments import CompileSettings, compile_judge, read_items
    >>> from judgesmith.programs.lm import client_model
    >>> from judgesmith.programs.lm.factory import looking_model
    >>> data = read_items("sample")
    >>> judge = compile_judge(data, CompileSettings(optimizer="none", holdout=0)).saved
    >>> lm = looking_model(client_model("offline", ledger=None))
    >>> found = scoring_size(judge, data.items, {"offline": lm}, concurrency=32)
    >>> [(one.rows, one.calls, one.bound_by) for one in found.sizes[:2]]
    [(160, 320, 'processor'), (1000000, 2000000, 'processor')]
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

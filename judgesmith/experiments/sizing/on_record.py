"""How much of what a judge would ask is on record already, by looking at some rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgesmith.programs.judging.runner import judge_each, was_not_asked
from judgesmith.programs.lm import AnyModel, lm_client_of

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.signatures.items import RatedItem


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
    """Return what these rows would find on record.

    Parameters
    ----------
    judge : saved judge
        Bound to models that ``looking_model`` made.
    items : sequence of RatedItem
        Whole sources.
    lm : ClientModel
        What is looked up by default, made by ``looking_model``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from judgesmith.experiments import CompileSettings, compile_judge, read_items
    >>> from judgesmith.programs import judge_items
    >>> from judgesmith.programs.lm import client_model
    >>> from judgesmith.programs.lm.factory import looking_model
    >>> data = read_items("sample")
    >>> judge = compile_judge(data, CompileSettings(optimizer="none", holdout=0)).saved
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lm = client_model("offline", ledger=pathlib.Path(folder) / "ledger.sqlite")
    ...     _ = judge_items(judge, data.items[:3], lm=lm)
    ...     found = on_record(judge, data.items[:4], looking_model(lm))
    ...     lm.client.ledger.close()
    >>> found.n_looked, found.n_rows, found.n_calls
    (4, 3, 6)
    """
    client = lm_client_of(lm)
    ledger = None if client is None else client.ledger
    if ledger is None:
        return OnRecord()
    rows = [
        {bytes.fromhex(call) for call in judgement.calls}
        for _, judgement in judge_each(judge, items, lm=lm)
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

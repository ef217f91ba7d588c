"""Looking after a ledger: what is in it, taking old answers out, writing it out as text."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from judgesmith.errors import InputError
from judgesmith.programs.models.errors import LedgerError
from judgesmith.programs.models.ledger import Ledger
from judgesmith.programs.models.ledger_schema import DamagedAnswer
from judgesmith.programs.models.ledger_writes import ANSWER_COLUMNS, Delete, unpacked

_PAGE = 1000
_PORTION = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStats:
    """What a ledger holds of one model at one endpoint.

    Attributes
    ----------
    model, endpoint : str
        As in the requests.
    answers : int
        How many are kept.
    input_tokens, output_tokens : int
        What they took when they were asked for.
    """

    model: str
    endpoint: str
    answers: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerStats:
    """What a ledger holds.

    Attributes
    ----------
    path : str
        The file, or the address without user and password.
    size_bytes : int
        Of the file and its write-ahead log, or of the tables.
    answers, calls : int
        Answers kept, and requests sent for them or in vain.
    models : tuple of ModelStats
        One per model and endpoint, most answers first.
    """

    path: str
    size_bytes: int
    answers: int
    calls: int
    models: tuple[ModelStats, ...]


def ledger_stats(ledger: Ledger) -> LedgerStats:
    """Return what ``ledger`` holds.

    Raises
    ------
    LedgerError
        If there is no such file, or it is not a ledger.
    """
    _existing(ledger)
    models = tuple(
        ModelStats(
            model=model,
            endpoint=endpoint,
            answers=n,
            input_tokens=int(n_in),
            output_tokens=int(n_out),
        )
        for model, endpoint, n, n_in, n_out in ledger.query(
            "SELECT m.model, m.endpoint, count(*), coalesce(sum(a.input_tokens), 0), "
            "coalesce(sum(a.output_tokens), 0) FROM answers a JOIN models m ON m.id = a.model "
            "GROUP BY m.id ORDER BY count(*) DESC, m.model, m.endpoint"
        )
    )
    return LedgerStats(
        path=ledger.name,
        size_bytes=ledger.size(),
        answers=sum(one.answers for one in models),
        calls=int(ledger.query("SELECT coalesce(sum(calls), 0) FROM runs")[0][0]),
        models=models,
    )


def prune(
    ledger: Ledger,
    *,
    older_than_days: float | None = None,
    model: str | None = None,
    now: float | None = None,
) -> int:
    """Take answers out of ``ledger`` and return how many; they will be asked for again.

    What runs have spent stays on record.

    Parameters
    ----------
    ledger : Ledger
        The ledger.
    older_than_days : float or None
        Only answers given longer ago than this, by the clock of the machine that asked.
    model : str or None
        Only answers of this ``provider/model``.
    now : float or None
        Seconds since 1970 from which to count back; None takes the clock.

    Raises
    ------
    ValueError
        If neither condition is given.
    LedgerError
        If there is no such file, or it is not a ledger.
    """
    if older_than_days is None and model is None:
        raise InputError(
            "say what to prune: older_than_days=, model= or both; to start anew, delete the file."
        )
    _existing(ledger)
    conditions, values = [], list[Any]()
    if older_than_days is not None:
        conditions.append("time < ?")
        values.append((time.time() if now is None else now) - 86400.0 * older_than_days)
    if model is not None:
        conditions.append("model IN (SELECT id FROM models WHERE model = ?)")
        values.append(model)
    conditions.append("id BETWEEN ? AND ?")
    (first, last), *_ = ledger.query(
        "SELECT coalesce(min(id), 1), coalesce(max(id), 0) FROM answers"
    )
    removed = 0
    # In portions, so that processes at work get their turn; each answer is looked at only once.
    for start in range(first, last + 1, _PORTION):
        portion = (*values, start, start + _PORTION - 1)
        n: int = ledger.perform(
            Delete(condition=" AND ".join(conditions), values=portion, at_most=_PORTION)
        )
        removed += n
    ledger.vacuum()
    return removed


def exported(ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Yield every answer of ``ledger`` as plain data, in the order in which they came.

    Raises
    ------
    LedgerError
        If there is no such file, or it is not a ledger.
    """
    _existing(ledger)
    last = 0
    while True:
        rows = ledger.query(
            "SELECT a.id, a.identity, m.model, m.endpoint, a.time, "  # noqa: S608
            + ", ".join(f"a.{name}" for name in ANSWER_COLUMNS.split(", "))
            + " FROM answers a JOIN models m ON m.id = a.model WHERE a.id > ? ORDER BY a.id "
            f"LIMIT {_PAGE}",
            (last,),
        )
        for number, identity, model, endpoint, answered, *row in rows:
            with ledger.explained():
                answer = unpacked(identity, tuple(row))
                if not (isinstance(model, str) and isinstance(endpoint, str)):
                    raise DamagedAnswer("the name or the address of a model is no text")
                if not isinstance(answered, int | float):
                    raise DamagedAnswer("the time of an answer is no number")
            yield {
                "identity": identity.hex(),
                "model": model,
                "endpoint": endpoint,
                "time": answered,
                "text": answer.text,
                "finish_reason": answer.finish_reason,
                "input_tokens": answer.input_tokens,
                "output_tokens": answer.output_tokens,
                "seconds": answer.seconds,
                "adaptations": list(answer.adaptations),
                "logprobs": None
                if answer.logprobs is None
                else [
                    {"token": one.token, "logprob": one.logprob, "top": [list(t) for t in one.top]}
                    for one in answer.logprobs
                ],
            }
            last = number
        if len(rows) < _PAGE:
            return


def export(ledger: Ledger, out: IO[str]) -> int:
    """Write every answer of ``ledger`` to ``out`` as JSON Lines, and return how many."""
    n_answers = 0
    for row in exported(ledger):
        # Escaped, because an answer may hold lone surrogates, which no text file can.
        out.write(json.dumps(row) + "\n")
        n_answers += 1
    return n_answers


def _existing(ledger: Ledger) -> None:
    if not ledger.exists():
        raise LedgerError(
            f"there is no ledger at {ledger.name}; name another file (--ledger PATH)."
        )

"""What is written to the ledger: a claim before a request is sent, its settlement afterwards.

Each write is a record that knows how to apply itself inside a transaction, so that any number of
them, from any number of coroutines, can share one commit.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from judgesmith.programs.models.budget import Budget, check
from judgesmith.programs.models.ledger_schema import DamagedAnswer
from judgesmith.programs.models.limits import AHEAD
from judgesmith.programs.models.request import ModelAnswer, TokenLogprob

if TYPE_CHECKING:
    from judgesmith.programs.models.ledger_book import Book

# In the order of `packed` and `unpacked`.
ANSWER_COLUMNS = "text, finish_reason, input_tokens, output_tokens, seconds, detail, checksum"
FIND_ANSWER = f"SELECT {ANSWER_COLUMNS} FROM answers WHERE identity = ?"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Granted:
    """Permission to send, on record as this intent."""

    intent: int


@dataclass(frozen=True, slots=True)
class Held:
    """Another living process is asking the same at this moment."""

    owner: int


@dataclass(frozen=True, slots=True)
class Pen:
    """Who writes, and how to find out whether another writer still lives."""

    owner: int
    alive: Callable[[int], bool]


class Write(Protocol):
    """Something to be done inside a transaction."""

    def apply(self, book: Book, pen: Pen) -> Any:
        """Do it and return the outcome; raise before changing anything, or not at all."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Ask to send a request: refused by the budget, spared by the ledger, or put on record.

    Attributes
    ----------
    identity : bytes
        Of the request.
    run : int
        Number of the run in the ledger.
    budget : Budget
        Ceilings of the run.
    tokens, usd : int, float
        What the request may cost; charged at once, corrected by the settlement.
    seconds : float
        How long the run has been at work.
    """

    identity: bytes
    run: int
    budget: Budget
    tokens: int
    usd: float
    seconds: float

    def apply(self, book: Book, pen: Pen) -> Granted | Held | ModelAnswer:
        """Return the permission, the holder, or the answer; raise ``BudgetSpent``."""
        answer = book.answer(self.identity)
        if answer is not None:
            return answer
        holder = book.holder(self.identity)
        if holder is not None and holder != pen.owner and pen.alive(holder):
            return Held(holder)
        self.check(book)
        intent = self.record(book, pen)
        book.hold(self.identity, pen.owner)
        return Granted(intent)

    def check(self, book: Book) -> None:
        """Raise ``BudgetSpent`` if the request does not fit."""
        spent = book.spent(self.run, at_least_seconds=self.seconds)
        check(self.budget, spent, tokens=self.tokens, usd=self.usd)

    def record(self, book: Book, pen: Pen) -> int:
        """Put the intent on record, charge the run, and return the intent's number."""
        book.charge(self.run, calls=1, tokens=self.tokens, usd=self.usd, seconds=self.seconds)
        return book.intend(self.identity, self.run, pen.owner)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """Close an intent: keep the answer, if there is one, and correct what was charged.

    Attributes
    ----------
    claim : Claim
        What was granted.
    intent : int
        The permission's number.
    model : int
        Number of model and endpoint in the ledger.
    answer : ModelAnswer or None
        None if the request failed.
    tokens, usd : int, float
        What the request cost in the end.
    seconds : float
        How long the run has been at work.
    """

    claim: Claim
    intent: int
    model: int
    answer: ModelAnswer | None
    tokens: int
    usd: float
    seconds: float

    def apply(self, book: Book, pen: Pen) -> ModelAnswer | None:
        """Return the answer that the ledger now holds for the request."""
        kept = self.answer
        if self.answer is not None:
            kept = book.keep(self.claim.identity, self.intent, self.model, self.answer)
        book.let_go(self.claim.identity, pen.owner)
        book.charge(
            self.claim.run,
            tokens=self.tokens - self.claim.tokens,
            usd=self.usd - self.claim.usd,
            seconds=self.seconds,
        )
        return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdraw:
    """Take back a permission that was never used."""

    claim: Claim
    intent: int

    def apply(self, book: Book, pen: Pen) -> None:
        """Remove the intent and what it was charged."""
        book.forget(self.intent)
        book.let_go(self.claim.identity, pen.owner)
        book.charge(self.claim.run, calls=-1, tokens=-self.claim.tokens, usd=-self.claim.usd)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Claim and settlement in one, for an answer that was computed and not asked for."""

    claim: Claim
    model: int
    answer: ModelAnswer

    def apply(self, book: Book, pen: Pen) -> ModelAnswer:
        """Return the answer that the ledger now holds; raise ``BudgetSpent``."""
        answer = book.answer(self.claim.identity)
        if answer is not None:
            return answer
        self.claim.check(book)
        intent = self.claim.record(book, pen)
        return book.keep(self.claim.identity, intent, self.model, self.answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Take a portion of the answers out, those that meet a condition on their columns."""

    condition: str
    values: tuple[Any, ...]
    at_most: int

    def apply(self, book: Book, pen: Pen) -> int:
        """Return how many answers went, with their intents."""
        return book.delete(self.condition, self.values, self.at_most)


@dataclass(frozen=True, slots=True)
class Find:
    """Look an answer up, where that is a journey worth sharing."""

    identity: bytes

    def apply(self, book: Book, pen: Pen) -> ModelAnswer | None:
        """Return the answer on record, or None."""
        return book.answer(self.identity)


@dataclass(frozen=True, slots=True)
class Watch:
    """Look whether another living process is asking."""

    identity: bytes

    def apply(self, book: Book, pen: Pen) -> bool:
        """Say whether one is."""
        holder = book.holder(self.identity)
        return holder is not None and holder != pen.owner and pen.alive(holder)


READING = (Find, Watch)
"""What changes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Take a place in the queue of all processes of a run that ask one model.

    Attributes
    ----------
    run, model : int
        Their numbers in the ledger.
    rpm, tpm : float or None
        Requests and tokens per minute.
    tokens : int
        What the request will probably use.
    """

    run: int
    model: int
    rpm: float | None
    tpm: float | None
    tokens: int

    def apply(self, book: Book, pen: Pen) -> float:
        """Return the seconds until it is up; where those are more than ``AHEAD``, ask again."""
        schedule, now = book.schedule(self.run, self.model)
        after, wait = schedule.turn(
            now, rpm=self.rpm, tpm=self.tpm, tokens=self.tokens, ahead=AHEAD
        )
        if after != schedule:
            book.reschedule(self.run, self.model, after)
        return wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """Let no more requests of a run to one model through for so many seconds."""

    run: int
    model: int
    seconds: float

    def apply(self, book: Book, pen: Pen) -> None:
        """Note it for all processes."""
        schedule, now = book.schedule(self.run, self.model)
        book.reschedule(self.run, self.model, schedule.closed(now, self.seconds))


def packed(identity: bytes, answer: ModelAnswer) -> tuple[Any, ...]:
    """Return the answer as a row, in the order of ``ANSWER_COLUMNS``."""
    detail: dict[str, Any] = {}
    if answer.logprobs is not None:
        detail["logprobs"] = [[t.token, t.logprob, t.top] for t in answer.logprobs]
    if answer.adaptations:
        detail["adaptations"] = answer.adaptations
    if answer.original is not None:
        detail["original"] = answer.original
    row = (
        answer.text.encode("utf-8", "surrogatepass"),
        answer.finish_reason,
        answer.input_tokens,
        answer.output_tokens,
        float(answer.seconds),
        json.dumps(detail, separators=(",", ":")).encode() if detail else None,
    )
    return (*row, checksum(identity, row))


def checksum(identity: bytes, row: tuple[Any, ...]) -> int:
    """Return a number that changes when the answer does, or is found under another identity."""
    text, *numbers, detail = row
    return zlib.crc32(
        detail or b"", zlib.crc32(repr(numbers).encode(), zlib.crc32(identity + text))
    )


def unpacked(identity: bytes, row: tuple[Any, ...]) -> ModelAnswer:
    """Return the answer of a row in the order of ``ANSWER_COLUMNS``.

    Rows of earlier versions have no checksum, and are taken as they are.

    Raises
    ------
    DamagedAnswer
        If this is not the answer that was kept for this identity.
    """
    *kept, expected = row
    try:
        if expected is not None and checksum(identity, tuple(kept)) != expected:
            raise DamagedAnswer("an answer is not as it was kept")
        return _unpacked(*kept)
    except (TypeError, ValueError, AttributeError, KeyError, RecursionError) as fault:
        raise DamagedAnswer("an answer is not as it was kept") from fault


def _unpacked(
    text: bytes,
    finish_reason: str,
    input_tokens: int | None,
    output_tokens: int | None,
    seconds: float,
    detail: bytes | None,
) -> ModelAnswer:
    answer = ModelAnswer(
        text=text.decode("utf-8", "surrogatepass"),
        finish_reason=finish_reason,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        seconds=seconds,
        from_ledger=True,
    )
    return answer if detail is None else _with_detail(answer, json.loads(detail))


def _with_detail(answer: ModelAnswer, detail: dict[str, Any]) -> ModelAnswer:
    logprobs = None
    if "logprobs" in detail:
        logprobs = tuple(
            TokenLogprob(token, logprob, tuple((other, value) for other, value in top))
            for token, logprob, top in detail["logprobs"]
        )
    return replace(
        answer,
        logprobs=logprobs,
        adaptations=tuple(detail.get("adaptations", ())),
        original=detail.get("original"),
    )

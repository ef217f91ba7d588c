"""Settling what a batch was charged, once only, however often a process is killed meanwhile.

A claim leaves a mark in the ledger (``flights``) that its settlement takes away in the same
transaction as it corrects the charge. So whoever finds the mark settles, and nobody else does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from judgesmith.programs.models.errors import BudgetSpent
from judgesmith.programs.models.ledger_book import Book
from judgesmith.programs.models.ledger_writes import Pen, Settle, Withdraw, Write
from judgesmith.programs.models.request import ModelAnswer


@dataclass(frozen=True, slots=True)
class SettleOnce:
    """A settlement, unless it was made already."""

    settle: Settle

    @property
    def parts(self) -> tuple[Write, ...]:
        """What it is made of."""
        return (self.settle,)

    def apply(self, book: Book, pen: Pen) -> ModelAnswer | None:
        """Settle if the claim is open and no other living process has taken the request over."""
        claim = self.settle.claim
        if not _is_open(book, pen, claim.identity):
            return None
        kept = self.settle.apply(book, pen)
        book.let_go(claim.identity)
        return kept


@dataclass(frozen=True, slots=True)
class WithdrawOnce:
    """A withdrawal of what was never sent, unless it was made already."""

    withdraw: Withdraw

    @property
    def parts(self) -> tuple[Write, ...]:
        """What it is made of."""
        return (self.withdraw,)

    def apply(self, book: Book, pen: Pen) -> None:
        """Withdraw if the intent is still on record, and its claim open."""
        one = self.withdraw
        if not _is_open(book, pen, one.claim.identity):
            return
        if not book.intends(one.intent, one.claim.identity, one.claim.run):
            return
        one.apply(book, pen)
        book.let_go(one.claim.identity)


@dataclass(frozen=True, slots=True)
class Together:
    """Several writes in one transaction."""

    parts: tuple[Write, ...]

    def apply(self, book: Book, pen: Pen) -> list[Any]:
        """Return the outcome of each, ``BudgetSpent`` of one that the budget refused."""
        outcomes: list[Any] = []
        for write in self.parts:
            try:
                outcomes.append(write.apply(book, pen))
            except BudgetSpent as refusal:
                outcomes.append(refusal)
        return outcomes


def _is_open(book: Book, pen: Pen, identity: bytes) -> bool:
    """Say whether a request was neither settled nor taken over by another living process."""
    holder = book.holder(identity)
    return holder is not None and (holder == pen.owner or not pen.alive(holder))

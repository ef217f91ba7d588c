"""What a server answers when it does not judge, and how much it takes on."""

from __future__ import annotations

import difflib
import logging
import traceback
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.programs.lm import LedgerError, ModelError
from judgesmith.programs.lm.errors import redacted

_LOG = logging.getLogger("judgesmith.serving")


class Refusal(Exception):  # noqa: N818 - an answer of the server, not a fault in it
    """A request that is not, or not further, worked on."""

    def __init__(
        self,
        status: int,
        reason: str,
        error: str,
        *,
        where: str = "",
        hint: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(error)
        self.status = status
        self.reason = reason
        self.error = redacted(error)
        self.where = where
        self.hint = hint
        self.headers = dict(headers or {})

    @property
    def body(self) -> dict[str, Any]:
        """The reply's one object."""
        return {"error": self.error, "where": self.where or None, "hint": self.hint or None}


class ClientGone(Exception):  # noqa: N818 - likewise
    """Nobody waits for the reply any more."""


def unknown_judge(name: str, known: Collection[str]) -> Refusal:
    """Return the answer to who names a judge that is not served."""
    shown = name if len(name) <= 80 else f"{name[:79]}…"
    close = difflib.get_close_matches(name[:80], known, n=1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    return Refusal(
        404,
        "unknown",
        f"there is no judge {shown!r}.",
        where="judge",
        hint=f"{meant}GET /v1/judges lists those there are.",
    )


def queue_full(retry_after: int) -> Refusal:
    """Return the answer to who comes when every place is taken."""
    return Refusal(
        429,
        "full",
        "the queue is full.",
        where="queue",
        hint=f"send the same again in {retry_after} s, or fewer items at a time.",
        headers={"Retry-After": str(retry_after)},
    )


def share_full(retry_after: int) -> Refusal:
    """Return the answer to who takes as much of the server as one client may."""
    return Refusal(
        429,
        "share",
        "your address has as much under way as one client may: half of what the server takes.",
        where="client",
        hint=f"wait for answers, and send the same again in {retry_after} s.",
        headers={"Retry-After": str(retry_after)},
    )


def is_stopping() -> Refusal:
    """Return the answer to who comes after the server was asked to stop."""
    return Refusal(
        503,
        "stopping",
        "the server is stopping.",
        where="server",
        hint="send the same again to the server that takes its place.",
        headers={"Retry-After": "5", "Connection": "close"},
    )


def was_cut() -> Refusal:
    """Return the answer to whose request was accepted and could not be waited for at the end."""
    return Refusal(
        503,
        "stopping",
        "the server stopped before this was judged.",
        where="server",
        hint="send the same again to the server that takes its place.",
        headers={"Connection": "close"},
    )


def set_up(fault: Exception) -> Refusal:
    """Return the answer when the model, or the ledger, cannot be used at all."""
    hint = "the request is sound: whoever runs the server has to look at this."
    if isinstance(fault, LedgerError):
        # The message names a file of this machine, which is nobody else's business.
        _LOG.error("%s", fault)
        return Refusal(
            503, "ledger", "the server cannot use its ledger.", where="ledger", hint=hint
        )
    if isinstance(fault, ModelError):
        return Refusal(502, "model", str(fault), where="model", hint=hint)
    # Neither the message nor values are told: they may be what somebody wrote.
    places = "".join(traceback.format_tb(fault.__traceback__))
    _LOG.error("%s while answering a request:\n%s", type(fault).__name__, places)
    return Refusal(
        500,
        "fault",
        f"the server met a fault of its own ({type(fault).__name__}).",
        where="server",
        hint="the server's standard error has more; please report it.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingLimits:
    """What bounds a server's work and memory, whatever its clients do.

    Attributes
    ----------
    queue : int
        Items that may wait for their turn, over all requests; with 0 an item is taken only if it
        can be begun at once.
    concurrency : int
        Items judged at the same time; of a judge that compares, sources.
    max_body : int
        Bytes of one request, and of one line of a stream, which as a whole may have any length.
    max_items : int
        Items of one batch.
    max_chars : int
        Characters of each text.

    Raises
    ------
    ValueError
        If one is too small, or the largest batch would never fit into the queue.

    Examples
    --------
    >>> ServingLimits(queue=4, concurrency=2, max_items=10)
    Traceback (most recent call last):
    ...
    judgesmith.InputError: a batch of 10 items would never fit: 4 may wait and 2 are judged at \
a time; raise the queue, or lower the items of a batch to 6.
    """

    queue: int = 256
    concurrency: int = CONCURRENCY
    max_body: int = 4 * 2**20
    max_items: int = 100
    max_chars: int = 200_000

    def __post_init__(self) -> None:
        """Reject limits that nothing could keep."""
        least = {"queue": 0, "concurrency": 1, "max_body": 1, "max_items": 1, "max_chars": 1}
        for name, low in least.items():
            if getattr(self, name) < low:
                raise InputError(f"{name} must be {low} or more; got {getattr(self, name)}.")
        if self.max_items > self.places:
            raise InputError(
                f"a batch of {self.max_items} items would never fit: {self.queue} may wait and "
                f"{self.concurrency} are judged at a time; raise the queue, or lower the items of "
                f"a batch to {self.places}."
            )

    @property
    def places(self) -> int:
        """Items that are accepted and not finished, at most."""
        return self.queue + self.concurrency

    @property
    def stream_places(self) -> int:
        """How many places may be taken when a stream takes one more: others come first."""
        return self.queue // 2 + self.concurrency

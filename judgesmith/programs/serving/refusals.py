"""What a server answers when it does not judge: what is wrong, where, and what to do."""

from __future__ import annotations

import difflib
import logging
import traceback
from collections.abc import Collection, Mapping
from typing import Any

from judgesmith.programs.models import LedgerError, ModelError
from judgesmith.programs.models.redaction import redacted

_LOG = logging.getLogger("judgesmith.serving")


class Refusal(Exception):  # noqa: N818 - an answer of the server, not a fault in it
    """A request that is not, or not further, worked on.

    Parameters
    ----------
    status : int
        Of HTTP, 400 to 599.
    reason : str
        One word by which refusals are counted.
    error, where, hint : str
        What is wrong, the place, and what to do; the last two may be empty.
    headers : dict of str to str
        Further headers of the reply.

    Examples
    --------
    >>> Refusal(413, "size", "the body is too large.", where="body").body
    {'error': 'the body is too large.', 'where': 'body', 'hint': None}
    """

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
    """Return the answer to who names a judge that is not served.

    Examples
    --------
    >>> unknown_judge("summares", ["summaries", "chats"]).hint
    "did you mean 'summaries'? GET /v1/judges lists those there are."
    """
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
    """Return the answer to who comes when every place is taken.

    Parameters
    ----------
    retry_after : int
        Seconds after which there probably is room.
    """
    return Refusal(
        429,
        "full",
        "the queue is full.",
        where="queue",
        hint=f"send the same again in {retry_after} s, or fewer items at a time.",
        headers={"Retry-After": str(retry_after)},
    )


def share_full(retry_after: int) -> Refusal:
    """Return the answer to who takes as much of the server as one client may.

    Parameters
    ----------
    retry_after : int
        Seconds after which there probably is room.
    """
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
    """Return the answer when the model, or the ledger, cannot be used at all.

    Any other fault is one of ours: its kind and its place in the code are logged. So is what is
    wrong with the ledger.

    Examples
    --------
    >>> found = set_up(ModelError("no key: set OPENAI_API_KEY", status=401))
    >>> found.status, found.where, found.error
    (502, 'model', 'no key: set OPENAI_API_KEY')
    """
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

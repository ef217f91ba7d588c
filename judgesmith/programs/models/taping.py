"""What a run was told, so that it can be told the same again: which answers, and which failures."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from judgesmith.errors import InputError
from judgesmith.programs.models.errors import (
    BudgetSpent,
    ContextWindowExceeded,
    ModelError,
    TransientModelError,
)

_KINDS: dict[str, type[ModelError]] = {
    "refused": ModelError,
    "passing": TransientModelError,
    "too long": ContextWindowExceeded,
}
_BUDGET = "budget"
Number = int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """How a request ended that came to no answer.

    Attributes
    ----------
    model, endpoint : str
        Of the request.
    kind : str
        ``refused``, ``passing`` (and it did not pass), ``too long`` or ``budget``.
    message : str
        What was said of it.
    status : int or None
        HTTP status of the reply, where there was one.
    ceiling : str
        Of the budget that was spent.
    spent : tuple of float
        What was spent then: calls, tokens, dollars and minutes.

    Examples
    --------
    >>> fault = ModelError("a/b: no (HTTP 400)", status=400)
    >>> kept = Failure.of(fault, model="a/b", endpoint="http://host/v1")
    >>> kept.kind, kept.raised().status
    ('refused', 400)
    """

    model: str
    endpoint: str
    kind: str
    message: str
    status: int | None = None
    ceiling: str = ""
    spent: tuple[Number, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what nothing can be made of."""
        if self.kind not in (*_KINDS, _BUDGET) or len(self.spent) != 4 * (self.kind == _BUDGET):
            raise InputError(f"no failure of a request is {self.kind!r} with {self.spent}.")

    @classmethod
    def of(cls, fault: ModelError | BudgetSpent, *, model: str, endpoint: str) -> Failure:
        """Return what is kept of a fault."""
        if isinstance(fault, BudgetSpent):
            return cls(
                model=model,
                endpoint=endpoint,
                kind=_BUDGET,
                message=str(fault),
                ceiling=fault.ceiling,
                spent=(fault.calls, fault.tokens, fault.usd, fault.minutes),
            )
        kinds = (name for name, kind in reversed(_KINDS.items()) if isinstance(fault, kind))
        return cls(
            model=model,
            endpoint=endpoint,
            kind=next(kinds),
            message=str(fault),
            status=fault.status,
        )

    def raised(self) -> ModelError | BudgetSpent:
        """Return the fault again."""
        if self.kind != _BUDGET:
            return _KINDS[self.kind](self.message, status=self.status)
        calls, tokens, usd, minutes = self.spent
        return BudgetSpent(
            self.message,
            ceiling=self.ceiling,
            calls=int(calls),
            tokens=int(tokens),
            usd=usd,
            minutes=minutes,
        )


class Tape:
    """Notes what became of every request that goes through stacks, and plays failures again.

    Parameters
    ----------
    failures : mapping of bytes to Failure
        What is played: by the identities of requests.

    Attributes
    ----------
    answered : set of bytes
        Identities of the requests that were answered, by a model or from the record.
    failures : dict of bytes to Failure
        Those that never were.
    played : dict of bytes to Failure
        What is played; what fails now is noted, and asked again like any other.

    Examples
    --------
    >>> tape = Tape()
    >>> tape.failed(b"1", ModelError("no"), model="a/b", endpoint="host")
    >>> tape.heard(b"1")
    >>> tape.answered, tape.failures
    ({b'1'}, {})
    """

    def __init__(self, failures: Mapping[bytes, Failure] | None = None) -> None:
        self.answered: set[bytes] = set()
        self.failures: dict[bytes, Failure] = {}
        self.played = dict(failures or {})
        self._lock = threading.Lock()

    def heard(self, *identities: bytes) -> None:
        """Note that requests were answered."""
        with self._lock:
            self.answered.update(identities)
            for identity in identities:
                self.failures.pop(identity, None)

    def failed(
        self, identity: bytes, fault: ModelError | BudgetSpent, *, model: str, endpoint: str
    ) -> None:
        """Note that a request came to nothing, unless it was answered once."""
        with self._lock:
            if identity not in self.answered:
                self.failures[identity] = Failure.of(fault, model=model, endpoint=endpoint)

    def fault(self, identity: bytes) -> ModelError | BudgetSpent | None:
        """Return what became of a request that failed when it was recorded, or None."""
        kept = self.played.get(identity)
        return None if kept is None else kept.raised()

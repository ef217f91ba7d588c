"""Answered files read back: each line an answer, a refusal, or nothing that can be used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesmith.errors import InputError, file_faults
from judgesmith.programs.models.batches.claims import SettleOnce, Together, WithdrawOnce
from judgesmith.programs.models.batches.files import is_whole, lines_of
from judgesmith.programs.models.batches.stack import BatchStack
from judgesmith.programs.models.batches.state import Asked
from judgesmith.programs.models.errors import (
    ModelError,
    TransientModelError,
    speaks_of_one_item,
)
from judgesmith.programs.models.redaction import redacted
from judgesmith.programs.models.request import ModelAnswer

if TYPE_CHECKING:
    from judgesmith.programs.models.batches.desk import BatchDesk

_NEVER_RAN = ("batch_expired", "batch_cancelled")
_QUOTED = 200


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a line says of a request, and how that is settled."""

    asked: Asked
    write: SettleOnce | WithdrawOnce
    answer: ModelAnswer | None
    fault: ModelError | None


class Reader:
    """Reads lines and puts their answers on record.

    Lines that are no JSON, name no request under way, or name one for a second time, change
    nothing: a request that no line answers is asked again.

    Attributes
    ----------
    n_answered : int
        Requests with an answer.
    """

    def __init__(self, desk: BatchDesk) -> None:
        self._desk = desk
        self._state = desk.state
        self._models = {one.number: one.model for one in desk.state.parts()}
        self._of_set_up: ModelError | None = None
        self.n_answered = 0

    def check(self) -> None:
        """Raise what speaks against the set-up rather than against one request.

        Raises
        ------
        ModelError
            The first such fault of all lines that were read.
        """
        if self._of_set_up is not None:
            raise self._of_set_up

    @file_faults()
    def read_once(self, place: Path) -> None:
        """Read a file unless the same was read before.

        Raises
        ------
        ValueError
            If it ends amid a line, as one does that is still being copied; nothing of it counts
            then. Or as ``read``.
        """
        with place.open("rb") as file:
            digest = hashlib.file_digest(file, "blake2b").hexdigest()
        if not self._state.was_read(digest):
            if not is_whole(place):
                raise InputError(
                    f"{place} ends amid a line, so that it may not be all there is; wait until "
                    "it is copied, or copy it again, and give the same command again."
                )
            self.read(place)
            self._state.read(digest)

    def read(self, place: Path) -> None:
        """Read a file, in flat memory.

        Raises
        ------
        ValueError
            If a line is longer than any answer; those before it are on record.
        """
        for lines in lines_of(place):
            found: dict[bytes, _Outcome] = {}
            for line in lines:
                outcome = self._outcome(line)
                if outcome is not None:
                    found.setdefault(outcome.asked.identity, outcome)
            self._settle(list(found.values()))

    def _settle(self, found: list[_Outcome]) -> None:
        if not found:
            return
        stack = next(iter(self._desk.stacks.values()))
        stack.kept.perform(Together(tuple(one.write for one in found)))
        with self._state.together():
            self._state.remove(one.asked.identity for one in found)
            for one in found:
                if one.fault is None:
                    continue
                if speaks_of_one_item(one.fault):
                    self._state.failed(one.asked.identity, one.fault)
                else:
                    self._of_set_up = self._of_set_up or one.fault
        for one in found:
            if one.answer is not None:
                self.n_answered += 1
                self._stack(one.asked).answered(one.asked, one.answer)

    def _outcome(self, line: bytes) -> _Outcome | None:
        """Return what a line says, None where it says nothing of a request under way."""
        try:
            told = json.loads(line)
            identity = bytes.fromhex(told["custom_id"])
        except (ValueError, TypeError, LookupError, RecursionError):
            return None
        if "response" not in told and "error" not in told:
            return None  # such as a copy of the request
        asked = self._state.asked(identity)
        if asked is None or asked.intent is None:
            return None
        stack = self._stack(asked)
        response, error = told.get("response"), told.get("error")
        if isinstance(response, Mapping):
            return self._answered(stack, asked, response)
        said = error if isinstance(error, Mapping) else {}
        words = redacted(str(said.get("message") or said.get("code") or "no reply"))[:_QUOTED]
        fault = TransientModelError(f"{stack.engine.model} at {stack.engine.endpoint}: {words}")
        if said.get("code") in _NEVER_RAN:
            return _Outcome(asked, stack.withdrawal(asked, asked.intent), None, fault)
        return _Outcome(asked, stack.settlement(asked, None, free=True), None, fault)

    def _answered(self, stack: BatchStack, asked: Asked, response: Mapping[str, Any]) -> _Outcome:
        status, body = response.get("status_code"), response.get("body")
        if isinstance(status, int) and status >= 400:
            refusal = stack.engine.refusal(status, body)
            return _Outcome(asked, stack.settlement(asked, None, free=True), None, refusal)
        try:
            answer = stack.engine.answer(body if isinstance(body, Mapping) else {}, asked.changed)
        except ModelError as fault:
            return _Outcome(asked, stack.settlement(asked, None), None, fault)
        return _Outcome(asked, stack.settlement(asked, answer), answer, None)

    def _stack(self, asked: Asked) -> BatchStack:
        return self._desk.stacks[self._models[asked.part]]

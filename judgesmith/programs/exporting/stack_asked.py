"""What answers an exported judge instead of a server: our own stacks, with ledger and budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from judgesmith.programs.lm import ModelRequest, request_settings, stack_of
from judgesmith.programs.lm.errors import (
    ContextWindowExceeded,
    ModelError,
    TransientModelError,
    speaks_of_one_item,
)
from judgesmith.programs.lm.records import Message, ModelAnswer, Prefix

if TYPE_CHECKING:
    import dspy


class StackAsked:
    """Stands for the ``Server`` of an exported file; its requests are those of the saved judge."""

    model = ""

    def __init__(self, lms: Mapping[str, dspy.LM], fault: Callable[..., Exception]) -> None:
        self._lms = lms
        self._fault = fault

    def completion(
        self, messages: list[dict[str, str]], options: Mapping[str, Any], sample: int
    ) -> SimpleNamespace:
        """Return an answer in the layout of a chat completion."""
        given = dict(options)
        lm = self._lms[given.pop("model")]
        stack = stack_of(lm)
        assert stack is not None
        *before, last = messages
        turns = [Message(one["role"], one["content"]) for one in before]  # type: ignore[arg-type]
        request = ModelRequest(
            model=str(lm.model),
            prefix=Prefix(turns),
            user=last["content"],
            settings=request_settings(lm, **given),
            sample=sample,
        )
        try:
            return _completion(stack.complete_sync(request))
        except ModelError as fault:
            if not speaks_of_one_item(fault):
                raise
            passing = isinstance(fault, TransientModelError)
            long = isinstance(fault, ContextWindowExceeded)
            raise self._fault(str(fault), fault.status, passing=passing, long=long) from fault


def _completion(answer: ModelAnswer) -> SimpleNamespace:
    """Return an answer as the openai client lays out a chat completion."""
    message = SimpleNamespace(content=answer.text, refusal=None)
    choice = SimpleNamespace(message=message, finish_reason=answer.finish_reason)
    return SimpleNamespace(choices=[choice])

"""What answers an exported judge instead of a server: our own stacks, with ledger and budget."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from judgesmith.programs.models import ModelRequest, request_settings, stack_of
from judgesmith.programs.models.request import Message, ModelAnswer, Prefix

if TYPE_CHECKING:
    import dspy


class StackAsked:
    """Stands for the ``Asked`` of an exported file; its requests are those of the saved judge.

    Parameters
    ----------
    lms : dict of str to dspy.LM
        Models with a stack of ours, by the name that is asked for.
    """

    model = ""

    def __init__(self, lms: Mapping[str, dspy.LM]) -> None:
        self._lms = lms

    def completion(
        self, messages: list[dict[str, str]], options: Mapping[str, Any], sample: int
    ) -> SimpleNamespace:
        """Return an answer in the layout of a chat completion.

        Raises
        ------
        ModelError, BudgetSpent
            As the stack does.
        """
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
        return _completion(stack.complete_sync(request))


def _completion(answer: ModelAnswer) -> SimpleNamespace:
    """Return an answer as the openai client lays out a chat completion."""
    tokens = None
    if answer.logprobs is not None:
        listed = [
            SimpleNamespace(
                token=one.token,
                logprob=one.logprob,
                top_logprobs=[SimpleNamespace(token=t, logprob=value) for t, value in one.top],
            )
            for one in answer.logprobs
        ]
        tokens = SimpleNamespace(content=listed)
    message = SimpleNamespace(content=answer.text, refusal=None)
    choice = SimpleNamespace(message=message, finish_reason=answer.finish_reason, logprobs=tokens)
    return SimpleNamespace(choices=[choice])

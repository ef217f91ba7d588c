"""How likely a text is after a question: what is asked, and whether an endpoint can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakSet

from judgesmith.programs.judging import Ask, Reply
from judgesmith.programs.models import (
    ContextWindowExceeded,
    ModelAnswer,
    ModelError,
    ModelRequest,
    Prefix,
    PureEngine,
    Settings,
    Stack,
    TransientModelError,
    stack_of,
)
from judgesmith.programs.models.errors import unscoring
from judgesmith.programs.replies import too_long
from judgesmith.programs.templates import Template

if TYPE_CHECKING:
    import dspy

_SETTINGS = Settings(temperature=None, max_tokens=1, logprobs=0)
_PROBE = ("The cat sat down on the", " mat.")
_TOLD: WeakSet[Stack] = WeakSet()


def check_scores_texts(lm: dspy.LM) -> None:
    """Refuse a model that has no way to say how likely a given text is; nothing is asked.

    Raises
    ------
    ModelError
        If it is of such a kind. Whether an endpoint of the others answers is known once it is
        asked.
    """
    stack = stack_of(lm)
    if stack is None or not getattr(stack.engine, "scores_texts", False):
        raise unscoring(str(lm.model), "there is no such call for models of this kind")


def text_request(model: str, template: Template, ask: Ask) -> ModelRequest:
    """Return what asks for the log-probabilities of ``ask.continuation``."""
    return ModelRequest(
        model=model,
        prefix=template.prefix(),
        user=template.render(ask.inputs),
        settings=_SETTINGS,
        continuation=ask.continuation,
    )


async def text_reply(stack: Stack, request: ModelRequest) -> Reply:
    """Return the log-probabilities of a text, by ``logprobs``.

    An endpoint is asked about a short text first, once for all items: one that has no such
    log-probabilities is refused before anything is judged.

    Raises
    ------
    ModelError
        If the endpoint cannot tell, or a request fails.
    """
    if _is_unknown(stack):
        try:
            await stack.complete(_probe(request))
        except ModelError as fault:
            raise _of_the_set_up(fault) from None
        _TOLD.add(stack)
    try:
        answer = await stack.complete(request)
    except ContextWindowExceeded as fault:
        return too_long(fault)
    return _reply(stack, request, answer)


def text_reply_sync(stack: Stack, request: ModelRequest) -> Reply:
    """Do the same as ``text_reply`` for a caller without an event loop."""
    if _is_unknown(stack):
        try:
            stack.complete_sync(_probe(request))
        except ModelError as fault:
            raise _of_the_set_up(fault) from None
        _TOLD.add(stack)
    try:
        answer = stack.complete_sync(request)
    except ContextWindowExceeded as fault:
        return too_long(fault)
    return _reply(stack, request, answer)


def _is_unknown(stack: Stack) -> bool:
    return stack not in _TOLD and not isinstance(stack.engine, PureEngine)


def _probe(request: ModelRequest) -> ModelRequest:
    prompt, continuation = _PROBE
    return ModelRequest(
        model=request.model,
        prefix=Prefix(),
        user=prompt,
        settings=request.settings,
        continuation=continuation,
    )


def _of_the_set_up(fault: ModelError) -> ModelError:
    """Return a fault that speaks of the endpoint, not of one item; passing ones as they are."""
    return fault if isinstance(fault, TransientModelError) else ModelError(str(fault))


def _reply(stack: Stack, request: ModelRequest, answer: ModelAnswer) -> Reply:
    call = stack.identity(request).hex()
    if not answer.logprobs:
        problem = "the tokens that came back do not spell the text, so none of their numbers counts"
        return Reply(problem=problem, call=call, final=True)
    return Reply(fields={"logprobs": tuple(one.logprob for one in answer.logprobs)}, call=call)

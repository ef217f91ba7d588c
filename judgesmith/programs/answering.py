"""Steps taken to their end: every question they ask is answered, whoever answers it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from judgesmith.programs.judging import AnySteps, Ask, Reply
from judgesmith.programs.replies import all_or_fault

Found = TypeVar("Found")


def answered(steps: AnySteps[Found], reply: Callable[[Ask], Reply]) -> Found:
    """Return what steps come to whose questions are answered one after the other.

    Parameters
    ----------
    steps : generator of Ask
        As ``judging`` describes them.
    reply : callable
        Answers one question.

    Examples
    --------
    >>> def course():
    ...     first, second = yield (Ask(predictor="a", inputs={}), Ask(predictor="b", inputs={}))
    ...     return first.call + second.call
    >>> answered(course(), lambda ask: Reply(call=ask.predictor))
    'ab'
    """
    try:
        asked = next(steps)
        while True:
            said = reply(asked) if isinstance(asked, Ask) else tuple(map(reply, asked))
            asked = steps.send(said)
    except StopIteration as end:
        found: Found = end.value
        return found


async def answered_at_once(
    steps: AnySteps[Found], reply: Callable[[Ask], Awaitable[Reply]]
) -> Found:
    """Return what steps come to; questions that do not wait for each other go out at once.

    Parameters
    ----------
    steps : generator of Ask
        As ``judging`` describes them.
    reply : callable
        Answers one question, to be awaited. Where one of several faults, the others are waited
        for before the fault is raised.

    Examples
    --------
    >>> def course():
    ...     first = yield Ask(predictor="a", inputs={})
    ...     (second,) = yield (Ask(predictor="b", inputs={}),)
    ...     return first.call + second.call
    >>> async def reply(ask):
    ...     return Reply(call=ask.predictor)
    >>> asyncio.run(answered_at_once(course(), reply))
    'ab'
    """
    try:
        asked = next(steps)
        while True:
            if isinstance(asked, Ask):
                asked = steps.send(await reply(asked))
            else:
                said = await asyncio.gather(*map(reply, asked), return_exceptions=True)
                asked = steps.send(all_or_fault(said))
    except StopIteration as end:
        found: Found = end.value
        return found

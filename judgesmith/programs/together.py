"""Several courses of questions at the same time: what each asks next goes out in one round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from judgesmith.programs.judging import AnySteps, Ask, Reply

Value = TypeVar("Value")


def together(courses: Sequence[AnySteps[Value]]) -> AnySteps[list[Value]]:
    """Take several courses of steps side by side, and return what each comes to, in order.

    In every round all that have not ended ask their next question, or several, and none goes on
    before all are answered: the same replies always come in the same order.

    Parameters
    ----------
    courses : sequence of generators
        Each yields an ``Ask`` or a tuple of them; they may be rounds of courses themselves.

    Examples
    --------
    >>> def course(*questions):
    ...     found = []
    ...     for question in questions:
    ...         reply = yield Ask(predictor=question, inputs={})
    ...         found.append(reply.call)
    ...     return "".join(found)
    >>> steps = together([course("a", "b"), course("c")])
    >>> [one.predictor for one in next(steps)]
    ['a', 'c']
    >>> [one.predictor for one in steps.send((Reply(call="1"), Reply(call="2")))]
    ['b']
    >>> try:
    ...     steps.send((Reply(call="3"),))
    ... except StopIteration as end:
    ...     end.value
    ['13', '2']
    """
    if len(courses) == 1:
        return [(yield from courses[0])]
    found: dict[int, Value] = {}
    waiting: dict[int, Ask | tuple[Ask, ...]] = {}
    for place, course in enumerate(courses):
        try:
            waiting[place] = next(course)
        except StopIteration as end:
            found[place] = end.value
    while waiting:
        asks = tuple(ask for one in waiting.values() for ask in _asks(one))
        replies = iter((yield asks))
        for place, asked in list(waiting.items()):
            said = tuple(next(replies) for _ in _asks(asked))
            sent: Reply | tuple[Reply, ...] = said[0] if isinstance(asked, Ask) else said
            try:
                waiting[place] = courses[place].send(sent)
            except StopIteration as end:
                found[place] = end.value
                del waiting[place]
    return [found[place] for place in range(len(courses))]


def _asks(asked: Ask | tuple[Ask, ...]) -> tuple[Ask, ...]:
    return (asked,) if isinstance(asked, Ask) else asked

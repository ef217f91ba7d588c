"""Which runs a command finishes: those of its models, once it came to its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgesmith.programs.lm import Stack

_opened: ContextVar[list[Stack] | None] = ContextVar("judgesmith_opened", default=None)


@contextmanager
def finishing() -> Iterator[None]:
    """Finish the runs of all stacks that are opened in the block, unless it ends by a fault."""
    stacks: list[Stack] = []
    token = _opened.set(stacks)
    try:
        yield
        for stack in stacks:
            stack.finish()
    finally:
        _opened.reset(token)


def opened(stack: Stack) -> None:
    """Note that a command asks through a stack."""
    stacks = _opened.get()
    if stacks is not None:
        stacks.append(stack)


def leave_unfinished() -> None:
    """Have the command end without finishing anything, as something is still to come."""
    stacks = _opened.get()
    if stacks is not None:
        stacks.clear()

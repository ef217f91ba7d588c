"""Running coroutines to their end from code that is none, wherever it is called."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Self, TypeVar

Result = TypeVar("Result")


def finished(coroutine: Coroutine[None, None, Result]) -> Result:
    """Return what a coroutine comes to that never waits, without an event loop.

    Raises
    ------
    RuntimeError
        If it waits for something after all.

    Examples
    --------
    >>> async def course():
    ...     return 3
    >>> finished(course())
    3
    """
    try:
        coroutine.send(None)
    except StopIteration as end:
        found: Result = end.value
        return found
    coroutine.close()
    raise RuntimeError("this coroutine waits; run it in an event loop.")


class OwnLoop:
    """Runs coroutines to their end, whether or not the caller is inside an event loop."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread: ThreadPoolExecutor | None = None
        return self

    def __call__(self, coroutine: Coroutine[None, None, Result]) -> Result:
        """Return the coroutine's result."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._loop.run_until_complete(coroutine)
        # One loop cannot run inside another: the second one gets a thread of its own.
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="judgesmith-loop")
        context = contextvars.copy_context()
        done = self._thread.submit(context.run, self._loop.run_until_complete, coroutine)
        try:
            return done.result()
        except BaseException:
            if not done.done():  # interrupted here, while the other thread goes on
                self._loop.call_soon_threadsafe(self._cancel_all)
            raise

    def __exit__(self, *exc_info: object) -> None:
        """Close the loop, when nothing in it is under way any more."""
        try:
            # An interrupt leaves the coroutine that it hit where it was.
            self(self._emptied())
        finally:
            if self._thread is not None:
                self._thread.shutdown()
            self._loop.close()

    async def _emptied(self) -> None:
        own = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not own]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _cancel_all(self) -> None:
        for task in asyncio.all_tasks(self._loop):
            task.cancel()

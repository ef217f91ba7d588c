"""A judge asked through DSPy in threads: for models that bring no stack of ours."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import dspy
from dspy.utils import exceptions as theirs

from judgesmith.programs.asking import Asker
from judgesmith.programs.asking_module import AskingModule
from judgesmith.programs.families import family_of
from judgesmith.programs.judging import AnySteps
from judgesmith.programs.models import ModelError, TransientModelError
from judgesmith.programs.models.redaction import redacted
from judgesmith.programs.turns import in_turn
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rated import RatedItem

Found = TypeVar("Found")

_PASSING = (
    theirs.LMRateLimitError,
    theirs.LMServerError,
    theirs.LMTimeoutError,
    theirs.LMTransportError,
)
_THREADS = 256  # more than are asked at a time, so that no item waits for a thread


class DspyAsker(Asker):
    """Runs the judge as a DSPy program, one item to a thread.

    Parameters
    ----------
    judge : Judge or SavedJudge
        As it is now: later changes to it do not reach the asker.
    lm : dspy.LM
        The model of all predictors that hold none.
    """

    def __init__(self, judge: Any, lm: dspy.LM) -> None:
        self._judge = judge.program() if hasattr(judge, "program") else judge.deepcopy()
        if isinstance(self._judge, AskingModule):  # other programs ask DSPy's current model
            self._judge.bind(lm)
        self._lm = lm
        self._family = family_of(judge.protocol.judge)
        self._threads: ThreadPoolExecutor | None = None
        self._context = contextvars.copy_context()

    async def judge(self, item: RatedItem) -> Judgement:
        """Return the judgement of one item."""
        return await self._in_thread(lambda: self._judged(item))

    async def taken(self, steps: AnySteps[Found]) -> Found:
        """Return what steps come to, asked one after the other in a thread."""
        return await self._in_thread(lambda: self._taken(steps))

    async def aclose(self) -> None:
        """Let go of the threads; those that are asking end when they have an answer."""
        threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)

    async def _in_thread(self, asked: Callable[[], Found]) -> Found:
        return await in_turn(lambda: self._begun(asked))

    def _begun(self, asked: Callable[[], Found]) -> asyncio.Future[Found]:
        loop = asyncio.get_running_loop()
        context = self._context.copy()
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="judgesmith")
        return loop.run_in_executor(self._threads, context.run, asked)

    def _judged(self, item: RatedItem) -> Judgement:
        with dspy.context(lm=self._lm), our_errors():
            texts = self._family.more_texts(item.references)
            found = self._judge(
                source=item.source, response=item.response, context=item.context, **texts
            )
        return Judgement(**{name: found[name] for name in Judgement.model_fields})

    def _taken(self, steps: AnySteps[Found]) -> Found:
        with dspy.context(lm=self._lm), our_errors():
            found: Found = self._judge.taken(steps)
        return found


@contextmanager
def our_errors() -> Iterator[None]:
    """Raise the errors of a model that is not ours as what they mean here."""
    try:
        yield
    except _PASSING as fault:
        raise TransientModelError(redacted(str(fault)), status=fault.status) from fault
    except theirs.LMUnsupportedModelError:
        raise
    except theirs.LMInvalidRequestError as fault:
        raise ModelError(redacted(str(fault)), status=fault.status or 400) from fault

"""Texts that a model writes before anything is judged: asked for side by side, none paid twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError, ContextWindowExceededError

from judgesmith.programs.adapter import FencedAdapter
from judgesmith.programs.asking import Asker
from judgesmith.programs.call_settings import call_config
from judgesmith.programs.models import BudgetSpent, ModelError, sampling, stack_of
from judgesmith.programs.models.errors import speaks_of_one_item
from judgesmith.programs.running import CONCURRENCY, Work, work_each
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rated import RatedItem

Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineOrder:
    """One text that is asked for.

    Attributes
    ----------
    question : type of dspy.Signature
        How it is asked for.
    told : dict of str to str
        The inputs.
    field : str
        The output that holds the text.
    read : callable
        Takes the text and returns its lines, or raises ValueError with a sentence why not.
    """

    question: type[dspy.Signature]
    told: Mapping[str, str]
    field: str
    read: Callable[[str], Lines]


def answered_side_by_side(
    orders: Sequence[LineOrder],
    lm: dspy.LM,
    protocol: JudgeProtocol,
    *,
    concurrency: int = CONCURRENCY,
) -> list[Lines | str]:
    """Return the lines of every order, or the sentence that says why there are none.

    An answer that cannot be read is asked for once more. Models that are not ours are asked one
    after the other.

    Parameters
    ----------
    orders : sequence of LineOrder
        What is asked for.
    lm : dspy.LM
        The model.
    protocol : JudgeProtocol
        Whose settings the calls have.
    concurrency : int
        Questions asked at the same time.

    Raises
    ------
    ModelError, BudgetSpent, LedgerError
        If the model cannot be asked, or not further. What was asked beside it is on record.
    Stopped
        If the process was asked to stop: what was asked is answered and on record.
    """
    work = _Writing(lm, protocol)
    at_once = concurrency if stack_of(lm) is not None else 1
    found: list[Lines | str] = []
    written = work_each(work, orders, concurrency=at_once, may_begin=lambda n_busy: True)
    for _, said in written:
        if isinstance(said, Exception):
            work.fault = work.fault or said
        else:
            found.append(said)
    if work.fault is not None:
        raise work.fault
    return found


class _Connections(Asker):
    """Lets go of the connections of a model; it asks nothing by itself."""

    def __init__(self, lm: dspy.LM) -> None:
        self._stack = stack_of(lm)

    async def judge(self, item: RatedItem) -> Judgement:
        """Refuse: nothing is judged here."""
        raise TypeError("nothing is judged before a judge is prepared.")

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        if self._stack is not None:
            await self._stack.aclose()


class _Writing(Work[LineOrder, "Lines | str | Exception"]):
    """Orders, for each of which lines are written."""

    def __init__(self, lm: dspy.LM, protocol: JudgeProtocol) -> None:
        super().__init__(_Connections(lm))
        self._lm = lm
        self._config = call_config(protocol, lm)
        self.fault: Exception | None = None

    async def done(self, unit: LineOrder) -> Lines | str | Exception:
        """Return the lines, why there are none, or the fault that ends all of this."""
        problem = ""
        for sample in (0, 1):
            try:
                return unit.read(await self._answer(unit, sample))
            except ContextWindowExceededError as fault:
                return f"the criterion is longer than the model reads: {fault}"
            except BudgetSpent as fault:
                return fault
            except ModelError as fault:
                if not speaks_of_one_item(fault):
                    raise
                return fault
            except (AdapterParseError, ValueError) as fault:
                problem = str(fault).split("\n")[0]
        return f"the model's {unit.field} could not be read: {problem}"

    def undone(self, unit: LineOrder, problem: str) -> Lines | str | Exception:
        """Return why the model could not be asked."""
        return problem

    async def _answer(self, unit: LineOrder, sample: int) -> str:
        predict = dspy.Predict(unit.question)
        with dspy.context(adapter=FencedAdapter(), lm=self._lm), sampling(sample=sample):
            told: dict[str, Any] = {**unit.told, "config": self._config}
            if stack_of(self._lm) is None:
                answer = await asyncio.to_thread(predict, **told)
            else:
                answer = await predict.acall(**told)
        return str(answer[unit.field] or "")

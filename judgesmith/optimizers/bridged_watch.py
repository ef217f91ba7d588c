"""What an optimizer of DSPy does to a judge, seen from outside: who is asked, and what is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dspy.utils.callback import BaseCallback

from judgesmith.optimizers.bridged_rows import SELECT
from judgesmith.optimizers.racing_search import OutOfBudget
from judgesmith.programs.judging.judge import Judge
from judgesmith.programs.lm import BudgetSpent
from judgesmith.programs.lm.limits import Stopped
from judgesmith.signatures.judgement import Judgement


class Ended(BaseException):
    """Ends an optimizer of DSPy's, which takes every exception for the failure of one row."""


class Watch(BaseCallback):
    """Sees every judge that DSPy asks, hears every answer, and notices why answers fail."""

    def __init__(self, student: Judge, progress: Callable[[int], None] | None) -> None:
        self.student = student
        self.progress = progress
        self.protocols: dict[str, Any] = {}
        self.answers: dict[str, dict[int, Judgement]] = {}
        self.spent = self.stopped = False

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Remember which judge is asked.

        Raises
        ------
        Ended
            If there is no point in asking any more.
        """
        if self.spent or self.stopped:
            raise Ended
        if isinstance(instance, Judge):
            protocol = instance.protocol
            self.protocols.setdefault(protocol.fingerprint, protocol)

    def on_module_end(
        self, call_id: str, outputs: Any, exception: BaseException | None = None
    ) -> None:
        """Notice why there is no answer."""
        if exception is not None:
            self.note(exception)
        elif self.progress is not None and outputs is not None and "protocol" in outputs:
            self.progress(1)

    def note(self, fault: BaseException | None) -> None:
        """Notice a fault that ends the search."""
        while fault is not None:
            self.spent = self.spent or isinstance(fault, BudgetSpent | OutOfBudget)
            self.stopped = self.stopped or isinstance(fault, Stopped)
            fault = fault.__cause__

    def heard(self, name: str, row: int, judge: str, judgement: Judgement) -> None:
        """Remember an answer about a row to choose by."""
        if name == SELECT:
            self.answers.setdefault(judge, {})[row] = judgement

    def judges(self) -> Iterator[Judge]:
        """Yield the judges that answered about every row that any judge answered about."""
        # Rows that were under way when the search was ended may still be answered meanwhile.
        n_answers = {judge: len(answers) for judge, answers in tuple(self.answers.items())}
        most = max(n_answers.values(), default=0)
        for judge, n in n_answers.items():
            if n == most and judge in self.protocols:
                yield self.student.with_protocol(self.protocols[judge])

"""What every optimizer of judges is told of its work: how it draws, and how it asks."""

from __future__ import annotations

from collections.abc import Callable

import dspy
from dspy.teleprompt import Teleprompter

from judgesmith.optimizers.rows import Rows
from judgesmith.programs.judging.executors import Askable
from judgesmith.programs.judging.runner import judge_items
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.scale import Scale

OFFLINE = "offline"
"""The name of the model that reads no instructions and writes none."""


class JudgeOptimizer(Teleprompter):
    """An optimizer that judges rated rows.

    Parameters
    ----------
    seed : int
        Of all drawing.
    scale : Scale or None
        What the examples' scores are measured in; None reads it from them.
    lm : dspy.LM or None
        The model; None takes DSPy's current one.
    concurrency : int
        Requests under way at once.
    progress : callable or None
        Told how many items were finished since it was last told.
    """

    def __init__(
        self,
        *,
        seed: int,
        scale: Scale | None,
        lm: dspy.LM | None,
        concurrency: int,
        progress: Callable[[int], None] | None,
    ) -> None:
        super().__init__()
        self.seed = seed
        self.scale = scale
        self.lm = lm
        self.concurrency = concurrency
        self.progress = progress

    def judged(self, judge: Askable, rows: Rows) -> list[Judgement]:
        """Return the judgement of every row, then of their changed versions, if they have some."""
        return judge_items(
            judge, rows.texts, lm=self.lm, concurrency=self.concurrency, progress=self.progress
        )

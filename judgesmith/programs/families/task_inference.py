"""Task inference: from rated examples to a rubric that a person can read and edit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dspy
import numpy as np

from judgesmith.errors import InputError
from judgesmith.programs.families.steps.task_inference import (
    InferenceSettings,
    RatedExample,
    batches_of,
    inference_steps,
    readable_examples,
)
from judgesmith.programs.judging.dspy_executor import ask_of
from judgesmith.programs.judging.executors import current_lm
from judgesmith.programs.judging.program import ModelReply, PromptRequest
from judgesmith.programs.judging.replies import answered
from judgesmith.programs.lm.limits import STOPPING
from judgesmith.signatures.config import Sampling
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.questions.task_inference import (
    DescribeTask,
    JudgeCompleteness,
    MergeDescriptions,
    ObserveExamples,
    ProposeCriteria,
    SelectCriteria,
)
from judgesmith.signatures.rubric import Rubric


class TaskInference(dspy.Module):
    """Find out from rated examples what is being judged, and by which criteria."""

    def __init__(self, settings: InferenceSettings | None = None, **choices: Any) -> None:
        super().__init__()
        self.settings = InferenceSettings.model_validate(
            {**dict(settings or InferenceSettings()), **choices}
        )
        self.observe = dspy.Predict(ObserveExamples)
        self.describe = dspy.Predict(DescribeTask)
        self.propose = dspy.Predict(ProposeCriteria)
        self.check = dspy.Predict(JudgeCompleteness)
        self.merge = dspy.Predict(MergeDescriptions)
        self.select = dspy.Predict(SelectCriteria)

    def forward(
        self,
        *,
        items: Sequence[RatedItem],
        scores: Sequence[float],
        given: Rubric | None = None,
        lm: dspy.LM | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Rubric:
        """Infer a rubric."""
        examples = _paired(items, scores)
        given = given or Rubric()
        if given.task and "task" in self.settings.without:
            raise InputError("a task is given and left out at once.", hint="drop one of the two.")
        examples, notes = readable_examples(examples, max_characters=self.settings.max_characters)
        batches = batches_of(
            examples,
            size=self.settings.batch_size,
            max_characters=self.settings.max_characters,
            rng=np.random.default_rng(self.settings.seed),
        )
        lm = lm or current_lm()
        sampling = Sampling(temperature=self.settings.temperature)

        def reply(ask: PromptRequest) -> ModelReply:
            found = ask_of(lm, getattr(self, ask.predictor), ask, sampling)
            if progress is not None:
                progress(1)
            return found

        with STOPPING.attended():
            record = answered(inference_steps(batches, self.settings, given), reply)
        record.notes[:0] = notes
        rubric: Rubric = record.rubric(model=str(lm.model), rows=len(examples))
        return rubric


def _paired(items: Sequence[RatedItem], scores: Sequence[float]) -> list[RatedExample]:
    if len(items) != len(scores):
        raise InputError(f"every row needs a score; got {len(items)} rows, {len(scores)} scores.")
    off = [score for score in scores if not 0 <= score <= 100]
    if off:
        raise InputError(f"scores are from 0 (worst) to 100 (best); got {off[0]:g}.")
    return [
        RatedExample(item=item, score=float(score))
        for item, score in zip(items, scores, strict=True)
    ]
